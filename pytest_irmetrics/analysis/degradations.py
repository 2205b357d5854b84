"""The degradations of the self-test: realistic ways of making a stored run worse, without randomness.

Where queries or documents are chosen, a hash of the degradation's name and the query's id decides, so that every machine,
every Python and every order of the queries gives the same rankings.
"""

from __future__ import annotations

import hashlib
import json
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query

    Rankings = Mapping[str, tuple[Sequence[str], ...]]
    """Query id → its degraded rankings, one per repeat; of the queries that are degraded alone."""

SMALLEST_SLICE = 3
"""The fewest queries with a tag that are degraded as a slice."""

_SHARES = (1, 3, 10)
"""How many per cent of the queries are broken."""

_TRUNCATED = 3

_MAX_DROP = 0.01

_ON_RANKINGS = f'No max_drop sees it ({{names}}): ir_threshold("{{metric}}", max_drop={_MAX_DROP}) would.'
_ON_BROKEN = (
    'A mean hides a few broken queries: ir_threshold("{metric}", max_lost=0) fails as soon as one falls to 0.'
)
_ON_SLICES = (
    "A mean hides what a slice loses ({names}): give each a threshold of its own, "
    'ir_threshold("{metric}", max_drop="10%", tag={tag}).'
)
_ON_NO_ANSWER = (
    'Answers where none is right: ir_threshold("no_answer", min=1.0), or no threshold on it at all.'
)


class DegradedRankings(NamedTuple):
    """A degradation: the rankings that it gives to the queries it touches, and what to do where no gate catches it."""

    name: str
    what: str
    rankings: Rankings
    advice: str
    """Which gate would catch it, to be formatted with the `metric` that fell most, the `names` of those that get the same
    advice, and the `tag` of the first as a quoted text."""
    must_fall: float = 0.0
    """How far a metric must fall for the advice to be true of it."""
    tag: str | None = None

    @property
    def lowers_scores(self) -> bool:
        """Whether it lowers metrics of rankings, of which the advice names one."""
        return "{metric}" in self.advice


def degradations(intact: Evaluation) -> Iterator[DegradedRankings]:
    """Yield every degradation that applies to a run, those of all queries first."""
    answerable = [query for query in intact.counted if not query.no_answer]
    corpus = Corpus(intact)
    level = intact.golden.relevance_level

    def every(change: Callable[[Query, Sequence[str]], Sequence[str]]) -> Rankings:
        changed = {
            query.id: tuple(change(query, ranking) for ranking in intact.rankings(query.id))
            for query in answerable
        }
        return {query_id: now for query_id, now in changed.items() if now != intact.rankings(query_id)}

    yield DegradedRankings(
        "best hit of every query lost",
        "The first relevant document of every ranking is no longer returned.",
        every(lambda query, ranking: _without_best(query, ranking, level)),
        _ON_RANKINGS,
        _MAX_DROP,
    )
    yield DegradedRankings(
        "rankings shifted by one",
        "1 unjudged document of other queries is pushed in at the top of every ranking.",
        every(lambda query, ranking: (*corpus.unjudged(query, ranking, 1), *ranking)),
        _ON_RANKINGS,
        _MAX_DROP,
    )
    yield DegradedRankings(
        f"rankings truncated to {_TRUNCATED}",
        f"Only the first {_TRUNCATED} results of every query come back.",
        every(lambda _, ranking: ranking[:_TRUNCATED]),
        _ON_RANKINGS,
        _MAX_DROP,
    )
    yield from _broken(intact, answerable)
    yield from _answered(intact, corpus)
    yield from _lost_slices(intact, answerable)


def _broken(intact: Evaluation, answerable: Sequence[Query]) -> Iterator[DegradedRankings]:
    """Empty the answers of a share of the queries, of those that find a relevant document."""
    working = _working(intact, answerable)
    total = len(answerable)
    done = set()
    for share in _SHARES:
        count = max(1, (total * share + 50) // 100)
        if count in done or count > len(working):
            continue
        done.add(count)
        few = total * share < 75  # one query is far more than this share
        name = f"broke one query of {total}" if few else f"broke {share} % of queries ({count}/{total})"
        what = f"{plural(count, 'query', 'queries')} that worked, anywhere, {'comes' if count == 1 else 'come'} back empty."
        yield DegradedRankings(name, what, _emptied(intact, working[:count]), _ON_BROKEN)


def _lost_slices(intact: Evaluation, answerable: Sequence[Query]) -> Iterator[DegradedRankings]:
    """Empty the answers of all queries with a tag, for each tag."""
    slices = {tag: [query for query in answerable if tag in query.tags] for tag in intact.tags}
    for tag, queries in slices.items():
        if len(queries) >= SMALLEST_SLICE:
            yield DegradedRankings(
                f"slice {tag} lost ({len(queries)})",
                f"Each of the {len(queries)} queries tagged {tag} comes back empty.",
                _emptied(intact, queries),
                _ON_SLICES,
                tag=tag,
            )


def _working(intact: Evaluation, queries: Sequence[Query]) -> list[Query]:
    """Return the queries that find a relevant document, always in one order: the first few are part of the first many."""
    level = intact.golden.relevance_level
    working = [
        query
        for query in queries
        if any(_is_relevant(query, doc, level) for ranking in intact.rankings(query.id) for doc in ranking)
    ]
    return sorted(working, key=lambda query: (_number("broken", query.id), query.id))


def _answered(intact: Evaluation, corpus: Corpus) -> Iterator[DegradedRankings]:
    """Give answers to the ``no_answer`` queries that rightly came back empty."""
    empty = [
        query for query in intact.counted if query.no_answer and not any(map(len, intact.rankings(query.id)))
    ]
    if not empty:
        return
    yield DegradedRankings(
        f"no_answer queries answered ({len(empty)})",
        "Every query marked no_answer gets an unjudged document of another query.",
        {
            query.id: tuple(corpus.unjudged(query, ranking, 1) for ranking in intact.rankings(query.id))
            for query in empty
        },
        _ON_NO_ANSWER,
    )


def _emptied(intact: Evaluation, queries: Sequence[Query]) -> Rankings:
    return {query.id: tuple(() for _ in intact.rankings(query.id)) for query in queries}


def _is_relevant(query: Query, doc_id: str, level: float) -> bool:
    return query.judgments.get(doc_id, 0) >= level


def _without_best(query: Query, ranking: Sequence[str], level: float) -> Sequence[str]:
    best = next((doc_id for doc_id in ranking if _is_relevant(query, doc_id, level)), None)
    return ranking if best is None else tuple(doc_id for doc_id in ranking if doc_id != best)


class Corpus:
    """All documents that the stored run returns, from which unjudged ones are pushed into rankings."""

    def __init__(self, intact: Evaluation) -> None:
        returned = {
            doc_id for query in intact.counted for ranking in intact.rankings(query.id) for doc_id in ranking
        }
        self._documents = sorted(returned)

    def unjudged(self, query: Query, ranking: Sequence[str], count: int) -> list[str]:
        """Return documents that a query neither returns nor judges nor forbids, and made-up ids where there are too few."""
        taken = {*query.judgments, *query.forbidden, *ranking}
        return list(islice((doc_id for doc_id in self._walk(query) if doc_id not in taken), count))

    def _walk(self, query: Query) -> Iterator[str]:
        """Yield all documents, from another start for each query, then made-up ids without end."""
        size = len(self._documents)
        start = _number("unjudged", query.id)
        for step in range(size):
            yield self._documents[(start + step) % size]
        number = 0
        while True:
            number += 1
            yield f"unjudged-{number}"


def _number(*parts: str | int) -> int:
    """Return a pseudo-random number in [0, 2**64) that depends on its arguments alone, on every machine."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode("ascii")).digest()[:8], "big")
