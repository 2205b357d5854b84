"""Judge documents one after the other: a line of input for each, written at once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.labelling import is_judged_by_text
from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.numbers import MAX_GRADE
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.command_line import CommandError, print_line, stdout_screen
from pytest_irmetrics.cli.judgments import Judgment, new_judgments, parse_grade, written
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.passage import normalize_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Grade

_MOST_GRADED = 5
"""Judged documents of a query that are shown."""
_MOST_TEXT = 600
"""Characters of a document's text that are shown."""


class _Step(NamedTuple):
    """What was done about an item, to be undone."""

    number: int
    """The item's index."""
    before: bytes | None = None
    """The golden set before a judgment was written; None where the item was skipped."""
    after: bytes | None = None
    where: str = ""
    """The judgment and its place."""


@dataclass
class Session:
    """Asks for one grade after the other and writes each: holds the place in the list, and what to undo."""

    items: Sequence[Unjudged]
    runs: Sequence[str]
    """The names of the runs that returned them, in the order of an item's ranks."""
    documents: Documents
    golden: GoldenSet
    shown: str
    """The golden set's file, as it was named."""
    metrics: Collection[str] = ()
    left: int = 0
    """How many more there are to judge after these."""
    number: int = 0
    """Index of the item at hand."""
    steps: list[_Step] = field(default_factory=list)
    data: bytes = b""

    def run(self) -> None:
        """Go through the items until there are none left, or the user quits or interrupts; then say what was written."""
        assert self.golden.path is not None  # noqa: S101 - it was loaded
        self.path = self.golden.path
        self.items = _by_query(self.items)
        level = self.golden.relevance_level
        best = max(
            [level, *(grade for query in self.golden.queries.values() for grade in query.judgments.values())]
        )
        _print(
            f"{plural(len(self.items), 'document')} to judge. A grade is a number: 0 not relevant, {level:g} and more relevant; "
            f"the best so far is {best:g}. Each goes into {self.shown} at once."
        )
        try:
            while self._ask_about_next():
                pass
        except EOFError:
            print_line("")
        except KeyboardInterrupt:
            print_line("")
            raise
        finally:
            self._print_end()

    def _ask_about_next(self) -> bool:
        """Ask about the item at hand, or at the end whether to undo; return False to quit."""
        if self.number == len(self.items):
            answer = input("That was the last one. u undo, q quit: ").strip().lower() if self.steps else "q"
            if answer == "u":
                self._undo()
            return answer not in ("q", "")
        item = self.items[self.number]
        gone = self._why_not_to_judge(item)
        if gone is not None:
            _print("", gone)
            self.number += 1
            return True
        self._print_item(item)
        while True:
            answer = input("grade, s skip, u undo, q quit: ").strip().lower()
            grade = parse_grade(answer)
            if answer == "q":
                return False
            if answer == "s":
                self.steps.append(_Step(self.number))
                self.number += 1
                return True
            if answer == "u":
                if self._undo():
                    return True
            elif grade is None:
                _print(f"  Write a grade from 0 to {MAX_GRADE}, s, u or q.")
            elif self._write_grade(item, grade):
                return True

    def _write_grade(self, item: Unjudged, grade: Grade) -> bool:
        """Write a judgment; return whether the item is done with."""
        judgment = Judgment(item.doc_id, item.query.id, item.doc_id, grade)
        if is_judged_by_text(item.query, item.doc_id, grade, self.documents.texts.get(item.doc_id)):
            passage = self._ask_passage(item)
            if passage is None:
                return False
            judgment = judgment.by_text(passage)
        try:
            self._read()
            gone = self._why_not_to_judge(item)
            if gone is not None:
                _print(gone)
                self.number += 1
                return True
            if not new_judgments([judgment], self.golden):
                _print(f"  {judgment.key}: this passage is judged already.")
                return False
            after, golden = written([judgment], self.data, self.path, self.shown, self.metrics)
            where = f"{{}}: {item.query.id}: {judgment.key} {grade:g}"
            self._store(after, _Step(self.number, self.data, after, where.format(self.shown)))
        except IRMetricsError as error:
            _print(*str(error).splitlines())
            return False
        self.golden = golden
        self.number += 1
        where = where.format(golden.where_judged(item.query.id, judgment.key))
        self.steps[-1] = self.steps[-1]._replace(where=where)
        _print(where)
        return True

    def _ask_passage(self, item: Unjudged) -> str | None:
        """Ask for the words of a document that are judged; None to ask for the grade again."""
        text = self.documents.texts.get(item.doc_id, "")
        while True:
            answer = input("the passage, in its own words (u back): ").strip()
            wanted = normalize_text(answer)
            if answer.lower() == "u":
                return None
            if not wanted and text.strip():
                return text
            if wanted and (not text or wanted in normalize_text(text)):
                return answer
            _print("  These words are not in the text. Write them as they stand there.")

    # Reading and writing --------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the golden set again, if somebody has changed it. Raises GoldenSetError and CommandError."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise CommandError(
                f"{self.shown}: cannot be read: {error.strerror or error}. Put it back."
            ) from None
        if data != self.data:
            self.golden = GoldenSet.load(self.path, custom_metrics=self.metrics, shown=self.shown)
            self.data = data

    def _why_not_to_judge(self, item: Unjudged) -> str | None:
        """Return why an item is not to be judged any more, where somebody changed the file; None if it is."""
        try:
            self._read()
        except IRMetricsError:  # told when it is written to
            return None
        query = self.golden.find(item.query.id)
        if query is None or (query.text, query.params) != (item.query.text, item.query.params):
            return f"{self.shown}: {item.query.id}: is gone or asks something else by now; passed over."
        if item.doc_id in query.judgments:
            where = self.golden.where_judged(query.id, item.doc_id)
            return f"{where}: {query.id}: {item.doc_id} {query.judgments[item.doc_id]:g} is there by now; passed over."
        return None

    def _store(self, data: bytes, step: _Step | None) -> None:
        """Write the golden set, and note what was done even if an interrupt comes while it is written."""
        try:
            write_whole(self.path, data, again="write the grade again", shown=self.shown)
        finally:
            if self.path.read_bytes() == data:
                self.data = data
                if step is not None:
                    self.steps.append(step)

    def _undo(self) -> bool:
        """Take back the last judgment or skip, and go back to its document; return whether that was possible."""
        if not self.steps:
            _print("  There is nothing to undo.")
            return False
        step = self.steps[-1]
        if step.before is not None:
            try:
                self._read()
                if self.data != step.after:
                    _print(f"  Somebody else has changed the file since. Take it out by hand: {step.where}")
                    return False
                self._store(step.before, None)
                self.golden = GoldenSet.load(self.path, custom_metrics=self.metrics, shown=self.shown)
            except IRMetricsError as error:
                _print(*str(error).splitlines())
                return False
            _print(f"taken out: {step.where}")
        del self.steps[-1]
        self.number = step.number
        return True

    # Printing -------------------------------------------------------------------------------------------------

    def _print_item(self, item: Unjudged) -> None:
        """Print the item at hand with all that helps to judge it."""
        screen = stdout_screen()
        query = self.golden.find(item.query.id) or item.query
        print_line("")
        print_line(
            screen.cut(f"{self.number + 1} of {len(self.items)}  {self.golden.where(query.id)}: {query.id}")
        )
        for label, text in self._described(item, query):
            indent = f"  {label:<9}" if label else " " * 12
            for line in screen.wrapped(text, indent, " " * 12):
                print_line(line)

    def _described(self, item: Unjudged, query: Query) -> Iterator[tuple[str, str]]:
        """Yield a label and a text for each thing; one without a label goes on with the thing before it."""
        yield "query", query.text or query.id
        if query.params:
            yield "params", json.dumps(query.params, ensure_ascii=False)
        if query.note:
            yield "note", query.note
        graded = sorted(query.judgments.items(), key=lambda judged: -judged[1])
        for number, (doc_id, grade) in enumerate(graded[:_MOST_GRADED]):
            yield (
                "" if number else "judged",
                f"{grade:g}  {doc_id}  {self.documents.title(doc_id) or ''}".rstrip(),
            )
        if len(graded) > _MOST_GRADED:
            yield "", f"and {len(graded) - _MOST_GRADED} more"
        for number, (name, rank) in enumerate(zip(self.runs, item.ranks, strict=True)):
            where = "not" if rank is None else f"rank {rank}"
            yield "" if number else "found", where if len(self.runs) == 1 else f"{where} in {name}"
        yield "document", item.doc_id
        title, text = self.documents.title(item.doc_id), self.documents.texts.get(item.doc_id)
        if title is not None:
            yield "title", title
        if text is not None:
            words = " ".join(text.split())
            yield "text", words if len(words) <= _MOST_TEXT else f"{words[:_MOST_TEXT]} ..."

    def _print_end(self) -> None:
        """Say what was written, what was skipped, and what is left."""
        count = sum(step.before is not None for step in self.steps)
        skipped = len(self.steps) - count
        left = self.left + len(self.items) - self.number + skipped
        parts = [f"{plural(count, 'judgment') if count else 'No judgment'} written"]
        parts += [f"{skipped} skipped"] if skipped else []
        end = f" {left} left: the same command goes on with {'them' if left > 1 else 'it'}." if left else ""
        _print(f"{self.shown}: {', '.join(parts)}.{end}")


def _by_query(items: Iterable[Unjudged]) -> list[Unjudged]:
    """Return what there is to judge query by query, in the order of each query's first, so that it is read once."""
    grouped: dict[str, list[Unjudged]] = {}
    for one in items:
        grouped.setdefault(one.query.id, []).append(one)
    return [one for of_query in grouped.values() for one in of_query]


def _print(*lines: str) -> None:
    """Print lines of text, wrapped under their own indent."""
    for text in lines:
        indent = text[: len(text) - len(text.lstrip())]
        for line in stdout_screen().wrapped(text.strip(), indent):
            print_line(line)
