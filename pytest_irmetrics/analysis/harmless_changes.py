"""Simulate changes of a stored run that harm nothing on the whole, to count how many of them a limit would fail.

Scores of another weighting or analyser move documents that are close to each other, those far down more than those at the
top. So the logarithm of each rank is moved at random, and documents from below the last rank may come in. Of 50 harmless
changes between weights of the example's engine, with 1 to 16 % of the results exchanged, 18 lose a query; so do 70
of 160 of these, with 12 %.
"""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.degradations import Corpus
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric

_CHANGES = 20
"""How many changes are wanted."""

_FEWEST = 5
_TRIES = 60
_MOST_QUERIES = 20_000
"""From so many queries on, over all tries, a large golden set gets fewer changes."""

_SPREAD = 0.3
"""The standard deviation of the logarithm of a rank: it exchanges 12 % of ten results, as much as other weights do."""


class HarmlessChanges(NamedTuple):
    """How many queries each simulated change loses, and the share of the results that they exchange on average."""

    lost: list[int]
    exchanged: float

    def failing(self, max_lost: int) -> int:
        """Return how many of the changes lose more queries than are allowed."""
        return sum(lost > max_lost for lost in self.lost)


def harmless_changes(intact: Evaluation, metric: Metric, allowed: float) -> HarmlessChanges | None:
    """Shuffle all rankings a little, again and again, and keep the changes that move the mean by ``allowed`` at most.

    None where too few of them do. The same on every machine: the seed is a hash of the try's number and the query's id.
    """
    intact = intact.narrowed(metrics=[metric])
    queries = [query for query in intact.counted if not query.no_answer]
    corpus = Corpus(intact)
    longer = {
        query.id: [
            (len(ranking), _with_more(query, ranking, corpus)) for ranking in intact.rankings(query.id)
        ]
        for query in queries
    }
    lost: list[int] = []
    shares: list[float] = []
    for number in range(max(_FEWEST, min(_TRIES, _MOST_QUERIES // max(1, len(queries))))):
        answers = dict(intact.run.answers)
        for query_id, rankings in longer.items():
            shuffled = tuple(_shuffled(docs, f"{number} {query_id}")[:size] for size, docs in rankings)
            answers[query_id] = replace(answers[query_id], rankings=shuffled)
        now = replace(
            intact, retrieved=replace(intact.retrieved, run=Run.of(answers, depth=intact.run.depth))
        )
        change = Comparison(now, intact).change(metric)
        if abs(change.delta) <= allowed + TOLERANCE:
            lost.append(len(change.lost))
            shares.append(_exchanged(intact, now, queries))
        if len(lost) == _CHANGES:
            break
    return HarmlessChanges(lost, math.fsum(shares) / len(shares)) if len(lost) >= _FEWEST else None


def _with_more(query: Query, ranking: Sequence[str], corpus: Corpus) -> tuple[str, ...]:
    """Append as many documents as there are, in any order: those with a grade that were missed, and unjudged ones."""
    size = len(ranking)
    missed = [doc for doc, grade in query.judgments.items() if grade > 0 and doc not in ranking]
    more = [*sorted(missed)[:size], *corpus.unjudged(query, ranking, max(0, size - len(missed)))]
    draw = _random(query.id)
    return (*ranking, *[doc for _, doc in sorted((draw.random(), doc) for doc in more)])


def _shuffled(docs: Sequence[str], seed: str) -> tuple[str, ...]:
    """Add logistic noise to the logarithm of each rank."""
    draw = _random(seed)
    keyed = []
    for rank, doc in enumerate(docs, start=1):
        uniform = max(draw.random(), 1e-12)
        logistic = math.log(uniform / (1 - uniform)) * math.sqrt(3) / math.pi
        keyed.append((math.log(rank) + _SPREAD * logistic, doc))
    return tuple(doc for _, doc in sorted(keyed))


def _random(seed: str) -> random.Random:
    """Return a generator of which ``random()`` alone may be used: it is the same in every version of Python."""
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - nothing secret


def _exchanged(before: Evaluation, now: Evaluation, queries: Sequence[Query]) -> float:
    """Return the share of the results that are no longer returned."""
    pairs = [
        (set(then), set(today))
        for query in queries
        for then, today in zip(before.rankings(query.id), now.rankings(query.id), strict=True)
    ]
    return sum(len(then - today) for then, today in pairs) / max(1, sum(len(then) for then, _ in pairs))
