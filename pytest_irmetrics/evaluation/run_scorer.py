"""Score the answers of a run: many queries at once by the ranking metrics, or one query by any metric but a latency."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_irmetrics.evaluation.errors import EvaluationError
from pytest_irmetrics.metrics import Scorer, mean_of_scored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.evaluation.ranking_reader import RankingReader
    from pytest_irmetrics.golden import CountedQueries, Query
    from pytest_irmetrics.metrics import Grade, Metric

    Column = list[float | None]
    """The scores of one metric, a query each; None where the metric leaves the query out."""

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

CustomMetrics = Mapping[str, Callable[..., float]]
"""Name → function, of the user's own metrics."""

_MAX_SCORE = 1e100  # of a metric of the user's own: sums of weighted squares are still finite doubles


class RunScorer:
    """Scores the answers of one run; a query that was asked several times has the average of its repeats.

    `level` is the lowest grade that counts as relevant, `custom` has the functions of the user's own metrics.
    """

    def __init__(self, reader: RankingReader, level: Grade, custom: CustomMetrics) -> None:
        self._reader = reader
        self._level = level
        self._custom = custom

    def answerable_columns(self, metrics: Sequence[Metric], counted: CountedQueries) -> list[Column]:
        """Return a column for each ranking metric, over all queries that have an answer."""
        rankings = self._reader.read_single(counted.ids("ranking"))
        if rankings is None:
            return self.columns(metrics, counted.of_kind("ranking"))
        return self._scorer(metrics).columns(counted.judgments("ranking"), rankings)

    def columns(self, metrics: Sequence[Metric], queries: Sequence[Query]) -> list[Column]:
        """Return a column for each ranking metric, over these queries."""
        scorer = self._scorer(metrics)
        rankings = self._reader.read_all(queries)
        judgments = [query.judgments for query in queries]
        if max(map(len, rankings), default=1) == 1:
            return scorer.columns(judgments, [ranking for (ranking,) in rankings])
        flat = scorer.columns(
            [judged for judged, asked in zip(judgments, rankings, strict=True) for _ in asked],
            [ranking for asked in rankings for ranking in asked],
        )
        return [_average_repeats(column, map(len, rankings)) for column in flat]

    def repeats(self, metric: Metric, queries: Sequence[Query]) -> dict[str, Column]:
        """Return query id → its scores by a ranking metric, one for each time that it was asked."""
        asked = [(query, ranking) for query in queries for ranking in self._reader.read(query.id)]
        (column,) = self._scorer([metric]).columns(
            [query.judgments for query, _ in asked], [ranking for _, ranking in asked]
        )
        scores: dict[str, Column] = {}
        for (query, _), score in zip(asked, column, strict=True):
            scores.setdefault(query.id, []).append(score)
        return scores

    def repeats_of_query(self, metric: Metric, query: Query) -> Column:
        """Return the scores of one query, one for each time that it was asked, by any metric but a latency."""
        rankings = self._reader.read(query.id)
        if metric.kind == "no_answer":
            return [float(not ranking) for ranking in rankings]
        if metric.kind == "custom":
            return [self._score_custom(metric, query, ranking) for ranking in rankings]
        scorer = self._scorer([metric])
        return [scorer.row(query.judgments, ranking)[0] for ranking in rankings]

    def score(self, metric: Metric, query: Query) -> float | None:
        """Return the score of one query by any metric but a latency; None where the metric leaves it out."""
        return mean_of_scored(self.repeats_of_query(metric, query))

    def _scorer(self, metrics: Sequence[Metric]) -> Scorer:
        return Scorer(metrics, relevance_level=self._level)

    def _score_custom(self, metric: Metric, query: Query, ranking: Sequence[str]) -> float:
        """Score one ranking with a metric of the user's own. Raises EvaluationError where that fails or is no number."""
        cut = tuple(ranking if metric.cutoff is None else ranking[: metric.cutoff])
        seen = replace(
            query, judgments=MappingProxyType(query.judgments), params=MappingProxyType(query.params)
        )
        try:
            value = self._custom[metric.family](seen, cut, metric.cutoff, **dict(metric.parameters))
            number = _as_float(value)
        except Exception as error:
            raise EvaluationError(
                f"the metric {metric.name} raised {type(error).__name__} on the query {query.id!r}: {error}. "
                "A metric of your own takes (query, ranking, k, **parameters) and returns a number."
            ) from error
        if not abs(number) <= _MAX_SCORE:  # as is the case with NaN
            limit = f", of at most {_MAX_SCORE:g}" if math.isfinite(number) else ""
            raise EvaluationError(
                f"the metric {metric.name} returned {number:g} for the query {query.id!r}. "
                f"A metric of your own returns a finite number{limit}."
            )
        return number


def _as_float(value: float) -> float:
    """Return a number as a float; infinity for an integer or a fraction that none holds."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _average_repeats(column: Column, counts: Iterable[int]) -> Column:
    """Average each query's scores, which are adjacent in the column; `counts` says how many each query has."""
    averages: Column = []
    start = 0
    for count in counts:
        averages.append(mean_of_scored(column[start : start + count]))
        start += count
    return averages
