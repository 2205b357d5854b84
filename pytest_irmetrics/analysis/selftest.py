"""The self-test (``--ir-selftest``): degrade a stored run, see which degradations fail a gate, advise on the others."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.degradations import degradations
from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import EvaluationError, read_metrics
from pytest_irmetrics.gates.decide import decide
from pytest_irmetrics.gates.verdict import Against, Case
from pytest_irmetrics.metrics import parse_metric
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Degradation, Note
from pytest_irmetrics.run import Header, Run
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.analysis.degradations import DegradedRankings
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import Verdict


def run_selftest(baseline: Evaluation, gates: Gates, against: Against) -> ItemResult:
    """Degrade a stored run in every way that applies to it, and decide the gates each time.

    ``baseline`` is the stored run, evaluated under today's golden set, and ``against`` how messages on the intact run call
    it. Returns the result of the intact run, over the queries whose id, text and params are as they were stored; without
    the gates on latency, which a stored run does not have, and ``min_gain``, which no run has over itself. A gate that
    fails there catches nothing, and a degradation that lowers no score is left out. Raises EvaluationError where a user's
    own metric raises on a degraded ranking.
    """
    gates = Gates(gate for gate in gates if gate.metric.kind != "latency" and gate.word != "min_gain")
    itself = Comparison(baseline, baseline)
    verdicts = decide(Case(itself.now, gates, itself, against))
    failing = {verdict.key for verdict in verdicts if verdict.failed}
    reported = [metric for metric in itself.now.metrics if metric.kind != "latency"]
    # Recall and NDCG show what is lost, whatever metrics are reported.
    cut = "" if itself.depth is None else f"@{itself.depth}"
    metrics = dict.fromkeys([*reported, *read_metrics([f"recall{cut}", f"ndcg{cut}"])])
    tried: list[Degradation] = []
    advice: dict[tuple[str, str], str] = {}
    """What to advise, once for each kind of degradation and metric."""
    for degraded in degradations(itself.now):
        try:
            comparison = Comparison(_degrade(itself.now, degraded), itself.now)
            decided = decide(Case(comparison.full, gates, comparison, Against(OWN_BASELINE)))
            changes = {metric: comparison.change(metric) for metric in metrics}
        except EvaluationError as error:
            raise EvaluationError(f"--ir-selftest, {degraded.name}: {error}") from error
        caught = [verdict for verdict in decided if verdict.failed and verdict.key not in failing]
        moved = {metric.name: change.delta for metric, change in changes.items() if change.n}
        if degraded.lowers_scores and not caught and min(moved.values(), default=0.0) >= -TOLERANCE:
            continue
        deltas = {metric.name: moved[metric.name] for metric in reported if metric.name in moved}
        gated = [metric.name for metric, tag in gates.slices if tag is None and metric.name in deltas]
        named = _labels(caught)
        tried.append(
            Degradation(
                degraded.name, degraded.what, len(degraded.rankings), deltas, gated, named, degraded.tag
            )
        )
        ordered = {name: moved[name] for name in (*gated, *moved)}
        metric = None if caught else _fell_most(degraded, ordered, comparison, gates)
        if metric is not None:
            tag = json.dumps(degraded.tag, ensure_ascii=False)
            text = degraded.advice.format(name=degraded.name, metric=metric, tag=tag)
            advice.setdefault((degraded.advice, metric), text)
    fails = f"{against.name.capitalize()}, intact, fails its own gates; what fails here is not counted as catching anything."
    texts = [*([fails] if failing else []), *_on_the_run(itself, against.name), *advice.values()]
    notes = [Note("normal", text) for text in texts]
    return ItemResult(itself.now, gates, verdicts, against=against.name, notes=notes, degradations=tried)


def _degrade(intact: Evaluation, degraded: DegradedRankings) -> Evaluation:
    """Return the evaluation of a run with degraded rankings."""
    answers = dict(intact.run.answers)
    for query_id, rankings in degraded.rankings.items():
        answers[query_id] = replace(answers[query_id], rankings=tuple(map(tuple, rankings)))
    run = Run.of(answers, Header(intact.run.depth))
    return replace(intact, retrieved=replace(intact.retrieved, run=run))


def _fell_most(
    degraded: DegradedRankings, deltas: dict[str, float], comparison: Comparison, gates: Gates
) -> str | None:
    """Return the metric that an advice names, empty where it names none; None where it would be true of no metric."""
    if not degraded.lowers_scores:
        return ""
    fell = {}
    for name, delta in deltas.items():
        metric = parse_metric(name, custom=comparison.now.custom)
        narrowed = "significance" in gates.of(metric, degraded.tag)
        if metric.kind == "ranking" and delta < -degraded.must_fall - TOLERANCE and not narrowed:
            fell[name] = round(delta, 9)
    return min(fell, key=fell.__getitem__, default=None)


def _labels(verdicts: Sequence[Verdict]) -> list[str]:
    """Name gates as ``metric word [tag]``; of the gates on single queries only say how many failed."""
    labels: Counter[tuple[str, bool]] = Counter()
    for verdict in verdicts:
        named = verdict.metric is not None and verdict.metric.name != verdict.word
        label = f"{verdict.metric} {verdict.word}" if named else verdict.word
        tagged = label if verdict.tag is None else f"{label} [{verdict.tag}]"
        labels[label if verdict.single else tagged, verdict.single] += 1
    return [
        f"{label} of {plural(count, 'single query', 'single queries')}" if single else label
        for (label, single), count in labels.items()
    ]


def _on_the_run(comparison: Comparison, against: str) -> Iterator[str]:
    """Say which run was degraded, and which queries were left out of it."""
    yield f"The retriever was not asked; the scores are those of {against} as it is stored."
    unpaired = (*comparison.new, *comparison.reworded, *comparison.passages_edited)
    if unpaired:
        yield (
            f"{plural(len(unpaired), 'query', 'queries')} left out, because {against} does not have them in these words: "
            f"{listed(unpaired)}."
        )
