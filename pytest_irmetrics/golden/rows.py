"""Make a golden set of rows, one judgment each: TREC qrels, tables and BEIR folders. The rows of a query become its node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Wrong
from pytest_irmetrics.golden.nodes import Node, read_json
from pytest_irmetrics.golden.queries import QueryReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.golden.golden_set import GoldenSet

_NOTHING: Mapping[str, str] = {}


class Row(NamedTuple):
    """One judgment; without a grade, only the query is named."""

    line: int
    query_id: str
    doc: str
    grade: str
    about: Mapping[str, str] = _NOTHING
    """What the row says of the query: cells by column, ``query``, ``tags``, ``weight`` or ``params.NAME``."""


@dataclass(slots=True)
class _Draft:
    """A query, as far as its rows have been read."""

    id: Node
    judgments: list[tuple[Node, Node]] = field(default_factory=list)
    about: dict[str, Node] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Add what a row says. Raises Wrong."""
        place = row.line, 1
        for column, cell in row.about.items():
            first = self.about.setdefault(column, Node(*place, cell))
            if first.value != cell:
                said = f"`{column}` of the query {quote(row.query_id)} is {quote(first.value)} on line {first.line}"
                raise Wrong(place, f"{said}. Keep one; or give each query an id of its own.")
        if row.grade:  # else it is not rated yet, as in a list of what is to be judged
            if not row.doc:
                raise Wrong(place, "This rating is of no document. Write its id in the column `docid`.")
            self.judgments.append((Node(*place, row.doc), Node(*place, row.grade, plain=True)))

    def node(self) -> Node:
        """Return the query under the keys of a golden set."""
        line = self.id.line
        keys = {"id": self.id, "relevant": Node(line, 1, self.judgments, "mapping")}
        params = []
        for column, cell in self.about.items():
            if column == "tags":
                tags = [Node(cell.line, 1, tag.strip()) for tag in cell.value.split(",")]
                keys[column] = Node(cell.line, 1, tags, "list")
            elif column == "weight":
                keys[column] = Node(cell.line, 1, cell.value.strip(), plain=True)
            elif column == "query":
                keys[column] = cell
            else:
                params.append((Node(cell.line, 1, column.removeprefix("params.")), _read_param(cell)))
        keys["params"] = Node(line, 1, params, "mapping")
        return Node(line, 1, [(Node(line, 1, key), value) for key, value in keys.items()], "mapping")


def _read_param(cell: Node) -> Node:
    """Return the value of a cell that is JSON (such as ``3``, ``true``, ``"3"`` or ``[1]``), else its text."""
    try:
        return read_json(cell.value, cell.line)
    except Wrong:
        return cell


def golden_set_of(
    rows: Iterable[Row],
    problems: Problems,
    path: Path,
    name: str,
    texts: Mapping[str, str] | None = None,
    texts_in: str = "",
) -> GoldenSet:
    """Make a golden set of the rows of a file. Raises GoldenSetError.

    `texts` are those of another file, `texts_in`, by query id; each judged query must be there.
    """
    drafts: dict[str, _Draft] = {}
    for row in rows:
        draft = drafts.setdefault(row.query_id, _Draft(Node(row.line, 1, row.query_id)))
        problems.attempt(draft.add, row)
    reader = QueryReader(problems, as_trec_eval=True)
    for query_id, draft in drafts.items():
        if texts is not None and query_id in texts:
            draft.about["query"] = Node(draft.id.line, 1, texts[query_id])
        elif texts is not None and draft.judgments:
            message = (
                f"The query {quote(query_id)} has no text in {texts_in}. Add it, or remove its judgments."
            )
            problems.add(Wrong(draft.id, message))
        reader.read(draft.node())
    return reader.judged_set(path, name, "There is no judgment. Write one a row.", others=texts or ())
