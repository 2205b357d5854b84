"""The history of a baseline: every committed version scored under one golden set, and what each commit did to the means."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.git import GitError
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import Comparison, compare
from pytest_irmetrics.comparison.stored_queries import is_answer_to, stored_query
from pytest_irmetrics.evaluation import Evaluation, evaluate_run
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports.history_report import (
    HistoryPoint,
    MetricHistory,
    MetricSince,
    Since,
)
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.base.git import Repository
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.run import Answer


class History(NamedTuple):
    """What is known of the versions of one baseline."""

    points: list[HistoryPoint]
    """Oldest first."""
    summary: list[MetricHistory]
    since: Since | None


def read_history(
    repository: Repository,
    path: str,
    now: Run,
    golden: GoldenSet,
    metrics: Sequence[Metric],
    *,
    since: str | None,
) -> History:
    """Read the committed versions of the baseline at a path of a repository, and score them under a golden set.

    `now` is the baseline as it is today, committed or not; `since` names a commit to compare it with. Of a merge, the
    whole counts as one commit. Raises GitError where the repository or that commit cannot be read.
    """
    pinned = None if since is None else repository.commit(since)
    judge = _Judge(golden, metrics, now)
    points: list[HistoryPoint] = []
    later: tuple[HistoryPoint, Run] | None = None
    versions = list(repository.history(path))
    for version in versions:
        point = HistoryPoint(version.commit, version.time, version.subject, version.path)
        run = _read(repository, version.commit, version.path, version.commit[:10])
        if not points and isinstance(run, Run) and run != now:
            later = _uncommitted(judge, path), now
            points.append(later[0])
        points.append(point)
        if not isinstance(run, Run):
            point.problem = run or "the baseline was deleted"
            continue
        point.problem = judge.too_shallow(run)
        if point.problem:
            continue
        judge.describe(point, run)
        if later is not None:
            judge.compare_versions(*later, point, run)
        later = point, run
    if not versions:
        points.append(_uncommitted(judge, path))
    points.reverse()
    found = None
    if since is not None and pinned is not None:
        paths = dict.fromkeys(version.path for version in versions)
        found = _since(repository, judge, list(paths), Since(since, pinned, repository.time_of(pinned)))
    return History(points, _summary(judge, points), found)


class _Judge:
    """Scores and compares versions of one baseline, from the newest to the oldest.

    Queries that today's golden set does not hold are judged as they were when they were stored last.
    """

    def __init__(self, golden: GoldenSet, metrics: Sequence[Metric], now: Run) -> None:
        self.golden, self.metrics, self.now = golden, tuple(metrics), now
        self._left: dict[tuple[str, str | None, str], Query] = {}
        """The queries that left the golden set, by id, text and params."""
        self.queries_of(now, now.answers)

    def too_shallow(self, run: Run) -> str:
        """Say why a version cannot be scored; empty where it can."""
        depth = self.now.depth
        if depth is None or (run.depth is not None and run.depth >= depth):
            return ""
        held = "an unknown number of results" if run.depth is None else plural(run.depth, "result")
        return f"it holds {held} a query, fewer than today's {depth}"

    def _query(self, query_id: str, answer: Answer) -> Query:
        """Return the query of an answer as today's golden set has it, or as it was stored last."""
        todays = self.golden.queries.get(query_id)
        if todays is not None and is_answer_to(answer, todays):
            return todays
        key = query_id, answer.text, repr(sorted(answer.params.items()))
        return self._left.setdefault(key, stored_query(query_id, answer))

    def queries_of(self, run: Run, ids: Iterable[str]) -> list[Query]:
        """Return some queries of a version."""
        return [self._query(query_id, run.answers[query_id]) for query_id in ids]

    def todays_queries(self, run: Run) -> list[Query]:
        """Return the queries of today's golden set that a version holds in today's words."""
        return [
            query for query in self.queries_of(run, run.answers) if query is self.golden.queries.get(query.id)
        ]

    def evaluate(self, run: Run, queries: Iterable[Query]) -> Evaluation:
        """Score a version over some queries; one that it does not hold counts as empty."""
        golden = GoldenSet(queries, relevance_level=self.golden.relevance_level)
        return evaluate_run(golden, run, self.metrics, depth=self.now.depth)

    def compare(self, now: Evaluation, before: Run) -> Comparison:
        """Compare a scored version with an earlier one over the same queries."""
        return compare(now, evaluate_run(now.golden, before, self.metrics, depth=self.now.depth))

    @cached_property
    def today(self) -> Evaluation:
        """Today's baseline over the queries of today's golden set that it holds."""
        return self.evaluate(self.now, self.todays_queries(self.now))

    def means(self, evaluation: Evaluation) -> dict[str, float | None]:
        """Return the means; None where a metric counts none of the queries."""
        return {metric.name: evaluation.mean_or_none(metric, None) for metric in self.metrics}

    def deltas(self, comparison: Comparison | None) -> dict[str, float | None]:
        """Return how far each mean moved; None where no query that it counts is paired."""
        changes = {} if comparison is None else {one: comparison.change(one) for one in self.metrics}
        return {metric.name: change.delta if change.n else None for metric, change in changes.items()}

    def describe(self, point: HistoryPoint, run: Run) -> None:
        """Fill in what a version holds, its means, and how far today's are from them."""
        todays = self.todays_queries(run)
        point.query_count, point.n = len(run), len(todays)
        point.means = self.means(self.evaluate(run, todays))
        point.until_today = self.deltas(self.compare(self.today, run))

    def compare_versions(self, point: HistoryPoint, run: Run, earlier: HistoryPoint, before: Run) -> None:
        """Fill in what the version of `point` changed against the one before it."""
        if point.path != earlier.path:
            point.renamed_from = earlier.path
        comparison = self.compare(self.evaluate(run, self.queries_of(run, run.answers)), before)
        point.changes = self.deltas(comparison)
        point.added, point.reworded = list(comparison.new), list(comparison.reworded)
        point.dropped = list(comparison.removed)
        if point.dropped:
            gone = self.queries_of(before, point.dropped)
            point.dropped_means = self.means(self.evaluate(before, gone))
        point.relabelled = [
            i for i in comparison.paired if before.answers[i].judgments != run.answers[i].judgments
        ]
        if point.relabelled:
            as_before = self.deltas(comparison.under_stored_labels)
            point.as_judged_before = {name: delta for name, delta in as_before.items() if delta is not None}
        noise = {metric.name: comparison.run_noise(metric) for metric in self.metrics}
        point.margins = {name: one.margin for name, one in noise.items() if one is not None}


def _uncommitted(judge: _Judge, path: str) -> HistoryPoint:
    point = HistoryPoint("", 0, "not committed yet", path)
    judge.describe(point, judge.now)
    return point


def _read(repository: Repository, commit: str, path: str, called: str) -> Run | str | None:
    """Read the version of a commit; None where it has no such file, and why not where it cannot be read."""
    try:
        data = repository.read(commit, path)
        shown = f"{path} in {called}"
        return None if data is None else Run.loads(decode(data, shown), shown)
    except (GitError, RunError) as error:
        return str(error)


def _summary(judge: _Judge, points: Sequence[HistoryPoint]) -> list[MetricHistory]:
    means = judge.means(judge.today)
    found = []
    for name, now in means.items():
        line = [point.means.get(name) for point in points]
        best = min(points, key=lambda point: point.until_today.get(name) or 0.0)
        until_today = best.until_today.get(name) or 0.0
        is_today = until_today >= -TOLERANCE
        found.append(
            MetricHistory(
                metric=name,
                first=next((value for value in line if value is not None), None),
                now=now,
                best=now if is_today else best.means.get(name),
                best_commit="" if is_today else best.commit,
                from_best=0.0 if is_today else until_today,
                line=line,
            )
        )
    return found


def _since(repository: Repository, judge: _Judge, paths: Iterable[str], found: Since) -> Since:
    """Compare today's baseline with that of a pinned commit, wherever its file was then."""
    runs = (_read(repository, found.commit, path, found.revision) for path in paths)
    run = next((run for run in runs if run is not None), None)
    if run is None:
        found.problem = f"{found.revision} holds no baseline of this test"
    elif isinstance(run, str):
        found.problem = run
    elif judge.too_shallow(run):
        found.problem = (
            f"the baseline of {found.revision} holds fewer results a query than today's {judge.now.depth}"
        )
    if not isinstance(run, Run) or found.problem:
        return found
    comparison = judge.compare(judge.today, run)
    stored = comparison.under_stored_labels
    for metric in judge.metrics:
        change = comparison.change(metric)
        if not change.n:
            continue
        by_cost = sorted((cost, query_id) for query_id, cost in change.weighted_differences.items())
        found.metrics.append(
            MetricSince(
                metric=metric.name,
                then=change.baseline,
                now=change.now,
                delta=change.delta,
                interval=change.interval,
                n=change.n,
                worse=[query_id for cost, query_id in by_cost if cost < -TOLERANCE],
                better=list(change.better),
                as_judged_then=None if stored is None else stored.change(metric).delta,
            )
        )
    found.dropped = [*comparison.removed, *comparison.reworded]
    found.added = [*comparison.new, *comparison.reworded]
    if found.dropped:
        found.dropped_means = judge.means(judge.evaluate(run, judge.queries_of(run, found.dropped)))
    return found
