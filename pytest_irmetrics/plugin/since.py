"""Read what a test was judged by at the commit where this branch left another (``--ir-since``), and say what the branch accepts."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.since import CommittedTest, compare_since
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import nearest_repository
from pytest_irmetrics.base.git import GitError, Repository
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.verdict import STATES
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.reports.item_report import Note
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import decode
from pytest_irmetrics.run.baseline import split_baseline_path

_SUFFIX = ".json"


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
        changed = repository.renamed_and_deleted(commit, _SUFFIX)
        config.stash[_departure_key] = _Departure(repository, commit, *changed)
    return config.stash[_departure_key]


def read_committed(item: GatedItem) -> CommittedTest:
    """Return what a test was judged by. Raises GitError."""
    ref, is_first = item.settings.since, _departure_key not in item.node.config.stash
    try:
        left = _departure(item.node.config, ref, Path(item.node.path).parent)
        if is_first and left.commit == left.repository.commit("HEAD"):
            cure = "After a merge: --ir-since=HEAD^1."
            said = (
                f"{ref} is the commit that is checked out, so only what is not committed is compared. {cure}"
            )
            item.notes.append(Note("quiet", said))
        path = left.repository.path_of(item.baseline_file)
        before, data = _baseline(left, path, item.settings.baseline_dir)
        found = CommittedTest(ref, left.commit, path, None if before == path else before)
        if data is None:
            return found
        try:
            shown = f"{before} at {ref}"
            run = Run.loads(decode(data, shown), shown)
        except RunError as error:
            return replace(found, why=str(error))
        golden_set, why = _golden_set(item, left, before, run)
        return replace(found, run=run, golden=golden_set, why=why)
    except GitError as error:
        is_setting = item.node.config.getoption("ir_since") is None
        raise GitError(f"{'the setting ir_since, ' if is_setting else '--ir-since='}{ref}: {error}") from None


def _baseline(left: _Departure, path: str, directory: str) -> tuple[str, bytes | None]:
    """Return where a baseline stood, and its bytes: at the same path, else where Git or its name finds it; None for nowhere."""
    data = left.repository.read(left.commit, path)
    if data is not None:
        return path, data
    # <folder>/<directory>/<module>/<name>.json
    named, stored = path.split("/")[-2:], directory.split("/")
    alike = [one for one in left.deleted if one.split("/")[-2:] == named]
    if path in left.renamed:
        alike = [left.renamed[path]]
    elif not alike:  # the setting ir_baseline_dir was another then, and what was stored there is there still
        folder = "/".join(path.split("/")[: -2 - len(stored)])
        parts = [one.split("/") for one in left.repository.files(left.commit, folder)]
        alike = ["/".join(one) for one in parts if one[-2:] == named and one[:-2][-len(stored) :] != stored]
    if not alike:
        # Of a test function that was renamed, where what is stored anew is too different for Git to see that.
        place, _, ids = split_baseline_path(PurePosixPath(path))
        gone = [one for one in left.deleted if split_baseline_path(PurePosixPath(one))[::2] == (place, ids)]
        alike = gone if len(gone) == 1 else []
    if len(alike) > 1:
        raise GitError(
            f"{path} may be what was any of {', '.join(alike)}. Move it in a commit of its own: git mv OLD {path}"
        )
    return (alike[0], left.repository.read(left.commit, alike[0])) if alike else (path, None)


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
        data = None if path.startswith("../") else left.repository.read(left.commit, path)
        if data is None:
            return None, f"{path} is no file of that commit, {so}."
        if left.repository.path_of(golden.path) == path and golden.path.read_bytes() == data:
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


def add_since(
    item: GatedItem, result: ItemResult, committed: CommittedTest, stored: Evaluation | None
) -> None:
    """Compare a test with what it was where the branch left the other, and add the verdicts on what this branch accepts.

    `stored` is its baseline today, None where today's run replaces it.
    """
    refuse = item.settings.accept == "fail" and not item.settings.update
    result.since, verdicts = compare_since(
        result.evaluation, stored, item.gates, result.verdicts, committed, refuse=refuse
    )
    in_order = sorted([*verdicts, *result.verdicts], key=lambda verdict: STATES.index(verdict.state))
    result.verdicts = tuple(in_order)


def baselines_gone_since(config: pytest.Config, ref: str, directory: str) -> list[str]:
    """Return the paths of the baselines below the root directory that are gone since HEAD left a branch; empty where Git cannot tell."""
    try:
        left = _departure(config, ref, config.rootpath)
        below = left.repository.path_of(config.rootpath)
    except GitError:  # each test failed with it
        return []
    parts = PurePosixPath(directory).parts
    # <folder>/<directory>/<module>/<name>.json
    stored = [path for path in left.deleted if PurePosixPath(path).parts[:-2][-len(parts) :] == parts]
    return [path for path in stored if f"{path}/".startswith(below)]
