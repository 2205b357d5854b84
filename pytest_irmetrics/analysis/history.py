"""The history of a baseline: every committed version scored under one golden set, each compared with the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_irmetrics.base.git import GitError
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.comparison.stored_runs import is_answer_to, stored_query
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.reports.history_report import (
    HistoryPoint,
    MetricHistory,
    PinnedCommit,
    TestHistory,
)
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.base.git import Repository
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric


def add_versions(
    history: TestHistory,
    repository: Repository,
    path: str,
    now: Run,
    golden: GoldenSet,
    metrics: Sequence[Metric],
    *,
    since: str | None,
) -> None:
    """Add the committed versions of the baseline at a path of a repository to a history, scored under a golden set.

    `now` is the baseline as it is today, committed or not; `since` names a commit to compare it with. Of a merge, the
    whole counts as one commit. Raises GitError where the repository or that commit cannot be read.
    """
    pinned = None if since is None else repository.commit(since)
    versions = list(repository.history(path))
    found: list[tuple[HistoryPoint, Run | None]] = []
    for version in versions:
        point = HistoryPoint(version.commit, version.time, version.subject, version.path)
        run = _read(repository, version.commit, version.path, version.commit[:10])
        point.problem = _problem(run, now.depth) or ""
        if not found and isinstance(run, Run) and run != now:
            found.append((HistoryPoint("", 0, "not committed yet", path), now))
        found.append((point, run if isinstance(run, Run) and not point.problem else None))
    found = found or [(HistoryPoint("", 0, "not committed yet", path), now)]
    judge = _VersionScorer(
        golden, tuple(metrics), now, _left_queries(golden, [run for _, run in found if run])
    )
    scored = [(point, run) for point, run in reversed(found) if run is not None]
    for point, run in scored:
        judge.describe(point, run)
    for (earlier, before), (later, run) in pairwise(scored):
        judge.compare_versions(earlier, before, later, run)
    history.points = [point for point, _ in reversed(found)]
    history.summary = judge.summary(history.points)
    if since is not None and pinned is not None:
        history.since = PinnedCommit(since, pinned, repository.time_of(pinned))
        paths = dict.fromkeys(version.path for version in versions)
        runs = (_read(repository, pinned, one, since) for one in paths)
        found_run = next((run for run in runs if run is not None), None)
        judge.compare_since(history.since, found_run, history.leading)


def _read(repository: Repository, commit: str, path: str, called: str) -> Run | str | None:
    """Read the version of a commit; None where it has no such file, and why not where it cannot be read."""
    try:
        data = repository.read(commit, path)
        shown = f"{path} in {called}"
        return None if data is None else Run.loads(decode(data, shown), shown)
    except (GitError, RunError) as error:
        return str(error)


def _problem(run: Run | str | None, depth: int | None) -> str | None:
    """Say why a version cannot be scored at a depth; None where it can."""
    if not isinstance(run, Run):
        return run or "the baseline was deleted"
    if depth is None or (run.depth is not None and run.depth >= depth):
        return None
    held = "an unknown number of results" if run.depth is None else plural(run.depth, "result")
    return f"it holds {held} a query, fewer than today's {depth}"


def _left_queries(golden: GoldenSet, runs: Iterable[Run]) -> dict[str, list[Query]]:
    """Map ids to the queries that left the golden set, as they were stored last; `runs` are the newest first."""
    left: dict[str, list[Query]] = {}
    for run in runs:
        for query_id, answer in run.answers.items():
            known = [*left.get(query_id, []), *filter(None, [golden.queries.get(query_id)])]
            if not any(is_answer_to(answer, query) for query in known):
                left.setdefault(query_id, []).append(stored_query(query_id, answer))
    return left


@dataclass
class _VersionScorer:
    """Scores and compares versions of one baseline, as today's golden set judges them, or as they were stored last."""

    golden: GoldenSet
    metrics: tuple[Metric, ...]
    now: Run
    left: dict[str, list[Query]]

    @cached_property
    def today(self) -> Evaluation:
        """Today's baseline over the queries of today's golden set that it holds."""
        return self.evaluate(self.now)

    def evaluate(self, run: Run, ids: Iterable[str] | None = None) -> Evaluation:
        """Score some queries of a version; without `ids`, those of today's golden set that it holds in today's words."""
        todays = self.golden.queries
        if ids is None:
            ids = [i for i, answer in run.answers.items() if i in todays and is_answer_to(answer, todays[i])]
        queries = [
            next(
                query
                for query in (*filter(None, [todays.get(i)]), *self.left.get(i, []))
                if is_answer_to(run.answers[i], query)
            )
            for i in ids
        ]
        golden = GoldenSet(queries, relevance_level=self.golden.relevance_level)
        return evaluate_run(golden, run, self.metrics, depth=self.now.depth)

    def compare(self, now: Evaluation, before: Run) -> Comparison:
        """Compare a scored version with an earlier one over the same queries."""
        return compare(now, evaluate_run(now.golden, before, self.metrics, depth=self.now.depth))

    def means(self, evaluation: Evaluation) -> dict[str, float | None]:
        """Return the means; None where a metric counts none of the queries."""
        return {metric.name: evaluation.mean_or_none(metric, None) for metric in self.metrics}

    def deltas(self, comparison: Comparison | None) -> dict[str, float | None]:
        """Return how far each mean moved; None where no query that it counts is paired."""
        changes = {} if comparison is None else {one: comparison.change(one) for one in self.metrics}
        return {metric.name: change.delta if change.n else None for metric, change in changes.items()}

    def describe(self, point: HistoryPoint, run: Run) -> None:
        """Fill in what a version holds, its means, and how far today's are from them."""
        evaluation = self.evaluate(run)
        point.query_count, point.n = len(run), len(evaluation.golden.queries)
        point.means = self.means(evaluation)
        point.until_today = self.deltas(self.compare(self.today, run))

    def compare_versions(self, earlier: HistoryPoint, before: Run, later: HistoryPoint, run: Run) -> None:
        """Fill in what a version changed against the one before it."""
        comparison = self.compare(self.evaluate(run, run.answers), before)
        later.renamed_from = earlier.path if later.path != earlier.path else ""
        later.changes = self.deltas(comparison)
        later.added, later.reworded = list(comparison.new), list(comparison.reworded)
        later.dropped = list(comparison.removed)
        if later.dropped:
            later.dropped_means = self.means(self.evaluate(before, later.dropped))
        later.relabelled = [
            i for i in comparison.paired if before.answers[i].judgments != run.answers[i].judgments
        ]
        if later.relabelled:
            as_before = self.deltas(comparison.under_stored_labels)
            later.as_judged_before = {name: delta for name, delta in as_before.items() if delta is not None}
        noise = {metric.name: comparison.run_noise(metric) for metric in self.metrics}
        later.margins = {name: one.margin for name, one in noise.items() if one is not None}

    def summary(self, points: Sequence[HistoryPoint]) -> list[MetricHistory]:
        """Return for each metric its course, and how far today's mean is from the best."""
        found = []
        for name, now in self.means(self.today).items():
            line = [point.means.get(name) for point in points]
            best = min(points, key=lambda point: point.until_today.get(name) or 0.0)
            below = best.until_today.get(name) or 0.0
            first = next((value for value in line if value is not None), None)
            mean, commit = (best.means.get(name), best.commit) if below < -TOLERANCE else (now, "")
            found.append(MetricHistory(name, first, now, mean, commit, below if commit else 0.0, line))
        return found

    def compare_since(self, pin: PinnedCommit, run: Run | str | None, leading: str) -> None:
        """Fill in how today's baseline differs from that of a pinned commit, or why nothing can be compared."""
        pin.problem = _problem(run, self.now.depth) or ""
        if run is None:
            pin.problem = f"{pin.revision} holds no baseline of this test"
        if not isinstance(run, Run) or pin.problem:
            return
        comparison = self.compare(self.today, run)
        metric = next(metric for metric in self.metrics if metric.name == leading)
        change, stored = comparison.change(metric), comparison.under_stored_labels
        pin.n, pin.interval, pin.worse = change.n, change.interval, list(change.worse)
        pin.deltas = self.deltas(comparison)
        there = None if stored is None else stored.change(metric).delta
        if there is not None and abs(there - change.delta) > TOLERANCE:
            pin.as_judged_there = there
