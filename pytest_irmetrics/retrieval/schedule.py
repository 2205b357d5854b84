"""What is asked next, and what the replies mean: the one place that decides, without any input or output.

Who asks one query after the other goes through the calls that `plan` yields, and files each reply. Who has several in
flight holds a conversation: the generator `converse` yields a `Chunk`, calls to be made one after the other in one go,
and is sent what has come back since, the replies to none or several chunks. It yields None when it has enough in
flight, or nothing left to ask: the driver then waits for at least one. So an event loop, threads or an executor can
drive it, each in a few lines.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pytest_irmetrics.retrieval.call import Ask, Caller, Question, Reply
from pytest_irmetrics.retrieval.ledger import HOPELESS, Ledger, Retrieved

if TYPE_CHECKING:
    from pytest_irmetrics.retrieval.options import RetrievalOptions

Chunk = tuple[Ask, ...]
Conversation = Generator[Chunk | None, Sequence[Sequence[Reply]], Retrieved]

_CHUNK_SECONDS = 0.2  # long beside what it takes to send a chunk, short beside what is lost with a worker
_CHUNK_CALLS = 1000
_CHUNKS = 256  # as many as wait at an executor; it knows best how many of them to run at once


def plan(
    queries: Sequence[Question], caller: Caller, options: RetrievalOptions, ledger: Ledger
) -> Iterator[Ask]:
    """Yield the calls to make, each query's first before any query's second; skip what has failed already."""
    batches = None if caller.batch_size is None else _batches(queries, caller.batch_size)
    formerly = ledger.formerly
    for repeat in range(options.repeat):
        for group in zip(queries) if batches is None else batches:
            left = [query for query in group if query.id not in ledger.errors] if ledger.errors else group
            if not left:
                continue
            ask = caller.ask(left, options.depth, repeat)
            if isinstance(ask, Ask):
                yield ask if not formerly else ask._replace(formerly=tuple(map(formerly.get, ask.ids)))
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
    ledger = Ledger(queries, options)
    calls = plan(queries, caller, options, ledger)
    pace = _Pace(chunked=options.executor is not None)
    most = _CHUNKS if options.executor is not None and options.concurrency == 1 else options.concurrency
    asked = in_flight = 0
    exhausted = False
    while True:
        chunk: Chunk = ()
        probing = not ledger.answered and asked >= HOPELESS
        if not exhausted and in_flight < most and not (probing and in_flight):
            wanted = pace.calls
            chunk = tuple(islice(calls, wanted))
            exhausted = len(chunk) < wanted
        if ledger.over or not (chunk or in_flight):
            return ledger.conclude(caller.depth_advice)
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
