"""The ``irmetrics`` fixture: ask, score, compare, gate."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_irmetrics import collection, health, notes, places, thresholds
from pytest_irmetrics.baseline import BaselineError, baseline_path, read_baseline
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import (
    Evaluation,
    EvaluationError,
    NoQueryError,
    judged_beside,
    read_metrics,
    require_depth,
)
from pytest_irmetrics.gates import Regression, decide
from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from pytest_irmetrics.ini import SettingsError
from pytest_irmetrics.metrics import MetricError
from pytest_irmetrics.outcome import Outcome
from pytest_irmetrics.record import Record
from pytest_irmetrics.reports.terminal import Screen, failure
from pytest_irmetrics.retrieval import RetrievalError, RetrievalOptions, Retrieved, aretrieve, retrieve
from pytest_irmetrics.run import Answer, Run, RunError
from pytest_irmetrics.selftest import run_selftest
from pytest_irmetrics.session import item_name

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import NoReturn

    from pytest_irmetrics.gates import Limits
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.selftest import Selftest
    from pytest_irmetrics.session import GatingSession
    from pytest_irmetrics.settings import Settings
    from pytest_irmetrics.thresholds import Threshold

_TOLD = (
    BaselineError,
    EvaluationError,
    GoldenSetError,
    MetricError,
    RetrievalError,
    RunError,
    SettingsError,
    collection.MarkError,
    thresholds.ThresholdError,
)
"""What a user can mend, told without a traceback."""

_HEADLINE = "irmetrics_headline"

_STORED = (type(None), Run, str, os.PathLike)
"""What `against` may be where it stands for a stored run; None is the test's own baseline."""
_AT_HAND = (*_STORED, Evaluation)
"""What `against` may be that nobody has to ask."""


class MissingRetriever:
    """What the plugin's own ``retriever`` fixture returns: it only says what to write."""

    message = (
        "There is no fixture named retriever. Write one in conftest.py that returns your search:\n\n"
        "    import pytest\n\n"
        '    @pytest.fixture(scope="session")\n'
        "    def retriever():\n"
        "        return lambda query, k: my_search(query, size=k)   # ids, best first\n\n"
        "or pass one: irmetrics.check(retriever=my_search)."
    )


class IRMetrics:
    """What the fixture ``irmetrics`` is: one test's golden set, retriever and gates.

    ``check`` and ``acheck`` evaluate, gate and return the Evaluation; ``evaluate`` and ``aevaluate`` only evaluate.
    """

    def __init__(
        self,
        request: pytest.FixtureRequest,
        session: GatingSession,
        retriever: Any,
        *,
        doc_id: Any = None,
        corpus: Any = None,
        executor: Any = None,
    ) -> None:
        self._item: pytest.Item = request.node
        self._session = session
        self._retriever = retriever
        self._doc_id = doc_id
        self._corpus = corpus
        self._executor = executor
        self._parameter: collection.GoldenParameter | None = getattr(request, "param", None)
        self._outcome: Outcome | None = None
        self._notes: list[str] = []
        self._hints: list[str] = []
        self._selftest: Selftest | None = None
        self._checking = 0
        self._awaited = True
        self._checked = False
        self._failure: str | None = None
        self._against: str | None = None

    @property
    def golden(self) -> GoldenSet:
        """The golden set of this test item. Fails the test where it has none, or a broken one."""
        __tracebackhide__ = True
        try:
            return self._golden(None)
        except _TOLD as error:
            _fail(str(error))

    def check(self, *, retriever: Any = None, golden: Any = None, against: Any = None) -> Evaluation:
        """Evaluate, gate and return the Evaluation; fail the test where a gate fails.

        ``retriever`` and ``golden`` (a GoldenSet or a path) stand in for the test's own. ``against`` is a
        retriever, a Run, a path or an Evaluation that stands in for the stored baseline.
        """
        __tracebackhide__ = True
        self._start()
        try:
            if self._settings.selftest:
                return self._degraded(golden, against)
            now = self._asked(retriever, golden, lambda: self._require_baseline(against))
            return self._finish(now, self._other_side(now, against))
        except _TOLD as error:
            self._fail_check(str(error))

    def acheck(
        self, *, retriever: Any = None, golden: Any = None, against: Any = None
    ) -> Coroutine[Any, Any, Evaluation]:
        """Do as ``check`` does, for async tests; the retriever may be sync or async."""
        __tracebackhide__ = True
        self._start()  # here, so that a call that nobody awaits is told from none
        self._awaited = False
        return self._acheck(retriever, golden, against)

    async def _acheck(self, retriever: Any, golden: Any, against: Any) -> Evaluation:
        __tracebackhide__ = True
        self._awaited = True
        try:
            if self._settings.selftest:
                return self._degraded(golden, against)
            now = await self._aasked(retriever, golden, lambda: self._require_baseline(against))
            return self._finish(now, await self._aother_side(now, against))
        except _TOLD as error:
            self._fail_check(str(error))

    def evaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Evaluate only; nothing is gated."""
        __tracebackhide__ = True
        try:
            return self._measured(self._asked(retriever, golden))
        except _TOLD as error:
            _fail(str(error))

    async def aevaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Do as ``evaluate`` does, for async tests."""
        __tracebackhide__ = True
        try:
            return self._measured(await self._aasked(retriever, golden))
        except _TOLD as error:
            _fail(str(error))

    def _start(self) -> None:
        __tracebackhide__ = True
        self._checking += 1
        if self._checking > 1:
            self._fail_check(
                "This test calls check a second time, and a test has one verdict. Parametrize the fixture "
                "retriever to check several, or use irmetrics.evaluate(), which gates nothing."
            )

    @property
    def _settings(self) -> Settings:
        __tracebackhide__ = True
        return self._session.settings

    def _golden(self, given: Any) -> GoldenSet:
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
            return self._session.golden_set(Path(self._item.path).parent / given)
        if self._parameter is None:
            if collection.nearest_marks(self._item, "ir_golden"):
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
        if self._parameter.problem is not None or self._parameter.path is None:
            raise collection.MarkError(self._parameter.problem or "")
        return self._session.golden_set(self._parameter.path)

    @property
    def _depth(self) -> int:
        return self._session.depth(self._parameter)

    def _options(self) -> RetrievalOptions:
        settings, parameter = self._settings, self._parameter
        if self._doc_id is not None and not callable(self._doc_id):
            raise collection.MarkError(
                f"The fixture ir_doc_id gives {self._doc_id!r}. Give a function of one returned item that returns its id."
            )
        if self._executor is not None and not isinstance(self._executor, Executor):
            raise collection.MarkError(
                f"The fixture ir_executor gives {self._executor!r}. Give a concurrent.futures.Executor; of a Dask "
                "client it is client.get_executor()."
            )
        return RetrievalOptions(
            depth=self._depth,
            duplicates=(parameter and parameter.duplicates) or settings.duplicates,
            doc_id=self._doc_id,
            timeout=settings.timeout,
            concurrency=settings.concurrency,
            repeat=settings.repeat,
            executor=self._executor,
            stop_on_error=self._item.config.getoption("maxfail", 0) == 1,
        )

    def _plan(self, golden: Any) -> tuple[GoldenSet, tuple[Metric, ...], list[list[Threshold]]]:
        """Read all that can be wrong before the first query is asked."""
        __tracebackhide__ = True
        golden = self._golden(golden)
        settings = self._settings
        levels = self._session.levels(self._item, golden, self._parameter)
        # The default max_drop comes last: its metrics are reported anyway.
        named = [threshold.metric for level in levels for threshold in level]
        own = [threshold.metric for query in golden.queries.values() for threshold in query.thresholds]
        depth = self._depth
        metrics = read_metrics([*settings.reported(depth), *named, *own], settings.custom_metrics)
        require_depth(metrics, depth)
        return golden, metrics, levels

    def _queries(self, golden: GoldenSet) -> Sequence[Query]:
        only = self._settings.only_queries
        if not only:
            return list(golden.queries.values())
        here = [golden.queries[query_id] for query_id in dict.fromkeys(only) if query_id in golden.queries]
        if not here:
            self._refuse_queries(golden, only)
        return here

    def _refuse_queries(self, golden: GoldenSet, wanted: Sequence[str]) -> NoReturn:
        """Skip a golden set that does not have the queries of ``--ir-query``; fail where none of the test's has."""
        __tracebackhide__ = True
        siblings = self._parameter.siblings if self._parameter is not None else ()
        known = {query_id for path in siblings for query_id in self._session.golden_set(path).queries}
        if known.intersection(wanted):
            pytest.skip(f"{self._golden_name(golden)} does not have the query {wanted[0]} (--ir-query)")
        close = difflib.get_close_matches(wanted[0], known or golden.queries, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise collection.MarkError(
            f"--ir-query: no golden set of this test has the query {wanted[0]!r}.{hint}"
        )

    def _golden_name(self, golden: GoldenSet) -> str:
        return golden.name if golden.path is None else self._session.shown(golden.path)

    def _require_retriever(self, retriever: Any) -> Any:
        retriever = self._retriever if retriever is None else retriever
        if isinstance(retriever, MissingRetriever):
            raise collection.MarkError(retriever.message)
        return retriever

    def _asked(self, retriever: Any, golden: Any, first: Callable[[], None] = lambda: None) -> Evaluation:
        __tracebackhide__ = True
        golden, metrics, _ = self._plan(golden)
        first()
        retrieved = retrieve(self._queries(golden), self._require_retriever(retriever), self._options())
        return self._evaluation(golden, retrieved, metrics)

    async def _aasked(
        self, retriever: Any, golden: Any, first: Callable[[], None] = lambda: None
    ) -> Evaluation:
        __tracebackhide__ = True
        golden, metrics, _ = self._plan(golden)
        first()
        retrieved = await aretrieve(
            self._queries(golden), self._require_retriever(retriever), self._options()
        )
        return self._evaluation(golden, retrieved, metrics)

    def _evaluation(self, golden: GoldenSet, retrieved: Any, metrics: tuple[Metric, ...]) -> Evaluation:
        only = self._settings.only_queries
        return Evaluation(
            golden,
            retrieved,
            metrics,
            self._depth,
            self._settings.custom_metrics,
            frozenset(only) if only else None,
            judged_beside(metrics, self._depth),
        )

    def _other_side(self, now: Evaluation, against: Any) -> tuple[Evaluation, str] | None:
        __tracebackhide__ = True
        if isinstance(against, _AT_HAND):
            return self._side_at_hand(now, against)
        retrieved = retrieve(self._queries(now.golden), against, self._options())
        return self._fresh_side(now, retrieved)

    async def _aother_side(self, now: Evaluation, against: Any) -> tuple[Evaluation, str] | None:
        __tracebackhide__ = True
        if isinstance(against, _AT_HAND):
            return self._side_at_hand(now, against)
        retrieved = await aretrieve(self._queries(now.golden), against, self._options())
        return self._fresh_side(now, retrieved)

    def _side_at_hand(self, now: Evaluation, against: Any) -> tuple[Evaluation, str] | None:
        if isinstance(against, Evaluation):
            return self._fresh_side(now, against.retrieved)
        return self._stored_side(now, against)

    def _fresh_side(self, now: Evaluation, retrieved: Any) -> tuple[Evaluation, str]:
        other = replace(now, retrieved=retrieved)
        if other.errors:
            query_id, problem = next(iter(other.errors.items()))
            raise EvaluationError(
                f"The retriever given as `against` failed for {len(other.errors)} queries; the first is "
                f"{query_id!r}: {problem}"
            )
        return other, "the other retriever"

    def _stored_side(self, now: Evaluation, against: Any) -> tuple[Evaluation, str] | None:
        if isinstance(against, Run):
            run, name = against, "the other run"
        elif against is not None:
            path = Path(self._item.path).parent / against
            name = self._session.shown(path)
            try:
                run = Run.load(path, like=now.run)
            except RunError as error:
                raise RunError(str(error).replace(str(path), name)) from None
        else:
            settings = self._settings
            if not settings.baseline and not settings.update:
                return None
            path = self._baseline_file
            if settings.update and not path.exists():
                return None
            self._require_baseline(against)
            try:
                run, name = read_baseline(path, like=now.run), "the baseline"
            except BaselineError as error:
                problem = str(error).replace(str(path), self._session.shown(path))
                if settings.update:
                    self._notes.append(
                        f"The baseline that was there could not be read and is replaced: {problem}"
                    )
                    return None
                raise BaselineError(problem) from None
        if against is not None:
            run = _of_golden_set(run, now.golden)
        depth = run.depth if run.depth is not None else now.depth
        return Evaluation(
            now.golden,
            replace(now.retrieved, run=run, errors={}, latencies={}, stopped=""),
            now.metrics,
            depth,
            now.custom,
            now.only,
            now.aside,
        ), name

    def _require_baseline(self, against: Any) -> None:
        """Refuse to gate against a baseline that is not there; nobody waits for answers to learn that."""
        settings = self._settings
        if against is None and settings.baseline and not settings.update and not self._baseline_file.exists():
            raise BaselineError(self._no_baseline(self._baseline_file))

    def _no_baseline(self, path: Path) -> str:
        """Say how to make the baseline that is not there, or how to keep it where a test was renamed."""
        shown = self._session.shown
        lines = [f"There is no baseline for this test: {shown(path)}."]
        commands = [f"To store one, and then commit it: {self._command('--ir-baseline-update')}"]
        stale = self._session.stale_baselines(Path(self._item.path))
        if stale:
            old = _most_alike(stale, path)
            lines.append(f"No test has this baseline any more: {shown(old)}.")
            move = shlex.join(["git", "mv", shown(old), shown(path)])
            commands.insert(0, f"Where that test is this one, renamed: {move}")
        return "\n".join([*lines, "", *commands])

    @property
    def _baseline_file(self) -> Path:
        return baseline_path(Path(self._item.path), item_name(self._item), self._settings.baseline_dir)

    def _command(self, *options: str) -> str:
        """Return a command line that runs this test item alone, from where pytest was called."""
        _, colons, name = self._item.nodeid.partition("::")
        return shlex.join(["pytest", self._session.shown(self._item.path) + colons + name, *options])

    def _limits(self, golden: GoldenSet, *, regression: bool) -> Limits:
        return self._session.limits(self._item, golden, self._parameter, regression=regression)

    def _measured(self, evaluation: Evaluation) -> Evaluation:
        if evaluation.errors:
            _fail_retrieval(evaluation, self)
        self._item.ihook.pytest_irmetrics_evaluated(item=self._item, evaluation=evaluation)
        if self._outcome is None:
            self._outcome = Outcome(evaluation, {}, checked=False)
        return evaluation

    def _finish(self, now: Evaluation, other: tuple[Evaluation, str] | None) -> Evaluation:
        __tracebackhide__ = True
        settings = self._settings
        regression = None
        if other is not None and not now.errors:
            baseline, self._against = other
            regression = Regression(
                Comparison(now, baseline),
                self._against,
                self._command("--ir-baseline-update") if self._against == "the baseline" else "",
                gated=not settings.update or self._against != "the baseline",
            )
        limits = self._limits(now.golden, regression=regression is not None)
        verdicts = decide(now, limits, regression=regression, single_queries_only=bool(settings.only_queries))
        comparison = regression.comparison if regression is not None else None
        if settings.update and regression is None:
            # The first baseline: that nothing was there to compare with is no news.
            verdicts = tuple(verdict for verdict in verdicts if verdict.state != "not checked")
        outcome = Outcome(now, limits, verdicts, comparison)
        if not now.errors:
            self._item.ihook.pytest_irmetrics_evaluated(item=self._item, evaluation=now)
            self._notes += notes.on_evaluation(now, limits, self._corpus)
            self._notes += health.on_run(now, limits, self._corpus)
            self._hints += notes.on_known_bad(now, limits)
            if self._item.config.getoption("verbose", 0) >= 1:  # it reads each query's words
                self._hints += health.on_run_in_detail(now, limits, self._corpus)
        if comparison is not None and self._against is not None:
            self._notes += notes.on_comparison(comparison, self._against, limits)
            leading = outcome.leading_metric
            if not outcome.fell and leading is not None and comparison.change(leading).delta < 0:
                # Else it is part of what kind of change it is.
                self._notes += notes.on_unjudged(comparison, leading)
            if leading is not None and not outcome.mean_fell:
                gated = [
                    tag
                    for (name, tag), words in limits.items()
                    if tag and name == leading.name and "max_drop" in words
                ]
                self._notes += notes.hidden_slices(comparison, leading, gated)
            self._notes += notes.on_passed_drops(comparison, verdicts)
            if outcome.failed:
                self._notes += notes.on_averages(comparison)
            self._hints += notes.on_run_noise(comparison, verdicts)
            if not settings.only_queries:  # no mean is judged
                self._hints += notes.on_tolerance(comparison, limits)
        if not limits and not verdicts and not settings.update:
            self._notes.append(
                "Nothing is gated here: no threshold binds to this test, and no baseline was compared."
            )
        # Not before what the user's own hooks and fixtures may raise: the test has not passed then.
        self._outcome, self._checked = outcome, True
        if outcome.failed:
            self._fail_check(failure(self._as_record(self._outcome), self._screen))
        return now

    def _degraded(self, golden: Any, against: Any) -> Evaluation:
        """Ask nobody: degrade the stored run and tell what would be caught. Fails where the intact run fails."""
        __tracebackhide__ = True
        if not isinstance(against, _STORED):
            pytest.skip("--ir-selftest needs a stored run, and this test compares with a second retriever")
        golden, metrics, _ = self._plan(golden)
        unasked = self._evaluation(golden, Retrieved(Run({}), {}, stopped="", latencies={}), metrics)
        # With --ir-selftest the baseline is there, or a BaselineError says that it is not.
        baseline, self._against = cast("tuple[Evaluation, str]", self._stored_side(unasked, against))
        tested = self._selftest = run_selftest(
            baseline,
            self._limits(golden, regression=True),
            against=self._against,
            update=self._command("--ir-baseline-update"),
        )
        self._outcome = Outcome(tested.intact, tested.limits, tested.verdicts)
        self._notes += notes.on_selftest(tested.comparison, self._against)
        self._checked = True
        if self._outcome.failed:
            lead = (
                f"--ir-selftest: {self._against}, intact, fails its own gates. What fails here is not counted as "
                "catching anything."
            )
            lines = [*self._screen.wrapped(lead), "", failure(self._as_record(self._outcome), self._screen)]
            _fail("\n".join(lines))
        return tested.intact

    def _fail_check(self, message: str) -> NoReturn:
        """Fail ``check``, and remember it: a body that swallows the exception has not passed for that."""
        __tracebackhide__ = True
        self._failure = message
        _fail(message)

    @property
    def _screen(self) -> Screen:
        return Screen(encoding=self._session.stream_encoding)

    def _as_record(self, outcome: Outcome) -> Record:
        config, settings = self._item.config, self._settings
        golden = outcome.evaluation.golden
        wanted = (
            bool(settings.only_queries)
            or config.getoption("verbose", 0) >= 2
            or bool(config.getoption("ir_report"))
        )
        updating = settings.update and outcome.checked and not outcome.failed and not settings.only_queries
        return Record(
            nodeid=self._item.nodeid,
            golden_set=self._golden_name(golden),
            queries=len(outcome.evaluation.counted),
            outcome=outcome.state,
            rows=outcome.rows(),
            gates=outcome.gates(),
            explained_by=outcome.explained_by(),
            slices=outcome.slices(),
            kind=outcome.kind(),
            notes=list(self._notes),
            hints=list(self._hints),
            views=outcome.views(everything=wanted),
            lowered=list(outcome.lowered()) if settings.update else [],
            unbound=self._session.unbound(golden) if outcome.checked else [],
            stale=self._stale(),
            baseline_file=places.in_root(config, self._baseline_file) if updating else None,
            baseline_text=self._baseline_run(outcome.evaluation).dumps() if updating else None,
            run=self._baseline_run(outcome.evaluation).dumps()
            if config.getoption("ir_report") and not outcome.evaluation.errors
            else None,
            against=self._against,
            look=self._command(*(["--ir-baseline"] if self._against == "the baseline" else [])),
            accept=self._command("--ir-baseline-update") if self._against == "the baseline" else None,
            depth=outcome.evaluation.depth,
            only_queries=bool(settings.only_queries),
            selftest=list(self._selftest.degradations) if self._selftest is not None else None,
            advice=list(self._selftest.advice) if self._selftest is not None else [],
        )

    def _baseline_run(self, evaluation: Evaluation) -> Run:
        golden = evaluation.golden
        answers = {}
        # With --ir-query the others were not asked, which is no empty answer.
        for query in self._queries(golden):
            answer = evaluation.run.answers.get(query.id)
            answers[query.id] = Answer(
                rankings=answer.rankings if answer is not None else ((),),
                text=query.text,
                params=query.params,
                judgments=query.judgments,
                weight=query.weight,
                tags=query.tags,
                passages=answer.passages if answer is not None else {},
            )
        means = {}
        for metric in evaluation.metrics:
            if metric.kind != "latency":
                try:
                    means[metric.name] = evaluation.mean(metric)
                except NoQueryError:  # a metric over no query has no mean to tell
                    continue
        path = golden.path
        return Run.of(
            answers,
            depth=evaluation.depth,
            golden_set=golden.name if path is None else places.relative(path, Path(self._item.path).parent),
            relevance_level=golden.relevance_level,
            means=means,
        )

    def record(self) -> str | None:
        """Return what this item measured, as the text that its report carries; None where nothing was."""
        if self._outcome is not None:
            return self._as_record(self._outcome).dumps()
        if not self._checking:
            return None
        # Nothing was evaluated, for a reason that the failure tells; what stands beside the test is told all the same.
        path = self._parameter.path if self._parameter is not None else None
        name = self._item.name if path is None else self._session.shown(path)
        return Record(self._item.nodeid, name, 0, "not evaluated", stale=self._stale()).dumps()

    def _stale(self) -> list[str]:
        """Return the baselines beside this test that belong to none, relative to the root directory."""
        if not self._session.gates_on_baseline and not self._item.config.getoption("ir_baseline_update"):
            return []
        stale = self._session.stale_baselines(Path(self._item.path))
        return [places.in_root(self._item.config, path) for path in stale]

    def require_checked(self) -> None:
        """Fail a test that passed although its thresholds were never judged."""
        __tracebackhide__ = True
        if self._failure is not None:  # caught by the body, or raised in another thread
            _fail(self._failure)
        if self._checked:
            return
        if not self._awaited:
            _fail(
                "irmetrics.acheck() was called but not awaited, so nothing was checked. Write: await irmetrics.acheck()"
            )
        if self._checking:
            _fail(
                "irmetrics.check() was called and did not come to its end, so nothing was checked. Let what it raises "
                "pass, and wait for it."
            )
        if self._parameter is not None and self._parameter.problem is not None:
            _fail(self._parameter.problem)
        try:
            levels = [*collection.marked_thresholds(self._item, self._settings.custom_metrics)]
            if self._parameter is not None:
                golden = self._golden(None)
                levels.append(
                    [*golden.thresholds, *(t for q in golden.queries.values() for t in q.thresholds)]
                )
        except _TOLD as error:
            _fail(str(error))
        bound = [threshold for level in levels for threshold in level]
        if bound:
            _fail(
                f"This test has a threshold on {bound[0].metric.name} ({bound[0].origin}), and its body never called "
                "irmetrics.check(), so nothing was checked."
            )

    def require_async_plugin(self, skipped: BaseException) -> None:
        """Fail an async test that pytest skipped because no plugin runs it: a skip would look like a pass."""
        __tracebackhide__ = True
        # pytest before 8.4 skips, also a plain test that returns a coroutine.
        if "async def function and no async plugin installed" in str(skipped):
            _fail(
                "This test is `async def`, and no plugin runs it, so nothing was checked. Install pytest-asyncio or "
                "anyio, or write a plain `def` test: irmetrics.check() takes an async retriever too."
            )


def _of_golden_set(run: Run, golden: GoldenSet) -> Run:
    """Leave out what a run has for others, if it does not say of which golden set it is: that is not gone from this."""
    answers = {query_id: run.answers[query_id] for query_id in golden.queries if query_id in run}
    if run.golden_set is not None or not answers:  # a run of nothing here is no baseline, which the gates say
        return run
    return Run.of(answers, run.depth, relevance_level=run.relevance_level)


def _most_alike(paths: Sequence[Path], path: Path) -> Path:
    """Choose the baseline that most likely was this one's: of the same ids, then of the most similar name."""
    return max(
        paths,
        key=lambda other: (
            other.name.partition("[")[2] == path.name.partition("[")[2],
            difflib.SequenceMatcher(None, other.name, path.name).ratio(),
        ),
    )


def _fail(message: str) -> NoReturn:
    """Fail the test with nothing but a message: what it was made of in our code helps nobody."""
    __tracebackhide__ = True
    failed = pytest.fail.Exception(message, pytrace=False)
    setattr(failed, _HEADLINE, message.partition("\n")[0])
    raise failed from None


def tell_once(report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
    """Leave its first line to what repeats a failure of ours: the short summary where CI is set, JUnit's `message`."""
    headline = call.excinfo and getattr(call.excinfo.value, _HEADLINE, None)
    crash = getattr(report.longrepr, "reprcrash", None)
    if headline is not None and crash is not None:
        crash.message = f"Failed: {headline}"


def _fail_retrieval(evaluation: Evaluation, fixture: IRMetrics) -> NoReturn:
    """Fail where queries could not be retrieved, naming every one."""
    __tracebackhide__ = True
    outcome = Outcome(evaluation, {}, decide(evaluation, {}), checked=False)
    fixture._outcome = outcome  # noqa: SLF001 - one object in two halves
    _fail(failure(fixture._as_record(outcome), fixture._screen))  # noqa: SLF001 - the same
