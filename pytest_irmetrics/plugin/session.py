"""The state of a pytest process that gates: its settings, the golden sets that it read, and the tests that it collected."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pytest_irmetrics.base.paths import path_below
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin.baselines import collects_whole_files, tests_with_orphans
from pytest_irmetrics.plugin.config import run_config
from pytest_irmetrics.plugin.marks import (
    find_item_problems,
    golden_parameter,
    golden_parameters,
    nearest_marks,
    unbound_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

    from pytest_irmetrics.plugin.since import BaselinesOfThen

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


WORKER_SCREEN = Screen(100, "utf-8")
"""What a worker of pytest-xdist words failures for: it does not know who reads them."""


class GatingSession:
    """The state that the gating tests of one pytest process share: of a pytest-xdist worker, or of the only process."""

    _open: ClassVar[int] = 0
    """How many are open: a test may run pytest in its own process, as pytester does."""

    def __init__(self, config: pytest.Config) -> None:
        GatingSession._open += 1
        self.config = config
        self.settings = run_config(config)
        self._golden_sets: dict[Path, GoldenSet] = {}
        self._paths_of_run: list[Path] | None = None
        self._since: BaselinesOfThen | None = None

    @cached_property
    def screen(self) -> Screen:
        """The width and encoding that failure messages are written for."""
        return WORKER_SCREEN if hasattr(self.config, "workerinput") else screen_of(self.config)

    @property
    def since(self) -> BaselinesOfThen | None:
        """The baselines of the commit of ``--ir-since``; None where it is not given."""
        if self._since is None and self.settings.since:
            from pytest_irmetrics.plugin.since import BaselinesOfThen  # noqa: PLC0415 - only with --ir-since

            origin = "the setting ir_since, " if self.settings.since_is_setting else "--ir-since="
            self._since = BaselinesOfThen(self.settings.since, self.config.rootpath, origin)
        return self._since

    def golden_set(self, path: Path) -> GoldenSet:
        """Read a golden set, once. Raises GoldenSetError."""
        if path not in self._golden_sets:
            self._golden_sets[path] = GoldenSet.load(
                path, custom_metrics=self.settings.custom_metrics, shown=self.shown(path)
            )
        return self._golden_sets[path]

    def golden_sets_of(self, items: Iterable[pytest.Item]) -> list[GoldenSet]:
        """Return the golden sets that ``ir_golden`` gives to the tests of this run, its `items`. Raises GoldenSetError."""
        if self._paths_of_run is None:
            parameters = map(golden_parameter, items)
            paths = {path for parameter in parameters if parameter is not None for path in parameter.siblings}
            self._paths_of_run = sorted(paths)
        return [self.golden_set(path) for path in self._paths_of_run]

    def shown(self, path: Path) -> str:
        """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
        return shown_path(self.config, path)

    def unbound(self, golden: GoldenSet) -> list[str]:
        """Return ``metric [tag]`` of the limits of ir_thresholds whose tag no query of a golden set carries."""
        return [
            f"{threshold.metric.name} [{threshold.tag}]"
            for threshold in self.settings.thresholds
            if threshold.tag is not None and threshold.tag not in golden.tags
        ]

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Make one test item for each golden set of a test; also for a single one, so that names never change."""
        marks = nearest_marks(metafunc.definition, "ir_golden")
        if not marks:
            return
        parameters = golden_parameters(marks, Path(metafunc.definition.path).parent)
        metafunc.parametrize(
            "irmetrics", list(parameters.values()), ids=list(parameters), indirect=True, scope="function"
        )

    def find_problems(self, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
        """Yield the items that fail instead of being run, each with what to do: for their marks, and for baselines that none has."""
        registered = {line.split(":")[0].split("(")[0].strip() for line in self.config.getini("markers")}
        whole = collects_whole_files(self.config)
        if whole and self.settings.gates and not self.settings.update:
            yield from tests_with_orphans(items, self.settings.baseline_dir, self.shown)
        yield from find_item_problems(items, registered)
        if whole:
            yield from unbound_marks(items).items()

    def close(self) -> None:
        """End the event loop of sync tests once no pytest session in this process is open."""
        GatingSession._open -= 1
        if GatingSession._open:
            return
        from pytest_irmetrics import retrieval  # noqa: PLC0415 - where nothing was retrieved there is nothing to end

        retrieval.close_session_loop()


def shown_path(config: pytest.Config, path: Path) -> str:
    """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
    return path_below(os.path.normpath(path), config.invocation_params.dir)


def screen_of(config: pytest.Config) -> Screen:
    """Return the width, 40 cells at the least, and the encoding of the terminal reporter's stream."""
    if not config.pluginmanager.has_plugin("terminalreporter"):  # -p no:terminal
        return Screen()
    writer = config.get_terminal_writer()
    encoding = getattr(writer._file, "encoding", None)  # noqa: SLF001 - pytest has no public way to it
    return Screen(max(writer.fullwidth, 40), encoding)
