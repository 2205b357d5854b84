"""The action ``baselines text``: a baseline as text that Git's ``diff`` compares line by line (a ``textconv`` program)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, read_regular
from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.cli.command_line import OK, CommandError, add_command, print_escaped
from pytest_irmetrics.cli.inputs import metrics_beyond, scorable_metrics
from pytest_irmetrics.cli.standard_streams import readable_file
from pytest_irmetrics.comparison.stored_queries import golden_set_as_stored
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.reports.run_text import run_lines
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import decode

if TYPE_CHECKING:
    import argparse

    from pytest_irmetrics.cli.command_line import Commands
    from pytest_irmetrics.metrics import Metric


def add(actions: Commands) -> None:
    """Add the action to the command ``baselines``."""
    parser = add_command(
        actions,
        "text",
        _text,
        short="print a baseline as text, so that git diff shows queries and documents",
        description=(
            "Print a baseline as text: a line for each fact of a query and for each of its results, with the scores under "
            "the judgments that were stored. Git runs it on both sides of a diff once it is told to. What is no baseline, or a "
            "broken one, is printed as it is."
        ),
        examples="""
echo 'ir_baselines/**/*.json diff=irmetrics -merge' >> .gitattributes
git config diff.irmetrics.textconv 'pytest-irmetrics baselines text'
git config diff.irmetrics.xfuncname '^query .*$'
""",
    )
    parser.add_argument(
        "file", metavar="FILE", help="a baseline; whatever its name, it is read as JSON; - is standard input"
    )


def _text(options: argparse.Namespace) -> int:
    where = printable(options.file)
    try:
        with readable_file(options.file) as path:
            data = read_regular(path, MAX_RUN_BYTES)
    except OSError as error:
        raise CommandError(f"{where}: cannot be read: {error.strerror or error}. Give a baseline.") from None
    try:
        run = Run.loads(decode(data, where), options.file)
    except RunError as error:
        # A diff goes on with what is there, and Git would end it where this fails.
        print_escaped(f"not read: {error}")
        for line in data.decode("utf-8", "replace").splitlines():
            print_escaped(line)
        return OK
    for line in run_lines(run, _scores(run)):
        print_escaped(line)
    return OK


def _scores(run: Run) -> dict[str, dict[str, float]]:
    """Return metric → query id → score, for the metrics whose means the run tells, as it was judged when it was stored."""
    golden = golden_set_as_stored(run, "the baseline")
    metrics = scorable_metrics(filter(None, map(_read_metric, run.means)), golden)
    metrics = tuple(metric for metric in metrics if metric not in metrics_beyond(metrics, run.depth))
    evaluation = evaluate_run(golden, run, metrics, depth=run.depth)
    return {
        metric.name: {query.id: score for query, score in evaluation.scored(metric)} for metric in metrics
    }


def _read_metric(name: str) -> Metric | None:
    """Return a metric by name; None for one of the user's own, which cannot be computed here."""
    try:
        return parse_metric(name)
    except MetricError:  # one of the user's own
        return None
