"""Read the judgments that are given on the command line or in a spreadsheet; ask for them, one after the other."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.labelling import is_judged_by_text
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.wording import cut, listed, plural, printable, quote
from pytest_irmetrics.cli import inputs, shared
from pytest_irmetrics.golden.edit_yaml import Judgment
from pytest_irmetrics.golden.errors import Problems, raise_any
from pytest_irmetrics.golden.files import read_text
from pytest_irmetrics.golden.format_tables import table_rows
from pytest_irmetrics.golden.query import normalize_text
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.golden.edit_yaml import FileEdit
    from pytest_irmetrics.metrics import Grade

_MOST_GRADED, _MOST_TEXT = 5, 600
"""Judged documents of a query, and characters of a document's text, that are shown."""


# Judgments that are given -----------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """A judgment as it was typed."""

    where: str
    """The place in a list, or the words of the command line."""
    query: str
    doc_id: str
    grade: str
    text: str = ""
    """Of the document, where it is known."""
    is_passage: bool = False
    """Whether the text is judged in place of the document."""


def given_judgments(
    golden: GoldenSet, texts: Mapping[str, str], options: argparse.Namespace
) -> list[Judgment]:
    """Return the judgments of the command line, or of a CSV list. Raises CommandError with all that is wrong.

    `texts` has those of documents: one is judged by its text where the query judges passages and it is a chunk.
    """
    given = [*_rows(options.list)] if options.list is not None else []
    for words in (*options.judge, *options.passage):
        query, doc_id, *passage, grade = words
        where = f"{'--passage' if passage else '--judge'} {shlex.join(words)}"
        text = passage[0] if passage else texts.get(doc_id, "")
        given.append(_Given(where, query, doc_id, grade, text, is_passage=bool(passage)))
    judgments, problems = [], []
    for one in given:
        try:
            judgments.append(_judgment(golden, one, options.file))
        except shared.CommandError as error:
            problems.append(str(error))
    if problems:
        raise shared.CommandError("\n".join(problems))
    return judgments


def _judgment(golden: GoldenSet, given: _Given, file: str) -> Judgment:
    """Return the judgment that was given. Raises CommandError."""
    query = inputs.find_query(golden, given.query, file, given.where)
    grade = _grade(given.grade)
    if grade is None:
        message = f"{quote(given.grade)} is no grade. Write a number from 0 to {MAX_GRADE}."
        raise shared.CommandError(f"{given.where}: {message}")
    if not given.doc_id.strip():
        raise shared.CommandError(f"{given.where}: The document's id is empty. Write it.")
    judgment = Judgment(query.id, given.doc_id, grade, given.where)
    if not (given.is_passage or is_judged_by_text(query, given.doc_id, grade, given.text)):
        return judgment
    if not normalize_text(given.text):
        raise shared.CommandError(
            f"{given.where}: {quote(given.doc_id)} is judged by its text, which is empty. Write it: --passage QUERY DOC TEXT "
            "GRADE, or in a column text."
        )
    return _by_text(judgment, given.text)


def _by_text(judgment: Judgment, text: str) -> Judgment:
    """Return the judgment of a chunk, as a ranking calls it, as one of its document's text."""
    return judgment._replace(doc_id=document_of(judgment.doc_id), text=" ".join(text.split()))


def _grade(text: str) -> Grade | None:
    """Read a grade, a number from 0 to MAX_GRADE; None if the text is none."""
    number = read_number(text)
    return number if number is not None and 0 <= number <= MAX_GRADE else None


def _rows(name: str) -> Iterator[_Given]:
    """Yield the judgments of the rows of a CSV list that have a rating. Raises GoldenSetError."""
    problems = Problems(name)
    with inputs.readable_file(name) as path:
        rows = list(table_rows(read_text(path, name), problems, also=("text",)))
    raise_any(problems)
    for row in rows:
        if row.grade:
            where = f"{printable(name)}:{row.line}"
            yield _Given(where, row.query_id, row.doc, row.grade, row.about.get("text", ""))


# One by one -------------------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """What was done about an item, to be undone."""

    golden: GoldenSet
    """The golden set before it."""
    edit: FileEdit | None = None
    """None where the item was skipped."""


@dataclass
class Session:
    """Asks for one grade after the other and writes each at once."""

    items: Sequence[Unjudged]
    golden: GoldenSet
    """As it was read or written last."""
    append: Callable[[Sequence[Judgment]], FileEdit]
    """Writes judgments into its file, whose name in messages is `shown`."""
    shown: str
    documents: Documents
    runs: Sequence[str]
    """The names of the runs that returned the items, in the order of an item's ranks."""
    left: int
    """How many more there are to judge after these."""
    steps: list[_Step] = field(default_factory=list)
    """What was done about the first items, a step for each."""

    def run(self) -> None:
        """Go through the items until the user quits or interrupts; then say what was written."""
        order = list(dict.fromkeys(one.query.id for one in self.items))
        self.items = sorted(self.items, key=lambda one: order.index(one.query.id))  # each query is read once
        _print(
            f"{plural(len(self.items), 'document')} to judge. A grade is a number: 0 not relevant, "
            f"{self.golden.relevance_level:g} and more relevant. Each goes into {self.shown} at once."
        )
        try:
            self._ask()
        except (EOFError, UnicodeDecodeError):  # as at a terminal of another encoding
            _print("")
        except KeyboardInterrupt:
            _print("")
            raise
        finally:
            count = sum(step.edit is not None for step in self.steps)
            skipped = len(self.steps) - count
            left = self.left + len(self.items) - count
            said = f"{plural(count, 'judgment')} written" + (f", {skipped} skipped" if skipped else "")
            again = f" {left} left: the same command goes on with {'them' if left > 1 else 'it'}."
            _print(f"{self.shown}: {said}.{again if left else ''}")

    def _ask(self) -> None:
        """Ask about the items, and at the end whether to undo."""
        printed = None
        while True:
            number = len(self.steps)
            item = self.items[number] if number < len(self.items) else None
            if item is not None and number != printed:
                self._print_item(item)
            printed = number
            prompt = "grade, s skip, u undo" if item else "That was the last one. u undo"
            answer = input(f"{prompt}, q quit: ").strip().lower()
            if answer == "u":
                self._undo()
            elif answer == "q" or item is None:
                return
            elif answer == "s":
                self.steps.append(_Step(self.golden))
            elif (grade := _grade(answer)) is not None:
                self._write(item, grade)
            else:
                _print(f"  Write a grade from 0 to {MAX_GRADE}, s, u or q.")

    def _write(self, item: Unjudged, grade: Grade) -> None:
        """Write an item's judgment and go on to the next item; stay at this one where that cannot be done, and say why."""
        judgment = Judgment(item.query.id, item.doc_id, grade, item.query.id)
        text = self.documents.texts.get(item.doc_id, "")
        if is_judged_by_text(item.query, item.doc_id, grade, text):
            passage = self._ask_passage(text)
            if passage is None:
                return
            judgment = _by_text(judgment, passage)
        try:
            edit = self.append([judgment])
        except IRMetricsError as error:
            _print(*str(error).splitlines())
            return
        if not edit.new:
            _print(f"  {judgment.key}: is judged so already.")
            return
        self.steps.append(_Step(self.golden, edit))
        self.golden = edit.golden
        _print(*edit.places())

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

    def _undo(self) -> None:
        """Take back the last judgment or skip, and go back to its document."""
        if not self.steps:
            _print("  There is nothing to undo.")
            return
        step = self.steps[-1]
        if step.edit is not None:
            try:
                step.edit.undo()
            except (IRMetricsError, OSError) as error:
                _print(f"  {error} Take it out by hand: {step.edit.places()[0]}")
                return
            _print(f"taken out: {step.edit.places()[0]}")
        self.golden = self.steps.pop().golden

    def _print_item(self, item: Unjudged) -> None:
        """Print the item at hand with all that helps to judge it."""
        screen, title_of = shared.stdout_screen(), self.documents.title
        query = self.golden.queries.get(item.query.id, item.query)
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
        place = f"{self.shown}:{query.line}: {query.id}"
        shared.print_line("")
        shared.print_line(screen.cut(f"{len(self.steps) + 1} of {len(self.items)}  {place}"))
        for label, text in about.items():
            for line in screen.wrapped(text, f"  {label:<9}", " " * 12) if text else ():
                shared.print_line(line)


def _print(*lines: str) -> None:
    """Print lines of text, wrapped under their own indent."""
    for text in lines:
        indent = text[: len(text) - len(text.lstrip())]
        for line in shared.stdout_screen().wrapped(text.strip(), indent):
            shared.print_line(line)
