"""One test item as its fixture sees it: its golden set, its settings, and what it is called in files and commands."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.plugin import marks as collection
from pytest_irmetrics.plugin import paths as places
from pytest_irmetrics.plugin.session import class_names, item_name
from pytest_irmetrics.reports.terminal import Screen
from pytest_irmetrics.run.baseline import baseline_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.plugin.session import GatingSession
    from pytest_irmetrics.plugin.settings import Settings
    from pytest_irmetrics.thresholds import Gates, Threshold


class Case:
    """A test item, what `ir_golden` says of it (`parameter`), and the session that it is a part of."""

    def __init__(
        self, item: pytest.Item, session: GatingSession, parameter: collection.GoldenParameter | None
    ) -> None:
        self.item = item
        self.session = session
        self.parameter = parameter

    @property
    def settings(self) -> Settings:
        """The run's settings. Raises SettingsError."""
        __tracebackhide__ = True
        return self.session.settings

    def golden_set(self, given: Any = None) -> GoldenSet:
        """Return the golden set that a call gives (a GoldenSet, judgments or a path), else the item's own.

        Raises MarkError and GoldenSetError.
        """
        if isinstance(given, GoldenSet):
            return given
        if isinstance(given, Mapping):
            return GoldenSet.from_judgments(given)
        if given is not None:
            if not isinstance(given, (str, os.PathLike)):
                raise collection.MarkError(
                    f"golden={given!r} is no golden set. Give a path, a GoldenSet, or judgments: "
                    '{"query": {"document": 1}}.'
                )
            return self.session.golden_set(Path(self.item.path).parent / given)
        if self.parameter is None:
            if collection.nearest_marks(self.item, "ir_golden"):
                raise collection.MarkError(
                    "ir_golden gives a golden set to tests that can be parametrized and that name the fixture "
                    "irmetrics, or one that uses it, among their arguments: not to a method of unittest.TestCase, nor "
                    "through request.getfixturevalue. Write such a test, or pass the golden set: "
                    'irmetrics.check(golden="golden/faq.yaml").'
                )
            raise collection.MarkError(
                'This test has no golden set. Mark it @pytest.mark.ir_golden("golden/*.yaml"), or pass one: '
                'irmetrics.check(golden="golden/faq.yaml").'
            )
        if self.parameter.problem is not None or self.parameter.path is None:
            raise collection.MarkError(self.parameter.problem or "")
        return self.session.golden_set(self.parameter.path)

    def golden_name(self, golden: GoldenSet) -> str:
        """Return what messages call a golden set: its file, as a reader finds it."""
        return golden.name if golden.path is None else self.session.shown(golden.path)

    def queries(self, golden: GoldenSet) -> Sequence[Query]:
        """Return the queries to ask: all, or those of `--ir-query`. Skips the test, or raises MarkError, where it has none."""
        __tracebackhide__ = True
        only = self.settings.only_queries
        if not only:
            return list(golden.queries.values())
        found = [query for query in map(golden.find, only) if query is not None]
        if not found:
            self._refuse_queries(golden, only)
        return list({query.id: query for query in found}.values())

    def unknown_queries(self, golden: GoldenSet) -> list[str]:
        """Say of each query of `--ir-query` that no golden set of this test has it."""
        missing = [
            wanted for wanted in dict.fromkeys(self.settings.only_queries) if golden.find(wanted) is None
        ]
        if not missing:
            return []
        try:
            siblings = [*self._siblings(), golden]
        except GoldenSetError:  # its own test tells; it may have them
            return []
        return [
            _unknown(wanted, siblings)
            for wanted in missing
            if not any(sibling.find(wanted) for sibling in siblings)
        ]

    def _siblings(self) -> list[GoldenSet]:
        paths = self.parameter.siblings if self.parameter is not None else ()
        return [self.session.golden_set(path) for path in paths]

    def _refuse_queries(self, golden: GoldenSet, wanted: Sequence[str]) -> NoReturn:
        """Skip a golden set that does not have the queries of ``--ir-query``; fail where none of the test's has."""
        __tracebackhide__ = True
        siblings = self._siblings()
        if any(sibling.find(query_id) for sibling in siblings for query_id in wanted):
            pytest.skip(f"{self.golden_name(golden)} does not have the query {wanted[0]} (--ir-query)")
        raise collection.MarkError(_unknown(wanted[0], siblings or [golden]))

    @property
    def depth(self) -> int:
        """How many results a query is asked for."""
        return self.session.depth(self.parameter)

    def levels(self, golden: GoldenSet) -> list[list[Threshold]]:
        """Return the thresholds that bind here, nearest first. Raises as `GatingSession.levels` does."""
        return self.session.levels(self.item, golden, self.parameter)

    def gates(self, golden: GoldenSet, *, regression: bool) -> Gates:
        """Return what gates here; with `regression` the default `max_drop` too. Raises as `levels` does."""
        return self.session.gates(self.item, golden, self.parameter, regression=regression)

    @property
    def baseline_file(self) -> Path:
        """Where the baseline is, or would be."""
        return baseline_path(Path(self.item.path), item_name(self.item), self.settings.baseline_dir)

    def stale(self) -> list[str]:
        """Return the baselines beside this test that belong to none, relative to the root directory."""
        if not self.session.gates_on_baseline and not self.item.config.getoption("ir_baseline_update"):
            return []
        stale = self.session.stale_baselines(Path(self.item.path))
        return [places.in_root(self.item.config, path) for path in stale]

    def command(self, *options: str) -> str:
        """Return a command line that runs this test item alone, from where pytest was called."""
        # Not from the node id: pytest-xdist's loadgroup appends a group to it, by which pytest finds no test.
        name = "::".join(["", *class_names(self.item), self.item.name])
        return shlex.join(["pytest", self.session.shown(self.item.path) + name, *options, *self._as_called()])

    def _as_called(self) -> list[str]:
        """Return the options without which the same test would be asked and judged by other settings."""
        config = self.item.config
        given = []
        repeat = config.getoption("ir_repeat")
        if repeat is not None:  # a baseline of fewer answers would know less of how they differ
            given.append(f"--ir-repeat={repeat}")
        file = config.getoption("inifilename", None)
        if file:
            given += ["-c", str(file)]
        for override in config.getoption("override_ini", None) or ():
            if override.startswith("ir_"):
                given += ["-o", override]
        return given

    @property
    def verbosity(self) -> int:
        """How often `-v` was given."""
        verbosity: int = self.item.config.getoption("verbose", 0)
        return verbosity

    @property
    def screen(self) -> Screen:
        """What a failure is written for."""
        return Screen(encoding=self.session.stream_encoding)


def _unknown(wanted: str, siblings: Iterable[GoldenSet]) -> str:
    """Say that no golden set of a test has a query, and which it has that is spelt like it."""
    known = {query_id for sibling in siblings for query_id in sibling.queries}
    close = difflib.get_close_matches(wanted, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"--ir-query: no golden set of this test has the query {wanted!r}.{hint}"
