"""Signs of a mechanical cause in the rankings: moved up, cut, reversed, exchanged between queries, from another page.

Each function looks for one sign and returns it as data; None where it is not there. They look at rankings alone, never at
judgments, and a sign is one that a change of ranking, of text analysis or of weights does not show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.answer_pairs import FEWEST_ANSWERS, MOST, Sign

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.analysis.answer_pairs import AnswerPairs, Ranking

_TELLING = 3
"""How many results a ranking must have for its order or its documents to be told from chance."""

_SHARED = 0.1
"""Up to which share of its results an answer is said to have nothing of the baseline's; one of ten may be chance."""

_REORDERED = 0.3
"""From which share of pairs in the other order, on average, an order is another one: 0.5 is chance."""

_BACKWARDS = 0.75
"""From which share of pairs in the other order an answer is the reverse of another, but for equal scores."""

_FEWEST_TOGETHER = 20
"""How often documents must be together again for one order of all to be told from chance."""

_MOST_ANSWERS = 1000
"""In how many answers pairs of documents are counted."""

_LOOKED_AT = 20
"""How many results of a ranking are looked at in pairs."""


def first_missing(pairs: AnswerPairs) -> Sign | None:
    """Look for answers without their first results, the rest of which moved up by as many places."""
    places: Counter[int] = Counter()
    for pair in pairs.changed:
        if pair.today and pair.today[0] in pair.then[1:]:
            places[pair.then.index(pair.today[0])] += 1
    if not places:
        return None
    skipped = places.most_common(1)[0][0]

    def moved_up(then: Ranking, today: Ranking) -> bool:
        rest = then[skipped:]
        return today[: len(rest)] == rest and not {*then[:skipped]}.intersection(today)

    # An answer of which nothing, or one result, was to be left proves little by itself.
    telling = [pair for pair in pairs.changed if len(pair.then) > skipped + 1]
    seen = [pair for pair in telling if pair.shows(moved_up)]
    others = [pair for pair in pairs.changed if len(pair.then) <= skipped + 1]
    fitting = [pair for pair in others if pair.shows(moved_up)]
    firsts = {pair.then[0] for pair in seen}
    if (
        not pairs.holds(len(seen), len(telling))
        or len(fitting) < MOST * len(others)
        or len(firsts) < FEWEST_ANSWERS
    ):
        return None
    missing = [pair for pair in (*seen, *fitting) if any(pair.now)]
    emptied = len(seen) + len(fitting) - len(missing)
    return Sign("first_missing", len(missing), len(pairs.answered), number=skipped, more=emptied)


def reversed_order(pairs: AnswerPairs) -> Sign | None:
    """Look for answers in reverse order; where more than an answer holds match, the worst matches come back."""

    def backwards(then: Ranking, today: Ranking) -> bool:
        # Results of one score keep their order.
        return {*then} == {*today} and disorder(then, today) >= _BACKWARDS

    def worst(then: Ranking, today: Ranking) -> bool:
        return _shares_nothing(then, today) or disorder(then, today) >= _BACKWARDS

    short = [pair for pair in pairs.changed if len(pair.then) != pairs.depth]
    # Two results have next to no order.
    telling = [pair for pair in pairs.changed if len(pair.then) >= _TELLING]
    seen = [pair for pair in telling if pair.shows(backwards)]
    if len(seen) < FEWEST_ANSWERS or sum(pair.shows(backwards) for pair in short) < MOST * len(short):
        return None
    other = [
        pair
        for pair in telling
        if len(pair.then) == pairs.depth and not pair.shows(backwards) and pair.shows(worst)
    ]
    if len(seen) + len(other) < MOST * len(telling):
        return None
    if sum(pair.today == pair.then[::-1] for pair in seen) * 2 < len(seen):
        return None
    return Sign("reversed", len(seen), len(pairs.answered), more=len(other))


def next_page(pairs: AnswerPairs) -> Sign | None:
    """Look for page 2: full answers share nothing with the baseline's, and those that were not full are empty."""
    full = [pair for pair in pairs.changed if len(pair.then) == pairs.depth]
    short = [pair for pair in pairs.changed if len(pair.then) < (pairs.depth or 0)]
    other = sum(any(pair.now) and pair.shows(_shares_nothing) for pair in full)
    # An answer that was just full is empty now, too.
    ended = sum(not any(pair.now) for pair in full)
    emptied = sum(not any(pair.now) for pair in short)
    if len(short) < FEWEST_ANSWERS or emptied < MOST * len(short):
        return None
    if other >= FEWEST_ANSWERS and other + ended >= MOST * len(full):
        return Sign("next_page", other, len(pairs.answered), number=pairs.depth, more=emptied)
    return None


def nothing_shared(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that have none of their documents left, though something comes back."""
    telling = [pair for pair in pairs.changed if len(pair.then) >= _TELLING and any(pair.now)]
    seen = sum(pair.shows(_shares_nothing) for pair in telling)
    if not pairs.holds(seen):
        return None
    none_at_all = sum(pair.shows(lambda then, today: not {*then}.intersection(today)) for pair in telling)
    unknown = pairs.ids_before.isdisjoint(pairs.ids_now)
    return Sign(
        "nothing_shared", seen, len(pairs.answered), number=none_at_all, name="unknown" if unknown else ""
    )


def _shares_nothing(then: Ranking, today: Ranking) -> bool:
    return len({*then}.intersection(today)) <= _SHARED * len(then) and not {*then[:1]}.intersection(today)


def same_answer(pairs: AnswerPairs) -> Sign | None:
    """Look for one answer to all queries, which had answers of their own."""
    found = Counter(pair.today for pair in pairs.changed if pair.today)
    if not found:
        return None
    answer, times = found.most_common(1)[0]
    seen = [pair for pair in pairs.pairs if pair.shows(lambda _, today: today == answer)]
    own = {pair.then for pair in seen}
    if len(own) < FEWEST_ANSWERS or not pairs.holds(times):
        return None
    return Sign("same_answer", len(seen), len(pairs.pairs), number=len(answer), ids=answer)


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
    steps = Counter((place - other) % len(pairs.pairs) for place, others in seen for other in others)
    step, times = steps.most_common(1)[0]
    shifted = times >= MOST * len(seen)
    # An answer that is as many places away without starting over.
    place, others = next((one for one in seen if not shifted or one[0] - step >= 0), seen[0])
    other = (place - step) % len(pairs.pairs) if shifted else others[0]
    ids = pairs.pairs[place].query.id, pairs.pairs[other].query.id
    number = step if step <= len(pairs.pairs) // 2 else step - len(pairs.pairs)
    return Sign(
        "other_query", len(seen), len(pairs.answered), number=number if shifted else None, queries=ids
    )


def cut(pairs: AnswerPairs) -> Sign | None:
    """Look for a length at which all answers end that were longer, with the results that they had so far."""
    length = max((len(ranking) for pair in pairs.pairs for ranking in pair.now), default=0)
    longer = [pair for pair in pairs.answered if len(pair.then) > length]
    same = sum(pair.shows(lambda then, today: today == then[:length]) for pair in longer)
    if not length or not pairs.holds(same, len(longer)) or len(longer) * 2 < len(pairs.answered):
        return None
    return Sign("cut", len(longer), len(pairs.answered), number=length, more=same)


def ended_early(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that are the start of the baseline's, and end earlier."""

    def start(then: Ranking, today: Ranking) -> bool:
        return len(today) < len(then) and today == then[: len(today)]

    seen = [pair for pair in pairs.changed if pair.shows(start)]
    emptied = sum(not any(pair.now) for pair in seen)
    if pairs.holds(len(seen)) and len(seen) - emptied >= FEWEST_ANSWERS:
        return Sign("ended_early", len(seen), len(pairs.answered), more=emptied)
    return None


def reordered(pairs: AnswerPairs) -> Sign | None:
    """Look for answers that hold the documents that they held, in quite another order."""
    telling = [pair for pair in pairs.changed if len(pair.then) >= _TELLING]
    seen = [
        pair
        for pair in telling
        if pair.shows(lambda then, today: {*then} == {*today} and len(then) == len(today))
    ]
    if not pairs.holds(len(seen), len(telling)) or len(seen) * 2 < len(pairs.answered):
        return None
    if sum(disorder(pair.then, pair.today) for pair in seen) < _REORDERED * len(seen):
        return None
    return Sign("reordered", len(seen), len(pairs.answered))


def fixed_order(pairs: AnswerPairs) -> Sign | None:
    """Look for one order in which documents come back whatever the query: by date, by price, as they are stored."""
    seen = [pair for pair in pairs.changed if len(pair.today) >= _TELLING]
    if len(seen) * 2 < len(pairs.answered) or len(seen) < FEWEST_ANSWERS:
        return None
    first = seen[:_MOST_ANSWERS]
    if _has_circle([pair.today for pair in first]):
        return None
    together, before = _often_together([pair.today for pair in first]), [pair.then for pair in first]
    # Rankings that share next to nothing are in one order, too.
    told_apart = _has_circle(before) or _often_together(before) * 4 <= together
    if together < _FEWEST_TOGETHER or not told_apart or _has_circle([pair.today for pair in seen]):
        return None
    return Sign("fixed_order", len(seen), len(pairs.answered), number=together)


def _often_together(rankings: Iterable[Ranking]) -> int:
    """Count the pairs of documents that are in several rankings, the first time apart."""
    times = Counter(frozenset(both) for ranking in rankings for both in combinations(ranking[:_LOOKED_AT], 2))
    return sum(count - 1 for count in times.values())


def _has_circle(rankings: Iterable[Ranking]) -> bool:
    """Tell whether rankings contradict each other: no single order of all documents agrees with every one."""
    above: defaultdict[str, set[str]] = defaultdict(set)
    for ranking in rankings:
        for upper, lower in pairwise(ranking):
            above[lower].add(upper)
            above.setdefault(upper, set())
    try:
        TopologicalSorter(above).prepare()
    except CycleError:
        return True
    return False


def disorder(then: Ranking, today: Ranking) -> float:
    """Return the share of pairs of common documents that stand in the other order: 0 is the same order, 1 the reverse."""
    place = {doc_id: rank for rank, doc_id in enumerate(today)}
    common = [place[doc_id] for doc_id in then if doc_id in place]
    swapped = sum(upper > lower for upper, lower in combinations(common, 2))
    return swapped / max(1, len(common) * (len(common) - 1) // 2)
