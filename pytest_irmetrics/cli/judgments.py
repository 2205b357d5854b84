"""Read the judgments that `label` is given on the command line or in a spreadsheet; ask for them, one after the other."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pytest_irmetrics.analysis.labelling import Unjudged
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.wording import cut, listed, plural, printable, quote
from pytest_irmetrics.cli import shared
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.edit_yaml import FileEdit, Judgment
from pytest_irmetrics.golden.format_tables import table_rows
from pytest_irmetrics.golden.query import LONGEST_PASSAGE, normalize_text
from pytest_irmetrics.golden.rows import Row
from pytest_irmetrics.golden.source import Source
from pytest_irmetrics.metrics import Grade
from pytest_irmetrics.reports.blocks import Text
from pytest_irmetrics.run.answer import document_of

Titles = Mapping[str, str]
"""Document id → title, empty where it is not known."""
Texts = Mapping[tuple[str, str], str]
"""Query id and document id, or chunk → text, empty where it is not known."""

# Judgments that are given


def given_judgments(golden: GoldenSet, options: argparse.Namespace) -> list[Judgment]:
    """Return the judgments of the command line, or of the rows of a CSV list that have a rating.

    Raises GoldenSetError for what is no list, and CommandError with all that is wrong with judgments.
    """
    given = []
    if options.list is not None:
        with shared.readable_file(options.list) as path:
            source = Source(path, options.list)
            rows: list[Row] = source.require(list, table_rows(source, also=("text",)))
        given = [(f"{printable(options.list)}:{row.line}", row) for row in rows if row.grade]
    for words in options.judge or options.passage:
        query, doc_id, *text, grade = words
        where = f"{'--passage' if text else '--judge'} {shlex.join(words)}"
        given.append((where, Row(0, query, doc_id, grade, {"text": "".join(text)})))
    judgments, problems = [], []
    for where, row in given:
        try:
            judgments.append(_judgment(golden, where, row, by_text=bool(options.passage)))
        except shared.CommandError as error:
            problems.append(str(error))
    if problems:
        raise shared.CommandError("\n".join(problems))
    return judgments


def _judgment(golden: GoldenSet, where: str, row: Row, *, by_text: bool) -> Judgment:
    """Return the judgment that was given at a place, of the text in place of the document if `by_text`. Raises CommandError."""
    query = shared.find_query(golden, row.query_id, where)
    grade, text = _grade(row.grade), row.about.get("text", "")
    if grade is None:
        message = f"{quote(row.grade)} is no grade. Write a number from 0 to {MAX_GRADE}."
        raise shared.CommandError(f"{where}: {message}")
    judgment = Judgment(query.id, row.doc, grade, where)
    if not (by_text or _is_judged_by_text(query, row.doc, grade, text)):
        return judgment
    if not normalize_text(text):
        message = "This query is judged by passage. Give the text that was read, too: --passage QUERY DOC TEXT GRADE, or a column text."
        raise shared.CommandError(f"{where}: {message}")
    return _by_text(judgment, text)


def _by_text(judgment: Judgment, text: str) -> Judgment:
    """Return the judgment of a chunk, as a ranking calls it, as one of its document's text."""
    return judgment._replace(doc_id=document_of(judgment.doc_id), text=" ".join(text.split()))


def _is_judged_by_text(query: Query, doc_id: str, grade: Grade, text: str) -> bool:
    """Say whether a grade is to be written as a passage: of a chunk, or of a document where `relevant` is a list.

    Not where grade 1 was given without a text, which is that of a whole document in such a list, nor where the text is too long.
    """
    if not query.passages:
        return False
    return document_of(doc_id) != doc_id or ((grade != 1 or bool(text)) and len(text) <= LONGEST_PASSAGE)


def _grade(text: str) -> Grade | None:
    """Read a grade, a number from 0 to MAX_GRADE; None if the text is none."""
    number = read_number(text)
    return number if number is not None and 0 <= number <= MAX_GRADE else None


def held_back_text(golden: GoldenSet, held_back: Iterable[Judgment]) -> str:
    """Name the queries without a relevant document, whose grades are not written, and where these were given; empty for none."""
    given: dict[str, list[str]] = {}
    for one in held_back:
        given.setdefault(one.query_id, []).append(one.where)
    waiting = listed([*given], word=lambda one: f"{golden.where(one)}: {one} ({listed(given[one])})")
    level = golden.relevance_level
    said = f"Grades below {level} wait for a relevant document of their query: {waiting}."
    return f"{said} Keep them, and give them again with one of {level} or more." if given else ""


# One by one


@dataclass
class Interview:
    """Asks for one grade after the other and writes each at once."""

    items: Sequence[Unjudged]
    unedited: GoldenSet
    """The golden set as it was read."""
    append: Callable[[Sequence[Judgment]], FileEdit]
    """Writes judgments into its file, whose name in messages is `shown`."""
    shown: str
    titles: Titles
    texts: Texts
    done: list[tuple[Judgment | None, FileEdit | None]] = field(default_factory=list)
    """Of each item so far the judgment, None if skipped, and what was written, None if held back."""

    def run(self) -> None:
        """Go through the items, query by query, until the user quits or interrupts; then say what was written."""
        order = list(dict.fromkeys(one.query.id for one in self.items))
        self.items = sorted(self.items, key=lambda one: order.index(one.query.id))
        level = self.unedited.relevance_level
        _print(
            f"{plural(len(self.items), 'document')} to judge. A grade is a number: 0 not relevant, {level} and more relevant. Each is written to {self.shown} at once, but one below {level} only once its query has a relevant document."
        )
        try:
            self._ask()
        except (EOFError, UnicodeDecodeError):  # as at a terminal of another encoding
            shared.print_line("")
        finally:
            written = sum(len(one.new) for _, one in self.done if one)
            _print(f"{self.shown}: {plural(written, 'judgment')} written.")
            if waiting := held_back_text(self._golden, chain(*self._held_back().values())):
                _print(waiting)

    def _ask(self) -> None:
        """Ask about the items, and at the end whether to undo."""
        printed = None
        while True:
            item = next(iter(self.items[len(self.done) :]), None)
            if item not in (None, printed):
                self._print_item(item)
            printed = item
            # The help of -i (cli/label.py) names these keys, too.
            prompt = "grade, s skip, u undo" if item else "That was the last one. u undo"
            answer = input(f"{prompt}, q quit: ").strip().lower()
            if answer == "u":
                self._undo()
            elif answer == "q" or item is None:
                return
            elif answer == "s":
                self.done.append((None, None))
            elif (grade := _grade(answer)) is not None:
                self._write(item, grade)
            else:
                _print(f"Write a grade from 0 to {MAX_GRADE}, s, u or q.", 1)

    def _write(self, item: Unjudged, grade: Grade) -> None:
        """Write an item's judgment and go on to the next item; stay at this one where that cannot be done, and say why."""
        doc_id, text = item.doc_id, self.texts[item.query.id, item.doc_id]
        judgment = Judgment(item.query.id, doc_id, grade, doc_id)
        if _is_judged_by_text(item.query, doc_id, grade, text):
            passage = self._ask_passage(text)
            if passage is None:
                return
            judgment = _by_text(judgment, passage)
        try:
            edit = self.append([*self._held_back().get(item.query.id, ()), judgment])
        except IRMetricsError as error:
            for line in str(error).splitlines():
                _print(line)
        else:
            self.done.append((judgment, None if edit.held_back else edit))
            if edit.held_back:
                _print("Written as soon as a document of this query is relevant.", 1)
            for place in edit.places():
                _print(place)

    def _ask_passage(self, text: str) -> str | None:
        """Ask for the words of a document that are judged; None to ask for the grade again."""
        empty = "empty for all of it, " if text else ""
        while True:
            answer = input(f"the passage, in its own words ({empty}u back): ").strip() or text.strip()
            if answer.lower() in ("s", "u", "q"):
                return None
            if answer and normalize_text(answer) in normalize_text(text or answer):
                return answer
            _print("These words are not in the text. Write them as they stand there.", 1)

    def _undo(self) -> None:
        """Take back the last judgment or skip, and go back to its document."""
        if not self.done:
            _print("There is nothing to undo.", 1)
            return
        _, edit = self.done[-1]
        if edit is not None:
            try:
                edit.undo()
            except IRMetricsError as error:
                _print(f"{error} Take it out by hand: {' '.join(edit.places())}", 1)
                return
            _print(f"taken out: {' '.join(edit.places())}")
        self.done.pop()

    def _held_back(self) -> dict[str, list[Judgment]]:
        """Return by query the grades that wait for a relevant document, without which no query may be graded."""
        held: dict[str, list[Judgment]] = {}
        for judgment, edit in self.done:
            if judgment and edit:
                held.pop(judgment.query_id, None)
            elif judgment:
                held.setdefault(judgment.query_id, []).append(judgment)
        return held

    @property
    def _golden(self) -> GoldenSet:
        """The golden set with what was written so far."""
        return next((edit.golden for _, edit in reversed(self.done) if edit), self.unedited)

    def _print_item(self, item: Unjudged) -> None:
        """Print the item at hand with all that helps to judge it."""
        query = self._golden.queries.get(item.query.id, item.query)
        graded = sorted(query.judgments.items(), key=lambda judged: -judged[1])
        judged = [f"{grade:g} {doc_id} {self.titles.get(doc_id, '')}".rstrip() for doc_id, grade in graded]
        about = {
            "query": query.text or query.id,
            "params": json.dumps(query.params, ensure_ascii=False) if query.params else "",
            "note": query.note,
            "judged": listed(judged, 5, between="; "),
            "document": item.doc_id,
            "title": self.titles[item.doc_id],
            "text": cut(" ".join(self.texts[item.query.id, item.doc_id].split()), 600),
        }
        shared.print_line("")
        _print(f"{len(self.done) + 1} of {len(self.items)}  {self.shown}:{query.line}: {query.id}")
        for label, text in about.items():
            if text:
                _print(f"{label:<9} {text}", 1)


def _print(text: str, indent: int = 0) -> None:
    """Print a text, wrapped."""
    shared.print_blocks([Text(text, indent=indent)])
