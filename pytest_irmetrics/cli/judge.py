"""Write judgments into a golden set in YAML: those of the command line, of a spreadsheet, and of what is asked one by one."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.labelling import is_judged_by_text
from pytest_irmetrics.base.atomic_write import content_digest, lock_file, write_whole
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.files import FileError, read_bytes, without_gz
from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.wording import cut, listed, plural, printable, quote
from pytest_irmetrics.cli import shared
from pytest_irmetrics.cli.inputs import find_query
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.edit_yaml import append_judgments
from pytest_irmetrics.golden.query import Passage, normalize_text
from pytest_irmetrics.golden.read_tables import unguard_formula
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.metrics import Grade

_SEPARATORS = ",;\t"
"""Cell separators that are read; spreadsheets write semicolons where the decimal sign is a comma."""
_MOST_GRADED, _MOST_TEXT = 5, 600
"""Judged documents of a query, and characters of a document's text, that are shown."""


class Judgment(NamedTuple):
    """A judgment to write into the golden set."""

    query_id: str
    doc_id: str
    grade: Grade
    where: str
    """The place in a list, or the words of the command line, that it comes from."""
    text: str | None = None
    """What is judged of the document; None for all of it."""

    @property
    def key(self) -> str:
        """The name of the document or passage among the judgments of its query."""
        return self.doc_id if self.text is None else Passage(self.doc_id, self.text, self.grade).key

    def by_text(self, text: str) -> Judgment:
        """Return this judgment of a chunk, as a ranking calls it, as one of its document's text."""
        return self._replace(doc_id=document_of(self.doc_id), text=" ".join(text.split()))


def parse_grade(text: str) -> Grade | None:
    """Read a grade, a number from 0 to MAX_GRADE; None if the text is none."""
    number = read_number(text)
    return number if number is not None and 0 <= number <= MAX_GRADE else None


def read_judgment(
    golden: GoldenSet, file: str, where: str, words: Sequence[str], text: str, *, passage: bool = False
) -> Judgment:
    """Return the judgment that three words give: query, document and grade. Raises CommandError, which names `where`.

    `text` is that of the document where it is known. It is judged in place of the document if `passage`, or where the query
    judges passages and the document is a chunk.
    """
    query = find_query(golden, words[0], file, where)
    doc_id, grade = words[1], parse_grade(words[2])
    if grade is None:
        raise shared.CommandError(
            f"{where}: {quote(words[2])} is no grade. Write a number from 0 to {MAX_GRADE}."
        )
    if not doc_id.strip():
        raise shared.CommandError(f"{where}: The document's id is empty. Write it.")
    judgment = Judgment(query.id, doc_id, grade, where)
    if not (passage or is_judged_by_text(query, doc_id, grade, text)):
        return judgment
    if not normalize_text(text):
        raise shared.CommandError(
            f"{where}: {quote(doc_id)} is judged by its text, which is empty. Write it: --passage QUERY DOC TEXT GRADE, or in "
            "a column text."
        )
    return judgment.by_text(text)


def read_list(path: Path, shown: str, golden: GoldenSet, file: str) -> list[Judgment]:
    """Return the judgments of the rows of a CSV list that have a rating. Raises CommandError with all that is wrong."""
    where = printable(shown)
    try:
        text = read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
    except FileError as error:
        raise shared.CommandError(f"{where}: {error}") from None
    except UnicodeDecodeError:
        raise shared.CommandError(f"{where}:1: This is not UTF-8. Save the list as `CSV UTF-8`.") from None
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="")
    judgments, problems = [], []
    try:
        rows.fieldnames = names = [name.strip().lower() for name in rows.fieldnames or ()]
        missing = [name for name in ("docid", "rating") if name not in names]
        missing += [] if {"id", "query"} & set(names) else ["id"]
        if missing:
            raise shared.CommandError(
                f"{where}:1: There is no column {missing[0]}. The first line names the columns: id, query, docid, rating; "
                "`pytest-irmetrics label FILE --out LIST.csv` writes such a list."
            )
        for row in rows:
            cells = {name: unguard_formula(cell or "") for name, cell in row.items() if name}
            if rating := cells["rating"].strip():
                query_id = cells.get("id") or cells.get("query", "")
                words = query_id, cells["docid"], rating
                place = f"{where}:{rows.line_num}"
                try:
                    judgments.append(read_judgment(golden, file, place, words, cells.get("text", "").strip()))
                except shared.CommandError as error:
                    problems.append(str(error))
    except csv.Error as error:
        raise shared.CommandError(
            f"{where}:{rows.line_num}: This is not CSV: {error}. Save the list again."
        ) from None
    if problems:
        raise shared.CommandError("\n".join(problems))
    return judgments


# The golden set's file --------------------------------------------------------------------------------------------


def why_not_editable(file: str) -> str | None:
    """Return why judgments cannot be written into a file and what to do instead; None for YAML, where they can."""
    path = Path(file)
    if file == shared.STANDARD or path.suffix.lower() in (".yaml", ".yml"):
        return None
    convert = shlex.join(["pytest-irmetrics", "convert", file, str(without_gz(path).with_suffix(".yaml"))])
    return f"Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: `{convert}`."


class Editor:
    """A golden set in YAML to write judgments into; what others write into the file meanwhile is kept."""

    golden: GoldenSet
    """As it was read last."""

    def __init__(self, path: Path, shown: str, custom_metrics: Collection[str]) -> None:
        """`shown` is how messages call the file. Raises GoldenSetError and CommandError."""
        if (refused := why_not_editable(shown)) is not None:
            raise shared.CommandError(f"{shown}: {refused}")
        self.path, self.shown, self._metrics = path, shown, custom_metrics
        self._data = b""
        self._written: list[tuple[bytes, bytes]] = []
        """For each time that judgments were written, the file's content before and after."""
        self._read()

    def _read(self) -> None:
        """Read the golden set again, if the file has changed. Raises GoldenSetError and CommandError."""
        try:
            data = read_bytes(self.path)
        except FileError as error:
            raise shared.CommandError(f"{self.shown}: {error}") from None
        if data != self._data or not data:
            self.golden = GoldenSet.load(self.path, custom_metrics=self._metrics, shown=self.shown)
            self._data = data

    def append(self, judgments: Iterable[Judgment]) -> list[Judgment]:
        """Write the judgments that the golden set lacks, all or none, and return them.

        Raises CommandError, GoldenSetError and WriteError, and then the file is as it was.
        """
        with lock_file(self.path):
            self._read()
            new = _new_judgments(judgments, self.golden, self.shown)
            documents: dict[str, dict[str, Grade]] = {}
            passages: dict[str, list[Passage]] = {}
            for one in new:
                if one.text is None:
                    documents.setdefault(one.query_id, {})[one.doc_id] = one.grade
                else:
                    passages.setdefault(one.query_id, []).append(Passage(one.doc_id, one.text, one.grade))
            if new:
                before, about = self._data, (self.path, self.shown, self._metrics)
                data, golden = append_judgments(before, documents, *about, passages)
                write_whole(self.path, data, shown=self.shown, read=content_digest(before))
                self._written.append((before, data))
                self._data, self.golden = data, golden
        return new

    def undo(self) -> None:
        """Take back what was written last. Raises CommandError where somebody else has changed the file since."""
        before, after = self._written[-1]
        with lock_file(self.path):
            self._read()
            if self._data != after:
                raise shared.CommandError("Somebody else has changed the file since.")
            write_whole(self.path, before, shown=self.shown, read=content_digest(after))
            self._read()
        del self._written[-1]


def _new_judgments(judgments: Iterable[Judgment], golden: GoldenSet, file: str) -> list[Judgment]:
    """Return the judgments that a golden set lacks. Raises CommandError with all that give another grade.

    What else contradicts the set (a forbidden document, a query without an answer) is refused where it is read again.
    """
    problems: list[str] = []
    new: dict[tuple[str, str], Judgment] = {}
    for one in judgments:
        query = find_query(golden, one.query_id, file, one.where)
        earlier = new.get((query.id, one.key))
        grade = earlier.grade if earlier else query.judgments.get(one.key)
        if grade is None:
            new[query.id, one.key] = one
        elif grade != one.grade:
            where = earlier.where if earlier else golden.where_judged(query.id, one.key)
            problems.append(
                f"{one.where}: {quote(query.id)} grades {quote(one.key)} {grade:g} already ({where}), and here it is "
                f"{one.grade:g}. Change it there, or leave it out here."
            )
    if problems:
        raise shared.CommandError("\n".join(problems))
    return list(new.values())


# One by one -------------------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """What was done about an item, to be undone."""

    number: int
    """The item's index."""
    where: str = ""
    """The judgment that was written, and its place; empty where the item was skipped."""


@dataclass
class Session:
    """Asks for one grade after the other and writes each at once."""

    items: Sequence[Unjudged]
    editor: Editor
    documents: Documents
    runs: Sequence[str]
    """The names of the runs that returned them, in the order of an item's ranks."""
    left: int
    """How many more there are to judge after these."""
    number: int = 0
    """Index of the item at hand."""
    steps: list[_Step] = field(default_factory=list)

    def run(self) -> None:
        """Go through the items until there are none left, or the user quits or interrupts; then say what was written."""
        order = list(dict.fromkeys(one.query.id for one in self.items))
        self.items = sorted(self.items, key=lambda one: order.index(one.query.id))  # each query is read once
        _print(
            f"{plural(len(self.items), 'document')} to judge. A grade is a number: 0 not relevant, "
            f"{self.editor.golden.relevance_level:g} and more relevant. Each goes into {self.editor.shown} at once."
        )
        try:
            while self._ask_about_next():
                pass
        except (EOFError, UnicodeDecodeError):  # as at a terminal of another encoding
            _print("")
        except KeyboardInterrupt:
            _print("")
            raise
        finally:
            count = sum(bool(step.where) for step in self.steps)
            skipped = len(self.steps) - count
            left = self.left + len(self.items) - self.number + skipped
            said = f"{plural(count, 'judgment')} written" + (f", {skipped} skipped" if skipped else "")
            again = f" {left} left: the same command goes on with {'them' if left > 1 else 'it'}."
            _print(f"{self.editor.shown}: {said}.{again if left else ''}")

    def _ask_about_next(self) -> bool:
        """Ask about the item at hand, or at the end whether to undo; return False to quit."""
        if self.number == len(self.items):
            answer = input("That was the last one. u undo, q quit: ").strip().lower() if self.steps else "q"
            return answer == "u" and self._undo()
        number = self.number
        self._print_item(self.items[number])
        while number == self.number:
            answer = input("grade, s skip, u undo, q quit: ").strip().lower()
            if answer == "q":
                return False
            if answer == "s":
                self.steps.append(_Step(number))
                self.number += 1
            elif answer == "u":
                self._undo()
            else:
                self._write_grade(self.items[number], answer)
        return True

    def _write_grade(self, item: Unjudged, answer: str) -> None:
        """Write an item's judgment and go on to the next item; stay at this one where that cannot be done, and say why."""
        grade = parse_grade(answer)
        if grade is None:
            _print(f"  Write a grade from 0 to {MAX_GRADE}, s, u or q.")
            return
        judgment = Judgment(item.query.id, item.doc_id, grade, item.query.id)
        text = self.documents.texts.get(item.doc_id, "")
        if is_judged_by_text(item.query, item.doc_id, grade, text):
            passage = self._ask_passage(text)
            if passage is None:
                return
            judgment = judgment.by_text(passage)
        try:
            new = self.editor.append([judgment])
        except IRMetricsError as error:
            _print(*str(error).splitlines())
            return
        if not new:
            _print(f"  {judgment.key}: is judged so already.")
            return
        place = self.editor.golden.where_judged(judgment.query_id, judgment.key)
        self.steps.append(_Step(self.number, f"{place}: {judgment.query_id}: {judgment.key} {grade:g}"))
        self.number += 1
        _print(self.steps[-1].where)

    def _ask_passage(self, text: str) -> str | None:
        """Ask for the words of a document that are judged; None to ask for the grade again."""
        while True:
            answer = input("the passage, in its own words (u back): ").strip()
            wanted = normalize_text(answer)
            if answer.lower() == "u":
                return None
            if wanted and (not text or wanted in normalize_text(text)):
                return answer
            if not wanted and text.strip():
                return text
            _print("  These words are not in the text. Write them as they stand there.")

    def _undo(self) -> bool:
        """Take back the last judgment or skip, and go back to its document; return whether that was possible."""
        if not self.steps:
            _print("  There is nothing to undo.")
            return False
        step = self.steps[-1]
        if step.where:
            try:
                self.editor.undo()
            except IRMetricsError as error:
                _print(f"  {error} Take it out by hand: {step.where}")
                return False
            _print(f"taken out: {step.where}")
        del self.steps[-1]
        self.number = step.number
        return True

    def _print_item(self, item: Unjudged) -> None:
        """Print the item at hand with all that helps to judge it."""
        screen, title_of = shared.stdout_screen(), self.documents.title
        query = self.editor.golden.queries.get(item.query.id, item.query)
        graded = sorted(query.judgments.items(), key=lambda judged: -judged[1])
        judged = [f"{grade:g} {doc_id} {title_of(doc_id) or ''}".rstrip() for doc_id, grade in graded]
        ranks = ["not" if rank is None else f"rank {rank}" for rank in item.ranks]
        if len(ranks) > 1:
            ranks = [f"{rank} in {name}" for rank, name in zip(ranks, self.runs, strict=True)]
        about = {
            "query": query.text or query.id,
            "params": json.dumps(query.params, ensure_ascii=False) if query.params else "",
            "note": query.note,
            "judged": listed(judged, _MOST_GRADED, between="; "),
            "found": "; ".join(ranks),
            "document": item.doc_id,
            "title": title_of(item.doc_id),
            "text": cut(" ".join(self.documents.texts.get(item.doc_id, "").split()), _MOST_TEXT),
        }
        place = f"{self.editor.shown}:{query.line}: {query.id}"
        shared.print_line("")
        shared.print_line(screen.cut(f"{self.number + 1} of {len(self.items)}  {place}"))
        for label, text in about.items():
            for line in screen.wrapped(text, f"  {label:<9}", " " * 12) if text else ():
                shared.print_line(line)


def _print(*lines: str) -> None:
    """Print lines of text, wrapped under their own indent."""
    for text in lines:
        indent = text[: len(text) - len(text.lstrip())]
        for line in shared.stdout_screen().wrapped(text.strip(), indent):
            shared.print_line(line)
