"""What one test item measured, as it travels on its report from a worker to the controller."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OWN_BASELINE = "the baseline"
"""What a record calls the test's own baseline; anything else that a run is held against has another name."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One metric over a golden set or over one of its slices, as a line of the summary's table."""

    metric: str
    tag: str | None
    n: int
    """How many queries it averages over; with a baseline, how many of them are paired."""
    full: float | None
    """The mean over all of today's queries."""
    now: float | None
    """The mean that is compared: over the paired queries where there is a baseline."""
    baseline: float | None
    delta: float | None
    gate: str
    """The limits in words, empty without one."""
    verdict: str
    """``passes``, ``FAILS``, ``not checked``, or empty where nothing gates."""
    interval: tuple[float, float] | None = None
    """95 % interval of the delta; None where nothing is compared, or fewer than two queries are."""
    bounds: list[float] = field(default_factory=list)
    """What the mean is held against, so that it is not printed like a limit from which it differs."""
    allowed: float | None = None
    """How far the mean may fall, on its own scale."""
    unpaired: int = 0
    """How many queries only ``full`` averages over."""
    cut: int | None = None
    """Where the rankings that are compared are cut, if ``full`` looks deeper."""


@dataclass(frozen=True, slots=True)
class QueryAsStored:
    """A query by the judgments that were stored with the baseline, where today's are others."""

    judgments: dict[str, float]
    now: list[str]
    before: list[str]
    scores: dict[str, float | None]
    scores_before: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class QueryReport:
    """One query with its ranking before and now, for ``-vv``, ``--ir-query`` and the reports."""

    query_id: str
    text: str | None
    where: str
    """``file:line``."""
    judgments: dict[str, float]
    forbidden: list[str]
    now: list[str]
    before: list[str] | None
    scores: dict[str, float | None]
    scores_before: dict[str, float | None]
    error: str | None = None
    status: str = ""
    """``xfail`` and its reason, or ``no_answer``; empty for any other query."""
    as_stored: QueryAsStored | None = None


@dataclass(frozen=True, slots=True)
class VerdictReport:
    """One verdict, in words."""

    state: str
    text: str
    word: str
    metric: str | None
    tag: str | None
    origin: str
    queries: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    single: bool = False
    """Whether it is a query's own threshold."""
    shares: list[float] = field(default_factory=list)
    """Of a drop: the share of all that was lost that each of ``queries`` lost."""
    more: int = 0
    """How many more queries explain it, which matter less than ``queries`` do."""
    as_stored: bool = False
    """Whether the fall shows only by what was stored with the baseline: the golden set was edited since."""


class _Judged(Protocol):
    """What a verdict and a gate have in common."""

    @property
    def state(self) -> str: ...
    @property
    def word(self) -> str: ...
    @property
    def single(self) -> bool: ...
    @property
    def queries(self) -> Sequence[str]: ...
    @property
    def shares(self) -> Sequence[float]: ...


_J = TypeVar("_J", bound=_Judged)


def explaining(gates: Iterable[_J]) -> list[_J]:
    """Return the failed gates that single queries explain, a drop rather than what was low before it."""
    failed = [gate for gate in gates if gate.state == "failed" and gate.queries]
    if any(gate.shares for gate in failed):
        return [gate for gate in failed if gate.single or gate.word not in ("min", "max")]
    return failed


@dataclass(frozen=True, slots=True)
class Degradation:
    """One way of making the stored baseline worse, and which gates would have failed for it."""

    name: str
    what: str
    """What was done to the rankings, in a sentence."""
    queries: int
    """How many queries answer otherwise."""
    deltas: dict[str, float]
    """Metric → degraded − intact, over the whole set."""
    gated: list[str]
    """The metrics of ``deltas`` that have a threshold, the nearest first."""
    caught_by: list[str]
    """``metric word [tag]`` of each gate that fails; empty: it would pass unseen."""
    tag: str | None = None
    """The slice that is lost, where it is that."""


@dataclass(frozen=True, slots=True)
class ItemReport:
    """Everything that the controller prints, reports and stores of one test item."""

    nodeid: str
    golden_set: str
    """The golden set's path as a reader finds it: relative to where pytest was called, if it is below."""
    queries: int
    outcome: str
    """``passed``, ``failed``, ``error`` (no mean could be computed), ``not evaluated`` (nothing was asked) or, of such a
    test, ``skipped`` (the body skipped, or was expected to fail)."""
    rows: list[ScoreRow] = field(default_factory=list)
    gates: list[VerdictReport] = field(default_factory=list)
    explained_by: int = 0
    """How many queries explain the failed gates, of which these name those that matter most."""
    slices: list[ScoreRow] = field(default_factory=list)
    """One metric over the queries of each tag, compared with the baseline."""
    kind: list[str] = field(default_factory=list)
    """What kind of change it is, in a sentence or two."""
    notes: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    """What the golden set can and cannot show; for who asks for more."""
    views: list[QueryReport] = field(default_factory=list)
    lowered: list[str] = field(default_factory=list)
    """In an updating run: what the new baseline lowers, and by how much."""
    unbound: list[str] = field(default_factory=list)
    """``metric [tag]`` of the settings' limits that bind to no query of this golden set."""
    stale: list[str] = field(default_factory=list)
    """Baselines whose test is gone, relative to the root directory."""
    baseline_file: str | None = None
    """Where the baseline is stored, relative to the root directory; set in an updating run."""
    baseline_text: str | None = None
    run: str | None = None
    """The run as JSON text, for the reports."""
    against: str | None = None
    """What today was compared with, in words."""
    look: str | None = None
    """The command that looks closer at one query, without the query."""
    accept: str | None = None
    """The command that stores today's run as the baseline."""
    depth: int | None = None
    only_queries: bool = False
    """Whether ``--ir-query`` narrowed the run, so that nothing about the whole set was judged."""
    selftest: list[Degradation] | None = None
    """With ``--ir-selftest``: what was tried; the rest then speaks of the stored baseline, intact."""
    advice: list[str] = field(default_factory=list)
    """What would catch the degradations that pass unseen."""

    def dumps(self) -> str:
        """Return the record as ASCII text, so that any transport takes it."""
        return json.dumps(self, default=_fields, separators=(",", ":"))

    @classmethod
    def loads(cls, text: str) -> ItemReport:
        """Read what ``dumps`` wrote."""
        data: dict[str, Any] = json.loads(text)
        for name in ("rows", "slices"):
            for row in data[name]:
                if row["interval"] is not None:
                    row["interval"] = tuple(row["interval"])
            data[name] = [ScoreRow(**row) for row in data[name]]
        data["gates"] = [VerdictReport(**gate) for gate in data["gates"]]
        data["views"] = [_view(view) for view in data["views"]]
        if data["selftest"] is not None:
            data["selftest"] = [Degradation(**degradation) for degradation in data["selftest"]]
        return cls(**data)


def _view(data: dict[str, Any]) -> QueryReport:
    stored = data["as_stored"]
    return QueryReport(**{**data, "as_stored": None if stored is None else QueryAsStored(**stored)})


def _fields(part: Any) -> dict[str, Any]:
    """Give a record, or a part of one, as what JSON holds; `asdict` would copy every ranking first."""
    return {one.name: getattr(part, one.name) for one in fields(part)}
