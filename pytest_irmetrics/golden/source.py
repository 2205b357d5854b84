"""Source: the file that a golden set is read from, with its text and everything that is wrong with it; Node: a part of it, which every format is read as."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import CONFLICT, MAX_RUN_BYTES, FileError, read_bytes, without_gz
from pytest_irmetrics.base.wording import quote

_MAX_PROBLEMS = 1000  # a hostile file could have millions

Place = tuple[int | None, int | None]
"""Line and column, counted from 1; None where there is no file."""
T = TypeVar("T")


class Problem(NamedTuple):
    """One error in a golden set: its place, what is wrong, and what to do about it."""

    file: str
    """The path as the user gave it; of a set that was made in Python, its name."""
    line: int | None
    """Counted from 1; None where there is no file."""
    column: int | None
    """Counted from 1, in characters; 1 in formats of lines."""
    message: str

    def __str__(self) -> str:
        """Write ``file:line:column: what is wrong. What to do.``."""
        return f"{format_place(self.file, self.line, self.column)}: {self.message}"


class GoldenSetError(IRMetricsError, ValueError):
    """A golden set that cannot be read; `problems` holds every error that was found, in the order of the file."""

    problems: tuple[Problem, ...]
    """Each with `file`, `line` and `column` (counted from 1, None where unknown) and `message`."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One problem a line."""
        return "\n".join(map(str, self.problems))


class Wrong(Exception):  # noqa: N818 - what it says is reported as a Problem
    """A mistake at a place of a file: what is wrong, and what to do."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


class Source:
    """A file that is read, called `shown` in messages, and the problems that are found in it and in files beside it.

    `custom` are the names of the user's own metrics.
    """

    def __init__(self, path: Path, shown: str, custom: Collection[str] = ()) -> None:
        self.path = path
        self.shown = shown
        self.name = without_gz(path).stem
        """The name of a set that says none of its own."""
        self.custom = custom
        self.problems: list[Problem] = []
        self.named = path
        """What the user named: of the files of a BEIR folder, the folder."""

    def beside(self, path: Path, shown: str) -> Source:
        """Return another file that belongs to this one; its problems are this one's."""
        other = Source(path, shown)
        other.problems, other.named = self.problems, self.named
        return other

    def add(self, place: Place, message: str) -> None:
        """Add a problem. Raises GoldenSetError with all of them at _MAX_PROBLEMS."""
        self.problems.append(Problem(self.shown, *place, message))
        if len(self.problems) >= _MAX_PROBLEMS:
            rest = f"These are {_MAX_PROBLEMS} problems, and the rest is not read. Solve these first."
            raise GoldenSetError([*sorted(self.problems), Problem(self.shown, *place, rest)])

    def attempt(self, read: Callable[..., T], *args: Any) -> T | None:
        """Return what a function returns, or None after adding the mistake that it raises."""
        try:
            return read(*args)
        except Wrong as wrong:
            self.add(wrong.place, str(wrong))
            return None

    def require(self, read: Callable[..., T], *args: Any) -> T:
        """Return what a function returns; where it, or anything before, was mistaken, raise GoldenSetError with all mistakes."""
        found = self.attempt(read, *args)
        self.raise_any()
        return found  # type: ignore[return-value]  # it is None after a mistake alone

    def raise_any(self) -> None:
        """Raise GoldenSetError if there are problems: each file's in its order."""
        if self.problems:
            raise GoldenSetError(sorted(self.problems))

    def content(self, limit: int = MAX_RUN_BYTES) -> bytes:
        """Read the file, which may be packed with gzip. Raises Wrong.

        Refused are a file that is missing, no regular file (reading a pipe would wait), or of more than `limit` bytes.
        """
        try:
            return read_bytes(self.path, limit)
        except FileError as error:
            raise Wrong((1, 1), str(error)) from None

    def text(self, limit: int = MAX_RUN_BYTES) -> str:
        """Read the file as `decode_strictly` does. Raises Wrong."""
        return decode_strictly(self.content(limit))

    def lines(self) -> list[str]:
        """Read the file's lines, without their ends. Raises Wrong."""
        return self.text().replace("\r", "\n").split("\n")


def decode_strictly(data: bytes) -> str:
    r"""Return the text of a file, without a byte order mark, Windows line ends as ``\n``.

    Raises Wrong for another encoding than UTF-8, and for markers of a merge conflict.
    """
    data = data.removeprefix(BOM_UTF8)
    try:
        text = data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace").replace("\r\n", "\n")
        sign = chr(data[error.start])
        guess = f" In Latin-1 it would be {sign!r}." if sign.isprintable() else ""
        message = f"The byte 0x{ord(sign):02X} is not UTF-8.{guess} Save the file as UTF-8."
        raise Wrong(place_of(before, len(before)), message) from None
    refuse_pattern(text, CONFLICT, "A marker of an unresolved merge. Keep one side and remove the markers.")
    refuse_pattern(text, "\0", "Here is a NUL, which no text has. Save the file as UTF-8, or name another.")
    return text


def refuse_pattern(text: str, pattern: str | re.Pattern[str], message: str) -> None:
    """Raise Wrong at the first place of a pattern in a text; `{0}` of the message is the code of its first character."""
    if (found := re.search(pattern, text)) is not None:
        raise Wrong(place_of(text, found.start()), message.format(ord(found[0][0])))


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def format_place(file: str, line: int | None, column: int | None) -> str:
    """Return a place as editors and CI logs read it, ``file:line:column``, without the parts that are None."""
    return ":".join([file, *(str(number) for number in (line, column) if number is not None)])


# Nodes

MAX_DEPTH = 30
"""Levels of lists and mappings within each other; a file with more is refused."""

NO_CHARACTER = "This escape is no character (half of a pair, or beyond Unicode). Write the character."


@dataclass(eq=False, slots=True)
class Node:
    """A text, a list of nodes, or a mapping as a list of pairs of nodes."""

    place: Place
    value: Any
    """The text as it was written, the items of a list, or the pairs of a mapping."""
    kind: str = "text"
    """``text``, ``list`` or ``mapping``."""
    plain: bool = False
    """Whether a text is written without quotes: in JSON a number, true, false or null."""

    @property
    def is_null(self) -> bool:
        """Whether it is a plain `null` or `~`; in quotes these are text, and nothing at all is empty text."""
        return self.plain and self.value in ("null", "~")

    def __str__(self) -> str:
        """Show the value of a text, or the kind of another node, for a message."""
        if self.kind != "text":
            return f"a {self.kind}"
        if self.plain:
            return quote(self.value) if self.value else "empty"
        return f"the text {quote(self.value)}"


def refuse_surrogate(text: str, place: Place) -> None:
    """Raise Wrong for half of a character, which an escape may stand for and no file can hold."""
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise Wrong(place, NO_CHARACTER)


def too_deep(place: Place) -> Wrong:
    """Return the problem of lists and mappings that are more than MAX_DEPTH deep."""
    return Wrong(place, f"Lists and mappings are more than {MAX_DEPTH} deep here. Write them less deep.")
