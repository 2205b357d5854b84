"""Choose the documents to judge next: those on which a metric's mean hangs most, or the difference between two runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import compare_with_itself
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.metrics import Metric, Scorer
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import is_further_chunk

_UNKNOWN_DOCUMENT = ""  # no document's id is empty, so no query judges it


class Unjudged(NamedTuple):
    """A returned document that its query does not judge."""

    query: Query
    doc_id: str
    influence: float
    """How much its rank adds to the metric's mean if it is relevant; see `pool`."""
    rank: int
    """The best of its ranks in the runs and their repeats, from 1."""
    settles: bool
    """Whether its judgment moves one of several runs further than another."""


def pool(
    golden: GoldenSet, runs: Sequence[Run], metric: Metric
) -> tuple[list[Unjudged], list[Collection[str]]]:
    """Return the unjudged documents in runs, in the order in which to judge them, and of each run the queries that it did not answer.

    By their ids; one in other words or with other params counts as not answered.

    What a document d is worth to the mean of a metric M in one run, of a query q with weight w and judgments J, is

        w / Σw · |M(J + d, ranking) − M(J + d, ranking with d replaced by an unknown document)|,

    where J + d grades d as the best document of the query: what the rank of d is worth if d is relevant. It is the
    average over a run's repeats. Not M(J + d) − M(J), which the ideal ranking of NDCG moves, too.

    The influence of a document is the largest of what it is worth in the runs; the most comes first. Last come those that
    settle nothing between the runs, as all return them at one rank; of queries that nobody has judged, what settles something
    comes before all others. Left out are documents below the metric's cut-off, forbidden ones, those of queries that are in
    no mean, and what is worth nothing. Equals are in the order of the ranks and of the file.
    """
    queries = [query for query in golden.queries.values() if query.xfail is None and not query.no_answer]
    total = math.fsum(query.weight for query in queries)
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    evaluations = [Evaluation(golden, Retrieved(run), (metric,), run.depth) for run in runs]
    unpaired: list[Collection[str]] = []
    for evaluation in evaluations:
        pairing = compare_with_itself(evaluation)
        skipped = {*pairing.new, *pairing.reworded}
        unpaired.append(dict.fromkeys(query.id for query in queries if query.id in skipped))
    found = []
    for query in queries:
        best = max([golden.relevance_level, *query.judgments.values()])
        answered = [one for one, ids in zip(evaluations, unpaired, strict=True) if query.id not in ids]
        worth: dict[str, list[float]] = {}
        """Document → its worth in each run that answered the query."""
        ranks: dict[str, int] = {}
        for number, evaluation in enumerate(answered):
            rankings = [ranking[: metric.cutoff] for ranking in evaluation.rankings(query.id)]
            known = {*query.judgments, *query.forbidden, *evaluation.run.answers[query.id].passages}
            places = ((ranking, *place) for ranking in rankings for place in enumerate(ranking, 1))
            for ranking, rank, doc_id in places:
                # A further chunk of a document is no other document.
                if not (doc_id in known or (not query.passages and is_further_chunk(doc_id, ranking))):
                    without = (*ranking[: rank - 1], _UNKNOWN_DOCUMENT, *ranking[rank:])
                    judgments = {**query.judgments, doc_id: best}
                    [high], [low] = scorer.row(judgments, ranking), scorer.row(judgments, without)
                    added = abs((high or 0.0) - (low or 0.0)) * query.weight / len(rankings)
                    worth.setdefault(doc_id, [0.0] * len(answered))[number] += added
                    ranks[doc_id] = min(rank, ranks.get(doc_id, rank))
        # By id, so that the order of equals favours no run.
        for doc_id, worths in sorted(worth.items()):
            influence, settles = max(worths) / total, max(worths) - min(worths) > TOLERANCE * total
            if influence > TOLERANCE:
                found.append(Unjudged(query, doc_id, influence, ranks[doc_id], settles))
    return sorted(found, key=_order), unpaired


def _order(one: Unjudged) -> tuple[bool, bool, float, int]:
    """Return the sort key of a document: what settles something, of queries that nobody has judged before others; influence; rank. cli/label.py says so."""
    is_first = one.settles and one.query.is_unjudged
    return not is_first, not one.settles, -round(one.influence, 12), one.rank
