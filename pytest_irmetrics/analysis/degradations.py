"""The degradations of the self-test: realistic ways of making a stored run worse, without randomness.

Where queries or documents are chosen, a hash of the query's id decides, so that every machine, every Python and every order of
the queries gives the same rankings.
"""

from __future__ import annotations

import hashlib
import json
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query

    Rankings = Mapping[str, tuple[Sequence[str], ...]]
    """Query id → its degraded rankings, one per repeat; of the queries that are degraded alone."""

_SMALLEST_SLICE = 3
"""The fewest queries with a tag that are degraded as a slice."""

_SHARES = (1, 3, 10)
"""How many per cent of the queries are broken."""

_TRUNCATED = 3

_MAX_DROP = 0.01

_ON_RANKINGS = f'No max_drop sees it ({{name}}): ir_threshold("{{metric}}", max_drop={_MAX_DROP}) would.'
_ON_BROKEN = (
    'A mean hides a few broken queries: ir_threshold("{metric}", max_lost=0) fails as soon as one falls to 0.'
)
_ON_SLICES = (
    "A mean hides what a slice loses ({name}): give each a threshold of its own, "
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
    """Which gate would catch it, to be formatted with its `name`, its `tag` as a quoted text, and the `metric` that fell most."""
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
    documents = sorted({d for query in intact.counted for r in intact.rankings(query.id) for d in r})

    def relevant(query: Query, doc_id: str) -> bool:
        return query.judgments.get(doc_id, 0) >= intact.golden.relevance_level

    def every(
        change: Callable[[Query, Sequence[str]], Sequence[str]], some: Sequence[Query] = answerable
    ) -> Rankings:
        changed = {query.id: tuple(change(query, r) for r in intact.rankings(query.id)) for query in some}
        return {query_id: now for query_id, now in changed.items() if now != intact.rankings(query_id)}

    def without_best(query: Query, ranking: Sequence[str]) -> Sequence[str]:
        best = next((doc_id for doc_id in ranking if relevant(query, doc_id)), None)
        return tuple(doc_id for doc_id in ranking if doc_id != best)

    def emptied(_: Query, ranking: Sequence[str]) -> Sequence[str]:
        return ranking[:0]

    yield DegradedRankings(
        "best hit of every query lost",
        "The first relevant document of every ranking is no longer returned.",
        every(without_best),
        _ON_RANKINGS,
        _MAX_DROP,
    )
    yield DegradedRankings(
        "rankings shifted by one",
        "1 unjudged document of other queries is pushed in at the top of every ranking.",
        every(lambda query, ranking: (_unjudged(documents, query, ranking), *ranking)),
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
    working = [q for q in answerable if any(relevant(q, d) for r in intact.rankings(q.id) for d in r)]
    # Always in one order: the first few are part of the first many.
    working.sort(key=lambda query: (_number("broken", query.id), query.id))
    total, done = len(answerable), 0
    for share in _SHARES:
        size = max(1, (total * share + 50) // 100)
        if done < size <= len(working):
            done = size
            few = total * share < 75  # one query is far more than this share
            yield DegradedRankings(
                f"broke one query of {total}" if few else f"broke {share} % of queries ({size}/{total})",
                f"{plural(size, 'query', 'queries')} that worked, anywhere, {'comes' if size == 1 else 'come'} back empty.",
                every(emptied, working[:size]),
                _ON_BROKEN,
            )
    empty = [q for q in intact.counted if q.no_answer and not any(map(len, intact.rankings(q.id)))]
    if empty:
        yield DegradedRankings(
            f"no_answer queries answered ({len(empty)})",
            "Every query marked no_answer gets an unjudged document of another query.",
            every(lambda query, ranking: (_unjudged(documents, query, ranking),), empty),
            _ON_NO_ANSWER,
        )
    for tag in intact.tags:
        tagged = [query for query in answerable if tag in query.tags]
        if len(tagged) >= _SMALLEST_SLICE:
            yield DegradedRankings(
                f"slice {tag} lost ({len(tagged)})",
                f"Each of the {len(tagged)} queries tagged {tag} comes back empty.",
                every(emptied, tagged),
                _ON_SLICES,
                tag=tag,
            )


def _unjudged(documents: Sequence[str], query: Query, ranking: Sequence[str]) -> str:
    """Return a document that a query neither returns nor judges nor forbids; a made-up id where there is none."""
    taken = {*query.judgments, *query.forbidden, *ranking}
    start = _number("unjudged", query.id) % max(1, len(documents))
    known = (doc_id for doc_id in (*documents[start:], *documents[:start]) if doc_id not in taken)
    made_up = (doc_id for number in count(1) if (doc_id := f"unjudged-{number}") not in taken)
    return next(known, None) or next(made_up)


def _number(*parts: str) -> int:
    """Return a pseudo-random number in [0, 2**64) that depends on some texts alone, on every machine."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode("ascii")).digest()[:8], "big")
