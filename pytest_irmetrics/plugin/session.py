"""What the tests of one pytest process share: settings, golden sets that were read, and what collection knows."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from pytest_irmetrics import thresholds
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin import options
from pytest_irmetrics.plugin.marks import (
    MARKS,
    GoldenParameter,
    MarkError,
    golden_parameters,
    marked_thresholds,
    misspelt_mark,
    nearest_marks,
    parameter_marks,
    unbound_marks,
)
from pytest_irmetrics.plugin.paths import shown_path
from pytest_irmetrics.plugin.settings import Settings
from pytest_irmetrics.run import baseline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_irmetrics.thresholds import Gates, Threshold

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

_ONLY_FROM_NODE_IDS = "::"
_TOLD = 3
"""How many golden sets that are small for their tolerance are told of before the run."""


class GatingSession:
    """The state of one pytest process, a worker's or the only one's."""

    _open: ClassVar[int] = 0
    """How many there are: a test may run pytest in its own process, as pytester does."""

    def __init__(self, config: pytest.Config) -> None:
        GatingSession._open += 1
        self.config = config
        self._golden_sets: dict[Path, GoldenSet] = {}
        self._items_by_file: dict[Path, set[str]] = defaultdict(set)

    @cached_property
    def settings(self) -> Settings:
        """The run's settings. Raises SettingsError; every test that gates tells it."""
        return Settings.read(self.config)

    @property
    def baseline_dir(self) -> str:
        """The name of the folder of baselines, also where another setting is wrong."""
        return options.baseline_dir(self.config)

    @cached_property
    def stream_encoding(self) -> str | None:
        """How the stream that a person reads is encoded; a worker knows from its controller."""
        workerinput = getattr(self.config, "workerinput", None)
        if workerinput is not None:
            encoding: str | None = workerinput.get("irmetrics_encoding")
            return encoding
        return stream_encoding(self.config)

    @property
    def gates_on_baseline(self) -> bool:
        """Whether this run compares with stored baselines, as far as the command line and settings can be read."""
        return options.gates_on_baseline(self.config)

    def golden_set(self, path: Path) -> GoldenSet:
        """Read a golden set, once. Raises GoldenSetError."""
        if path not in self._golden_sets:
            self._golden_sets[path] = GoldenSet.load(
                path, custom_metrics=self.settings.custom_metrics, shown=self.shown(path)
            )
        return self._golden_sets[path]

    def shown(self, path: Path) -> str:
        """Return a path as a reader finds it: relative to where pytest was called, where it is below that."""
        return shown_path(self.config, path)

    def depth(self, parameter: GoldenParameter | None) -> int:
        """Return how many results a query of a test item is asked for."""
        return (parameter and parameter.depth) or self.settings.depth

    def levels(
        self, item: pytest.Item, golden: GoldenSet, parameter: GoldenParameter | None
    ) -> list[list[Threshold]]:
        """Return the thresholds that bind to a test item, nearest first; those of the golden set second.

        Raises ThresholdError, MetricError or MarkError; the last for a mark whose tag no query of any of the test's
        sets carries.
        """
        marked = marked_thresholds(item, self.settings.custom_metrics)
        siblings = parameter.siblings if parameter is not None else ()
        for threshold in (threshold for level in marked for threshold in level):
            if threshold.tag is None or threshold.tag in golden.tags:
                continue
            if not any(threshold.tag in self.golden_set(path).tags for path in siblings):
                raise MarkError(
                    f"{threshold.origin}: no query has the tag {threshold.tag!r}, so the threshold binds to nothing. "
                    f"The tags are: {', '.join(sorted(golden.tags)) or 'none'}."
                )
        return [marked[0], list(golden.thresholds), *marked[1:], list(self.settings.thresholds)]

    def gates(
        self,
        item: pytest.Item,
        golden: GoldenSet,
        parameter: GoldenParameter | None,
        *,
        regression: bool,
    ) -> Gates:
        """Return what gates a test item; with `regression` the default `max_drop` too. Raises as `levels` does."""
        levels = self.levels(item, golden, parameter)
        settings = self.settings
        if regression and settings.max_drop is not None:
            gated = {threshold.metric for level in levels for threshold in level}
            default = [
                thresholds.Threshold(
                    metric=metric,
                    limits={"max_drop": settings.max_drop},
                    tag=None,
                    origin=thresholds.BY_DEFAULT,
                    by_default=True,
                )
                for metric in (gated or settings.reported(self.depth(parameter)))
                if metric.kind in ("ranking", "no_answer", "custom")
            ]
            levels = [*levels, default]
        # A mark can name a slice that only some of the test's sets have.
        return thresholds.Gates(
            gate for gate in thresholds.resolve(levels) if gate.tag is None or gate.tag in golden.tags
        )

    def unbound(self, golden: GoldenSet) -> list[str]:
        """Name the limits of the setting ir_thresholds whose tag no query of a golden set carries."""
        return [
            f"{threshold.metric.name} [{threshold.tag}]"
            for threshold in self.settings.thresholds
            if threshold.tag is not None and threshold.tag not in golden.tags
        ]

    def tolerance_notes(self, items: Iterable[pytest.Item]) -> list[str]:
        """Say of which golden sets a `max_drop` allows next to nothing, before anything is asked.

        What cannot be read says nothing here: its test tells.
        """
        if (
            not self.gates_on_baseline
            or self.config.getoption("ir_baseline_update")
            or self.config.getoption("ir_selftest")
            or self.config.getoption("ir_query")
        ):
            return []
        from pytest_irmetrics.analysis.trust import on_tolerance_before_run  # noqa: PLC0415 - a run that does not look at a baseline need not load it
        from pytest_irmetrics.base.escape import escape_terminal, to_stream  # noqa: PLC0415 - the same

        told: dict[str, None] = {}
        for item in items:
            parameter = getattr(getattr(item, "callspec", None), "params", {}).get("irmetrics")
            if not isinstance(parameter, GoldenParameter) or parameter.path is None:
                continue
            try:
                golden = self.golden_set(parameter.path)
                gates = self.gates(item, golden, parameter, regression=True)
                note = on_tolerance_before_run(golden, gates, self.settings.custom_metrics)
            except Exception:  # noqa: BLE001, S112 - a hook of the user's may raise anything, and each test tells it
                continue
            if note is not None:
                told[f"{self.shown(parameter.path)}: {note}"] = None
        more = [f"{len(told) - _TOLD} more golden sets are as small."] if len(told) > _TOLD else []
        lines = [*list(told)[:_TOLD], *more]
        return [to_stream(escape_terminal(line), self.stream_encoding) for line in lines]

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Make one test item for each golden set of a test; also for a single one, so that names never change."""
        marks = nearest_marks(metafunc.definition, "ir_golden")
        if not marks:
            return
        test_file = Path(metafunc.definition.path)
        stored: list[tuple[Path, str]] = []
        if self.gates_on_baseline and not self.config.getoption("ir_baseline_update"):
            stored = baseline.baselines_of_test(test_file, item_name(metafunc.definition), self.baseline_dir)
        parameters = golden_parameters(marks, test_file, stored)
        metafunc.parametrize(
            "irmetrics", list(parameters.values()), ids=list(parameters), indirect=True, scope="function"
        )

    def find_problems(self, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
        """Yield the items whose marks cannot mean what they say, each with what to write instead."""
        registered = {line.split(":")[0].split("(")[0].strip() for line in self.config.getini("markers")}
        for item in items:
            problem = misspelt_mark(item, registered)
            if problem is None and "irmetrics" not in getattr(item, "fixturenames", ()):
                own = [mark.name for mark in item.own_markers if mark.name in MARKS]
                if own:
                    problem = f"{own[0]} binds to nothing: this test does not request the fixture irmetrics."
            if problem is None and any(mark.name == "ir_golden" for mark in parameter_marks(item)):
                problem = (
                    "ir_golden on a parameter binds to nothing: it makes parameters itself, of a function, class or "
                    'module. Mark one of these, or pass the golden set: irmetrics.check(golden="golden/faq.yaml").'
                )
            if problem is not None:
                yield item, problem
        if self._collects_whole_files:
            yield from unbound_marks(items).items()

    @property
    def _collects_whole_files(self) -> bool:
        """Whether a test that was not collected is not there; ``--lf`` and node ids collect parts of files."""
        by_node_id = any(_ONLY_FROM_NODE_IDS in argument for argument in self.config.args)
        return not by_node_id and not self.config.getoption("lf", None)

    def remember(self, items: Iterable[pytest.Item]) -> None:
        """Keep which tests each file has, before any is deselected, to name the baselines whose test is gone."""
        for item in items:
            # Also where a file has lost its last test with a baseline.
            tests = self._items_by_file[Path(item.path)]
            if "irmetrics" in getattr(item, "fixturenames", ()):
                tests.add(item_name(item))

    def stale_baselines(self, test_file: Path) -> list[Path]:
        """Return the baselines beside a test file whose test or test file is gone."""
        if not self._collects_whole_files:
            return []
        names = {path: frozenset(tests) for path, tests in self._items_by_file.items()}
        return baseline.baselines_without_test(test_file.parent, self.baseline_dir, names)

    def close(self) -> None:
        """End what outlives a test, and the runs within it: the event loop of sync tests with async retrievers."""
        GatingSession._open -= 1
        if GatingSession._open:
            return
        from pytest_irmetrics import retrieval  # noqa: PLC0415 - where nothing was retrieved there is nothing to end

        retrieval.close_session_loop()


def stream_encoding(config: pytest.Config) -> str | None:
    """Return the encoding of the terminal reporter's stream, UTF-8 where there is none (``-p no:terminal``)."""
    if not config.pluginmanager.has_plugin("terminalreporter"):
        return "utf-8"
    stream = config.get_terminal_writer()._file  # noqa: SLF001 - pytest has no public way to it
    return getattr(stream, "encoding", None)


def item_name(node: pytest.Item) -> str:
    """Return ``Class.test_name[ids]``, what identifies a test within its file."""
    return ".".join([*class_names(node), node.name])


def class_names(node: pytest.Item) -> list[str]:
    """Return the names of the classes that a test is in, the outermost first."""
    return [parent.name for parent in node.listchain() if isinstance(parent, pytest.Class)]
