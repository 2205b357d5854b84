"""Signs of a mechanical cause in the queries: which come back empty, ignore their params, or alone were changed."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.answer_pairs import FEWEST_ANSWERS, MOST, Sign

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.analysis.answer_pairs import AnswerPair, AnswerPairs
    from pytest_irmetrics.golden import Query

_CHANCE = 0.001
"""Below which probability the queries that changed do not have something in common by chance."""

_WORD = re.compile(r"\w+")

_LARGE_PART = 1 / 4
"""From which share of the changed answers empty ones are what is to be said first."""

_TEXTS = {
    "an upper-case letter": re.compile(r"[A-ZÀ-ÖØ-Þ]"),
    "a letter beyond a to z": re.compile(r"[^\W\d_a-zA-Z]"),
    "a digit": re.compile(r"\d"),
    "a hyphen": re.compile(r"\w-\w"),
    "an apostrophe": re.compile(r"\w['’]\w"),
    "a quotation mark": re.compile(r'["“”„«»]'),
    "a character that is no letter, digit or space": re.compile(r"[^\w\s]"),
}
"""What a query's text may have that an engine treats apart, in the words of a message."""


def nothing_returned(pairs: AnswerPairs) -> Sign | None:
    """Look for queries that had an answer and get none."""
    emptied = [pair for pair in pairs.answered if not any(pair.now)]
    if len(emptied) < FEWEST_ANSWERS or len(emptied) < _LARGE_PART * len(pairs.changed):
        return None
    alone = len(emptied) >= MOST * len(pairs.changed)
    name, _ = _in_common(emptied, pairs.answered)
    return Sign("nothing_returned", len(emptied), len(pairs.pairs), alone, name=name)


def params_ignored(pairs: AnswerPairs) -> Sign | None:
    """Look for queries that differ in params alone and get equal answers, as they did not before."""
    by_text: defaultdict[str, list[AnswerPair]] = defaultdict(list)
    for pair in pairs.answered:
        if pair.query.text is not None:
            by_text[pair.query.text].append(pair)
    seen: list[AnswerPair] = []
    apart = 0
    for group in by_text.values():
        if len({pair.then for pair in group}) < 2 or len({str(pair.query.params) for pair in group}) < 2:
            continue
        apart += len(group)
        if len({pair.today for pair in group}) == 1 and any(group[0].now):
            seen += group
    if len(seen) < FEWEST_ANSWERS or len(seen) < MOST * apart:
        return None
    with_params = sum(bool(pair.query.params) for pair in pairs.changed)
    alone = with_params >= MOST * len(pairs.changed)
    return Sign("params_ignored", len(seen), apart, alone, queries=tuple(pair.query.id for pair in seen[:2]))


def kind_of_query(pairs: AnswerPairs) -> Sign | None:
    """Look for what the queries whose answers changed have in common, and next to no other has."""
    if len(pairs.changed) < FEWEST_ANSWERS:
        return None
    name, members = _in_common(pairs.changed, pairs.answered, share=MOST)
    if not name:
        return None
    return Sign(
        "kind_of_query", len(pairs.changed), len(pairs.answered), alone=False, number=members, name=name
    )


def _in_common(some: Sequence[AnswerPair], all_: Sequence[AnswerPair], share: float = 1.0) -> tuple[str, int]:
    """Return a trait that all queries of `some` have, and how many of `all_` have it.

    Those of `some` are at least `share` of these. Empty where there is no such thing, or it may be chance. Tags are looked at only where no other query may have them.
    """
    chosen = {pair.query.id for pair in some}
    having: defaultdict[str, set[str]] = defaultdict(set)
    for pair in all_:
        for name in _traits(pair.query, tags=share == 1):
            having[name].add(pair.query.id)
    common = [(len(members), name) for name, members in having.items() if members >= chosen]
    if not common:
        return "", 0
    size, name = min(common)  # the narrowest
    # How likely all of these are among so many, if they were drawn at random, whatever they have in common.
    chance = math.comb(size, len(some)) / math.comb(len(all_), len(some)) * len(having)
    return (name, size) if len(some) >= share * size and chance < _CHANCE else ("", 0)


def _traits(query: Query, *, tags: bool) -> Iterator[str]:
    """Yield what a query may have in common with others."""
    if tags:
        yield from (f"tagged {tag}" for tag in query.tags)
    for name, value in query.params.items():
        yield f"with {name}={value!r}"
    yield from (f"with the param {name}" for name in query.params)
    text = query.text
    if text is not None:
        yield from (f"with {what}" for what, pattern in _TEXTS.items() if pattern.search(text))
        words = len(_WORD.findall(text))
        yield from (
            f"of more than {least} words" if least > 1 else "of more than one word"
            for least in range(1, min(words, 20))
        )
        yield from (
            f"of fewer than {most} words" if most > 2 else "of one word" for most in range(words + 1, 8)
        )
