"""What has come back so far, when there is no use in asking on, and what came of it all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.retrieval.call import TwiceRead, passages_of
from pytest_irmetrics.retrieval.formerly import formerly_judged
from pytest_irmetrics.run import Answer, Run, in_memory_once, make_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.retrieval.call import Question, Reply
    from pytest_irmetrics.retrieval.options import RetrievalOptions

HOPELESS = 5
"""After this many errors in a row from the start the other queries are not asked."""


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
    formerly: Mapping[str, Answer] = field(default_factory=dict)
    """Query id → the same answer read by the passages that were judged when the stored run was made, where those are
    others; not where they could not be looked for."""


class Ledger:
    """What is known so far of the queries that are asked."""

    __slots__ = (
        "_formerly",
        "_milliseconds",
        "_options",
        "_queries",
        "_rankings",
        "_stored",
        "answered",
        "errors",
        "formerly",
    )

    def __init__(self, queries: Sequence[Question], options: RetrievalOptions) -> None:
        self._queries = queries
        self._options = options
        self._stored = None if options.stored is None else options.stored.answers
        # Query id → ids, best first, and how long that took; one mapping for each time of asking.
        self._rankings: list[dict[str, tuple[str, ...]]] = [{} for _ in range(options.repeat)]
        self._milliseconds: list[dict[str, float]] = [{} for _ in range(options.repeat)]
        self.formerly = formerly_judged(queries, options.stored)
        """Query id → what it judged when the stored run was made, where that is to be looked for as well."""
        self._formerly: list[dict[str, tuple[str, ...]]] = [{} for _ in range(options.repeat)]
        self.errors: dict[str, str] = {}
        self.answered = False

    def file(self, reply: Reply) -> None:
        """Enter what a call came to."""
        ask, outcomes, milliseconds = reply
        rankings, times = self._rankings[ask.repeat], self._milliseconds[ask.repeat]
        stored = self._stored
        for query_id, outcome in zip(ask.ids, outcomes, strict=True):
            if isinstance(outcome, str):
                of = len(self._rankings)
                when = f"the {_ordinal(ask.repeat + 1)} of {of} times: " if of > 1 else ""
                self.errors.setdefault(query_id, when + outcome)
            else:
                if isinstance(outcome, TwiceRead):
                    self._formerly[ask.repeat][query_id] = outcome.formerly
                    outcome = outcome.ids  # noqa: PLW2901 - the rest is as with any other
                known = None if stored is None else stored.get(query_id)
                rankings[query_id] = (
                    outcome
                    if known is None or outcome is known.rankings[0]
                    else in_memory_once(outcome, known.rankings)
                )
                times[query_id] = milliseconds
                self.answered = True

    @property
    def _hopeless(self) -> bool:
        return not self.answered and len(self.errors) >= HOPELESS

    @property
    def over(self) -> bool:
        """Whether nothing more is to be asked."""
        return bool(self.errors) and (self._options.stop_on_error or self._hopeless)

    @pause_gc()
    def conclude(self, depth_advice: str | None) -> Retrieved:
        """Say what came of it; `depth_advice` as in Retrieved."""
        each_time: AbstractSet[str] = self._rankings[0].keys()
        for by_query in self._rankings[1:]:
            each_time = each_time & by_query.keys()
        answered = [query for query in self._queries if query.id in each_time]
        ids = [query.id for query in answered]
        rankings = zip(*(map(by_query.__getitem__, ids) for by_query in self._rankings), strict=True)
        times = zip(*(map(by_query.__getitem__, ids) for by_query in self._milliseconds), strict=True)
        answers = dict(zip(ids, map(answer_to, answered, rankings), strict=True))
        latencies = dict(zip(ids, times, strict=True))
        errors = {query.id: self.errors[query.id] for query in self._queries if query.id in self.errors}
        unanswered = len(self._queries) - len(answers) - len(errors)
        stopped = self._why_stopped(unanswered) if unanswered else ""
        run = Run.of(answers, depth=self._options.depth)
        return Retrieved(
            run, errors, stopped, latencies, depth_advice, formerly=self._read_formerly(answered)
        )

    def _read_formerly(self, answered: Sequence[Question]) -> dict[str, Answer]:
        return {
            query.id: answer_to(
                query,
                tuple([by_query[query.id] for by_query in self._formerly]),
                self.formerly[query.id].passages,
            )
            for query in (answered if self.formerly else ())
            if all(query.id in by_query for by_query in self._formerly)
        }

    def _why_stopped(self, unanswered: int) -> str:
        if self._hopeless:
            return "The first five failed in a row, and the others were not asked."
        others = "the other query was" if unanswered == 1 else f"the other {unanswered} were"
        return f"With -x the first error ends it: {others} not asked, or cancelled."


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def answer_to(
    query: Question, rankings: tuple[tuple[str, ...], ...], passages: Sequence[Passage] | None = None
) -> Answer:
    """Make the answer to a query, with the texts of the passages, its own unless others are given, that are in its rankings."""
    if passages is None:
        passages = passages_of(query)
    if not passages:
        return make_answer(rankings, query.text, query.params)
    found = {
        passage.key: (passage.doc, passage.folded)
        for passage in passages
        if any(passage.key in ranking for ranking in rankings)
    }
    return Answer(rankings, query.text, query.params, passages=found)
