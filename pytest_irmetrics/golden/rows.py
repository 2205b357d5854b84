"""Golden sets as rows, one judgment each: TREC qrels, tables and BEIR folders. Read, the rows of a query become its node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.format_jsonl import read_json
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query_reader import QueryReader
from pytest_irmetrics.golden.source import Node, Source, Wrong


class Row(NamedTuple):
    """One judgment; without a grade, only the query is named."""

    line: int
    query_id: str
    doc: str
    grade: str
    about: Mapping[str, str] = {}
    """What the row says of the query: cells by column, ``params.NAME`` or a key of a query that `_COLUMNS` of format_tables.py has."""


def golden_set_of(rows: Iterable[Row], source: Source, texts: Mapping[str, str] = {}) -> GoldenSet:
    """Make a golden set of the rows of a file, with texts of queries from another file by id. Raises GoldenSetError."""
    by_query: dict[str, list[Row]] = {}
    for row in rows:
        by_query.setdefault(row.query_id, []).append(row)
    reader = QueryReader(source, as_trec_eval=True)
    for query_id, of_query in by_query.items():
        if query_id in texts:
            of_query[0] = of_query[0]._replace(about={**of_query[0].about, "query": texts[query_id]})
        reader.read(_query_node(of_query, source))
    return reader.judged_set(also_left_out=texts)


def _query_node(rows: Sequence[Row], source: Source) -> Node:
    """Return a query under the keys of a golden set, whose values QueryReader checks; rows that contradict each other are reported."""
    place = rows[0].line, 1
    judgments: list[tuple[Node, Node]] = []
    cells: dict[str, Node] = {}
    for line, query_id, doc, grade, about in rows:
        for column, written in about.items():
            first = cells.setdefault(column, Node((line, 1), written))
            if first.value != written:
                said = f"`{column}` of the query {quote(query_id)} is {quote(first.value)} on line {first.place[0]}"
                source.add((line, 1), f"{said}. Keep one; or give each query an id of its own.")
        if grade and not doc:  # without a grade it is not rated yet, as in a list of what is to be judged
            source.add((line, 1), "This rating is of no document. Write its id in the column `docid`.")
        elif grade:
            judgments.append((Node((line, 1), doc), Node((line, 1), grade, plain=True)))
    keys = {"id": Node(place, rows[0].query_id), "relevant": Node(place, judgments, "mapping")}
    params = []
    for column, cell in cells.items():
        if column == "tags":
            tags = [Node(cell.place, tag.strip()) for tag in cell.value.split(",")]
            keys[column] = Node(cell.place, tags, "list")
        elif column == "weight":
            keys[column] = Node(cell.place, cell.value.strip(), plain=True)
        elif column.startswith("params."):
            params.append((Node(cell.place, column.removeprefix("params.")), _read_param(cell)))
        else:
            keys[column] = cell
    keys["params"] = Node(place, params, "mapping")
    return Node(place, [(Node(place, key), value) for key, value in keys.items()], "mapping")


def _read_param(cell: Node) -> Node:
    """Return the value of a cell that is JSON (such as ``3``, ``true``, ``"3"`` or ``[1]``), else its text."""
    try:
        return read_json(cell.value, cell.place)
    except Wrong:
        return cell


# Writing


class ConversionError(IRMetricsError, ValueError):
    """Something in a golden set that cannot be written in a format at all; says what to do."""


def refuse(names: Collection[str], why: str, advice: str) -> None:
    """Raise ConversionError if there are any names, such as ids or texts, that the format cannot hold."""
    if names:
        raise ConversionError(f"{why}. {advice}: {listed(list(dict.fromkeys(names)), 5, quote)}.")


def judgments_of(golden: GoldenSet) -> list[list[str]]:
    """Return query id, document id and grade of each judgment."""
    return [
        [query.id, doc, repr(grade)]
        for query in golden.queries.values()
        for doc, grade in query.judgments.items()
    ]
