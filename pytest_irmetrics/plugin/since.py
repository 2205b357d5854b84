"""Read what a test was judged by at the commit where this branch left another (``--ir-since``), and say what the branch accepts."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.analysis.since import Then, compare_since
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.files import nearest_repository
from pytest_irmetrics.base.git import GitError, Repository
from pytest_irmetrics.gates.verdict import Verdict
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.reports.since import SinceReport, cure, headlines
from pytest_irmetrics.run import Run, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.analysis.item_result import ItemResult
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.plugin.item import GatedItem

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_SUFFIX = ".json"


class SinceError(IRMetricsError):
    """The commit to compare with, or a file of it, cannot be read; the message says what to type."""


@dataclass
class _Place:
    """A repository, and the commit in it that tests are compared with."""

    repository: Repository
    commit: str

    @cached_property
    def renamed_and_deleted(self) -> tuple[dict[str, str], list[str]]:
        return self.repository.renamed_and_deleted(self.commit, _SUFFIX)


_places_key = pytest.StashKey[dict[Path, "_Place | GitError"]]()


def read_then(item: GatedItem, golden: GoldenSet) -> Then | SinceReport:
    """Return what a test was judged by; where that is not known, a report that says so. Raises SinceError."""
    ref, origin = (
        item.settings.since,
        "the setting ir_since, " if item.settings.since_is_setting else "--ir-since=",
    )
    try:
        place = _place(item, ref)
        path = place.repository.path_of(item.baseline_file)
        before, data = _baseline(place, path)
        if data is None:
            return SinceReport(ref, place.commit, "new", path)
        renamed_from = None if before == path else before
        try:
            run = Run.loads(data.decode("utf-8-sig"), f"{before} at {ref}")
        except (RunError, UnicodeDecodeError) as error:
            why = str(error) if isinstance(error, RunError) else f"{before} at {ref}: it is not UTF-8."
            return SinceReport(ref, place.commit, "unreadable", path, renamed_from, why=why)
        found, why = _golden_set(item, golden, place, before, run)
        return Then(ref, place.commit, path, renamed_from, run, found, why)
    except GitError as error:
        raise SinceError(f"{origin}{ref}: {error}") from None


def _place(item: GatedItem, ref: str) -> _Place:
    """Return the repository of a test, and the commit to compare with. Raises GitError, also for one inside another."""
    config, folder = item.node.config, Path(item.node.path).parent
    top, root = nearest_repository(folder.resolve()), nearest_repository(config.rootpath.resolve())
    if root not in (top, None):
        raise GitError(
            f"{folder} is in another Git repository than {root}, as a submodule is, and its commits are not compared with "
            "that one's. Run its tests by themselves, with --rootdir there."
        )
    places = config.stash.setdefault(_places_key, {})
    key = top or folder
    if key not in places:
        try:
            repository = Repository(folder)
            places[key] = _Place(repository, repository.merge_base(ref))
        except GitError as error:
            places[key] = error
    place = places[key]
    if isinstance(place, GitError):
        raise place
    return place


def _baseline(place: _Place, path: str) -> tuple[str, bytes | None]:
    """Return where a baseline stood, and its bytes: at the same path, else where Git or its name finds it; None for nowhere."""
    data = place.repository.read(place.commit, path)
    if data is not None:
        return path, data
    renamed, deleted = place.renamed_and_deleted
    named = PurePosixPath(path).parts[-2:]
    alike = [one for one in deleted if PurePosixPath(one).parts[-2:] == named]
    if path in renamed:
        alike = [renamed[path]]
    if len(alike) > 1:
        raise GitError(
            f"{path} may be what was any of {', '.join(alike)}. Move it in a commit of its own: git mv OLD {path}"
        )
    return (alike[0], place.repository.read(place.commit, alike[0])) if alike else (path, None)


def _golden_set(
    item: GatedItem, golden: GoldenSet, place: _Place, baseline: str, run: Run
) -> tuple[GoldenSet | None, str]:
    """Return the golden set that a baseline was stored for; None, and why, where it is not known beyond what that says."""
    so = "so that its edits show as far as the baseline of that commit tells"
    if golden.path is None:
        return None, f"the golden set is made in Python, {so}."
    directory = item.settings.baseline_dir
    # <folder>/<directory>/<module>/<name>.json
    folder = PurePosixPath(baseline).parents[len(PurePosixPath(directory).parts) + 1]
    path = posixpath.normpath(posixpath.join(folder, run.golden_set or ""))
    repository = place.repository
    try:
        data = None if path.startswith("../") else repository.read(place.commit, path)
    except GitError as error:
        return None, f"{error} So its edits show as far as the baseline of that commit tells."
    if data is None:
        return None, f"{path} is no file of that commit, {so}."
    if repository.path_of(golden.path) == path and _same_text(golden.path.read_bytes(), data):
        return golden, ""
    if ".qrels" in path:
        return None, f"{path} has its texts in another file, {so}."
    with TemporaryDirectory(prefix="irmetrics-") as temporary:
        file = Path(temporary, posixpath.basename(path))
        file.write_bytes(data)
        try:
            custom = item.settings.custom_metrics
            return GoldenSet.load(file, custom_metrics=custom, shown=f"{path} at {item.settings.since}"), ""
        except GoldenSetError as error:
            first = str(error).partition("\n")[0]
            return None, f"the golden set of that commit cannot be read, {so}: {first}"


def _same_text(one: bytes, other: bytes) -> bool:
    """Whether two files are the same but for line ends."""
    return one == other or one.replace(b"\r\n", b"\n") == other.replace(b"\r\n", b"\n")


def add_since(
    item: GatedItem, result: ItemResult, then: Then | SinceReport, stored: Evaluation | None
) -> str:
    """Compare a test with what it was `then`; return what this branch accepts, in sentences. Fails it where ``ir_accept = fail``.

    `stored` is its baseline today, None where today's run replaces it.
    """
    report = then
    if isinstance(report, Then):
        report = compare_since(result.evaluation, stored, result.gates, result.verdicts, report)
    if report.verdict and item.settings.accept == "fail" and not item.settings.update:
        report = replace(report, refused=True)
        result.verdicts = (*_refusals(report, result), *result.verdicts)
    result.since = report
    return " ".join(headlines(report)) if report.verdict else ""


def _refusals(report: SinceReport, result: ItemResult) -> Iterator[Verdict]:
    """Yield a failed verdict on each that is accepted; one where the baseline of then cannot be read."""
    metrics = {metric.name: metric for metric in result.evaluation.metrics}
    for place, text in enumerate(headlines(report)):
        one = report.accepted[place] if report.accepted else None
        details = (*report.pays, cure(report)) if place == 0 else ()
        metric = None if one is None else metrics.get(one.metric or "")
        tag = None if one is None else one.tag
        yield Verdict("failed", text, "accept", metric, tag, details=details, origin="the setting ir_accept")


def baselines_gone_since(ref: str, root: Path, directory: str) -> list[str]:
    """Return the paths of the baselines below a folder that are gone since HEAD left a branch; empty where Git cannot tell."""
    try:
        repository = Repository(root)
        below = repository.path_of(root)
        _, deleted = repository.renamed_and_deleted(repository.merge_base(ref), _SUFFIX)
    except GitError:  # each test failed with it
        return []
    parts = PurePosixPath(directory).parts
    # <folder>/<directory>/<module>/<name>.json
    stored = [path for path in deleted if PurePosixPath(path).parts[:-2][-len(parts) :] == parts]
    return [path for path in stored if f"{path}/".startswith(below)]
