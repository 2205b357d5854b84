"""Find in Git what a test was judged by at the commit where this branch left another (``--ir-since``), and which baselines are gone since.

If nothing was renamed since, a test's baseline stood where its own stands today, and holds the queries that it asks today. Else
the baselines of that commit, and queries in them, that no other test has today are looked through:

| what has another name | how it is found |
|---|---|
| the test's folder, or ``ir_baseline_dir`` | `_moved_files`: another baseline has its module and test in its path |
| the test, its module or its parameters | `renamed_test`: the baseline that holds most of its queries, of those whose test is gone |
| a query's id | `_with_moved_queries`: its words stand in the test's own baseline, under an id that is asked no more |
| the test that asks a query | the same: its words stand in another baseline, whose test is gone or asks it no more |
| the golden set | `_golden_set`: the baseline names its file |

docs/since.md sums them up; tests/scenarios/since.yaml and tests/faults/test_git.py show each.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import pytest

from pytest_irmetrics.analysis.since import CommittedTest
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import nearest_repository
from pytest_irmetrics.base.git import GitError, Repository
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import stored_runs
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.formats import format_of
from pytest_irmetrics.plugin.baselines import is_test_gone
from pytest_irmetrics.plugin.config import run_config
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.reports.item_report import Note, SinceReport
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import Answer, decode
from pytest_irmetrics.run.baseline import BaselineName, folder_of_test, is_baseline


@dataclass(eq=False)
class _Fork:
    """Where HEAD left a branch: the commit that tests are compared with."""

    repository: Repository
    ref: str
    """The branch, tag or commit of ``--ir-since``."""
    commit: str
    directory: str
    """The setting ir_baseline_dir."""
    renamed: dict[str, str]
    """Today's path of a file → that at the commit."""
    deleted: list[str]
    left_out: set[str]
    """The files that a sparse checkout leaves out."""
    _runs: dict[str, Run | None] = field(default_factory=dict)

    @cached_property
    def files(self) -> set[str]:
        """The paths of the commit's files."""
        return set(self.repository.files(self.commit, ""))

    @cached_property
    def baselines(self) -> list[str]:
        """The paths of the commit's baselines."""
        return sorted(one for one in self.files if is_baseline(one, self.directory))

    def is_gone(self, file: Path) -> bool:
        """Tell whether a file of the commit is gone, also where that is not staged; not one that a sparse checkout leaves out."""
        path = file.relative_to(self.repository.top).as_posix()
        return path in self.files and path not in self.left_out and not file.exists()

    def stored_run(self, path: str) -> Run | None:
        """Return the run in a baseline of the commit; None where there is no such file. Raises RunError and GitError."""
        if path not in self._runs:
            data, shown = self.repository.read(self.commit, path), f"{path} at {self.ref}"
            self._runs[path] = None if data is None else Run.loads(decode(data, shown), shown)
        return self._runs[path]


_fork_key = pytest.StashKey[_Fork]()


def _fork_of(config: pytest.Config, folder: Path) -> _Fork:
    """Return where HEAD left a branch. Raises GitError, also where a folder is in another repository than the root directory."""
    if nearest_repository(folder.resolve()) != nearest_repository(config.rootpath.resolve()):
        text = f"{folder} is in another Git repository than {config.rootpath}, as a submodule is, and its commits are not compared with that one's. Run its tests by themselves, with --rootdir there."
        raise GitError(text)
    if _fork_key not in config.stash:
        repository, settings = Repository(config.rootpath), run_config(config)
        since, directory = settings.since, settings.baseline_dir
        commit = repository.merge_base(since)
        config.stash[_fork_key] = _Fork(repository, since, commit, directory, *repository.changes(commit))
    return config.stash[_fork_key]


def read_committed(item: GatedItem) -> CommittedTest:
    """Return what a test was judged by at the commit where HEAD left a branch, for `add_since`. Raises GitError, which fails the test."""
    ref, is_first = item.settings.since, _fork_key not in item.node.config.stash
    try:
        fork = _fork_of(item.node.config, Path(item.node.path).parent)
        if is_first and fork.commit == fork.repository.commit("HEAD"):
            said = f"{ref} holds the commit that is checked out, so only what is not committed is compared."
            item.notes.append(Note("quiet", f"{said} After a merge: --ir-since=HEAD^1."))
        return _read_at(fork, item)
    except GitError as error:
        is_setting = item.node.config.getoption("ir_since") is None
        raise GitError(f"{'the setting ir_since, ' if is_setting else '--ir-since='}{ref}: {error}") from None


def _read_at(fork: _Fork, item: GatedItem) -> CommittedTest:
    """Return what a test was judged by at a commit. Raises GitError."""
    path = fork.repository.path_of(item.baseline_file)
    report = SinceReport(fork.ref, fork.commit, "new", path, refuses=item.settings.refuses)
    try:
        earlier_path = _earlier_path(item, fork, path)
        own = fork.stored_run(earlier_path)
        answers, moved_from = _with_moved_queries(item, fork, earlier_path, own)
    except RunError as error:
        return CommittedTest(report, why=str(error))
    counts = Counter(path for path, _ in moved_from.values())
    # Where the test had no baseline, the one that most of its queries were in tells how it was judged.
    source = earlier_path if own is not None or not counts else counts.most_common(1)[0][0]
    stored = fork.stored_run(source)
    if stored is None:
        return CommittedTest(report)
    run = Run.of(answers, stored.header) if moved_from else stored
    report.renamed_from = None if own is None or earlier_path == path else earlier_path
    renamings = [f"Its baseline was {earlier_path}."] if report.renamed_from else []
    for one, count in counts.items():
        where = "under another id" if one == earlier_path else f"in {one}"
        renamings.append(f"{plural(count, 'query was', 'queries were')} {where}.")
    known = _golden_set_under_todays_ids(item, fork, source, run, moved_from)
    return CommittedTest(report, run, *known, renamings, is_partial=own is None)


def baselines_gone_since(
    session: pytest.Session, renamed: Container[str | None], of_tests: Container[Path]
) -> list[str]:
    """Return the baselines below the root directory that are gone since HEAD left a branch, or whose tests are, but for the `renamed`.

    Those `of_tests` have a test in this run. The paths are as `RunConfig.shown` has them. Empty where Git
    cannot tell.
    """
    config = session.config
    try:
        fork = _fork_of(config, config.rootpath)
        root = fork.repository.path_of(config.rootpath.resolve())
    except GitError:  # each test failed with it
        return []
    carried_over = {path for new, path in fork.renamed.items() if is_baseline(new, fork.directory)}
    left = (one for one in fork.baselines if one not in carried_over and one not in renamed)
    gone = (PurePosixPath(one) for one in left if _test_is_gone(session, fork, one))
    below = (config.rootpath / path.relative_to(root) for path in gone if path.is_relative_to(root))
    return [run_config(config).shown(path) for path in below if path not in of_tests or not path.exists()]


# Another name of its baseline


def _earlier_path(item: GatedItem, fork: _Fork, path: str) -> str:
    """Return the path at which the baseline stood that is at `path` today; that itself where none is found.

    Raises RunError, and GitError where it may be one of several.
    """
    if fork.stored_run(path) is not None:
        return path
    found = [] if path in fork.renamed else _moved_files(fork, path)
    if len(found) > 1:
        either = f"{path} may be what was any of {', '.join(found)}."
        raise GitError(f"{either} Move it in a commit of its own: git mv OLD {path}")
    if found:
        return found[0]
    gone = (one for one in fork.baselines if _test_is_gone(item.node.session, fork, one))
    runs = {one: fork.stored_run(one) or Run({}) for one in gone}
    return stored_runs.renamed_test(path, item.golden.queries, runs, fork.renamed.get(path, path))


def _moved_files(fork: _Fork, path: str) -> list[str]:
    """Return the commit's files with the module and test of a baseline in their paths: those that are gone; else those that today's ir_baseline_dir makes no baselines."""
    tail, directory = path.split("/")[-2:], fork.directory
    gone = [one for one in fork.deleted if one.split("/")[-2:] == tail]
    if gone:
        return gone
    # The setting ir_baseline_dir was another then, and what was stored there is there still.
    files = fork.repository.files(fork.commit, folder_of_test(path, directory).as_posix())
    return [one for one in files if one.split("/")[-2:] == tail and not is_baseline(one, directory)]


def _test_is_gone(session: pytest.Session, fork: _Fork, path: str) -> bool:
    """Tell whether a baseline of the commit is of no test any more: it is gone, or its test is."""
    file, folder = fork.repository.top / path, fork.repository.top / folder_of_test(path, fork.directory)
    return fork.is_gone(file) or is_test_gone(session, file, folder, fork.is_gone)


# Other names of its queries


def _with_moved_queries(
    item: GatedItem, fork: _Fork, earlier_path: str, own: Run | None
) -> tuple[Mapping[str, Answer], Mapping[str, tuple[str, str]]]:
    """Return a test's answers, with those to queries that another test asked then and asks no more, or that had another id.

    The second mapping has, by today's id, the baseline of the commit that such an answer is from, at `earlier_path` the test's
    own, and its id there.
    """
    queries, answers = item.golden.queries, {} if own is None else own.answers
    wanted = stored_runs.unanswered(queries, answers)
    if not wanted:  # as of nearly every test, which then looks through no other baseline
        return answers, {}
    answered = {query_id: queries[query_id] for query_id in queries if query_id not in wanted}
    moved, moved_from = dict[str, Answer](), dict[str, tuple[str, str]]()
    earlier = BaselineName.of(earlier_path)
    others = sorted({*fork.baselines} - {earlier_path})
    others.sort(key=lambda one: earlier.likeness(BaselineName.of(one)), reverse=True)
    for one in (earlier_path, *others):
        with suppress(IRMetricsError):  # then the test that it is of fails
            run = fork.stored_run(one) or Run({})
            asked = answered if one == earlier_path else _asked_today(item, fork, one, run)
            still = [query for query_id, query in wanted.items() if query_id not in moved]
            for new_id, old_id in stored_runs.ids_by_words(still, run.answers, asked).items():
                moved[new_id], moved_from[new_id] = run.answers[old_id], (one, old_id)
    left = [old_id for path, old_id in moved_from.values() if path == earlier_path]
    came = {i: was for i, was in moved_from.items() if was != (earlier_path, i)}
    return stored_runs.with_moved(answers, moved, left), came


def _asked_today(item: GatedItem, fork: _Fork, path: str, run: Run) -> Mapping[str, Query]:
    """Return the queries that the test of a baseline asks today: none where that is gone. Raises GoldenSetError."""
    if _test_is_gone(item.node.session, fork, path):
        return {}
    return item.settings.golden_set(fork.repository.top / _golden_path(fork, path, run)).queries


# Its golden set, and that of another baseline


def _golden_set(item: GatedItem, fork: _Fork, baseline: str, run: Run) -> tuple[GoldenSet | None, str]:
    """Return the golden set that a baseline was stored for, and no text; or None, and why it is not known."""
    golden, settings = item.golden, item.settings
    consequence = "so that its edits show as far as the baseline of that commit tells"
    if golden.path is None:
        return None, f"the golden set is made in Python, {consequence}."
    path = _golden_path(fork, baseline, run)
    try:
        today = fork.repository.path_of(golden.path)
        data = fork.repository.read(fork.commit, path) if path and not path.startswith("../") else None
        if data is None:  # the baseline names no file of that commit, as after a renaming
            path, data = today, fork.repository.read(fork.commit, today)
        if data is None:
            return None, f"{path} is no file of that commit, {consequence}."
        if today == path and golden.path.read_bytes() == data:
            return golden, ""
        if format_of(Path(path)) == "trec":
            return None, f"{path} has its texts in another file, {consequence}."
        with TemporaryDirectory() as temporary:
            file = Path(temporary, posixpath.basename(path))
            file.write_bytes(data)
            custom, shown = settings.custom_metrics, f"{path} at {settings.since}"
            return GoldenSet.load(file, custom_metrics=custom, shown=shown), ""
    except IRMetricsError as error:
        first = str(error).partition("\n")[0]
        return None, f"the golden set of that commit cannot be read, {consequence}: {first}"


def _golden_set_under_todays_ids(
    item: GatedItem, fork: _Fork, source: str, run: Run, moved_from: Mapping[str, tuple[str, str]]
) -> tuple[GoldenSet | None, str]:
    """Return the golden set that a test's baseline was stored for, with the queries that had another id, or were in another set.

    `moved_from` is where these were. None, and why, as `_golden_set` does.
    """
    golden, why = _golden_set(item, fork, source, run)
    if golden is None or not moved_from:
        return golden, why
    paths = {path for path, _ in moved_from.values()}
    known = {path: _golden_set(item, fork, path, fork.stored_run(path) or run)[0] for path in paths}
    queries = dict(golden.queries)
    for query_id, (path, old_id) in moved_from.items():
        golden_set = known[path]
        if golden_set is not None and old_id in golden_set.queries:
            queries[query_id] = replace(golden_set.queries[old_id], id=query_id)
    return replace(golden, _queries=queries.values()), why


def _golden_path(fork: _Fork, baseline: str, run: Run) -> str:
    """Return the path in the repository of the golden set that a baseline names; `../…` where it is outside.

    Empty where the setting ir_baseline_dir was another then: how deep that folder was is not known.
    """
    if not is_baseline(baseline, fork.directory):
        return ""
    folder = folder_of_test(baseline, fork.directory)
    return posixpath.normpath(posixpath.join(folder, run.golden_set or ""))
