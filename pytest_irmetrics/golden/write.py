"""Keep of a golden set what another format can hold, and say what it cannot; refuse what cannot be written at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.format_yaml import set_as_dict
from pytest_irmetrics.golden.formats import KEYS
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import query_as_dict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_irmetrics.golden.formats import Format
    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Grade


_MAX_NAMED = 5
"""How many queries or texts a message names at most."""


class ConversionError(IRMetricsError, ValueError):
    """Something in a golden set that cannot be written in a format at all; says what to do."""


def drop_unsupported(golden: GoldenSet, target: Format) -> tuple[GoldenSet, list[str]]:
    """Return the queries of a golden set that a format can hold, as far as it can, and sentences on what it cannot."""
    held = {query.id: _held(query, target, golden.relevance_level) for query in golden.queries.values()}
    keys = {key for query in golden.queries.values() for key in query_as_dict(query)}
    keys |= {"passages" for query in golden.queries.values() if query.passages}
    dropped = [key for key in KEYS if key in keys and key not in target.holds]
    dropped += [f"{key} of the set" for key in (() if "set" in target.holds else set_as_dict(golden))]
    notes = [f"{target.title} has no place for {', '.join(dropped)}."] if dropped else []
    left_out = [*(query_id for query_id, query in held.items() if query is None), *golden.left_out]
    if left_out:
        notes.append(f"Left out, because {target.title} can hold no judgment of them: {_names(left_out)}.")
    kept = GoldenSet(
        filter(None, held.values()),
        path=golden.path,
        name=golden.name,
        relevance_level=golden.relevance_level,
        thresholds=golden.thresholds,
    )
    return kept, notes


def _held(query: Query, target: Format, level: Grade) -> Query | None:
    """Return a query with the judgments that a format holds; None where it cannot hold the query at all."""
    if query.no_answer:
        return query if "no_answer" in target.holds else None
    passages = () if "passages" in target.holds else {passage.key for passage in query.passages}
    grades = {doc: grade for doc, grade in query.judgments.items() if doc not in passages}
    if not target.as_trec_eval:
        grades = {doc: max(grade, 0) for doc, grade in grades.items()}
    is_held = bool(grades) and (target.as_trec_eval or max(grades.values()) >= level)
    return replace(query, judgments=grades) if is_held else None


def refuse(names: Collection[str], why: str, advice: str) -> None:
    """Raise ConversionError if there are any names, such as ids or texts, that the format cannot hold."""
    if names:
        raise ConversionError(f"{why}. {advice}: {_names(list(dict.fromkeys(names)))}.")


def _names(ids: Sequence[str]) -> str:
    return listed(ids, _MAX_NAMED, quote)


def judgments_of(golden: GoldenSet) -> list[list[str]]:
    """Return query id, document id and grade of each judgment."""
    return [
        [query.id, doc, repr(grade)]
        for query in golden.queries.values()
        for doc, grade in query.judgments.items()
    ]
