"""Write the documents to judge as a CSV file for a spreadsheet, and read back the judgments that were filled in."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.labelling import is_chunk, is_judged_by_text
from pytest_irmetrics.base.numbers import MAX_GRADE
from pytest_irmetrics.base.read_file import read_regular
from pytest_irmetrics.base.wording import printable, quote
from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.cli.judgment import Judgment, parse_grade
from pytest_irmetrics.golden.table_cells import guard_formula, unguard_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden import GoldenSet

_HEADER = ("id", "query", "docid", "rating", "rank", "influence")
_SEPARATORS = ",;\t"
"""Cell separators that are read; spreadsheets write semicolons where the decimal sign is a comma."""
_MAX_BYTES = 100_000_000


def write(unjudged: Sequence[Unjudged], documents: Documents) -> bytes:
    """Return documents to judge as CSV, with an empty column `rating` and the BOM by which Excel recognises UTF-8.

    Columns `title` and `text` follow where the title or the text of any of them is known; `text` for chunks, too, where it is to
    be written.
    """
    titles = [documents.title(one.doc_id) for one in unjudged]
    texts = [documents.texts.get(one.doc_id) for one in unjudged]
    chunks = any(is_chunk(one.query, one.doc_id) for one in unjudged)
    more = [
        (name, cells)
        for name, cells, wanted in (("title", titles, False), ("text", texts, chunks))
        if wanted or any(cells)
    ]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_HEADER, *(name for name, _ in more)])
    for number, one in enumerate(unjudged):
        writer.writerow(
            [
                *map(guard_formula, (one.query.id, one.query.text or "", one.doc_id)),
                "",
                one.rank,
                f"{one.influence:.6f}",
                *(guard_formula(cells[number] or "") for _, cells in more),
            ]
        )
    return text.getvalue().encode("utf-8-sig")


def read(path: Path, shown: str, golden: GoldenSet) -> list[Judgment]:
    """Return the judgments of the rows that have a rating; `shown` is how errors call the file.

    Raises CommandError with all that is wrong.
    """
    where = printable(shown)
    try:
        text = read_regular(path, _MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{where}: cannot be read: {error.strerror or error}. Check the path.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{where}:1: This is not UTF-8. Save the list as `CSV UTF-8`.") from None
    header = text.partition("\n")[0]
    rows = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=max(_SEPARATORS, key=header.count), restval=""
    )
    try:
        names = [name.strip().lower() for name in rows.fieldnames or ()]
        rows.fieldnames = names
        missing = [name for name in ("docid", "rating") if name not in names]
        if not missing and "id" not in names and "query" not in names:
            missing = ["id"]
        if missing:
            raise CommandError(
                f"{where}:1: There is no column {missing[0]}. The first line names the columns: {', '.join(_HEADER[:4])}; "
                "`pytest-irmetrics label FILE --out LIST.csv` writes such a list."
            )
        return _read_judgments(rows, where, golden)
    except csv.Error as error:
        raise CommandError(
            f"{where}:{rows.line_num}: This is not CSV: {error}. Save the list again."
        ) from None


def _read_judgments(rows: csv.DictReader[str], where: str, golden: GoldenSet) -> list[Judgment]:
    """Return the judgments of all rows with a rating. Raises CommandError with all that is wrong."""
    problems: list[str] = []
    judgments = []
    by_text: dict[str | None, list[str]] = {}
    for query in golden.queries.values():
        by_text.setdefault(query.text, []).append(query.id)
    for row in rows:
        rating = (row["rating"] or "").strip()
        if not rating:
            continue
        here = f"{where}:{rows.line_num}"
        query_id, text, doc_id = (unguard_formula(row.get(name) or "") for name in ("id", "query", "docid"))
        # Another program may have saved the list with other line ends, also within a text.
        query_id, text = (
            written if written in known else written.replace("\r\n", "\n")
            for written, known in ((query_id, golden.queries.keys()), (text, by_text.keys()))
        )
        named = [query_id] if query_id else by_text.get(text, [text])
        if len(named) > 1:
            problems.append(
                f"{here}: {len(named)} queries of the golden set ask {quote(text)}. Keep the column id as it was written."
            )
            continue
        chunk_text = unguard_formula(row.get("text") or "")
        found = list(_problems_of(named[0], doc_id, rating, chunk_text, golden))
        grade = parse_grade(rating)
        if grade is not None and not found:
            judgment = Judgment(here, named[0], doc_id, grade)
            has_text = is_judged_by_text(golden.queries[named[0]], doc_id, grade, chunk_text.strip())
            judgments.append(judgment.by_text(chunk_text) if has_text else judgment)
        problems += [f"{here}: {problem}" for problem in found]
    if problems:
        raise CommandError("\n".join(problems))
    return judgments


def _problems_of(query_id: str, doc_id: str, rating: str, text: str, golden: GoldenSet) -> Iterator[str]:
    """Yield what is wrong with the cells of one row."""
    if query_id not in golden.queries:
        yield f"There is no query {quote(query_id)} in the golden set. Keep the column id as it was written."
    if not doc_id:
        yield "There is no docid. Write the document's id, or take the rating away."
    elif query_id in golden.queries and is_chunk(golden.queries[query_id], doc_id) and not text.strip():
        yield f"{quote(doc_id)} is a chunk, which is judged by its text. Write what is judged of it into a column text."
    if parse_grade(rating) is None:
        yield f"{quote(rating)} is no grade. Write a number from 0 to {MAX_GRADE}, such as 2 or 2.5."
