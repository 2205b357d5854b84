"""CountedQueries: the queries of a golden set that count in means, with what a mean needs of them as columns."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Grade


class CountedQueries:
    """The queries of a golden set that count in means: all but the ``xfail`` ones; with `only`, those of them with these ids.

    A metric's kind says which of them it scores: ``no_answer`` those that have no answer, ``latency`` all, and any
    other those that have one. Their order, the golden set's, is that of a metric's column of scores.
    """

    def __init__(
        self,
        golden_queries: Mapping[str, Query],
        only: frozenset[str] | None = None,
        superset: CountedQueries | None = None,
    ) -> None:
        self._golden_queries = golden_queries
        self._only = only
        # It counts these queries and more: its tuple is filtered rather than the golden set.
        self._superset = superset
        self._ids: dict[str, list[str]] = {}
        self._judgments: dict[str, Sequence[Mapping[str, Grade]]] = {}
        self._weights: dict[str, list[float]] = {}
        self._position_by_id: dict[str, dict[str, int]] = {}
        self._positions_by_tag: dict[str, dict[str, list[int]]] = {}

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The queries that count, in the golden set's order."""
        if self._superset is not None:
            queries = self._superset.queries
        else:
            queries = tuple([query for query in self._golden_queries.values() if query.xfail is None])
        only = self._only
        return queries if only is None else tuple([query for query in queries if query.id in only])

    @cached_property
    def _answerable(self) -> tuple[Query, ...]:
        return tuple([query for query in self.queries if not query.no_answer])

    @cached_property
    def _unanswerable(self) -> tuple[Query, ...]:
        return tuple([query for query in self.queries if query.no_answer])

    def of_kind(self, kind: str) -> tuple[Query, ...]:
        """Return the queries that metrics of a kind score."""
        if kind == "latency":
            return self.queries
        return self._unanswerable if kind == "no_answer" else self._answerable

    def positions(self, kind: str, tag: str) -> Sequence[int]:
        """Return the positions in a column of the queries with a tag."""
        by_tag = self._positions_by_tag.get(kind)
        if by_tag is None:
            by_tag = self._positions_by_tag[kind] = {}
            for position, query in enumerate(self.of_kind(kind)):
                for one in query.tags:
                    by_tag.setdefault(one, []).append(position)
        return by_tag.get(tag, ())

    def position_by_id(self, kind: str) -> Mapping[str, int]:
        """Return query id → its position in a column."""
        positions = self._position_by_id.get(kind)
        if positions is None:
            positions = {query.id: position for position, query in enumerate(self.of_kind(kind))}
            self._position_by_id[kind] = positions
        return positions

    def ids(self, kind: str) -> list[str]:
        """Return the ids of the queries of a column, in its order."""
        ids = self._ids.get(kind)
        if ids is None:
            ids = self._ids[kind] = [query.id for query in self.of_kind(kind)]
        return ids

    def judgments(self, kind: str) -> Sequence[Mapping[str, Grade]]:
        """Return the judgments of the queries of a column, in its order."""
        judgments = self._judgments.get(kind)
        if judgments is None:
            judgments = self._judgments[kind] = [query.judgments for query in self.of_kind(kind)]
        return judgments

    @cached_property
    def weighted(self) -> bool:
        """Whether any of the queries has a weight other than 1, so that a mean has to look at the weights."""
        return any(query.weight != 1.0 for query in self.queries)

    def weights(self, kind: str) -> Sequence[float]:
        """Return the weights of the queries of a column, in its order."""
        weights = self._weights.get(kind)
        if weights is None:
            weights = self._weights[kind] = [query.weight for query in self.of_kind(kind)]
        return weights

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of the queries that count, sorted."""
        return tuple(sorted({tag for query in self.queries for tag in query.tags}))

    @cached_property
    def by_passage(self) -> bool:
        """Whether any of the queries is judged by passage."""
        return any(query.passages for query in self.queries)
