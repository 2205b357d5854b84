"""What is wrong with a golden set: one problem with its place, and all those of a file in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.errors import IRMetricsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Report = Callable[[int, int, str], None]
    """Takes a line and a column, both from 1, and what is wrong there."""

__all__ = ["MAX_PROBLEMS", "GoldenSetError", "Problem", "Problems", "Stop", "place", "raise_any"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

MAX_PROBLEMS = 1000  # nobody reads more, and a hostile file could have millions


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a golden set, where, and what to do about it."""

    file: str
    """As the user named it; of a set that came from Python, its name."""
    line: int | None
    """Counted from 1; None where there is no file."""
    column: int | None
    """Counted from 1, in characters."""
    message: str

    def __str__(self) -> str:
        """Write ``file:line:column: what is wrong. What to do.``."""
        return f"{place(self.file, self.line, self.column)}: {self.message}"


class GoldenSetError(IRMetricsError, ValueError):
    """A golden set that cannot be read; `problems` holds all that was found, in the order of the file."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One problem a line."""
        return "\n".join(map(str, self.problems))


class Stop(Exception):  # noqa: N818 - what ends the reading has been reported before
    """Nothing more can be read from this file."""


class Problems:
    """What has been found in a file so far; `shown` is how messages call it."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self._found: list[Problem] = []

    def report(self, line: int, column: int, message: str) -> None:
        """Add one. Raises Stop where there are more than anybody reads."""
        self._found.append(Problem(self.shown, line, column, message))
        if len(self._found) >= MAX_PROBLEMS:
            message = f"These are {MAX_PROBLEMS} problems, and the rest is not read. Solve these first."
            self._found.append(Problem(self.shown, line, column, message))
            raise Stop

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        """In the order of the file."""
        return iter(sorted(self._found, key=_by_place))


def place(file: str, line: int | None, column: int | None) -> str:
    """Write a place as editors and CI logs read it: ``file:line:column``, without what is None."""
    return ":".join([file, *(str(number) for number in (line, column) if number is not None)])


def raise_any(*files: Problems) -> None:
    """Raise GoldenSetError with the problems of these files, if there are any."""
    found = [problem for problems in files for problem in problems]
    if found:
        raise GoldenSetError(found)


def _by_place(problem: Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0
