"""Read tables with a header and one judgment a row: CSV and TSV golden sets, BEIR splits, Quepid's CSV exports."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import MAX_WEIGHT, MIN_WEIGHT, read_number, weight_advice
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Stop
from pytest_irmetrics.golden.judgment_rows import bad_grade_message, duplicate_judgment_message, read_grade
from pytest_irmetrics.golden.table_cells import read_param, read_tags, unguard_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.metrics import Grade


COLUMNS = ("query", "docid", "rating", "id", "tags", "weight")

_ALIASES = {
    "doc_id": "docid",
    "doc id": "docid",
    "query text": "query",
    "query-id": "id",
    "corpus-id": "docid",
    "score": "rating",
}
"""Column names that are read, too: those of Quepid's other exports, and of BEIR."""
_QUEPID_COLUMNS = frozenset(("team name", "case name", "case id"))
"""Columns of a Quepid export, in which any other column may be a field of the documents."""
_SUGGESTIONS = {
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
"""Column names that are not read → the name to suggest."""
_LINE_BREAK = re.compile(r"\r\n?|\n")


@dataclass(slots=True)
class QueryRows:
    """The judgments of one query, and what its rows say of it besides: text, tags, weight and params."""

    line: int
    """The first of its rows."""
    text: str | None = None
    text_line: int | None = None
    judgments: dict[str, Grade] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    params: dict[str, object] = field(default_factory=dict)
    described: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The first cell of each column about the query itself, with its line: tags, weight and parameters."""


def read_rows(
    data: bytes,
    problems: Problems,
    *,
    tabs: bool,
    for_spreadsheets: bool = True,
) -> dict[str, QueryRows]:
    """Read the rows of a table by query id; what is wrong is reported. Raises Stop where nothing more can be read.

    In a table `for_spreadsheets` a space may stand before a cell to keep it from being taken for a formula.
    """
    table = _TableReader(data.decode(), problems, tabs=tabs, for_spreadsheets=for_spreadsheets)
    return table.read()


class _TableReader:
    """Reads one table."""

    def __init__(self, text: str, problems: Problems, *, tabs: bool, for_spreadsheets: bool) -> None:
        # A checkout with other line ends changes those within quotes, too, and a text is to stay the same text.
        self._text = text.replace("\r\n", "\n")
        self._problems = problems
        self._for_spreadsheets = for_spreadsheets
        first = _LINE_BREAK.split(self._text, maxsplit=1)[0]
        counts = {sign: first.count(sign) for sign in ",;\t"}
        self._delimiter = "\t" if tabs else max(counts, key=lambda sign: counts[sign])
        self._columns: list[str | None] = []
        """What each column of the table holds; None for one that is not read."""
        self._places: dict[str, int] = {}
        """The place of each column that is read."""
        self._described: list[tuple[str, int]] = []
        """The columns about the query itself, with their places."""
        self._queries: dict[str, QueryRows] = {}

    def read(self) -> dict[str, QueryRows]:
        """Read the header and all rows."""
        records = self._records(loose=False)
        line, header = next(records, (1, None))
        if header is None or not any(cell.strip() for cell in header):
            self._problems.report(1, 1, "There is no header. Begin with the line `query,docid,rating`.")
            raise Stop
        # With a blank after each comma in the header, the rows will have one, too.
        if any(cell[:1] == " " for cell in header[1:]):
            records = self._records(loose=True)
            line, header = next(records)
        self._read_header(line, header)
        self._places = {name: place for place, name in enumerate(self._columns) if name is not None}
        judged = ("query", "id", "docid", "rating")
        self._described = [(name, place) for name, place in self._places.items() if name not in judged]
        for line, cells in records:
            if any(map(str.strip, cells)):
                self._read_row(line, cells)
        return self._queries

    def _records(self, *, loose: bool) -> Iterator[tuple[int, list[str]]]:
        """Yield each record with the line on which it begins; `loose` skips blanks after a delimiter."""
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
            self._report_csv_error(line, str(error))
            raise Stop from None

    def _report_csv_error(self, line: int, said: str) -> None:
        """Report what the csv module says of the record that begins on a line."""
        if "field limit" in said:
            limit = f"{csv.field_size_limit():,}"
            message = (
                f"A cell here is longer than {limit} characters. Is the quote that opens it never closed?"
            )
        elif "expected after" in said:
            message = 'A quote ends a cell too early. Write a quote within a quoted cell twice, "".'
        else:
            message = "A quote that opens a cell is never closed. Close it."
        self._problems.report(line, 1, message)

    # The header ------------------------------------------------------------------------------------------------

    def _read_header(self, line: int, header: Sequence[str]) -> None:
        """Tell what each column holds. Raises Stop where the rows cannot be read."""
        names = [name.strip() for name in header]
        lower = [name.casefold() for name in names]
        quepid = not _QUEPID_COLUMNS.isdisjoint(lower)
        before = len(self._problems)
        if not any(name in COLUMNS or name in _ALIASES for name in lower):
            message = f"This is no header: {quote(names[0])} is no column. Begin with `query,docid,rating`."
            self._problems.report(line, 1, message)
            raise Stop
        for at, name in enumerate(names):
            column = _ALIASES.get(lower[at], lower[at])
            if column.startswith("params.") and len(name) > len("params."):
                column = f"params.{name[len('params.') :]}"
            elif column not in COLUMNS:
                if not quepid and name and not lower[at].startswith("x-"):
                    self._problems.report(line, 1, _unknown_column_message(name, names))
                self._columns.append(None)
                continue
            if column in self._columns:
                self._problems.report(line, 1, f"The column {quote(name)} is there twice. Keep one.")
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

    def _read_row(self, line: int, cells: list[str]) -> None:
        columns = self._columns
        if len(cells) != len(columns):
            unrated = len(cells) == 1 and columns[0] == "query"  # as Quepid writes a query without ratings
            if any(cells[len(columns) :]) or (len(cells) < len(columns) and not unrated):
                self._problems.report(line, 1, _wrong_size_message(len(cells), len(columns), self._delimiter))
                return
            cells = [*cells, *[""] * (len(columns) - len(cells))]
        text = self._cell(cells, "query")
        if text is not None and text.isspace():
            text = None
        query_id = self._cell(cells, "id") or text
        if query_id is None:
            self._problems.report(line, 1, "This row has no query. Write its text or its id on each row.")
            return
        query = self._queries.get(query_id)
        if query is None:
            query = self._queries[query_id] = QueryRows(line)
        if text is not None and query.text != text:
            if query.text is None:
                query.text, query.text_line = text, line
            else:
                self._problems.report(
                    line,
                    1,
                    f"The query {quote(query_id)} has another text on line {query.text_line}. Give each an id of its own.",
                )
        self._read_judgment(line, query_id, query, cells)
        for column, place in self._described:
            if cells[place]:
                self._read_description(line, query_id, query, column, self._cell(cells, column) or "")

    def _cell(self, cells: Sequence[str], column: str) -> str | None:
        """Return the text of a row's cell in a column; None where it is empty, or the table lacks the column."""
        place = self._places.get(column)
        if place is None:
            return None
        cell = cells[place]
        if self._for_spreadsheets and cell[:1] == " ":
            return unguard_formula(cell)
        return cell or None

    def _read_judgment(self, line: int, query_id: str, query: QueryRows, cells: Sequence[str]) -> None:
        doc_id = self._cell(cells, "docid")
        written = (self._cell(cells, "rating") or "").strip()
        if doc_id is None:
            if written:
                self._problems.report(
                    line,
                    1,
                    "This rating is of no document. Write its id in the column `docid`.",
                )
            return
        if not written:  # not rated yet, as in a list of what is to be judged
            return
        grade = read_grade(written)
        if grade is None:
            self._problems.report(line, 1, bad_grade_message(doc_id, written))
        elif doc_id in query.judgments:
            self._problems.report(line, 1, duplicate_judgment_message(query_id, doc_id))
        else:
            query.judgments[doc_id] = grade

    def _read_description(self, line: int, query_id: str, query: QueryRows, column: str, cell: str) -> None:
        """Read tags, weight or a parameter of a query: the same on each of its rows, or on one of them."""
        before = query.described.setdefault(column, (cell, line))
        if before[1] != line:
            if before[0] != cell:
                self._problems.report(
                    line,
                    1,
                    f"`{column}` of the query {quote(query_id)} is {quote(before[0])} on line {before[1]}. Keep one.",
                )
        elif column == "weight":
            weight = read_number(cell.strip())
            if weight is None or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
                self._problems.report(
                    line,
                    1,
                    f"`weight` is {quote(cell)}. {weight_advice(weight)}",
                )
            else:
                query.weight = float(weight)
        elif column == "tags":
            tags = read_tags(cell)
            if tags is None:
                self._problems.report(
                    line, 1, f"`tags` is {quote(cell)}. Write different tags with commas between."
                )
            else:
                query.tags = tags
        else:
            query.params[column.removeprefix("params.")] = read_param(cell)


def _unknown_column_message(name: str, names: Sequence[str]) -> str:
    lower = name.casefold()
    close = get_close_matches(lower, COLUMNS, n=1) if len(name) <= 40 else []
    other = _SUGGESTIONS.get(lower)
    if other and other not in names:
        advice = f"Did you mean `{other}`?"
    elif close:
        advice = f"Did you mean `{close[0]}`?"
    else:
        advice = f"The columns are {', '.join(COLUMNS)} and params.NAME; one for people begins with x-."
    return f"{quote(name)} is no column of a golden set. {advice}"


def _wrong_size_message(cells: int, columns: int, delimiter: str) -> str:
    sign = {"\t": "a tab", ",": "a comma", ";": "a semicolon"}[delimiter]
    here = "is 1 cell" if cells == 1 else f"are {cells} cells"
    return f"Here {here}, and the header has {columns}. Put a text that contains {sign} in double quotes."
