"""The state of a pytest process that gates: its settings, the golden sets that it read, and the tests that it collected."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.files import path_below
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin.config import run_config
from pytest_irmetrics.plugin.marks import golden_parameter, golden_parameters, nearest_marks

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


class GatingSession:
    """The state that the gating tests of one pytest process share: of a pytest-xdist worker, or of the only process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.settings = run_config(config)
        self._golden_sets: dict[Path, GoldenSet] = {}
        self.marked_golden_sets: list[Path] = []
        """The files that ``ir_golden`` gives to the tests of this run."""

    @cached_property
    def screen(self) -> Screen:
        """The width and encoding that failure messages are written for; a worker of pytest-xdist does not know who reads them."""
        return Screen(100, "utf-8") if hasattr(self.config, "workerinput") else screen_of(self.config)

    def golden_set(self, path: Path) -> GoldenSet:
        """Read a golden set, once. Raises GoldenSetError."""
        if path not in self._golden_sets:
            self._golden_sets[path] = GoldenSet.load(
                path, custom_metrics=self.settings.custom_metrics, shown=self.shown(path)
            )
        return self._golden_sets[path]

    def collect_golden_sets(self, items: Iterable[pytest.Item]) -> None:
        """Note which golden sets ``ir_golden`` gives to the tests of this run."""
        found = (parameter for parameter in map(golden_parameter, items) if parameter is not None)
        self.marked_golden_sets = sorted({path for parameter in found for path in parameter.siblings})

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
