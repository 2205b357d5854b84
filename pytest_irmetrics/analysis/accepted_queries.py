"""Accept single queries: put their answers in the place of those in a stored baseline, and say what was accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.notes import losses
from pytest_irmetrics.base.numbers import change_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.comparison.stored_runs import with_answers
from pytest_irmetrics.reports.item_report import Note
from pytest_irmetrics.run import RunError

if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Run

_MAX_NAMED = 5
"""Queries that the sentence on what was accepted names."""


class AcceptedQueries(NamedTuple):
    """A baseline in which some queries have today's answers, and what to say of that."""

    run: Run
    notes: tuple[Note, ...]
    """Which queries are accepted, with their scores before and now, how many are not, and which means that lowers."""


def require_same_depth_and_repeats(
    stored: Run, depth: int, repeat: int, file: str, update_command: str
) -> None:
    """Raise RunError where a run has another depth, or another number of repeats, than the baseline that it goes into."""
    again = f"or store all queries anew: {update_command}"
    if stored.depth is not None and stored.depth != depth:
        raise RunError(
            f"{file}: holds {plural(stored.depth, 'result')} a query, and this run asks for {depth}, so that single answers "
            f"cannot be replaced. Set ir_depth = {stored.depth}, {again}"
        )
    repeats = max((len(answer.rankings) for answer in stored.answers.values()), default=repeat)
    if repeats != repeat:
        raise RunError(
            f"{file}: holds {plural(repeats, 'answer')} to a query, and this run asks {plural(repeat, 'time')}, so that single "
            f"answers cannot be replaced. Ask as often: --ir-repeat={repeats}, {again}"
        )


def accept_queries(comparison: Comparison, asked: Run, metric: Metric | None) -> AcceptedQueries:
    """Replace the answers of a comparison's baseline by those of `asked`, with what it says of texts and judgments.

    All other queries stay as they were stored, and so do depth and relevance level; the means are computed anew.
    `metric` is the one whose scores the text has.
    """
    stored = comparison.baseline.run
    run = with_answers(stored, asked.answers)
    named = [_with_scores(comparison, query_id, metric) for query_id in asked.answers]
    others = len(stored) - sum(query_id in stored for query_id in asked.answers)
    text = f"This accepts {listed(named, _MAX_NAMED)}"
    if others:
        verb = "is" if others == 1 else "are"
        text += f"; {plural(others, 'other query', 'other queries')} {verb} as stored before"
    means = [(name, stored.means.get(name), mean) for name, mean in run.means.items()]
    notes = [Note("normal", f"{text}."), *losses(means)]
    return AcceptedQueries(run, tuple(notes))


def _with_scores(comparison: Comparison, query_id: str, metric: Metric | None) -> str:
    """Name one accepted query with its score before and now, where it has any to compare with."""
    if metric is None or not comparison.has(query_id):
        return query_id
    scores = [side.score(metric, query_id) for side in (comparison.baseline, comparison.now)]
    return query_id if None in scores else f"{query_id} ({metric.name} {change_text(*scores)})"
