"""The fixture ``irmetrics``: the one verdict of a test, from the first call to what its teardown asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_irmetrics.analysis import notes
from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.selftest import run_selftest
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates import Regression, decide
from pytest_irmetrics.plugin import marks as collection
from pytest_irmetrics.plugin.asking import Asking, require_other
from pytest_irmetrics.plugin.baselines import STORED, Stored, evaluate_other, evaluate_stored, read_stored
from pytest_irmetrics.plugin.failing import TOLD, fail
from pytest_irmetrics.plugin.item import Case
from pytest_irmetrics.plugin.item_report import item_report
from pytest_irmetrics.plugin.remarks import remark
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport
from pytest_irmetrics.reports.terminal import failure
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import NoReturn

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.plugin.session import GatingSession

_AT_HAND = (*STORED, Evaluation)
"""What `against` may be that nobody has to ask."""
_OTHER = "the other retriever"


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
        self._case = Case(request.node, session, getattr(request, "param", None))
        self._asking = Asking(self._case, retriever, doc_id, executor)
        self._corpus = corpus
        self._notes: list[str] = []
        self._record: ItemReport | None = None
        self._told_record: ItemReport | None = None
        self._checking = 0
        self._awaited = True
        self._checked = False
        self._failure: str | None = None

    @property
    def golden(self) -> GoldenSet:
        """The golden set of this test item. Fails the test where it has none, or a broken one."""
        __tracebackhide__ = True
        try:
            return self._case.golden_set()
        except TOLD as error:
            fail(str(error))

    def check(self, *, retriever: Any = None, golden: Any = None, against: Any = None) -> Evaluation:
        """Evaluate, gate and return the Evaluation; fail the test where a gate fails.

        ``retriever`` and ``golden`` (a GoldenSet or a path) stand in for the test's own. ``against`` is a
        retriever, a Run, a path or an Evaluation that stands in for the stored baseline.
        """
        __tracebackhide__ = True
        self._start()
        try:
            if self._case.settings.selftest:
                return self._degraded(golden, against)
            plan = self._asking.plan(golden)
            stored = self._stored(plan.golden, against, retriever)
            now = self._asking.ask(plan, retriever, stored and stored.run)
            other = self._at_hand(now, against, stored)
            if not now.errors and not isinstance(against, _AT_HAND):
                other = self._asking.ask_other(plan, against, now.run), _OTHER
            return self._finish(now, other)
        except TOLD as error:
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
            if self._case.settings.selftest:
                return self._degraded(golden, against)
            plan = self._asking.plan(golden)
            stored = self._stored(plan.golden, against, retriever)
            now = await self._asking.aask(plan, retriever, stored and stored.run)
            other = self._at_hand(now, against, stored)
            if not now.errors and not isinstance(against, _AT_HAND):
                other = await self._asking.aask_other(plan, against, now.run), _OTHER
            return self._finish(now, other)
        except TOLD as error:
            self._fail_check(str(error))

    def evaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Evaluate only; nothing is gated."""
        __tracebackhide__ = True
        try:
            return self._measured(self._asking.ask(self._asking.plan(golden), retriever))
        except TOLD as error:
            fail(str(error))

    async def aevaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Do as ``evaluate`` does, for async tests."""
        __tracebackhide__ = True
        try:
            return self._measured(await self._asking.aask(self._asking.plan(golden), retriever))
        except TOLD as error:
            fail(str(error))

    def _start(self) -> None:
        __tracebackhide__ = True
        self._checking += 1
        if self._checking > 1:
            self._fail_check(
                "This test calls check a second time, and a test has one verdict. Parametrize the fixture "
                "retriever to check several, or use irmetrics.evaluate(), which gates nothing."
            )

    def _stored(self, golden: GoldenSet, against: Any, retriever: Any = None) -> Stored | None:
        """Read what is stored before anyone is asked: nobody waits for answers to learn that there is nothing to compare with."""
        if not isinstance(against, STORED):
            require_other(against)
        replayed = self._asking.whom(retriever)
        like = replayed if isinstance(replayed, Run) else None
        return read_stored(self._case, golden, against, like, self._notes.append)

    def _at_hand(self, now: Evaluation, against: Any, stored: Stored | None) -> tuple[Evaluation, str] | None:
        """Give what this is compared with, and what messages call it, where nobody has to be asked for it."""
        if stored is not None:
            return evaluate_stored(now, stored.run), stored.name
        if isinstance(against, Evaluation):
            return evaluate_other(now, against), _OTHER
        return None

    def _measured(self, evaluation: Evaluation) -> Evaluation:
        __tracebackhide__ = True
        if evaluation.errors:
            self._record = item_report(
                self._case, ItemResult(evaluation, Gates(), decide(evaluation, Gates()), checked=False)
            )
            fail(self._told(self._record))
        item = self._case.item
        item.ihook.pytest_irmetrics_evaluated(item=item, evaluation=evaluation)
        if self._record is None:
            self._record = item_report(self._case, ItemResult(evaluation, Gates(), checked=False))
        return evaluation

    def _finish(self, now: Evaluation, other: tuple[Evaluation, str] | None) -> Evaluation:
        __tracebackhide__ = True
        case, settings = self._case, self._case.settings
        regression, against = None, None
        if other is not None and not now.errors:
            baseline, against = other
            own = against == OWN_BASELINE
            regression = Regression(
                Comparison(now, baseline),
                against,
                case.command("--ir-baseline-update") if own else "",
                gated=not settings.update or not own,
            )
        gates = case.gates(now.golden, regression=regression is not None)
        verdicts = decide(now, gates, regression=regression, single_queries_only=bool(settings.only_queries))
        if settings.update and regression is None:
            # The first baseline: that nothing was there to compare with is no news.
            verdicts = tuple(verdict for verdict in verdicts if verdict.state != "not checked")
        comparison = regression.comparison if regression is not None else None
        result = ItemResult(now, gates, verdicts, comparison, against=against, notes=self._notes)
        if not now.errors:
            case.item.ihook.pytest_irmetrics_evaluated(item=case.item, evaluation=now)
        remark(case, result, self._corpus)
        # Here and not when the test is through, where a metric of the user's that raises would end pytest itself.
        record = item_report(case, result)
        # Not before what the user's own hooks, fixtures and metrics may raise: the test has not passed then.
        self._record, self._checked = record, True
        if result.failed:
            self._fail_check(self._told(record))
        return now

    def _degraded(self, golden: Any, against: Any) -> Evaluation:
        """Ask nobody: degrade the stored run and tell what would be caught. Fails where the intact run fails."""
        __tracebackhide__ = True
        if not isinstance(against, STORED):
            pytest.skip("--ir-selftest needs a stored run, and this test compares with a second retriever")
        case, plan = self._case, self._asking.plan(golden)
        unasked = self._asking.evaluation(plan, Retrieved(Run({}), {}, stopped="", latencies={}))
        # With --ir-selftest the baseline is there, or a BaselineError says that it is not.
        run, name = cast("Stored", self._stored(plan.golden, against))
        tested = run_selftest(
            evaluate_stored(unasked, run),
            case.gates(plan.golden, regression=True),
            against=name,
            update=case.command("--ir-baseline-update"),
        )
        result = ItemResult(
            tested.intact,
            tested.gates,
            tested.verdicts,
            against=name,
            notes=[*self._notes, *notes.on_selftest(tested.comparison, name)],
            selftest=tested,
        )
        self._record = item_report(case, result)
        self._checked = True
        if result.failed:
            lead = f"--ir-selftest: {name}, intact, fails its own gates. What fails here is not counted as catching anything."
            fail("\n".join([*case.screen.wrapped(lead), "", self._told(self._record)]))
        return tested.intact

    def _told(self, record: ItemReport) -> str:
        return failure(record, self._case.screen)

    def _fail_check(self, message: str) -> NoReturn:
        """Fail ``check``, and remember it: a body that swallows the exception has not passed for that."""
        __tracebackhide__ = True
        self._failure = message
        fail(message)

    def record(self) -> str | None:
        """Return what this item measured, as the text that its report carries; None where nothing was."""
        case = self._case
        self._told_record = self._record
        if self._record is not None:
            return self._record.dumps()
        if not self._checking:
            return None
        # Nothing was evaluated, for a reason that the failure tells; what stands beside the test is told all the same.
        path = case.parameter.path if case.parameter is not None else None
        name = case.item.name if path is None else case.session.shown(path)
        return ItemReport(case.item.nodeid, name, 0, outcome="not evaluated", stale=case.stale()).dumps()

    @property
    def has_news(self) -> bool:
        """Whether something was measured since `record` was last asked for."""
        return self._record is not self._told_record

    def require_checked(self) -> None:
        """Fail a test that passed although its thresholds were never judged."""
        __tracebackhide__ = True
        case = self._case
        if self._failure is not None:  # caught by the body, or raised in another thread
            fail(self._failure)
        if self._checked:
            return
        if not self._awaited:
            fail(
                "irmetrics.acheck() was called but not awaited, so nothing was checked. Write: await irmetrics.acheck()"
            )
        if self._checking:
            fail(
                "irmetrics.check() was called and did not come to its end, so nothing was checked. Let what it raises "
                "pass, and wait for it."
            )
        if case.parameter is not None and case.parameter.problem is not None:
            fail(case.parameter.problem)
        try:
            levels = [*collection.marked_thresholds(case.item, case.settings.custom_metrics)]
            if case.parameter is not None:
                golden = case.golden_set()
                levels.append(
                    [*golden.thresholds, *(t for q in golden.queries.values() for t in q.thresholds)]
                )
        except TOLD as error:
            fail(str(error))
        bound = [threshold for level in levels for threshold in level]
        if bound:
            fail(
                f"This test has a threshold on {bound[0].metric.name} ({bound[0].origin}), and its body never called "
                "irmetrics.check(), so nothing was checked."
            )

    def require_async_plugin(self, skipped: BaseException) -> None:
        """Fail an async test that pytest skipped because no plugin runs it: a skip would look like a pass."""
        __tracebackhide__ = True
        # pytest before 8.4 skips, also a plain test that returns a coroutine.
        if "async def function and no async plugin installed" in str(skipped):
            fail(
                "This test is `async def`, and no plugin runs it, so nothing was checked. Install pytest-asyncio or "
                "anyio, or write a plain `def` test: irmetrics.check() takes an async retriever too."
            )
