"""The state of a pytest process that gates: its settings, the golden sets that it read, and the tests that it collected.

`find_problems` finds those that fail instead of being run: for their marks, or for `--ir-query`.
"""

from __future__ import annotations

import difflib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.files import path_below
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.plugin.config import collects_whole_files, requests_irmetrics, run_config
from pytest_irmetrics.plugin.marks import (
    golden_parameter,
    golden_parameters,
    nearest_marks,
    parameter_marks,
    unknown_query,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pytest

_MARKS = ("ir_golden", "ir_threshold")


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

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Make one test item for each golden set of a test; also for a single one, so that names never change."""
        marks = nearest_marks(metafunc.definition, "ir_golden")
        if not marks:
            return
        parameters = golden_parameters(marks, Path(metafunc.definition.path).parent)
        metafunc.parametrize(
            "irmetrics", list(parameters.values()), ids=list(parameters), indirect=True, scope="function"
        )


def find_problems(session: GatingSession, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
    """Yield the items that fail instead of being run, each with what to do; of two problems the later one counts.

    `items` are all that were collected, before any of them is deselected.
    """
    config, settings = session.config, session.settings
    registered = {line.split(":")[0].split("(")[0].strip() for line in config.getini("markers")}
    users = [item for item in items if requests_irmetrics(item)]
    session.marked_golden_sets = sorted({path for item in users for path in golden_parameter(item).siblings})
    if settings.only_queries:
        yield from _without_queries(session, users)
    whole = collects_whole_files(config)
    for item in items:
        problem = _misspelt_mark(item, registered) or _golden_on_parameter(item)
        if problem is not None:
            yield item, problem
    yield from _under_unbound_marks(items, whole=whole)


# --ir-query


def _without_queries(
    session: GatingSession, users: Sequence[pytest.Item]
) -> Iterator[tuple[pytest.Item, str]]:
    """Yield all items with a golden set where a query of ``--ir-query`` is in none of these sets."""
    try:
        known = [session.golden_set(path) for path in session.marked_golden_sets]
    except GoldenSetError:  # the set that cannot be read fails its own test, and may have these queries
        return
    wanted = session.settings.only_queries
    unknown = [query_id for query_id in wanted if known and not any(one.find(query_id) for one in known)]
    for item in users if unknown else ():
        yield item, unknown_query(unknown[0], known)


# Marks


def _misspelt_mark(item: pytest.Item, registered: set[str]) -> str | None:
    """Word which mark of an item looks like one of ours and is none; `registered` are all that the configuration knows."""
    for mark in item.iter_markers():
        if mark.name in _MARKS or mark.name in registered or not mark.name.lower().startswith("ir"):
            continue
        cutoff = 0.0 if mark.name.startswith("ir_") else 0.8
        close = difflib.get_close_matches(mark.name.lower(), _MARKS, n=1, cutoff=cutoff)
        if close:
            return f"There is no mark {mark.name!r}. Did you mean {close[0]!r}?"
    return None


def _golden_on_parameter(item: pytest.Item) -> str | None:
    if any(mark.name == "ir_golden" for mark in parameter_marks(item)):
        return (
            "ir_golden on a parameter binds to nothing: it makes parameters itself, of a function, class or "
            'module. Mark one of these, or pass the golden set: irmetrics.check(golden="golden/faq.yaml").'
        )
    return None


def _under_unbound_marks(items: Iterable[pytest.Item], *, whole: bool) -> Iterator[tuple[pytest.Item, str]]:
    """Yield each test, and the first one of each class and module of `whole` files, whose marks no test uses."""
    first: dict[Any, pytest.Item] = {}
    used: set[Any] = set()
    for item in items:
        for node in item.listchain() if whole else [item]:
            if any(mark.name in _MARKS for mark in node.own_markers):
                first.setdefault(node, item)
                used |= {node} if requests_irmetrics(item) else set()
    for node, item in first.items():
        if node not in used:
            text = "bind to nothing: no test there requests the fixture irmetrics."
            yield item, f"The marks on {node.name} {text}"
