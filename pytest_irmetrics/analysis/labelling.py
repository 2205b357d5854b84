"""Which documents should be judged next: those that nobody judged and on which the scores hang most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.metrics import Scorer
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Grade, Metric
    from pytest_irmetrics.run import Run

_NOTHING = ""  # in a ranking: what no query judges, since no document's id is empty


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A returned document that its query does not judge."""

    query: Query
    doc_id: str
    influence: float
    """How much of the set's mean hangs on its rank if it is relevant, on the metric's own scale."""
    ranks: tuple[int | None, ...]
    """By run, from 1, the best of the run's repeats; None where the run does not return it."""

    @property
    def rank(self) -> int:
        """The best of its ranks."""
        return min(rank for rank in self.ranks if rank is not None)


@dataclass(frozen=True, slots=True)
class Pool:
    """What some runs returned for a golden set, as deep as a metric looks."""

    unjudged: tuple[Unjudged, ...]
    """The most influential first."""
    returned: int
    """How many pairs of query and document were returned, judged or not."""
    unpaired: tuple[tuple[str, ...], ...]
    """By run, the ids of the queries that it did not answer, or answered in other words or with other params."""


def pool(golden: GoldenSet, runs: Sequence[Run], metric: Metric) -> Pool:
    """Find the unjudged documents in runs, and order them by their influence on a metric's mean.

    The influence of a document d on the mean of a metric M, of a query q with weight w and judgments J, is

        w / Σw · |M(J + d, ranking) − M(J + d, ranking with d replaced by a document of no use)|,

    where J + d grades d as the best document of the query: what the rank of d is worth if d is relevant. It is the
    average over a run's repeats, and the largest of the runs. Not M(J + d) − M(J): under that a document directly below
    the only relevant one has no influence on NDCG, and one at the last rank a great deal, through the ideal ranking.

    Documents below the metric's cut-off, forbidden ones, chunks of documents that are judged by passage, and those of
    queries that are in no mean (`no_answer`, `xfail`) are left out, and so is what has no influence. Equals are in the
    order of the ranks and of the file.
    """
    found: dict[tuple[str, str], list[float]] = {}
    ranks: dict[tuple[str, str], list[int | None]] = {}
    seen: set[tuple[str, str]] = set()
    unpaired = []
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    total = 0.0
    for number, run in enumerate(runs):
        evaluation = evaluate_run(golden, run, [metric], depth=run.depth)
        queries = evaluation.queries(metric)
        total = math.fsum(query.weight for query in queries)
        pairing = compare(evaluation, evaluation)  # the query as it is now with the one that was asked
        apart = {*pairing.new, *pairing.reworded}
        unpaired.append(tuple(query.id for query in queries if query.id in apart))
        asked: list[_Asked] = []
        for query in queries:
            if query.id in apart:
                continue
            rankings = [ranking[: metric.cutoff] for ranking in evaluation.rankings(query.id)]
            for ranking in rankings:
                seen.update((query.id, doc_id) for doc_id in ranking)
                asked += _asked(query, ranking, len(rankings), golden.relevance_level)
        with_it = scorer.columns((one.judgments for one in asked), (one.ranking for one in asked))[0]
        without = scorer.columns((one.judgments for one in asked), (one.without for one in asked))[0]
        for one, high, low in zip(asked, with_it, without, strict=True):
            key = one.query.id, one.ranking[one.rank - 1]
            worth = abs((high or 0.0) - (low or 0.0)) * one.query.weight / one.repeats
            found.setdefault(key, [0.0] * len(runs))[number] += worth
            of_runs = ranks.setdefault(key, [None] * len(runs))
            of_runs[number] = min(one.rank, of_runs[number] or one.rank)
    unjudged = [
        Unjudged(golden.queries[query_id], doc_id, max(worths) / total, tuple(ranks[query_id, doc_id]))
        for (query_id, doc_id), worths in found.items()
        if max(worths) / total > TOLERANCE
    ]
    order = {query_id: place for place, query_id in enumerate(golden.queries)}
    unjudged.sort(key=lambda one: (-round(one.influence, 12), one.rank, order[one.query.id], one.doc_id))
    return Pool(tuple(unjudged), len(seen), tuple(unpaired))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One unjudged document in one ranking."""

    query: Query
    best: Grade
    ranking: Sequence[str]
    rank: int
    repeats: int

    @property
    def judgments(self) -> Mapping[str, Grade]:
        """Those of the query, and the best of its grades for this document."""
        return {**self.query.judgments, self.ranking[self.rank - 1]: self.best}

    @property
    def without(self) -> Sequence[str]:
        """The ranking with a document of no use in its place."""
        return (*self.ranking[: self.rank - 1], _NOTHING, *self.ranking[self.rank :])


def _asked(query: Query, ranking: Sequence[str], repeats: int, level: Grade) -> Iterator[_Asked]:
    best = max(level, *query.judgments.values())
    for rank, doc_id in enumerate(ranking, 1):
        # A chunk is no document: what it says is judged by passage.
        is_chunk = bool(query.passages) and document_of(doc_id) != doc_id
        if not is_chunk and doc_id not in query.judgments and doc_id not in query.forbidden:
            yield _Asked(query, best, ranking, rank, repeats)
