"""Judge all slices of a golden set together: of thirty tags one nearly always moves far by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison.comparison import Comparison
from pytest_irmetrics.comparison.metric_change import MIN_CHANGED, MetricChange
from pytest_irmetrics.metrics import Metric, mean

_LEVEL = 0.05
"""In which share of harmless changes any slice at all may be said to have moved; docs/statistics.md says so."""

_MAIN_PART = 2 / 3
"""A slice that holds at least this share of a fall is named as where most of it is."""


class SliceFall(NamedTuple):
    """A slice that fell further than the whole set did, by more than chance explains in any of the slices."""

    whole: MetricChange
    change: MetricChange

    @property
    def share(self) -> float:
        """The slice's part of the fall of a whole set that fell; above 1 where the others rose."""
        moved = self.whole.weighted_differences
        return math.fsum(moved[query_id] for query_id in self.change.differences) / math.fsum(moved.values())

    @property
    def others_delta(self) -> float:
        """How far the mean of the other queries moved."""
        moved, inside = self.whole.differences, self.change.differences
        others = [i for i in moved if i not in inside]
        return mean([moved[i] for i in others], [self.whole.weights[i] for i in others])


def joint_intervals(comparison: Comparison, metric: Metric) -> dict[str, tuple[float, float]]:
    """Map the tags to 95 % intervals of their slices' changes that hold together, for all of them at once.

    A slice has none unless `MIN_CHANGED` of its queries changed. Each is as wide as the interval of the slice by itself or
    wider, and ends within what the metric's range allows.
    """
    margins = joint_margins(_differences(comparison, metric))
    widest = metric.upper - metric.lower
    intervals = {}
    for tag, margin in margins.items():
        change = comparison.change(metric, tag)
        low, high = change.interval or (0.0, 0.0)
        low, high = min(low, change.delta - margin), max(high, change.delta + margin)
        intervals[tag] = max(low, -widest), min(high, widest)
    return intervals


def joint_margins(slices: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return for each slice how far chance moves its mean difference: in 95 of 100 cases all slices stay within these margins.

    Chance is a fair sign for each query's difference. The margin of a slice of n queries is c / √n, with one c for all, lest
    a slice whose queries broke be judged by its own loss alone. c is such that Σ P(|mean·√n| ≥ c)
    over the slices is 5 % (single-step maxT of Westfall and Young, by Bonferroni's bound). P is the normal tail, at least
    2^(1 − k) of k changed queries, and 0 beyond what all signs alike would give.
    """
    parts = []
    for values in slices.values():
        squares, root = math.fsum(value * value for value in values), math.sqrt(len(values))
        changed = sum(abs(value) > TOLERANCE for value in values)
        reach = math.fsum(map(abs, values)) / root
        if squares:
            parts.append((math.sqrt(squares) / root, reach, math.ldexp(2.0, -changed)))

    def chance(c: float) -> float:
        """Return a bound of the probability that any slice moves as far as c / √n."""
        return math.fsum(
            max(math.erfc(c / spread / math.sqrt(2)), least)
            for spread, reach, least in parts
            if c <= reach * (1 + TOLERANCE)
        )

    low, high = 0.0, 2 * max((reach for _, reach, _ in parts), default=0.0)
    while high - low > TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) > _LEVEL else (low, middle)
    return {tag: high / math.sqrt(len(values)) for tag, values in slices.items()}


def slices_that_fell(comparison: Comparison, metric: Metric) -> list[SliceFall]:
    """Return the slices that fell further than the whole set, beyond chance in all slices together; the clearest first.

    Where the whole set fell, a slice counts only by what it fell further. None where each side's mean is over other queries.
    """
    whole = comparison.change(metric)
    if whole.denominators_differ:
        return []
    expected = min(whole.delta, 0.0)
    beyond = {
        tag: [value - expected for value in values]
        for tag, values in _differences(comparison, metric).items()
    }
    margins = joint_margins(beyond)
    found = []
    for tag, values in beyond.items():
        change, excess = comparison.change(metric, tag), -math.fsum(values) / len(values)
        # Beyond its margin is neither a slice of all queries nor one of which fewer than four are worse.
        if excess > margins[tag] + TOLERANCE and -change.delta > comparison.noise_margin(metric, tag):
            found.append((-excess * math.sqrt(change.n), tag, SliceFall(whole, change)))
    return [fall for _, _, fall in sorted(found)]


def main_slice(comparison: Comparison, metric: Metric) -> SliceFall | None:
    """Return the slice that holds most of the fall of the whole set's mean, if one does beyond chance."""
    if comparison.change(metric).delta >= -TOLERANCE:
        return None
    return next((fall for fall in slices_that_fell(comparison, metric) if fall.share >= _MAIN_PART), None)


def _differences(comparison: Comparison, metric: Metric) -> dict[str, list[float]]:
    """Map the tags to the weighted differences of their queries; without those that have no interval.

    That is a slice of fewer than `MIN_CHANGED` changed queries, and one of which each side averages over other queries.
    """
    found = {}
    for tag in comparison.now.tags:
        change = comparison.change(metric, tag)
        if change.changed >= MIN_CHANGED and change.interval is not None:
            found[tag] = list(change.weighted_differences.values())
    return found
