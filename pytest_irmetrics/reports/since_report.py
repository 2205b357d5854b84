"""What a branch accepts since the commit where it left another (``--ir-since``), as data; plain JSON values only."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.reports.item_report import as_json, read_dataclass

if TYPE_CHECKING:
    from pytest_irmetrics.reports.item_report import ItemReport


@dataclass(slots=True)
class MeanPart:
    """What one edit, or the retriever, has in the change of a mean; the parts add up to it."""

    part: str
    """``retriever``, ``judgments``, ``relevance level``, ``weights``, ``tags``, ``depth``, ``thresholds``, or what happened to
    queries: ``dropped``, ``excluded``, ``included``, ``reworded``, ``added``."""
    delta: float
    """How much of the difference it is."""


@dataclass(slots=True)
class QueryMove:
    """A query that scores lower than then, under today's judgments."""

    query_id: str
    """The query's id."""
    before: float
    """Its score then."""
    now: float
    """Its score today."""


@dataclass(slots=True)
class MeanSince:
    """A gated mean, then and now."""

    metric: str
    """The metric's name."""
    tag: str | None
    """The tag of the queries that it is over; None for all queries."""
    then: float | None
    """The mean then, over the golden set of then; None where it had no query, or none that was stored."""
    now: float | None
    """Today's, over today's golden set."""
    parts: list[MeanPart]
    """What makes up the difference; empty where there is none, or where a mean on the way had no query."""
    n: int
    """How many queries both have in the same words."""
    before: float | None
    """The mean then over these, under today's judgments."""
    after: float | None
    """Today's over these."""
    delta: float
    """``after`` − ``before``."""
    allowed: float | None
    """How far it may fall: the stricter ``max_drop`` of then and today, as far as that of then is known."""
    accepted: str = ""
    """Why a fall of more than that passes: ``baseline`` (that of this branch is lower, too), ``limits`` (those of this branch
    allow it); empty where there is no such fall."""
    fell: tuple[float, float] | None = None
    """That fall: the mean that it had, and has."""
    fell_by: str = ""
    """What shows that fall: ``today`` (today's run under today's judgments), ``then`` (it under the judgments, weights, tags
    and exclusions of then), ``stored`` (today's stored baseline alone)."""
    as_then: tuple[float, float] | None = None
    """``before`` and ``after`` under the judgments, weights, tags and exclusions of then, where these differ."""
    stored: float | None = None
    """The mean of today's stored baseline over these queries, where it has other rankings than today's run."""
    worse: list[QueryMove] = field(default_factory=list)
    """The queries that pay, those that cost the mean most first."""
    worse_count: int = 0
    """How many queries pay; ``worse`` has those that cost most."""
    with_left: float | None = None
    """What today's mean would be with the queries that were dropped and reworded, at the scores that they had, and those
    that are excluded, at today's; None where there are none."""
    without_added: float | None = None
    """What today's mean is without the added queries; None where there are none."""


@dataclass(slots=True)
class QuerySince:
    """A query that is in a mean on one side only."""

    query_id: str
    """The query's id."""
    text: str | None
    """What was searched for; None where the golden set has ids alone."""
    how: str
    """``dropped``, ``excluded`` (marked xfail), ``reworded`` (text or params), ``included`` or ``added``."""
    before: dict[str, float | None]
    """Gated metric → the score that it had then; empty where it was not asked."""
    now: dict[str, float | None]
    """Gated metric → today's score; empty where it is not asked."""


@dataclass(slots=True)
class EditSince:
    """An edit of what search is judged by."""

    kind: str
    """``judgment``, ``weight``, ``tags``, ``forbidden``, ``relevance level``, ``depth``, ``threshold``, ``mark``, ``setting``."""
    what: str
    """What was edited: a query and document, a threshold's metric and word."""
    before: str | None
    """None where there was none."""
    now: str | None
    """None where there is none."""
    weaker: bool = False
    """Whether it is a limit that holds less than it did."""


@dataclass(slots=True)
class SinceReport:
    """What a branch accepts for one test, since the commit where it left another branch."""

    ref: str
    """As it was given: ``origin/main``."""
    commit: str
    """The id of the commit where HEAD left it."""
    state: str
    """``unchanged``, ``changed``, ``accepted`` (a mean fell further than it may, and passes), ``new`` (there was no baseline
    of this test) or ``unreadable`` (there was, and it cannot be read)."""
    file: str
    """The baseline's path in the repository."""
    renamed_from: str | None = None
    """Its path then, where that was another."""
    refused: bool = False
    """Whether ``ir_accept = fail`` makes it a failure."""
    why: str = ""
    """Why the baseline of then cannot be read, or what of then could not be."""
    means: list[MeanSince] = field(default_factory=list)
    """The gated means."""
    queries: list[QuerySince] = field(default_factory=list)
    """The queries that are in a mean on one side only."""
    edits: list[EditSince] = field(default_factory=list)
    """What else search is judged by, and is not as it was."""

    @classmethod
    def of(cls, item: ItemReport) -> SinceReport | None:
        """Return that of a test; None where it was not compared. Raises ValueError and TypeError for what is none."""
        return None if item.since is None else read_dataclass(cls, item.since)

    def as_dict(self) -> dict[str, Any]:
        """Return what ``of`` reads, for ``ItemReport.since``."""
        data: dict[str, Any] = json.loads(json.dumps(self, default=as_json))
        return data

    @property
    def short_commit(self) -> str:
        """The commit's id as messages show it."""
        return self.commit[:9]

    @property
    def is_told_first(self) -> bool:
        """Whether it stands before all else, and is a warning in CI."""
        return self.state in ("accepted", "unreadable")

    @property
    def verdict(self) -> str:
        """``accepted``, ``refused``, ``unreadable``, or empty."""
        return "refused" if self.refused and self.is_told_first else self.state if self.is_told_first else ""

    @property
    def holds_less(self) -> bool:
        """Whether any limit of its gates holds less than it did then."""
        return any(edit.weaker for edit in self.edits)

    @property
    def accepted_means(self) -> list[MeanSince]:
        """The means whose fall passes."""
        return [mean for mean in self.means if mean.accepted]
