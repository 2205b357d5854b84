"""What is asked next, and what the replies mean: the one place that decides, without any input or output.

The generator `converse` yields a `Chunk`, calls to be made one after the other in one go, and is sent what has come
back since, the replies to none or several chunks. It yields None when it has enough in flight, or nothing left to
ask: the driver then waits for at least one. So a loop, an event loop, threads or an executor can drive it, each in a
few lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pytest_irmetrics.garbage import without_collection
from pytest_irmetrics.retrieval.asking import Ask, Caller, Question, Reply, passages_of
from pytest_irmetrics.retrieval.showing import show
from pytest_irmetrics.run import Answer, Run, make_answer

Chunk = tuple[Ask, ...]
Conversation = Generator[Chunk | None, Sequence[Sequence[Reply]], "Retrieved"]

HOPELESS = 5
"""After this many errors in a row from the start the other queries are not asked."""

_CHUNK_SECONDS = 0.2  # long beside what it takes to send a chunk, short beside what is lost with a worker
_CHUNK_CALLS = 1000
_CHUNKS = 256  # as many as wait at an executor; it knows best how many of them to run at once


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How a retriever is asked, and its answers read."""

    depth: int = 10
    """How many results are asked for, and at most read."""
    duplicates: str = "error"
    """What a document that comes back twice is: "error", or "collapse" to keep the first of each."""
    doc_id: Callable[[Any], Any] | None = None
    """Turns one returned item into its id."""
    timeout: float | None = None
    """Seconds that a query may take; above 0."""
    concurrency: int = 1
    """How many calls may be in flight at once."""
    repeat: int = 1
    """How many times each query is asked."""
    executor: Executor | None = None
    """Where sync retrievers are called, if not here. As many calls are then in flight as it likes, unless
    `concurrency` is more than 1."""
    stop_on_error: bool = False
    """Whether the first query that fails ends it all (pytest's -x)."""

    def __post_init__(self) -> None:
        for name in ("depth", "concurrency", "repeat"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {show(value)}. Give a whole number, 1 or more.")
        if self.duplicates not in {"error", "collapse"}:
            raise ValueError(f"duplicates is {show(self.duplicates)}. Give 'error' or 'collapse'.")
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {show(self.timeout)}. Give seconds, more than 0, or None.")
        if self.doc_id is not None and not callable(self.doc_id):
            raise ValueError(f"doc_id is {show(self.doc_id)}. Give a function of one returned item.")
        if self.executor is not None and not isinstance(self.executor, Executor):
            raise ValueError(
                f"executor is {show(self.executor)}. Give a concurrent.futures.Executor; of a Dask client it is "
                "client.get_executor()."
            )


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What came of asking a retriever every query of a set."""

    run: Run
    """The queries that were answered each time, in the order given."""
    errors: Mapping[str, str]
    """Query id → what went wrong, in the order given."""
    stopped: str
    """Why the other queries have neither; empty where all were asked."""
    latencies: Mapping[str, tuple[float, ...]]
    """Query id → milliseconds, one for each time; of a batch, each query's share. Empty for a stored run."""
    depth_advice: str | None = None
    """Why no more came back, or where the depth is set of a retriever that was not handed one, a sentence."""
    missing: tuple[str, ...] = ()
    """Of a stored run that does not say what it was asked, the queries that it has no answer to."""


@dataclass(slots=True)
class _Ledger:
    """What is known so far."""

    options: RetrievalOptions
    rankings: list[dict[str, tuple[str, ...]]]
    """Query id → ids, best first; one for each time of asking."""
    milliseconds: list[dict[str, float]]
    """Query id → how long that took; one for each time of asking."""
    errors: dict[str, str] = field(default_factory=dict)
    answered: bool = False

    def file(self, reply: Reply) -> None:
        ask, outcomes, milliseconds = reply
        rankings, times = self.rankings[ask.repeat], self.milliseconds[ask.repeat]
        for query_id, outcome in zip(ask.ids, outcomes, strict=True):
            if isinstance(outcome, str):
                of = len(self.rankings)
                when = f"the {_ordinal(ask.repeat + 1)} of {of} times: " if of > 1 else ""
                self.errors.setdefault(query_id, when + outcome)
            else:
                rankings[query_id] = outcome
                times[query_id] = milliseconds
                self.answered = True

    @property
    def hopeless(self) -> bool:
        return not self.answered and len(self.errors) >= HOPELESS

    @property
    def over(self) -> bool:
        """Whether nothing more is to be asked."""
        return bool(self.errors) and (self.options.stop_on_error or self.hopeless)


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


@dataclass(slots=True)
class _Pace:
    """How many calls go out in one go: one, or for an executor as many as take about _CHUNK_SECONDS.

    What a first call does once, such as to load a model, is forgotten by and by.
    """

    chunked: bool
    seconds: float | None = None

    def note(self, replies: Sequence[Reply]) -> None:
        took = [
            reply.milliseconds * len(reply.ask.ids) / 1000
            for reply in replies
            if not all(isinstance(outcome, str) for outcome in reply.outcomes)
        ]
        if took:
            mean = sum(took) / len(took)
            self.seconds = mean if self.seconds is None else (self.seconds + mean) / 2

    @property
    def calls(self) -> int:
        if not self.chunked or self.seconds is None:
            return 1
        return max(1, int(min(_CHUNK_SECONDS / max(self.seconds, 1e-9), _CHUNK_CALLS)))


def converse(queries: Sequence[Question], caller: Caller, options: RetrievalOptions) -> Conversation:
    """Decide what to ask next, and what the replies mean; see the module's words for the protocol.

    Until a first query has been answered no more than HOPELESS queries are asked: what is asked of a retriever
    that is down does not depend on how many calls may be in flight. When it returns some may be in flight still:
    the driver cancels them.
    """
    ledger = _Ledger(options, [{} for _ in range(options.repeat)], [{} for _ in range(options.repeat)])
    plan = _plan(queries, caller, options, ledger)
    pace = _Pace(chunked=options.executor is not None)
    most = _CHUNKS if options.executor is not None and options.concurrency == 1 else options.concurrency
    asked = in_flight = 0
    exhausted = False
    while True:
        chunk: Chunk = ()
        probing = not ledger.answered and asked >= HOPELESS
        if not exhausted and in_flight < most and not (probing and in_flight):
            calls = pace.calls if pace.chunked else 1
            chunk = tuple(islice(plan, calls))
            exhausted = len(chunk) < calls
        if (ledger.errors and ledger.over) or not (chunk or in_flight):
            with without_collection():
                return _conclude(queries, caller, options, ledger)
        if chunk:
            in_flight += 1
            if not ledger.answered:
                asked += sum([len(ask.ids) for ask in chunk])
        for replies in (yield chunk or None):
            in_flight -= 1
            if pace.chunked:
                pace.note(replies)
            for reply in replies:
                ledger.file(reply)


def _plan(
    queries: Sequence[Question], caller: Caller, options: RetrievalOptions, ledger: _Ledger
) -> Iterator[Ask]:
    """Yield the calls to make, each query's first before any query's second; skip what has failed already."""
    batches = None if caller.batch_size is None else _batches(queries, caller.batch_size)
    for repeat in range(options.repeat):
        for group in zip(queries) if batches is None else batches:
            left = [query for query in group if query.id not in ledger.errors] if ledger.errors else group
            if not left:
                continue
            ask = caller.ask(left, options.depth, repeat)
            if isinstance(ask, Ask):
                yield ask
            else:
                ledger.errors.update(dict.fromkeys([query.id for query in left], ask))
            if ledger.errors and ledger.over:
                return


def _batches(queries: Sequence[Question], size: int) -> list[list[Question]]:
    alike: dict[str, list[Question]] = {}
    for query in queries:
        # 1, 1.0 and true are equal in Python, and other params to a retriever.
        alike.setdefault(json.dumps(dict(query.params), sort_keys=True, default=repr), []).append(query)
    return [group[start : start + size] for group in alike.values() for start in range(0, len(group), size)]


def _conclude(
    queries: Sequence[Question], caller: Caller, options: RetrievalOptions, ledger: _Ledger
) -> Retrieved:
    each_time: AbstractSet[str] = ledger.rankings[0].keys()
    for by_query in ledger.rankings[1:]:
        each_time = each_time & by_query.keys()
    answered = [query for query in queries if query.id in each_time]
    ids = [query.id for query in answered]
    rankings = zip(*(map(by_query.__getitem__, ids) for by_query in ledger.rankings), strict=True)
    times = zip(*(map(by_query.__getitem__, ids) for by_query in ledger.milliseconds), strict=True)
    answers = dict(zip(ids, map(answer_to, answered, rankings), strict=True))
    latencies = dict(zip(ids, times, strict=True))
    errors = {query.id: ledger.errors[query.id] for query in queries if query.id in ledger.errors}
    unanswered = len(queries) - len(answers) - len(errors)
    stopped = _why_stopped(unanswered, ledger) if unanswered else ""
    run = Run.of(answers, depth=options.depth)
    return Retrieved(run, errors, stopped, latencies, caller.depth_advice)


def _why_stopped(unanswered: int, ledger: _Ledger) -> str:
    if ledger.hopeless:
        return "The first five failed in a row, and the others were not asked."
    others = "the other query was" if unanswered == 1 else f"the other {unanswered} were"
    return f"With -x the first error ends it: {others} not asked, or cancelled."


def answer_to(query: Question, rankings: tuple[tuple[str, ...], ...]) -> Answer:
    """Make the answer to a query, with the texts of the passages that are in its rankings."""
    passages = passages_of(query)
    if not passages:
        return make_answer(rankings, query.text, query.params)
    found = {
        passage.key: (passage.doc, passage.folded)
        for passage in passages
        if any(passage.key in ranking for ranking in rankings)
    }
    return Answer(rankings, query.text, query.params, passages=found)
