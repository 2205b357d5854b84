# This docstring is the --help: `make expected` renews the pages.
"""Show how the means of a test's committed baselines moved.

Read every version of a baseline that was committed, renames followed, and score
all of them under today's golden set, so that old ones compare with new ones.
Prints each metric's course, a row for each version with the means that it
lowered, and how far each is from its best. Nothing is checked out, and no search
is asked. Of a merged branch, the merge counts as one commit.

examples:
  pytest-irmetrics history
  pytest-irmetrics history test_search_quality --metrics mrr,ndcg@10 --since v1.0
  pytest-irmetrics history 'tests/test_search.py::test_search_quality[faq]' --limit 0
  pytest-irmetrics history --html history.html
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_irmetrics.analysis.history import history_of
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.git import Repository
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.cli import shared
from pytest_irmetrics.comparison.stored_runs import golden_set_as_stored
from pytest_irmetrics.gates.verdict import usual_metric
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports import output
from pytest_irmetrics.reports.blocks import Text
from pytest_irmetrics.reports.history import BaselineHistory, blocks, history_json, render
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.baseline import baseline_path

ARGUMENTS = (
    shared.METRICS,
    shared.BASELINE_DIR,
    shared.CUSTOM_METRIC,
    shared.argument("tests", nargs="*", metavar="TEST", help="a test's id or a part of it, or the path of its baseline; without any, all baselines from here on down"),
    shared.argument("--since", metavar="REV", help="also say what has been lost since this tag, branch or commit"),
    shared.limit_argument("how many versions to show, the newest"),
    shared.argument("--json", exclusive=True, action="store_true", help="print all of it as JSON"),
    shared.argument("--html", exclusive=True, metavar="PATH", help="write it with a plot for each metric, as one HTML file; needs Jinja2"),
)  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Read the history of each test's baseline and print it."""
    histories, status, page = [], shared.OK, None
    if options.html is not None:  # refused before Git is read
        given = f"html:{options.html.removeprefix('html:')}"
        (page,) = output.parse([given], Path(), option="--html: ", prints=True)
    for baseline in _choose(options.tests, options.baseline_dir):
        try:
            histories.append(_test_history(baseline, options))
        except IRMetricsError as error:
            status = shared.FAILED
            shared.print_error(error)
    if page is not None:
        shared.write_file(str(page.path), render(histories).encode("utf-8"))
        shared.print_about(str(page.path), f"{page.path}: written")
    elif options.json:
        shared.print_line(shared.harmless_json(history_json(histories)))
    else:
        shared.print_blocks(block for one in histories for block in (Text(""), *blocks(one, options.limit)))
    return status


def _choose(wanted: Sequence[str], directory: str) -> list[shared.Baseline]:
    """Return the baselines whose test or path holds a wanted text; all where none is. Raises CommandError where none does."""
    found = shared.baselines_from_here(directory)
    if not found:
        text = f"There is no folder {directory} with baselines from here on down. Go to the tests, or store a baseline (pytest --ir-baseline-update)."
        raise shared.CommandError(text)
    chosen = dict[shared.Baseline, None]()
    for text in wanted:
        part = text.removeprefix("./")
        matching = [one for one in found if part in one.test or part in one.path.as_posix()]
        # A whole id begins at pytest's rootdir, which may be above, and the baseline has a safe name of it.
        file, _, test = part.partition("::")
        name, bracket, ids = test.partition("[")
        own = baseline_path(Path("/", file), name.replace("::", ".") + bracket + ids, directory).as_posix()
        matching += [one for one in found if one.path.absolute().as_posix().endswith(own)]
        chosen |= dict.fromkeys(matching)
        if not matching:
            message = f"No baseline from here on down is of a test {quote(text)}. There are baselines of {listed([one.test for one in found])}."
            raise shared.CommandError(message)
    return list(chosen) or found


def _test_history(baseline: shared.Baseline, options: argparse.Namespace) -> BaselineHistory:
    """Return the history of one test's baseline, scored under today's golden set. Raises IRMetricsError."""
    now = Run.load(baseline.path)
    file = baseline.golden_file(now)
    judged_by = "the judgments of the newest version"  # where the file is gone
    if file is None:
        golden = golden_set_as_stored(now)
    else:
        shown = file.as_posix()
        golden = GoldenSet.load(file, custom_metrics=options.custom_metrics, shown=shown)
        judged_by = f"{shown} as it is today"
    named = options.metrics or [one.metric for one in golden.thresholds if one.tag is None]
    wanted = shared.scorable_metrics(options.metrics or [*shared.USUAL_METRICS, *named], golden)
    beyond = [metric for metric in wanted if not metric.is_within(now.depth)]
    without_mean = {"overlap", "ranking"} if golden.judges_nothing else {"overlap"}
    metrics = [metric for metric in wanted if metric not in beyond and metric.kind not in without_mean]
    path = baseline.path.as_posix()
    if not metrics:
        lacks = "is too shallow for" if beyond else "by itself gives no"
        asked = listed(beyond or wanted or options.metrics)
        raise shared.CommandError(f"{path}: {lacks} {asked}. Name other --metrics.")
    left_out = f"Left out, as the baseline holds {now.depth} results a query: {listed(beyond)}."
    notes = [left_out] if beyond else []
    repository = Repository(baseline.path.parent)
    if repository.is_shallow:
        notes += ["This clone is shallow: older commits are not in it. `git fetch --unshallow` fetches them."]
    # The usual metric of those asked for or with a threshold, or of all, leads.
    leading = usual_metric(one for one in named if one in metrics) or usual_metric(metrics) or metrics[0]
    place = repository.path_of(baseline.path.absolute())
    with repository.reader() as read:
        points, since = history_of(repository, read, place, now, golden, metrics, options.since)
    return BaselineHistory(baseline.test, path, judged_by, leading.name, points, since, notes)
