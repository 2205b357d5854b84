"""Score rankings against judgments: `score` one ranking with one metric, `Scorer` many with several at once."""

from __future__ import annotations

from itertools import chain, compress
from math import inf

from pytest_irmetrics.metrics.formulas import NO_CUTOFF, Hits, MetricError, Profile
from pytest_irmetrics.metrics.names import FAMILIES, REL, parse_metric, unknown_parameter

TYPE_CHECKING = False  # typing alone would take longer to import than this module
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from pytest_irmetrics.metrics.formulas import Grade, Row
    from pytest_irmetrics.metrics.names import Formula, Metric

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

# Queries with up to this many judgments often share their scores with another query; those with more rarely do.
_MAX_SHARED_JUDGMENTS = 12
# In rankings up to this length, looking up each result is as fast as searching for each judged document.
_SHORT_RANKING = 16
# How often a ranking may be read through in search of judged documents, before each result is looked up instead.
_MAX_SEARCHES = 3
# Remembered rows of scores: of eight metrics, they take about 3 MB.
_MAX_ROWS = 4096
_RANKS = list(range(1, 1025))


def score(
    metric: Metric | str,
    judgments: Mapping[str, Grade],
    ranking: Sequence[str],
    *,
    relevance_level: Grade = 1,
) -> float | None:
    """Score one ranking with one metric; None only for a miss under `miss=skip`.

    `judgments` maps document ids to grades, `ranking` holds document ids, best first, none of them twice.
    `relevance_level`, above 0, is the lowest grade that counts as relevant in the binary metrics that have no `rel` of
    their own. Raises MetricError for what is no metric's name, and for a grade or a level that cannot be used.
    """
    if isinstance(metric, str):
        metric = parse_metric(metric)
    level, formula, k, parameter = _bind(metric, relevance_level)
    found = [(rank, judgments[document]) for rank, document in enumerate(ranking, 1) if document in judgments]
    return formula(Hits(found, len(ranking), Profile(judgments.values()), level), k, parameter)


class Scorer:
    """Several metrics over many queries, from one pass over each ranking.

    Bit-equal to `score`. `relevance_level`, above 0, is the lowest grade that counts as relevant in the binary
    metrics that have no `rel` of their own. Raises MetricError.
    """

    # How it is fast. The few judged documents are located in the ranking by C code, rather than each retrieved
    # id looked up; and queries whose judgments have the same grades, found at the same ranks, share one row of
    # scores: 100,000 queries have some 3,000 different ones. Queries with many judgments rarely repeat and are
    # scored directly; what is remembered is bounded.

    def __init__(self, metrics: Sequence[Metric | str], *, relevance_level: Grade = 1) -> None:
        self.metrics = tuple(
            parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics
        )
        bound = [_bind(metric, relevance_level) for metric in self.metrics]
        # Metrics of one relevance level share a view of the hits, and stand side by side in a row.
        self._groups: dict[Grade, list[tuple[Formula, int, object]]] = {}
        for level, formula, k, parameter in bound:
            self._groups.setdefault(level, []).append((formula, k, parameter))
        order = [at for level in self._groups for at, one in enumerate(bound) if one[0] == level]
        self._columns = [order.index(at) for at in range(len(bound))]
        self._by_length = any(map(_depends_on_length, self.metrics))
        self._profiles: dict[object, Profile] = {}
        self._rows: dict[object, dict[object, Row]] = {}
        self._row_count = 0

    def row(self, judgments: Mapping[str, Grade], ranking: Sequence[str]) -> list[float | None]:
        """Score one ranking: a value for each metric, in their order."""
        return [column[0] for column in self.columns((judgments,), (ranking,))]

    def columns(
        self,
        judgments: Iterable[Mapping[str, Grade]],
        rankings: Iterable[Sequence[str]],
    ) -> list[list[float | None]]:
        """Score many rankings: a column for each metric, in their order, with a value for each query.

        Raises MetricError with the position of the query at fault, and ValueError where there are not as many
        rankings as judgments.
        """
        rows: list[Row] = []
        try:
            self._append_rows(rows, judgments, rankings)
        except MetricError as error:
            error.index = len(rows)
            raise
        # Not zip(*rows): a hundred thousand iterators in step are ten times as slow.
        values = list(chain.from_iterable(rows))
        return [values[column :: len(self.metrics)] for column in self._columns]

    def _append_rows(
        self,
        rows: list[Row],
        judgments: Iterable[Mapping[str, Grade]],
        rankings: Iterable[Sequence[str]],
    ) -> None:
        """Score each ranking into a row, or take the row of an earlier query that has the same scores."""
        append = rows.append
        rows_by_grades = self._rows
        no_rows: dict[object, Row] = {}
        max_shared, short, by_length = _MAX_SHARED_JUDGMENTS, _SHORT_RANKING, self._by_length
        # What decides a row: the grades that were judged, and where in the ranking which of them are. Both take the
        # cheapest form that is unambiguous (a grade and an index; the grades at the first ranks; pairs of rank and
        # grade), which _score_and_remember knows.
        grades: Any
        positions: Any
        for judged, ranking in zip(judgments, rankings, strict=True):
            size = len(judged)
            if size == 1:
                ((document, grades),) = judged.items()
                try:
                    positions = ranking.index(document)
                except ValueError:
                    positions = -1
            elif size > max_shared:
                profile = Profile(judged.values())
                append(self._score(_look_up_results(judged, ranking), len(ranking), profile))
                continue
            elif len(ranking) <= short:
                grades = tuple(judged.values())
                positions = tuple(map(judged.get, ranking))
            else:
                grades = tuple(judged.values())
                positions = tuple(_search_judged(judged, ranking))
            if by_length:
                positions = (positions, len(ranking))
            row = rows_by_grades.get(grades, no_rows).get(positions)
            append(self._score_and_remember(grades, positions, judged, ranking) if row is None else row)

    def _score_and_remember(
        self, grades: Any, positions: Any, judged: Mapping[str, Grade], ranking: Sequence[str]
    ) -> Row:
        """Compute a row that has not been met before, and keep it for the next query that has the same scores."""
        if self._row_count >= _MAX_ROWS:
            self._rows.clear()
            self._profiles.clear()
            self._row_count = 0
        self._row_count += 1
        profile = self._profiles.get(grades)
        if profile is None:
            # One for all orders of the same grades.
            profile = Profile(judged.values())
            profile = self._profiles[grades] = self._profiles.setdefault(profile.grades, profile)
        self._rows[grades] = profile.rows
        row = profile.rows.get(positions)
        if row is None:
            at = positions[0] if self._by_length else positions
            if isinstance(at, int):
                found = [(at + 1, grades)] if at >= 0 else []
            else:
                short = len(ranking) <= _SHORT_RANKING
                found = _look_up_results(judged, ranking) if short else list(at)
            row = profile.rows[positions] = self._score(found, len(ranking), profile)
        return row

    def _score(self, found: list[tuple[int, Grade]], returned: int, profile: Profile) -> Row:
        """Compute the row of a ranking in which judged documents were found, as pairs of rank and grade."""
        row: list[float | None] = []
        for level, formulas in self._groups.items():
            hits = Hits(found, returned, profile, level)
            row += [formula(hits, k, parameter) for formula, k, parameter in formulas]
        return tuple(row)


def _bind(metric: Metric, relevance_level: Grade) -> tuple[Grade, Formula, int, object]:
    """Return a metric's relevance level, its formula, and the cut-off and parameter that the formula takes."""
    family = FAMILIES.get(metric.family)
    if family is None or family.formula is None:
        raise MetricError(f"{metric.name} is not computed from a ranking and its judgments alone.")
    given = dict(metric.parameters)
    for key in given:
        if key not in family.parameters:
            raise MetricError(f"{metric.name}: {unknown_parameter(family, key)}")
    level: object = given.pop("rel", relevance_level)
    if not isinstance(level, (int, float)) or not 0 < level < inf:
        raise MetricError(f"the relevance level {level!r} is not a number above 0. The usual one is 1.")
    parameter = next((one for one in family.parameters.values() if one is not REL), None)
    k = NO_CUTOFF if metric.cutoff is None else metric.cutoff
    return level, family.formula, k, parameter and given.get(parameter.name, parameter.default)


def _depends_on_length(metric: Metric) -> bool:
    """Tell whether a metric depends on how many results came back, beyond where the judged ones are."""
    whole = metric.cutoff is None and metric.family in {"precision", "f1"}
    return whole or metric.family == "judged" or ("denom", "retrieved") in metric.parameters


def _look_up_results(judged: Mapping[str, Grade], ranking: Sequence[str]) -> list[tuple[int, Grade]]:
    """Return rank and grade of the judged documents in a ranking, by looking up each result."""
    every = _RANKS if len(ranking) <= len(_RANKS) else range(1, len(ranking) + 1)
    ranks = compress(every, map(judged.__contains__, ranking))
    return [(rank, judged[ranking[rank - 1]]) for rank in ranks]


def _search_judged(judged: Mapping[str, Grade], ranking: Sequence[str]) -> list[tuple[int, Grade]]:
    """Return rank and grade of the judged documents in a ranking, by searching it for each while that is quicker."""
    left = _MAX_SEARCHES * len(ranking)
    index = ranking.index
    found = []
    for document, grade in judged.items():
        try:
            rank = index(document) + 1
        except ValueError:
            left -= len(ranking)
        else:
            left -= rank
            found.append((rank, grade))
        if left < 0:
            return _look_up_results(judged, ranking)
    found.sort()
    return found
