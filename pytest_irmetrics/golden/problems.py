"""All that is wrong with one file, in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.golden.model import GoldenSetError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Report = Callable[[int, int, str], None]
    """Takes a line and a column, both from 1, and what is wrong there."""

__all__ = ["MAX_PROBLEMS", "Problems", "Stop", "raise_any"]

MAX_PROBLEMS = 1000  # nobody reads more, and a hostile file could have millions


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


def raise_any(*files: Problems) -> None:
    """Raise GoldenSetError with the problems of these files, if there are any."""
    found = [problem for problems in files for problem in problems]
    if found:
        raise GoldenSetError(found)


def _by_place(problem: Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0
