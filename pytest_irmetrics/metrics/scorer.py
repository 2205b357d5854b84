"""Score rankings against judgments: one or many, with several metrics at once."""

from __future__ import annotations

from itertools import chain, compress, count, starmap
from math import inf
from typing import TYPE_CHECKING

from pytest_irmetrics.metrics.formulas import FAMILIES, NO_CUTOFF, REL, Hits, MetricError, Profile
from pytest_irmetrics.metrics.names import parse_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_irmetrics.metrics.formulas import Formula, Grade
    from pytest_irmetrics.metrics.names import Metric

    Row = list[float | None]
    """The scores of one ranking, one for each metric."""

# Up to so many judged documents are searched for in a ranking: that is faster than to look up each result.
_MAX_SEARCHED = 3
# Queries with up to so many judgments often have the scores of another query: of 100,000 some 3,000 are different.
_MAX_SHARED_JUDGMENTS = 12
_MAX_SHARED_ROWS = 10_000


class Scorer:
    """Several metrics over many queries, from one pass over each ranking.

    `relevance_level`, above 0, is the lowest grade that counts as relevant in the binary metrics that have no `rel` of
    their own. Raises MetricError.
    """

    def __init__(self, metrics: Sequence[Metric | str], *, relevance_level: Grade = 1) -> None:
        self.metrics = tuple(
            parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics
        )
        self._bound = [_bind(metric, relevance_level) for metric in self.metrics]
        self._levels = {level for level, *_ in self._bound}
        self._rows: dict[object, Row] = {}

    def row(self, judgments: Mapping[str, Grade], ranking: Sequence[str]) -> Row:
        """Score one ranking: a value for each metric, in their order."""
        # Rank and grade of the judged documents, in the ranking's order.
        if len(judgments) > _MAX_SEARCHED:
            ranks = compress(count(1), map(judgments.__contains__, ranking))
            found = [(rank, judgments[ranking[rank - 1]]) for rank in ranks]
        else:
            found = [(ranking.index(doc) + 1, grade) for doc, grade in judgments.items() if doc in ranking]
            if len(found) > 1:
                found.sort()
        if len(judgments) > _MAX_SHARED_JUDGMENTS:
            return self._score(judgments, found, len(ranking))
        # All that the scores depend on.
        key = tuple(judgments.values()), tuple(found), len(ranking)
        row = self._rows.get(key)
        if row is None:
            row = self._score(judgments, found, len(ranking))
            if len(self._rows) < _MAX_SHARED_ROWS:
                self._rows[key] = row
        return row

    def columns(
        self,
        judgments: Iterable[Mapping[str, Grade]],
        rankings: Iterable[Sequence[str]],
    ) -> list[list[float | None]]:
        """Score many rankings: a column for each metric, in their order, with a value for each query.

        Raises MetricError for a grade that cannot be used, and ValueError where there are not as many rankings as
        judgments.
        """
        values = list(chain.from_iterable(starmap(self.row, zip(judgments, rankings, strict=True))))
        return [values[column :: len(self.metrics)] for column in range(len(self.metrics))]

    def _score(
        self, judgments: Mapping[str, Grade], found: Sequence[tuple[int, Grade]], returned: int
    ) -> Row:
        profile = Profile(judgments.values())
        hits = {level: Hits(found, returned, profile, level) for level in self._levels}
        return [formula(hits[level], k, parameter) for level, formula, k, parameter in self._bound]


def _bind(metric: Metric, relevance_level: Grade) -> tuple[Grade, Formula, int, object]:
    """Return a metric's relevance level, its formula, and the cut-off and parameter that the formula takes."""
    family = FAMILIES.get(metric.family)
    if family is None or family.formula is None:
        raise MetricError(f"{metric.name} is not computed from a ranking and its judgments alone.")
    given = dict(metric.parameters)
    level: object = given.pop("rel", relevance_level)
    if not isinstance(level, (int, float)) or not 0 < level < inf:
        raise MetricError(f"the relevance level {level!r} is not a number above 0. The usual one is 1.")
    parameter = next((one for one in family.parameters if one is not REL), None)
    k = NO_CUTOFF if metric.cutoff is None else metric.cutoff
    return level, family.formula, k, parameter and given.get(parameter.name, parameter.default)
