"""Read the rankings of a run as they are scored: cut at a depth."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.run import Run

    Rankings = tuple[Sequence[str], ...]

_NO_RESULTS: Rankings = ((),)
"""The rankings of a query that is not in the run: one empty ranking."""


class RankingReader:
    """Reads a run's rankings as they are scored: cut at a depth. With `depth` None they are not cut."""

    def __init__(self, run: Run, depth: int | None) -> None:
        self._run = run
        # At the depth that the run was asked for, nothing is cut: one returned chunk that holds several judged passages
        # becomes several entries, so that the ranking may be longer than that depth.
        self._depth = None if depth == run.depth else depth

    def read(self, query_id: str) -> Rankings:
        """Return a query's rankings, one for each time that it was asked."""
        answer = self._run.answers.get(query_id)
        return _NO_RESULTS if answer is None else self._cut(answer.rankings)

    def read_single(self, query_ids: list[str]) -> list[Sequence[str]] | None:
        """Return the only ranking of each of many queries, if the run was made of rankings alone; None of any other."""
        known, depth = self._run.single_rankings, self._depth
        if known is None:
            return None
        rankings: list[Sequence[str]]
        if list(known) == query_ids:  # often so, and it saves looking each of them up
            rankings = list(known.values())
        else:
            rankings = list(map(known.get, query_ids, repeat(())))
        return rankings if depth is None else [ranking[:depth] for ranking in rankings]

    def read_all(self, queries: Iterable[Query]) -> list[Rankings]:
        """Return the rankings of many queries, each as `read` does."""
        answers, depth = self._run.answers.get, self._depth
        found: list[Rankings] = []
        for query in queries:
            answer = answers(query.id)
            rankings: Rankings = _NO_RESULTS if answer is None else answer.rankings
            found.append(rankings if depth is None else self._cut(rankings))
        return found

    def _cut(self, rankings: Rankings) -> Rankings:
        depth = self._depth
        if depth is None:
            return rankings
        for ranking in rankings:
            if len(ranking) > depth:
                return tuple([ranking[:depth] for ranking in rankings])
        return rankings
