"""Convert queries and thresholds to plain data under the keys of a golden set file, for writers and JSON output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import as_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.thresholds import Threshold


def query_as_dict(query: Query) -> dict[str, object]:
    """Return a query as a dict with the keys of a golden set: id, query and relevant, and those optional ones that are set."""
    record: dict[str, object] = {"id": query.id, "query": query.text, "relevant": _relevant(query)}
    others: dict[str, object] = {
        "forbidden": list(query.forbidden),
        "tags": list(query.tags),
        "weight": None if query.weight == 1 else as_whole_number(query.weight),
        "params": query.params,
        "thresholds": limits_as_dict(query.thresholds),
        "no_answer": query.no_answer,
        "xfail": query.xfail,
        "note": query.note,
    }
    return record | {key: value for key, value in others.items() if value}


def query_as_written(query: Query) -> dict[str, object]:
    """Return a query with the keys that people write in a file: no id that is its text, limits and judgments in short."""
    record = query_as_dict(query)
    if query.id == query.text:
        del record["id"]
    if query.text is None:
        del record["query"]
    if query.no_answer:
        del record["relevant"]
    elif not query.passages and all(type(grade) is int and grade == 1 for grade in query.judgments.values()):
        record["relevant"] = list(query.judgments)
    if query.thresholds:
        record["thresholds"] = shorten_limits(limits_as_dict(query.thresholds))
    return record


def limits_as_dict(thresholds: Iterable[Threshold]) -> dict[str, dict[str, object]]:
    """Return the limits of thresholds as a golden set has them: metric name → word → limit."""
    return {
        threshold.metric.name: {
            word: "off" if limit is None else str(limit) if limit.percent else limit.value
            for word, limit in threshold.limits.items()
        }
        for threshold in thresholds
    }


def shorten_limits(limits: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return limits in their short form: a number in place of ``{min: number}``."""
    short: dict[str, object] = {}
    for metric, words in limits.items():
        plain = {
            word: as_whole_number(value) if isinstance(value, float) else value
            for word, value in words.items()
        }
        short[metric] = plain["min"] if plain.keys() == {"min"} else plain
    return short


def _relevant(query: Query) -> object:
    """Return the value of `relevant`: grades by document, or a list where there are passages."""
    if not query.passages:
        return {doc_id: as_whole_number(grade) for doc_id, grade in query.judgments.items()}
    keys = {passage.key for passage in query.passages}
    return [
        *(doc_id for doc_id in query.judgments if doc_id not in keys),
        *(
            {"doc": passage.doc, "text": passage.text, "grade": as_whole_number(passage.grade)}
            for passage in query.passages
        ),
    ]
