"""The golden set, queries, metrics and gates of one test item, how it is asked, its baseline's path and the command to run it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.evaluation import Evaluation, read_metrics, require_depth
from pytest_irmetrics.gates import rates_rankings, resolve_with_default
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.plugin.marks import (
    MarkError,
    golden_parameter,
    marked_thresholds,
    name_in_file,
    unknown_query,
)
from pytest_irmetrics.retrieval import RetrievalOptions
from pytest_irmetrics.run.baseline import baseline_path
from pytest_irmetrics.thresholds import Gates, Threshold, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.plugin.config import RunConfig
    from pytest_irmetrics.plugin.session import GatingSession
    from pytest_irmetrics.reports.item_report import Note
    from pytest_irmetrics.retrieval import Retrieved
    from pytest_irmetrics.run import Run
    from pytest_irmetrics.thresholds import Gate

_LABEL_REPORT = "run.json"
"""The file that the commands to judge documents write the run to."""

_NO_GOLDEN_SET = (
    'This test has no golden set. Mark it @pytest.mark.ir_golden("golden/*.yaml"), or pass one: '
    'irmetrics.check(golden="golden/faq.yaml"), which a method of unittest.TestCase, or a test that gets the '
    "fixture by request.getfixturevalue, has to do: such a test is not parametrized."
)


class UserFixtures(NamedTuple):
    """The values of the fixtures that a user may define, `ir_doc_id` and so on; None where there is none."""

    retriever: Any
    doc_id: Any
    doc_title: Any
    corpus: Any
    executor: Any


class GatedItem:
    """One test item that uses the fixture `irmetrics`."""

    def __init__(
        self, request: pytest.FixtureRequest, session: GatingSession, fixtures: UserFixtures
    ) -> None:
        self.node: pytest.Item = request.node
        self.session = session
        self.parameter = golden_parameter(self.node)
        """What `ir_golden` gives it."""
        self.settings: RunConfig = session.settings
        self.fixtures = fixtures
        self.verbosity: int = self.node.config.getoption("verbose", 0)
        """How often `-v` was given."""
        self.returned_titles: dict[str, str] = {}
        """Id → the title of the document that came back."""
        self.notes: list[Note] = []
        """What its report is to say besides the verdicts."""
        self.baseline_digest: str | None = None
        """In an updating run, the digest of the stored baseline as it was read."""

    def golden_set(self, given: Any = None) -> GoldenSet:
        """Return the golden set that a call gives (a GoldenSet, judgments or a path), else the item's own.

        Raises MarkError and GoldenSetError.
        """
        if isinstance(given, GoldenSet):
            return given
        if isinstance(given, Mapping):
            return GoldenSet.from_judgments(given)
        if isinstance(given, (str, os.PathLike)):
            return self.session.golden_set(Path(self.node.path).parent / given)
        if given is not None:
            raise MarkError(
                f"golden={given!r} is no golden set. Give a path, a GoldenSet, or judgments: "
                '{"query": {"document": 1}}.'
            )
        if self.parameter.path is None:
            raise MarkError(self.parameter.problem or _NO_GOLDEN_SET)
        return self.session.golden_set(self.parameter.path)

    def golden_name(self, golden: GoldenSet) -> str:
        """Return a golden set's name for messages: the path of its file, or its own name if it was made in Python."""
        return golden.name if golden.path is None else self.session.shown(golden.path)

    def queries(self, golden: GoldenSet) -> Sequence[Query]:
        """Return the queries to ask: all, or those of `--ir-query`. Skips the test, or raises MarkError, where it has none."""
        only = self.settings.only_queries
        if not only:
            return list(golden.queries.values())
        found = {query.id: query for query in map(golden.find, only) if query is not None}
        if not found and self.parameter.path is None and not self.session.marked_golden_sets:
            raise MarkError(unknown_query(only[0], [golden]))
        if not found:  # another set has it: this was seen when the tests were collected
            reason = f"{self.golden_name(golden)} does not have the query {only[0]} (--ir-query)"
            pytest.skip(escape_terminal(reason))
        return list(found.values())

    @property
    def depth(self) -> int:
        """How many results a query is asked for."""
        return self.parameter.depth or self.settings.depth

    def thresholds_by_place(self, golden: GoldenSet) -> list[list[Threshold]]:
        """Return the thresholds on this item, a list for each place that sets some, in their order of precedence.

        The places: the nearest mark, the golden set, the other marks, the setting. Raises ThresholdError, MetricError or
        MarkError; the last for a mark whose tag no query of any of the test's golden sets has.
        """
        marked = marked_thresholds(self.node, self.settings.custom_metrics)
        for threshold in (threshold for place in marked for threshold in place):
            if threshold.tag is None or threshold.tag in golden.tags:
                continue
            if not any(
                threshold.tag in self.session.golden_set(path).tags for path in self.parameter.siblings
            ):
                raise MarkError(
                    f"{threshold.origin}: no query has the tag {threshold.tag!r}, so the threshold binds to nothing. "
                    f"The tags are: {', '.join(sorted(golden.tags)) or 'none'}."
                )
        return [marked[0], list(golden.thresholds), *marked[1:], list(self.settings.thresholds)]

    def bound_threshold(self) -> Threshold | Gate | None:
        """Return one of the thresholds that this item is held to besides its baseline. Raises as `thresholds_by_place` does."""
        # Its golden set is not known, nor then the tags that limits of settings bind to.
        if self.parameter.path is None:
            marked = marked_thresholds(self.node, self.settings.custom_metrics)
            of_settings = [limit for limit in self.settings.thresholds if limit.tag is None]
            return next((one for place in [*marked, of_settings] for one in place), None)
        golden = self.golden_set()
        of_queries = [limit for query in golden.queries.values() for limit in query.thresholds]
        return next(iter([*self.gates(golden, regression=False), *of_queries]), None)

    def metrics(self, golden: GoldenSet) -> tuple[Metric, ...]:
        """Return the metrics to measure: the reported ones, and all that have a threshold.

        Raises as `thresholds_by_place` does, and MetricError for a cut-off below the depth.
        """
        named = [threshold.metric for place in self.thresholds_by_place(golden) for threshold in place]
        of_queries = [threshold.metric for query in golden.queries.values() for threshold in query.thresholds]
        settings = self.settings
        reported = settings.reported_metrics(self.depth)
        metrics = read_metrics([*reported, *named, *of_queries], settings.custom_metrics)
        if (settings.gates or settings.update) and not any(map(rates_rankings, metrics)):
            # The default max_drop is a gate on metrics that are measured anyway; with none, a worse search would pass.
            usual = "ndcg@10" if self.depth >= 10 else "ndcg"
            metrics = read_metrics([*metrics, usual], settings.custom_metrics)
        require_depth(metrics, self.depth)
        return metrics

    def retrieval_options(self, stored: Run | None) -> RetrievalOptions:
        """Return how the retriever is asked; `stored` is a run whose equal answers need not be made anew.

        Raises MarkError for a value of the fixture `ir_doc_id` or `ir_executor` that cannot be used.
        """
        settings = self.settings
        try:
            return RetrievalOptions(
                depth=self.depth,
                duplicates=self.parameter.duplicates or settings.duplicates,
                doc_id=self.fixtures.doc_id,
                timeout=settings.timeout,
                concurrency=settings.concurrency,
                repeat=settings.repeat,
                executor=self.fixtures.executor,
                stored=stored,
                titles=self.returned_titles,
            )
        except ValueError as error:  # `doc_id is …`: all else was read from checked settings
            raise MarkError(f"The fixture ir_{error}") from None

    def evaluation(self, golden: GoldenSet, metrics: tuple[Metric, ...], retrieved: Retrieved) -> Evaluation:
        """Evaluate what a retriever answered to this item's `queries`."""
        settings = self.settings
        only = frozenset(query.id for query in self.queries(golden)) if settings.only_queries else None
        return Evaluation(golden, retrieved, metrics, self.depth, settings.custom_metrics, only)

    def gates(self, golden: GoldenSet, *, regression: bool) -> Gates:
        """Return the gates of this item, with `regression` the default `max_drop` too.

        Raises as `thresholds_by_place` does.
        """
        places, max_drop = self.thresholds_by_place(golden), self.settings.max_drop
        gates = (
            resolve_with_default(places, self.metrics(golden), max_drop, "the setting ir_max_drop")
            if regression and max_drop is not None
            else resolve(places)
        )
        # A mark can name a slice that only some of the test's sets have.
        return Gates(gate for gate in gates if gate.tag is None or gate.tag in golden.tags)

    @property
    def baseline_file(self) -> Path:
        """The path of this item's baseline, whether or not there is one."""
        return baseline_path(Path(self.node.path), name_in_file(self.node), self.settings.baseline_dir)

    def command(self, *options: str) -> str:
        """Return a command line that runs this test item alone, from where pytest was called."""
        names, bracket, ids = name_in_file(self.node).partition("[")
        test = f"{self.session.shown(self.node.path)}::{names.replace('.', '::')}{bracket}{ids}"
        return shlex.join(["pytest", test, *options, *self._options_of_call()])

    def label_commands(self, golden: GoldenSet, metric: Metric | None, other: str) -> list[str]:
        """Return the commands that write this run to a file, and list what to judge of it and of the one in the file `other`.

        None without files.
        """
        if golden.path is None or not other:
            return []
        label = ["label", self.session.shown(golden.path), "--run", other, "--run", _LABEL_REPORT]
        by = [] if metric is None else ["--by", metric.name]
        return [
            self.command(f"--ir-report=json:{_LABEL_REPORT}"),
            shlex.join(["pytest-irmetrics", *label, *by]),
        ]

    def _options_of_call(self) -> list[str]:
        """Return the options of this pytest call that set how a test is asked and judged."""
        option = self.node.config.getoption
        repeat, file = option("ir_repeat"), option("inifilename", None)
        # A baseline of fewer repeats would estimate run noise less well.
        given = [] if repeat is None else [f"--ir-repeat={repeat}"]
        given += ["-c", str(file)] if file else []
        overrides = [one for one in option("override_ini", None) or () if one.startswith("ir_")]
        return [*given, *(word for override in overrides for word in ("-o", override))]
