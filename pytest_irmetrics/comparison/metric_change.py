"""The change of one metric between two runs: its means, which queries are worse, better or lost, p-value and interval; how much it varies from run to run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.metrics import Metric, mean

MIN_CHANGED = 5
"""How many queries must have changed before chance, an interval or a slice is spoken of: the p of four losses and no win is 0.06. docs/messages.md, docs/statistics.md and docs/reference/json-report.md say it, too."""


@dataclass(frozen=True)
class MetricChange:
    """How one metric moved from the baseline to today, over the paired queries.

    Public, also what nothing in this package reads: docs/reference/python.md is made of the texts of its attributes.
    """

    metric: Metric
    """The metric that moved, or did not."""
    tag: str | None
    """Over which queries: those with this tag; None is all of them."""
    weights: Mapping[str, float] = field(repr=False)
    """Query id → its weight, also of queries that the metric leaves out."""
    before: Mapping[str, float] = field(repr=False)
    """Query id → the baseline's score."""
    after: Mapping[str, float] = field(repr=False)
    """Query id → today's score."""

    @cached_property
    def baseline(self) -> float | None:
        """The baseline's mean over the paired queries, under today's judgments."""
        return self._mean(self.before)

    @cached_property
    def now(self) -> float | None:
        """Today's mean over the paired queries."""
        return self.baseline if self._is_unchanged else self._mean(self.after)

    @property
    def _is_unchanged(self) -> bool:
        """Whether both sides are the same scores, as they are given where no ranking changed: no query need be looked through."""
        return self.before is self.after

    def _mean(self, scores: Mapping[str, float]) -> float | None:
        return mean(scores.values(), [*map(self.weights.__getitem__, scores)]) if scores else None

    def of_query(self, query_id: str) -> MetricChange:
        """Return how the metric moved on one query; over no query where not both sides have a score of it."""
        both = [query_id] if query_id in self.differences else []
        before, after = ({one: side[one] for one in both} for side in (self.before, self.after))
        return MetricChange(self.metric, None, dict.fromkeys(both, 1.0), before, after)

    @cached_property
    def differences(self) -> Mapping[str, float]:
        """Query id → now − baseline, of the paired queries; weights are not applied."""
        after = self.after
        return {i: after[i] - score for i, score in self.before.items() if i in after}

    @property
    def n(self) -> int:
        """How many queries are paired."""
        return len(self.before if self._is_unchanged else self.differences)

    @cached_property
    def delta(self) -> float:
        """Change of the mean, now − baseline; 0 where no query is paired."""
        if self._is_unchanged:
            return 0.0
        if not self.denominators_differ:
            return math.fsum(self.weighted_differences.values()) / max(self.n, 1)
        return 0.0 if self.now is None or self.baseline is None else self.now - self.baseline

    @property
    def denominators_differ(self) -> bool:
        """Whether each side averages over other queries, because the metric leaves out some (``miss=skip``)."""
        return not len(self.before) == len(self.after) == self.n

    @cached_property
    def weighted_differences(self) -> Mapping[str, float]:
        """Query id → weight · N / Σ weights · (now − baseline); their plain mean is ``delta`` where both sides average over the same."""
        weights = self.weights
        scale = self.n / math.fsum(weights[i] for i in self.differences) if self.n else 1.0
        return {i: weights[i] * scale * value for i, value in self.differences.items()}

    @cached_property
    def worse(self) -> tuple[str, ...]:
        """Ids of the queries that score lower than before by more than 1e-9, the one that costs the mean most first."""
        return self._moved(-1)

    @cached_property
    def better(self) -> tuple[str, ...]:
        """Ids of the queries that score higher than before by more than 1e-9, the largest gain first."""
        return self._moved(1)

    def _moved(self, sign: int) -> tuple[str, ...]:
        """Return the queries whose scores moved up (1) or down (-1), those that move the mean most first."""
        if self._is_unchanged:
            return ()
        found = [i for i, value in self.differences.items() if sign * value > TOLERANCE]
        return tuple(sorted(found, key=lambda i: (-sign * self.weighted_differences[i], i)))

    @property
    def same(self) -> tuple[str, ...]:
        """Ids of the paired queries that are neither worse nor better."""
        return tuple([i for i, value in self.differences.items() if abs(value) <= TOLERANCE])

    @property
    def left_out(self) -> list[str]:
        """Ids of the queries that have a score in the baseline and that the metric leaves out today (``miss=skip``)."""
        return [query_id for query_id in self.before if query_id not in self.after]

    @cached_property
    def lost(self) -> tuple[str, ...]:
        """Ids of the queries whose score went from above 0 to 0, the one that costs most first.

        Queries that the metric leaves out today are among them: ``miss=skip`` leaves out what finds nothing.
        """
        gone = [i for i, score in self.before.items() if score > TOLERANCE >= self.after.get(i, 0.0)]
        return tuple(sorted(gone, key=lambda i: (-self.weights[i] * self.before[i], i)))

    @property
    def found(self) -> tuple[str, ...]:
        """Ids of the queries whose score went from 0, or from none (``miss=skip``), to above 0."""
        return tuple([i for i, score in self.after.items() if score > TOLERANCE >= self.before.get(i, 0.0)])

    @cached_property
    def p_value(self) -> float | None:
        """One-sided p of a drop this large by the sign-flip test, above 0 and up to 1: 2^-k or more of k changed queries.

        None where no query is paired, or where the sides average over different queries.
        """
        if self.denominators_differ or not self.n:
            return None
        from pytest_irmetrics.comparison.significance import sign_flip_p  # noqa: PLC0415 - only where queries changed

        return sign_flip_p(self.weighted_differences.values())

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """95 % confidence interval of delta, within what the metric's range allows, as its lower and upper end.

        None for fewer than two paired queries, or where the sides average over different ones.
        """
        if self.denominators_differ:
            return None
        from pytest_irmetrics.comparison.significance import interval  # noqa: PLC0415 - only where queries changed

        ends = interval([*self.weighted_differences.values()])
        widest = self.metric.upper - self.metric.lower
        return None if ends is None else (max(ends[0], -widest), min(ends[1], widest))

    @property
    def changed(self) -> int:
        """How many queries are worse or better."""
        return len(self.worse) + len(self.better)

    @cached_property
    def detectable(self) -> float | None:
        """The smallest true drop that so many queries with such differences detect (power 80 %, one-sided level 5 %).

        None for fewer than two paired queries, where the sides average over different ones, and where no drop that the
        metric's range allows is large enough.
        """
        if self.denominators_differ:
            return None
        from pytest_irmetrics.comparison.significance import detectable_drop  # noqa: PLC0415 - only where queries changed

        drop = detectable_drop([*self.weighted_differences.values()])
        return drop if drop is None or drop <= self.metric.upper - self.metric.lower else None


class RunNoise(NamedTuple):
    """How much the change of a mean varies between runs of the same retriever over the same golden set."""

    deviation: float
    """The standard deviation of the change, on the metric's scale."""
    margin: float
    """How far a mean may fall beyond its limit and still count as run noise: so many deviations as the level wants."""
    unstable: tuple[str, ...]
    """Ids of the queries whose scores differ between repeats, those that move the mean most first."""
    asked: tuple[int, int]
    """How often today's run and the baseline's asked each query."""
