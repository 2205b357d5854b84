"""The history of a test's baselines: what ``pytest-irmetrics history`` prints, and its JSON holds under the same names."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True)
class HistoryPoint:
    """One version of a baseline, scored under today's golden set and compared with the version before it."""

    commit: str
    """Its id; empty for a version that is not committed."""
    time: int
    """When it was committed, in seconds since 1970."""
    subject: str
    path: str
    """The file's path in that commit, from the repository's top folder."""
    problem: str = ""
    """Why it could not be scored; all that follows is then empty."""
    query_count: int = 0
    """How many queries it holds."""
    n: int = 0
    """How many of today's queries it holds in today's words."""
    means: dict[str, float | None] = field(default_factory=dict)
    """Metric → mean over those of today's queries that it holds."""
    changes: dict[str, float | None] = field(default_factory=dict)
    """Metric → change from the version before, over the queries that both hold."""
    as_judged_before: dict[str, float] = field(default_factory=dict)
    """`changes` under the judgments stored with the version before, where this one changed any."""
    until_today: dict[str, float | None] = field(default_factory=dict)
    """Metric → change from this version to today's, over the queries that both hold."""
    margins: dict[str, float] = field(default_factory=dict)
    """Metric → how far a mean may differ from run to run, where queries were asked more than once."""
    added: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Ids of the queries that the version before held, and this one does not."""
    dropped_means: dict[str, float | None] = field(default_factory=dict)
    """Metric → mean of the dropped queries before they were dropped."""
    reworded: list[str] = field(default_factory=list)
    relabelled: list[str] = field(default_factory=list)
    """Ids of the queries whose stored judgments differ from those of the version before."""
    renamed_from: str = ""
    """The file's path in the version before, if it was another."""

    @property
    def lowered(self) -> dict[str, float]:
        """Metric → change, of the means that fell by more than differs from run to run, by either judgments."""
        found = {}
        for metric, change in self.changes.items():
            lowest = min(change or 0.0, self.as_judged_before.get(metric, 0.0))
            if lowest < -self.margins.get(metric, 0.0) - TOLERANCE:
                found[metric] = lowest
        return found

    def costliest(self, leading: str) -> tuple[str, float]:
        """Return the leading metric, where it does not fall the one that falls furthest, and its change."""
        name = leading if leading in self.lowered else min(self.lowered, key=self.lowered.__getitem__)
        return name, self.lowered[name]

    @property
    def says_anything(self) -> bool:
        """Whether it moved a mean, changed the queries or their judgments, was renamed or could not be scored."""
        moved = any(abs(change or 0.0) > TOLERANCE for change in self.changes.values())
        sets = (self.added, self.dropped, self.reworded, self.relabelled)
        return moved or any(sets) or bool(self.renamed_from or self.problem or not self.commit)


@dataclass(slots=True)
class MetricHistory:
    """One metric over all versions."""

    metric: str
    first: float | None
    now: float | None
    best: float | None
    """The mean of the version that today's is furthest below, over the queries that both hold; today's if it is below none."""
    best_commit: str
    from_best: float
    """Today's mean − that of the best version, over the queries that both hold; 0 where today's is the best."""
    line: list[float | None]
    """The mean of each version, oldest first; None where it could not be scored."""


@dataclass(slots=True)
class PinnedCommit:
    """How far today's means are from those at a pinned commit, over the queries that both hold."""

    revision: str
    commit: str
    time: int
    problem: str = ""
    """Why nothing could be compared."""
    n: int = 0
    """How many queries the leading metric compares."""
    deltas: dict[str, float | None] = field(default_factory=dict)
    """Metric → today's mean − that of the commit."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of the leading metric's difference."""
    worse: list[str] = field(default_factory=list)
    """Ids of the queries that score less by the leading metric, those that cost most first."""
    as_judged_there: float | None = None
    """The leading metric's difference under the judgments that were stored there, where these are others."""


@dataclass(slots=True)
class TestHistory:
    """All committed baselines of one test."""

    __test__ = False  # no class of tests, whatever pytest makes of its name

    test: str
    """``tests/test_search.py::test_search_quality[faq]``."""
    path: str
    """The baseline's path, as messages show it."""
    golden_set: str
    """What the versions are judged by: a golden set's path, or that it is the judgments stored last."""
    metrics: list[str]
    leading: str
    """The metric that the table of versions shows."""
    depth: int | None
    points: list[HistoryPoint] = field(default_factory=list)
    """Oldest first."""
    summary: list[MetricHistory] = field(default_factory=list)
    since: PinnedCommit | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def leading_metric(self) -> MetricHistory:
        """The course of the leading metric."""
        return next(one for one in self.summary if one.metric == self.leading)


def history_json(histories: Iterable[TestHistory]) -> str:
    """Return the histories as JSON, in ASCII."""
    tests = []
    for history in histories:
        points = [{**asdict(point), "lowered": point.lowered} for point in history.points]
        tests.append({**asdict(history), "points": points})
    return json.dumps({"format": "pytest-irmetrics history", "version": 1, "tests": tests}, indent=1)
