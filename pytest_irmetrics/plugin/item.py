"""One test item: its golden set, queries, metrics and gates, how it is asked, its baseline's path."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from inspect import unwrap
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, SupportsIndex

import pytest

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.numbers import as_float, as_whole_number
from pytest_irmetrics.base.wording import describe
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.evaluation.evaluate import DEFAULT_METRICS, require_depth
from pytest_irmetrics.gates.verdict import USUAL, resolve_with_default
from pytest_irmetrics.golden import GoldenSet, GoldenSetError, Query
from pytest_irmetrics.metrics import Metric, MetricError, parse_metric
from pytest_irmetrics.metrics.names import read_metrics, split_names
from pytest_irmetrics.plugin.config import run_config
from pytest_irmetrics.plugin.marks import MisuseError, golden_parameter, marked_thresholds
from pytest_irmetrics.reports.item_report import Note
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved
from pytest_irmetrics.retrieval.options import Seen
from pytest_irmetrics.run.answer import Provenance
from pytest_irmetrics.run.baseline import baseline_path
from pytest_irmetrics.thresholds import EACH_TAG, Gates, Threshold, ThresholdError, parse_line, read_limit

_LABEL_REPORT = "run.json"
"""The run's file in the two commands to judge documents."""

_NO_GOLDEN_SET = 'This test has no golden set. Mark it @pytest.mark.ir_golden("golden/*.yaml"), or pass one: irmetrics.check(golden="golden/faq.yaml"), which a method of unittest.TestCase, or a test that gets the fixture by request.getfixturevalue, has to do: such a test is not parametrized.'

_OTHER_FOLDER = "pytest gave this test the fixture {} of {}, another folder's: it keeps no conftest.py to its own folder that is not below its rootdir, {}. Run each folder by itself, or keep a pytest.ini in a folder above both."


def name_in_file(node: pytest.Item) -> str:
    """Return ``Class.test_name[ids]``, what identifies a test within its file."""
    # Not the node id: pytest-xdist's loadgroup adds a group to it, and pytest finds no test by that.
    return node.location[2]


class UserFixtures(NamedTuple):
    """The values of the fixtures that a user may define, `ir_doc_id` and so on; None where there is none."""

    retriever: Any
    doc_id: Any
    doc_title: Any
    corpus: Any
    provenance: Any
    executor: Any


class GatedItem:
    """One test item that uses the fixture `irmetrics`, with the golden set that one call of it evaluates.

    What is wrong with its marks, its golden set or the settings is raised where that is read first: as MisuseError,
    GoldenSetError, ThresholdError or MetricError.
    """

    def __init__(self, node: pytest.Item, fixtures: UserFixtures, given: Any = None) -> None:
        """`given` stands in for the item's own golden set: a GoldenSet, judgments or a path."""
        self.node = node
        self.fixtures = fixtures
        self._given = given
        self.settings = run_config(node.config)
        self.parameter = golden_parameter(node)
        """What `ir_golden` gives it."""
        self.verbosity: int = node.config.getoption("verbose", 0)
        """How often `-v` was given."""
        values = {**self.settings.values, **self.parameter.asked}
        self.asked = {name: values[name] for name in RetrievalOptions._fields if name in values}
        """How the retriever is asked: the settings, or the mark's, that are fields of `RetrievalOptions`."""
        self.depth: int = self.asked["depth"]
        """How many results a query is asked for."""
        self.seen = Seen(keeps_texts=bool(self.settings.reports))
        """What is kept of the items that come back."""
        self.notes: list[Note] = []
        """What its report is to say besides the verdicts."""
        self.baseline_digest: str | None = None
        """In an updating run, the digest of the stored baseline as it was read."""

    def with_golden(self, golden: Any) -> GatedItem:
        """Return the item with the golden set that a call gives; None is the item's own."""
        return self if golden is None else GatedItem(self.node, self.fixtures, golden)

    @cached_property
    def golden(self) -> GoldenSet:
        """The golden set to evaluate."""
        given = self._given
        if isinstance(given, GoldenSet):
            return given
        if isinstance(given, Mapping):
            return GoldenSet.from_judgments(given)
        if isinstance(given, (str, os.PathLike)):
            return self.settings.golden_set(Path(self.node.path).parent / given)
        if given is not None:
            text = f'golden={given!r} is no golden set. Give a path, a GoldenSet, or judgments: {{"query": {{"document": 1}}}}.'
            raise MisuseError(text)
        if self.parameter.path is None:
            raise MisuseError(self.parameter.problem or _NO_GOLDEN_SET)
        return self.settings.golden_set(self.parameter.path)

    @property
    def golden_name(self) -> str:
        """The golden set's name for messages: the path of its file, or its own name if it was made in Python."""
        return self.golden.name if self.golden.path is None else self.settings.shown(self.golden.path)

    def queries(self) -> list[Query]:
        """Return the queries to ask: all, or those of `--ir-query`. Skips the test where it has none that another test has."""
        own, settings = self.golden, self.settings
        wanted = settings.only_queries
        if not wanted:
            return list(own.queries.values())
        try:
            known = [own, *map(settings.golden_set, settings.marked_golden_sets)]
        except GoldenSetError:  # it fails its own test, and may have these queries
            known = []
        for query_id in wanted if known else ():
            if not any(one.find(query_id) for one in known):
                texts = {query.id: query.text for one in known for query in one.queries.values()}
                close = [i for i in texts if texts[i] == query_id] or get_close_matches(query_id, texts)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise MisuseError(f"--ir-query: no golden set of this run has the query {query_id!r}.{hint}")
        found = {query.id: query for query in map(own.find, wanted) if query is not None}
        if not found:
            reason = f"{self.golden_name} does not have the query {wanted[0]} (--ir-query)"
            pytest.skip(escape_terminal(reason))
        return list(found.values())

    @cached_property
    def setting_thresholds(self) -> list[Threshold]:
        """The thresholds of the setting ``ir_thresholds``. Raises ThresholdError."""
        read, origin = [], "the setting ir_thresholds"
        for line in self.settings.values["thresholds"]:
            try:
                read.append(parse_line(line, origin=origin, custom=self.settings.custom_metrics))
            except IRMetricsError as error:
                raise ThresholdError(f"ir_thresholds: {line!r}: {error}") from None
        return read

    @cached_property
    def _thresholds(self) -> list[list[Threshold]]:
        """The thresholds on this item, a list for each place that sets some, in their order of precedence.

        The places: a parameter's mark, the golden set, the other marks, the setting. A mark's tag must be one of a query of
        any of the test's golden sets.
        """
        golden, settings = self.golden, self.settings
        marked = marked_thresholds(self.node, settings.custom_metrics)
        for threshold in chain(*marked):
            sets = chain([golden], map(settings.golden_set, self.parameter.siblings))
            if not any(one.has_tag(threshold.tag) for one in sets):
                text = f"{threshold.origin}: no query has the tag {threshold.tag!r}, so the threshold binds to nothing. The tags are: {', '.join(sorted(golden.tags)) or 'none'}."
                raise MisuseError(text)
        return [marked[0], list(golden.thresholds), *marked[1:], self.setting_thresholds]

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics to measure: the reported ones, and all that have a threshold. None may look deeper than is asked."""
        settings, own = self.settings, (query.thresholds for query in self.golden.queries.values())
        names = [name for line in settings.values["metrics"] for name in split_names(line)]
        try:
            reported = read_metrics(names or DEFAULT_METRICS, settings.custom_metrics)
        except MetricError as error:
            raise MetricError(f"ir_metrics: {error}") from None
        # Of the default metrics those with a deeper cut-off are left out.
        reported = tuple(metric for metric in reported if names or metric.is_within(self.depth))
        named = [threshold.metric for threshold in chain(*self._thresholds, *own)]
        metrics = read_metrics([*reported, *named], settings.custom_metrics)
        if settings.reads_baselines and not any(metric.rates_rankings for metric in metrics):
            # The default max_drop is a gate on metrics that are measured anyway; with none, a worse search would pass.
            usual = next(one for one in read_metrics([USUAL, "ndcg"]) if one.is_within(self.depth))
            metrics = read_metrics([*metrics, usual], settings.custom_metrics)
        require_depth(metrics, self.depth)
        return metrics

    def gates(self, gone_tags: Collection[str] = ()) -> Gates:
        """Return the limits that this item is held to where it is compared with a baseline: the default `max_drop` too.

        A mark can name a slice that only some of the test's sets have. One that this set had, and its baseline still has
        (`gone_tags`), keeps its gate, which fails.
        """
        rated, written = () if self.golden.judges_nothing else self.metrics, self.settings.values["max_drop"]
        max_drop = read_limit(parse_metric("mrr"), "max_drop", written, name="ir_max_drop")
        origin = "the default max_drop" if written == "auto" else "the setting ir_max_drop"
        gates = resolve_with_default(self._thresholds, rated, max_drop, origin)
        return gates.where(lambda gate: gate.tag in (None, EACH_TAG, *self.golden.tags, *gone_tags))

    @property
    def written_gates(self) -> Gates:
        """Those of its gates that somebody wrote."""
        return self.gates().where(lambda gate: not gate.by_default)

    def retriever(self, given: Any) -> Any:
        """Return the retriever that a call gives, else the fixture's; None where there is neither. Raises MisuseError as `_require_own_fixtures` does."""
        _require_own_fixtures(self.node, gives_retriever=given is not None)
        return self.fixtures.retriever if given is None else given

    def retrieval_options(self) -> RetrievalOptions:
        """Return how the retriever is asked.

        Raises MisuseError for a value of the fixture `ir_doc_id`, `ir_executor` or `ir_provenance` that cannot be used.
        """
        fixtures = self.fixtures
        provenance = None if fixtures.provenance is None else _read_provenance(fixtures.provenance)
        try:
            return RetrievalOptions(
                known=self.golden.document_ids,
                **self.asked,
                doc_id=fixtures.doc_id,
                executor=fixtures.executor,
                seen=self.seen,
                provenance=provenance,
            ).checked()
        except ValueError as error:  # `doc_id is …`: all else was read from checked settings
            raise MisuseError(f"The fixture ir_{error}") from None

    def evaluation(self, retrieved: Retrieved) -> Evaluation:
        """Evaluate what a retriever answered to this item's `queries`."""
        settings = self.settings
        only = frozenset(query.id for query in self.queries()) if settings.only_queries else None
        return Evaluation(self.golden, retrieved, self.metrics, self.depth, settings.custom_metrics, only)

    @property
    def baseline_file(self) -> Path:
        """The path of this item's baseline, whether or not there is one."""
        return baseline_path(Path(self.node.path), name_in_file(self.node), self.settings.baseline_dir)

    def command(self, *options: str) -> str:
        """Return a command line that runs this test item alone, as and from where pytest was called."""
        config = self.node.config
        # `python -m` puts the current folder on the path, which the test may need. A worker knows what pytest-xdist was called with.
        typed = getattr(config, "workerinput", {}).get("mainargv", sys.argv)
        program = ["python", "-m", "pytest"] if Path(typed[0]).name == "__main__.py" else ["pytest"]
        names, bracket, ids = name_in_file(self.node).partition("[")
        test = f"{self.settings.shown(self.node.path)}::{names.replace('.', '::')}{bracket}{ids}"
        option = config.getoption
        # What sets how a test is asked and judged: a baseline of other settings would be another one.
        given = [] if option("ir_repeat") is None else [f"--ir-repeat={option('ir_repeat')}"]
        given += ["-c", str(option("inifilename"))] if option("inifilename", None) else []
        overrides = [one for one in option("override_ini", None) or () if one.startswith("ir_")]
        given += (word for override in overrides for word in ("-o", override))
        # From addopts it would contradict the update.
        contradicts = "--ir-baseline" in self.settings.added and "--ir-baseline-update" in options
        given += ["--no-ir-baseline"] if contradicts else []
        return shlex.join([*program, test, *options, *given])

    def label_command(self, other: str, *options: str) -> str | None:
        """Return the commands that write this run to a file, and list what to judge of it and of the one in the file `other`.

        None without files.
        """
        if self.golden.path is None or not other:
            return None
        # The golden set may have thresholds on them.
        own = [f"--metric={name}" for name in self.settings.custom_metrics]
        label = ["label", self.golden_name, *own, "--run", other, "--run", _LABEL_REPORT]
        # The first is a run that fails again: the second must not wait for its success, and nobody reads the failure twice.
        report = self.command(*options, "-q", "--tb=no", f"--ir-report=json:{_LABEL_REPORT}")
        return f"{report}; {shlex.join(['pytest-irmetrics', *label])}"


def _require_own_fixtures(node: pytest.Item, *, gives_retriever: bool) -> None:
    """Raise MisuseError where pytest gave a test any fixture of another folder's ``conftest.py``: it scopes none that is outside of its rootdir.

    With ``--pyargs``, the one where pytest was called is for the packages. Not for a `retriever` where the test gives one itself.
    """
    config, path = node.config, node.path
    root, for_packages = config.rootpath, config.getoption("pyargs") and config.invocation_params.dir
    holders = [*config.pluginmanager.list_name_plugin(), (str(path), getattr(node, "module", None))]
    spaces: list[tuple[Path, Any]] = [(Path(one), getattr(by, "__dict__", {})) for one, by in holders]
    is_outside = any(one.suffix == ".py" and not one.is_relative_to(root) for one, _ in spaces)
    # pytest has no public way to them.
    definitions = getattr(getattr(node, "_fixtureinfo", None), "name2fixturedefs", {})
    for name, found in definitions.items() if is_outside else ():
        files = _files_that_hold(name, found[-1].func, spaces)
        is_scoped = path.is_relative_to(root) and all(one.is_relative_to(root) for one in files)
        is_own = any(path.is_relative_to(one.parent) or one.parent == for_packages for one in files)
        is_unused = gives_retriever and name == "retriever"
        if files and not (is_scoped or is_own or is_unused):
            raise MisuseError(_OTHER_FOLDER.format(name, run_config(config).shown(files[0]), root))


def _files_that_hold(name: str, function: Any, spaces: Iterable[tuple[Path, Any]]) -> list[Path]:
    """Return the ``conftest.py`` files and test modules that hold a fixture; none where a plugin does, whose fixtures are for all.

    Not the file where it is written: each of these may import it, or call what makes it. `spaces` are all files and plugins, with their names.
    """
    inner, also = unwrap(function), getattr(function, "__name__", name)
    held = [one for one, space in spaces if unwrap(space.get(name, space.get(also))) is inner]
    return held if all(one.suffix == ".py" for one in held) else []


def _read_provenance(given: Any) -> Provenance | None:
    """Return what the fixture `ir_provenance` gave as plain values; None where it says nothing. Raises MisuseError."""
    if not isinstance(given, Mapping):
        text = f'The fixture ir_provenance gave {describe(given)}. Give a mapping of names to text or numbers: {{"model": "minilm", "docs": 973}}.'
        raise MisuseError(text)
    found: dict[str, str | float] = {}
    for name, value in given.items():
        number = as_float(value)
        if not isinstance(name, str) or not name:
            text = f"The fixture ir_provenance has the name {describe(name)}. A name is a text that is not empty."
            raise MisuseError(text)
        if isinstance(value, str):
            found[str.__str__(name)] = str.__str__(value)
        elif number is not None and math.isfinite(number):
            whole = isinstance(value, SupportsIndex)
            found[str.__str__(name)] = int(value) if whole else as_whole_number(number)
        else:
            text = f"The fixture ir_provenance gave {describe(value)} for {name!r}, which is neither a text nor a finite number. Write it as text, or leave it out."
            raise MisuseError(text)
    return found or None
