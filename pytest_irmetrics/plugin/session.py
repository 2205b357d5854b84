"""The state of a pytest process that gates: its settings, and the golden sets that it read."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_irmetrics.base.files import path_below
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin.config import run_config

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
        """The width, 40 cells at the least, and the encoding of the terminal reporter's stream."""
        if hasattr(self.config, "workerinput"):  # pytest-xdist's: it does not know who reads its failures
            return Screen(100, "utf-8")
        if not self.config.pluginmanager.has_plugin("terminalreporter"):  # -p no:terminal
            return Screen()
        writer = self.config.get_terminal_writer()
        encoding = getattr(writer._file, "encoding", None)  # noqa: SLF001 - pytest has no public way to it
        return Screen(max(writer.fullwidth, 40), encoding)

    def golden_set(self, path: Path) -> GoldenSet:
        """Read a golden set, once. Raises GoldenSetError."""
        if path not in self._golden_sets:
            self._golden_sets[path] = GoldenSet.load(
                path, custom_metrics=self.settings.custom_metrics, shown=self.shown(path)
            )
        return self._golden_sets[path]

    def shown(self, path: Path) -> str:
        """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
        return path_below(os.path.normpath(path), self.config.invocation_params.dir)
