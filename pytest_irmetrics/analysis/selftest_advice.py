"""What would catch the degradations that the limits miss, where that is clear."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.selftest_judged import Judged, whole_deltas
from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.thresholds import Gate, Gates


def advice(missed: Sequence[Judged], gates: Gates) -> Iterator[str]:
    """Say what would catch the missed ones, where that is clear."""
    yield from _on_broken([result for result in missed if result.plan.kind == "broken"], gates)
    yield from _on_slices([result for result in missed if result.plan.kind == "slice"], gates)
    yield from _on_rankings([result for result in missed if result.plan.kind == "rankings"], gates)
    if any(result.plan.kind == "no_answer" for result in missed):
        yield 'Answers where none is right: ir_threshold("no_answer", min=1.0), or no threshold on it at all.'


def _mark(metric: str, words: str) -> str:
    return f'ir_threshold("{metric}", {words})'


def _on_broken(missed: Sequence[Judged], gates: Gates) -> Iterator[str]:
    """Advise max_lost: of all gates the one that counts queries."""
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
        "as soon as one query finds nothing any more"
        if not allowed
        else f"when more than {plural(allowed, 'query finds', 'queries find')} nothing any more"
    )
    yield f"A mean hides a few broken queries: {_mark(metric, f'max_lost={allowed}')} fails {when}."


def _on_slices(missed: Sequence[Judged], gates: Gates) -> Iterator[str]:
    found = []
    for result in missed:
        tag = result.plan.tag
        for name in _gated_first(result, gates):
            change = result.comparison.change(name, tag)
            if tag is not None and change.n and -change.delta > abs(change.baseline or 0.0) / 10 + TOLERANCE:
                words = f'max_drop="10%", tag={json.dumps(tag, ensure_ascii=False)}'
                found.append((tag, _mark(name, words)))
                break
    if not found:
        return
    mark = found[0][1]
    if len(found) == 1:
        yield f"A mean hides a lost slice: give {found[0][0]} a threshold of its own, {mark}."
        return
    named = listed([tag for tag, _ in found], 5)
    yield f"A mean hides a lost slice: give {named} thresholds of their own, such as {mark}."


def _on_rankings(missed: Sequence[Judged], gates: Gates) -> Iterator[str]:
    """Advise a metric that sees what the gated ones do not, or say which limit is too wide for what."""
    unseen: dict[str, dict[str, float]] = {}
    within: dict[str, list[str]] = {}
    insignificant: dict[str, list[str]] = {}
    max_drops = _whole_set_max_drops(gates)
    for result in missed:
        name = result.plan.name
        deltas = {**whole_deltas(result.comparison), **result.degradation.deltas}
        gated = [metric for metric in deltas if metric in max_drops]
        fell = [metric for metric in gated if deltas[metric] < -TOLERANCE]
        if fell:
            metric = min(fell, key=lambda metric: deltas[metric])
            change = result.comparison.change(metric)
            allowed = max_drops[metric].limit.absolute(change.baseline)
            reason = within if -change.delta <= allowed + TOLERANCE else insignificant
            reason.setdefault(metric, []).append(f"{name} ({score_text(-change.delta, allowed)})")
            continue
        unseen[name] = {metric: -delta for metric, delta in deltas.items() if delta < -0.01 - TOLERANCE}
    for metric, names in _fewest_metrics(unseen).items():
        yield f"No max_drop sees it ({', '.join(names)}): {_mark(metric, 'max_drop=0.01')} would."
    for metric, names in within.items():
        yield f"The max_drop of {metric} allows {', '.join(names)}; only a smaller one would catch it."
    for metric, names in insignificant.items():
        yield f"The significance of {metric} lets pass what is beyond its max_drop: {', '.join(names)}."


def _fewest_metrics(unseen: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    """Choose metrics that see what no other does, each time the one that sees most of what is left."""
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


def _gated_first(result: Judged, gates: Gates) -> list[str]:
    """Return the metrics that have a mean over the whole set: those with a max_drop, other gated ones, the rest."""
    names = dict.fromkeys([*result.degradation.gated, *result.degradation.deltas])
    max_drops = _whole_set_max_drops(gates)
    return sorted(names, key=lambda name: name not in max_drops)


def _whole_set_max_drops(gates: Gates) -> dict[str, Gate]:
    """Map the names of the metrics that have a ``max_drop`` over all queries to that gate."""
    return {gate.metric.name: gate for gate in gates.with_word("max_drop") if gate.tag is None}
