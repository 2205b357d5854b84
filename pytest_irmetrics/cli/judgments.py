"""Judgments to write into a golden set in YAML: those of the command line, of a CSV list, and of what is asked one by one."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.labelling import is_chunk, is_judged_by_text
from pytest_irmetrics.base.escape import id_printed_as
from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.read_file import read_regular
from pytest_irmetrics.base.wording import printable, quote
from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.cli.inputs import find_query
from pytest_irmetrics.cli.standard_streams import STANDARD
from pytest_irmetrics.golden.append import append_judgments
from pytest_irmetrics.golden.passage import Passage, normalize_text
from pytest_irmetrics.golden.read_tables import guard_formula, unguard_formula
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Grade

_COLUMNS = ("id", "query", "docid", "rating", "rank", "influence")
_SEPARATORS = ",;\t"
"""Cell separators that are read; spreadsheets write semicolons where the decimal sign is a comma."""
_MAX_BYTES = 100_000_000


class Judgment(NamedTuple):
    """A judgment to write into the golden set."""

    where: str
    """The place in the CSV file, or the option, that it comes from."""
    query_id: str
    doc_id: str
    grade: Grade
    text: str | None = None
    """What is judged of the document; None for all of it."""

    @property
    def key(self) -> str:
        """The name of the document or passage among the judgments of its query."""
        return self.doc_id if self.text is None else Passage(self.doc_id, self.text, self.grade).key

    def by_text(self, text: str) -> Judgment:
        """Return this judgment of a chunk, as a ranking calls it, as one of its document's text."""
        return self._replace(doc_id=document_of(self.doc_id), text=" ".join(text.split()))


# What the golden set lacks --------------------------------------------------------------------------------------


def new_judgments(judgments: Iterable[Judgment], golden: GoldenSet) -> list[Judgment]:
    """Return the judgments that a golden set lacks. Raises CommandError where some contradict it or one another."""
    problems: list[str] = []
    new: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        others = new.setdefault(judgment.query_id, [])
        grades = dict(golden.queries[judgment.query_id].judgments) | {one.key: one.grade for one in others}
        problem = _contradiction(judgment, golden, grades, others)
        if problem is not None:
            problems.append(f"{judgment.where}: {problem}")
        elif judgment.key not in grades:
            others.append(judgment)
    if problems:
        raise CommandError("\n".join(problems))
    return [judgment for of_query in new.values() for judgment in of_query]


def _contradiction(
    judgment: Judgment, golden: GoldenSet, grades: Mapping[str, Grade], others: Sequence[Judgment]
) -> str | None:
    """Return why a judgment cannot stand beside those of its query, and what to do; None where it can.

    `grades` are all of these by document and passage, and `others` those that are new too.
    """
    query, doc_id, key, grade = (
        golden.queries[judgment.query_id],
        judgment.doc_id,
        judgment.key,
        judgment.grade,
    )
    shown = quote(query.id)

    def where(name: str) -> str:
        return golden.where_judged(query.id, name)

    if query.no_answer:
        return (
            f"{shown} is a `no_answer` query ({golden.where(query.id)}), which has no judgments. If this answers it, take "
            "`no_answer` away and write `relevant`."
        )
    if doc_id in query.forbidden and grade > 0:
        return f"{quote(doc_id)} is forbidden for {shown} ({where(doc_id)}), so that it cannot be relevant. Remove it there first."
    if grades.get(key, grade) != grade:
        return (
            f"{shown} grades {quote(key)} {grades[key]:g} already ({where(key)}), and here it is {grade:g}. Change it there, "
            "or leave it out here."
        )
    in_part = {one.doc: one.key for one in query.passages}
    in_part |= {one.doc_id: one.key for one in others if one.text is not None}
    if judgment.text is None and doc_id in in_part:
        place = where(in_part[doc_id])
        return (
            f"{shown} judges {quote(doc_id)} by passage ({place}), and here as a whole. Keep one of the two."
        )
    if judgment.text is not None and doc_id in grades:
        return f"{shown} judges {quote(doc_id)} as a whole ({where(doc_id)}), and here by passage. Keep one of the two."
    return None


def written(
    judgments: Iterable[Judgment], data: bytes, path: Path, shown: str, metrics: Collection[str]
) -> tuple[bytes, GoldenSet]:
    """Return the content of a golden set in YAML with judgments that it lacks, and what is read of it."""
    documents: dict[str, dict[str, Grade]] = {}
    passages: dict[str, list[Passage]] = {}
    for one in judgments:
        if one.text is None:
            documents.setdefault(one.query_id, {})[one.doc_id] = one.grade
        else:
            passages.setdefault(one.query_id, []).append(Passage(one.doc_id, one.text, one.grade))
    return append_judgments(data, documents, path, shown, metrics, passages)


def why_not_editable(file: str) -> str | None:
    """Return why judgments cannot be written into a file and what to do instead; None for YAML, where they can."""
    path = Path(file)
    if file == STANDARD or path.suffix.lower() in (".yaml", ".yml"):
        return None
    convert = shlex.join(["pytest-irmetrics", "convert", file, str(without_gz(path).with_suffix(".yaml"))])
    return f"Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: `{convert}`."


# Of the command line --------------------------------------------------------------------------------------------


def parse_grade(text: str) -> Grade | None:
    """Read a grade, a number from 0 to MAX_GRADE; None if the text is none."""
    number = read_number(text)
    return number if number is not None and 0 <= number <= MAX_GRADE else None


def of_options(
    option: str,
    given: Iterable[Sequence[str]],
    golden: GoldenSet,
    file: str,
    returned: Collection[str],
    known_texts: Mapping[str, str],
) -> Iterator[Judgment]:
    """Yield the judgments given with ``--judge`` or ``--passage``. Raises CommandError.

    An id of `returned`, what runs returned, may also be written as the list prints it, with escapes. `known_texts` are of
    documents, by which a list of passages judges them.
    """
    for words in given:
        query_id, doc_id, *texts, grade = words
        where = f"{option} {shlex.join(words)}"
        query = find_query(golden, query_id, file)
        number = parse_grade(grade)
        if number is None:
            raise CommandError(f"{where}: {quote(grade)} is no grade. Write a number from 0 to {MAX_GRADE}.")
        if not all(map(normalize_text, [doc_id, *texts])):
            raise CommandError(f"{where}: The document's id{' or the text' * len(texts)} is empty. Write it.")
        known = [*returned, *query.judgments]
        if not texts and doc_id not in known:
            doc_id = id_printed_as(doc_id, known) or doc_id
        judgment = Judgment(where, query.id, doc_id, number, *texts)
        text = known_texts.get(doc_id)
        if not texts and is_judged_by_text(query, doc_id, number, text):
            if text is None:
                raise CommandError(
                    f"{where}: {quote(doc_id)} is a chunk, which is judged by its text: --passage QUERY DOC TEXT GRADE."
                )
            judgment = judgment.by_text(text)
        yield judgment


# Of a spreadsheet -----------------------------------------------------------------------------------------------


def as_csv(unjudged: Sequence[Unjudged], documents: Documents) -> bytes:
    """Return documents to judge as CSV, with an empty column `rating` and the BOM by which Excel recognises UTF-8.

    Columns `title` and `text` follow where any of them has one, or has to be given one.
    """
    titles = [documents.title(one.doc_id) or "" for one in unjudged]
    texts = [documents.texts.get(one.doc_id, "") for one in unjudged]
    chunks = any(is_chunk(one.query, one.doc_id) for one in unjudged)
    more = {
        name: cells
        for name, cells in (("title", titles), ("text", texts))
        if any(cells) or (name == "text" and chunks)
    }
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, *more])
    for number, one in enumerate(unjudged):
        named = map(guard_formula, (one.query.id, one.query.text or "", one.doc_id))
        cells = (guard_formula(column[number]) for column in more.values())
        writer.writerow([*named, "", one.rank, f"{one.influence:.6f}", *cells])
    return text.getvalue().encode("utf-8-sig")


def of_csv(path: Path, shown: str, golden: GoldenSet) -> list[Judgment]:
    """Return the judgments of the rows of a list that have a rating. Raises CommandError with all that is wrong."""
    where = printable(shown)
    try:
        text = read_regular(path, _MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{where}: cannot be read: {error.strerror or error}. Check the path.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{where}:1: This is not UTF-8. Save the list as `CSV UTF-8`.") from None
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="")
    try:
        rows.fieldnames = names = [name.strip().lower() for name in rows.fieldnames or ()]
        missing = [name for name in ("docid", "rating") if name not in names]
        missing += ["id"] if not {"id", "query"} & set(names) else []
        if missing:
            raise CommandError(
                f"{where}:1: There is no column {missing[0]}. The first line names the columns: {', '.join(_COLUMNS[:4])}; "
                "`pytest-irmetrics label FILE --out LIST.csv` writes such a list."
            )
        problems: list[str] = []
        by_text: dict[str, list[Query]] = {}
        for query in golden.queries.values():
            by_text.setdefault(query.text or "", []).append(query)
        judgments = [
            judgment
            for row in rows
            if (row["rating"] or "").strip()
            for judgment in _of_row(row, f"{where}:{rows.line_num}", golden, by_text, problems)
        ]
    except csv.Error as error:
        raise CommandError(
            f"{where}:{rows.line_num}: This is not CSV: {error}. Save the list again."
        ) from None
    if problems:
        raise CommandError("\n".join(problems))
    return judgments


def _of_row(
    row: Mapping[str, str],
    where: str,
    golden: GoldenSet,
    by_text: Mapping[str, list[Query]],
    problems: list[str],
) -> Iterator[Judgment]:
    """Yield the judgment of one row; what is wrong with it is added to `problems`."""
    query_id, text, doc_id, chunk_text = (
        unguard_formula(row.get(name) or "") for name in ("id", "query", "docid", "text")
    )
    # Another program may have saved the list with other line ends, also within a text.
    spellings = [query_id or text, (query_id or text).replace("\r\n", "\n")]
    if query_id:
        found = [golden.queries[one] for one in spellings if one in golden.queries][:1]
    else:
        found = next((by_text[one] for one in spellings if one in by_text), [])
    grade = parse_grade(row["rating"].strip())
    before = len(problems)
    if len(found) > 1:
        problems.append(
            f"{where}: {len(found)} queries of the golden set ask {quote(text)}. Keep the column id as it was written."
        )
    elif not found:
        shown = quote(query_id or text)
        problems.append(
            f"{where}: There is no query {shown} in the golden set. Keep the column id as it was written."
        )
    if not doc_id:
        problems.append(f"{where}: There is no docid. Write the document's id, or take the rating away.")
    elif len(found) == 1 and is_chunk(found[0], doc_id) and not chunk_text.strip():
        problems.append(
            f"{where}: {quote(doc_id)} is a chunk, which is judged by its text. Write what is judged of it into a column text."
        )
    if grade is None:
        shown = quote(row["rating"].strip())
        problems.append(
            f"{where}: {shown} is no grade. Write a number from 0 to {MAX_GRADE}, such as 2 or 2.5."
        )
    if len(problems) == before and grade is not None:
        (query,) = found
        judgment = Judgment(where, query.id, doc_id, grade)
        in_part = is_judged_by_text(query, doc_id, grade, chunk_text.strip())
        yield judgment.by_text(chunk_text) if in_part else judgment
