"""Find ids and texts of a golden set that look like others and are not: blanks, invisible characters, spellings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import category, name, normalize

from pytest_irmetrics.base.escape import is_invisible
from pytest_irmetrics.base.wording import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.golden.golden_set import GoldenSet


# Nearly all ids and texts: visible ASCII with blanks inside.
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_JOINERS = frozenset("\u200c\u200d")
"""Invisible, and a part of the spelling of Persian, of Indic scripts and of emoji."""
_LINE_CHARS = frozenset("\t\n\r")

Doubt = tuple[str, str | None, str]
"""The id of a query, the id of the document in question (None: the query's own id or text), and a sentence."""


def find_doubtful_texts(golden: GoldenSet) -> Iterator[Doubt]:
    """Yield each doubtful query id, text, tag and document id of a golden set, once."""
    documents: dict[str, str] = {}
    for query in golden.queries.values():
        for doc_id in (*query.documents, *query.forbidden):
            documents.setdefault(doc_id, query.id)
    tags: dict[str, str] = {}
    query_ids: dict[str, str] = {}
    for query in golden.queries.values():
        if query.text is not None and _PLAIN.fullmatch(query.text) is None:
            for doubt in _doubts_of(query.text, "query", is_text=True):
                yield query.id, None, doubt
        if query.id != query.text:
            query_ids[query.id] = query.id
        for tag in query.tags:
            tags.setdefault(tag, query.id)
    for what, found in (("query id", query_ids), ("tag", tags), ("document id", documents)):
        spellings: dict[str, str] = {}
        for text, query_id in found.items():
            if _PLAIN.fullmatch(text) is not None:
                continue
            doubts = list(_doubts_of(text, what))
            if not text.isascii():
                other = spellings.setdefault(normalize("NFC", text), text)
                if other != text:
                    doubts.append(
                        f"The {what}s {_shown(text)} and {_shown(other)} are two spellings of one text, and two ids here. Write "
                        "the one that the index has."
                    )
            for doubt in doubts:
                yield query_id, text if what == "document id" else None, doubt


def _doubts_of(text: str, what: str, *, is_text: bool = False) -> Iterator[str]:
    """Yield what is doubtful about one text by itself; in a query's text line ends and joiners are not."""
    if text != text.strip():
        which = "begins" if text[0].isspace() else "ends"
        yield f"The {what} {_shown(text)} {which} with white space. Remove it, if it is not meant."
    inside = text.strip()
    odd = next((char for char in inside if _is_odd(char, is_text=is_text)), None)
    if odd is not None:
        kind = "is no plain blank" if category(odd) == "Zs" else "cannot be seen"
        yield (
            f"The {what} {_shown(text)} has a character that {kind}, U+{ord(odd):04X}{_named(odd)}. Remove it, if it is not meant."
        )


def _is_odd(char: str, *, is_text: bool) -> bool:
    if is_text and (char in _LINE_CHARS or char in _JOINERS):
        return False
    return is_invisible(char) or (char != " " and category(char) == "Zs")


def _named(char: str) -> str:
    known = name(char, "").lower()
    return f" ({known})" if known else ""


def _shown(text: str) -> str:
    r"""Return a text in quotes with all but ASCII written out, as `'caf\xe9'`: what looks alike is then told apart."""
    return ascii(cut(text, 60))
