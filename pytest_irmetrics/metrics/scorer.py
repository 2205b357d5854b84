"""Score rankings against judgments: one or many, with several metrics at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress, count
from typing import Any

from pytest_irmetrics.metrics.formulas import FAMILIES, NO_CUTOFF, REL, Grade, Hits, best_first
from pytest_irmetrics.metrics.names import Metric, parse_metric

Row = list[float | None]
"""The scores of one ranking, one for each metric."""


# Queries with up to so many judgments often score alike: of 100,000 some 3,000 rows differ, which are computed once.
_MAX_SHARED = 3


class Scorer:
    """Several metrics of rankings over many queries, from one pass over each ranking.

    `relevance_level`, above 0, is the lowest grade that counts as relevant in the binary metrics that have no `rel` of
    their own.
    """

    def __init__(self, metrics: Sequence[Metric | str], *, relevance_level: Grade = 1) -> None:
        parsed = [parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
        self._bound = [_bind(metric, relevance_level) for metric in parsed]
        self._levels = {level for level, *_ in self._bound}

    def row(self, judgments: Mapping[str, Grade], ranking: Sequence[str]) -> Row:
        """Score one ranking: a value for each metric, in their order."""
        ranks = compress(count(1), map(judgments.__contains__, ranking))
        found = [(rank, judgments[ranking[rank - 1]]) for rank in ranks]
        return self._score(found, len(ranking), judgments.values())

    def _score(self, found: Sequence[tuple[int, Grade]], length: int, grades: Iterable[Grade]) -> Row:
        """Score one ranking by the ranks and grades of its judged documents, its length, and all judged grades."""
        ordered = best_first(grades)
        hits = {level: Hits(found, length, ordered, level) for level in self._levels}
        return [formula(hits[level], k, parameter) for level, formula, k, parameter in self._bound]

    def columns(
        self, judgments: Iterable[Mapping[str, Grade]], rankings: Iterable[Sequence[str]]
    ) -> list[list[float | None]]:
        """Score many rankings: a column for each metric, in their order, with a value for each query.

        Raises MetricError for a grade that cannot be used, and ValueError where there are not as many rankings as
        judgments.
        """
        rows: list[Row] = []
        shared: dict[tuple[Grade, ...], Row] = {}
        for judged, ranking in zip(judgments, rankings, strict=True):
            if len(judged) > _MAX_SHARED:
                rows.append(self.row(judged, ranking))
                continue
            # All that the scores depend on: to search for few is faster than to look up each result.
            key = [len(ranking), *judged.values()]
            for doc in judged:
                key.append(ranking.index(doc) if doc in ranking else -1)  # noqa: PERF401 - in half the time of a list
            known = tuple(key)
            row = shared.get(known)
            if row is None:
                places = zip(known[1 + len(judged) :], judged.values(), strict=True)
                found = sorted([(int(place) + 1, grade) for place, grade in places if place >= 0])
                row = shared[known] = self._score(found, len(ranking), judged.values())
            rows.append(row)
        values = list(chain.from_iterable(rows))
        return [values[column :: len(self._bound)] for column in range(len(self._bound))]


def _bind(metric: Metric, relevance_level: Grade) -> tuple[Any, Any, int, object]:
    """Return a metric's relevance level, its formula, and the cut-off and parameter that the formula takes."""
    family, given = FAMILIES[metric.family], dict(metric.parameters)
    parameter = next((one for one in family.parameters if one is not REL), None)
    k = NO_CUTOFF if metric.cutoff is None else metric.cutoff
    setting = parameter and given.get(parameter.name, parameter.default)
    return given.get("rel", relevance_level), family.formula, k, setting
