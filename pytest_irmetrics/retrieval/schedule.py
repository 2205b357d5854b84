"""Decide which calls to make and when to stop, collect the replies and build the result, without any input or output.

A driver makes the calls. One that makes a single call at a time takes them from `iterate_calls` and adds each reply to
the collector. One that has several in flight runs the generator that `schedule_calls` returns.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.retrieval.call import Call, Reply
from pytest_irmetrics.retrieval.retriever import QueryLike, Retriever, passages_of
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from pytest_irmetrics.retrieval.options import RetrievalOptions

MAX_INITIAL_FAILURES = 5
"""After this many errors in a row from the start the other queries are not asked."""

_MAX_QUEUED = 256
"""How many calls may wait at an executor; it decides how many of them to work on at once."""


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


# Which calls to make


def iterate_calls(
    queries: Sequence[QueryLike], retriever: Retriever, options: RetrievalOptions, collector: ReplyCollector
) -> Iterator[Call]:
    """Yield the calls to make, each query once before any query twice; skip queries that have failed."""
    groups: Sequence[Sequence[QueryLike]] | None = None
    if retriever.batch_size is not None:
        groups = _batches(queries, retriever.batch_size)
    errors = collector.errors
    for repeat in range(options.repeat):
        for group in zip(queries) if groups is None else groups:
            left = [query for query in group if query.id not in errors] if errors else group
            if not left:
                continue
            call = retriever.call_for(left, options.depth, repeat)
            if isinstance(call, str):
                errors.update(dict.fromkeys([query.id for query in left], call))
            else:
                yield call
            if errors and collector.should_stop:
                return


def _batches(queries: Sequence[QueryLike], size: int) -> list[list[QueryLike]]:
    """Group queries with equal params, at most `size` in a group."""
    by_params: dict[str, list[QueryLike]] = {}
    for query in queries:
        # By JSON, because 1, 1.0 and true are equal in Python, and other params to a retriever.
        key = json.dumps(dict(query.params), sort_keys=True, default=repr)
        by_params.setdefault(key, []).append(query)
    return [
        alike[start : start + size] for alike in by_params.values() for start in range(0, len(alike), size)
    ]


Schedule = Generator[Call | None, Sequence[Reply], Retrieved]
Work = Callable[[Call], Awaitable[Reply]]
"""Makes a call and returns its reply."""


def schedule_calls(queries: Sequence[QueryLike], retriever: Retriever, options: RetrievalOptions) -> Schedule:
    """Yield the calls to make, with several in flight, and take their replies; return the result.

    It yields a call, or None when enough are in flight or nothing is left to ask. It is sent the replies that have come
    since. So a driver with two threads is:

        schedule = schedule_calls(queries, retriever, options)
        futures = set()
        call = next(schedule)
        while True:
            if call is not None:
                futures.add(threads.submit(make_call, call))
                done = set()
            else:
                done, futures = wait(futures, return_when=FIRST_COMPLETED)
            call = schedule.send([future.result() for future in done])  # StopIteration has the result

    Until a first query has been answered, no more than MAX_INITIAL_FAILURES queries are asked: what is asked of a
    retriever that is down does not depend on how many calls may be in flight. When it returns, some may still be
    in flight: the driver cancels them.
    """
    collector = ReplyCollector(queries, options)
    calls = iterate_calls(queries, retriever, options, collector)
    max_in_flight = options.concurrency
    if options.executor is not None and options.concurrency == 1:
        max_in_flight = _MAX_QUEUED
    initial_queries = in_flight = 0
    while True:
        call: Call | None = None
        wait_for_first = not collector.has_answer and initial_queries >= MAX_INITIAL_FAILURES
        if in_flight < max_in_flight and not (wait_for_first and in_flight):
            call = next(calls, None)
        if collector.should_stop or not (call or in_flight):
            return collector.result(retriever.depth_advice)
        if call is not None:
            in_flight += 1
            if not collector.has_answer:
                initial_queries += len(call.query_ids)
        for reply in (yield call):
            in_flight -= 1
            collector.add(reply)
