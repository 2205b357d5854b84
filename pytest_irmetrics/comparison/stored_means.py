"""Hold the means that a stored run's header tells against the rankings, judgments and weights that it holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison.stored_queries import stored_level, stored_query
from pytest_irmetrics.evaluation import EvaluationError, evaluate_run, require_depth
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.metrics import Metric, MetricError, parse_metric
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.comparison.comparison import Comparison
    from pytest_irmetrics.run.answer import Answers


class WrongMean(NamedTuple):
    """A mean that a stored run tells, and that its rankings do not give."""

    metric: str
    told: float
    found: float | None
    """None where it holds no query to average over."""


def wrong_means(comparison: Comparison) -> list[WrongMean]:
    """Return the means of the stored run's header that its own rankings do not give: it was edited.

    Empty where the run tells no means. Metrics of the user's own, and those that are none any more, are left out: they
    may be others than when it was stored.
    """
    run, queries = comparison.baseline.run, comparison.full.golden.queries
    told = {
        metric: mean
        for name, mean in run.means.items()
        if (metric := _read_metric(name, run.depth)) is not None
    }
    if not told:
        return []
    unlabelled = [i for i, answer in run.answers.items() if answer.judgments is None]
    if unlabelled:  # who took these out may have edited the rankings too
        if not all(i in queries for i in unlabelled):
            return []
        labelled = {i: replace(run.answers[i], judgments=queries[i].judgments) for i in unlabelled}
        run = Run.of({**run.answers, **labelled}, run.depth, relevance_level=comparison.stored_level)
    means = _means_of(run, told)
    return [
        WrongMean(metric.name, mean, means[metric])
        for metric, mean in told.items()
        if not _is(mean, means[metric])
    ]


def _read_metric(name: str, depth: int | None) -> Metric | None:
    try:
        metric = parse_metric(name)
        if depth is not None:
            require_depth([metric], depth)
    except (MetricError, EvaluationError):
        return None
    return None if metric.kind == "latency" else metric


def _is(told: float, found: float | None) -> bool:
    return found is not None and abs(told - found) <= TOLERANCE


def means_as_stored(run: Run) -> dict[str, float]:
    """Compute anew the means that a stored run's header tells, for the queries that it holds; only those that can be."""
    metrics = [metric for name in run.means if (metric := _read_metric(name, run.depth)) is not None]
    if any(answer.judgments is None for answer in run.answers.values()):
        return {}
    found = _means_of(run, metrics)
    return {metric.name: mean for metric, mean in found.items() if mean is not None}


def with_answers(run: Run, answers: Answers) -> Run:
    """Return a stored run with some answers exchanged or added, and its means computed anew."""
    header = run.depth, run.golden_set, run.relevance_level
    changed = Run.of({**run.answers, **answers}, *header, run.means)
    return Run.of(changed.answers, *header, means_as_stored(changed), run.limits)


def _means_of(run: Run, metrics: Iterable[Metric]) -> dict[Metric, float | None]:
    """Score a stored run by what it was judged with."""
    queries = [
        replace(stored_query(query_id, answer), passages=()) for query_id, answer in run.answers.items()
    ]
    # As it was scored then: passages have the names that the stored judgments give them.
    plain = Run.of({i: Answer(answer.rankings) for i, answer in run.answers.items()}, run.depth)
    golden = GoldenSet(queries, relevance_level=stored_level(run))
    metrics = tuple(metrics)
    evaluation = evaluate_run(golden, plain, metrics, depth=run.depth)
    return {metric: evaluation.mean_or_none(metric) for metric in metrics}
