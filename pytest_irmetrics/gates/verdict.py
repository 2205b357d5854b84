"""The verdict on one gate: passed, failed or not checked, with the queries that explain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gate

State = Literal["passed", "failed", "not checked"]


class Verdict(NamedTuple):
    """Whether one gate passed, with the sentences that say why and the queries that explain it."""

    state: State
    text: str
    """One line: the metric, its value, its limit, and the difference between the two."""
    word: str
    """A threshold's word (``min``, ``max_drop``, …), or a check that needs no threshold.

    The latter: ``errors`` (queries that could not be retrieved), ``ids`` (no returned id is a known one),
    ``forbidden``, ``no_answer``, ``baseline`` (too few queries are in both runs).
    """
    metric: Metric | None = None
    tag: str | None = None
    queries: tuple[str, ...] = ()
    """Ids of the queries that explain it, those with the largest part in it first."""
    details: tuple[str, ...] = ()
    """Sentences that say more: how many queries moved, and what that shows."""
    origin: str = ""
    """Where the limit is set: a place in a file, a mark or a setting."""
    limit: float | None = None
    """The limit as a number on the metric's own scale."""
    single: bool = False
    """Whether the gate is on one query, by a threshold of that query's own."""
    shares: tuple[float, ...] = ()
    """For a ``max_drop``: what each of ``queries`` lost, as a share of what they lost together, in [0, 1]."""
    as_stored: bool = False
    """Whether the drop shows only under the labels stored with the baseline: the golden set was edited since."""
    over_no_query: bool = False
    """Whether it failed because it has no query to average over, which storing a new baseline does not change."""
    broken_by: float | None = None
    """Of a failed gate: how far beyond its limit the value is, in limits; None where no value was held against a limit."""

    @property
    def failed(self) -> bool:
        """Whether this gate fails its test."""
        return self.state == "failed"


def verdict_on(
    gate: Gate,
    state: State,
    text: str,
    *,
    queries: Sequence[str] = (),
    details: Sequence[str] = (),
    limit: float | None = None,
    value: float | None = None,
    shares: Sequence[float] = (),
    single: bool = False,
    as_stored: bool = False,
    over_no_query: bool = False,
) -> Verdict:
    """Return the verdict on a gate; ``value`` is what was held against ``limit``."""
    return Verdict(
        state=state,
        text=text,
        word=gate.word,
        metric=gate.metric,
        tag=gate.tag,
        queries=tuple(queries),
        details=tuple(details),
        origin=gate.origin,
        limit=limit,
        single=single,
        shares=tuple(shares),
        as_stored=as_stored,
        over_no_query=over_no_query,
        broken_by=broken_by(gate.word, value, limit)
        if state == "failed" and value is not None and limit is not None
        else None,
    )


def broken_by(word: str, value: float, limit: float) -> float:
    """Return how far beyond its limit a value is, in limits: 2 for a fall of 0.03 where 0.01 is allowed.

    0.05 for a mean of 0.76 where 0.80 is required. A limit of 0 counts as 0.01, or as one query.
    """
    return abs(value - limit) / max(abs(limit), 1.0 if word == "max_lost" else 0.01)


def at_least(value: float, limit: float) -> bool:
    """Tell whether a value reaches a limit, within 1e-9 for floating point."""
    return value >= limit - TOLERANCE
