"""The command ``history``: every committed baseline of a test, scored under today's golden set."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.history import read_history
from pytest_irmetrics.base.git import Repository
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.cli.command_line import (
    FAILED,
    OK,
    CommandError,
    add_baseline_dir_option,
    add_command,
    add_metric_option,
    add_metrics_option,
    count_from_zero,
    json_line,
    print_escaped,
    print_line,
    shown_path,
    stdout_screen,
)
from pytest_irmetrics.cli.find_baselines import baselines_below, is_same_file
from pytest_irmetrics.cli.inputs import USUAL_METRICS, metrics_beyond, scorable_metrics
from pytest_irmetrics.cli.standard_streams import STANDARD, print_about, write_file
from pytest_irmetrics.comparison.stored_queries import golden_set_as_stored
from pytest_irmetrics.gates import usual_metric
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.reports.history_report import TestHistory
from pytest_irmetrics.reports.history_text import history_lines
from pytest_irmetrics.run import RunError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.cli.find_baselines import StoredBaseline
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

FORMAT, VERSION = "pytest-irmetrics history", 1

_MAX_NAMED = 5


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(
        commands,
        "history",
        _history,
        short="show how the means of a test's committed baselines moved",
        description=(
            "Read every version of a baseline that was committed, renames followed, and score all of them under today's golden "
            "set, so that old ones compare with new ones. Prints each metric's course, a row for each version that changed "
            "anything, the commits that lowered a mean, and how far it is from its best. Nothing is checked out, and no "
            "search is asked. Of a merged branch, the merge counts as one commit."
        ),
        examples="""
pytest-irmetrics history
pytest-irmetrics history test_search_quality --metrics mrr,ndcg@10 --since v1.0
pytest-irmetrics history 'tests/test_search.py::test_search_quality[faq]' --limit 0
pytest-irmetrics history --html history.html
""",
    )
    parser.add_argument(
        "tests",
        nargs="*",
        metavar="TEST",
        help="a test's id or a part of it, or the path of its baseline; without any, all baselines from here on down",
    )
    parser.add_argument(
        "--since", metavar="REV", help="also say what has been lost since this tag, branch or commit"
    )
    add_metrics_option(parser)
    parser.add_argument(
        "--limit",
        type=count_from_zero,
        default=20,
        metavar="N",
        help="how many versions to show of those that changed anything (default: 20; 0: all versions)",
    )
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    parser.add_argument(
        "--html", metavar="PATH", help="also write it with a plot, as one HTML file; needs Jinja2"
    )
    add_baseline_dir_option(parser)
    add_metric_option(parser)


def _history(options: argparse.Namespace) -> int:
    chosen = _choose(options.tests, options.baseline_dir)
    histories, status = [], OK
    repositories: dict[Path, Repository] = {}
    for stored in chosen:
        try:
            run = stored.read()
        except RunError as error:
            print_escaped(str(error), sys.stderr)
            status = FAILED
            continue
        found = Repository(stored.path.parent)
        repository = repositories.setdefault(found.top, found)
        histories.append(_test_history(repository, stored, run, options))
    if options.html is not None:
        _write_html(options.html, histories)
        if options.html == STANDARD:
            return status
    if options.json:
        print_line("\n".join(_json_lines(histories)))
        return status
    screen = stdout_screen()
    for number, history in enumerate(histories):
        if number:
            print_line("")
        for line in history_lines(history, screen, options.limit):
            print_line(line)
    if options.html is not None:
        print_about(options.html, f"{options.html}: written")
    return status


def _choose(wanted: Sequence[str], directory: str) -> list[StoredBaseline]:
    """Return the baselines that are wanted, in order. Raises CommandError where there is none."""
    found = list(baselines_below(Path(), directory))
    if not found:
        raise CommandError(
            f"There is no folder {directory} with baselines from here on down. Go to the tests, or store a baseline "
            "(pytest --ir-baseline-update)."
        )
    if not wanted:
        return found
    chosen: list[StoredBaseline] = []
    for text in wanted:
        matching = [stored for stored in found if text == _test_id(stored)]
        matching = matching or [stored for stored in found if _matches(stored, text)]
        if not matching:
            raise CommandError(
                f"No baseline from here on down is of a test {quote(text, 200)}. There are baselines of "
                f"{listed([_test_id(stored) for stored in found], _MAX_NAMED)}."
            )
        chosen += [stored for stored in matching if stored not in chosen]
    return chosen


def _matches(stored: StoredBaseline, text: str) -> bool:
    """Say whether a text is part of a baseline's test or path, or its path in other words."""
    return (
        text in _test_id(stored) or text in shown_path(stored.path) or is_same_file(stored.path, Path(text))
    )


def _test_id(stored: StoredBaseline) -> str:
    """Return the id of a baseline's test, as far as the file's name tells it."""
    file = stored.folder / f"{stored.path.parent.name}.py"
    return f"{shown_path(file)}::{stored.path.name.removesuffix('.json')}"


def _test_history(
    repository: Repository, stored: StoredBaseline, run: Run, options: argparse.Namespace
) -> TestHistory:
    """Return the history of one test's baseline, scored under today's golden set. Raises CommandError."""
    notes: list[str] = []
    golden, judged_by = _golden_set(stored, run, options.metric, notes)
    thresholds = [threshold.metric for threshold in golden.thresholds if threshold.tag is None]
    wanted = scorable_metrics(options.metrics or [*USUAL_METRICS, *thresholds], golden)
    beyond = metrics_beyond(wanted, run.depth)
    if beyond:
        notes.append(f"Left out, as the baseline holds {run.depth} results a query: {listed(beyond)}.")
    metrics = [metric for metric in wanted if metric not in beyond]
    if not metrics:
        raise CommandError(
            f"{shown_path(stored.path)}: is too shallow for {listed(beyond)}. Name other --metrics."
        )
    if repository.is_shallow:
        notes.append(
            "This clone is shallow: what was committed before is not in it. `git fetch --unshallow` fetches it."
        )
    history = read_history(
        repository,
        repository.path_of(stored.path.absolute()),
        run,
        golden,
        metrics,
        since=options.since,
    )
    return TestHistory(
        test=_test_id(stored),
        path=shown_path(stored.path),
        golden_set=judged_by,
        metrics=[metric.name for metric in metrics],
        leading=_leading(metrics, options.metrics, thresholds).name,
        depth=run.depth,
        points=history.points,
        summary=history.summary,
        since=history.since,
        notes=notes,
    )


def _golden_set(
    stored: StoredBaseline, run: Run, custom_metrics: Sequence[str], notes: list[str]
) -> tuple[GoldenSet, str]:
    """Return the golden set to score by, with how to call it: the file as it is today, else the judgments stored last."""
    file = stored.golden_file(run)
    as_stored = "the judgments of the newest version"
    if file is None:
        return golden_set_as_stored(run, as_stored), as_stored
    shown = shown_path(file)
    try:
        return GoldenSet.load(file, custom_metrics=custom_metrics, shown=shown), f"{shown} as it is today"
    except GoldenSetError as error:
        notes.append(
            f"The golden set cannot be read, so all is scored under {as_stored}. {error.problems[0]}"
        )
        return golden_set_as_stored(run, as_stored), as_stored


def _leading(metrics: Sequence[Metric], asked: Sequence[Metric] | None, gated: Sequence[Metric]) -> Metric:
    """Return the metric that the table of versions shows: the usual one of those asked for, of those with a threshold, or of all."""
    named = [metric for metric in asked or gated if metric in metrics]
    return usual_metric(named) or usual_metric(metrics) or metrics[0]


def _json_lines(histories: Sequence[TestHistory]) -> list[str]:
    """Return one JSON object, a version a line."""
    tests = []
    for history in histories:
        data = asdict(history)
        points = [
            json_line({**point, "lowered": own.lowered})
            for point, own in zip(data.pop("points"), history.points, strict=True)
        ]
        head = [f"{json_line(key)}: {json_line(value)},\n" for key, value in data.items()]
        tests.append("{\n" + "".join(head) + '"points": [\n' + ",\n".join(points) + "\n]\n}")
    return [
        "{",
        f'"format": {json_line(FORMAT)},',
        f'"version": {VERSION},',
        '"tests": [',
        ",\n".join(tests),
        "]",
        "}",
    ]


def _write_html(path: str, histories: Sequence[TestHistory]) -> None:
    from pytest_irmetrics.reports import history_html  # noqa: PLC0415 - needs Jinja2, and is seldom asked for

    try:
        text = history_html.render(histories)
    except ImportError as error:
        raise CommandError(f"--html: {error}") from None
    write_file(path, text.encode("utf-8"))
