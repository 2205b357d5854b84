"""Read golden sets in CSV and TSV: a header, and one judgment a row."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import without_gz
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


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


def read_tsv(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set in TSV, or a split of a BEIR folder. Raises GoldenSetError."""
    if is_split(read_plain_bytes(path, shown, MAX_BYTES)):
        return read_split(path, shown, custom_metrics)
    return _read(path, shown, tabs=True)


def read_table(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:  # noqa: ARG001 - as every reader
    """Read a golden set in CSV, with commas, semicolons or tabs. Raises GoldenSetError."""
    return _read(path, shown, tabs=False)


def _read(path: Path, shown: str, *, tabs: bool) -> GoldenSet:
    data = read_plain_bytes(path, shown, MAX_BYTES)
    problems = Problems(shown)
    if path.name.lower().endswith(".topics.tsv"):
        qrels = f"{path.name[: -len('.topics.tsv')]}.qrels"
        problems.report(1, 1, f"These are the texts of a TREC golden set. Name its judgments, {qrels}.")
        raise_any(problems)
    rows: dict[str, QueryRows] = {}
    with suppress(Stop):
        rows = read_rows(data, problems, tabs=tabs)
        _check_texts(rows, problems)
        if not any(query.judgments for query in rows.values()) and not len(problems):
            problems.report(1, 1, "There is no judgment. Write one a row, under the header.")
    raise_any(problems)
    queries = [
        Query(
            query_id,
            query.text,
            query.judgments,
            tags=query.tags,
            weight=query.weight,
            params=query.params,
            line=query.line,
            column=1,
        )
        for query_id, query in rows.items()
        if query.judgments
    ]
    left_out = tuple(query_id for query_id, query in rows.items() if not query.judgments)
    return GoldenSet(queries, path=path, shown=shown, name=without_gz(path).stem, left_out=left_out)


def _check_texts(rows: Mapping[str, QueryRows], problems: Problems) -> None:
    """Report queries without a text, unless no query has one."""
    if any(query.text is not None for query in rows.values()):
        for query_id, query in rows.items():
            if query.text is None:
                message = (
                    f"The query {quote(query_id)} has no text, and others do. Write it in the column `query`."
                )
                problems.report(query.line, 1, message)
