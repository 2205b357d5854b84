"""Signs of a mechanical cause in the answers of a comparison: one function for each, which looks for it and words it.

They look at ids and rankings alone, never at judgments, and a sign is one that a change of ranking, of text analysis or of
weights does not show.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_irmetrics.analysis.answer_pairs import FEWEST_ANSWERS, MOST, AnswerPairs
from pytest_irmetrics.analysis.id_spelling import affixed, normalised
from pytest_irmetrics.base.wording import plural, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_irmetrics.analysis.answer_pairs import Ranking
    from pytest_irmetrics.comparison import Comparison

SignKind = Literal[
    "ids_respelt",
    "same_answer",
    "reversed",
    "other_query",
    "ended_early",
    "nothing_returned",
    "reordered",
    "nothing_shared",
]
"""What a sign says has happened; JSON reports have the word, so it never changes its meaning."""

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

_LARGE_PART = 1 / 4
"""From which share of the changed answers empty ones are what is to be said first."""


class Sign(NamedTuple):
    """A sign of a mechanical cause."""

    kind: SignKind
    text: str
    """What was seen, with its counts, and where to look first, in sentences."""
    alone: bool = True
    """Whether it explains the changed answers by itself, so that nothing else need be said of them."""


def find_sign(comparison: Comparison) -> Sign | None:
    """Return the first sign that the answers show; None where they show none."""
    pairs = AnswerPairs.of(comparison)
    if len(pairs.changed) < FEWEST_ANSWERS:
        return None
    found = (look(pairs.by_document if look in _OF_DOCUMENTS else pairs) for look in SIGNS)
    return next((sign for sign in found if sign is not None), None)


def ids_respelt(pairs: AnswerPairs) -> Sign | None:
    """Look for ids that are the baseline's in another spelling, or with something added or taken off."""
    new, gone = pairs.ids_now - pairs.ids_before, pairs.ids_before - pairs.ids_now
    if len(new) < _FEWEST_IDS or len(gone) < _FEWEST_IDS:
        return None
    by_spelling = {normalised(doc_id): doc_id for doc_id in sorted(gone)}
    found = {doc_id: by_spelling[normalised(doc_id)] for doc_id in new if normalised(doc_id) in by_spelling}
    longer = affixed(new - found.keys(), gone)
    # A page below another one has its id in front, too.
    if len(pairs.ids_before & pairs.ids_now) * 5 <= len(pairs.ids_now) or _added_alike(longer):
        found |= longer
    if len(found) < max(_FEWEST_IDS, len(new) / 2):
        return None
    rankings = (ranking for pair in pairs.pairs for ranking in pair.now)
    is_now = next(doc_id for ranking in rankings for doc_id in ranking if doc_id in found)
    text = (
        f"{plural(len(found), 'id')} came back in another spelling than before: {quote(found[is_now])} is now {quote(is_now)}. "
        "Return ids as before."
    )
    return Sign("ids_respelt", text, alone=len({*found.values()}) >= MOST * len(gone))


def _added_alike(found: Mapping[str, str]) -> bool:
    """Tell whether most of these ids differ from what they were by the same text, added or taken off."""
    changes = Counter(
        max(is_, was, key=len).replace(min(is_, was, key=len), "\0", 1) for is_, was in found.items()
    )
    return max(changes.values(), default=0) >= MOST * len(found)


def same_answer(pairs: AnswerPairs) -> Sign | None:
    """Look for one answer to all queries, which had answers of their own."""
    found = Counter(pair.today for pair in pairs.changed if pair.today)
    if not found:
        return None
    answer, times = found.most_common(1)[0]
    seen = [pair for pair in pairs.pairs if pair.shows(lambda _, today: today == answer)]
    if len({pair.then for pair in seen}) < FEWEST_ANSWERS or not pairs.holds(times):
        return None
    text = (
        f"The same {plural(len(answer), 'result')} came back for {len(seen):,} of "
        f"{plural(len(pairs.pairs), 'query', 'queries')}. Look whether the query's text reaches the engine, and for a cache."
    )
    return Sign("same_answer", text)


def reversed_order(pairs: AnswerPairs) -> Sign | None:
    """Look for answers in reverse order; where more than an answer holds match, the worst matches come back."""

    def backwards(then: Ranking, today: Ranking) -> bool:
        # Results of one score keep their order.
        return {*then} == {*today} and disorder(then, today) >= _BACKWARDS

    def worst(then: Ranking, today: Ranking) -> bool:
        return _shares_nothing(then, today) or disorder(then, today) >= _BACKWARDS

    short = [pair for pair in pairs.changed if len(pair.then) != pairs.depth]
    # Two results have next to no order.
    ordered = [pair for pair in pairs.changed if len(pair.then) >= _FEWEST_RESULTS]
    seen = [pair for pair in ordered if pair.shows(backwards)]
    if len(seen) < FEWEST_ANSWERS or sum(pair.shows(backwards) for pair in short) < MOST * len(short):
        return None
    full = [pair for pair in ordered if len(pair.then) == pairs.depth and not pair.shows(backwards)]
    other = sum(pair.shows(worst) for pair in full)
    if len(seen) + other < MOST * len(ordered):
        return None
    if sum(pair.today == pair.then[::-1] for pair in seen) * 2 < len(seen):
        return None
    more = f", and {other:,} more with the worst of what matches first" if other else ""
    text = (
        f"{_of_answers(len(seen), pairs)} came back in reverse order{more}. Look at the direction of the sort: a distance is "
        "best when low, a score when high."
    )
    return Sign("reversed", text)


def other_query(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that the baseline had for another query, always as far away where that is so."""
    places: dict[Ranking, list[int]] = {}
    for place, pair in enumerate(pairs.pairs):
        for then in {*pair.before}:
            if len(then) > 1:
                places.setdefault(then, []).append(place)
    changed = {pair.query.id for pair in pairs.changed}
    seen = [
        (place, next(places[today] for today in pair.now if today in places))
        for place, pair in enumerate(pairs.pairs)
        if pair.query.id in changed and pair.shows(lambda _, today: today in places)
    ]
    if not pairs.holds(len(seen)) or len({pairs.pairs[place].today for place, _ in seen}) < FEWEST_ANSWERS:
        return None
    count = len(pairs.pairs)
    # How many places further back: from less than half of all to the front, as the first may have got that of the last.
    steps = Counter(
        (place - other + count // 2) % count - count // 2 for place, others in seen for other in others
    )
    step, times = steps.most_common(1)[0]
    which, look = "to another query", "the key of a cache"
    place, others = seen[0]
    other = others[0]
    if times >= MOST * len(seen):
        place = next((place for place, _ in seen if 0 <= place - step < count), place)
        other = (place - step) % count
        if step in (1, -1):
            which = f"of the query {'before' if step == 1 else 'after'} it in the golden set"
            look = "a cache"
    this, that = quote(pairs.pairs[place].query.id), quote(pairs.pairs[other].query.id)
    text = (
        f"{_of_answers(len(seen), pairs)} are the baseline's answer {which}: {this} got that of {that}. Look for {look}, shared "
        "state, or results put together by position."
    )
    return Sign("other_query", text)


def ended_early(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that are the start of the baseline's and end earlier, all at one length or not."""

    def start(then: Ranking, today: Ranking) -> bool:
        return len(today) < len(then) and today == then[: len(today)]

    seen = [pair for pair in pairs.changed if pair.shows(start)]
    emptied = sum(not any(pair.now) for pair in seen)
    if not pairs.holds(len(seen)) or len(seen) - emptied < FEWEST_ANSWERS:
        return None
    empty = f", {emptied:,} of them empty" if emptied else ""
    longest = max(len(ranking) for pair in pairs.pairs for ranking in pair.now)
    cut, look = "", "a stricter match, a minimum score, a filter on results, or a time limit"
    if sum(len(pair.today) == longest for pair in seen) >= MOST * len(seen):
        cut = f", and no answer has more than {plural(longest, 'result')}"
        look = "the number of results that is asked for"
    text = f"{_of_answers(len(seen), pairs)} end earlier than before{empty}, and up to there are the baseline's{cut}. Look at {look}."
    return Sign("ended_early", text)


def nothing_returned(pairs: AnswerPairs) -> Sign | None:
    """Look for queries that had an answer and get none."""
    emptied = sum(not any(pair.now) for pair in pairs.answered)
    if emptied < FEWEST_ANSWERS or emptied < _LARGE_PART * len(pairs.changed):
        return None
    which = "any" if emptied == len(pairs.pairs) else f"{emptied:,}"
    text = f"Nothing comes back any more for {which} of {plural(len(pairs.pairs), 'query', 'queries')}."
    return Sign("nothing_returned", text, alone=emptied >= MOST * len(pairs.changed))


def reordered(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that hold the documents that they held, in quite another order."""
    ordered = [pair for pair in pairs.changed if len(pair.then) >= _FEWEST_RESULTS]
    seen = [pair for pair in ordered if pair.shows(_same_documents)]
    if not pairs.holds(len(seen), len(ordered)) or len(seen) * 2 < len(pairs.answered):
        return None
    if sum(disorder(pair.then, pair.today) for pair in seen) < _REORDERED * len(seen):
        return None
    text = (
        f"{_of_answers(len(seen), pairs)} hold the same documents as before, in quite another order. Look at what ranks them "
        "rather than at what finds them."
    )
    return Sign("reordered", text)


def nothing_shared(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that have none of their documents left, though something comes back."""
    answered = [pair for pair in pairs.changed if len(pair.then) >= _FEWEST_RESULTS and any(pair.now)]
    seen = sum(pair.shows(_shares_nothing) for pair in answered)
    if not pairs.holds(seen):
        return None
    none_at_all = sum(pair.shows(lambda then, today: not {*then}.intersection(today)) for pair in answered)
    how = "no document" if none_at_all == seen else "next to no document"
    unknown = pairs.ids_before.isdisjoint(pairs.ids_now)
    of_no_query = "; no document that came back was in any of the baseline's" if unknown else ""
    text = (
        f"{_of_answers(seen, pairs)} share {how} with the baseline's{of_no_query}. Look at what is searched (index, model, page), "
        "and at how results are sorted."
    )
    return Sign("nothing_shared", text)


SIGNS: Sequence[Callable[[AnswerPairs], Sign | None]] = (
    # What is true of the ids or of whole answers explains all that follows from it.
    ids_respelt,
    same_answer,
    reversed_order,
    other_query,
    ended_early,
    nothing_returned,
    reordered,
    # What has many causes.
    nothing_shared,
)
"""The signs in the order in which they are looked for: the first that is found is named, as the others follow from it."""

_OF_DOCUMENTS = (ids_respelt, reordered, nothing_shared)
"""The signs for which chunks count as their documents."""


def _of_answers(seen: int, pairs: AnswerPairs) -> str:
    return f"{seen:,} of {plural(len(pairs.answered), 'answer')}"


def _same_documents(then: Ranking, today: Ranking) -> bool:
    return {*then} == {*today} and len(then) == len(today)


def _shares_nothing(then: Ranking, today: Ranking) -> bool:
    return len({*then}.intersection(today)) <= _SHARED * len(then) and not {*then[:1]}.intersection(today)


def disorder(then: Ranking, today: Ranking) -> float:
    """Return the share of pairs of common documents that stand in the other order: 0 is the same order, 1 the reverse."""
    place = {doc_id: rank for rank, doc_id in enumerate(today)}
    common = [place[doc_id] for doc_id in then if doc_id in place]
    swapped = sum(upper > lower for upper, lower in combinations(common, 2))
    return swapped / max(1, len(common) * (len(common) - 1) // 2)
