"""Read what commands work on, files or ``-``, standard input: golden sets, stored runs, the baselines of a project."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.files import MAX_RUN_BYTES
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.cli.shared import STANDARD, CommandError, print_note, shown_path
from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.formats import read_golden_set
from pytest_irmetrics.run import NoTestsError, Run
from pytest_irmetrics.run.baseline import (
    folders_with_baselines,
    golden_set_named,
    list_baselines,
    read_baseline,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric

USUAL_METRICS = read_metrics([*DEFAULT_METRICS, "no_answer"])
"""The metrics that are scored unless ``--metrics`` is given; `no_answer` only if the set has such queries."""
_MAX_COMPARED = 2000
"""Ids among which a similar one is searched for; with more it takes seconds."""


# Files and standard streams ---------------------------------------------------------------------------------------


@contextmanager
def readable_file(name: str, suffix: str = "") -> Iterator[Path]:
    """Yield the path of a file to read: of ``-`` a copy of standard input with this suffix, which is gone after the ``with``.

    Raises CommandError.
    """
    if name != STANDARD:
        yield Path(name)
        return
    try:
        data = sys.stdin.buffer.read(MAX_RUN_BYTES + 1)
    except (AttributeError, OSError, ValueError):  # closed
        raise CommandError(f"{STANDARD}: Standard input cannot be read. Name a file.") from None
    if len(data) > MAX_RUN_BYTES:
        raise CommandError(
            f"{STANDARD}: Standard input is larger than {MAX_RUN_BYTES // 1_000_000_000} GB. Split it."
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{STANDARD}{suffix}"
        copy.write_bytes(data)
        yield copy


def refuse_standard_input_twice(*names: str | None) -> None:
    """Raise CommandError where several files to read are standard input, which can be read once."""
    if names.count(STANDARD) > 1:
        raise CommandError(f"{STANDARD}: Standard input can be read once. Name a file for the others.")


def write_file(name: str, data: bytes, *, again: str = "write it again") -> None:
    """Write a file whole or not at all, or ``-``: to standard output. `again` is how to retry, for messages."""
    if name != STANDARD:
        write_whole(Path(name), data, again=again)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


# Golden sets ------------------------------------------------------------------------------------------------------


def load_golden(name: str, custom_metrics: Collection[str], form: str | None = None) -> GoldenSet:
    """Load the golden set in a file or folder, or ``-``: in standard input, which is YAML unless `form` says otherwise.

    Its file cannot be read again later where it is ``-``. Raises GoldenSetError and CommandError.
    """
    with readable_file(name) as path:
        if form is None and name != STANDARD:
            return GoldenSet.load(path, custom_metrics=custom_metrics, shown=name)
        golden: GoldenSet = read_golden_set(form or "yaml", path, name, custom_metrics)
        return golden


def find_query(golden: GoldenSet, wanted: str, file: str, where: str = "") -> Query:
    """Return the query of an id, or the only one that asks this text. Raises CommandError, which names `where` or the file."""
    by_text = [query for query in golden.queries.values() if query.text == wanted]
    query = golden.find(wanted) or (by_text[0] if len(by_text) == 1 else None)
    if query is not None:
        return query
    close = [query.id for query in by_text]
    if not close and len(golden.queries) <= _MAX_COMPARED:
        close = get_close_matches(wanted[:100], list(golden.queries), n=3)
    count = plural(len(golden.queries), "query", "queries")
    advice = f"`pytest-irmetrics check --json {shlex.quote(file)}` lists the ids of its {count}."
    if close:
        advice = f"Did you mean {' or '.join(map(quote, close[:3]))}?"
    raise CommandError(f"{where or f'{file}:1'}: There is no query {quote(wanted)}. {advice}")


# Runs -------------------------------------------------------------------------------------------------------------


def load_runs(paths: Sequence[str], tests: Sequence[str]) -> list[tuple[str, Run]]:
    """Load the runs in some files, each with a name for messages.

    Of JSON reports with several tests `tests` says which: one test for all the files, or one for each. Raises RunError, also
    where a test is named and no file has tests, and CommandError where the numbers of tests and files do not match.
    """
    if len(tests) not in (0, len(paths)) and (len(tests) > 1 or not paths):
        raise CommandError(
            f"--test is given {plural(len(tests), 'time')} for {plural(len(paths), 'run')}. Give it once, or once for each "
            "run, in their order."
        )
    runs: list[tuple[str, Run]] = []
    for number, path in enumerate(paths):
        test = tests[number % len(tests)] if tests else None
        try:
            runs.append((path if test is None else f"{path} ({test})", _load_run(path, test)))
        except NoTestsError:
            if len(paths) == 1 or len(tests) > 1:
                raise
            runs.append((path, _load_run(path)))
    return runs


def _load_run(path: str, test: str | None = None) -> Run:
    """Load a stored run, or ``-``: from standard input, as JSON where it begins as JSON does. Raises RunError and CommandError."""
    with readable_file(path) as file:
        is_json = path == STANDARD and file.read_bytes()[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        return Run.load(file.rename(f"{file}.json") if is_json else file, test=test, shown=path)


class Baseline(NamedTuple):
    """The file of one baseline, and the folder of the test that it belongs to."""

    path: Path
    folder: Path

    @property
    def test(self) -> str:
        """The id of its test, as far as the file's name tells it."""
        file = self.folder / f"{self.path.parent.name}.py"
        return f"{shown_path(file)}::{self.path.name.removesuffix('.json')}"

    def golden_file(self) -> Path | None:
        """Return the file of the golden set that it names; None where it names none, or cannot be read."""
        name = golden_set_named(self.path)
        return None if name is None else Path(os.path.normpath(self.folder / name))


def baselines_from_here(directory: str) -> list[Baseline]:
    """Return the baselines in folders of a name in the current folder and below; hidden folders and environments are left out."""
    return [
        Baseline(path, folder)
        for folder in folders_with_baselines(Path(), directory)
        for path in list_baselines(folder / directory)
    ]


def baselines_of_golden_set(file: str, directory: str) -> Iterator[tuple[str, Run]]:
    """Yield the baselines of a golden set from the current folder down, each with a name for messages."""
    for baseline in baselines_from_here(directory):
        try:
            golden_file = baseline.golden_file()
            if golden_file is None:
                read_baseline(baseline.path)  # one that cannot be read is named
            elif os.path.realpath(golden_file) == os.path.realpath(file):
                yield shown_path(baseline.path), read_baseline(baseline.path)
        except ValueError as error:  # a RunError, or a name of a golden set that no file has
            print_note(str(error))


# What to score ----------------------------------------------------------------------------------------------------


def scorable_metrics(metrics: Iterable[Metric], golden: GoldenSet) -> tuple[Metric, ...]:
    """Return the metrics, each once, that a stored run can be scored with: no latency, `no_answer` only with such queries."""
    no_answer = any(query.no_answer for query in golden.queries.values())
    kinds = ("ranking", "no_answer") if no_answer else ("ranking",)
    return tuple(metric for metric in read_metrics(metrics) if metric.kind in kinds)


def metrics_beyond(metrics: Iterable[Metric], depth: int | None) -> list[Metric]:
    """Return the metrics whose cut-off is greater than the depth of a run; none if that is unknown."""
    return [metric for metric in metrics if depth is not None and (metric.cutoff or 0) > depth]
