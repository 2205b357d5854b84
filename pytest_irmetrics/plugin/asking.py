"""What is asked for a test item, and whom: a plan, the options of retrieval, and the answers evaluated."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.evaluation import (
    Evaluation,
    EvaluationError,
    judged_beside,
    read_metrics,
    require_depth,
)
from pytest_irmetrics.plugin import marks as collection
from pytest_irmetrics.retrieval import RetrievalError, RetrievalOptions, Retrieved, aretrieve, retrieve
from pytest_irmetrics.retrieval.call import Caller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.plugin.item import Case
    from pytest_irmetrics.run import Run


class Plan(NamedTuple):
    """What is asked and measured."""

    golden: GoldenSet
    queries: Sequence[Query]
    metrics: tuple[Metric, ...]


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


class Asking:
    """Asks for one test item, with what its fixtures say of retrieval."""

    def __init__(self, case: Case, retriever: Any, doc_id: Any, executor: Any) -> None:
        self._case = case
        self._retriever = retriever
        self._doc_id = doc_id
        self._executor = executor

    def plan(self, golden: Any) -> Plan:
        """Read all that can be wrong before the first query is asked. Skips the test where it has none to ask."""
        __tracebackhide__ = True
        case = self._case
        golden = case.golden_set(golden)
        settings, depth = case.settings, case.depth
        # The default max_drop comes last: its metrics are reported anyway.
        named = [threshold.metric for level in case.levels(golden) for threshold in level]
        own = [threshold.metric for query in golden.queries.values() for threshold in query.thresholds]
        metrics = read_metrics([*settings.reported(depth), *named, *own], settings.custom_metrics)
        require_depth(metrics, depth)
        return Plan(golden, case.queries(golden), metrics)

    def ask(self, plan: Plan, retriever: Any, stored: Run | None = None) -> Evaluation:
        """Ask the retriever that a call gives, else the fixture's; `stored` as in RetrievalOptions."""
        __tracebackhide__ = True
        retriever = self._require_retriever(retriever)
        return self.evaluation(plan, retrieve(plan.queries, retriever, self._options(stored)))

    async def aask(self, plan: Plan, retriever: Any, stored: Run | None = None) -> Evaluation:
        """Do as `ask` does on the event loop that runs."""
        __tracebackhide__ = True
        retriever = self._require_retriever(retriever)
        return self.evaluation(plan, await aretrieve(plan.queries, retriever, self._options(stored)))

    def ask_other(self, plan: Plan, other: Any, now: Run) -> Evaluation:
        """Ask a second retriever what the first, whose answers are `now`, was asked. Raises EvaluationError where a query fails."""
        __tracebackhide__ = True
        return require_whole(self.evaluation(plan, retrieve(plan.queries, other, self._options(now))))

    async def aask_other(self, plan: Plan, other: Any, now: Run) -> Evaluation:
        """Do as `ask_other` does on the event loop that runs."""
        __tracebackhide__ = True
        return require_whole(self.evaluation(plan, await aretrieve(plan.queries, other, self._options(now))))

    def evaluation(self, plan: Plan, retrieved: Retrieved) -> Evaluation:
        """Evaluate what came back."""
        only = None
        if self._case.settings.only_queries:
            only = frozenset(query.id for query in plan.queries)
        return Evaluation(
            plan.golden,
            retrieved,
            plan.metrics,
            self._case.depth,
            self._case.settings.custom_metrics,
            only,
            judged_beside(plan.metrics, self._case.depth),
        )

    def whom(self, retriever: Any) -> Any:
        """Return the retriever that a call gives, else the fixture's."""
        return self._retriever if retriever is None else retriever

    def _require_retriever(self, retriever: Any) -> Any:
        retriever = self.whom(retriever)
        if isinstance(retriever, MissingRetriever):
            raise collection.MarkError(retriever.message)
        return retriever

    def _options(self, stored: Run | None) -> RetrievalOptions:
        case, settings = self._case, self._case.settings
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
            depth=case.depth,
            duplicates=(case.parameter and case.parameter.duplicates) or settings.duplicates,
            doc_id=self._doc_id,
            timeout=settings.timeout,
            concurrency=settings.concurrency,
            repeat=settings.repeat,
            executor=self._executor,
            stored=stored,
            stop_on_error=case.item.config.getoption("maxfail", 0) == 1,
        )


def require_other(against: Any) -> None:
    """Refuse a retriever, or another's evaluation, that nothing can be compared with. Raises RetrievalError, EvaluationError."""
    if isinstance(against, Evaluation):
        require_whole(against)
        return
    try:
        Caller.of(against)
    except RetrievalError as error:
        raise RetrievalError(f"What `against` gives cannot be asked. {error}") from None


def require_whole(other: Evaluation) -> Evaluation:
    """Return what another retriever came to. Raises EvaluationError where a query of it failed."""
    if other.errors:
        query_id, problem = next(iter(other.errors.items()))
        failed = plural(len(other.errors), "query", "queries")
        raise EvaluationError(
            f"The retriever given as `against` failed for {failed}; the first is {query_id!r}: {problem}"
        )
    return other
