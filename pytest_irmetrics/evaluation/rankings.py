"""A run's rankings as an evaluation reads them: cut at a depth, with passages named as they are judged today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.retrieval.passages import translate_ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.run import Answer, Run

    Rankings = tuple[Sequence[str], ...]

_NONE: Rankings = ((),)
"""The rankings of a query that was not asked: it found nothing."""


class Reader:
    """Reads a run's rankings; `depth` is how deep, None as deep as they are."""

    def __init__(self, golden: GoldenSet, run: Run, depth: int | None) -> None:
        self._golden = golden
        self._answers = run.answers
        # What was asked for is read whole: a chunk that holds several passages makes a ranking longer.
        self._depth = None if depth == run.depth else depth
        self._reread: dict[str, Rankings] = {}

    def read(self, query_id: str) -> Rankings:
        """Return a query's rankings, one for each time that it was asked."""
        answer = self._answers.get(query_id)
        if answer is None:
            return _NONE
        return self._cut(self._today(query_id, answer) if answer.passages else answer.rankings)

    def stored(self, query_id: str) -> Rankings:
        """Return a query's rankings as `read` does, with passages named as they were when it was asked."""
        answer = self._answers.get(query_id)
        return _NONE if answer is None else self._cut(answer.rankings)

    def read_all(self, queries: Iterable[Query]) -> list[Rankings]:
        """Return what `read` gives, for many queries."""
        answers, depth = self._answers.get, self._depth
        found: list[Rankings] = []
        for query in queries:
            answer = answers(query.id)
            rankings: Rankings = _NONE if answer is None else answer.rankings
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

    def _today(self, query_id: str, answer: Answer) -> Rankings:
        query = self._golden.queries.get(query_id)
        if query is None:
            return answer.rankings
        known = self._reread.get(query_id)
        if known is None:
            known = self._reread[query_id] = tuple(
                translate_ranking(ranking, answer.passages, query.passages, query.judgments)
                for ranking in answer.rankings
            )
        return known
