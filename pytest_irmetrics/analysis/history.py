"""The history of a baseline: a chain of comparisons, each committed version with the one before it, under one golden set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from pytest_irmetrics.base.git import GitError, Read, Repository
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import Comparison, compare
from pytest_irmetrics.comparison.stored_runs import renamed_test, under_todays_ids
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.query import is_in_the_words_of
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.reports.history import HistoryPoint
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import Answer, decode
from pytest_irmetrics.run.baseline import BaselineName, is_baseline
from pytest_irmetrics.run.run_json import FORMAT


def history_of(
    repository: Repository,
    read: Read,
    path: str,
    now: Run,
    golden: GoldenSet,
    metrics: Sequence[Metric],
    since: str | None,
) -> tuple[list[HistoryPoint], HistoryPoint | None]:
    """Return the versions of the baseline at a path of a repository, oldest first, and what today's changed against a commit's.

    `now` is the baseline as it is today, committed or not, which is the last version; `since` names that commit. Of a merge, the
    whole counts as one commit. Raises GitError where the repository or the commit cannot be read.
    """

    def former(new: str, commit: str, gone: list[str], git_says: str) -> str:
        """Return the path that a baseline had in a commit, before the next renamed it: the one that `--ir-since` would take."""
        directory = BaselineName.of(new).module.parent.name
        wanted = filter(lambda one: is_baseline(one, directory), (*gone, git_says))
        runs = {one: run for one in wanted if isinstance(run := _read_version(read, commit, one, ""), Run)}
        return renamed_test(new, golden.queries, runs, git_says)

    def read_versions() -> Iterator[tuple[HistoryPoint, Run | str]]:
        """Yield each version with its run, oldest first, then what is not committed: one in memory at a time, as all may take gigabytes."""
        run: Run | str = ""
        for version in reversed(versions):
            run = _read_version(read, version.commit, version.path, version.commit[:10], now.depth)
            yield HistoryPoint(version.commit, version.time, version.subject, version.path), run
        if run != now:
            yield HistoryPoint("", 0, "not committed yet", path), now

    versions = list(repository.history(path, former))
    now_in_full = Evaluation(golden, Retrieved(now), tuple(metrics), now.depth)
    today, before = _evaluate(now, now_in_full), None
    points: list[HistoryPoint] = []
    for point, run in read_versions():
        points.append(point)
        if isinstance(run, Run):
            evaluation = _evaluate(run, now_in_full)
            point.query_count = sum(not answer.xfail for answer in run.answers.values())
            point.means = {metric.name: evaluation.mean_or_none(metric, None) for metric in metrics}
            point.until_today = _deltas(compare(today, evaluation))
            if before is not None:
                _compare(point, evaluation, before)
            before = evaluation
        else:
            point.problem = run
    since_point = None
    if since is not None:
        pinned = repository.commit(since)
        since_point = HistoryPoint(pinned, repository.time_of(pinned), since, path)
        paths = dict.fromkeys([path, *(version.path for version in versions)])
        runs = [_read_version(read, pinned, one, since, now.depth) for one in paths]
        run = next((one for one in runs if isinstance(one, Run)), runs[-1])
        if isinstance(run, Run):
            _compare(since_point, today, _evaluate(run, now_in_full))
        else:
            since_point.problem = run
    return points, since_point


def _read_version(read: Read, commit: str, path: str, called: str, depth: int | None = None) -> Run | str:
    """Return the version of a commit, or why it cannot be scored at a depth."""
    try:
        if (data := read(commit, path)) is None:
            return f"{called} holds no baseline of this test"
        shown = f"{path} in {called}"
        run = _loads(decode(data, shown), shown)
    except GitError as error:
        return str(error)
    except RunError as error:
        # Without what mends a file: no help for what is committed.
        return shown + str(error).removeprefix(shown).partition(". ")[0]
    if depth is None or (run.depth is not None and run.depth >= depth):
        return run
    held = "an unknown number of results" if run.depth is None else plural(run.depth, "result")
    return f"it holds {held} a query, fewer than today's {depth}"


def _loads(text: str, shown: str) -> Run:
    """Read a version of a baseline; a query whose line stands in another version too, as most do, is read once.

    That takes the layout of `dumps` in run/run_json.py; of any other each is read whole.
    """
    head, between, rest = text.partition('"queries": [\n')
    lines = rest.removesuffix("\n]\n}\n").split(",\n")
    with suppress(ValueError):  # it is wrong, or not one query a line
        answers = dict(map(_read_query, lines))
        if len(answers) == len(lines):
            return Run.of(answers, Run.loads(f"{head}{between}]}}", shown).header)
    return Run.loads(text, shown)


@lru_cache(maxsize=50_000)
def _read_query(line: str) -> tuple[str, Answer]:
    """Return the id and the answer of a query's line. Raises ValueError where it is not one query."""
    (pair,) = Run.loads(f'{{"format": "{FORMAT}", "version": 1, "queries": [{line}]}}').answers.items()
    return pair


def _evaluate(run: Run, today: Evaluation) -> Evaluation:
    """Score a version as today's is scored, over those of the golden set's queries that it holds in their words, also under another id."""
    return compare(today, today.of_run(under_todays_ids(run, today.golden.queries, "")[0])).baseline


def _deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far each mean moved; none of a metric that counts no paired query."""
    changes = map(comparison.change, comparison.now.metrics)
    return {change.metric.name: change.delta for change in changes if change.n}


def _compare(point: HistoryPoint, now: Evaluation, before: Evaluation) -> None:
    """Fill in what a version changed against the one before it."""
    old, new = before.run.answers, now.run.answers
    point.added, point.dropped = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    # A line that both have was read once, and is one object: `_loads`.
    for query_id in sorted(i for i in new.keys() & old.keys() if new[i] is not old[i]):
        one, other = old[query_id], new[query_id]
        if not is_in_the_words_of(other, one):
            point.reworded.append(query_id)
        elif one.judgments != other.judgments:
            point.relabelled.append(query_id)
    comparison = compare(now, before)
    point.changes = _deltas(comparison)
    if point.relabelled and (stored := comparison.under_stored_labels) is not None:
        point.as_judged_before = _deltas(stored)
    for name, change in point.changes.items():
        lowest = min(change, point.as_judged_before.get(name, 0.0))
        if lowest < -comparison.noise_margin(name) - TOLERANCE:
            point.lowered[name] = lowest
