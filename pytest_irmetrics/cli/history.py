"""Show how the means of a test's committed baselines moved.

Read every version of a baseline that was committed, renames followed, and score
all of them under today's golden set, so that old ones compare with new ones.
Prints each metric's course, a row for each version that changed anything, the
commits that lowered a mean, and how far it is from its best. Nothing is checked
out, and no search is asked. Of a merged branch, the merge counts as one commit.

examples:
  pytest-irmetrics history
  pytest-irmetrics history test_search_quality --metrics mrr,ndcg@10 --since v1.0
  pytest-irmetrics history 'tests/test_search.py::test_search_quality[faq]' --limit 0
  pytest-irmetrics history --html history.html
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.history import add_versions
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.git import Repository
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.cli import inputs, shared
from pytest_irmetrics.cli.shared import argument
from pytest_irmetrics.comparison.stored_runs import golden_set_as_stored
from pytest_irmetrics.gates import usual_metric
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports.history import history_lines
from pytest_irmetrics.reports.history_report import TestHistory, history_json
from pytest_irmetrics.run.baseline import read_baseline

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_irmetrics.run import Run

ARGUMENTS = (
    shared.METRICS,
    shared.BASELINE_DIR,
    shared.METRIC,
    argument("tests", nargs="*", metavar="TEST", help="a test's id or a part of it, or the path of its baseline; without any, all baselines from here on down"),
    argument("--since", metavar="REV", help="also say what has been lost since this tag, branch or commit"),
    argument("--limit", type=int, default=20, metavar="N", help="how many versions to show of those that changed anything; 0: all versions (default: 20)"),
    argument("--json", action="store_true", help="print all of it as JSON"),
    argument("--html", metavar="PATH", help="also write it with a plot, as one HTML file; needs Jinja2"),
)  # fmt: skip
_MAX_NAMED = 5
"""Tests that a message names."""


def run(options: argparse.Namespace) -> int:
    """Read the history of each test's baseline and print it."""
    html = options.html
    histories, status = [], shared.OK
    for baseline in _choose(options.tests, options.baseline_dir):
        try:
            histories.append(_test_history(baseline, options))
        except IRMetricsError as error:
            status = shared.FAILED
            for line in str(error).splitlines():
                shared.print_escaped(line, sys.stderr)
    if html is not None:
        inputs.write_file(html, _page(histories).encode("utf-8"))
    if options.json:
        shared.print_line(shared.harmless_json(history_json(histories)))
    elif html != shared.STANDARD:
        for number, history in enumerate(histories):
            if number:
                shared.print_line("")
            for line in history_lines(history, shared.stdout_screen(), options.limit):
                shared.print_line(line)
    if html not in (None, shared.STANDARD):
        shared.print_about(shared.STANDARD if options.json else html, f"{html}: written")
    return status


def _choose(wanted: Sequence[str], directory: str) -> list[inputs.Baseline]:
    """Return the baselines whose test or path holds a wanted text; all where none is. Raises CommandError where none does."""
    found = inputs.baselines_from_here(directory)
    if not found:
        raise shared.CommandError(
            f"There is no folder {directory} with baselines from here on down. Go to the tests, or store a baseline "
            "(pytest --ir-baseline-update)."
        )
    chosen = [] if wanted else found
    for text in wanted:
        part = text.removeprefix("./")
        matching = [one for one in found if text == one.test]
        matching = matching or [
            one for one in found if part in one.test or part in shared.shown_path(one.path)
        ]
        if not matching:
            raise shared.CommandError(
                f"No baseline from here on down is of a test {quote(text, 200)}. There are baselines of "
                f"{listed([one.test for one in found], _MAX_NAMED)}."
            )
        chosen += [one for one in matching if one not in chosen]
    return chosen


def _test_history(baseline: inputs.Baseline, options: argparse.Namespace) -> TestHistory:
    """Return the history of one test's baseline, scored under today's golden set. Raises IRMetricsError."""
    path = shared.shown_path(baseline.path)
    now = read_baseline(baseline.path)
    notes: list[str] = []
    golden, judged_by = _golden_set(baseline, now, options.metric)
    thresholds = [threshold.metric for threshold in golden.thresholds if threshold.tag is None]
    wanted = inputs.scorable_metrics(options.metrics or [*inputs.USUAL_METRICS, *thresholds], golden)
    beyond = inputs.metrics_beyond(wanted, now.depth)
    if beyond:
        notes.append(f"Left out, as the baseline holds {now.depth} results a query: {listed(beyond)}.")
    metrics = [metric for metric in wanted if metric not in beyond]
    if not metrics:
        raise shared.CommandError(f"{path}: is too shallow for {listed(beyond)}. Name other --metrics.")
    repository = Repository(baseline.path.parent)
    if repository.is_shallow:
        notes.append(
            "This clone is shallow: what was committed before is not in it. `git fetch --unshallow` fetches it."
        )
    # The usual metric of those asked for, of those with a threshold, or of all leads the table.
    named = [metric for metric in options.metrics or thresholds if metric in metrics]
    leading = usual_metric(named) or usual_metric(metrics) or metrics[0]
    place = repository.path_of(baseline.path.absolute())
    history = TestHistory(
        test=baseline.test,
        path=path,
        golden_set=judged_by,
        metrics=[metric.name for metric in metrics],
        leading=leading.name,
        depth=now.depth,
        notes=notes,
    )
    add_versions(history, repository, place, now, golden, metrics, since=options.since)
    return history


def _golden_set(baseline: inputs.Baseline, now: Run, custom_metrics: Sequence[str]) -> tuple[GoldenSet, str]:
    """Return the golden set to score by, with how to call it: the file as it is today, else the judgments stored last."""
    file = baseline.golden_file()
    if file is None or not os.path.lexists(file):
        as_stored = "the judgments of the newest version"
        return golden_set_as_stored(now, as_stored), as_stored
    shown = shared.shown_path(file)
    return GoldenSet.load(file, custom_metrics=custom_metrics, shown=shown), f"{shown} as it is today"


def _page(histories: Sequence[TestHistory]) -> str:
    """Return the HTML page. Raises CommandError where Jinja2 is missing."""
    from pytest_irmetrics.reports.history import render  # noqa: PLC0415

    try:
        return render(histories)
    except ImportError as error:
        raise shared.CommandError(f"--html: {error}") from None
