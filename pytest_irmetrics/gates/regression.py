"""Measure how far a metric moved from the baseline, and say what that is by its ``max_drop``, ``max_lost`` or ``min_gain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_irmetrics.gates.verdict import at_least

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_irmetrics.comparison import Comparison, MetricChange
    from pytest_irmetrics.comparison.run_noise import RunNoise
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.thresholds import Gate

LEVEL = 0.05
"""The p-value below which a fall fails by `auto`, where no ``significance`` says otherwise."""

_MOST_LOST = 1
"""How many more queries may fall to 0 than rise from it before a fall fails by `auto`."""

Why = Literal["within", "beyond", "unlikely", "far", "lost", "noise hides any fall", "chance", "noise"]
"""What decides: the limit; p, the limit of `auto` beyond which nothing is chance, or queries lost; or why nothing can."""


class Outcome(NamedTuple):
    """What a fall is by its limit, and why."""

    state: State
    why: Why


class Regression(NamedTuple):
    """How far a metric fell from the baseline under one set of labels, held against a gate's limit."""

    gate: Gate
    comparison: Comparison
    """The comparison of the two runs under these labels."""
    change: MetricChange
    noise: RunNoise | None
    """How much the mean varies between runs of one retriever; None where it does not, and for what is no mean."""
    significance: float | None
    """The level of p from which on a fall may be chance; None where every fall beyond the limit fails."""

    @classmethod
    def measure(cls, gate: Gate, comparison: Comparison, significance: float | None = None) -> Regression:
        """Measure the fall that a gate limits; ``significance`` is a threshold that narrows its ``max_drop``."""
        change = change_of(gate, comparison)
        if gate.word == "max_lost" or gate.query_id is not None:
            return cls(gate, comparison, change, None, None)
        noise = comparison.run_noise(gate.metric, gate.tag)
        noise = noise if noise is not None and noise.deviation > 0 else None
        if gate.word == "min_gain":
            return cls(gate, comparison, change, noise, None)
        level = LEVEL if significance is None and gate.limit.auto else significance
        return cls(gate, comparison, change, noise, level)

    @property
    def size(self) -> float:
        """Baseline − now of the mean, or of the query's score; the number of lost queries for ``max_lost``."""
        return len(self.change.lost) if self.gate.word == "max_lost" else -self.change.delta

    @property
    def allowed(self) -> float:
        """The limit on ``size``; below 0 for ``min_gain``."""
        return (
            -self.gate.limit.value
            if self.gate.word == "min_gain"
            else self.gate.allowed(self.change.baseline)
        )

    @property
    def margin(self) -> float:
        """How far beyond its limit a fall may still be run noise."""
        return 0.0 if self.noise is None or self.gate.word == "min_gain" else self.noise.margin

    @property
    def exceeds(self) -> bool:
        """Whether the fall exceeds its limit by more than run noise explains."""
        return not at_least(self.allowed + self.margin, self.size)

    def outcome(self, p_value: Callable[[], float | None]) -> Outcome:
        """Return what the fall is; ``p_value`` gives its p, adjusted for the gates that are judged by one."""
        if at_least(self.allowed, self.size):
            return Outcome("passed", "within")
        if self.noise is not None and 0 < (self.change.baseline or 0.0) <= self.allowed + self.margin:
            return Outcome("failed", "noise hides any fall")
        if not self.exceeds:
            return Outcome("undecided", "noise")
        if self.significance is None:
            return Outcome("failed", "beyond")
        auto = self.gate.limit.auto
        if auto and not at_least(self.gate.exact(self.change.baseline), self.size):
            return Outcome("failed", "far")
        p = p_value()  # which takes time, of a hundred thousand queries
        if p is not None and p < self.significance:
            return Outcome("failed", "unlikely")
        if not auto:  # without a p-value there is no telling that it is chance
            return Outcome("failed", "beyond") if p is None else Outcome("undecided", "chance")
        if len(self.change.lost) - len(self.change.found) > _MOST_LOST:
            return Outcome("failed", "lost")
        return Outcome("undecided", "chance")


def change_of(gate: Gate, comparison: Comparison) -> MetricChange:
    """Return how what a gate is on moved, a mean or the score of one query."""
    if gate.query_id is not None:
        return comparison.change_of_query(gate.metric, gate.query_id)
    return comparison.change(gate.metric, gate.tag)
