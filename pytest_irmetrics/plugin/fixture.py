"""The fixture ``irmetrics``: ask the retriever, score its answers, and fail the test where a gate fails."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, warn_of_unknown_ids
from pytest_irmetrics.gates import decide
from pytest_irmetrics.gates.wording import RETURN_KNOWN_IDS
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.plugin.against import STORED_TYPES, evaluate_run, read_stored_run, require_no_errors
from pytest_irmetrics.plugin.doc_titles import DocTitles
from pytest_irmetrics.plugin.failure import fail
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.plugin.item_report import item_report
from pytest_irmetrics.plugin.junit_properties import forget_properties, set_scores
from pytest_irmetrics.plugin.marks import MarkError
from pytest_irmetrics.plugin.notes import add_notes
from pytest_irmetrics.plugin.progress import progress_of
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport, Note
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved, aretrieve, retrieve
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import NoReturn

    from pytest_irmetrics.analysis.since import Then
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.plugin.against import StoredRun
    from pytest_irmetrics.plugin.session import GatingSession
    from pytest_irmetrics.plugin.unchecked import CheckState
    from pytest_irmetrics.reports.since_report import SinceReport

_OTHER_RETRIEVER = "the other retriever"
"""What messages call an evaluation of another retriever that this one is compared with."""

MISSING_RETRIEVER = object()
"""What the plugin's own fixture `retriever` returns."""

_NO_RETRIEVER = (
    "There is no fixture named retriever. Write one in conftest.py that returns your search:\n\n"
    "    import pytest\n\n"
    '    @pytest.fixture(scope="session")\n'
    "    def retriever():\n"
    "        return lambda query, k: my_search(query, size=k)   # ids, best first\n\n"
    "or pass one: irmetrics.check(retriever=my_search). One in a plugin is found where conftest.py loads the plugin."
)

_NO_ASYNC_PLUGIN = "async def function and no async plugin installed"
"""What pytest says of a test that it skips."""

_Request: TypeAlias = tuple[Sequence[Query], Any, RetrievalOptions]
"""The arguments of `retrieve` and `aretrieve`."""

_Steps: TypeAlias = Generator[_Request, Retrieved, Evaluation]
"""The body of a method that is there for sync and for async tests: it yields what to ask, and is sent the answers."""


class IRMetrics:
    """The value of the fixture ``irmetrics``: evaluates a test's golden set and gates on the scores.

    ``check`` and ``acheck`` evaluate, gate and return the Evaluation; ``evaluate`` and ``aevaluate`` only evaluate.
    """

    def __init__(
        self,
        request: pytest.FixtureRequest,
        session: GatingSession,
        retriever: Any,
        *,
        doc_id: Any = None,
        doc_title: Any = None,
        corpus: Any = None,
        executor: Any = None,
    ) -> None:
        self._item = GatedItem(request.node, session, getattr(request, "param", None))
        forget_properties(request.node)
        self._retriever = retriever
        self._item.doc_id, self._item.executor = doc_id, executor
        self._item.titles = DocTitles(doc_title)
        self._corpus = corpus
        self._notes: list[Note] = []
        self._then: Then | SinceReport | None = None
        self._report: ItemReport | None = None
        self._state: CheckState = "not called"
        self._failure: str | None = None
        """What the check failed with; the body may have swallowed it."""
        self.is_over = False
        """Whether the body has run, or the test failed before it."""

    @property
    def golden(self) -> GoldenSet:
        """The golden set of this test item. Fails the test where it has none, or a broken one."""
        __tracebackhide__ = True
        try:
            return self._item.golden_set()
        except IRMetricsError as error:
            fail(str(error))

    def check(self, *, retriever: Any = None, golden: Any = None, against: Any = None) -> Evaluation:
        """Evaluate, gate and return the Evaluation; fail the test where a gate fails.

        ``retriever`` and ``golden`` (a GoldenSet or a path) stand in for the test's own. ``against`` is a
        retriever, a Run or a path that stands in for the stored baseline.
        """
        __tracebackhide__ = True
        self._begin_check()
        try:
            return _run(self._item, self._check(retriever, golden, against))
        except IRMetricsError as error:
            self._fail_check(str(error))

    def acheck(
        self, *, retriever: Any = None, golden: Any = None, against: Any = None
    ) -> Coroutine[Any, Any, Evaluation]:
        """Do as ``check`` does, for async tests; the retriever may be sync or async."""
        __tracebackhide__ = True
        self._begin_check()  # here, so that a call that is never awaited counts as one
        self._state = "not awaited"
        return self._acheck(self._check(retriever, golden, against))

    async def _acheck(self, steps: _Steps) -> Evaluation:
        __tracebackhide__ = True
        self._state = "not finished"
        try:
            return await _arun(self._item, steps)
        except IRMetricsError as error:
            self._fail_check(str(error))

    def evaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Evaluate only; nothing is gated."""
        __tracebackhide__ = True
        try:
            return _run(self._item, self._evaluate(retriever, golden))
        except IRMetricsError as error:
            fail(str(error))

    async def aevaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Do as ``evaluate`` does, for async tests."""
        __tracebackhide__ = True
        try:
            return await _arun(self._item, self._evaluate(retriever, golden))
        except IRMetricsError as error:
            fail(str(error))

    def _begin_check(self) -> None:
        __tracebackhide__ = True
        if self.is_over:
            fail(
                "irmetrics.check() was called when the test was over, so that its verdict counts for nothing. Call it in "
                "the test's body, or in a fixture before its `yield`."
            )
        first, self._state = self._state == "not called", "not finished"
        if not first:
            self._fail_check(
                "This test calls check a second time, and a test has one verdict. Parametrize the fixture "
                "retriever to check several, or use irmetrics.evaluate(), which gates nothing."
            )

    def _check(self, retriever: Any, golden: Any, against: Any) -> _Steps:
        """Evaluate and gate. All that can be wrong besides the answers is read before the first query is asked."""
        __tracebackhide__ = True
        item = self._item
        selftest = item.settings.selftest
        if selftest and not isinstance(against, STORED_TYPES):
            pytest.skip("--ir-selftest needs a stored run, and this test compares with a second retriever")
        golden = item.golden_set(golden)
        metrics, queries = item.metrics(golden), item.queries(golden)
        stored = read_stored_run(item, golden, against, lambda text: self._notes.append(Note("normal", text)))
        if selftest:  # a missing baseline has raised RunError
            return self._selftest(golden, metrics, cast("StoredRun", stored))
        self._read_then(golden, against)
        retrieved = yield (
            queries,
            self._asked(retriever),
            item.retrieval_options(stored and stored.run),
        )
        now = item.evaluation(golden, metrics, retrieved)
        baseline: Evaluation | None = None
        name = _OTHER_RETRIEVER
        if stored is not None:
            baseline, name = evaluate_run(now, stored.run, stored.run.depth), stored.name
        elif not isinstance(against, STORED_TYPES) and not now.errors:
            retrieved = yield queries, against, item.retrieval_options(now.run)
            baseline = item.evaluation(golden, metrics, retrieved)
            require_no_errors(baseline)
        return self._gate(now, baseline, name, file="" if stored is None else stored.file)

    def _evaluate(self, retriever: Any, golden: Any) -> _Steps:
        """Evaluate, and fail the test only where a query's retrieval failed."""
        __tracebackhide__ = True
        item = self._item
        golden = item.golden_set(golden)
        metrics, queries = item.metrics(golden), item.queries(golden)
        retrieved = yield queries, self._asked(retriever), item.retrieval_options(None)
        evaluation = item.evaluation(golden, metrics, retrieved)
        if evaluation.errors:
            result = ItemResult(evaluation, Gates(), decide(evaluation, Gates()), checked=False)
            self._report = item_report(item, result)
            fail(self._failure_text(self._report), self._headline(self._report))
        warn_of_unknown_ids(evaluation, RETURN_KNOWN_IDS, stacklevel=4)
        item.node.ihook.pytest_irmetrics_evaluated(item=item.node, evaluation=evaluation)
        if self._report is None:
            self._report = item_report(item, ItemResult(evaluation, Gates(), checked=False))
            set_scores(item.node, self._report.rows)
        return evaluation

    def _asked(self, retriever: Any) -> Any:
        """Return the retriever that a call gives, else the fixture's. Raises MarkError where there is neither."""
        asked = self._retriever if retriever is None else retriever
        if asked is MISSING_RETRIEVER:
            raise MarkError(_NO_RETRIEVER)
        return asked

    def _read_then(self, golden: GoldenSet, against: Any) -> None:
        """Read what --ir-since compares with, before any query is asked. Raises SinceError where it cannot be read."""
        item = self._item
        since = item.session.since
        if since is not None and against is None and not item.settings.only_queries:
            self._then = since.of(item, golden)

    def _gate(self, now: Evaluation, baseline: Evaluation | None, name: str, file: str) -> Evaluation:
        """Decide and keep the test's verdicts; `name` is what messages call the baseline. Fails where a gate fails.

        `file` is the path that the baseline was read from, empty where it was read from none.
        """
        __tracebackhide__ = True
        item, settings = self._item, self._item.settings
        comparison = None if baseline is None or now.errors else Comparison(now, baseline)
        against = None if comparison is None else name
        own = against == OWN_BASELINE
        gates = item.gates(now.golden, regression=comparison is not None)
        verdicts = decide(
            now,
            gates,
            comparison=comparison,
            against=name,
            update_command=item.command("--ir-baseline-update") if own else "",
            storing=settings.update and own,
            single_queries_only=bool(settings.only_queries),
            file=file,
        )
        if settings.update and comparison is None:
            # The first baseline: of course there was nothing to compare with.
            verdicts = tuple(verdict for verdict in verdicts if verdict.state != "not checked")
        result = ItemResult(now, gates, verdicts, comparison, against=against, notes=self._notes)
        if self._then is not None and not now.errors:
            from pytest_irmetrics.plugin.since_result import add_since  # noqa: PLC0415 - only with --ir-since

            add_since(item, result, self._then, None if settings.update else baseline)
        add_notes(item, result, self._corpus)
        # Here and not when the test is through, where a metric of the user's that raises would end pytest itself.
        report = item_report(item, result, file)
        if (
            not now.errors
        ):  # after the report is made, so that a hook changes nothing in it or in what is stored
            item.node.ihook.pytest_irmetrics_evaluated(item=item.node, evaluation=now)
        # Not before what the user's own hooks, fixtures and metrics may raise: the test has not passed then.
        self._report, self._state = report, "checked"
        set_scores(item.node, report.rows)
        if result.failed:
            self._fail_check(self._failure_text(report), self._headline(report))
        return now

    def _selftest(self, golden: GoldenSet, metrics: tuple[Metric, ...], stored: StoredRun) -> Evaluation:
        """Report which degradations of the stored run the gates catch; fail where that run itself fails."""
        __tracebackhide__ = True
        from pytest_irmetrics.plugin.selftest import selftest_result  # noqa: PLC0415 - only a self-test pays for it

        item = self._item
        result = selftest_result(item, golden, metrics, stored, self._notes)
        self._report, self._state = item_report(item, result), "checked"
        if result.failed:
            lead = f"--ir-selftest: {stored.name}, intact, fails its own gates. What fails here is not counted as catching anything."
            fail("\n".join([*item.screen.wrapped(lead), "", self._failure_text(self._report)]))
        return result.evaluation

    def _failure_text(self, report: ItemReport) -> str:
        from pytest_irmetrics.reports.document import failure  # noqa: PLC0415 - a test that passes has no use for it
        from pytest_irmetrics.reports.text import lines  # noqa: PLC0415 - as above

        shown = lines(failure(report), self._item.screen, self._item.verbosity, spaced=True)
        return "\n".join(line.text for line in shown)

    def _headline(self, report: ItemReport) -> str:
        """Return the verdict in one line, however narrow the terminal is."""
        failed = next(gate for gate in report.gates if gate.state == "failed")
        return self._item.screen.line(failed.text)

    def _fail_check(self, message: str, headline: str = "") -> NoReturn:
        """Fail ``check``, and remember it: a body that swallows the exception has not passed for that."""
        __tracebackhide__ = True
        self._failure = message
        fail(message, headline)

    def send_report(self) -> str | None:
        """Return the ItemReport as JSON, for the item's test report; None where the fixture was not used."""
        item, self.is_over = self._item, True
        if self._report is not None:
            return self._report.dumps()
        if self._state == "not called":
            return None
        # Nothing was evaluated, and the failure says why.
        path = item.parameter.path if item.parameter is not None else None
        name = item.node.name if path is None else item.session.shown(path)
        return ItemReport(item.node.nodeid, name, outcome="not evaluated").dumps()

    def end_body(self, raised: BaseException | None = None) -> None:
        """Fail a test whose body is over although something would have been gated and nothing was."""
        # This frame is not hidden: where all are, pytest says so below the message.
        self.is_over = True
        # pytest before 8.4 skips an async test that no plugin runs, also a plain one that returns a coroutine.
        if isinstance(raised, pytest.skip.Exception) and _NO_ASYNC_PLUGIN in str(raised):
            fail(
                "This test is `async def`, and no plugin runs it, so nothing was checked. Install pytest-asyncio or "
                "anyio, or write a plain `def` test: irmetrics.check() takes an async retriever too."
            )
        if raised is not None:
            return
        if self._failure is not None:  # caught by the body, or raised in another thread
            fail(self._failure)
        if self._state == "checked":
            return
        from pytest_irmetrics.plugin.unchecked import why_unchecked  # noqa: PLC0415 - a test that checks does without it

        problem = why_unchecked(self._item, self._state)
        if problem is not None:
            fail(problem)


def _run(item: GatedItem, steps: _Steps) -> Evaluation:
    """Ask in this thread what a generator yields, and return what it returns."""
    __tracebackhide__ = True
    retrieved: Any = None
    while True:
        try:
            request = steps.send(retrieved)
        except StopIteration as stop:
            evaluation: Evaluation = stop.value
            return evaluation
        with _showing_progress(item, request) as asked:
            retrieved = retrieve(*asked)


async def _arun(item: GatedItem, steps: _Steps) -> Evaluation:
    """Ask on the running event loop what a generator yields, and return what it returns."""
    __tracebackhide__ = True
    retrieved: Any = None
    while True:
        try:
            request = steps.send(retrieved)
        except StopIteration as stop:
            evaluation: Evaluation = stop.value
            return evaluation
        with _showing_progress(item, request) as asked:
            retrieved = await aretrieve(*asked)


@contextmanager
def _showing_progress(item: GatedItem, request: _Request) -> Iterator[_Request]:
    """Show how far the retrieval of a request is; yield the request that counts its answers."""
    queries, retriever, options = request
    with progress_of(item.node, len(queries) * options.repeat) as progress:
        yield queries, retriever, replace(options, progress=progress)
