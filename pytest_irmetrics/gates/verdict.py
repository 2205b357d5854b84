"""The verdict of one gate, and the baseline's side of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_irmetrics.base.numbers import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gate


State = Literal["passed", "failed", "not checked"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate says."""

    state: State
    text: str
    """One line: the metric, its value, its limit, and by how much it is off."""
    word: str
    """The marker's word (``min``, ``max_drop``, …), or ``forbidden``, ``no_answer``, ``errors``, ``baseline``."""
    metric: Metric | None = None
    tag: str | None = None
    queries: tuple[str, ...] = ()
    """Ids of the queries that explain it, those that matter most first."""
    details: tuple[str, ...] = ()
    """Sentences that say more: how many queries moved, and what that shows."""
    origin: str = ""
    """Where the limit was set."""
    limit: float | None = None
    """The limit as a number of the metric's own scale."""
    single: bool = False
    """Whether it is a query's own threshold."""
    shares: tuple[float, ...] = ()
    """Of a drop: the share of all that was lost that each of ``queries`` lost, in [0, 1]."""
    p_value: float | None = None
    """Of a ``max_drop`` that ``significance`` narrows: the sign-flip p of the fall."""
    as_stored: bool = False
    """Whether the fall shows only by what was stored with the baseline: the golden set was edited since."""

    @property
    def failed(self) -> bool:
        """Whether this gate fails its test."""
        return self.state == "failed"


@dataclass(frozen=True, slots=True)
class Regression:
    """The baseline's side of a decision.

    ``against`` names what today is compared with; ``update`` is the command that accepts today's run,
    empty where it is compared with something else than the baseline.
    """

    comparison: Comparison
    against: str
    update: str
    gated: bool = True
    """False in a run that stores a new baseline: drops are then told, not gated."""


def named(gate: Gate) -> str:
    """Name a gate's metric, and its queries where they are those with a tag."""
    return gate.metric.name if gate.tag is None else f"{gate.metric.name} of the queries tagged {gate.tag}"


def verdict_on(
    gate: Gate,
    state: State,
    text: str,
    *,
    queries: Sequence[str] = (),
    details: Sequence[str] = (),
    limit: float | None = None,
    shares: Sequence[float] = (),
) -> Verdict:
    """Make the verdict on a gate."""
    return Verdict(
        state,
        text,
        gate.word,
        gate.metric,
        gate.tag,
        tuple(queries),
        tuple(details),
        gate.origin,
        limit,
        shares=tuple(shares),
    )


def at_least(value: float, limit: float) -> bool:
    """Tell whether a value reaches a limit, with the slack that every comparison allows for floating point."""
    return value >= limit - TOLERANCE
