"""One retriever that is asked all queries: which calls to make, how many at once, when to stop, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from pytest_irmetrics.base import paused_gc
from pytest_irmetrics.golden import Query
from pytest_irmetrics.retrieval.calls import Call, PendingAnswer, Reply, Result, RetrievalError, Stages
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.retriever import Retriever
from pytest_irmetrics.run import Answer, Header, Run
from pytest_irmetrics.run.answer import document_of, is_uuid, params_key

_MAX_INITIAL_FAILURES = 5
"""After this many errors in a row from the start the other queries are not asked; docs/speed.md and docs/reference/json-report.md say so."""
_MOST_CHUNKS = 10
"""With so many ids for each source, sources are no documents."""


class Retrieved(NamedTuple):
    """The result of asking a retriever every query of a set: the run, and what went wrong."""

    run: Run
    """The queries that were answered each time, in the order given."""
    errors: Mapping[str, str] = {}
    """Query id → what went wrong, in the order given."""
    unasked: int = 0
    """How many queries have neither an answer nor an error, as all that were asked failed, `_MAX_INITIAL_FAILURES` at least."""
    latencies: Mapping[str, tuple[float, ...]] = {}
    """Query id → milliseconds, one number for each repeat; of a batch, each query's share. Empty for a stored run."""
    stages: Mapping[str, Stages] = {}
    """Query id → `Result.stages` of the first time it was asked, where the retriever told of any."""
    returned: Mapping[str, int] = {}
    """Query id → `Result.returned`, where the ranking is not as long."""
    depth_advice: str | None = None
    """Where the depth is set of a retriever that was not handed one, a sentence."""
    missing: tuple[str, ...] = ()
    """Queries that a stored run has no answer to, where it does not say what it was asked."""


class Asking:
    """One retriever that is asked all queries: the calls to make, the replies so far, when to stop, and the result."""

    def __init__(self, queries: Iterable[Query], target: Retriever, options: RetrievalOptions) -> None:
        self.options, self.target = options, target
        if options.executor is not None and self.target.is_async:
            text = "An async retriever cannot run in ir_executor. Leave the fixture out: ir_concurrency is enough."
            raise RetrievalError(text)
        self._queries = {query.id: query for query in queries}
        # For each repeat, by query.
        self._results: list[dict[str, Result]] = [{} for _ in range(options.repeat)]
        self._milliseconds: list[dict[str, float]] = [{} for _ in range(options.repeat)]
        self._errors: dict[str, str] = {}
        self._has_answer = False
        self._asked = 0
        self.calls = self._iterate_calls()
        """The calls to make; whoever makes them takes them from here."""
        self.pending: list[PendingAnswer] = []
        """Answers that have to be awaited; where there is one, the other calls are made on an event loop."""
        self.is_given_up = False
        """Whether the caller on whose loop they are asked was cancelled (`ask_beside_loop`)."""

    def _iterate_calls(self) -> Iterator[Call]:
        """Yield the calls to make, each query once before any query twice; skip queries that have failed."""
        size = self.target.batch_size
        queries = list(self._queries.values())
        for repeat in range(self.options.repeat):
            for group in ([query] for query in queries) if size is None else _batches(queries, size):
                left = [query for query in group if query.id not in self._errors]
                if not left:
                    continue
                call = self.target.call_for(left, self.options.depth, repeat)
                if isinstance(call, str):
                    self._errors.update(dict.fromkeys([query.id for query in left], call))
                else:
                    yield call
                if self.should_stop:
                    return

    def in_flight(
        self,
        start: Callable[[Call, PendingAnswer | None], Any],
        reply_of: Callable[[Any, Call], Reply | PendingAnswer],
        most: int,
        timeout: float | None,
    ) -> Iterator[tuple[Iterable[Any], float]]:
        """Make the calls, at most `most` of them in flight at once, and add their replies; cancel those in flight where it ends early.

        `start` begins a call, or awaits the answer to one, and returns a future of threads or asyncio, and `reply_of` returns
        the reply of a future that is done. Yields the futures in flight: the caller waits until one is done, for as many seconds at most.
        """
        flying: dict[Any, tuple[Call, float]] = {}
        seconds = inf if timeout is None else timeout

        def begin(call: Call, answer: PendingAnswer | None = None) -> None:
            flying[start(call, answer)] = call, monotonic() + seconds * len(call.queries)

        try:
            pending, self.pending = self.pending, []
            for answer in pending:
                begin(answer.call, answer)
            while not self.should_stop:
                while (call := self._next_call(len(flying), most)) is not None:
                    begin(call)
                if not flying:
                    return
                first = min(deadline for _, deadline in flying.values())
                # For a second at most: a signal that comes just before it waits, such as Ctrl-C, does not end the wait.
                yield flying, min(first - monotonic(), 1.0)
                now = monotonic()
                for future in [one for one, (_, due) in flying.items() if one.done() or now >= due]:
                    call, _ = flying.pop(future)
                    if future.done():
                        self.add(reply_of(future, call))
                    else:
                        _abandon(future)
                        self.add(call.timed_out(seconds))
        finally:
            for future in flying:
                _abandon(future)

    def _next_call(self, in_flight: int, most: int) -> Call | None:
        """Return the next call to make; None where enough are in flight, or nothing is left to ask in this way.

        Until a query has been answered, no more than _MAX_INITIAL_FAILURES are asked: what is asked of a retriever that is
        down does not depend on how many calls may be in flight.
        """
        waits = not self._has_answer and self._asked >= _MAX_INITIAL_FAILURES
        if in_flight >= most or (waits and in_flight) or self.should_stop or self.pending:
            return None
        call = next(self.calls, None)
        if call is not None:
            self._asked += len(call.queries)
        return call

    def add(self, reply: Reply | PendingAnswer) -> None:
        """Add the reply to one call, or what has yet to be awaited of it."""
        if isinstance(reply, PendingAnswer):
            self.pending.append(reply)
            return
        options, repeat = self.options, reply.call.asked_before
        # A call that blocks the event loop ends late.
        if options.timeout is not None and reply.milliseconds > options.timeout * 1000:
            reply = reply.call.timed_out(options.timeout)
        for query, outcome in zip(reply.call.queries, reply.outcomes, strict=True):
            if isinstance(outcome, str):
                when = f"time {repeat + 1} of {options.repeat}: " if options.repeat > 1 else ""
                self._errors.setdefault(query.id, when + outcome)
                continue
            self._has_answer = True
            self._milliseconds[repeat][query.id] = reply.milliseconds
            self._results[repeat][query.id] = outcome
        if options.progress is not None:
            options.progress(len(reply.outcomes))

    def _ranking(self, query_id: str, result: Result, *, by_source: bool) -> Sequence[str]:
        """Return a result's ranking: documents with an id and a source go by that which the baseline has; if neither, as `by_source` says.

        By the other of the two a comparison would take each for another document.
        """
        if result.ranking_by_source is None:
            return result.ranking
        named, stored = (result.ranking, result.ranking_by_source), self.options.baseline
        before = {*map(document_of, stored[query_id])} if stored and query_id in stored else set[str]()
        as_before = (one for one in named if not before.isdisjoint(map(document_of, one)))
        return next(as_before, named[by_source])

    @property
    def should_stop(self) -> bool:
        """Whether nothing more is to be asked."""
        failed_from_the_start = not self._has_answer and len(self._errors) >= _MAX_INITIAL_FAILURES
        return failed_from_the_start or self.is_given_up

    @paused_gc()
    def result(self) -> Retrieved:
        """Return the result of all replies. Raises RetrievalError where a query was lost: that is a fault of ours."""
        by_source = _most_go_by_source([*chain.from_iterable(map(dict.values, self._results))])
        answers, stages, returned = dict[str, Answer](), dict[str, Stages](), dict[str, int]()
        for query_id, query in self._queries.items():
            found = [results[query_id] for results in self._results if query_id in results]
            if len(found) == self.options.repeat:
                rankings = [self._ranking(query_id, one, by_source=by_source) for one in found]
                answers[query_id] = answer_to(query, tuple(rankings))
                if found[0].stages:
                    stages[query_id] = found[0].stages
                for one, ranking in zip(found, rankings, strict=True):
                    if one.returned != len(ranking):
                        returned[query_id] = one.returned
        errors = {i: self._errors[i] for i in self._queries if i in self._errors}
        unanswered = len(self._queries) - len(answers) - len(errors)
        if unanswered and not self.should_stop:
            raise RetrievalError(f"{unanswered} queries have neither answer nor error. Report this fault.")
        return Retrieved(
            run=Run.of(answers, Header(self.options.depth, provenance=self.options.provenance)),
            errors=errors,
            unasked=unanswered,
            latencies={i: tuple([times[i] for times in self._milliseconds]) for i in answers},
            stages=stages,
            returned=returned,
            depth_advice=self.target.depth_advice,
        )


def _most_go_by_source(results: Sequence[Result]) -> bool:
    """Tell whether documents of which the golden set judges neither the id nor the source (`by_source` is None) go by the source.

    As most results do of which it judges one of the two. Where there are none, by the source, unless that may be the name of
    a store or a kind: it comes back for more than half of the queries, or has many ids.
    """
    votes = Counter(one.by_source for one in results if one.ranking)
    if votes[True] or votes[False]:
        return votes[True] > votes[False]
    # Results without it, such as chunks with a judged passage, have one name alone.
    found = [one for one in results if one.ranking_by_source is not None]
    sources = Counter(chain.from_iterable({*map(document_of, one.ranking_by_source or ())} for one in found))
    ids = {doc_id for one in found for doc_id in one.ranking}
    are_documents = 2 * max(sources.values(), default=0) <= len(found)
    return all(map(is_uuid, ids)) or (are_documents and len(ids) < _MOST_CHUNKS * len(sources))


def answer_to(query: Query, rankings: tuple[Sequence[str], ...], agreeing: int | None = None) -> Answer:
    """Return the answer to a query, of a retriever or of a stored run in its place, with the texts of those passages that are in its rankings; `agreeing` as in `Answer`."""
    if not query.passages:
        return Answer(rankings, query.text, query.params, agreeing=agreeing)
    found = {
        passage.key: (passage.doc, passage.normalized)
        for passage in query.passages
        if any(passage.key in ranking for ranking in rankings)
    }
    return Answer(rankings, query.text, query.params, passages=found, agreeing=agreeing)


def _abandon(future: Any) -> None:
    """Cancel a call, or close what it returns if it is too late for that: a coroutine that nobody awaits warns."""

    def close(ended: Any) -> None:
        reply = None if ended.cancelled() or ended.exception() else ended.result()
        if isinstance(reply, PendingAnswer):
            reply.close()

    if not future.cancel():
        future.add_done_callback(close)


def _batches(queries: Sequence[Query], size: int) -> list[list[Query]]:
    """Group queries with equal params, at most `size` in a group."""
    by_params: dict[str, list[Query]] = {}
    for query in queries:
        by_params.setdefault(params_key(query.params), []).append(query)
    return [each[start : start + size] for each in by_params.values() for start in range(0, len(each), size)]
