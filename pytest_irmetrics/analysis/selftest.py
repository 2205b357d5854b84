"""Degrades a stored run and tells which of the degradations the limits would catch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.degradations import Plan, plans
from pytest_irmetrics.analysis.selftest_advice import advice
from pytest_irmetrics.analysis.selftest_judged import Judged, whole_deltas
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, EvaluationError
from pytest_irmetrics.gates import decide
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Degradation
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.gates import Verdict


class Selftest(NamedTuple):
    """What became of a stored run's degradations."""

    intact: Evaluation
    """The run as it is stored, over the queries that are still asked in the same words."""
    gates: Gates
    """The gates without those on latency, which a stored run does not have."""
    verdicts: tuple[Verdict, ...]
    """How the intact run does; what fails here catches nothing."""
    comparison: Comparison
    """The run against itself, which tells what pairs."""
    degradations: tuple[Degradation, ...]
    advice: tuple[str, ...]


def run_selftest(baseline: Evaluation, gates: Gates, *, against: str, update: str) -> Selftest:
    """Degrade a stored run in every way that applies to it, and decide each time as a gating run would.

    ``baseline`` is the stored run under today's golden set; ``against`` and ``update`` word the verdicts on the
    intact run. A degradation that does this run no harm is left out. Raises EvaluationError where a metric of
    the user's own cannot cope with a degraded ranking.
    """
    gates = Gates(gate for gate in gates if gate.metric.kind != "latency")
    itself = Comparison(baseline, baseline)
    intact = itself.now
    verdicts = decide(intact, gates, comparison=itself, against=against, update_command=update)
    failing = {_key(verdict) for verdict in verdicts if verdict.failed}
    judged = []
    for plan in plans(intact):
        try:
            result = _judge(plan, intact, gates, failing)
        except EvaluationError as error:
            raise EvaluationError(f"--ir-selftest, {plan.name}: {error}") from error
        if result is not None:
            judged.append(result)
    return Selftest(
        intact,
        gates,
        verdicts,
        itself,
        tuple(result.degradation for result in judged),
        tuple(advice([result for result in judged if not result.degradation.caught_by], gates)),
    )


def _judge(plan: Plan, intact: Evaluation, gates: Gates, failing: set[tuple[object, ...]]) -> Judged | None:
    """Hold a degraded run against the intact one; None where nothing is lost by it."""
    answers = dict(intact.run.answers)
    for query_id, rankings in plan.rankings.items():
        answers[query_id] = replace(answers[query_id], rankings=tuple(map(tuple, rankings)))
    run = Run.of(answers, depth=intact.run.depth)
    degraded = replace(intact, retrieved=replace(intact.retrieved, run=run))
    comparison = Comparison(degraded, intact)
    verdicts = decide(degraded, gates, comparison=comparison, against=OWN_BASELINE)
    caught = [verdict for verdict in verdicts if verdict.failed and _key(verdict) not in failing]
    deltas = _deltas(comparison)
    if not caught and plan.kind != "no_answer":
        fell = any(delta < -TOLERANCE for delta in deltas.values())
        if not fell and all(delta >= -TOLERANCE for delta in whole_deltas(comparison).values()):
            return None
    degradation = Degradation(
        name=plan.name,
        what=plan.what,
        queries=len(plan.rankings),
        deltas=deltas,
        gated=[metric.name for metric, tag in gates.slices if tag is None and metric.name in deltas],
        caught_by=_labels(caught),
        tag=plan.tag,
    )
    return Judged(plan, degradation, comparison)


def _key(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.word,
        verdict.metric,
        verdict.tag,
        verdict.single,
        verdict.queries if verdict.single else (),
    )


def _deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far each mean over the whole set moved."""
    metrics = [metric for metric in comparison.now.metrics if metric.kind != "latency"]
    changes = {metric.name: comparison.change(metric) for metric in metrics}
    return {name: change.delta for name, change in changes.items() if change.n}


def _labels(verdicts: Sequence[Verdict]) -> list[str]:
    """Name gates as ``metric word [tag]``; queries' own thresholds are counted."""
    labels: dict[str, None] = {}
    own: dict[str, int] = {}
    for verdict in verdicts:
        label = verdict.word
        if verdict.metric is not None and verdict.metric.name != verdict.word:
            label = f"{verdict.metric.name} {verdict.word}"
        if verdict.single:
            own[label] = own.get(label, 0) + 1
        else:
            labels[label if verdict.tag is None else f"{label} [{verdict.tag}]"] = None
    counted = [
        f"{label} of {plural(count, 'single query', 'single queries')}" for label, count in own.items()
    ]
    return [*labels, *counted]
