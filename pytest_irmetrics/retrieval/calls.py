"""The calls to make of a retriever, what one call returns, and the replies collected into a run.

Calls and replies are plain data, and `call_retriever` is a function of a module, so that they can be sent to another process.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.answers import AnswerError, draw_items, read_ranking, split_batch
from pytest_irmetrics.retrieval.describe import describe
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.retrieval.options import RetrievalOptions
    from pytest_irmetrics.retrieval.passages import JudgedPassages

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

MAX_INITIAL_FAILURES = 5
"""After this many errors in a row from the start the other queries are not asked."""
CANCELLED = "the retriever was cancelled, and not by ir_timeout."


class RetrievalError(IRMetricsError):
    """Retrieval that cannot start, or a query that could not be answered (`query_id`); `problem` says why."""

    def __init__(self, problem: str, query_id: str | None = None) -> None:
        super().__init__(problem if query_id is None else f"query {quote(query_id)}: {problem}")
        self.problem: str = problem
        """Why, without the query's id."""
        self.query_id: str | None = query_id
        """The query that could not be answered; None where nothing could be asked."""


class QueryLike(Protocol):
    """What retrieval needs to know of a golden set's query."""

    @property
    def id(self) -> str:
        """The query's id, unique in its set."""

    @property
    def text(self) -> str | None:
        """The text to search for; None in a set without texts."""

    @property
    def params(self) -> Mapping[str, Any]:
        """Keyword arguments for the retriever."""


class Call(NamedTuple):
    """One call to make of the retriever: for one query, or for as many as a batch has."""

    query_ids: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    is_batch: bool
    repeat: int
    """How many times these queries were asked before."""
    passages: tuple[JudgedPassages | None, ...] = ()
    """For each query the passages that it judges; empty where no query judges any."""

    def failed(self, problem: str) -> Reply:
        """Return the reply of a call that failed for all its queries."""
        return Reply(self, (problem,) * len(self.query_ids), 0.0)

    def timed_out(self, timeout: float) -> Reply:
        """Return the reply of a call that took longer than `timeout` seconds a query."""
        queries = len(self.query_ids)
        several = f" a query for {queries} queries" if queries > 1 else ""
        return self.failed(f"no answer came within {timeout:g} s{several} (ir_timeout).")


class Reply(NamedTuple):
    """What a call returned: for each of its queries the ids, or a sentence that says what went wrong."""

    call: Call
    outcomes: tuple[tuple[str, ...] | str, ...]
    milliseconds: float
    """How long the call took, divided by its queries."""


class PendingAnswer(NamedTuple):
    """What a call returned that has yet to be awaited, though the retriever looked sync."""

    call: Call
    answer: Any
    started: float
    """When the call began, by `time.perf_counter`."""

    def close(self) -> None:
        """Drop an answer that nobody has begun to await, without Python's warning about that."""
        answer = self.answer
        if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
            answer.close()


# Making a call


def call_retriever(
    function: Callable[..., Any], call: Call, options: RetrievalOptions
) -> Reply | PendingAnswer:
    """Call the retriever and read its answer. Lets through what is no Exception: pytest.skip, Ctrl-C."""
    started = perf_counter()
    try:
        answer = function(*call.args, **call.kwargs)
        # A plain list is by far the most frequent answer, and the checks below cost as much as reading it.
        if type(answer) is list and not call.is_batch:
            drawn: list[list[Any] | str] = [answer[: options.depth]]
        elif inspect.isawaitable(answer):
            return PendingAnswer(call, answer, started)
        else:
            drawn = _draw(call, answer, options.depth)
    except Exception as error:  # noqa: BLE001 - whatever the retriever raises is this query's error
        return call.failed(_explain_call(call, error))
    except BaseException as error:
        if type(error).__name__ != "CancelledError":  # of asyncio: nobody can cancel what is not awaited
            raise
        return call.failed(CANCELLED)
    return _read_reply(call, drawn, perf_counter() - started, options)


async def await_answer(pending: PendingAnswer, options: RetrievalOptions) -> Reply:
    """Await the answer of a call that was made, and read it."""
    call, answer = pending.call, pending.answer
    try:
        if inspect.isawaitable(answer):
            answer = await answer
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise AnswerError(f"came back: {describe(answer)}. Await it in the retriever.")  # noqa: TRY301 - one way for errors
        drawn = _draw(call, answer, options.depth)
    except Exception as error:  # noqa: BLE001 - as in call_retriever
        return call.failed(_explain_call(call, error))
    return _read_reply(call, drawn, perf_counter() - pending.started, options)


def _draw(call: Call, answer: Any, depth: int) -> list[list[Any] | str]:
    """Return the items of each query; for a query of a batch where that failed, what went wrong."""
    if not call.is_batch:
        return [draw_items(answer, depth)]
    return split_batch(answer, len(call.query_ids), lambda result: _draw_one(result, depth))


def _draw_one(result: Any, depth: int) -> list[Any] | str:
    """Return the items of one query's result in a batch, or what went wrong."""
    try:
        return draw_items(result, depth)
    except Exception as error:  # noqa: BLE001 - a result may be the user's generator
        return _explain(error)


def _read_reply(call: Call, drawn: list[list[Any] | str], seconds: float, options: RetrievalOptions) -> Reply:
    """Read the items of each query as ids."""
    query_ids = call.query_ids
    if call.passages:
        outcomes = tuple(
            [
                _read_passages(query_id, items, passages, options)
                for query_id, items, passages in zip(query_ids, drawn, call.passages, strict=True)
            ]
        )
        return Reply(call, outcomes, seconds * 1000 / len(query_ids))
    if not call.is_batch:
        return Reply(call, (_read_ids(query_ids[0], drawn[0], options),), seconds * 1000)
    ids = [_read_ids(query_id, items, options) for query_id, items in zip(query_ids, drawn, strict=True)]
    return Reply(call, tuple(ids), seconds * 1000 / len(query_ids))


def _read_ids(query_id: str, items: list[Any] | str, options: RetrievalOptions) -> tuple[str, ...] | str:
    """Return the ids of a query's items, or what went wrong."""
    if isinstance(items, str):
        return items
    try:
        answer = None if options.stored is None else options.stored.answers.get(query_id)
        rankings = () if answer is None else answer.rankings
        ranking = read_ranking(items, options.duplicates, options.doc_id, rankings)
    except Exception as error:  # noqa: BLE001 - ir_doc_id and items are the user's, and may raise anything
        return _explain(error)
    if options.titles is not None and items and type(items[0]) is not str:
        from pytest_irmetrics.retrieval.titles import keep_titles  # noqa: PLC0415 - ids alone have none

        keep_titles(items, ranking, options.titles)
    return ranking


def _read_passages(
    query_id: str, items: list[Any] | str, passages: JudgedPassages | None, options: RetrievalOptions
) -> tuple[str, ...] | str:
    """Return the ranking of a query's items by the passages that they contain, or what went wrong."""
    from pytest_irmetrics.retrieval.chunks import read_passage_ranking  # noqa: PLC0415 - most golden sets judge no passages

    if passages is None or isinstance(items, str):
        return _read_ids(query_id, items, options)
    try:
        return read_passage_ranking(items, options.duplicates, options.doc_id, passages, options.titles)
    except Exception as error:  # noqa: BLE001 - as in _read_ids
        return _explain(error)


def _explain(error: Exception) -> str:
    """Say in a sentence what a retriever raised, and how to mend it where that is known."""
    from pytest_irmetrics.retrieval.errors import explain  # noqa: PLC0415 - only where something failed

    return explain(error)


def _explain_call(call: Call, error: Exception) -> str:
    """Say what a call raised, and of a batch for how many queries it was."""
    problem = _explain(error)
    if len(call.query_ids) == 1 or isinstance(error, AnswerError):
        return problem
    return f"the call for {len(call.query_ids)} queries {problem}"


def passages_of(query: QueryLike) -> tuple[Passage, ...]:
    """Return the passages that a query judges; none for an object that only has an id, a text and params."""
    passages: tuple[Passage, ...] = getattr(query, "passages", ())
    return passages


# What came of them


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The result of asking a retriever every query of a set: the run, and what went wrong."""

    run: Run
    """The queries that were answered each time, in the order given."""
    errors: Mapping[str, str]
    """Query id → what went wrong, in the order given."""
    stopped: str
    """Why some queries have neither an answer nor an error; empty where all were asked."""
    latencies: Mapping[str, tuple[float, ...]]
    """Query id → milliseconds, one number for each repeat; of a batch, each query's share. Empty for a stored run."""
    depth_advice: str | None = None
    """Why no more came back, or where the depth is set of a retriever that was not handed one, a sentence."""
    missing: tuple[str, ...] = ()
    """Queries that a stored run has no answer to, where it does not say what it was asked."""


class ReplyCollector:
    """Collect replies, decide when to stop, build the result."""

    __slots__ = (
        "_milliseconds",
        "_options",
        "_progress",
        "_queries",
        "_rankings",
        "errors",
        "has_answer",
    )

    def __init__(self, queries: Sequence[QueryLike], options: RetrievalOptions) -> None:
        self._queries = queries
        self._options = options
        self._progress = options.progress
        # A mapping by query id for each repeat.
        self._rankings: list[dict[str, tuple[str, ...]]] = [{} for _ in range(options.repeat)]
        self._milliseconds: list[dict[str, float]] = [{} for _ in range(options.repeat)]
        self.errors: dict[str, str] = {}
        """Query id → what went wrong."""
        self.has_answer = False
        """Whether any query has been answered yet."""

    def add(self, reply: Reply) -> None:
        """Add the reply to one call."""
        call, outcomes, milliseconds = reply
        rankings, times = self._rankings[call.repeat], self._milliseconds[call.repeat]
        for query_id, outcome in zip(call.query_ids, outcomes, strict=True):
            if isinstance(outcome, str):
                repeats = len(self._rankings)
                when = f"the {_ordinal(call.repeat + 1)} of {repeats} times: " if repeats > 1 else ""
                self.errors.setdefault(query_id, when + outcome)
                continue
            rankings[query_id] = outcome
            times[query_id] = milliseconds
            self.has_answer = True
        if self._progress is not None:
            self._progress(len(outcomes))

    @property
    def _failed_from_the_start(self) -> bool:
        return not self.has_answer and len(self.errors) >= MAX_INITIAL_FAILURES

    @property
    def should_stop(self) -> bool:
        """Whether nothing more is to be asked."""
        return bool(self.errors) and (self._options.stop_on_error or self._failed_from_the_start)

    def result(self, depth_advice: str | None) -> Retrieved:
        """Return the result of all replies; `depth_advice` as in Retrieved."""
        each_time: AbstractSet[str] = self._rankings[0].keys()
        for by_query in self._rankings[1:]:
            each_time = each_time & by_query.keys()
        answered = [query for query in self._queries if query.id in each_time]
        ids = [query.id for query in answered]
        rankings = zip(*(map(by_query.__getitem__, ids) for by_query in self._rankings), strict=True)
        times = zip(*(map(by_query.__getitem__, ids) for by_query in self._milliseconds), strict=True)
        answers = dict(zip(ids, map(answer_to, answered, rankings), strict=True))
        errors = {query.id: self.errors[query.id] for query in self._queries if query.id in self.errors}
        unanswered = len(self._queries) - len(answers) - len(errors)
        if unanswered and not self.should_stop:
            raise RetrievalError(
                f"{unanswered} queries have neither an answer nor an error. Report this as a fault."
            )
        return Retrieved(
            run=Run.of(answers, depth=self._options.depth),
            errors=errors,
            stopped=self._why_stopped(unanswered) if unanswered else "",
            latencies=dict(zip(ids, times, strict=True)),
            depth_advice=depth_advice,
        )

    def _why_stopped(self, unanswered: int) -> str:
        if self._failed_from_the_start:
            return "The first five failed in a row, and the others were not asked."
        others = "the other query was" if unanswered == 1 else f"the other {unanswered} were"
        return f"With -x the first error ends it: {others} not asked, or cancelled."


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def answer_to(query: QueryLike, rankings: tuple[tuple[str, ...], ...]) -> Answer:
    """Return the answer to a query, with the texts of those passages that are in its rankings."""
    passages = passages_of(query)
    if not passages:
        return Answer(rankings, query.text, query.params)
    found = {
        passage.key: (passage.doc, passage.normalized)
        for passage in passages
        if any(passage.key in ranking for ranking in rankings)
    }
    return Answer(rankings, query.text, query.params, passages=found)
