"""A table with a header, one judgment a row → what it says of each query; Quepid's and BEIR's tables are such, too."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.cells import read_param, read_tags, unguarded
from pytest_irmetrics.golden.errors import Stop
from pytest_irmetrics.golden.query import MAX_WEIGHT
from pytest_irmetrics.golden.rows import bad_grade, judged_twice, read_grade
from pytest_irmetrics.thresholds import read_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.metrics import Grade

__all__ = ["Draft", "read_rows"]

COLUMNS = ("query", "docid", "rating", "id", "tags", "weight")

_NAMED = {  # the names of Quepid's other exports, and of BEIR
    "doc_id": "docid",
    "doc id": "docid",
    "query text": "query",
    "query-id": "id",
    "corpus-id": "docid",
    "score": "rating",
}
_QUEPID = frozenset(("team name", "case name", "case id"))  # beside them stand any fields of the documents
_OTHER_NAMES = {
    "doc": "docid",
    "document": "docid",
    "grade": "rating",
    "relevance": "rating",
    "relevant": "rating",
    "label": "rating",
    "judgment": "rating",
    "text": "query",
    "question": "query",
    "qid": "id",
    "query_id": "id",
    "tag": "tags",
}
_BREAK = re.compile(r"\r\n?|\n")


@dataclass(slots=True)
class Draft:
    """What the rows of one query have said so far."""

    line: int
    text: str | None = None
    judgments: dict[str, Grade] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """On which line each document is judged."""
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    params: dict[str, object] = field(default_factory=dict)
    given: dict[str, tuple[str, int]] = field(default_factory=dict)
    """What a column has said of the query, and on which line."""


def read_rows(
    data: bytes, problems: Problems, *, tabs: bool, for_spreadsheets: bool = True
) -> dict[str, Draft]:
    """Read the rows of a table by query; what is wrong is reported. Raises Stop where nothing more can be read.

    Tables that are not `for_spreadsheets` have no guards against formulas.
    """
    return _Table(data.decode(), problems, tabs=tabs, for_spreadsheets=for_spreadsheets).read()


class _Table:
    """Reads one table; a place is only looked for where something is wrong with it."""

    def __init__(self, text: str, problems: Problems, *, tabs: bool, for_spreadsheets: bool) -> None:
        self._text = text
        self._problems = problems
        self._for_spreadsheets = for_spreadsheets
        first = _BREAK.split(text, maxsplit=1)[0]
        counts = {sign: first.count(sign) for sign in ",;\t"}
        self._delimiter = "\t" if tabs else max(counts, key=lambda sign: counts[sign])
        self._starts: list[int] | None = None
        self._columns: list[str | None] = []
        self._drafts: dict[str, Draft] = {}

    def read(self) -> dict[str, Draft]:
        records = self._records(loose=False)
        line, header = next(records, (1, []))
        if not any(cell.strip() for cell in header):
            self._problems.report(1, 1, "There is no header. Begin with the line `query,docid,rating`.")
            raise Stop
        if any(
            cell[:1] == " " for cell in header[1:]
        ):  # written `query, docid, rating`: the rows will be, too
            records = self._records(loose=True)
            line, header = next(records)
        self._read_header(line, header)
        for line, cells in records:
            if any(map(str.strip, cells)):
                self._read_row(line, cells)
        return self._drafts

    def _records(self, *, loose: bool) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(
            io.StringIO(self._text, newline=""),
            delimiter=self._delimiter,
            strict=True,
            skipinitialspace=loose,
        )
        line = 1
        try:
            for cells in reader:
                yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            self._explain(line, str(error))
            raise Stop from None

    def _explain(self, line: int, said: str) -> None:
        starts = self._cells_of(line)
        cell = len(starts) - 1
        if "field limit" in said:
            ends = [*starts[1:], len(self._text)]
            longest = max(range(len(starts)), key=lambda place: ends[place] - starts[place])
            self._report(
                line,
                longest,
                f"A cell here is longer than {csv.field_size_limit():,} characters. Is the quote that opens it never closed?",
            )
        elif "expected after" in said:
            self._report(
                line, cell, 'A quote ends this cell too early. Write a quote within a quoted cell twice, "".'
            )
        else:
            self._report(line, cell, "The quote that opens this cell is never closed. Close it.")

    # Places ----------------------------------------------------------------------------------------------------

    def _cells_of(self, line: int) -> list[int]:
        """Return where the cells of the record begin that begins on a line, as far as it can be read."""
        if self._starts is None:
            self._starts = [0, *(found.end() for found in _BREAK.finditer(self._text))]
        delimiter = re.escape(self._delimiter)
        cell = re.compile(rf'[ ]*"(?:[^"]|"")*"?|[^{delimiter}\r\n]*')
        at = self._starts[line - 1]
        starts = []
        while True:
            starts.append(at)
            found = cell.match(self._text, at)
            end = found.end() if found else at
            if self._text[end : end + 1] != self._delimiter:
                return starts
            at = end + 1

    def _report(self, line: int, cell: int, message: str) -> None:
        """Report what is wrong with a cell of the record that begins on a line."""
        starts = self._cells_of(line)
        at = starts[min(cell, len(starts) - 1)] if starts else 0
        before = [*_BREAK.finditer(self._text, (self._starts or [0])[line - 1], at)]
        begin = before[-1].end() if before else (self._starts or [0])[line - 1]
        self._problems.report(line + len(before), at - begin + 1, message)

    # The header ------------------------------------------------------------------------------------------------

    def _read_header(self, line: int, header: Sequence[str]) -> None:
        names = [name.strip() for name in header]
        lower = [name.casefold() for name in names]
        quepid = not _QUEPID.isdisjoint(lower)
        before = len(self._problems)
        if not any(name in COLUMNS or name in _NAMED for name in lower):
            message = f"This is no header: {quote(names[0])} is no column. Begin with `query,docid,rating`."
            self._problems.report(line, 1, message)
            raise Stop
        for at, name in enumerate(names):
            column = _NAMED.get(lower[at], lower[at])
            if column.startswith("params.") and len(name) > len("params."):
                column = f"params.{name[len('params.') :]}"
            elif column not in COLUMNS:
                if not quepid and name and not lower[at].startswith("x-"):
                    self._report(line, at, _unknown_column(name, names))
                self._columns.append(None)
                continue
            if column in self._columns:
                self._report(line, at, f"The column {quote(name)} is there twice. Keep one.")
            self._columns.append(column)
        if len(self._problems) > before:
            raise Stop
        missing = [name for name in ("docid", "rating") if name not in self._columns]
        if "query" not in self._columns and "id" not in self._columns:
            missing.insert(0, "query")
        if missing:
            advice = "The columns are query, docid and rating, and perhaps id, tags, weight and params.NAME."
            self._problems.report(line, 1, f"The header has no column `{missing[0]}`. {advice}")
            raise Stop

    # Rows ------------------------------------------------------------------------------------------------------

    def _read_row(self, line: int, cells: Sequence[str]) -> None:
        columns = self._columns
        unrated = len(cells) == 1 and columns[0] == "query"  # as Quepid writes a query without ratings
        if any(cells[len(columns) :]) or (len(cells) < len(columns) and not unrated):
            at_cell = min(len(cells) - 1, len(columns))
            self._report(line, at_cell, _wrong_size(len(cells), len(columns), self._delimiter))
            return
        row: dict[str, str] = {}
        at: dict[str, int] = {}
        for place, (column, cell) in enumerate(zip(columns, cells, strict=False)):
            if column is not None and cell:
                row[column] = unguarded(cell) if self._for_spreadsheets else cell
                at[column] = place
        text = row.pop("query", None)
        if text is not None and text.isspace():
            text = None
        query_id = row.pop("id", None) or text
        if query_id is None:
            self._report(line, 0, "This row has no query. Write its text or its id on each row.")
            return
        draft = self._drafts.get(query_id)
        if draft is None:
            draft = self._drafts[query_id] = Draft(line)
        if text is not None:
            if draft.text is None:
                draft.text = text
                draft.given["query"] = (text, line)
            elif draft.text != text:
                self._report(
                    line,
                    at["query"],
                    f"The query {quote(query_id)} has another text on line {draft.given['query'][1]}. Give each an id of its own.",
                )
        self._judge(line, query_id, draft, row.pop("docid", None), row.pop("rating", "").strip(), at)
        for column, cell in row.items():
            self._describe(line, at[column], query_id, draft, column, cell)

    def _judge(
        self, line: int, query_id: str, draft: Draft, doc_id: str | None, written: str, at: dict[str, int]
    ) -> None:
        if doc_id is None:
            if written:
                self._report(
                    line, at["rating"], "This rating is of no document. Write its id in the column `docid`."
                )
            return
        if not written:  # not rated yet, as in a list of what is to be judged
            return
        grade = read_grade(written)
        if grade is None:
            self._report(line, at["rating"], bad_grade(doc_id, written))
        elif doc_id in draft.judgments:
            self._report(line, at["docid"], judged_twice(query_id, doc_id, draft.lines[doc_id]))
        else:
            draft.judgments[doc_id] = grade
            draft.lines[doc_id] = line

    def _describe(self, line: int, at: int, query_id: str, draft: Draft, column: str, cell: str) -> None:
        """Read what is said of a query: on each of its rows, or on one of them."""
        before = draft.given.setdefault(column, (cell, line))
        if before[1] != line:
            if before[0] != cell:
                self._report(
                    line,
                    at,
                    f"`{column}` of the query {quote(query_id)} is {quote(before[0])} on line {before[1]}. Keep one.",
                )
        elif column == "weight":
            weight = read_number(cell.strip())
            if weight is None or not 0 < weight <= MAX_WEIGHT:
                self._report(
                    line,
                    at,
                    f"`weight` is {quote(cell)}. Write a number above 0 and up to {MAX_WEIGHT:,.0f}.",
                )
            else:
                draft.weight = float(weight)
        elif column == "tags":
            tags = read_tags(cell)
            if tags is None:
                self._report(line, at, f"`tags` is {quote(cell)}. Write different tags with commas between.")
            else:
                draft.tags = tags
        else:
            draft.params[column.removeprefix("params.")] = read_param(cell)


def _unknown_column(name: str, names: Sequence[str]) -> str:
    lower = name.casefold()
    close = get_close_matches(lower, COLUMNS, n=1) if len(name) <= 40 else []
    other = _OTHER_NAMES.get(lower)
    if other and other not in names:
        advice = f"Did you mean `{other}`?"
    elif close:
        advice = f"Did you mean `{close[0]}`?"
    else:
        advice = f"The columns are {', '.join(COLUMNS)} and params.NAME; one for people begins with x-."
    return f"{quote(name)} is no column of a golden set. {advice}"


def _wrong_size(cells: int, columns: int, delimiter: str) -> str:
    sign = {"\t": "a tab", ",": "a comma", ";": "a semicolon"}[delimiter]
    here = "is 1 cell" if cells == 1 else f"are {cells} cells"
    return f"Here {here}, and the header has {columns}. Put a text that contains {sign} in double quotes."
