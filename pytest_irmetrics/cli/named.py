"""Runs that the command line names: files, and of a report whose of its tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.screen import RefusedError
from pytest_irmetrics.run import NoTestsError, Run

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_test(parser: argparse._ActionsContainer, more: str = "") -> None:
    """Add the option that says whose run of a report is wanted; `more` is added to its help."""
    parser.add_argument(
        "--test",
        dest="tests",
        action="append",
        default=[],
        metavar="NAME",
        help=f"of a JSON report of several tests, whose run: a test's id, or a part of it that only its run has{more}",
    )


def load(paths: Sequence[str], tests: Sequence[str]) -> list[tuple[str, Run]]:
    """Read the runs that are named, and say what to call each: of all reports the one test's, or of each file that of its own.

    Raises RunError, also where a test is named and no file has any; RefusedError where tests and files do not match.
    """
    if len(tests) > 1:
        if len(tests) != len(paths):
            raise RefusedError(
                f"--test is given {len(tests)} times for {plural(len(paths), 'run')}. Give it once, or once for each "
                "run, in their order."
            )
        return [
            (_called(path, test), Run.load(path, test=test)) for path, test in zip(paths, tests, strict=True)
        ]
    test = tests[0] if tests else None
    runs, refused = [], []
    for path in paths:
        try:
            runs.append((_called(path, test), Run.load(path, test=test)))
        except NoTestsError as error:
            refused.append(error)
            runs.append((path, Run.load(path)))
    if refused and len(refused) == len(paths):
        raise refused[0]
    return runs


def _called(path: str, test: str | None) -> str:
    return path if test is None else f"{path} ({test})"
