"""Read the baselines and golden sets of the commit where this branch left another (``--ir-since``)."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from pytest_irmetrics.analysis.since import Then
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.git import GitError, Repository
from pytest_irmetrics.base.paths import nearest_repository
from pytest_irmetrics.comparison.stored_queries import golden_set_as_stored
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.plugin.since_source import edited_marks, edited_settings, max_drop_then
from pytest_irmetrics.reports.since_report import SinceReport
from pytest_irmetrics.run import Run, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_irmetrics.plugin.config import RunConfig
    from pytest_irmetrics.reports.since_report import EditSince
    from pytest_irmetrics.thresholds import Gates

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


_SUFFIX = ".json"


class GatedTest(Protocol):
    """What is read of a test item: a GatedItem, which imports this module's users."""

    @property
    def node(self) -> pytest.Item:
        """Pytest's item."""

    @property
    def settings(self) -> RunConfig:
        """The run's settings."""

    @property
    def baseline_file(self) -> Path:
        """The path of its baseline."""

    def gates(self, golden: GoldenSet, *, regression: bool) -> Gates:
        """Return the gates that it has with a golden set."""


class SinceError(IRMetricsError):
    """The commit to compare with, or a file of it, cannot be read; the message says what to type."""


@dataclass(slots=True)
class _Place:
    """A repository, and the commit in it that tests are compared with."""

    repository: Repository
    commit: str
    renames: dict[str, str] | None = None
    settings: dict[Path, Sequence[EditSince]] = field(default_factory=dict)


class BaselinesOfThen:
    """The baselines and golden sets of the commit where HEAD left a branch, for the tests of one pytest process."""

    def __init__(self, ref: str, root: Path, origin: str) -> None:
        """`root` is the folder whose repository has the branch; `origin` is how errors call what `ref` was given by."""
        self.ref = ref
        self._origin = origin
        self._root = root
        self._places: dict[Path, _Place] = {}
        self._problem: SinceError | None = None

    def of(self, test: GatedTest, golden: GoldenSet) -> Then | SinceReport:
        """Return what a test was judged by then; where that is not known, a report that says so. Raises SinceError."""
        if self._problem is not None:
            raise self._problem
        try:
            return self._of(test, golden)
        except GitError as error:
            self._problem = SinceError(f"{self._origin}{self.ref}: {error}")
            raise self._problem from None

    def _of(self, test: GatedTest, golden: GoldenSet) -> Then | SinceReport:
        place = self._place(Path(test.node.path).parent)
        repository, commit = place.repository, place.commit
        path = repository.path_of(test.baseline_file)
        data, before = repository.read(commit, path), path
        if data is None:
            if place.renames is None:
                place.renames, _ = repository.renamed_and_deleted(commit, _SUFFIX)
            before = place.renames.get(path, path)
            data = repository.read(commit, before)
        if data is None:
            return SinceReport(self.ref, commit, "new", path)
        renamed_from = None if before == path else before
        try:
            run = Run.loads(data.decode("utf-8-sig"), f"{before} at {self.ref}")
        except (RunError, UnicodeDecodeError) as error:
            why = str(error) if isinstance(error, RunError) else f"{before} at {self.ref}: it is not UTF-8."
            return SinceReport(self.ref, commit, "unreadable", path, renamed_from, why=why)
        then_golden, why = self._golden_set(test, golden, place, before, run)
        gates = test.gates(golden, regression=True)
        try:
            gates = test.gates(then_golden, regression=True)
        except IRMetricsError as error:
            why = why or f"its thresholds cannot be read: {error}"
        edits = self._source_edits(test, place)
        return Then(
            self.ref, commit, path, renamed_from, run, then_golden, gates, edits, max_drop_then(edits), why
        )

    def _place(self, folder: Path) -> _Place:
        """Return the repository of a folder, and the commit to compare with. Raises GitError for one inside another."""
        top, root = nearest_repository(folder.resolve()), nearest_repository(self._root.resolve())
        if root not in (top, None):
            raise GitError(
                f"{folder} is in another Git repository than {root}, as a submodule is, and its commits are not compared with "
                "that one's. Run its tests by themselves, with --rootdir there."
            )
        key = top or folder
        if key not in self._places:
            repository = Repository(folder)
            self._places[key] = _Place(repository, repository.merge_base(self.ref))
        return self._places[key]

    def _golden_set(
        self, test: GatedTest, golden: GoldenSet, place: _Place, baseline: str, run: Run
    ) -> tuple[GoldenSet, str]:
        """Return the golden set of then, and why it could not be read, if so: then it is what the baseline was judged with."""
        judged_with = golden_set_as_stored(run, golden.name)
        if golden.path is None:
            return (
                judged_with,
                "the golden set is made in Python, so that its edits show as far as the baseline of then tells.",
            )
        directory = test.settings.baseline_dir
        # <folder>/<directory>/<module>/<name>.json
        folder = PurePosixPath(baseline).parents[len(PurePosixPath(directory).parts) + 1]
        path = posixpath.normpath(posixpath.join(folder, run.golden_set or ""))
        try:
            files = _files_of(place, path)
        except GitError as error:
            return judged_with, f"{error} So its edits show as far as the baseline of then tells."
        if not files:
            return (
                judged_with,
                f"{path} is not in that commit, so that edits of the golden set show as far as the baseline of then tells.",
            )
        if (
            all(_is_on_disk(place, name, data) for name, data in files.items())
            and place.repository.path_of(golden.path) == path
        ):
            return golden, ""
        with TemporaryDirectory(prefix="irmetrics-") as temporary:
            for name, data in files.items():
                file = Path(temporary, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
            try:
                custom = test.settings.custom_metrics
                return GoldenSet.load(
                    Path(temporary, path), custom_metrics=custom, shown=f"{path} at {self.ref}"
                ), ""
            except GoldenSetError as error:
                first = str(error).partition("\n")[0]
                return (
                    judged_with,
                    f"the golden set of then cannot be read, so that its edits show as far as the baseline of then tells: {first}",
                )

    def _source_edits(self, test: GatedTest, place: _Place) -> list[EditSince]:
        """Return the edits of a test's marks, and of pytest's settings; no code of either commit is run."""
        repository, commit = place.repository, place.commit
        edits: list[EditSince] = []
        test_file = Path(test.node.path)
        before = repository.read(commit, repository.path_of(test_file))
        if before is not None:
            edits += edited_marks(before, test_file.read_bytes(), test.node, test.settings.custom_metrics)
        settings = test.node.config.inipath
        if settings is None:
            return edits
        if settings not in place.settings:
            place.settings[settings] = []
            if nearest_repository(settings.parent.resolve()) == nearest_repository(repository.top.resolve()):
                old = repository.read(commit, repository.path_of(settings))
                place.settings[settings] = edited_settings(old, settings.read_bytes(), settings.name)
        return [*edits, *place.settings[settings]]


def baselines_gone_since(ref: str, root: Path, directory: str) -> list[str]:
    """Return the paths of the baselines below a folder that are gone since HEAD left a branch; empty where Git cannot tell."""
    try:
        repository = Repository(root)
        below = repository.path_of(root)
        _, deleted = repository.renamed_and_deleted(repository.merge_base(ref), _SUFFIX)
    except GitError:  # each test failed with it
        return []
    parts = PurePosixPath(directory).parts
    return [
        path for path in deleted if _is_baseline(PurePosixPath(path), parts) and f"{path}/".startswith(below)
    ]


def _is_baseline(path: PurePosixPath, directory: tuple[str, ...]) -> bool:
    """Whether a path is that of a baseline: <folder>/<directory>/<module>/<name>.json."""
    return path.parts[:-2][-len(directory) :] == directory


def _files_of(place: _Place, path: str) -> dict[str, bytes]:
    """Return the files of a commit that make up a golden set, with their contents, by path: those beside it, too, that it reads."""
    from pytest_irmetrics.golden.read_trec import topics_path  # noqa: PLC0415 - only where a golden set of then is read

    repository, commit = place.repository, place.commit
    folder, name = posixpath.split(path)
    there = [] if path.startswith("../") else repository.files(commit, path)
    if not there:
        return {}
    if there == [path]:
        beside = (
            posixpath.join(folder, topics_path(name)),
            f"{posixpath.dirname(folder)}/queries.jsonl".lstrip("/"),
        )
        names = [path, *beside]
    else:  # a BEIR folder
        names = [one for one in there if not one.endswith("corpus.jsonl")]
    found = {one: repository.read(commit, one) for one in dict.fromkeys(names)}
    return {one: data for one, data in found.items() if data is not None}


def _is_on_disk(place: _Place, name: str, data: bytes) -> bool:
    """Whether a file of the commit is the same today, but for line ends."""
    try:
        today = (place.repository.top / name).read_bytes()
    except OSError:
        return False
    return today == data or today.replace(b"\r\n", b"\n") == data.replace(b"\r\n", b"\n")
