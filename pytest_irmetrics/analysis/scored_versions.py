"""Score the versions of one baseline under one golden set; a query that two versions answer alike is scored once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.comparison import Comparison, compare
from pytest_irmetrics.comparison.stored_queries import is_answer_to, stored_query
from pytest_irmetrics.evaluation import Evaluation, evaluate_run
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.metrics import mean_of_scored
from pytest_irmetrics.run import Answer, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_irmetrics.metrics import Metric

_Key = tuple[str, "str | None", str]
"""What queries pair by: id, text and params."""


@dataclass(slots=True)
class ScoredAnswer:
    """A stored answer, with its scores."""

    query_id: str
    key: _Key
    answer: Answer
    scores: Sequence[float | None]
    """By metric; all None for a query that is in no mean."""
    weight: float
    is_todays: bool
    """Whether today's golden set holds the query in these words."""


@dataclass(slots=True)
class ScoredVersion:
    """One version of a baseline."""

    run: Run
    by_key: Mapping[_Key, ScoredAnswer]


Pairs = list[tuple[ScoredAnswer, ScoredAnswer]]
"""The answers to the queries that two versions hold, the earlier version's first."""


class VersionScorer:
    """Scores versions of one baseline, read from newest to oldest, under today's golden set.

    Queries that today's golden set does not hold are judged as they were when they were stored last.
    """

    def __init__(self, golden: GoldenSet, metrics: Sequence[Metric], depth: int | None) -> None:
        """`depth` is that at which all versions are read."""
        self.golden = golden
        self.metrics = tuple(metrics)
        self.depth = depth
        self.any_repeated = False
        """Whether any query of the versions so far was asked more than once."""
        self._gone: dict[_Key, Query] = {}
        self._scored: dict[int, ScoredAnswer] = {}

    def score(self, run: Run) -> ScoredVersion:
        """Return a version's scored answers; an Answer that was scored before is taken from there."""
        known = self._scored
        fresh = {i: answer for i, answer in run.answers.items() if id(answer) not in known}
        if fresh:
            self._score_answers(fresh)
        scored = [known[id(answer)] for answer in run.answers.values()]
        return ScoredVersion(run, {one.key: one for one in scored})

    def _score_answers(self, answers: Mapping[str, Answer]) -> None:
        """Score answers and keep them, each query under today's judgments, or those that it had last."""
        keys = {query_id: _key(query_id, answer) for query_id, answer in answers.items()}
        queries: dict[str, Query] = {}
        for query_id, answer in answers.items():
            todays = self.golden.queries.get(query_id)
            if todays is not None and is_answer_to(answer, todays):
                queries[query_id] = todays
            else:  # the first that is met is the last that was stored
                queries[query_id] = self._gone.setdefault(keys[query_id], stored_query(query_id, answer))
        scores = self._scores(queries, answers)
        for query_id, answer in answers.items():
            query = queries[query_id]
            is_todays = query is self.golden.queries.get(query_id)
            self.any_repeated = self.any_repeated or len(answer.rankings) > 1
            self._scored[id(answer)] = ScoredAnswer(
                query_id, keys[query_id], answer, scores[query_id], query.weight, is_todays
            )

    def _scores(
        self, queries: Mapping[str, Query], answers: Mapping[str, Answer]
    ) -> dict[str, list[float | None]]:
        """Return the scores of some answers by each metric, under the judgments that these queries have."""
        golden = GoldenSet(queries.values(), relevance_level=self.golden.relevance_level)
        evaluation = self.evaluate(Run.of(answers, self.depth), golden)
        scores: dict[str, list[float | None]] = {query_id: [None] * len(self.metrics) for query_id in queries}
        for at, metric in enumerate(self.metrics):
            for query, score in evaluation.scored(metric):
                scores[query.id][at] = score
        return scores

    def evaluate(self, run: Run, golden: GoldenSet | None = None) -> Evaluation:
        """Evaluate a run under today's golden set, or another."""
        return evaluate_run(golden or self.golden, run, self.metrics, depth=self.depth)

    def comparison(self, before: Run, after: Run) -> Comparison:
        """Compare two versions over the queries that today's golden set holds."""
        return compare(self.evaluate(after), self.evaluate(before))

    def as_judged_before(self, pairs: Pairs, relabelled: Pairs) -> Pairs:
        """Return the pairs with those that were relabelled scored under the judgments stored with the earlier version."""
        queries = {one.query_id: stored_query(one.query_id, one.answer) for one, _ in relabelled}
        before = self._scores(queries, {one.query_id: one.answer for one, _ in relabelled})
        after = self._scores(queries, {other.query_id: other.answer for _, other in relabelled})
        return [
            (replace(one, scores=before[one.query_id]), replace(other, scores=after[one.query_id]))
            if one.query_id in queries
            else (one, other)
            for one, other in pairs
        ]

    # Means.

    def means(self, scored: Iterable[ScoredAnswer]) -> dict[str, float | None]:
        """Return the mean of each metric over some answers; None where it has none to average over."""
        answers = list(scored)
        weights = [one.weight for one in answers]
        found: dict[str, float | None] = dict.fromkeys(metric.name for metric in self.metrics)
        for metric, column in zip(self.metrics, _columns(answers), strict=False):
            found[metric.name] = mean_of_scored(column, weights)
        return found

    def changes(self, pairs: Pairs) -> dict[str, float | None]:
        """Return how far each mean moved over paired queries; None where it pairs none."""
        found: dict[str, float | None] = dict.fromkeys(metric.name for metric in self.metrics)
        before, after = _columns([one for one, _ in pairs]), _columns([other for _, other in pairs])
        weights = [other.weight for _, other in pairs]
        total = math.fsum(weights)
        moved = [at for at, (one, other) in enumerate(pairs) if one is not other]
        for metric, old, new in zip(self.metrics, before, after, strict=False):
            weight = total
            if None in old or None in new:
                both = zip(weights, old, new, strict=True)
                counted = [part for part, one, other in both if one is not None and other is not None]
                if not counted:
                    continue
                weight = math.fsum(counted)
            gained = [
                weights[at] * (now - then)
                for at in moved
                if (then := old[at]) is not None and (now := new[at]) is not None
            ]
            found[metric.name] = math.fsum(gained) / weight
        return found


def _columns(answers: Sequence[ScoredAnswer]) -> list[tuple[float | None, ...]]:
    """Return the scores of some answers by metric; an empty list for no answers."""
    return list(zip(*[one.scores for one in answers], strict=True))


def paired(before: ScoredVersion, after: ScoredVersion) -> Pairs:
    """Return the answers of the queries that both versions hold in the same words."""
    old = before.by_key
    return [(old[key], one) for key, one in after.by_key.items() if key in old]


def _key(query_id: str, answer: Answer) -> _Key:
    return query_id, answer.text, repr(sorted(answer.params.items())) if answer.params else ""
