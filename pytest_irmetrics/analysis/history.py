"""The history of a baseline: every committed version scored under one golden set, and what each commit did to the means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.scored_versions import ScoredVersion, VersionScorer, paired
from pytest_irmetrics.base.git import GitError
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports.history_report import (
    HistoryPoint,
    MetricHistory,
    MetricSince,
    Since,
)
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.base.git import Repository, Version
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Metric


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
    scorer = VersionScorer(golden, metrics, now.depth)
    pinned = None if since is None else repository.commit(since)
    points: list[HistoryPoint] = []
    today = scorer.score(now)
    later: tuple[HistoryPoint, ScoredVersion] | None = None
    versions = list(repository.history(path))
    for version in versions:
        point = HistoryPoint(version.commit, version.time, version.subject, version.path)
        run = _read(repository, version, point)
        if run is not None and not points and run != now:
            later = _uncommitted(scorer, today, path)
            points.append(later[0])
        points.append(point)
        scored = None if run is None else _describe(scorer, point, run, today)
        if scored is None:
            continue
        if later is not None:
            _compare(scorer, scored, later[1], later[0], point)
        later = point, scored
    if not versions:
        points.append(_uncommitted(scorer, today, path)[0])
    points.reverse()
    found = None
    if since is not None and pinned is not None:
        found = _since(repository, scorer, versions, since, pinned, today)
    return History(points, _summary(scorer, points, today), found)


def _uncommitted(
    scorer: VersionScorer, today: ScoredVersion, path: str
) -> tuple[HistoryPoint, ScoredVersion]:
    point = HistoryPoint("", 0, "not committed yet", path)
    _describe(scorer, point, today.run, today)
    return point, today


def _read(repository: Repository, version: Version, point: HistoryPoint) -> Run | None:
    """Read one version; where that is not possible, the point says why."""
    try:
        data = repository.read(version.commit, version.path)
        if data is None:
            point.problem = "the baseline was deleted"
            return None
        shown = f"{version.path} in {version.commit[:10]}"
        return Run.loads(decode(data, shown), shown)
    except (GitError, RunError) as error:
        point.problem = str(error)
        return None


def _describe(
    scorer: VersionScorer, point: HistoryPoint, run: Run, today: ScoredVersion
) -> ScoredVersion | None:
    """Score one version, and fill in its means; None where it is too shallow, and the point says so."""
    if scorer.depth is not None and (run.depth is None or run.depth < scorer.depth):
        held = "an unknown number of results" if run.depth is None else plural(run.depth, "result")
        point.problem = f"it holds {held} a query, fewer than today's {scorer.depth}"
        return None
    scored = scorer.score(run)
    todays = [one for one in scored.by_key.values() if one.is_todays]
    point.query_count, point.n = len(run), len(todays)
    point.means = scorer.means(todays)
    point.until_today = scorer.changes(paired(scored, today))
    return scored


def _compare(
    scorer: VersionScorer,
    before: ScoredVersion,
    after: ScoredVersion,
    point: HistoryPoint,
    earlier: HistoryPoint,
) -> None:
    """Fill in what a version, `after`, changed; `point` is its own, and `earlier` that of the one before."""
    if point.path != earlier.path:
        point.renamed_from = earlier.path
    pairs = paired(before, after)
    point.changes = scorer.changes(pairs)
    added = [one.query_id for key, one in after.by_key.items() if key not in before.by_key]
    gone = {one.query_id: one for key, one in before.by_key.items() if key not in after.by_key}
    point.reworded = [query_id for query_id in added if query_id in gone]
    point.added = [query_id for query_id in added if query_id not in gone]
    point.dropped = [query_id for query_id in gone if query_id not in point.reworded]
    if point.dropped:
        point.dropped_means = scorer.means(gone[query_id] for query_id in point.dropped)
    relabelled = [
        (one, other)
        for one, other in pairs
        if one is not other and one.answer.judgments != other.answer.judgments
    ]
    if relabelled:
        point.relabelled = [one.query_id for one, _ in relabelled]
        then = scorer.changes(scorer.as_judged_before(pairs, relabelled))
        point.as_judged_before = {name: value for name, value in then.items() if value is not None}
    if scorer.any_repeated:
        comparison = scorer.comparison(before.run, after.run)
        noise = {metric.name: comparison.run_noise(metric) for metric in scorer.metrics}
        point.margins = {name: one.margin for name, one in noise.items() if one is not None}


def _summary(
    scorer: VersionScorer, points: Sequence[HistoryPoint], today: ScoredVersion
) -> list[MetricHistory]:
    now = scorer.means(one for one in today.by_key.values() if one.is_todays)
    found = []
    for metric in scorer.metrics:
        name = metric.name
        line = [point.means.get(name) for point in points]
        best = min(points, key=lambda point: point.until_today.get(name) or 0.0)
        until_today = best.until_today.get(name) or 0.0
        is_today = until_today >= -TOLERANCE
        found.append(
            MetricHistory(
                metric=name,
                first=next((value for value in line if value is not None), None),
                now=now[name],
                best=now[name] if is_today else best.means.get(name),
                best_commit="" if is_today else best.commit,
                from_best=0.0 if is_today else until_today,
                line=line,
            )
        )
    return found


def _since(
    repository: Repository,
    scorer: VersionScorer,
    versions: Sequence[Version],
    revision: str,
    commit: str,
    today: ScoredVersion,
) -> Since:
    """Compare today's baseline with that of a pinned commit, wherever its file was then."""
    found = Since(revision, commit, repository.time_of(commit))
    paths = dict.fromkeys(version.path for version in versions)
    try:
        contents = ((path, repository.read(commit, path)) for path in paths)
        path, data = next(((path, data) for path, data in contents if data is not None), ("", None))
        if data is None:
            found.problem = f"{revision} holds no baseline of this test"
            return found
        shown = f"{path} in {revision}"
        run = Run.loads(decode(data, shown), shown)
    except (GitError, RunError) as error:
        found.problem = str(error)
        return found
    if scorer.depth is not None and (run.depth is None or run.depth < scorer.depth):
        found.problem = f"the baseline of {revision} holds fewer results a query than today's {scorer.depth}"
        return found
    then = scorer.score(run)
    comparison = scorer.comparison(run, today.run)
    stored = comparison.under_stored_labels
    for metric in scorer.metrics:
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
    gone = [one for key, one in then.by_key.items() if key not in today.by_key]
    found.dropped = [one.query_id for one in gone]
    found.dropped_means = scorer.means(gone) if gone else {}
    found.added = [one.query_id for key, one in today.by_key.items() if key not in then.by_key]
    return found
