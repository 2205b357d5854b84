"""CSV and TSV with a header, one judgment a row → GoldenSet."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.beir import is_split, read_split
from pytest_irmetrics.golden.errors import Problems, Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.judgment_rows import MAX_BYTES
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.table_rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.table_rows import QueryRows

__all__ = ["read_table"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours


def read_table(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set from a CSV or TSV file with a header. Raises GoldenSetError."""
    data = read_plain_bytes(path, shown, MAX_BYTES)
    tabs = path.suffix.lower() == ".tsv"
    if tabs and is_split(data):
        return read_split(path, shown, custom_metrics)
    problems = Problems(shown)
    if path.name.lower().endswith(".topics.tsv"):
        qrels = f"{path.name[: -len('.topics.tsv')]}.qrels"
        problems.report(1, 1, f"These are the texts of a TREC golden set. Name its judgments, {qrels}.")
        raise_any(problems)
    drafts: dict[str, QueryRows] = {}
    with pause_gc(), suppress(Stop):
        drafts = read_rows(data, problems, tabs=tabs)
        _check_texts(drafts, problems)
        if not any(draft.judgments for draft in drafts.values()) and not len(problems):
            problems.report(1, 1, "There is no judgment. Write one a row, under the header.")
    raise_any(problems)
    queries = [
        Query(
            query_id,
            draft.text,
            draft.judgments,
            tags=draft.tags,
            weight=draft.weight,
            params=draft.params,
            line=draft.line,
            column=1,
        )
        for query_id, draft in drafts.items()
        if draft.judgments
    ]
    left_out = tuple(query_id for query_id, draft in drafts.items() if not draft.judgments)
    return GoldenSet(queries, path=path, shown=shown, name=path.stem, left_out=left_out)


def _check_texts(drafts: Mapping[str, QueryRows], problems: Problems) -> None:
    if any(draft.text is not None for draft in drafts.values()):
        for query_id, draft in drafts.items():
            if draft.text is None:
                message = (
                    f"The query {quote(query_id)} has no text, and others do. Write it in the column `query`."
                )
                problems.report(draft.line, 1, message)
