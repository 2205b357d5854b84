"""Find the line of a file on which a query judges a document.

The file is read again when a place is wanted: keeping the place of each judgment would make loading slower.
"""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING

from pytest_irmetrics.golden import files
from pytest_irmetrics.golden.errors import Stop
from pytest_irmetrics.golden.formats import format_by_suffix, split_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_irmetrics.golden.query import Query


def judgment_lines(path: Path) -> list[str]:
    """Return the lines of a golden set's file, of a BEIR folder those of its split; none if it can no longer be read."""
    if format_by_suffix(path) is None or os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for a name that no file has
        path = split_of(path) or path
    return files.lines_of(path)


def find_line(path: Path, lines: Sequence[str], query: Query, doc_id: str, last: int) -> int | None:
    """Find the line, from 1, on which a query judges or forbids a document; None if it is not found.

    `last` is the line on which the next query begins: in YAML's flow style this one may end on it.
    """
    if query.line is None or not lines:
        return None
    form = format_by_suffix(path) or "beir"
    if form == "yaml":
        return _line_in_yaml(doc_id, query, lines[query.line - 1 : last])
    if form == "jsonl":
        return query.line if query.line <= len(lines) and doc_id in lines[query.line - 1] else None
    for number, line in enumerate(lines[query.line - 1 :], query.line):
        if doc_id in line:
            cells = line.split() if form == "trec" else _cells(line)
            if doc_id in cells and (query.id in cells or query.text in cells):
                return number
    return None


def _line_in_yaml(doc_id: str, query: Query, lines: Sequence[str]) -> int | None:
    """Find the line on which a query, whose first line is the first of `lines`, judges or forbids a document."""
    import yaml  # noqa: PLC0415 - not needed for other formats

    from pytest_irmetrics.golden.nodes import (  # noqa: PLC0415 - as above
        MappingStartEvent,
        NodeProblems,
        ScalarEvent,
        place_of,
    )
    from pytest_irmetrics.golden.queries import find_name  # noqa: PLC0415 - as above
    from pytest_irmetrics.golden.yaml_nodes import NodeReader  # noqa: PLC0415 - as above

    if not lines or query.line is None or query.column is None:
        return None
    before = query.column - 1
    first = " " * before + lines[0][before:]  # keeps the indentation that the next lines are compared with
    try:
        nodes = NodeReader("\n".join([first, *lines[1:]]).encode(), NodeProblems(""))
        event = nodes.begin()
        if event.__class__ is not MappingStartEvent:
            return None
        root = nodes.compose(event)
    except (yaml.YAMLError, Stop):
        return None
    for key, value in zip(root[1::2], root[2::2], strict=True):
        if key.__class__ is ScalarEvent and key.value in ("relevant", "forbidden"):
            found = find_name(value, doc_id)
            if found is not value or (found.__class__ is ScalarEvent and found.value == doc_id):
                return place_of(found)[0] + query.line - 1
    return None


def _cells(line: str) -> list[str]:
    """Split a row of a table at the most frequent of its possible delimiters."""
    delimiter = max("\t,;", key=line.count)
    try:
        return [cell.lstrip(" ") for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []
