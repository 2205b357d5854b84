"""The fixture ``irmetrics``: ask the retriever, score its answers, and fail the test where a gate fails."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, EvaluationError, warn_of_unknown_ids
from pytest_irmetrics.gates import decide
from pytest_irmetrics.gates.wording import RETURN_KNOWN_IDS
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.plugin.baselines import STORED_TYPES, StoredRun, read_stored_run, require_queries
from pytest_irmetrics.plugin.defaults import MissingRetriever
from pytest_irmetrics.plugin.doc_titles import DocTitles
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.plugin.item_report import item_report
from pytest_irmetrics.plugin.junit_properties import forget_properties, set_scores
from pytest_irmetrics.plugin.marks import MarkError, marked_thresholds
from pytest_irmetrics.plugin.notes import add_notes
from pytest_irmetrics.plugin.progress import progress_of
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport
from pytest_irmetrics.retrieval import RetrievalError, RetrievalOptions, Retrieved, aretrieve, retrieve
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import Gate, Gates, Threshold

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import NoReturn

    from pytest_irmetrics.analysis.since import Then
    from pytest_irmetrics.plugin.session import GatingSession
    from pytest_irmetrics.reports.since_report import SinceReport
    from pytest_irmetrics.retrieval.titles import KeptChunks

_HEADLINE = "irmetrics_headline"
"""The attribute of a failure of ours that holds the first line of its message."""

_CALL_CHECK = (
    "Call it; or, in a test that is to gate nothing, call pytest_irmetrics.evaluate(golden, retriever) and do without "
    "the fixture irmetrics."
)
"""What to do about a test that has the fixture and never checks."""

_OTHER_RETRIEVER = "the other retriever"
"""What messages call an evaluation of another retriever that this one is compared with."""

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
        self._doc_id = doc_id
        self._item.titles = DocTitles(doc_title)
        self._corpus = corpus
        self._executor = executor
        self._notes: list[str] = []
        self._then: Then | SinceReport | None = None
        self._report: ItemReport | None = None
        self._sent_report: ItemReport | None = None
        self._checks = 0
        self._awaited = True
        self._checked = False
        self._failure: str | None = None
        self._awaits_teardown = False

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
        retriever, a Run, a path or an Evaluation that stands in for the stored baseline.
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
        self._awaited = False
        return self._acheck(self._check(retriever, golden, against))

    async def _acheck(self, steps: _Steps) -> Evaluation:
        __tracebackhide__ = True
        self._awaited = True
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
        self._checks += 1
        if self._checks > 1:
            self._fail_check(
                "This test calls check a second time, and a test has one verdict. Parametrize the fixture "
                "retriever to check several, or use irmetrics.evaluate(), which gates nothing."
            )

    def _check(self, retriever: Any, golden: Any, against: Any) -> _Steps:
        """Evaluate and gate. All that can be wrong besides the answers is read before the first query is asked."""
        __tracebackhide__ = True
        item = self._item
        if item.settings.selftest:
            return self._selftest(golden, against)
        golden = item.golden_set(golden)
        metrics, queries = item.metrics(golden), item.queries(golden)
        stored = self._read_stored_run(golden, against, retriever)
        self._read_then(golden, against)
        retrieved = yield queries, self._asked(retriever), self._options(stored and stored.run, queries)
        now = item.evaluation(golden, metrics, retrieved)
        baseline: Evaluation | None = None
        name = _OTHER_RETRIEVER
        if stored is not None:
            baseline, name = _evaluate_run(now, stored.run, stored.run.depth), stored.name
        elif isinstance(against, Evaluation):
            baseline = _evaluate_run(now, against.run, against.depth)
        elif not isinstance(against, STORED_TYPES) and not now.errors:
            retrieved = yield queries, against, self._options(now.run)
            baseline = item.evaluation(golden, metrics, retrieved)
            _require_no_errors(baseline)
        return self._gate(now, baseline, name, file="" if stored is None else stored.file)

    def _evaluate(self, retriever: Any, golden: Any) -> _Steps:
        """Evaluate, and fail the test only where a query's retrieval failed."""
        __tracebackhide__ = True
        item = self._item
        golden = item.golden_set(golden)
        metrics, queries = item.metrics(golden), item.queries(golden)
        retrieved = yield queries, self._asked(retriever), self._options(None, queries)
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
        if isinstance(asked, MissingRetriever):
            raise MarkError(asked.message)
        return asked

    def _options(self, stored: Run | None, queries: Sequence[Query] = ()) -> RetrievalOptions:
        """Return how the retriever is asked; `stored` is a run whose equal answers need not be made anew.

        Of `queries`, those that judge passages have the texts of chunks kept for reports.
        """
        item, settings = self._item, self._item.settings
        if self._doc_id is not None and not callable(self._doc_id):
            raise MarkError(
                f"The fixture ir_doc_id gives {self._doc_id!r}. Give a function of one returned item that returns its id."
            )
        if self._executor is not None:
            from concurrent.futures import Executor  # noqa: PLC0415 - few tests have one

            if not isinstance(self._executor, Executor):
                raise MarkError(
                    f"The fixture ir_executor gives {self._executor!r}. Give a concurrent.futures.Executor; of a Dask "
                    "client it is client.get_executor()."
                )
        return RetrievalOptions(
            depth=item.depth,
            duplicates=(item.parameter and item.parameter.duplicates) or settings.duplicates,
            doc_id=self._doc_id,
            timeout=settings.timeout,
            concurrency=settings.concurrency,
            repeat=settings.repeat,
            executor=self._executor,
            stored=stored,
            warn=item.session.print_now,
            titles=item.titles.returned,
            chunks=self._kept_chunks() if any(query.passages for query in queries) else None,
            stop_on_error=item.node.config.getoption("maxfail", 0) == 1,
        )

    def _kept_chunks(self) -> KeptChunks:
        from pytest_irmetrics.retrieval.titles import KeptChunks  # noqa: PLC0415 - only who asks a retriever needs it

        item = self._item
        with_texts = bool(item.node.config.getoption("ir_report"))
        item.chunks = KeptChunks(item.titles.returned, with_texts=with_texts)
        return item.chunks

    def _read_stored_run(self, golden: GoldenSet, against: Any, retriever: Any = None) -> StoredRun | None:
        """Read the stored run to compare with before any query is asked, so that a missing one fails at once.

        None where there is none, or where `against` is a retriever or an Evaluation that can be compared with.
        """
        if isinstance(against, Evaluation):
            _require_no_errors(against)
            require_queries(against.run, "The evaluation given as `against`")
        elif not isinstance(against, STORED_TYPES):
            _require_retriever(against)
        replayed = self._retriever if retriever is None else retriever
        like = replayed if isinstance(replayed, Run) else None
        return read_stored_run(self._item, golden, against, like, self._notes.append)

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
        self._report, self._checked = report, True
        set_scores(item.node, report.rows)
        if result.failed:
            self._fail_check(self._failure_text(report), self._headline(report))
        return now

    def _selftest(self, golden: Any, against: Any) -> Evaluation:
        """Degrade the stored run and report which degradations the gates catch; no query is asked.

        Fails where the stored run itself fails.
        """
        __tracebackhide__ = True
        from pytest_irmetrics.analysis.selftest import on_selftest, run_selftest  # noqa: PLC0415 - only a self-test pays for it

        if not isinstance(against, STORED_TYPES):
            pytest.skip("--ir-selftest needs a stored run, and this test compares with a second retriever")
        item = self._item
        golden = item.golden_set(golden)
        metrics = item.metrics(golden)
        item.queries(golden)  # skips the test where --ir-query leaves it none
        unasked = item.evaluation(golden, metrics, Retrieved(Run({}), {}, stopped="", latencies={}))
        # With --ir-selftest a missing baseline raises RunError.
        stored = cast("StoredRun", self._read_stored_run(golden, against))
        tested = run_selftest(
            _evaluate_run(unasked, stored.run, stored.run.depth),
            item.gates(golden, regression=True),
            against=stored.name,
            update=item.command("--ir-baseline-update"),
        )
        result = ItemResult(
            tested.intact,
            tested.gates,
            tested.verdicts,
            against=stored.name,
            notes=[*self._notes, *on_selftest(tested.comparison, stored.name)],
            selftest=tested,
        )
        self._report, self._checked = item_report(item, result), True
        if result.failed:
            lead = f"--ir-selftest: {stored.name}, intact, fails its own gates. What fails here is not counted as catching anything."
            fail("\n".join([*item.screen.wrapped(lead), "", self._failure_text(self._report)]))
        return tested.intact

    def _failure_text(self, report: ItemReport) -> str:
        from pytest_irmetrics.reports.failure import failure_message  # noqa: PLC0415 - a test that passes has no use for it

        return failure_message(report, self._item.screen, details=self._item.verbosity >= 1)

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
        item = self._item
        self._sent_report = self._report
        if self._report is not None:
            return self._report.dumps()
        if not self._checks:
            return None
        # Nothing was evaluated, and the failure says why.
        path = item.parameter.path if item.parameter is not None else None
        name = item.node.name if path is None else item.session.shown(path)
        return ItemReport(item.node.nodeid, name, outcome="not evaluated").dumps()

    @property
    def has_unsent_report(self) -> bool:
        """Whether something was measured since `send_report` was last called."""
        return self._report is not self._sent_report

    def require_checked(self) -> None:
        """Fail a test whose body passed although something would have been gated and nothing was."""
        # This frame is not hidden: where all are, pytest says so below the message.
        if not self._checks and _is_requested_by_fixture(self._item.node):
            self._awaits_teardown = True  # one of them may check when the test has run
        else:
            self._require_checked()

    def require_checked_in_teardown(self) -> None:
        """Do as `require_checked` does, once the other fixtures that could have called ``check`` are torn down."""
        __tracebackhide__ = True
        if self._awaits_teardown:
            self._require_checked()

    def _require_checked(self) -> None:
        __tracebackhide__ = True
        item = self._item
        if self._failure is not None:  # caught by the body, or raised in another thread
            fail(self._failure)
        if self._checked:
            return
        if not self._awaited:
            fail(
                "irmetrics.acheck() was called but not awaited, so nothing was checked. Write: await irmetrics.acheck()"
            )
        if self._checks:
            fail(
                "irmetrics.check() was called and did not come to its end, so nothing was checked. Let what it raises "
                "pass, and wait for it."
            )
        if item.parameter is not None and item.parameter.problem is not None:
            fail(item.parameter.problem)
        try:
            bound = self._bound_thresholds()
            gates_on_baseline = item.settings.baseline
        except IRMetricsError as error:
            fail(str(error))
        if bound:
            where = bound[0].origin
            fail(
                f"This test has a threshold on {bound[0].metric.name} ({where}), and its body never called "
                f"irmetrics.check(), so nothing was checked. {_CALL_CHECK}"
            )
        if gates_on_baseline:
            fail(
                "This run gates on the stored baselines, and the body of this test never called irmetrics.check(), so "
                f"nothing was checked. {_CALL_CHECK}"
            )

    def _bound_thresholds(self) -> Sequence[Threshold | Gate]:
        """Return what this test is held to besides its baseline: the thresholds of its marks, golden set and settings."""
        item = self._item
        levels = marked_thresholds(item.node, item.settings.custom_metrics)
        if item.parameter is None:
            of_settings: Iterable[Threshold | Gate] = [t for t in item.settings.thresholds if t.tag is None]
        else:
            golden = item.golden_set()
            levels.append([*golden.thresholds, *(t for q in golden.queries.values() for t in q.thresholds)])
            of_settings = item.gates(golden, regression=False)
        return [*(threshold for level in levels for threshold in level), *of_settings]

    def require_async_plugin(self, skipped: BaseException) -> None:
        """Fail an async test that pytest skipped because no plugin runs it: a skip would look like a pass."""
        __tracebackhide__ = True
        # pytest before 8.4 skips, also a plain test that returns a coroutine.
        if "async def function and no async plugin installed" in str(skipped):
            fail(
                "This test is `async def`, and no plugin runs it, so nothing was checked. Install pytest-asyncio or "
                "anyio, or write a plain `def` test: irmetrics.check() takes an async retriever too."
            )


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


def _is_requested_by_fixture(node: pytest.Item) -> bool:
    """Whether another fixture of a test requests the fixture `irmetrics`."""
    definitions = getattr(getattr(node, "_fixtureinfo", None), "name2fixturedefs", {})
    return any("irmetrics" in same[-1].argnames for same in definitions.values())


def _evaluate_run(now: Evaluation, run: Run, depth: int | None) -> Evaluation:
    """Score another run over the queries, and by the metrics, of an evaluation."""
    return Evaluation(
        now.golden,
        replace(now.retrieved, run=run, errors={}, latencies={}, stopped="", by_stored_passages={}),
        now.metrics,
        now.depth if depth is None else depth,
        now.custom,
        now.only,
        now.extra_metrics,
    )


def _require_retriever(against: Any) -> None:
    """Raise RetrievalError for what cannot be called as a retriever, before the test's own is asked."""
    from pytest_irmetrics.retrieval import Retriever  # noqa: PLC0415 - few tests compare two retrievers

    try:
        Retriever.of(against)
    except RetrievalError as error:
        raise RetrievalError(f"What `against` gives cannot be asked. {error}") from None


def _require_no_errors(other: Evaluation) -> None:
    """Raise EvaluationError where a query of the evaluation to compare with failed."""
    if other.errors:
        query_id, problem = next(iter(other.errors.items()))
        failed = plural(len(other.errors), "query", "queries")
        raise EvaluationError(
            f"The retriever given as `against` failed for {failed}; the first is {query_id!r}: {problem}"
        )


def fail(message: str, headline: str = "") -> NoReturn:
    """Fail the test with nothing but a message: a traceback through our code helps no user.

    ``headline`` is what stands for it where one line is wanted: its first line, unless that is part of a wrapped sentence.
    """
    __tracebackhide__ = True
    message = "\n".join(map(escape_terminal, message.split("\n")))  # a file's name may be a log command
    failed = pytest.fail.Exception(message, pytrace=False)
    setattr(failed, _HEADLINE, escape_terminal(headline) or message.partition("\n")[0])
    raise failed from None


def shorten_repeated_message(
    item: pytest.Item, report: pytest.TestReport, call: pytest.CallInfo[None]
) -> None:
    """Leave only a failure's first line to what repeats it: the short summary where CI is set, JUnit's `message`.

    A failure that no line of the test raised is placed at the test, which ``--tb=line`` and annotations of CI show.
    """
    headline = call.excinfo and getattr(call.excinfo.value, _HEADLINE, None)
    crash = getattr(report.longrepr, "reprcrash", None)
    if headline is not None and crash is not None:
        crash.message = f"Failed: {headline}"
        if crash.path == __file__:
            crash.path, crash.lineno = str(item.path), (item.location[1] or 0) + 1
