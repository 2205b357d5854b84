"""Errors of golden sets: problems with their places, collected over a whole file and raised as one GoldenSetError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pytest_irmetrics.base.errors import IRMetricsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


MAX_PROBLEMS = 1000  # a hostile file could have millions

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


class _Placed(Protocol):
    line: int
    column: int


class Wrong(Exception):  # noqa: N818 - what it says is reported as a Problem
    """A mistake at a place of a file (line and column, or a node; None where there is no file): what is wrong, and what to do."""

    def __init__(self, at: _Placed | tuple[int | None, int | None], message: str) -> None:
        super().__init__(message)
        self.line: int | None
        self.column: int | None
        self.line, self.column = at if isinstance(at, tuple) else (at.line, at.column)
        self.message = message


class Problems:
    """Collects the problems of one file; `shown` is its path in messages."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self._found: list[Problem] = []

    def add(self, wrong: Wrong) -> None:
        """Add a problem. Raises GoldenSetError with all of them at MAX_PROBLEMS."""
        place = self.shown, wrong.line, wrong.column
        self._found.append(Problem(*place, wrong.message))
        if len(self._found) >= MAX_PROBLEMS:
            message = f"These are {MAX_PROBLEMS} problems, and the rest is not read. Solve these first."
            raise GoldenSetError([*self, Problem(*place, message)])

    def attempt(self, read: Callable[..., T], *args: Any, **options: Any) -> T | None:
        """Return what a function returns, or None after adding the mistake that it raises."""
        try:
            return read(*args, **options)
        except Wrong as wrong:
            self.add(wrong)
            return None

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        """Yield the problems in the order of the file."""
        return iter(sorted(self._found, key=lambda problem: (problem.line or 0, problem.column or 0)))


def format_place(file: str, line: int | None, column: int | None) -> str:
    """Return a place as editors and CI logs read it, ``file:line:column``, without the parts that are None."""
    return ":".join([file, *(str(number) for number in (line, column) if number is not None)])


def raise_any(*files: Problems) -> None:
    """Raise GoldenSetError with the problems of these files, if there are any."""
    found = [problem for problems in files for problem in problems]
    if found:
        raise GoldenSetError(found)
