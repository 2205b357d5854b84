"""Load what commands work on: golden sets, stored runs, and the metrics to score them with."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.cli.find_baselines import baselines_of_golden_set
from pytest_irmetrics.cli.standard_streams import STANDARD, readable_file
from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.formats import read_golden_set
from pytest_irmetrics.run import NoTestsError, Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric

USUAL_METRICS = read_metrics([*DEFAULT_METRICS, "no_answer"])
"""The metrics that are scored unless ``--metrics`` is given; `no_answer` only if the set has such queries."""

_MAX_COMPARED = 2000
"""Ids among which a similar one is searched for; with more it takes seconds."""


# Golden sets --------------------------------------------------------------------------------------------------


def load_golden(name: str, custom_metrics: Collection[str], form: str | None = None) -> GoldenSet:
    """Load the golden set in a file or folder, or ``-``: in standard input, which is YAML unless `form` says otherwise.

    Its file cannot be read again later where it is ``-``. Raises GoldenSetError and CommandError.
    """
    with readable_file(name) as path:
        if form is None and name != STANDARD:
            return GoldenSet.load(path, custom_metrics=custom_metrics, shown=name)
        golden: GoldenSet = read_golden_set(form or "yaml", path, name, custom_metrics)
        return golden


def find_query(golden: GoldenSet, query_id: str, file: str) -> Query:
    """Return a query of the golden set by id. Raises CommandError if there is none."""
    query = golden.find(query_id)
    if query is None:
        raise CommandError(_unknown_query(file, query_id, golden))
    return query


def _unknown_query(file: str, wanted: str, golden: GoldenSet) -> str:
    """Return the message that there is no such query, with similar ones."""
    by_text = [query.id for query in golden.queries.values() if query.text == wanted]
    part = [query_id for query_id in golden.queries if wanted and wanted.casefold() in query_id.casefold()]
    close: Sequence[str] = by_text or part
    if not close and len(golden.queries) <= _MAX_COMPARED:
        close = get_close_matches(wanted[:100], list(golden.queries), n=3)
    advice = (
        f"Did you mean {' or '.join(map(quote, close[:3]))}?"
        if close
        else f"`pytest-irmetrics check --json {shlex.quote(file)}` lists the ids of its {plural(len(golden.queries), 'query', 'queries')}."
    )
    return f"{file}:1: There is no query {quote(wanted)}. {advice}"


# Runs ---------------------------------------------------------------------------------------------------------


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


def _run_name(path: str, test: str | None) -> str:
    """Return the name of a run for messages."""
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


def no_run_message(directory: str) -> str:
    """Return the message that a golden set has no baseline, and what to do."""
    return (
        f"No baseline of this golden set is in a folder {directory} of this project. Store one "
        "(pytest --ir-baseline-update), or name a run (--run RUN)."
    )


# What to score ------------------------------------------------------------------------------------------------


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
