"""The verdict on one gate, with the queries that explain it; the run that a test is compared with; the metric that leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.thresholds import Threshold, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gate, Gates, Limit

State = Literal["failed", "accepted", "undecided", "not checked", "passed"]
"""What a gate came to, in the order of every output.

``undecided``: the mean fell further than its limit, but no further than chance or run noise explains; ``accepted``: this
branch has stored the fall in its baseline. Both pass.
"""

STATES: tuple[State, ...] = get_args(State)

USUAL = "ndcg@10"
"""The metric that leads, and is gated by default, where nothing says otherwise."""


class Against(NamedTuple):
    """The run that a test is compared with."""

    name: str = ""
    """What messages call it."""
    file: str = ""
    """The path that it was read from, as messages show it; empty where it was read from none."""
    update_command: str = ""
    """The command that accepts today's run as the new baseline; empty where another run stands in for a baseline."""


class Verdict(NamedTuple):
    """What one gate came to, with the sentences that say why and the queries that explain it."""

    state: State
    text: str
    """One line: the metric, its value, its limit, and the difference between the two."""
    word: str
    """A threshold's word (``min``, ``max_drop``, …), or a check that needs no threshold.

    The latter: ``errors`` (queries that could not be retrieved), ``empty`` (nothing came back for any query that has an
    answer), ``ids`` (no returned id is a known one), ``forbidden``, ``no_answer``, ``baseline`` (too few queries are in
    both runs).
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
    """Whether the gate is on one query, by a threshold of its own."""
    shares: tuple[float, ...] = ()
    """For a ``max_drop``: what each of ``queries`` lost, as a share of what they lost together, in [0, 1]."""
    as_stored: bool = False
    """Whether the drop shows only under the labels stored with the baseline: the golden set was edited since."""
    over_no_query: bool = False
    """Whether it failed because it has no query to average over, which storing a new baseline does not change."""
    broken_by: float | None = None
    """Of a failed gate: how far beyond its limit the value is, in limits; None where no value was held against a limit."""

    @classmethod
    def of(cls, gate: Gate, state: State, text: str, *, value: float | None = None, **more: Any) -> Verdict:
        """Return the verdict on a gate; ``value`` is what was held against the limit, ``more`` are further fields."""
        limit = more.get("limit")
        broken = state == "failed" and value is not None and limit is not None
        if gate.query_id is not None:
            more |= {"queries": (gate.query_id,), "single": True}
        return cls(
            state,
            text,
            gate.word,
            gate.metric,
            gate.tag,
            origin=gate.origin,
            broken_by=broken_by(gate.word, value, limit) if broken else None,  # type: ignore[arg-type]  # neither is None
            **more,
        )

    @property
    def failed(self) -> bool:
        """Whether this gate fails its test."""
        return self.state == "failed"

    @property
    def key(self) -> tuple[object, ...]:
        """What tells its gate from the others of one test, and from those of another run by the same limits."""
        return self.metric, self.tag, self.word, self.single and self.queries

    @property
    def on_fall_of_mean(self) -> bool:
        """Whether this is on how far a mean over the whole golden set fell."""
        return self.word == "max_drop" and self.tag is None and not self.single


def broken_by(word: str, value: float, limit: float) -> float:
    """Return how far beyond its limit a value is, in limits: 2 for a fall of 0.03 where 0.01 is allowed.

    0.05 for a mean of 0.76 where 0.80 is required. A limit of 0 counts as 0.01, or as one query.
    """
    return abs(value - limit) / max(abs(limit), 1.0 if word == "max_lost" else 0.01)


def at_least(value: float, limit: float) -> bool:
    """Tell whether a value reaches a limit, within 1e-9 for floating point."""
    return value >= limit - TOLERANCE


def usual_metric(metrics: Iterable[Metric]) -> Metric | None:
    """Return `ndcg@10` where it is among the metrics, else the first that rates rankings; None where none does."""
    rating = [metric for metric in metrics if rates_rankings(metric)]
    return next((metric for metric in rating if metric.name == USUAL), rating[0] if rating else None)


def resolve_with_default(
    places: Iterable[Iterable[Threshold]], metrics: Iterable[Metric], max_drop: Limit, origin: str
) -> Gates:
    """Merge thresholds as `resolve` does, with a default `max_drop` on each metric of rankings that has a threshold over the whole set.

    A threshold on a slice does not count. Where there is none, the usual one of `metrics` is gated.
    `origin` is where the default was set, for messages. Raises ThresholdError.
    """
    places = [list(place) for place in places]
    gated = [metric for metric, tag in resolve(places).slices if tag is None and rates_rankings(metric)]
    if not gated and (usual := usual_metric(metrics)) is not None:
        gated.append(usual)
    words = {"max_drop": max_drop}
    return resolve([*places, [Threshold(metric, words, None, origin, by_default=True) for metric in gated]])


def rates_rankings(metric: Metric) -> bool:
    """Whether a metric falls where rankings get worse: not `judged`, `no_answer` or a latency."""
    return metric.kind in ("ranking", "custom") and metric.family != "judged"


def leading_metric(
    metrics: Iterable[Metric], gates: Gates, verdicts: Sequence[Verdict] = ()
) -> Metric | None:
    """Return the metric of the first failed verdict, else the usual one of those gated over the whole set, else of all.

    ``verdicts`` are in the order that `decide` gives them: the first failed one is furthest beyond its limit.
    """
    failed = (verdict.metric for verdict in verdicts if verdict.failed)
    broken = next((metric for metric in failed if metric is not None and rates_rankings(metric)), None)
    gated = [metric for metric, tag in gates.slices if tag is None]
    return broken or usual_metric(gated) or usual_metric(metrics)
