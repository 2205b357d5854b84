"""Find stored baselines: below a folder, in a project, or of one golden set."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.cli.command_line import print_escaped, shown_path
from pytest_irmetrics.golden.formats import format_by_suffix, is_golden_folder
from pytest_irmetrics.run import RunError
from pytest_irmetrics.run.baseline import (
    folders_with_baselines,
    golden_set_named,
    list_baselines,
    read_baseline,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.run import Run


@dataclass(frozen=True, slots=True)
class StoredBaseline:
    """The file of one baseline, and the folder of the test that it belongs to."""

    path: Path
    folder: Path

    def read(self) -> Run:
        """Read the stored run. Raises RunError."""
        return read_baseline(self.path)

    def golden_file_named(self) -> Path | None:
        """Return what `golden_file` does of the header alone, or None; a baseline may be large."""
        return self._golden_file(golden_set_named(self.path))

    def golden_file(self, run: Run) -> Path | None:
        """Return the file of the golden set that the baseline names; None for one that was made in Python."""
        return self._golden_file(run.golden_set)

    def _golden_file(self, name: str | None) -> Path | None:
        """Return the file that a baseline names; None for a golden set made in Python, and for None."""
        if name is None:
            return None
        path = Path(os.path.normpath(self.folder / name))
        is_file = "/" in name or format_by_suffix(Path(name)) is not None or is_golden_folder(path)
        return path if is_file else None


def baselines_below(top: Path, directory: str) -> Iterator[StoredBaseline]:
    """Yield the baselines in a folder and all below it, in order; hidden folders and environments are left out."""
    absolute = Path(os.path.abspath(top))  # noqa: PTH100 - resolving links would leave the project
    if absolute.name == directory:
        yield from _baselines_in(Path(shown_path(absolute.parent)), directory)
        return
    for folder in folders_with_baselines(top, directory):
        yield from _baselines_in(folder, directory)


def _project_folder(file: Path) -> Path | None:
    """Return the repository's folder that holds a file, else the current folder if it does; None if neither does."""
    parents = Path(os.path.abspath(file)).parents  # noqa: PTH100 - as above
    here = Path.cwd()
    repository = next((folder for folder in parents if (folder / ".git").exists()), None)
    return repository or (here if here in parents else None)


def _baselines_in(folder: Path, directory: str) -> Iterator[StoredBaseline]:
    """Yield the baselines that are stored beside the tests of one folder."""
    for path in list_baselines(folder / directory):
        yield StoredBaseline(path, folder)


def baselines_of_golden_set(
    file: Path, directory: str, without: Sequence[str] = ()
) -> Iterator[tuple[str, Run]]:
    """Yield the baselines of a golden set, in its project, but those in the files `without`, each with a name for messages."""
    top = _project_folder(file)
    for stored in [] if top is None else baselines_below(Path(shown_path(top)), directory):
        named = stored.golden_file_named()
        if named is not None and not is_same_file(named, file):
            continue
        if any(is_same_file(stored.path, Path(path)) for path in without):
            continue
        try:
            run = stored.read()
        except RunError as error:  # it may be a baseline of another golden set
            print_escaped(f"note: {error}", sys.stderr)
            continue
        if is_same_file(stored.golden_file(run), file):
            yield shown_path(stored.path), run


# Paths ---------------------------------------------------------------------------------------------------------


def is_same_file(one: Path | None, other: Path) -> bool:
    """Say whether two paths lead to one file; links are followed."""
    try:
        return one is not None and os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # a NUL or a lone surrogate
        return False
