"""Where a golden set's file judges a document, looked up when it is asked for: reading stays fast."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from pytest_irmetrics.golden import files
from pytest_irmetrics.golden.beir_folder import split_of
from pytest_irmetrics.golden.formats import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_irmetrics.golden.model import Query

__all__ = ["lines_of", "place_in"]


def lines_of(path: Path) -> list[str]:
    """Return the lines of the file that holds a golden set's judgments; none if it can no longer be read."""
    if SUFFIXES.get(path.suffix.lower()) is None or path.is_dir():
        path = split_of(path) or path
    return files.lines_of(path)


def place_in(path: Path, lines: Sequence[str], query: Query, doc_id: str, last: int) -> int | None:
    """Find the line on which a query judges or forbids a document; None where it cannot be told.

    `last` is the line on which the next query begins, perhaps the one on which this ends.
    """
    if query.line is None or not lines:
        return None
    form = SUFFIXES.get(path.suffix.lower(), "beir")
    if form == "yaml":
        from pytest_irmetrics.golden.keyed_places import line_of  # noqa: PLC0415 - loads yaml

        return line_of(doc_id, query, lines[query.line - 1 : last])
    if form == "jsonl":
        return query.line if query.line <= len(lines) and doc_id in lines[query.line - 1] else None
    if form == "quepid":
        own = range(query.line, last + 1)
        return next((line for line in own if line <= len(lines) and f'"{doc_id}"' in lines[line - 1]), None)
    for number, line in enumerate(lines[query.line - 1 :], query.line):
        if doc_id in line:
            cells = line.split() if form == "trec" else _cells(line)
            if doc_id in cells and (query.id in cells or query.text in cells):
                return number
    return None


def _cells(line: str) -> list[str]:
    """Split a row at whatever stands between most of its cells."""
    delimiter = max("\t,;", key=line.count)
    try:
        return [cell.lstrip(" ") for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []
