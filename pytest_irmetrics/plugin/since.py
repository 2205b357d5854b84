"""Read what a test was judged by at the commit where this branch left another (``--ir-since``), and say what the branch accepts."""

from __future__ import annotations

import posixpath
from collections.abc import Container
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from pytest_irmetrics.analysis.since import CommittedTest
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import nearest_repository
from pytest_irmetrics.base.git import GitError, Repository
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison.stored_runs import is_in_the_words_of
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin.config import run_config
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.reports.item_report import Note, SinceReport
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import decode
from pytest_irmetrics.run.baseline import parameter_parts, split_baseline_path


class _Departure(NamedTuple):
    """Where HEAD left a branch: the commit that tests are compared with."""

    repository: Repository
    commit: str
    renamed: dict[str, str]
    """Today's path of a file → that at the commit."""
    deleted: list[str]


_departure_key = pytest.StashKey[_Departure]()


def _departure(config: pytest.Config, ref: str, folder: Path) -> _Departure:
    """Return where HEAD left a branch. Raises GitError, also where a folder is in another repository than the root directory."""
    if nearest_repository(folder.resolve()) != nearest_repository(config.rootpath.resolve()):
        raise GitError(
            f"{folder} is in another Git repository than {config.rootpath}, as a submodule is, and its commits are not "
            "compared with that one's. Run its tests by themselves, with --rootdir there."
        )
    if _departure_key not in config.stash:
        repository = Repository(config.rootpath)
        commit = repository.merge_base(ref)
        config.stash[_departure_key] = _Departure(repository, commit, *repository.renamed_and_deleted(commit))
    return config.stash[_departure_key]


def read_committed(item: GatedItem) -> CommittedTest:
    """Return what a test was judged by. Raises GitError."""
    ref, is_first = item.settings.since, _departure_key not in item.node.config.stash
    try:
        left = _departure(item.node.config, ref, Path(item.node.path).parent)
        if is_first and left.commit == left.repository.commit("HEAD"):
            said = f"{ref} is the commit that is checked out, so only what is not committed is compared."
            item.notes.append(Note("quiet", f"{said} After a merge: --ir-since=HEAD^1."))
        path = left.repository.path_of(item.baseline_file)
        report = SinceReport(ref, left.commit, "new", path)
        refuses = item.settings.accept == "fail" and not item.settings.update
        try:
            run, before, is_part = _read_run(item, left, path), path, False
            if run is None and (moved_from := _moved_from(left, path, item.settings.baseline_dir)):
                run, before = _read_run(item, left, moved_from), moved_from
            elif run is None:
                run, before, is_part = _run_with_its_queries(item, left, path)
        except RunError as error:
            return CommittedTest(report, refuses, why=str(error))
        if run is None:
            return CommittedTest(report, refuses)
        was = f"{plural(len(run), 'query was', 'queries were')} in" if is_part else "Its baseline was"
        told = [f"{was} {before}."] if before != path else []
        report.renamed_from = before if told and not is_part else None
        return CommittedTest(report, refuses, run, *_golden_set(item, left, before, run), told, is_part)
    except GitError as error:
        is_setting = item.node.config.getoption("ir_since") is None
        raise GitError(f"{'the setting ir_since, ' if is_setting else '--ir-since='}{ref}: {error}") from None


def _read_run(item: GatedItem, left: _Departure, path: str) -> Run | None:
    """Return the run in a baseline of the commit; None where there is no such file. Raises RunError."""
    data, shown = left.repository.read(left.commit, path), f"{path} at {item.settings.since}"
    return None if data is None else Run.loads(decode(data, shown), shown)


def _moved_from(left: _Departure, path: str, directory: str) -> str | None:
    """Return the path at which a baseline stood that was not at its own, as Git or its name finds it."""
    parts = path.split("/")
    alike = [one for one in left.deleted if one.split("/")[-2:] == parts[-2:]]
    if path in left.renamed:
        alike = [left.renamed[path]]
    elif not alike:  # the setting ir_baseline_dir was another then, and what was stored there is there still
        files = left.repository.files(left.commit, "/".join(parts[: -3 - directory.count("/")]))
        alike = [one for one in files if one.split("/")[-2:] == parts[-2:] and not _is_below(one, directory)]
    if len(alike) > 1:
        either = f"{path} may be what was any of {', '.join(alike)}."
        raise GitError(f"{either} Move it in a commit of its own: git mv OLD {path}")
    return alike[0] if alike else None


def _is_below(path: str, directory: str) -> bool:
    """Tell whether a file is where the baselines of any folder are: ``<folder>/<directory>/<module>/<name>.json``."""
    return f"/{path}".rsplit("/", 2)[0].endswith(f"/{directory}")


def _run_with_its_queries(item: GatedItem, left: _Departure, path: str) -> tuple[Run | None, str, bool]:
    """Return what the commit's baselines hold of the queries of a test that had none there: the one that holds most.

    It is one of the same function, or of another with the same parameters where that is gone. With the run come its path, and
    whether it is a part alone of what is there: queries that no golden set asks today which was there. Raises RunError.
    """
    place, function, ids = split_baseline_path(PurePosixPath(path))
    repository, golden_sets = left.repository, item.parameter.siblings
    stored, asked = repository.files(left.commit, str(place)), [item.golden]
    with suppress(GitError):  # of a golden set that is in no commit
        if stored and golden_sets:
            there = (one for one in golden_sets if repository.files(left.commit, repository.path_of(one)))
            asked = [item.settings.golden_set(one) for one in there]
    found: list[tuple[int, int, str, Run, bool]] = []
    for one in stored:
        _, its_function, its_ids = split_baseline_path(PurePosixPath(one))
        gone = not (repository.top / one).exists()
        is_renamed = gone and its_ids == ids
        run = _read_run(item, left, one) if is_renamed or its_function == function else None
        if run is not None:
            held = _shared_ids(run, item.golden).difference(
                *(_shared_ids(run, other) for other in asked if not gone)
            )
            is_part = not (is_renamed or (gone and 2 * len(held) >= len(run)))
            if is_part:
                run = Run.of({query_id: run.answers[query_id] for query_id in held}, run.header)
            if held or is_renamed:
                alike = len(parameter_parts(path) & parameter_parts(one))
                found.append((len(held), alike, one, run, is_part))
    most, _, before, best, is_part = max(found, key=lambda one: one[:3], default=(0, 0, path, None, False))
    return (best, before, is_part) if most or len(found) == 1 else (None, path, False)


def _shared_ids(run: Run, golden: GoldenSet) -> set[str]:
    """Return the ids of a run's queries that a golden set asks in the same words."""
    queries = golden.queries
    return {i for i, one in run.answers.items() if i in queries and is_in_the_words_of(one, queries[i])}


def _golden_set(item: GatedItem, left: _Departure, baseline: str, run: Run) -> tuple[GoldenSet | None, str]:
    """Return the golden set that a baseline was stored for; None, and why, where it is not known beyond what that says."""
    golden, settings = item.golden, item.settings
    so = "so that its edits show as far as the baseline of that commit tells"
    if golden.path is None:
        return None, f"the golden set is made in Python, {so}."
    # <folder>/<directory>/<module>/<name>.json
    folder = PurePosixPath(baseline).parents[len(PurePosixPath(settings.baseline_dir).parts) + 1]
    path = posixpath.normpath(posixpath.join(folder, run.golden_set or ""))
    try:
        today = left.repository.path_of(golden.path)
        data = None if path.startswith("../") else left.repository.read(left.commit, path)
        if data is None:  # it was renamed, and its baseline carried over as it was
            path, data = today, left.repository.read(left.commit, today)
        if data is None:
            return None, f"{path} is no file of that commit, {so}."
        if today == path and golden.path.read_bytes() == data:
            return golden, ""
        if ".qrels" in path:
            return None, f"{path} has its texts in another file, {so}."
        with TemporaryDirectory() as temporary:
            file = Path(temporary, posixpath.basename(path))
            file.write_bytes(data)
            custom, shown = settings.custom_metrics, f"{path} at {settings.since}"
            return GoldenSet.load(file, custom_metrics=custom, shown=shown), ""
    except IRMetricsError as error:
        first = str(error).partition("\n")[0]
        return None, f"the golden set of that commit cannot be read, {so}: {first}"


def baselines_gone_since(config: pytest.Config, renamed: Container[str | None]) -> list[str]:
    """Return the paths of the baselines below the root directory that are gone since HEAD left a branch, and not `renamed`.

    Empty where Git cannot tell.
    """
    settings = run_config(config)
    try:
        left = _departure(config, settings.since, config.rootpath)
        root = left.repository.path_of(config.rootpath)
    except GitError:  # each test failed with it
        return []
    gone = (
        path for path in left.deleted if path.endswith(".json") and _is_below(path, settings.baseline_dir)
    )
    return [path for path in gone if path not in renamed and PurePosixPath(path).is_relative_to(root)]
