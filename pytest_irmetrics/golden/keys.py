"""The keys of a golden set, of a query and of a passage; and what to say of one that is none of them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["PASSAGE_KEYS", "QUERY_KEYS", "SET_KEYS", "USUAL_KEYS", "all_known", "is_key", "unknown_key"]

SET_KEYS = frozenset(("version", "name", "relevance_level", "thresholds", "slices", "queries"))
QUERY_KEYS = frozenset(
    (
        "id",
        "query",
        "relevant",
        "forbidden",
        "tags",
        "weight",
        "params",
        "thresholds",
        "no_answer",
        "xfail",
        "note",
    )
)
USUAL_KEYS = frozenset(("id", "query", "relevant", "tags"))
"""Those that nearly all queries do with."""
PASSAGE_KEYS = frozenset(("doc", "text", "grade"))
_OTHER_NAMES = {
    "text": "query",
    "question": "query",
    "documents": "relevant",
    "docs": "relevant",
    "expected": "relevant",
    "judgments": "relevant",
    "qrels": "relevant",
    "label": "tags",
    "labels": "tags",
    "comment": "note",
}


def is_key(name: str, known: frozenset[str]) -> bool:
    """Say whether a key is one of those that are known, or one for people."""
    return name in known or name.startswith("x-")


def all_known(names: Iterable[str | None], known: frozenset[str] = QUERY_KEYS) -> bool:
    """Say whether no key is misspelt, so that what seems to be missing is not there under another name."""
    return all(name is not None and is_key(name, known) for name in names)


def unknown_key(name: str, known: frozenset[str], what: str) -> str:
    """Say that a key is none of `what`, and which may be meant."""
    close = get_close_matches(name.lower(), known, n=1) if len(name) <= 40 else []
    other = _OTHER_NAMES.get(name.lower())
    if close:
        advice = f"Did you mean `{close[0]}`?"
    elif other in known:
        advice = f"Did you mean `{other}`?"
    else:
        advice = f"Its keys are {', '.join(sorted(known))}; one for people begins with x-."
    return f"{quote(name)} is no key of {what}. {advice}"
