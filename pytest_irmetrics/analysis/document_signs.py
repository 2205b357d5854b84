"""Signs of a mechanical cause in the documents: gone everywhere, new everywhere, in id order, under other ids."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.analysis.answer_pairs import FEWEST_ANSWERS, MOST, Sign
from pytest_irmetrics.analysis.id_spelling import affixed, normalised
from pytest_irmetrics.analysis.mechanical_signs import disorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_irmetrics.analysis.answer_pairs import AnswerPair, AnswerPairs

_NEW_SHARE = 0.6
"""From which share of the answers a document that was in next to none is in most."""

_RARE = 1 / 6
"""Up to which part of that it may have been in before."""

_FEWEST_IDS = 3
"""Ids that must be spelt otherwise, or be gone, to follow a pattern."""

_FEWEST_REPEATED = 5
"""How often an id must come back under its new name for that to be its name rather than another document."""

_ORDERED = 5
"""How many results a ranking must have for the order of their ids to be told from chance."""

_ENDS = "/:#._-"
"""Characters after which the beginning of an id is a group's name."""

_CHANCE = 0.001
"""Below which probability all documents of a group are not gone by chance."""

_SAME_ORDER = 0.1
"""Up to which share of pairs in the other order what is left of a ranking kept its order: weights of words shift when
documents leave an index."""


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
    was, is_ = next(
        (found[doc_id], doc_id)
        for pair in pairs.pairs
        for ranking in pair.now
        for doc_id in ranking
        if doc_id in found
    )
    answers = sum(any(doc_id in found for ranking in pair.now for doc_id in ranking) for pair in pairs.pairs)
    respelt = frozenset(found.values())
    alone = len(respelt) >= MOST * len(gone)
    return Sign("ids_respelt", answers, len(pairs.answered), alone, number=len(found), ids=(was, is_))


def _added_alike(found: Mapping[str, str]) -> bool:
    """Tell whether most of these ids differ from what they were by the same text, added or taken off."""
    changes = Counter(
        max(is_, was, key=len).replace(min(is_, was, key=len), "\0", 1) for is_, was in found.items()
    )
    return max(changes.values(), default=0) >= MOST * len(found)


def ids_renamed(pairs: AnswerPairs) -> Sign | None:
    """Look for documents that come back under another id, always the same one, at the same rank."""
    if not pairs.ids_before.isdisjoint(pairs.ids_now):
        return None
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    formerly: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs.answered:
        if len(pair.then) != len(pair.today):
            continue
        for was, is_ in zip(pair.then, pair.today, strict=True):
            names[was][is_] += 1
            formerly[is_].add(was)
    several = {was: found for was, found in names.items() if found.total() > 1}
    renamed = [
        was for was, found in several.items() if len(found) == 1 and len(formerly[next(iter(found))]) == 1
    ]
    repeated = sum(several[was].total() - 1 for was in renamed)
    if repeated < _FEWEST_REPEATED or len(renamed) < 0.95 * len(several):
        return None
    was = max(renamed, key=lambda doc_id: several[doc_id].total())
    is_ = next(iter(several[was]))
    return Sign(
        "ids_renamed",
        len(pairs.answered),
        len(pairs.answered),
        number=len(names),
        more=several[was].total(),
        ids=(was, is_),
    )


def new_everywhere(pairs: AnswerPairs) -> Sign | None:
    """Look for documents that are in most answers, and were in next to none."""
    before, now, first = _counts(pairs)
    answers = sum(any(pair.now) for pair in pairs.pairs)
    found = [
        (-count, doc_id)
        for doc_id, count in now.items()
        if count > FEWEST_ANSWERS and count >= _NEW_SHARE * answers and before[doc_id] <= _RARE * count
    ]
    ids = tuple(doc_id for _, doc_id in sorted(found))
    # Where the others are all exchanged, too, these are no more than what now ranks high.
    kept = [
        len({*pair.then}.intersection(pair.today)) * 2 >= len({*pair.today} - {*ids})
        for pair in pairs.answered
    ]
    if not ids or sum(kept) * 2 < len(kept):
        return None
    return Sign(
        "new_everywhere",
        now[ids[0]],
        answers,
        alone=False,
        number=before[ids[0]],
        more=first[ids[0]],
        ids=ids,
    )


def _counts(pairs: AnswerPairs) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count in how many answers each document is: the baseline's, today's, and today's at rank 1."""
    before: Counter[str] = Counter()
    now: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for pair in pairs.pairs:
        before.update({doc_id for ranking in pair.before for doc_id in ranking})
        now.update({doc_id for ranking in pair.now for doc_id in ranking})
        first.update(pair.today[:1])
    return before, now, first


def id_order(pairs: AnswerPairs) -> Sign | None:
    """Look for answers in the order of their ids."""
    telling = [pair for pair in pairs.changed if len(pair.today) >= _ORDERED]
    seen = sum(pair.shows(lambda _, today: _is_sorted(today)) for pair in telling)
    before = sum(_is_sorted(pair.then) for pair in telling)
    if not pairs.holds(seen, len(telling)) or before > len(telling) / 5 or seen * 2 < len(pairs.changed):
        return None
    return Sign("id_order", seen, sum(len(pair.today) >= _ORDERED for pair in pairs.answered))


def _is_sorted(ranking: tuple[str, ...]) -> bool:
    return any(_rises(ranking, key) or _rises(ranking[::-1], key) for key in (str, _natural))


def _rises(ranking: tuple[str, ...], key: Callable[[str], Any]) -> bool:
    return all(key(upper) <= key(lower) for upper, lower in pairwise(ranking))


def _natural(doc_id: str) -> list[tuple[int, int | str]]:
    """Return a key that sorts d9 before d10."""
    parts = re.split(r"(\d{1,18})", doc_id)
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts if part]


def documents_gone(pairs: AnswerPairs) -> Sign | None:
    """Look for a lost part of the index: documents that come back for no query any more, while the rest kept its order."""
    gone = pairs.ids_before - pairs.ids_now
    if len(gone) < _FEWEST_IDS:
        return None
    had = [pair for pair in pairs.changed if gone.intersection(pair.then)]
    groups = _gone_groups(pairs, gone)
    if groups:
        members = frozenset().union(*groups.values())
        having = [pair for pair in pairs.answered if not members.isdisjoint(pair.then)]
        # Documents that others push out of the answers are not gone.
        if len(having) >= FEWEST_ANSWERS and not _pushed_down(having) and _others_stay(having, members):
            examples = tuple(name if name[-1:] in _ENDS else min(groups[name]) for name in groups)
            return Sign("documents_gone", len(having), len(pairs.answered), number=len(members), ids=examples)
    before, _, _ = _counts(pairs)
    # A document that was in one answer alone says nothing of the index when it leaves that.
    if sum(before[doc_id] > 1 for doc_id in gone) < _FEWEST_IDS:
        return None
    # Of one or two documents the order says nothing.
    telling = [pair for pair in had if sum(doc_id not in gone for doc_id in pair.then) >= _FEWEST_IDS]
    moved_up = sum(_moved_up(pair, gone) for pair in telling)
    if (
        not pairs.holds(moved_up, len(telling))
        or len(telling) * 2 < len(had)
        or len(had) * 2 < len(pairs.changed)
    ):
        return None
    return Sign("documents_gone", len(had), len(pairs.answered), number=len(gone), more=moved_up)


def _moved_up(pair: AnswerPair, gone: frozenset[str]) -> bool:
    """Tell whether the documents of a ranking that are not gone kept their order, and new ones stand below them."""
    kept = [doc_id for doc_id in pair.then if doc_id not in gone]
    lost_above = any(doc_id in gone for doc_id in pair.then[: len(kept)])
    # One document that is not known may have come in above the last.
    head = {*pair.today[: len(kept) + 1]}
    return lost_above and head.issuperset(kept) and disorder(tuple(kept), pair.today) <= _SAME_ORDER


def _others_stay(pairs: Sequence[AnswerPair], gone: frozenset[str]) -> bool:
    """Tell whether most documents of these answers that are not gone are still in them."""
    others = [(doc_id, pair.today) for pair in pairs for doc_id in pair.then if doc_id not in gone]
    return sum(doc_id in today for doc_id, today in others) * 2 >= len(others)


def _pushed_down(pairs: Sequence[AnswerPair]) -> bool:
    """Tell whether most documents that are still in these answers stand lower than before."""
    ranks = [
        (pair.then.index(doc_id), rank)
        for pair in pairs
        for rank, doc_id in enumerate(pair.today)
        if doc_id in pair.then
    ]
    return sum(was < is_ for was, is_ in ranks) * 2 > len(ranks)


def _gone_groups(pairs: AnswerPairs, gone: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the groups of ids that are gone altogether, and would not be by chance, by their name, the largest first."""
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for doc_id in pairs.ids_before:
        for name in _groups_of(doc_id):
            groups[name].add(doc_id)
    whole = {
        name: members
        for name, members in groups.items()
        if len(members) >= _FEWEST_IDS and gone.issuperset(members)
    }
    lost = frozenset[str]().union(*whole.values())
    others = len(pairs.ids_before) - len(lost)
    # The rate at which the others went, with one more that did.
    rate = (len(gone) - len(lost) + 1) / (others + 1)
    found: dict[str, frozenset[str]] = {}
    named: set[str] = set()
    for name, members in sorted(whole.items(), key=lambda group: (-len(group[1]), group[0])):
        # A group within one that was named says nothing more.
        if others and not members <= named and rate ** len(members) * len(groups) < _CHANCE:
            found[name] = frozenset(members)
            named |= members
    return found


def _groups_of(doc_id: str) -> Iterator[str]:
    """Yield the prefixes of an id that name a group: letters before digits, and what ends with a separator."""
    letters = re.match(r"[^\W\d_]+(?=\d)", doc_id)
    if letters:
        yield letters[0]
    for separator in re.finditer(r"[/:#._-]+", doc_id):
        if separator.start():
            yield doc_id[: separator.end()]
