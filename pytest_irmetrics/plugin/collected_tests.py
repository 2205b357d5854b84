"""Record which tests pytest collects and runs, and find the stored baselines that none of them uses."""

from __future__ import annotations

import os
from collections import defaultdict
from fnmatch import fnmatch
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_irmetrics.base.paths import relative_path
from pytest_irmetrics.plugin.options import baseline_dir, gates_on_baseline, gating_setting, runs_tests
from pytest_irmetrics.run.baseline import baseline_path, folders_with_baselines, list_baselines

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from pytest_irmetrics.reports.session_report import WhyUnused

PLUGIN_NAME = "irmetrics-collected"
"""The name by which a CollectedTests is registered."""

_WORKER_OUTPUT = "irmetrics_unused_baselines"

_NOT_PROJECT_FOLDERS = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
"""What pytest's setting norecursedirs is by default: copies of tests may be there."""


_SELECTING_OPTIONS = ("keyword", "markexpr", "deselect", "lf", "maxfail", "stepwise")
"""Options under which a project's tests that gate may exist and not run."""


class CollectedTests:
    """The tests that this process collected and ran, of a run that gates on baselines or updates them.

    Each worker of pytest-xdist has one, and tells the controller's what it found.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._modules: dict[str, Path] = {}
        """Node id → path of each Python file that pytest made a module of."""
        self._tests: dict[Path, list[pytest.Item]] = defaultdict(list)
        self._not_read: dict[Path, str] = {}
        """The files and folders whose collection failed or was skipped, each with that outcome."""
        self._is_complete = False
        self._deselected: set[str] = set()
        self._removed: set[str] = set()
        """Node ids of tests that a hook took out of the run without telling."""
        self._called: set[str] = set()
        self._skipped: set[str] = set()
        self._with_fixture: set[str] = set()
        """Node ids of the tests that name the fixture `irmetrics` among their arguments."""
        self._set_up: set[str] = set()
        """Node ids of the tests that used the fixture; request.getfixturevalue needs no argument for that."""
        self._reported: set[str] = set()
        self._ran_to_its_end = False
        self._from_workers: dict[Path, WhyUnused] = {}
        self._named: dict[Path, dict[str, str]] = {}
        """File → name of a test's baseline → node id."""
        self._grouped: tuple[int, dict[str, list[Path]]] | None = None
        """How many files were collected, and those by folder."""

    # What pytest tells.

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makemodule(self, module_path: Path) -> Generator[None, Any, Any]:
        """Remember the path of a Python file that pytest collects."""
        module = yield
        if module is not None:
            self._modules[module.nodeid] = Path(module_path)
        return module

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember what could not be collected, or was skipped as a whole."""
        if report.outcome != "passed":
            nodeid = report.nodeid.partition("::")[0]
            path = self._modules.get(nodeid, self._config.rootpath / nodeid)
            self._not_read[path] = report.outcome

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Remember a test, before a hook can deselect it."""
        self._tests[Path(item.path)].append(item)
        if "irmetrics" in getattr(item, "fixturenames", ()):
            self._with_fixture.add(item.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, object, object]:
        """Find out which tests a hook takes out of the run without telling."""
        result = yield
        self._is_complete = True
        kept = {item.nodeid for item in items}
        collected = {item.nodeid for tests in self._tests.values() for item in tests}
        self._removed = collected - kept - self._deselected
        return result

    def pytest_deselected(self, items: Iterable[pytest.Item]) -> None:
        """Remember the tests that are deselected, which a user knows of."""
        self._deselected.update(item.nodeid for item in items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> None:
        """Remember that a test uses our fixture `irmetrics`, and not another of that name."""
        if fixturedef.argname == "irmetrics" and fixturedef.func.__module__ == __package__:
            self._set_up.add(request.node.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Remember that a test ran."""
        self._called.add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that a test was run, and whether the last attempt at it was skipped."""
        self._reported.add(report.nodeid)
        if (
            report.when != "teardown"
            and report.skipped
            and not (report.when == "call" and hasattr(report, "wasxfail"))
        ):
            self._skipped.add(report.nodeid)
        elif report.when == "call":
            self._skipped.discard(report.nodeid)  # of an earlier attempt

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Remember whether all tests ran; tell the controller of pytest-xdist what this worker found."""
        stopped = (
            session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED
        )
        # Each worker runs some of the tests.
        self._ran_to_its_end = not stopped and not hasattr(self._config, "workerinput")
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_WORKER_OUTPUT] = {
                relative_path(path, self._config.rootpath): why for path, why in self.unused().items()
            }

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of pytest-xdist found."""
        told = getattr(node, "workeroutput", None) or {}  # a worker that crashed has none
        for path, why in told.get(_WORKER_OUTPUT, {}).items():
            self._from_workers[self._config.rootpath / path] = why

    # What follows from it.

    def unused(self) -> dict[Path, WhyUnused]:
        """Return the baselines that no test of this run uses, each with why; none of tests that were deselected.

        They are looked for beside the tests that were collected, and below the folders that pytest was asked to collect.
        """
        config = self._config
        if not runs_tests(config) or not (
            gates_on_baseline(config) or config.getoption("ir_baseline_update")
        ):
            return {}
        found = dict(self._from_workers)
        for folder in self._folders():
            found.update(self.unused_in(folder))
        return found

    def unused_gating(self, *, interrupted: bool) -> str | None:
        """Word that the run should have gated on baselines, and that none of its tests used irmetrics.

        None where the run was interrupted, was not to gate, or may have left out the tests that do.
        """
        config = self._config
        if interrupted or not runs_tests(config):
            return None
        for option in ("--ir-baseline-update", "--ir-selftest", "--ir-since", "--ir-baseline"):
            if config.getoption(option):
                return f"{option} was given, and no test of this run used irmetrics."
        if not gates_on_baseline(config) or any(config.getoption(name, None) for name in _SELECTING_OPTIONS):
            return None
        what = "ir_baseline is true" if gating_setting(config) == "ir_baseline" else "ir_since is set"
        directory = baseline_dir(config)
        below = self._folders_below(config.getini("norecursedirs"))
        if not any(list_baselines(folder / directory) for folder in below):
            return None
        return f"the setting {what}, and no test of this run used irmetrics."

    def unused_in(self, folder: Path) -> dict[Path, WhyUnused]:
        """Return the baselines of the tests in a folder that none of them uses, each with why."""
        directory = baseline_dir(self._config)
        collected = defaultdict(list)
        for file in self._files_by_folder().get(os.path.realpath(folder), ()):
            collected[baseline_path(file, "", directory).parent.name].append(file)
        on_disk = {baseline_path(file, "", directory).parent.name: file for file in folder.glob("*.py")}
        found: dict[Path, WhyUnused] = {}
        for path in list_baselines(folder / directory):
            module = path.parent.name
            if module in collected:
                why = self._why_unused(path, collected[module])
            elif module in on_disk:
                why = self._why_not_collected(on_disk[module])
            else:
                why = "uncollected" if self._is_left_out(folder) else "gone"
            if why is not None:
                found[path] = why
        return found

    def _files_by_folder(self) -> dict[str, list[Path]]:
        """Return the collected files by the folder that they are in, links resolved."""
        files = {*self._tests, *self._modules.values()}
        if self._grouped is None or self._grouped[0] != len(files):
            real = {folder: os.path.realpath(folder) for folder in {file.parent for file in files}}
            groups: dict[str, list[Path]] = defaultdict(list)
            for file in sorted(files):
                groups[real[file.parent]].append(file)
            self._grouped = len(files), groups
        return self._grouped[1]

    def _why_unused(self, path: Path, files: list[Path]) -> WhyUnused | None:
        """Return why a baseline is not used whose test file was collected; None where it is, or where that is not known."""
        for file in files:
            nodeid = self._nodeids(file).get(path.name)
            if nodeid is not None:
                return self._why_item_unused(nodeid)
        if all(self._is_known_whole(file) for file in files):
            return "gone"
        return "skipped" if any(self._not_read.get(file) == "skipped" for file in files) else None

    def _nodeids(self, file: Path) -> dict[str, str]:
        """Return the node ids of a file's tests by the names of their baselines."""
        items = self._tests.get(file, [])
        known = self._named.get(file)
        if known is None or len(known) != len(items):
            known = self._named[file] = {
                baseline_path(file, item_name(item), "").name: item.nodeid for item in items
            }
        return known

    def _why_item_unused(self, nodeid: str) -> WhyUnused | None:
        if nodeid in self._skipped:
            return "skipped" if nodeid in self._with_fixture and not self._skips_by_itself else None
        if nodeid in self._called:
            return "unused" if nodeid not in self._set_up else None
        told = nodeid in self._reported or nodeid in self._deselected
        never_ran = self._ran_to_its_end and not told
        return "removed" if nodeid in self._with_fixture and (nodeid in self._removed or never_ran) else None

    def _why_not_collected(self, file: Path) -> WhyUnused | None:
        """Return why pytest did not collect a test file that is there; None where it was not asked to."""
        if not self._is_complete or self._collects_last_failed or not self._is_asked_whole(file):
            return None
        above = [outcome for path, outcome in self._not_read.items() if path == file or path in file.parents]
        if above:
            return "skipped" if "failed" not in above else None
        return "uncollected"

    def _is_known_whole(self, file: Path) -> bool:
        """Whether all tests of a file are known; pytest makes a module of each file beside one that it was asked for, too."""
        return (
            self._is_complete
            and not self._collects_last_failed
            and self._is_asked_whole(file)
            and file not in self._not_read
        )

    @property
    def _collects_last_failed(self) -> bool:
        """Whether ``--lf`` may have left out tests before they were collected."""
        return bool(self._config.getoption("lf", None))

    @property
    def _skips_by_itself(self) -> bool:
        """Whether the plugin skips tests: those without a query of ``--ir-query``, and what has no run for a self-test."""
        return bool(self._config.getoption("ir_query") or self._config.getoption("ir_selftest"))

    @cached_property
    def _asked_whole(self) -> set[Path]:
        """The files and folders that pytest was asked to collect as a whole, not some tests of them by their node ids."""
        base = self._config.invocation_params.dir
        return {
            Path(os.path.normpath(base / self._path_of(argument)))
            for argument in self._config.args
            if "::" not in argument
        }

    def _path_of(self, argument: str) -> str:
        """Return the path that an argument is or, with ``--pyargs``, the one of the module or package that it names."""
        if not self._config.getoption("pyargs", default=False):
            return argument
        try:
            spec = find_spec(argument)
        except (ImportError, ValueError):  # a path, or the parent of a module is none
            return argument
        if spec is None or spec.origin is None or not spec.has_location:
            return argument
        return os.path.dirname(spec.origin) if spec.submodule_search_locations else spec.origin  # noqa: PTH120 - a string, as the others

    def _is_asked_whole(self, file: Path) -> bool:
        return not self._asked_whole.isdisjoint((file, *file.parents))

    def _folders(self) -> Iterator[Path]:
        """Yield the folders with baselines whose tests pytest was asked for, each once."""
        patterns = self._config.getini("norecursedirs")
        skipped = [pattern for pattern in patterns if pattern in _NOT_PROJECT_FOLDERS]
        seen = set()
        beside = {
            file.parent for file in {*self._tests, *self._modules.values()} if self._is_known_whole(file)
        }
        for folder in (*self._folders_below(skipped), *sorted(beside)):
            real = os.path.realpath(folder)
            if real not in seen:
                seen.add(real)
                yield folder

    def _folders_below(self, skipped: Sequence[str]) -> Iterator[Path]:
        """Yield the folders with baselines below those that pytest was asked to collect, but for the `skipped` patterns."""
        for top in sorted(self._asked_whole):
            yield from folders_with_baselines(top, baseline_dir(self._config), skipped)

    def _is_left_out(self, folder: Path) -> bool:
        """Whether the setting norecursedirs keeps pytest out of a folder below one that it was asked for."""
        patterns = self._config.getini("norecursedirs")
        tops = [top for top in self._asked_whole if top in (folder, *folder.parents)]
        return bool(tops) and all(
            any(fnmatch(part, pattern) for part in folder.relative_to(top).parts for pattern in patterns)
            for top in tops
        )


def collected_tests(config: pytest.Config) -> CollectedTests | None:
    """Return what was collected in a run that gates on baselines or updates them; None in any other."""
    found: CollectedTests | None = config.pluginmanager.get_plugin(PLUGIN_NAME)
    return found


def item_name(node: pytest.Item) -> str:
    """Return ``Class.test_name[ids]``, what identifies a test within its file."""
    return ".".join([*class_names(node), node.name])


def class_names(node: pytest.Item) -> list[str]:
    """Return the names of the classes that a test is in, the outermost first."""
    return [parent.name for parent in node.listchain() if isinstance(parent, pytest.Class)]
