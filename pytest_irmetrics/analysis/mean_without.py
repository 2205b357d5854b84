"""Compute and word what a mean would be with queries that left a golden set, and without queries that joined it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import joined, listed
from pytest_irmetrics.comparison.stored_queries import golden_set_as_stored
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.verdict import at_least
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gates

Scored = list[tuple[Query, float]]

_TELLING = 0.01
"""How far queries have to move a mean for that to be said: as far as it may fall unless told otherwise."""


def scores_when_stored(comparison: Comparison, ids: Collection[str], metric: Metric) -> Scored:
    """Return queries of the stored run with the scores that they had, by the judgments that it was stored with."""
    run, now = comparison.baseline.run, comparison.full
    golden = golden_set_as_stored(run, now.golden.name, ids)
    retrieved = replace(now.retrieved, run=run, errors={}, latencies={}, stopped="")
    return Evaluation(golden, retrieved, (metric,), run.depth or now.depth, now.custom).scored(metric)


def mean_with(comparison: Comparison, others: Iterable[tuple[Query, float]], metric: Metric) -> float | None:
    """Return today's mean over all queries and these; None where there is none."""
    return mean_of([*comparison.full.scored(metric), *others])


def mean_without(comparison: Comparison, ids: Collection[str], metric: Metric) -> float | None:
    """Return today's mean over all queries but these; None where no other is left."""
    return mean_of([pair for pair in comparison.full.scored(metric) if pair[0].id not in ids])


def mean_of(scored: Scored) -> float | None:
    """Return the weighted mean of the scores of some queries; None where there is no query."""
    return mean([score for _, score in scored], [query.weight for query, _ in scored]) if scored else None


def on_mean_with(comparison: Comparison, scored: Scored, metric: Metric, scores: str) -> str:
    """Say what a mean would be with queries that left it; empty where it would be nearly the same."""
    with_them, now = mean_with(comparison, scored, metric), mean_of(comparison.full.scored(metric))
    if not scored or with_them is None or now is None or abs(with_them - now) < _TELLING - TOLERANCE:
        return ""
    them = "it" if len(scored) == 1 else "them"
    return f" With {them}, at {scores}, {metric.name} would be {score_text(with_them, now)}, not {score_text(now, with_them)}."


def on_mean_without(comparison: Comparison, ids: Sequence[str], gates: Gates) -> str:
    """Say what the gated means are without new queries, and which `min` they then fail; empty where nearly the same."""
    found = []
    for metric, tag in gates.slices:
        if tag is not None or metric.kind not in ("ranking", "custom"):
            continue
        without, now = mean_without(comparison, ids, metric), mean_of(comparison.full.scored(metric))
        if without is None or now is None:
            continue
        gate = gates.of(metric).get("min")
        lifted = (
            gate is not None and at_least(now, gate.limit.value) and not at_least(without, gate.limit.value)
        )
        if lifted or abs(without - now) >= _TELLING - TOLERANCE:
            text = f"{metric.name} is {score_text(without, now)}, not {score_text(now, without)}"
            found.append(f"{text}, below its `min` {gate.limit}" if gate is not None and lifted else text)
    return f" Without {'it' if len(ids) == 1 else 'them'} {joined(found)}." if found else ""


def named_with_scores(scored: Scored, ids: Sequence[str], metric: Metric) -> str:
    """List queries, each with the score that it had."""
    known = {query.id: score for query, score in scored}
    return listed(ids, word=lambda i: f"{i} ({metric.name} {score_text(known[i])})" if i in known else i)
