"""Score rankings against judgments, with several metrics at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, count
from typing import Any

from pytest_irmetrics.metrics.formulas import FAMILIES, NO_CUTOFF, REL, Grade, Hits, best_first
from pytest_irmetrics.metrics.names import Metric, parse_metric

Row = tuple[float | None, ...]
"""The scores of one ranking, one for each metric."""

_FEW = 3
"""Queries with up to so many judgments often score alike: of 100,000 some 3,000 rows differ."""


class Scorer:
    """Several metrics of the kind `ranking` over many queries, from one pass over each ranking; one for all of them is fastest.

    `relevance_level`, above 0, is the lowest grade that counts as relevant in the binary metrics that have no `rel` of
    their own.
    """

    def __init__(self, metrics: Sequence[Metric | str], *, relevance_level: Grade = 1) -> None:
        parsed = [parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
        self._bound = [_bind(metric, relevance_level) for metric in parsed]
        self._rows: dict[tuple[Any, ...], Row] = {}

    def row(self, judgments: Mapping[str, Grade], ranking: Sequence[str]) -> Row:
        """Score one ranking: a value for each metric, in their order. Raises MetricError for a grade that cannot be used."""
        if len(judgments) > _FEW:
            ids = tuple(ranking)
            found = compress(count(1), map(judgments.__contains__, ids))
            judged = [(rank, judgments[ids[rank - 1]]) for rank in found]
            return self._score(judged, len(ids), judgments.values())
        # All that scores depend on: the ranking's length, then rank (0: none) and grade of each judged document.
        key: tuple[Any, ...] = (len(ranking),)
        for doc, grade in judgments.items():  # to search for few is faster than to look up each result
            key += (ranking.index(doc) + 1 if doc in ranking else 0, grade)
        if (row := self._rows.get(key)) is None:
            judged = sorted((rank, grade) for rank, grade in zip(key[1::2], key[2::2], strict=True) if rank)
            row = self._rows[key] = self._score(judged, len(ranking), key[2::2])
        return row

    def _score(self, found: Sequence[tuple[int, Grade]], length: int, grades: Iterable[Grade]) -> Row:
        """Score one ranking by the ranks and grades of its judged documents, its length, and all judged grades."""
        ordered = best_first(grades)
        row: list[float | None] = []
        hits: dict[Grade, Hits] = {}
        for level, formula, k, parameter in self._bound:
            if level not in hits:
                hits[level] = Hits(found, length, ordered, level)
            row.append(formula(hits[level], k, parameter))
        return tuple(row)


def _bind(metric: Metric, relevance_level: Grade) -> tuple[Any, Any, int, object]:
    """Return a metric's relevance level, its formula, its cut-off, and its parameter: one at most besides `rel`."""
    family, given = FAMILIES[metric.family], dict(metric.parameters)
    parameter = next((one for one in family.parameters if one is not REL), None)
    k = NO_CUTOFF if metric.cutoff is None else metric.cutoff
    setting = parameter and given.get(parameter.name, parameter.default)
    return given.get("rel", relevance_level), family.formula, k, setting
