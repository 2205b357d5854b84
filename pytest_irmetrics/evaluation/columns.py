"""Choose the queries over which a metric averages, and read the rankings of a run that it scores."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_irmetrics.retrieval.passages import translate_ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.run import Answer, Run

    Rankings = tuple[Sequence[str], ...]

_NO_RESULTS: Rankings = ((),)
"""The rankings of a query that is not in the run: one empty ranking."""


class CountedQueries:
    """The queries of a golden set that count in means: all but the ``xfail`` ones, or those of them that are in `only`.

    A metric's kind says which of them it scores: ``no_answer`` those that have no answer, ``latency`` all, and any
    other those that have one. Their order, the golden set's, is that of a metric's column of scores.
    """

    def __init__(
        self, golden: GoldenSet, only: frozenset[str] | None, superset: CountedQueries | None = None
    ) -> None:
        self._golden = golden
        self._only = only
        self._superset = (
            superset  # counts these queries and more: its tuple is filtered rather than the golden set
        )
        self._weights: dict[str, list[float]] = {}
        self._position_by_id: dict[str, dict[str, int]] = {}
        self._positions_by_tag: dict[str, dict[str, list[int]]] = {}

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """All that count, in the golden set's order."""
        if self._superset is not None:
            queries = self._superset.queries
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

    def weights(self, kind: str) -> Sequence[float]:
        """Return the weights of the queries of a column, in its order."""
        weights = self._weights.get(kind)
        if weights is None:
            weights = self._weights[kind] = [query.weight for query in self.of_kind(kind)]
        return weights

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of all that count, sorted."""
        return tuple(sorted({tag for query in self.queries for tag in query.tags}))

    @cached_property
    def by_passage(self) -> bool:
        """Whether any is judged by passage."""
        return any(query.passages for query in self.queries)


class RankingReader:
    """Reads a run's rankings as they are scored: cut at a depth, with passages named as in the current golden set.

    With `depth` None they are not cut.
    """

    def __init__(self, golden: GoldenSet, run: Run, depth: int | None) -> None:
        self._golden = golden
        self._answers = run.answers
        # At the depth that the run was asked for, nothing is cut: one returned chunk that holds several judged passages
        # becomes several entries, so that the ranking may be longer than that depth.
        self._depth = None if depth == run.depth else depth
        self._translated: dict[str, Rankings] = {}

    def read(self, query_id: str) -> Rankings:
        """Return a query's rankings, one for each time that it was asked."""
        answer = self._answers.get(query_id)
        if answer is None:
            return _NO_RESULTS
        return self._cut(self._translate(query_id, answer) if answer.passages else answer.rankings)

    def read_stored(self, query_id: str) -> Rankings:
        """Return a query's rankings as `read` does, but with passages under the names that the run has for them."""
        answer = self._answers.get(query_id)
        return _NO_RESULTS if answer is None else self._cut(answer.rankings)

    def read_all(self, queries: Iterable[Query]) -> list[Rankings]:
        """Return what `read` gives, for many queries."""
        answers, depth = self._answers.get, self._depth
        found: list[Rankings] = []
        for query in queries:
            answer = answers(query.id)
            rankings: Rankings = _NO_RESULTS if answer is None else answer.rankings
            if answer is not None and answer.passages:
                rankings = self.read(query.id)
            elif depth is not None:
                rankings = self._cut(rankings)
            found.append(rankings)
        return found

    def _cut(self, rankings: Rankings) -> Rankings:
        depth = self._depth
        if depth is None:
            return rankings
        for ranking in rankings:
            if len(ranking) > depth:
                return tuple([ranking[:depth] for ranking in rankings])
        return rankings

    def _translate(self, query_id: str, answer: Answer) -> Rankings:
        """Return the rankings of an answer that holds passages, with the names that these have in the current golden set."""
        query = self._golden.queries.get(query_id)
        if query is None:
            return answer.rankings
        known = self._translated.get(query_id)
        if known is None:
            known = self._translated[query_id] = tuple(
                translate_ranking(ranking, answer.passages, query.passages, query.judgments)
                for ranking in answer.rankings
            )
        return known
