"""Where baselines are found without pytest: above a golden set, or below a folder."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.cli.named import load
from pytest_irmetrics.cli.screen import RefusedError, tell
from pytest_irmetrics.golden.beir import is_golden_folder
from pytest_irmetrics.golden.formats import SUFFIXES
from pytest_irmetrics.run.baseline import BaselineError, folders_below, list_baselines, read_baseline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.run import Run


@dataclass(frozen=True, slots=True)
class Stored:
    """One baseline's file, and the folder of the test that it belongs to."""

    path: Path
    folder: Path

    def read(self) -> Run:
        """Read it. Raises BaselineError."""
        return read_baseline(self.path)

    def golden_file(self, run: Run) -> Path | None:
        """Return the file of the golden set that the baseline names; None for one that was made in Python."""
        name = run.golden_set
        if name is None:
            return None
        path = Path(os.path.normpath(self.folder / name))
        is_file = "/" in name or name.lower().endswith(tuple(SUFFIXES)) or is_golden_folder(path)
        return path if is_file else None


def is_same_file(one: Path | None, other: Path) -> bool:
    """Say whether two paths are one file, also where one of them can be no path at all."""
    try:
        return one is not None and os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # a NUL or a lone surrogate
        return False


def exists(path: Path) -> bool:
    """Say whether a file is there; what can be no path is not, and what may not be looked at counts as there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def above(file: Path, directory: str) -> Iterator[Stored]:
    """Yield the baselines in the folders from a file's own up to the project's, the nearest first."""
    for folder in Path(os.path.abspath(file)).parents:  # noqa: PTH100 - resolving links would leave the project
        yield from _in(Path(shown(folder)), directory)
        if (folder / ".git").exists():
            return


def below(top: Path, directory: str) -> Iterator[Stored]:
    """Yield the baselines in a folder and all below it, in order; hidden folders and environments are left out."""
    whole = Path(os.path.abspath(top))  # noqa: PTH100 - as above
    if whole.name == directory:
        yield from _in(Path(shown(whole.parent)), directory)
        return
    for folder in folders_below(top, directory):
        yield from _in(folder, directory)


def _in(folder: Path, directory: str) -> Iterator[Stored]:
    for path in list_baselines(folder / directory):
        yield Stored(path, folder)


def runs_of(
    file: Path, named: Sequence[str], tests: Sequence[str], directory: str
) -> Iterator[tuple[str, Run]]:
    """Yield the runs of a golden set by what to call them: those that are named, or else its baselines.

    Raises RunError, as `load` does.
    """
    if named:
        yield from load(named, tests)
        return
    if tests:
        raise RefusedError(
            "--test says whose run of a JSON report is wanted. Name the report: --run REPORT.json."
        )
    for stored in above(file, directory):
        try:
            run = stored.read()
        except BaselineError as error:  # perhaps another golden set's
            tell(f"note: {error}", sys.stderr)
            continue
        if is_same_file(stored.golden_file(run), file):
            yield shown(stored.path), run


def no_run(directory: str) -> str:
    """Say that `runs_of` found none, and what to do."""
    return (
        f"No baseline of this golden set is in a folder {directory} beside it or above. Store one "
        "(pytest --ir-baseline-update), or name a run (--run RUN)."
    )


def shown(path: Path) -> str:
    """Return a path as a reader finds it: relative to the current folder, unless that is longer."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive, or no path at all
        return str(path)
    return relative.replace(os.sep, "/") if len(relative) <= len(str(path)) else str(path)


def add_directory(parser: argparse._ActionsContainer) -> None:
    """Add the option that says what the setting `ir_baseline_dir` says."""
    parser.add_argument(
        "--baseline-dir",
        type=_directory,
        default="ir_baselines",
        metavar="NAME",
        help="the folder beside the tests that holds the baselines, where the setting ir_baseline_dir names another "
        "than ir_baselines",
    )


def _directory(text: str) -> str:
    if not text or "\0" in text or Path(text).is_absolute() or ".." in Path(text).parts or text == ".":
        raise argparse.ArgumentTypeError(
            f"{text!r} is no folder beside the tests. Write its name, such as ir_baselines."
        )
    return text
