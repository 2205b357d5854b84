"""Golden sets and runs whose scores are known beforehand, and the verdicts on them."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import Query
from pytest_irmetrics.thresholds import Gates, build, resolve

HIT, SECOND, MISS = ["d"], ["x", "d"], ["x"]
"""Rankings with a reciprocal rank of 1, 1/2 and 0."""


def golden_set(n, weight=lambda _: 1.0):
    return GoldenSet([Query(f"q{i:04}", f"text {i}", {"d": 1}, weight=weight(i)) for i in range(n)])


def evaluated(golden, answer, *metrics):
    """Evaluate a run that answers query number n with `answer(n)`."""
    run = Run({query_id: answer(int(query_id[1:])) for query_id in golden.queries})
    return evaluate_run(golden, run, metrics or ["mrr"])


def gates(metric="mrr", tag=None, **words):
    return resolve([[build(metric, words, tag=tag)]])


def judged(now, before, gates=Gates(), **options):  # noqa: B008 - immutable
    """Return the verdicts of a run that is compared with a baseline."""
    return decide(now, gates, comparison=compare(now, before), against="the baseline", **options)


def verdict(now, before, **words):
    """Return the only verdict on a run with one metric."""
    (metric,) = now.metrics
    (decided,) = judged(now, before, gates(metric.name, **words))
    return decided
