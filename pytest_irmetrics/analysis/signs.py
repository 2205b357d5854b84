"""Signs of a mechanical cause in the answers of a comparison: one function for each, which looks for it and words it.

They look at ids and rankings, and a sign is one that a change of ranking, of text analysis or of weights does not show.
To add one, write its function here, and name it in `_SIGNS` in the place where it is to be looked for.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.analysis.answer_pairs import FEWEST_ANSWERS, MOST, AnswerPairs
from pytest_irmetrics.analysis.id_spelling import affixed, normalised
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_irmetrics.analysis.answer_pairs import AnswerPair, Ranking
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.golden import Query

    Look = Callable[[AnswerPairs], str | None]

_FEWEST_IDS = 3
"""Ids that must be spelt otherwise to follow a pattern."""

_FEWEST_RESULTS = 3
"""How many results a ranking must have for its order or its documents to differ from chance."""

_SHARED = 0.1
"""Up to which share of its results an answer is said to have nothing of the baseline's; one of ten may be chance."""

_REORDERED = 0.3
"""From which share of pairs in the other order, on average, an order is another one: 0.5 is chance."""

_BACKWARDS = 0.75
"""From which share of pairs in the other order an answer is the reverse of another, but for equal scores."""

_FEWER = 0.8
"""Below which share of the results before fewer of them come back."""

_LOST = 0.5
"""From which share of the changed answers on documents were lost before the ranking."""

_FEWEST_LOST = 5
"""In how many answers at least: some answers of any change look so."""

_LITTLE = 0.1
"""Up to which share of its results an answer still keeps its order, or has what is new at its end."""


class Sign(NamedTuple):
    """A sign of a mechanical cause."""

    kind: str
    """What has happened, as a word; JSON reports have it, so it never changes its meaning."""
    text: str
    """What was seen, with its counts, and where to look first, in sentences."""


def find_sign(comparison: Comparison) -> Sign | None:
    """Return the first sign that the answers show; None where they show none."""
    pairs = AnswerPairs.of(comparison)
    if len(pairs.changed) < FEWEST_ANSWERS:
        return None
    return next((Sign(kind, text) for kind, look in _SIGNS.items() if (text := look(pairs))), None)


def fewer_results(comparison: Comparison) -> str | None:
    """Say that answers are clearly shorter than they were, on average; None where they are not."""
    return _fewer_results(AnswerPairs.of(comparison))


# What is true of the ids or of whole answers explains all that follows from it ------------------------------


def _ids_respelt(pairs: AnswerPairs) -> str | None:
    """Look for ids of the baseline or of the golden set in another spelling, or with something added or taken off."""
    rankings = [[r for pair in pairs.by_document.pairs for r in side(pair)] for side in (_before, _now)]
    before, now = ({*chain.from_iterable(side)} for side in rankings)
    judged = {doc_id for pair in pairs.pairs for doc_id, grade in pair.query.documents.items() if grade > 0}
    new, gone = now - before - judged, (before | judged) - now
    if len(new) < _FEWEST_IDS or len(gone) < _FEWEST_IDS:
        return None
    by_spelling = {normalised(doc_id): doc_id for doc_id in sorted(gone)}
    found = {doc_id: by_spelling[normalised(doc_id)] for doc_id in new if normalised(doc_id) in by_spelling}
    longer = affixed(new - found.keys(), gone)
    # A page below another one has its id in front, too.
    if len(before & now) * 5 <= len(now) or _added_alike(longer):
        found |= longer
    if len(found) < max(_FEWEST_IDS, len(new) / 2):
        return None
    is_now = next(doc_id for ranking in rankings[1] for doc_id in ranking if doc_id in found)
    return (
        f"{plural(len(found), 'id')} came back in another spelling than before: {quote(found[is_now])} is now {quote(is_now)}. "
        "Return ids as before."
    )


def _before(pair: AnswerPair) -> Sequence[Ranking]:
    return pair.before


def _now(pair: AnswerPair) -> Sequence[Ranking]:
    return pair.now


def _added_alike(found: Mapping[str, str]) -> bool:
    """Tell whether most of these ids differ from what they were by the same text, added or taken off."""
    changes = Counter(
        max(is_, was, key=len).replace(min(is_, was, key=len), "\0", 1) for is_, was in found.items()
    )
    return max(changes.values(), default=0) >= MOST * len(found)


def _same_answer(pairs: AnswerPairs) -> str | None:
    """Look for one answer to all queries, which had answers of their own."""
    counts = Counter(pair.first_now for pair in pairs.pairs if pair.first_now)
    if not counts:
        return None
    answer, times = counts.most_common(1)[0]
    answers_before = {pair.first_before for pair in pairs.pairs if pair.first_now == answer}
    if not pairs.holds(times) or len(answers_before) < FEWEST_ANSWERS:
        return None
    return (
        f"The same {plural(len(answer), 'result')} came back for {times:,} of "
        f"{plural(len(pairs.pairs), 'query', 'queries')}. Look whether the query's text reaches the engine, and for a cache."
    )


def _reversed(pairs: AnswerPairs) -> str | None:
    """Look for answers in reverse order; where more than an answer holds match, the worst matches come back."""

    def backwards(before: Ranking, now: Ranking) -> bool:
        # Results of one score keep their order.
        return len(before) >= _FEWEST_RESULTS and _same(before, now) and disorder(before, now) >= _BACKWARDS

    def worst(before: Ranking, now: Ranking) -> bool:
        full = len(before) == pairs.depth
        return backwards(before, now) or (
            full and (_shares_nothing(before, now) or disorder(before, now) >= _BACKWARDS)
        )

    all_seen = pairs.showing(worst)
    seen = [pair for pair in all_seen if pair.shows(backwards)]
    exact = sum(pair.first_now == pair.first_before[::-1] for pair in seen)
    if len(seen) < FEWEST_ANSWERS or exact * 2 < len(seen):
        return None
    other = len(all_seen) - len(seen)
    more = f", and {other:,} more with the worst of what matches first" if other else ""
    return (
        f"{_of_answers(len(seen), pairs)} came back in reverse order{more}. Look at the direction of the sort: a distance is "
        "best when low, a score when high."
    )


def _other_query(pairs: AnswerPairs) -> str | None:
    """Look for answers that the baseline had for another query."""
    owners: dict[Ranking, Query] = {}
    for pair in pairs.pairs:
        for ranking in pair.before:
            if len(ranking) > 1:
                owners.setdefault(ranking, pair.query)
    seen = pairs.showing(lambda _, now: now in owners)
    if len({pair.first_now for pair in seen}) < FEWEST_ANSWERS:
        return None
    this = seen[0]
    other = next(owners[now] for now in this.now if now in owners)
    return (
        f"{_of_answers(len(seen), pairs)} are the baseline's answer to another query: {quote(this.query.id)} got that of "
        f"{quote(other.id)}. Look for a cache and its key, shared state, or results put together by position."
    )


def _ended_early(pairs: AnswerPairs) -> str | None:
    """Look for answers that are the start of the baseline's and end earlier, all at one length or not."""
    seen = pairs.showing(lambda before, now: len(now) < len(before) and now == before[: len(now)])
    emptied = sum(not any(pair.now) for pair in seen)
    if len(seen) - emptied < FEWEST_ANSWERS:
        return None
    empty = f", {emptied:,} of them empty" if emptied else ""
    longest = max(len(ranking) for pair in pairs.pairs for ranking in pair.now)
    cut, look = "", "a stricter match, a minimum score, a filter on results, or a time limit"
    if sum(len(pair.first_now) == longest for pair in seen) >= MOST * len(seen):
        cut = f", and no answer has more than {plural(longest, 'result')}"
        look = "the number of results that is asked for"
    return f"{_of_answers(len(seen), pairs)} end earlier than before{empty}, and up to there are the baseline's{cut}. Look at {look}."


def _nothing_returned(pairs: AnswerPairs) -> str | None:
    """Look for queries that had an answer and get none."""
    emptied = sum(not any(pair.now) for pair in pairs.answered)
    if not pairs.holds(emptied):
        return None
    which = "any" if emptied == len(pairs.pairs) else f"{emptied:,}"
    return f"Nothing comes back any more for {which} of {plural(len(pairs.pairs), 'query', 'queries')}."


# What has many causes --------------------------------------------------------------------------------------


def _reordered(pairs: AnswerPairs) -> str | None:
    """Look for answers that hold the documents that they held, in quite another order."""
    pairs = pairs.by_document
    seen = pairs.showing(
        lambda before, now: len(now) == len(before) >= _FEWEST_RESULTS and _same(before, now)
    )
    if not seen or mean([disorder(pair.first_before, pair.first_now) for pair in seen]) < _REORDERED:
        return None
    return (
        f"{_of_answers(len(seen), pairs)} hold the same documents as before, in quite another order. Look at what ranks them "
        "rather than at what finds them."
    )


def _nothing_shared(pairs: AnswerPairs) -> str | None:
    """Look for answers that have none of their documents left, though something comes back."""
    pairs = pairs.by_document
    seen = pairs.showing(
        lambda before, now: bool(now) and len(before) >= _FEWEST_RESULTS and _shares_nothing(before, now)
    )
    if not seen:
        return None
    returned = {doc_id for pair in pairs.pairs for ranking in pair.now for doc_id in ranking}
    unknown = returned.isdisjoint(
        doc_id for pair in pairs.pairs for ranking in pair.before for doc_id in ranking
    )
    of_no_query = "; no document that came back was in any of the baseline's" if unknown else ""
    return (
        f"{_of_answers(len(seen), pairs)} share next to nothing with the baseline's{of_no_query}. "
        "Look at what is searched (index, model, page), and at how results are sorted."
    )


def _fewer_results(pairs: AnswerPairs) -> str | None:
    """Look for answers that are clearly shorter than they were, on average."""
    before, now = (
        math.fsum(mean([len(ranking) for ranking in side(pair)]) for pair in pairs.answered if side(pair))
        for side in (_before, _now)
    )
    shorter = sum(len(pair.first_now) < len(pair.first_before) for pair in pairs.answered)
    if now >= _FEWER * before or shorter < FEWEST_ANSWERS:
        return None
    count = len(pairs.answered)
    emptied = sum(not any(pair.now) for pair in pairs.answered)
    nothing = f", and nothing at all for {emptied:,} of {count:,} queries" if emptied else ""
    return (
        f"Fewer results come back: {now / count:.1f} a query on average, and {before / count:.1f} before{nothing}. Look for a "
        "filter that is applied after the first results are drawn, a minimum score, or a stricter match."
    )


def _lost_before_ranking(pairs: AnswerPairs) -> str | None:
    """Look for answers in which what stayed keeps its order, what is new stands below it, and what stood above is gone.

    Of 44 changes made to real engines and 77 ordinary variants the share of the changed answers that say so is 0.5 or more
    for 13 of 13 such losses, and at most 0.35 for all others.
    """
    pairs = pairs.by_document
    found = [_is_lost(pair.first_before, pair.first_now) for pair in pairs.changed]
    seen, able = found.count(True), len(found) - found.count(None)
    if seen < _FEWEST_LOST or seen < _LOST * able:
        return None
    return (
        f"In {seen:,} of {plural(len(pairs.changed), 'changed answer')} what stayed keeps its order, what is new stands below it, "
        "and results from above are gone: they were lost before the ranking. Look for a filter, a shard that is missing, a stale "
        "or approximate index, or how deep is reranked."
    )


def _is_lost(before: Ranking, now: Ranking) -> bool | None:
    """Tell whether an answer says that documents were lost before the ranking; None where it can say nothing of it."""
    places = {doc_id: place for place, doc_id in enumerate(now)}
    kept = [doc_id for doc_id in before if doc_id in places]
    if len(kept) == len(before):
        return False
    if len(kept) < 2:
        return None
    above = max(map(places.__getitem__, kept)) + 1 - len(kept)  # of what is new, above the last that stayed
    lost_above = before.index(kept[-1]) >= len(kept)
    return lost_above and above <= _LITTLE * (len(now) - len(kept)) and disorder(before, now) <= _LITTLE


_SIGNS: Mapping[str, Look] = {
    "ids_respelt": _ids_respelt,
    "same_answer": _same_answer,
    "reversed": _reversed,
    "other_query": _other_query,
    "ended_early": _ended_early,
    "nothing_returned": _nothing_returned,
    "reordered": _reordered,
    "nothing_shared": _nothing_shared,
    "fewer_results": _fewer_results,
    "lost_before_ranking": _lost_before_ranking,
}
"""Kind → the function that returns the sign's text, or None where the answers do not show it.

The first that is found is named, as the others follow from it."""


def _of_answers(seen: int, pairs: AnswerPairs) -> str:
    return f"{seen:,} of {plural(len(pairs.answered), 'answer')}"


def _same(before: Ranking, now: Ranking) -> bool:
    return {*before} == {*now}


def _shares_nothing(before: Ranking, now: Ranking) -> bool:
    return len({*before}.intersection(now)) <= _SHARED * len(before) and not {*before[:1]}.intersection(now)


def disorder(before: Ranking, now: Ranking) -> float:
    """Return the share of pairs of common documents that stand in the other order: 0 is the same order, 1 the reverse."""
    place = {doc_id: rank for rank, doc_id in enumerate(now)}
    swapped = 0
    above: list[int] = []
    for doc_id in before:
        if doc_id in place:
            lower = bisect(above, place[doc_id])
            swapped += len(above) - lower
            above.insert(lower, place[doc_id])
    return swapped / max(1, len(above) * (len(above) - 1) // 2)
