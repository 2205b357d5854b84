"""Write a comparison of two runs as JSON, for `diff --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.cli.diff_notes import notes_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.cli.two_runs import MovedByQuery, MovedDocument, TwoRuns

Record = dict[str, object]


def comparison_record(compared: TwoRuns, moved: MovedByQuery, documents: Documents) -> Record:
    """Return what is said of two runs, with the queries to show and their moved documents."""
    return {
        "baseline": compared.baseline.name,
        "now": compared.now.name,
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
            for change in compared.changes
        ],
        "queries": [_query_record(compared, query_id, moved[query_id], documents) for query_id in moved],
        "notes": list(notes_on(compared)),
    }


def _query_record(
    compared: TwoRuns, query_id: str, moved: Sequence[MovedDocument], documents: Documents
) -> Record:
    query = compared.queries[query_id]
    return {
        "id": query_id,
        "query": query.text,
        "scores": {
            change.metric.name: [change.before[query_id], change.after[query_id]]
            for change in compared.changes
            if query_id in change.worse or query_id in change.better
        },
        "documents": [
            _document_record(one, query.judgments.get(one.doc_id), documents.title(one.doc_id))
            for one in moved
        ],
    }


def _document_record(moved: MovedDocument, grade: float | None, title: str | None) -> Record:
    record: Record = {"docid": moved.doc_id, "was": moved.before, "now": moved.now, "grade": grade}
    return record if title is None else {**record, "title": title}
