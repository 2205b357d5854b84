"""Golden sets in tables with a header and one judgment a row: CSV and TSV, among them Quepid's exports, and BEIR folders."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.numbers import read_number
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.golden.format_jsonl import json_line, read_json
from pytest_irmetrics.golden.formats import Format, is_beir_folder
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import query_as_dict
from pytest_irmetrics.golden.rows import ConversionError, Row, golden_set_of, judgments_of, refuse
from pytest_irmetrics.golden.source import Source, Wrong

_OPTIONAL = ("tags", "weight")
"""The keys of a query that have a column; docs/formats.md lists them."""
_HELD = frozenset((*_OPTIONAL, "params"))
FORMATS = {"csv": Format((".csv",), _HELD), "tsv": Format((".tsv",), _HELD), "beir": Format((), frozenset())}

_COLUMNS = ("query", "docid", "rating", "id", *_OPTIONAL)
_COLUMN_NAMES = f"{', '.join(_COLUMNS)} and params.NAME"
_ALIASES = {
    **dict.fromkeys(("doc_id", "doc id", "corpus-id"), "docid"),  # the second of Quepid, the last of BEIR
    "query text": "query",  # of Quepid
    "query-id": "id",  # of BEIR
    "score": "rating",  # of BEIR
}
"""Column names that are read, too."""
_QUEPID_CASE = "case id"
"""A column of every export of a Quepid case, in which columns that are not read may stand."""
_QUEPID_RATER = "rating:"
"""The start of the columns of a Quepid book, one for each rater; their median counts."""
_FORMULA = re.compile(r"\s*[-=+@\t\r](?!(?<=-)[0-9]+(?:\.[0-9]+)?\Z)", re.DOTALL)
"""The start of a cell that a spreadsheet takes for a formula; negative numbers are none. docs/formats.md has the signs."""


def guard_formula(cell: str) -> str:
    """Return a cell with a space before it if a spreadsheet would take it for a formula; reading removes it."""
    return f" {cell}" if _FORMULA.match(cell) else cell


def _unguard_formula(cell: str) -> str:
    """Return a cell without the space that `guard_formula` put before it."""
    return cell[1:] if cell[:1] == " " and _FORMULA.match(cell) else cell


# CSV and TSV


def read(source: Source) -> GoldenSet | None:
    """Read a golden set in CSV or TSV, or a BEIR folder or one of its splits. Raises Wrong and GoldenSetError."""
    if os.path.isdir(source.path):  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
        return _read_folder(source)
    folder = source.path.absolute().parent.parent
    if is_beir_folder(folder) and source.path.absolute().parent.name == "qrels":
        source.name = f"{folder.name}-{source.name}"
        return _read_split(source)
    return golden_set_of(table_rows(source), source)


def table_rows(source: Source, also: Collection[str] = ()) -> Iterator[Row]:
    """Yield the rows of a table; what is wrong with one is reported. Raises Wrong for a header that is none.

    Any delimiter of a spreadsheet is read. `also` are columns that are read too; all others are then ignored.
    """
    text = source.text()
    is_tsv = without_gz(source.path).suffix.lower() == ".tsv"
    delimiter = "\t" if is_tsv else max(",;\t", key=text.partition("\n")[0].count)
    lines = [*io.StringIO(text, newline="")]
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = reader.line_num
    try:
        columns = _read_header(next(reader, []), also)
        line = reader.line_num
        for cells in reader:
            begins, line = line + 1, reader.line_num
            by_itself = (_is_row(one.split(delimiter), columns) for one in lines[begins - 1 : line])
            if line > begins and all(by_itself):
                here = f"the lines {begins} to {line}, each of which is a row by itself"
                advice = "Take the quotes away, or write each twice in a quoted cell."
                source.add((begins, 1), f"A quote makes one row of {here}. {advice}")
            elif any(map(str.strip, cells)):
                row = source.attempt(_read_row, begins, cells, columns)
                if row is not None:
                    yield row
    except csv.Error as error:
        advice = "Close each quote, and write a quote within a quoted cell twice."
        source.add((line + 1, 1), f"This is no row of a table ({error}). {advice}")


def _read_header(header: Sequence[str], also: Collection[str]) -> list[str]:
    """Return what each column holds, "" for one that is not read. Raises Wrong."""
    names = [name.strip() for name in header]
    columns = [_column(name, also) for name in names]
    has = {*columns, *(["rating"] if _QUEPID_RATER in columns else [])}
    missing = [] if {"query", "id"} & has else ["query"]
    missing += [name for name in ("docid", "rating") if name not in has]
    if missing:
        advice = f"Begin with the line `query,docid,rating`; the columns are {_COLUMN_NAMES}."
        raise Wrong((1, 1), f"The header has no column `{missing[0]}`. {advice}")
    is_strict = not also and _QUEPID_RATER not in columns and _QUEPID_CASE not in map(str.casefold, names)
    for name, column in zip(names, columns, strict=True):
        if is_strict and name and not column and not name.casefold().startswith("x-"):
            advice = f"The columns are {_COLUMN_NAMES}; one for people begins with x-."
            raise Wrong((1, 1), f"{quote(name)} is no column of a golden set. {advice}")
        if column not in ("", _QUEPID_RATER) and columns.count(column) > 1:
            raise Wrong((1, 1), f"The column {quote(name)} is there twice. Keep one.")
    return columns


def _column(name: str, also: Collection[str]) -> str:
    """Return what a column of this name holds, "" for nothing that is read."""
    known = _ALIASES.get(name.casefold(), name.casefold())
    if known.startswith("params.") and known != "params.":
        return f"params.{name[len('params.') :]}"  # with its case
    if known.startswith(_QUEPID_RATER):
        return _QUEPID_RATER
    return known if known in (*_COLUMNS, *also) else ""


def _read_row(line: int, cells: Sequence[str], columns: Sequence[str]) -> Row:
    """Return a row of the columns that are read. Raises Wrong."""
    unrated = len(cells) == 1 and columns[0] == "query"  # as Quepid writes a query without ratings
    if any(cells[len(columns) :]) or (len(cells) < len(columns) and not unrated):
        here = f"This row has {plural(len(cells), 'cell')}, and the header has {len(columns)}"
        raise Wrong((line, 1), f"{here}. Put a text that contains the delimiter in double quotes.")
    given = [(column, cell) for column, cell in zip(columns, cells, strict=False) if column and cell]
    row = {column: _unguard_formula(cell) for column, cell in given}
    if row.pop(_QUEPID_RATER, None):
        row["rating"] = _median([cell.strip() for column, cell in given if column == _QUEPID_RATER])
    if row.get("query", "").isspace():
        del row["query"]
    query_id = row.pop("id", None) or row.get("query")
    if query_id is None:
        raise Wrong((line, 1), "This row has no query. Write its text or its id on each row.")
    return Row(line, query_id, row.pop("docid", ""), row.pop("rating", "").strip(), row)


def _is_row(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether a line by itself has a cell for each column, and a number for the rating."""
    rating = cells[columns.index("rating")] if "rating" in columns and len(cells) == len(columns) else ""
    return read_number(rating.strip(' "\r\n')) is not None


def _median(ratings: Sequence[str]) -> str:
    """Return the median of several raters' ratings as text; one that is no number as it is."""
    from statistics import median  # noqa: PLC0415 - slow to import, and needed for books of Quepid alone

    odd = [rating for rating in ratings if read_number(rating) is None]
    return odd[0] if odd else str(median(map(float, ratings)))


# BEIR


def _read_folder(folder: Source) -> GoldenSet | None:
    """Read the split `test` of a BEIR folder, or its only one. Raises Wrong and GoldenSetError."""
    splits = sorted((folder.path / "qrels").glob("*.tsv"))
    chosen = [split for split in splits if split.stem == "test"] or splits
    if len(chosen) != 1:
        there = ", ".join(f"{folder.shown.rstrip('/')}/qrels/{split.name}" for split in splits) or "none"
        raise Wrong((1, 1), f"This BEIR folder has no qrels/test.tsv. Add it, or name the split, of {there}.")
    split = folder.beside(chosen[0], f"{folder.shown.rstrip('/')}/qrels/{chosen[0].name}")
    split.name = folder.path.absolute().name
    return split.attempt(_read_split, split)


def _read_split(split: Source) -> GoldenSet:
    """Read a split, with the texts in ``queries.jsonl`` above it. Raises Wrong and GoldenSetError."""
    shown = os.path.normpath(Path(split.shown).parent / ".." / "queries.jsonl").replace(os.sep, "/")
    queries = split.beside(split.path.absolute().parent.parent / "queries.jsonl", shown)
    rows = list(table_rows(split))
    texts = dict.fromkeys((row.query_id for row in rows), "")
    for number, line in enumerate(queries.attempt(queries.lines) or (), 1):
        if line.strip():
            queries.attempt(_read_text_of, line, number, texts)
    split.raise_any()
    return golden_set_of(rows, split, {query_id: text for query_id, text in texts.items() if text})


def _read_text_of(line: str, number: int, texts: dict[str, str]) -> None:
    """Keep the text of a line's query, if its id is among `texts`. Raises Wrong."""
    node = read_json(line, (number, 1))
    pairs = node.value if node.kind == "mapping" else ()
    record = {key.value: value.value for key, value in pairs if value.kind == "text" and not value.is_null}
    query_id, text = record.get("_id"), record.get("text", "")
    if query_id is None or (query_id in texts and not text.strip()):
        message = 'This is no query of a BEIR folder with a text. Write {"_id": "…", "text": "…"}.'
        raise Wrong((number, 1), message)
    if texts.get(query_id):
        raise Wrong((number, 1), f"The query {quote(query_id)} is here twice. Keep one.")
    if query_id in texts:
        texts[query_id] = text


# Writing


def render(golden: GoldenSet, path: str, form: str) -> dict[str, str]:
    """Return the content of a table, or of the files of a BEIR folder. Raises ConversionError."""
    if form != "beir":
        return {path: _table(_judgment_rows(golden), "\t" if form == "tsv" else ",")}
    queries = golden.queries.values()
    if None in [query.text for query in queries]:
        message = "A BEIR folder has the queries' texts, and this golden set has none. Add them first."
        raise ConversionError(message)
    folder = path.rstrip("/")
    texts = (json_line({"_id": query.id, "text": query.text, "metadata": {}}) for query in queries)
    rows = [["query-id", "corpus-id", "score"], *judgments_of(golden)]
    return {f"{folder}/queries.jsonl": "".join(texts), f"{folder}/qrels/test.tsv": _table(rows, "\t")}


def _judgment_rows(golden: GoldenSet) -> list[list[str]]:
    """Return a header and a judgment a row; tags, weight and parameters of a query are on its first row."""
    queries = list(golden.queries.values())
    odd = [name for query in queries for name in query.params if name != name.strip()]
    refuse(odd, "A header holds no white space at the end of a name", "Rename")
    odd = [tag for query in queries for tag in query.tags if "," in tag or tag != tag.strip()]
    refuse(odd, "A table holds tags with commas between them", "Rename")
    records = []
    for query in queries:
        own = query_as_dict(query, short=True)
        about = {key: str(own.get(key, "")) for key in _OPTIONAL} | {"tags": ", ".join(query.tags)}
        about |= {f"params.{name}": _write_param(value) for name, value in query.params.items()}
        for doc_id, grade in query.judgments.items():
            record = {"id": str(own.get("id", "")), "query": query.text or "", "docid": doc_id, **about}
            record = {name: guard_formula(cell) for name, cell in record.items()}
            records.append(record | {"rating": repr(grade)})
            about = {}
    columns = ["id", "query", "docid", "rating", *_OPTIONAL, *(name for one in records for name in one)]
    header = [name for name in dict.fromkeys(columns) if any(record.get(name) for record in records)]
    return [header, *([record.get(name, "") for name in header] for record in records)]


def _write_param(value: object) -> str:
    """Write a parameter so that it is read as this value: a text that is JSON, and all else, as JSON."""
    if isinstance(value, str) and value:
        try:
            read_json(value, (None, None))
        except Wrong:
            return value
    return json.dumps(value, ensure_ascii=False)


def _table(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Write rows as CSV or TSV. Raises ConversionError for what its reader would not take, or take for something else."""
    cells = [cell for row in rows for cell in row]
    limit = csv.field_size_limit()
    odd = [cell for cell in cells if "\0" in cell or "\r\n" in cell or len(cell) > limit]
    refuse(odd, f"A cell holds up to {limit:,} characters, no NUL, and reads \\r\\n as \\n", "Change")
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)  # the usual line end makes it quote a lone \r
    return text.getvalue().replace("\r\n", "\n")
