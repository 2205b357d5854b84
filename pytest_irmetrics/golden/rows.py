"""Make a golden set of rows, one judgment each: TREC qrels, tables and BEIR folders; every check of a row is here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.numbers import (
    MAX_GRADE,
    MAX_WEIGHT,
    MIN_WEIGHT,
    as_whole_number,
    read_number,
    weight_advice,
)
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Wrong, raise_any
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.metrics import Grade

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines
_MAX_DEPTH = 20
"""Levels of lists and objects in a parameter; a deeper one is text."""
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

    line: int
    text: str | None
    judgments: dict[str, Grade] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    """What `about` says, by column."""

    def add(self, row: Row) -> None:
        """Add what a row says. Raises Wrong."""
        place = row.line, 1
        self.text = self.text or row.text
        if row.text and row.text != self.text:
            message = f"The query {quote(row.query_id)} has another text on line {self.line}. Give each an id of its own."
            raise Wrong(place, message)
        for column, cell in row.about.items():
            if self.about.get(column, cell) != cell:
                said = f"`{column}` of the query {quote(row.query_id)} is {quote(self.about[column])} on another row"
                raise Wrong(place, f"{said}. Keep one.")
            if column not in self.about:
                self.about[column] = cell
                self.values[column] = _read_about(column, cell, place)
        if not row.grade:  # not rated yet, as in a list of what is to be judged
            return
        if not row.doc:
            raise Wrong(place, "This rating is of no document. Write its id in the column `docid`.")
        grade = read_number(row.grade)
        if grade is None or grade > MAX_GRADE:
            message = (
                f"The grade of {quote(row.doc)} is {quote(row.grade)}. Write a number up to {MAX_GRADE}."
            )
            raise Wrong(place, message)
        if row.doc in self.judgments:
            message = f"The query {quote(row.query_id)} judges {quote(row.doc)} twice. Keep one."
            raise Wrong(place, message)
        self.judgments[row.doc] = as_whole_number(grade)  # pandas writes 3.0 in a column with gaps


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
        draft = drafts.get(row.query_id)
        if draft is None:
            draft = drafts[row.query_id] = _Draft(row.line, row.text)
        problems.attempt(draft.add, row)
    with_text = any(draft.text is not None for draft in drafts.values())
    for query_id, draft in drafts.items():
        place = draft.line, 1
        if texts is not None:
            draft.text = texts.get(query_id)
            if draft.text is None and draft.judgments:
                message = (
                    f"The query {quote(query_id)} has no text in {texts_in}. Add it, or remove its judgments."
                )
                problems.add(Wrong(place, message))
        elif with_text and draft.text is None:
            message = (
                f"The query {quote(query_id)} has no text, and others do. Write it in the column `query`."
            )
            problems.add(Wrong(place, message))
    judged = {query_id: draft for query_id, draft in drafts.items() if draft.judgments}
    if not judged and not len(problems):
        problems.add(Wrong((1, 1), "There is no judgment. Write one a row."))
    raise_any(problems)
    left_out = tuple(query_id for query_id in {**drafts, **(texts or {})} if query_id not in judged)
    queries = [_query(query_id, draft) for query_id, draft in judged.items()]
    return GoldenSet(queries, path=path, shown=problems.shown, name=name, left_out=left_out)


def _query(query_id: str, draft: _Draft) -> Query:
    params = {
        column.removeprefix("params."): value
        for column, value in draft.values.items()
        if column.startswith("params.")
    }
    others = {column: value for column, value in draft.values.items() if column in ("tags", "weight")}
    return Query(query_id, draft.text, draft.judgments, params=params, line=draft.line, column=1, **others)  # type: ignore[arg-type]  # tags or a weight, by column


def _read_about(column: str, cell: str, place: tuple[int, int]) -> object:
    """Read tags, a weight or a parameter of a query. Raises Wrong."""
    if column == "tags":
        tags = read_tags(cell)
        if tags is None:
            raise Wrong(place, f"`tags` is {quote(cell)}. Write different tags with commas between.")
        return tags
    if column != "weight":
        return read_param(cell)
    weight = read_number(cell.strip())
    if weight is None or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
        raise Wrong(place, f"`weight` is {quote(cell)}. {weight_advice(weight)}")
    return float(weight)


def read_tags(cell: str) -> tuple[str, ...] | None:
    """Read tags with commas between them; None if a tag is empty or there twice."""
    tags = tuple(tag.strip() for tag in cell.split(","))
    return tags if len({*tags}) == len(tags) and "" not in tags else None


def read_param(cell: str) -> object:
    """Read a parameter: the value of a cell that is JSON (such as ``3``, ``true``, ``"3"`` or ``[1]``), else its text."""
    try:
        value = json.loads(cell)
        if _depth(value) > _MAX_DEPTH:
            return cell
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return cell
    return value


def write_param(value: object) -> str:
    """Write a parameter so that `read_param` reads it."""
    if isinstance(value, str) and value and read_param(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _depth(value: object) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if parts is None else 1 + max(map(_depth, parts), default=0)
