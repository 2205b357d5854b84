"""Write the documents to judge as a CSV file for a spreadsheet, and read back the judgments filled in."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.read_file import read_regular
from pytest_irmetrics.base.wording import printable, quote
from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.golden.table_cells import guard_formula, unguard_formula

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Grade

_HEADER = ("id", "query", "docid", "rating", "rank", "influence")
_SEPARATORS = ",;\t"
"""Cell separators that are read; spreadsheets write semicolons where the decimal sign is a comma."""
_MAX_BYTES = 100_000_000


class Judgment(NamedTuple):
    """A judgment to append to the golden set."""

    where: str
    """The place in the CSV file, or the option, that it comes from."""
    query_id: str
    doc_id: str
    grade: Grade


def write(unjudged: Iterable[Unjudged]) -> bytes:
    """Return documents to judge as CSV, with an empty column `rating` and the BOM by which Excel recognises UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEADER)
    for one in unjudged:
        writer.writerow(
            [
                *map(guard_formula, (one.query.id, one.query.text or "", one.doc_id)),
                "",
                one.rank,
                f"{one.influence:.6f}",
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
        found = list(_problems_of(named[0], doc_id, rating, golden))
        grade = parse_grade(rating)
        if grade is not None and not found:
            judgments.append(Judgment(here, named[0], doc_id, grade))
        problems += [f"{here}: {problem}" for problem in found]
    if problems:
        raise CommandError("\n".join(problems))
    return judgments


def _problems_of(query_id: str, doc_id: str, rating: str, golden: GoldenSet) -> Iterator[str]:
    if query_id not in golden.queries:
        yield f"There is no query {quote(query_id)} in the golden set. Keep the column id as it was written."
    if not doc_id:
        yield "There is no docid. Write the document's id, or take the rating away."
    if parse_grade(rating) is None:
        yield f"{quote(rating)} is no grade. Write a number from 0 to {MAX_GRADE}, such as 2 or 2.5."


def parse_grade(text: str) -> Grade | None:
    """Read a grade, a number from 0 to MAX_GRADE; None if the text is none."""
    number = read_number(text)
    return number if number is not None and 0 <= number <= MAX_GRADE else None


def new_judgments(
    judgments: Iterable[Judgment], golden: GoldenSet
) -> tuple[dict[str, dict[str, Grade]], int]:
    """Return the judgments that the golden set lacks, by query and document, and the number of those that it has.

    Raises CommandError where one contradicts the golden set or another judgment.
    """
    problems: list[str] = []
    new: dict[str, dict[str, Grade]] = {}
    known = 0
    for where, query_id, doc_id, grade in judgments:
        query = golden.queries[query_id]
        before: Mapping[str, Grade] = {**query.judgments, **new.get(query_id, {})}
        if query.no_answer:
            problems.append(
                f"{where}: {quote(query_id)} is a `no_answer` query ({golden.where(query_id)}), which has no judgments. If "
                "this answers it, take `no_answer` away and write `relevant`."
            )
        elif doc_id in query.forbidden and grade > 0:
            problems.append(
                f"{where}: {quote(doc_id)} is forbidden for {quote(query_id)} ({golden.where_judged(query_id, doc_id)}), so that "
                "it cannot be relevant. Remove it there first."
            )
        elif before.get(doc_id, grade) != grade:
            problems.append(
                f"{where}: {quote(query_id)} grades {quote(doc_id)} {before[doc_id]:g} already "
                f"({golden.where_judged(query_id, doc_id)}), and here it is {grade:g}. Change it there, or leave it out here."
            )
        elif doc_id in before:
            known += 1
        else:
            new.setdefault(query_id, {})[doc_id] = grade
    if problems:
        raise CommandError("\n".join(problems))
    return new, known
