"""Measure how far a metric fell from the baseline, and hold that against its ``max_drop`` or ``max_lost``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.gates.verdict import at_least

if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison, MetricChange, RunNoise
    from pytest_irmetrics.thresholds import Gate


class Regression(NamedTuple):
    """How far a metric fell from the baseline under one set of labels, held against a gate's limit."""

    gate: Gate
    comparison: Comparison
    """The comparison of the two runs under these labels."""
    change: MetricChange
    noise: RunNoise | None
    """How much the mean varies between runs of one retriever; None where it does not, and for ``max_lost``."""
    significance: float | None
    """The ``significance`` threshold that narrows this gate; None where none does."""

    @classmethod
    def measure(cls, gate: Gate, comparison: Comparison, significance: float | None) -> Regression:
        """Measure the fall that a ``max_drop`` or ``max_lost`` limits, under the labels of ``comparison``."""
        change = comparison.change(gate.metric, gate.tag)
        if gate.word == "max_lost":
            return cls(gate, comparison, change, None, None)
        noise = comparison.run_noise(gate.metric, gate.tag)
        return cls(
            gate,
            comparison,
            change,
            noise if noise is not None and noise.deviation > 0 else None,
            significance,
        )

    @property
    def size(self) -> float:
        """Baseline − now of the mean for ``max_drop``; the number of lost queries for ``max_lost``."""
        return -self.change.delta if self.gate.word == "max_drop" else len(self.change.lost)

    @property
    def allowed(self) -> float:
        """The limit on ``size``."""
        return self.gate.limit.absolute(self.change.baseline)

    @property
    def within_noise(self) -> bool:
        """Whether the fall exceeds its limit, but by no more than run noise explains."""
        if self.noise is None or at_least(self.allowed, self.size):
            return False
        return self.size - self.allowed <= self.noise.margin

    @property
    def failed(self) -> bool:
        """Whether the fall exceeds its limit by more than run noise explains; ``significance`` is applied afterwards."""
        return not at_least(self.allowed, self.size) and not self.within_noise

    @property
    def gained(self) -> bool:
        """Whether the mean rose by more than it may fall, beyond run noise; never of ``max_lost``."""
        gain = self.change.delta
        if self.gate.word != "max_drop" or at_least(self.allowed, gain):
            return False
        return self.noise is None or gain - self.allowed > self.noise.margin

    @property
    def p_value(self) -> float | None:
        """One-sided sign-flip p of the fall; None where no ``significance`` narrows the gate."""
        return None if self.significance is None else self.change.p_value
