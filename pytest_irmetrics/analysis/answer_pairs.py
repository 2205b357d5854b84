"""The answers of a comparison side by side."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.retrieval.passages import documents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.golden import Query

FEWEST_ANSWERS = 3
"""In how many answers a sign must be seen: one or two are single cases."""

MOST = 0.8
"""In which share of all answers a sign must be seen."""

Ranking = tuple[str, ...]


class AnswerPair(NamedTuple):
    """The rankings of one query on both sides: one for each time that it was asked, as a rule one."""

    query: Query
    before: Sequence[Ranking]
    now: Sequence[Ranking]

    @property
    def first_before(self) -> Ranking:
        """The baseline's first ranking."""
        return self.before[0] if self.before else ()

    @property
    def first_now(self) -> Ranking:
        """Today's first ranking."""
        return self.now[0] if self.now else ()

    def shows(self, test: Callable[[Ranking, Ranking], bool]) -> bool:
        """Tell whether `test` holds between most of today's rankings, or the only one, and any of the baseline's."""
        return 2 * sum(any(test(before, now) for before in self.before) for now in self.now) > len(self.now)


class AnswerPairs:
    """All answers of a comparison, but those to queries that have no answer."""

    def __init__(self, pairs: Sequence[AnswerPair], depth: int | None) -> None:
        self.pairs = pairs
        self.depth = depth
        """How many results a full answer has; None where nobody knows."""

    @classmethod
    def of(cls, comparison: Comparison) -> AnswerPairs:
        """Read the answers of a comparison's paired queries."""
        sides = comparison.baseline, comparison.now
        pairs = [
            AnswerPair(query, *([tuple(ranking) for ranking in side.rankings(query.id)] for side in sides))
            for query in comparison.now.counted
            if not query.no_answer
        ]
        return cls(pairs, comparison.depth)

    @cached_property
    def by_document(self) -> AnswerPairs:
        """These answers with documents in place of chunks and passages: cutting texts anew exchanges no document."""
        if not any(pair.query.passages for pair in self.pairs):
            return self
        pairs = []
        for pair in self.pairs:
            sides = [
                [tuple(dict.fromkeys(documents_of(pair.query, ranking))) for ranking in side]
                for side in (pair.before, pair.now)
            ]
            pairs.append(AnswerPair(pair.query, *sides))
        # Several chunks may be of one document, so nobody knows how many a full answer has.
        return AnswerPairs(pairs, None)

    @cached_property
    def answered(self) -> list[AnswerPair]:
        """The pairs to which the baseline has a result."""
        return [pair for pair in self.pairs if any(pair.before)]

    @cached_property
    def changed(self) -> list[AnswerPair]:
        """The pairs whose answer changed: at least half of today's rankings are none of the baseline's."""
        return [pair for pair in self.answered if not pair.shows(operator.eq)]

    def holds(self, seen: int) -> bool:
        """Tell whether a sign seen in so many answers counts: 3 or more, and 80 % of all that the baseline has."""
        return seen >= FEWEST_ANSWERS and seen >= MOST * len(self.answered)

    def showing(self, test: Callable[[Ranking, Ranking], bool]) -> list[AnswerPair]:
        """Return the changed pairs that show a sign; none where they are too few to count."""
        seen, left = [], len(self.changed)
        for pair in self.changed:
            if not self.holds(left):
                return []
            if pair.shows(test):
                seen.append(pair)
            else:
                left -= 1
        return seen if self.holds(left) else []
