"""Judge documents one after the other on a terminal: a key for each grade, each judgment written at once."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.labelling import is_judged_by_text
from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.command_line import CommandError, print_line, stdout_screen
from pytest_irmetrics.cli.keys import END, keyboard
from pytest_irmetrics.cli.label_screen import (
    is_longer_than_shown,
    item_lines,
    on_one_line,
    start_of_text,
    text_lines,
    wrapped_whole,
)
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.append import append_judgments
from pytest_irmetrics.golden.passage import Passage, normalize_text
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.cli.keys import Keys

_HIGHEST_KEY = 9


class Task(NamedTuple):
    """What there is to judge, and what helps to judge it."""

    items: Sequence[Unjudged]
    runs: Sequence[str]
    """The names of the runs that returned them, in the order of an item's ranks."""
    documents: Documents
    left: int
    """How many more there are to judge after these."""
    scale: int | None
    """The highest grade that a key gives; None: the highest of the golden set."""


class _Step(NamedTuple):
    """What was done about an item, to be undone."""

    number: int
    """The item's index."""
    before: bytes | None = None
    """The golden set before a judgment was written; None where the item was skipped."""
    after: bytes | None = None
    where: str = ""
    """The judgment and its place."""


def group_by_query(items: Iterable[Unjudged]) -> list[Unjudged]:
    """Return what there is to judge query by query, in the order of each query's first, so that it is read once."""
    grouped: dict[str, list[Unjudged]] = {}
    for one in items:
        grouped.setdefault(one.query.id, []).append(one)
    return [one for of_query in grouped.values() for one in of_query]


def refuse_without_terminal() -> None:
    """Raise CommandError where keys cannot be asked for."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(
            "--interactive asks for keys, and standard input and output are no terminal. Judge with --out LIST.csv and then "
            "--from LIST.csv, or with --judge."
        )


def judge(task: Task, golden: GoldenSet, shown: str, custom_metrics: Collection[str]) -> None:
    """Ask for the grades of documents, and write each into the golden set's file; say in the end what was written.

    Raises KeyboardInterrupt after that, where the user interrupted it, and CommandError.
    """
    session = _Session(task, golden, shown, custom_metrics)
    try:
        with keyboard(sys.stdin) as keys:
            session.run(keys)
    except KeyboardInterrupt:
        print_line("")
        raise
    finally:
        session.print_end()


class _Session:
    """Asks for one grade after the other and writes each: holds the place in the list, and what to undo."""

    def __init__(self, task: Task, golden: GoldenSet, shown: str, custom_metrics: Collection[str]) -> None:
        assert golden.path is not None  # noqa: S101 - it was loaded
        self._task = task
        self._path = golden.path
        self._shown = shown
        self._metrics = custom_metrics
        self._data = b""
        self._golden = golden
        self._steps: list[_Step] = []
        self._number = 0
        """Index of the item at hand."""
        self._highest = 1

    def run(self, keys: Keys) -> None:
        """Go through the items until there are none left, or the user quits."""
        self._read()
        grades = [grade for query in self._golden.queries.values() for grade in query.judgments.values()]
        highest = math.ceil(max([*grades, self._golden.relevance_level]))
        self._highest = min(highest, _HIGHEST_KEY) if self._task.scale is None else self._task.scale
        level = self._golden.relevance_level
        grades_say = (
            "1 relevant"
            if level == self._highest == 1
            else f"{level:g} and more relevant, {self._highest} best"
        )
        self._print(
            f"{plural(len(self._task.items), 'document')} to judge: 0 not relevant, {grades_say}. Each grade goes into "
            f"{self._shown} at once."
        )
        while self._number < len(self._task.items):
            item = self._task.items[self._number]
            reason = self._why_not_to_judge(item)
            if reason is not None:
                self._print("", reason)
                self._number += 1
            else:
                self._print_item(item)
                if not self._ask(item, keys):
                    return
            if self._number == len(self._task.items):
                self._ask_at_the_end(keys)

    # Questions ------------------------------------------------------------------------------------------------

    def _ask(self, item: Unjudged, keys: Keys) -> bool:
        """Ask for an item's grade until there is one, or another decision; return False to quit."""
        is_cut = is_longer_than_shown(self._text_lines(item))
        while True:
            more = " t whole text," if is_cut else ""
            enter = ", and Enter" if keys.needs_enter else ""
            self._prompt(f"0-{self._highest}, s skip, u undo,{more} q quit{enter}: ")
            key = keys.key()
            letter = key.lower()
            if letter in (END, "q"):
                self._print("q")
                return False
            if letter == "s":
                self._print("s")
                self._steps.append(_Step(self._number))
                self._number += 1
                return True
            if letter == "u":
                self._print("u")
                if self._undo():
                    return True
            elif letter == "t" and is_cut:
                self._print("t")
                for line in self._text_lines(item):
                    print_line(line)
            elif not (key.isascii() and key.isdigit()):
                self._print("", "  Press one of these keys.")
            elif int(key) > self._highest:
                self._print(
                    key,
                    f"  The highest grade of this golden set is {self._highest}; --scale {key} allows {key}.",
                )
            else:
                self._print(key)
                if self._grade(item, int(key), keys):
                    return True

    def _ask_at_the_end(self, keys: Keys) -> None:
        """Let the last grade be undone, which leads back to its document."""
        while self._steps:
            print_line("")
            self._prompt("That was the last one. u undo, q quit: ")
            key = keys.key().lower()
            if key == "u":
                self._print("u")
                self._undo()
                return
            if key in (END, "q", "\n", "\r"):
                self._print("q")
                return
            print_line("")

    def _ask_passage(self, item: Unjudged, grade: int, keys: Keys) -> Passage | None:
        """Ask which passage of a chunk, or of a document, is judged; None to ask for the grade again."""
        text = on_one_line(self._task.documents.texts.get(item.doc_id, ""))
        document = document_of(item.doc_id)
        while grade or not text:
            self._prompt(
                "which words of it (Enter: all; u back): "
                if text
                else "the passage, in its own words (u back): "
            )
            answer = keys.line()
            if answer is None or answer.strip().lower() == "u":
                return None
            wanted = normalize_text(answer)
            if not wanted and text:
                break
            if wanted and (not text or wanted in normalize_text(text)):
                return Passage(document, answer.strip(), grade)
            if wanted:
                self._print("  These words are not in the text. Write them as they stand there.")
        return Passage(document, text, grade)

    # Reading and writing --------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the golden set again, if somebody has changed it. Raises GoldenSetError and CommandError."""
        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise CommandError(
                f"{self._shown}: cannot be read: {error.strerror or error}. Put it back."
            ) from None
        if data != self._data:
            self._golden = self._load()
            self._data = data

    def _load(self) -> GoldenSet:
        return GoldenSet.load(self._path, custom_metrics=self._metrics, shown=self._shown)

    def _why_not_to_judge(self, item: Unjudged) -> str | None:
        """Return why an item is not to be judged any more, where somebody changed the file; None if it is."""
        try:
            self._read()
        except IRMetricsError:  # told when it is written to
            return None
        query = self._golden.find(item.query.id)
        if query is None or query.text != item.query.text or query.params != item.query.params:
            return f"{self._shown}: {item.query.id}: is gone or asks something else by now; passed over."
        if item.doc_id in query.judgments:
            return (
                f"{self._golden.where_judged(query.id, item.doc_id)}: {query.id}: {item.doc_id} "
                f"{query.judgments[item.doc_id]:g} is there by now; passed over."
            )
        return None

    def _grade(self, item: Unjudged, grade: int, keys: Keys) -> bool:
        """Write a judgment; return whether the item is done with."""
        passage = None
        text = self._task.documents.texts.get(item.doc_id)
        if is_judged_by_text(item.query, item.doc_id, grade, text):
            passage = self._ask_passage(item, grade, keys)
            if passage is None:
                return False
        key = item.doc_id if passage is None else passage.key
        try:
            self._read()
            gone = self._why_not_to_judge(item)
            if gone is not None:
                self._print(gone)
                self._number += 1
                return True
            if passage is not None and passage.key in self._golden.queries[item.query.id].judgments:
                self._print(f"  {passage.key}: this passage is judged already.")
                return False
            after, golden = append_judgments(
                self._data,
                {} if passage is not None else {item.query.id: {key: grade}},
                self._path,
                self._shown,
                self._metrics,
                {} if passage is None else {item.query.id: [passage]},
            )
            self._write(after, _Step(self._number, self._data, after))
        except IRMetricsError as error:
            self._print(*str(error).splitlines())
            return False
        self._golden = golden
        self._number += 1
        where = f"{golden.where_judged(item.query.id, key)}: {item.query.id}: {key} {grade}"
        self._steps[-1] = self._steps[-1]._replace(where=where)
        self._print(where)
        return True

    def _write(self, data: bytes, step: _Step | None) -> None:
        """Write the golden set, and note what was done even if an interrupt comes while it is written."""
        try:
            write_whole(self._path, data, again="press the key again", shown=self._shown)
        finally:
            if self._path.read_bytes() == data:
                self._data = data
                if step is not None:
                    self._steps.append(step)

    def _undo(self) -> bool:
        """Take back the last judgment or skip, and go back to its document; return whether that was possible."""
        if not self._steps:
            self._print("  There is nothing to undo.")
            return False
        step = self._steps[-1]
        if step.before is not None:
            try:
                self._read()
                if self._data != step.after:
                    self._print(
                        f"  Somebody else has changed the file since. Take it out by hand: {step.where}"
                    )
                    return False
                self._write(step.before, None)
                self._golden = self._load()
            except IRMetricsError as error:
                self._print(*str(error).splitlines())
                return False
            self._print(f"taken out: {step.where}")
        del self._steps[-1]
        self._number = step.number
        return True

    # Printing -------------------------------------------------------------------------------------------------

    def _print(self, *lines: str) -> None:
        """Print lines of text, wrapped under their own indent."""
        screen = stdout_screen()
        for text in lines:
            indent = text[: len(text) - len(text.lstrip())]
            for line in wrapped_whole(text.strip(), screen, indent, indent):
                print_line(line)

    def _prompt(self, text: str) -> None:
        print(text, end="", flush=True)  # noqa: T201 - a command prints

    def _print_item(self, item: Unjudged) -> None:
        """Print the item at hand, with the start of its text."""
        screen = stdout_screen()
        query = self._golden.find(item.query.id) or item.query
        print_line("")
        place = f"{self._number + 1} of {len(self._task.items)}"
        heading = screen.cut(f"{place}  {self._golden.where(query.id)}: {query.id}")
        print_line(f"\x1b[1m{heading}\x1b[0m" if _has_bold() else heading)
        for line in item_lines(item, query, self._task.runs, self._task.documents, screen):
            print_line(line)
        for line in start_of_text(self._text_lines(item), screen):
            print_line(line)

    def _text_lines(self, item: Unjudged) -> list[str]:
        return text_lines(self._task.documents.texts.get(item.doc_id), stdout_screen())

    def print_end(self) -> None:
        """Say what was written, what was skipped, and what is left."""
        written = sum(step.before is not None for step in self._steps)
        skipped = len(self._steps) - written
        left = self._task.left + len(self._task.items) - self._number + skipped
        parts = [f"{plural(written, 'judgment') if written else 'No judgment'} written"]
        parts += [f"{skipped} skipped"] if skipped else []
        end = f" {left} left: the same command goes on with {'them' if left > 1 else 'it'}." if left else ""
        self._print(f"{self._shown}: {', '.join(parts)}.{end}")


def _has_bold() -> bool:
    """Say whether the terminal is known to show text in bold."""
    return os.name == "posix" and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("NO_COLOR")
