"""Find and read what commands work on: golden sets, stored runs, baselines near a golden set or below a folder, and metrics for them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base import strict_json
from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.gzipped import gunzip_start
from pytest_irmetrics.base.paths import relative_path
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, open_regular
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.cli.command_line import CommandError, print_escaped
from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.golden.formats import format_by_suffix, is_golden_folder, reader_of
from pytest_irmetrics.run import NoTestsError, Run, RunError
from pytest_irmetrics.run.baseline import (
    folders_with_baselines,
    golden_set_named,
    list_baselines,
    read_baseline,
)
from pytest_irmetrics.run.json import REPORT_FORMAT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import TextIO

    from pytest_irmetrics.metrics import Metric

USUAL_METRICS = read_metrics([*DEFAULT_METRICS, "no_answer"])
"""The metrics that are scored unless ``--metrics`` is given; `no_answer` only if the set has such queries."""


# Standard input and output --------------------------------------------------------------------------------------

STANDARD = "-"
"""As a file's name on the command line: standard input where it is read, standard output where it is written."""


@contextmanager
def readable_file(name: str, suffix: str | None = None) -> Iterator[Path]:
    """Yield the path of a file to read: of ``-`` a copy of standard input, which is gone after the ``with``.

    The copy's name ends in `suffix`, by default in ``.json`` where it begins as JSON does. Raises CommandError.
    """
    if name != STANDARD:
        yield Path(name)
        return
    data = _read_standard_input(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{STANDARD}{_json_suffix(data) if suffix is None else suffix}"
        copy.write_bytes(data)
        yield copy


def _json_suffix(data: bytes) -> str:
    start = gunzip_start(data[:4096], 4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return ".json" if start.startswith((b"{", b"[")) else ""


@lru_cache(maxsize=1)
def _read_standard_input(stream: TextIO | None) -> bytes:
    """Read standard input whole; once, though a command may name it twice."""
    try:
        data = b"" if stream is None else stream.buffer.read(MAX_RUN_BYTES + 1)
    except (OSError, ValueError) as error:  # closed
        raise CommandError(f"{STANDARD}: Standard input cannot be read: {error}. Name a file.") from None
    if len(data) > MAX_RUN_BYTES:
        raise CommandError(
            f"{STANDARD}: Standard input is larger than {MAX_RUN_BYTES // 1_000_000_000} GB. Split it."
        )
    return data


def write_file(name: str, data: bytes, *, again: str = "write it again") -> None:
    """Write a file whole or not at all, or ``-``: to standard output. `again` is how to retry, for messages."""
    if name != STANDARD:
        write_whole(Path(name), data, again=again)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_about(written: str, line: str) -> None:
    """Print a line about a file that was written; on standard error where that is standard output."""
    print_escaped(line, sys.stderr if written == STANDARD else sys.stdout)


# Golden sets ----------------------------------------------------------------------------------------------------


def load_golden(name: str, custom_metrics: Collection[str], form: str | None = None) -> GoldenSet:
    """Load the golden set in a file or folder, or ``-``: in standard input, which is YAML unless `form` says otherwise.

    Its file cannot be read again later where it is ``-``. Raises GoldenSetError and CommandError.
    """
    with readable_file(name) as path:
        if form is None and name != STANDARD:
            return GoldenSet.load(path, custom_metrics=custom_metrics, shown=name)
        golden: GoldenSet = reader_of(form or "yaml")(path, name, custom_metrics)
        return golden


# Paths ----------------------------------------------------------------------------------------------------------


def shown_path(path: Path) -> str:
    """Return a path as messages show it: relative to the current folder, unless that is longer."""
    relative = relative_path(path)
    return relative if len(relative) <= len(str(path)) else str(path)


def exists(path: Path) -> bool:
    """Say whether a file exists; False for an impossible path, True for one that may not be looked up."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def is_same_file(one: Path | None, other: Path) -> bool:
    """Say whether two paths lead to one file; links are followed."""
    try:
        return one is not None and os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # a NUL or a lone surrogate
        return False


# Baselines ------------------------------------------------------------------------------------------------------


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


def _baselines_above(file: Path, directory: str) -> Iterator[StoredBaseline]:
    """Yield the baselines in the folders from a file's own up to the project's, the nearest first."""
    for folder in Path(os.path.abspath(file)).parents:  # noqa: PTH100 - as above
        yield from _baselines_in(Path(shown_path(folder)), directory)
        if (folder / ".git").exists():
            return


def baselines_of_project(file: Path, directory: str) -> Iterator[StoredBaseline]:
    """Yield the baselines in the folders from a file's own upwards, the nearest first, then all others of the project.

    The project is the repository that the file is in; outside of one, the current folder, where that holds the file.
    """
    seen = set()
    for stored in _baselines_above(file, directory):
        seen.add(os.path.realpath(stored.path))
        yield stored
    top = _project_folder(file)
    for stored in baselines_below(Path(shown_path(top)), directory) if top is not None else ():
        if os.path.realpath(stored.path) not in seen:
            yield stored


def _project_folder(file: Path) -> Path | None:
    """Return the repository's folder that holds a file, else the current folder if it does; None if neither does."""
    parents = Path(os.path.abspath(file)).parents  # noqa: PTH100 - as above
    here = Path.cwd()
    repository = next((folder for folder in parents if (folder / ".git").exists()), None)
    return repository or (here if here in parents else None)


def _baselines_in(folder: Path, directory: str) -> Iterator[StoredBaseline]:
    for path in list_baselines(folder / directory):
        yield StoredBaseline(path, folder)


def golden_set_of_baseline(path: str, run: Run) -> GoldenSet | None:
    """Return the golden set that a baseline names, where the file is found from where the baseline is; else None."""
    if path == STANDARD:
        return None
    try:
        folder = Path(shown_path(Path(path).absolute().parents[2]))
        file = StoredBaseline(Path(path), folder).golden_file(run)
        return None if file is None else GoldenSet.load(file, shown=shown_path(file))
    except (IndexError, OSError, ValueError, GoldenSetError):  # moved, or broken since
        return None


# Runs -----------------------------------------------------------------------------------------------------------


def load_runs(paths: Sequence[str], tests: Sequence[str]) -> list[tuple[str, Run]]:
    """Load the runs in some files, each with a name for messages.

    Of JSON reports with several tests `tests` says which: one test for all the files, or one for each. Raises RunError, also
    where a test is named and no file has tests, and CommandError where the numbers of tests and files do not match.
    """
    if len(tests) > 1:
        if len(tests) != len(paths):
            raise CommandError(
                f"--test is given {len(tests)} times for {plural(len(paths), 'run')}. Give it once, or once for each "
                "run, in their order."
            )
        return [
            (_run_name(path, test), load_run(path, test)) for path, test in zip(paths, tests, strict=True)
        ]
    test = tests[0] if tests else None
    runs, without_tests = [], []
    for path in paths:
        try:
            runs.append((_run_name(path, test), load_run(path, test)))
        except NoTestsError as error:
            without_tests.append(error)
            runs.append((path, load_run(path)))
    if without_tests and len(without_tests) == len(paths):
        raise without_tests[0]
    return runs


def load_run(path: str, test: str | None = None) -> Run:
    """Load a stored run, or ``-``: from standard input, as JSON where it begins as JSON does. Raises RunError and CommandError."""
    with readable_file(path) as file:
        return Run.load(file, test=test, shown=path)


def runs_by_test(path: str) -> dict[str, Run]:
    """Return test id → run, of a JSON report; empty for any other file, and for what cannot be read."""
    try:
        with readable_file(path) as file, open_regular(file, MAX_RUN_BYTES) as stream:
            head = stream.read(1000)
            if REPORT_FORMAT.encode() not in head:  # a run may be large, and is read by whoever wants it
                return {}
            document = strict_json.loads((head + stream.read(MAX_RUN_BYTES)).decode("utf-8-sig"))
        return {
            test["nodeid"]: Run.loads(json.dumps(test["run"]), path)
            for test in document["tests"]
            if test.get("run") is not None
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _run_name(path: str, test: str | None) -> str:
    return path if test is None else f"{path} ({test})"


def runs_of_golden_set(
    file: Path, paths: Sequence[str], tests: Sequence[str], directory: str
) -> Iterator[tuple[str, Run]]:
    """Yield the runs in some files, or without any the baselines of a golden set; each with a name for messages.

    `directory` is the name of the folders that hold baselines. Raises RunError and CommandError, as `load_runs` does.
    """
    if paths:
        yield from load_runs(paths, tests)
        return
    if tests:
        raise CommandError(
            "--test says whose run of a JSON report is wanted. Name the report: --run REPORT.json."
        )
    yield from baselines_of_golden_set(file, directory)


def baselines_of_golden_set(
    file: Path, directory: str, without: Sequence[str] = ()
) -> Iterator[tuple[str, Run]]:
    """Yield the baselines of a golden set but those in the files `without`, each with a name for messages."""
    for stored in baselines_of_project(file, directory):
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


def no_run_message(directory: str) -> str:
    """Return the message that a golden set has no baseline, and what to do."""
    return (
        f"No baseline of this golden set is in a folder {directory} of this project. Store one "
        "(pytest --ir-baseline-update), or name a run (--run RUN)."
    )


# What to score --------------------------------------------------------------------------------------------------


def scorable_metrics(metrics: Iterable[Metric], golden: GoldenSet) -> tuple[Metric, ...]:
    """Return the metrics, each once, that a stored run can be scored with: no latency, `no_answer` only with such queries."""
    no_answer = any(query.no_answer for query in golden.queries.values())
    kinds = ("ranking", "no_answer") if no_answer else ("ranking",)
    return tuple(metric for metric in read_metrics(metrics) if metric.kind in kinds)


def metrics_beyond(metrics: Iterable[Metric], depth: int | None) -> list[Metric]:
    """Return the metrics whose cut-off is greater than the depth of a run; none if that is unknown."""
    return [
        metric
        for metric in metrics
        if depth is not None and metric.cutoff is not None and metric.cutoff > depth
    ]


def subset(golden: GoldenSet, ids: Iterable[str], shown: str) -> GoldenSet:
    """Return a golden set of some queries of another, in the order of `ids` and without thresholds."""
    return GoldenSet(
        [golden.queries[query_id] for query_id in ids],
        path=golden.path,
        shown=shown,
        name=golden.name,
        relevance_level=golden.relevance_level,
    )
