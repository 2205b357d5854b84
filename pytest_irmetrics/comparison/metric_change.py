"""The change of one metric between two runs: its means, which queries are worse, better or lost, p-value and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from operator import sub
from typing import TYPE_CHECKING, NamedTuple, cast

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import significance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric


MIN_CHANGED = 5
"""How many queries must have changed before a slice says anything of others: the p of four losses and no win is 0.06."""


class _Paired(NamedTuple):
    """The queries that both sides score, their weights and score differences, in three columns."""

    queries: Sequence[Query]
    weights: Sequence[float]
    differences: list[float]
    """Now − baseline."""


@dataclass(frozen=True)
class MetricChange:
    """How one metric moved from the baseline to today, over the paired queries.

    Scores are kept as columns, with one place a query: mappings by query id are made when they are first read.
    """

    metric: Metric
    """The metric that moved, or did not."""
    tag: str | None
    """Over which queries: those with this tag; None is all of them."""
    baseline: float | None
    """The baseline's mean over the paired queries, under today's judgments."""
    now: float | None
    """Today's mean over the paired queries."""
    queries: Sequence[Query] = field(repr=False)
    """The queries over which the metric averages, also those that it leaves out on one side."""
    _weights: Sequence[float] = field(repr=False)
    _before: Sequence[float | None] = field(repr=False)
    _after: Sequence[float | None] = field(repr=False)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Query id → its weight."""
        return {query.id: weight for query, weight in zip(self.queries, self._weights, strict=True)}

    @cached_property
    def before(self) -> Mapping[str, float]:
        """Query id → the baseline's score."""
        return by_id(self.queries, self._before)

    @cached_property
    def after(self) -> Mapping[str, float]:
        """Query id → today's score."""
        return by_id(self.queries, self._after)

    @cached_property
    def differences(self) -> Mapping[str, float]:
        """Query id → now − baseline, of the paired queries; weights are not applied."""
        return {
            query.id: value
            for query, value in zip(self._paired.queries, self._paired.differences, strict=True)
        }

    @cached_property
    def _paired(self) -> _Paired:
        queries, weights, before, after = self.queries, self._weights, self._before, self._after
        if None in before or None in after:
            both = [now is not None and then is not None for now, then in zip(after, before, strict=True)]
            queries, weights = list(compress(queries, both)), list(compress(weights, both))
            before, after = list(compress(before, both)), list(compress(after, both))
        columns = cast("tuple[Sequence[float], Sequence[float]]", (after, before))
        return _Paired(queries, weights, list(map(sub, *columns)))

    @property
    def n(self) -> int:
        """How many queries are paired."""
        return len(self._paired.queries)

    @cached_property
    def delta(self) -> float:
        """Change of the mean, now − baseline; 0 where no query is paired."""
        if self.now is None or self.baseline is None:
            return 0.0
        if self._denominators_differ:
            return self.now - self.baseline
        # Most queries did not change; the exact sum needs no zeros.
        return math.fsum(filter(None, self._weighted)) / self.n

    @cached_property
    def _denominators_differ(self) -> bool:
        """Whether each side averages over other queries, because the metric leaves out some (``miss=skip``)."""
        return any(len(side) - side.count(None) != self.n for side in (self._before, self._after))

    @cached_property
    def _weighted(self) -> list[float]:
        """What ``weighted_differences`` maps to, in the order of the paired queries."""
        _, weights, differences = self._paired
        if set(weights) <= {1.0}:
            return differences
        total = math.fsum(weights)
        scale = self.n / total if total else 1.0
        return [weight * scale * value for weight, value in zip(weights, differences, strict=True)]

    @cached_property
    def weighted_differences(self) -> Mapping[str, float]:
        """Query id → weight · N / Σ weights · (now − baseline); their plain mean is ``delta``."""
        return {query.id: value for query, value in zip(self._paired.queries, self._weighted, strict=True)}

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
        queries, _, differences = self._paired
        places = (place for place, difference in enumerate(differences) if sign * difference > TOLERANCE)
        found = sorted((-sign * self._weighted[place], queries[place].id) for place in places)
        return tuple([query_id for _, query_id in found])

    @cached_property
    def same(self) -> tuple[str, ...]:
        """Ids of the paired queries that are neither worse nor better."""
        moved = {*self.worse, *self.better}
        return tuple([query.id for query in self._paired.queries if query.id not in moved])

    @property
    def left_out(self) -> list[str]:
        """Ids of the queries that have a score in the baseline and that the metric leaves out today (``miss=skip``)."""
        if None not in self._after:
            return []
        return [query_id for query_id in self.before if query_id not in self.after]

    @cached_property
    def lost(self) -> tuple[str, ...]:
        """Ids of the queries whose score went from above 0 to 0, the one that costs most first.

        Queries that the metric leaves out today are among them: ``miss=skip`` leaves out what finds nothing.
        """
        columns = zip(self.queries, self._weights, self._before, self._after, strict=True)
        gone = [
            (-weight * before, query.id)
            for query, weight, before, after in columns
            if before is not None and not _is_zero(before) and _is_zero(after)
        ]
        return tuple([query_id for _, query_id in sorted(gone)])

    @cached_property
    def found(self) -> tuple[str, ...]:
        """Ids of the queries whose score went from 0, or from none (``miss=skip``), to above 0."""
        columns = zip(self.queries, self._before, self._after, strict=True)
        return tuple(
            [query.id for query, before, after in columns if _is_zero(before) and not _is_zero(after)]
        )

    @cached_property
    def p_value(self) -> float | None:
        """One-sided p of a drop this large by the sign-flip test, above 0 and up to 1: 2^-k or more of k changed queries.

        None where no query is paired, or where the sides average over different queries.
        """
        if self._denominators_differ or not self.n:
            return None
        return significance.sign_flip_p(self._weighted)

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """95 % confidence interval of delta, within what the metric's range allows, as its lower and upper end.

        None for fewer than two paired queries, or where the sides average over different ones.
        """
        if self._denominators_differ:
            return None
        ends = significance.interval(self._weighted)
        return None if ends is None else (max(ends[0], -self._widest), min(ends[1], self._widest))

    @property
    def _widest(self) -> float:
        """The largest difference of two scores."""
        return self.metric.upper - self.metric.lower

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
        if self._denominators_differ or self.n < 2:
            return None
        drop = significance.detectable_drop(self._weighted)
        return drop if drop is None or drop <= self._widest else None


def _is_zero(score: float | None) -> bool:
    """Tell whether a query scores nothing, which also one does that the metric leaves out."""
    return score is None or score <= TOLERANCE


def by_id(queries: Sequence[Query], column: Sequence[float | None]) -> dict[str, float]:
    """Map query ids to scores, without the queries that the metric leaves out (None)."""
    pairs = zip(queries, column, strict=True)
    return {query.id: score for query, score in pairs if score is not None}
