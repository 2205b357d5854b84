"""Which queries count in a mean, and with what weight."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query


class Counted:
    """The queries of a golden set that count: all but the ``xfail`` ones, or those of them that are in `only`.

    A metric's kind says which of them it is about: ``no_answer`` those that have no answer, ``latency`` all, and any
    other those that have one. Their order, the golden set's, is that of a metric's column of scores.
    """

    def __init__(self, golden: GoldenSet, only: frozenset[str] | None, among: Counted | None = None) -> None:
        self._golden = golden
        self._only = only
        self._among = among  # those of which these are some, which saves going through the golden set again
        self._weights: dict[str, list[float]] = {}
        self._places: dict[str, dict[str, int]] = {}
        self._places_by_tag: dict[str, dict[str, list[int]]] = {}

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """All that count, in the golden set's order."""
        if self._among is not None:
            queries = self._among.queries
        else:
            queries = tuple([query for query in self._golden.queries.values() if query.xfail is None])
        only = self._only
        return queries if only is None else tuple([query for query in queries if query.id in only])

    @cached_property
    def _answerable(self) -> tuple[Query, ...]:
        return tuple([query for query in self.queries if not query.no_answer])

    @cached_property
    def _unanswerable(self) -> tuple[Query, ...]:
        return tuple([query for query in self.queries if query.no_answer])

    def of(self, kind: str) -> tuple[Query, ...]:
        """Return those that metrics of a kind are about."""
        if kind == "latency":
            return self.queries
        return self._unanswerable if kind == "no_answer" else self._answerable

    def places(self, kind: str, tag: str) -> Sequence[int]:
        """Return the places of those with a tag among those that metrics of a kind are about."""
        by_tag = self._places_by_tag.get(kind)
        if by_tag is None:
            by_tag = self._places_by_tag[kind] = {}
            for place, query in enumerate(self.of(kind)):
                for one in query.tags:
                    by_tag.setdefault(one, []).append(place)
        return by_tag.get(tag, ())

    def place_by_id(self, kind: str) -> Mapping[str, int]:
        """Return query id → its place among those that metrics of a kind are about."""
        places = self._places.get(kind)
        if places is None:
            places = self._places[kind] = {query.id: place for place, query in enumerate(self.of(kind))}
        return places

    def weights(self, kind: str) -> Sequence[float]:
        """Return the weights of those that metrics of a kind are about, in their order."""
        weights = self._weights.get(kind)
        if weights is None:
            weights = self._weights[kind] = [query.weight for query in self.of(kind)]
        return weights

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of all that count, sorted."""
        return tuple(sorted({tag for query in self.queries for tag in query.tags}))

    @cached_property
    def by_passage(self) -> bool:
        """Whether any is judged by passage."""
        return any(query.passages for query in self.queries)
