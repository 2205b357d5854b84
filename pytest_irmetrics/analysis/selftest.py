"""The self-test (``--ir-selftest``): degrade a stored run, see which degradations fail a gate, advise on the others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.degradations import DegradedRankings, degradations
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, EvaluationError, read_metrics
from pytest_irmetrics.gates import decide
from pytest_irmetrics.metrics import parse_metric
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Degradation
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.gates import Verdict


class Selftest(NamedTuple):
    """The result of the self-test of one test item."""

    intact: Evaluation
    """The stored run, over the queries whose id, text and params are as they were stored."""
    gates: Gates
    """The gates but those on latency, which a stored run does not have, and ``min_gain``, which no run has over itself."""
    verdicts: tuple[Verdict, ...]
    """The verdicts on the intact run; a gate that fails here catches nothing."""
    comparison: Comparison
    """The stored run compared with itself, which tells which queries pair."""
    degradations: tuple[Degradation, ...]
    advice: tuple[str, ...]
    """Which gates would catch the degradations that none caught."""


class _Trial(NamedTuple):
    """A degradation that was tried: its rankings, its report, and the degraded run compared with the intact one."""

    degraded: DegradedRankings
    report: Degradation
    comparison: Comparison


def run_selftest(baseline: Evaluation, gates: Gates, *, against: str, update: str) -> Selftest:
    """Degrade a stored run in every way that applies to it, and decide the gates each time.

    ``baseline`` is the stored run, evaluated under today's golden set. ``against`` (what messages call it) and
    ``update`` (the command that stores a new one) are for the verdicts on the intact run. A degradation that lowers
    no score is left out. Raises EvaluationError where a user's own metric raises on a degraded ranking.
    """
    gates = Gates(gate for gate in gates if gate.metric.kind != "latency" and gate.word != "min_gain")
    itself = Comparison(baseline, baseline)
    intact = itself.now
    verdicts = decide(intact, gates, comparison=itself, against=against, update_command=update)
    failing = {_key(verdict) for verdict in verdicts if verdict.failed}
    trials = []
    for degraded in degradations(intact):
        try:
            trial = _try(degraded, intact, gates, failing)
        except EvaluationError as error:
            raise EvaluationError(f"--ir-selftest, {degraded.name}: {error}") from error
        if trial is not None:
            trials.append(trial)
    missed = [trial for trial in trials if not trial.report.caught_by]
    return Selftest(
        intact,
        gates,
        verdicts,
        itself,
        tuple(trial.report for trial in trials),
        tuple(_advice(missed, gates)),
    )


def _try(
    degraded: DegradedRankings, intact: Evaluation, gates: Gates, failing: set[tuple[object, ...]]
) -> _Trial | None:
    """Compare a degraded run with the intact one and decide the gates; None where no score is lower.

    ``failing`` are the keys of the gates that the intact run fails already.
    """
    answers = dict(intact.run.answers)
    for query_id, rankings in degraded.rankings.items():
        answers[query_id] = replace(answers[query_id], rankings=tuple(map(tuple, rankings)))
    run = Run.of(answers, depth=intact.run.depth)
    now = replace(intact, retrieved=replace(intact.retrieved, run=run))
    comparison = Comparison(now, intact)
    verdicts = decide(now, gates, comparison=comparison, against=OWN_BASELINE)
    caught = [verdict for verdict in verdicts if verdict.failed and _key(verdict) not in failing]
    deltas = _deltas(comparison)
    if not caught and degraded.lowers_scores:
        fell = any(delta < -TOLERANCE for delta in deltas.values())
        if not fell and all(delta >= -TOLERANCE for delta in _full_depth_deltas(comparison).values()):
            return None
    report = Degradation(
        name=degraded.name,
        what=degraded.what,
        queries=len(degraded.rankings),
        deltas=deltas,
        gated=[metric.name for metric, tag in gates.slices if tag is None and metric.name in deltas],
        caught_by=_labels(caught),
        tag=degraded.tag,
    )
    return _Trial(degraded, report, comparison)


def _key(verdict: Verdict) -> tuple[object, ...]:
    """Return what identifies a gate in two runs of the same gates."""
    return (
        verdict.word,
        verdict.metric,
        verdict.tag,
        verdict.single,
        verdict.queries if verdict.single else (),
    )


def _deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far each mean over the whole golden set moved."""
    metrics = [metric for metric in comparison.now.metrics if metric.kind != "latency"]
    changes = {metric.name: comparison.change(metric) for metric in metrics}
    return {name: change.delta for name, change in changes.items() if change.n}


def _full_depth_deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far recall and NDCG moved over the rankings in full depth, whatever metrics are reported."""
    depth = comparison.depth
    metrics = read_metrics([name if depth is None else f"{name}@{depth}" for name in ("recall", "ndcg")])
    now, baseline = comparison.now.narrowed(metrics=metrics), comparison.baseline.narrowed(metrics=metrics)
    measured = Comparison(now, baseline)
    return {metric.name: measured.change(metric).delta for metric in metrics}


def _labels(verdicts: Sequence[Verdict]) -> list[str]:
    """Name gates as ``metric word [tag]``; of the gates on single queries only say how many failed."""
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


def _advice(missed: Sequence[_Trial], gates: Gates) -> Iterator[str]:
    """Say which gates would catch the degradations that were missed: once where several get the same advice."""
    alike: dict[tuple[str, str], list[DegradedRankings]] = {}
    for degraded, report, comparison in missed:
        deltas = {**report.deltas, **_full_depth_deltas(comparison)}
        fell = {}
        for name in dict.fromkeys((*report.gated, *deltas)):
            metric = parse_metric(name, custom=comparison.now.custom)
            narrowed = "significance" in gates.of(metric, degraded.tag)
            if metric.kind == "ranking" and deltas[name] < -degraded.must_fall - TOLERANCE and not narrowed:
                fell[name] = round(deltas[name], 9)
        if fell or not degraded.lowers_scores:
            lowest = min(fell, key=fell.__getitem__, default="")
            alike.setdefault((degraded.advice, lowest), []).append(degraded)
    for (advice, lowest), found in alike.items():
        tag = json.dumps(found[0].tag, ensure_ascii=False)
        yield advice.format(metric=lowest, tag=tag, names=listed([one.name for one in found], 5))


def on_selftest(comparison: Comparison, against: str) -> Iterator[str]:
    """Say which run was degraded, and which queries were left out of it."""
    yield f"The retriever was not asked; the scores are those of {against} as it is stored."
    unpaired = (*comparison.new, *comparison.reworded, *comparison.passages_edited)
    if unpaired:
        yield (
            f"{plural(len(unpaired), 'query', 'queries')} left out, because {against} does not have them in these words: "
            f"{listed(unpaired)}."
        )
