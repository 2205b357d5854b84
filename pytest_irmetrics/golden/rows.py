"""Make a golden set of rows, one judgment each: TREC qrels, tables and BEIR folders; every check of a row is here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.numbers import MAX_GRADE, as_whole_number
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Wrong, raise_any
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.nodes import Node
from pytest_irmetrics.golden.queries import read_number_in, read_weight
from pytest_irmetrics.golden.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.metrics import Grade

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines
_NOTHING: Mapping[str, str] = {}


class Row(NamedTuple):
    """One judgment; without a grade, only the query is named."""

    line: int
    query_id: str
    text: str | None = None
    doc: str = ""
    grade: str = ""
    about: Mapping[str, str] = _NOTHING
    """What the row says of the query: cells by column, ``tags``, ``weight`` or ``params.NAME``."""


@dataclass(slots=True)
class _Draft:
    """A query, as far as its rows have been read."""

    query_id: str
    line: int
    text: str | None
    judgments: dict[str, Grade] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Add what a row says. Raises Wrong."""
        place = row.line, 1
        self.text = self.text or row.text
        if row.text and row.text != self.text:
            message = f"The query {quote(row.query_id)} has another text on line {self.line}. Give each an id of its own."
            raise Wrong(place, message)
        for column, cell in row.about.items():
            if self.about.setdefault(column, cell) != cell:
                said = f"`{column}` of the query {quote(row.query_id)} is {quote(self.about[column])} on another row"
                raise Wrong(place, f"{said}. Keep one.")
        if not row.grade:  # not rated yet, as in a list of what is to be judged
            return
        if not row.doc:
            raise Wrong(place, "This rating is of no document. Write its id in the column `docid`.")
        what, advice = f"The grade of {quote(row.doc)}", f"Write a number up to {MAX_GRADE}."
        grade = read_number_in(Node(*place, row.grade, plain=True), what, -inf, MAX_GRADE, advice)
        if row.doc in self.judgments:
            message = f"The query {quote(row.query_id)} judges {quote(row.doc)} twice. Keep one."
            raise Wrong(place, message)
        self.judgments[row.doc] = as_whole_number(grade)  # pandas writes 3.0 in a column with gaps

    def query(self) -> Query:
        """Return the query. Raises Wrong for tags and weights that are none."""
        others: dict[str, Any] = {"params": {}}
        for column, cell in self.about.items():
            if column == "weight":
                others[column] = read_weight(Node(self.line, 1, cell.strip(), plain=True), column)
            elif column == "tags":
                others[column] = read_tags(cell)
                if others[column] is None:
                    message = f"`tags` is {quote(cell)}. Write different tags with commas between."
                    raise Wrong((self.line, 1), message)
            else:
                others["params"][column.removeprefix("params.")] = read_param(cell)
        return Query(self.query_id, self.text, self.judgments, line=self.line, column=1, **others)


def golden_set_of(
    rows: Iterable[Row],
    problems: Problems,
    path: Path,
    name: str,
    texts: Mapping[str, str] | None = None,
    texts_in: str = "",
) -> GoldenSet:
    """Make a golden set of rows. Raises GoldenSetError.

    `texts` are those of another file, `texts_in`, by query id; each judged query must be there. Queries without a judgment
    are left out.
    """
    drafts: dict[str, _Draft] = {}
    for row in rows:
        draft = drafts.get(row.query_id) or _Draft(row.query_id, row.line, row.text)
        problems.attempt(drafts.setdefault(row.query_id, draft).add, row)
    with_text = any(draft.text is not None for draft in drafts.values())
    queries = []
    for query_id, draft in drafts.items():
        lacks = ""
        if texts is not None:
            draft.text = texts.get(query_id)
            if draft.text is None and draft.judgments:
                lacks = f"no text in {texts_in}. Add it, or remove its judgments."
        elif with_text and draft.text is None:
            lacks = "no text, and others do. Write it in the column `query`."
        if lacks:
            problems.add(Wrong((draft.line, 1), f"The query {quote(query_id)} has {lacks}"))
        query = problems.attempt(draft.query)
        queries += [query] if query and query.judgments else []
    if not queries and not len(problems):
        problems.add(Wrong((1, 1), "There is no judgment. Write one a row."))
    raise_any(problems)
    judged = {query.id for query in queries}
    left_out = tuple(query_id for query_id in {**drafts, **(texts or {})} if query_id not in judged)
    return GoldenSet(queries, path=path, shown=problems.shown, name=name, left_out=left_out)


def read_tags(cell: str) -> tuple[str, ...] | None:
    """Read tags with commas between them; None if a tag is empty or there twice."""
    tags = tuple(tag.strip() for tag in cell.split(","))
    return tags if len({*tags}) == len(tags) and "" not in tags else None


def read_param(cell: str) -> object:
    """Read a parameter: the value of a cell that is JSON (such as ``3``, ``true``, ``"3"`` or ``[1]``), else its text."""
    try:
        value = json.loads(cell)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return cell
    return value


def write_param(value: object) -> str:
    """Write a parameter so that `read_param` reads it."""
    if isinstance(value, str) and value and read_param(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)
