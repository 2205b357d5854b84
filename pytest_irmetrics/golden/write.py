"""Drop what another format cannot hold of a golden set, and say so; refuse what it cannot hold at all."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.format_yaml import own_name
from pytest_irmetrics.golden.formats import OPTIONAL
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.golden.formats import Format
    from pytest_irmetrics.metrics import Grade


_MAX_NAMED = 5
"""How many queries or texts a message names at most."""
_NOTHING: dict[str, Any] = {each.name: each.default for each in fields(Query) if each.name in OPTIONAL} | {
    "params": {}
}
"""What a query may have besides its text and judgments, each with its value where it has none."""


class ConversionError(IRMetricsError, ValueError):
    """Something in a golden set that cannot be written in a format at all; says what to do."""


def drop_unsupported(golden: GoldenSet, target: Format) -> tuple[GoldenSet, list[str]]:
    """Return the part of a golden set that a format can hold, and sentences on what is dropped. Raises ConversionError."""
    queries = golden.queries.values()
    without = {key: nothing for key, nothing in _NOTHING.items() if key not in target.holds}
    lost = {key: any(getattr(query, key) != without[key] for query in queries) for key in without}
    own = "set" in target.holds
    if not own:
        lost["name"] = own_name(golden) is not None
        lost["relevance_level"] = golden.relevance_level != 1
        lost["thresholds of the set"] = bool(golden.thresholds)
    kept, left_out = [], []
    for query in queries:
        reduced = _reduced(query, target, without, golden.relevance_level)
        kept += [reduced] if reduced else []
        left_out += [] if reduced else [query.id]
    dropped = ", ".join(key for key, is_lost in lost.items() if is_lost)
    notes = [f"{target.title} has no place for {dropped}."] if dropped else []
    if left_out or golden.left_out:
        names = _names([*left_out, *golden.left_out])
        notes.append(f"Left out, because {target.title} can hold no judgment of them: {names}.")
    level, thresholds = (golden.relevance_level, golden.thresholds) if own else (1, ())
    return GoldenSet(
        kept, path=golden.path, name=golden.name, relevance_level=level, thresholds=thresholds
    ), notes


def _reduced(query: Query, target: Format, without: dict[str, Any], level: Grade) -> Query | None:
    """Return a query without what a format does not hold; None where it cannot hold the query at all."""
    judgments = dict(query.judgments)
    if "passages" in without:
        for passage in query.passages:
            del judgments[passage.key]
    if not target.as_trec_eval:
        judgments = {doc_id: max(grade, 0) for doc_id, grade in judgments.items()}
    is_held = bool(judgments) and (target.as_trec_eval or max(judgments.values()) >= level)
    if not ("no_answer" in target.holds if query.no_answer else is_held):
        return None
    return replace(query, judgments=judgments, **without)


def refuse(names: Iterable[str], why: str, advice: str) -> None:
    """Raise ConversionError if there are any names, such as ids or texts, that the format cannot hold."""
    found = list(dict.fromkeys(names))
    if found:
        raise ConversionError(f"{why}. {advice}: {_names(found)}.")


def _names(ids: Sequence[str]) -> str:
    return listed(ids, _MAX_NAMED, quote)


def judgments_of(golden: GoldenSet) -> list[list[str]]:
    """Return query id, document id and grade of each judgment."""
    return [
        [query.id, doc, repr(grade)]
        for query in golden.queries.values()
        for doc, grade in query.judgments.items()
    ]
