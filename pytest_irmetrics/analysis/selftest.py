"""The self-test (``--ir-selftest``): degrade a stored run, see which degradations fail a gate, advise on the others."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.degradations import DegradedRankings, degradations
from pytest_irmetrics.analysis.harmless_changes import harmless_changes
from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, EvaluationError, read_metrics
from pytest_irmetrics.gates import decide
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Degradation
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.thresholds import Gate


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
    if not caught and degraded.kind != "no_answer":
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
    """Say which gates would catch the degradations that were missed, where that is clear."""
    yield from _on_broken([trial for trial in missed if trial.degraded.kind == "broken"], gates)
    yield from _on_slices([trial for trial in missed if trial.degraded.kind == "slice"], gates)
    yield from _on_rankings([trial for trial in missed if trial.degraded.kind == "rankings"], gates)
    if any(trial.degraded.kind == "no_answer" for trial in missed):
        yield 'Answers where none is right: ir_threshold("no_answer", min=1.0), or no threshold on it at all.'


def _threshold_mark(metric: str, words: str) -> str:
    """Return a mark as a user writes it."""
    return f'ir_threshold("{metric}", {words})'


def _on_broken(missed: Sequence[_Trial], gates: Gates) -> Iterator[str]:
    """Advise a gate on max_lost, which counts queries, for queries that came back empty."""
    if not missed:
        return
    fewest = missed[0]
    lost = {
        name: len(fewest.comparison.change(name).lost)
        for name in _gated_first(fewest, gates)
        if fewest.comparison.now.metric(name).kind == "ranking"
    }
    metric = max(lost, key=lambda name: lost[name], default=None)
    if metric is None or not lost[metric]:
        return
    allowed = lost[metric] - 1
    when = (
        f"as soon as the {metric} of one query falls to 0"
        if not allowed
        else f"when the {metric} of more than {plural(allowed, 'query falls', 'queries fall')} to 0"
    )
    yield (
        f"A mean hides a few broken queries: {_threshold_mark(metric, f'max_lost={allowed}')} fails {when}."
        f"{_false_alarms(fewest.comparison, metric, allowed, gates)}"
    )


_FALSE_ALARMS_UNKNOWN = " How many harmless changes it would fail too is not known"


def _false_alarms(comparison: Comparison, metric: str, max_lost: int, gates: Gates) -> str:
    """Return the sentence on how many harmless changes a ``max_lost`` would fail too, or on why that is not known."""
    baseline = comparison.baseline
    max_drop = _whole_set_max_drops(gates).get(metric)
    drop = 0.01 if max_drop is None else max_drop.limit.absolute(comparison.change(metric).baseline)
    try:
        changes = harmless_changes(baseline, baseline.metric(metric), drop)
    except EvaluationError:  # of a metric of the user's own
        return f"{_FALSE_ALARMS_UNKNOWN}: {metric} cannot score a shuffled ranking."
    if changes is None:
        return f"{_FALSE_ALARMS_UNKNOWN}: fewer than five small shuffles of these rankings keep the mean within {drop:.4g}."
    return (
        f" It would also fail {changes.failing(max_lost)} of {len(changes.lost)} simulated changes that harm nothing:"
        f" rankings shuffled a little, {100 * changes.exchanged:.0f} % of results exchanged, the mean moved by at most {drop:.4g}."
    )


def _on_slices(missed: Sequence[_Trial], gates: Gates) -> Iterator[str]:
    """Advise gates on the tags whose loss was missed."""
    found: list[tuple[str, str]] = []
    for trial in missed:
        tag = trial.degraded.tag
        if any(tag == other for other, _ in found):
            continue
        for name in _gated_first(trial, gates):
            change = trial.comparison.change(name, tag)
            if tag is not None and change.n and -change.delta > abs(change.baseline or 0.0) / 10 + TOLERANCE:
                words = f'max_drop="10%", tag={json.dumps(tag, ensure_ascii=False)}'
                found.append((tag, _threshold_mark(name, words)))
                break
    if not found:
        return
    mark = found[0][1]
    if len(found) == 1:
        yield f"A mean hides what a slice loses: give {found[0][0]} a threshold of its own, {mark}."
        return
    named = listed([tag for tag, _ in found], 5)
    yield f"A mean hides what a slice loses: give {named} thresholds of their own, such as {mark}."


def _on_rankings(missed: Sequence[_Trial], gates: Gates) -> Iterator[str]:
    """Advise a metric that falls where the gated ones do not, or say which limit allows which fall."""
    unseen: dict[str, dict[str, float]] = {}
    within: dict[str, list[str]] = {}
    insignificant: dict[str, list[str]] = {}
    max_drops = _whole_set_max_drops(gates)
    for trial in missed:
        name = trial.degraded.name
        deltas = {**_full_depth_deltas(trial.comparison), **trial.report.deltas}
        gated = [metric for metric in deltas if metric in max_drops]
        fell = [metric for metric in gated if deltas[metric] < -TOLERANCE]
        if fell:
            metric = min(fell, key=lambda metric: deltas[metric])
            change = trial.comparison.change(metric)
            allowed = max_drops[metric].limit.absolute(change.baseline)
            reason = within if -change.delta <= allowed + TOLERANCE else insignificant
            reason.setdefault(metric, []).append(f"{name} ({score_text(-change.delta, allowed)})")
            continue
        unseen[name] = {metric: -delta for metric, delta in deltas.items() if delta < -0.01 - TOLERANCE}
    for metric, names in _fewest_metrics(unseen).items():
        yield f"No max_drop sees it ({', '.join(names)}): {_threshold_mark(metric, 'max_drop=0.01')} would."
    for metric, names in within.items():
        yield f"The max_drop of {metric} allows {', '.join(names)}; only a smaller one would catch it."
    for metric, names in insignificant.items():
        yield f"The significance of {metric} lets pass what is beyond its max_drop: {', '.join(names)}."


def _fewest_metrics(unseen: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Cover all degradations with few metrics: choose, one after the other, the metric that falls in most of the rest.

    ``unseen`` maps a degradation to how far each metric falls. Returns each chosen metric with its degradations.
    """
    left = {name: drops for name, drops in unseen.items() if drops}
    chosen: dict[str, list[str]] = {}
    while left:
        metrics = dict.fromkeys(metric for drops in left.values() for metric in drops)
        seen = {metric: [name for name, drops in left.items() if metric in drops] for metric in metrics}
        total = {metric: math.fsum(drops.get(metric, 0.0) for drops in left.values()) for metric in metrics}
        best = max(metrics, key=lambda metric: (len(seen[metric]), total[metric]))
        chosen[best] = seen[best]
        left = {name: drops for name, drops in left.items() if best not in drops}
    return chosen


def _gated_first(trial: _Trial, gates: Gates) -> list[str]:
    """Return the metrics with a mean over the whole set: those with a max_drop, other gated ones, the rest."""
    names = dict.fromkeys([*trial.report.gated, *trial.report.deltas])
    max_drops = _whole_set_max_drops(gates)
    return sorted(names, key=lambda name: name not in max_drops)


def _whole_set_max_drops(gates: Gates) -> dict[str, Gate]:
    """Map the names of the metrics that have a ``max_drop`` over all queries to that gate."""
    return {gate.metric.name: gate for gate in gates.with_word("max_drop") if gate.tag is None}


def on_selftest(comparison: Comparison, against: str) -> Iterator[str]:
    """Say which run was degraded, and which queries were left out of it."""
    yield f"The retriever was not asked; the scores are those of {against} as it is stored."
    unpaired = (*comparison.new, *comparison.reworded, *comparison.passages_edited)
    if unpaired:
        yield (
            f"{plural(len(unpaired), 'query', 'queries')} left out, because {against} does not have them in these words: "
            f"{listed(unpaired)}."
        )
