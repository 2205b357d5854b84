"""Write a comparison of two runs as JSON, for `diff --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.cli.command_line import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.comparison import Comparison, MetricChange

Record = dict[str, object]


def comparison_record(
    names: tuple[str, str],
    comparison: Comparison,
    changes: Sequence[MetricChange],
    ranks: Mapping[str, Sequence[tuple[str, int | None, int | None]]],
    documents: Documents,
    notes: Sequence[str],
) -> Record:
    """Return what is said of two runs of these names; `ranks` are the moved documents, with both ranks, by query to show."""
    queries = comparison.now.golden.queries
    return {
        "baseline": names[0],
        "now": names[1],
        "metrics": [
            {
                "metric": change.metric.name,
                "baseline": change.baseline,
                "now": change.now,
                "delta": change.delta,
                "n": change.n,
                "worse": list(change.worse),
                "better": list(change.better),
            }
            for change in changes
        ],
        "queries": [
            {
                "id": query_id,
                "query": queries[query_id].text,
                "scores": {
                    change.metric.name: [change.before[query_id], change.after[query_id]]
                    for change in changes
                    if query_id in change.worse or query_id in change.better
                },
                "documents": [
                    _document(doc_id, was, now, queries[query_id].judgments.get(doc_id), documents)
                    for doc_id, was, now in moved
                ],
            }
            for query_id, moved in ranks.items()
        ],
        "notes": list(notes),
    }


def _document(
    doc_id: str, was: int | None, now: int | None, grade: float | None, documents: Documents
) -> Record:
    title = documents.title(doc_id)
    record: Record = {"docid": doc_id, "was": was, "now": now, "grade": grade}
    return record if title is None else {**record, "title": title}


def record_lines(record: Record) -> Iterator[str]:
    """Yield the lines of a record as one JSON object; each metric, query or test has a line."""
    yield "{"
    for number, (key, value) in enumerate(record.items(), 1):
        comma = "," if number < len(record) else ""
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{json_line(key)}: [\n" + ",\n".join(map(json_line, value)) + f"\n]{comma}"
        else:
            yield f"{json_line(key)}: {json_line(value)}{comma}"
    yield "}"
