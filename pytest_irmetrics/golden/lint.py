"""Queries that say the same, and those that give their answer away."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.doubt import Doubt

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from pytest_irmetrics.golden import GoldenSet, Query

_CROWD = 30
"""Queries that share half of their text; among more, made by a template, misspelt ones are not looked for."""
_LONG_ENOUGH = 10
"""Characters from which on two texts that differ by one are likely one text, misspelt."""

_END = ".,;:!?…。？！"
_START = "¿¡"
_IDENTIFIER = re.compile(r"(?=.{4})(?!\d{1,4}\Z)(?=.*[\d_./:#-]).*\w", re.DOTALL)


def near_duplicates(golden: GoldenSet) -> Iterator[Doubt]:
    """Find queries that ask the same in nearly the same words, in time that grows with their number.

    Same words: but for case, Unicode form, white space and the punctuation of sentences. In another order, or with one
    letter more, less or other: where they share an answer too. Queries with other params ask something else, and those
    with other tags are apart on purpose (unless the same words are judged otherwise).
    """
    first: dict[Hashable, Query] = {}
    ordered: dict[Hashable, Query] = {}
    halves: dict[Hashable, list[tuple[str, Query]]] = {}
    for query in golden.queries.values():
        words = _words(query.text or "")
        if not words:
            continue
        params = json.dumps(dict(query.params), sort_keys=True, default=str) if query.params else ""
        text = " ".join(words)
        other = first.setdefault((text, params), query)
        if other is not query:
            otherwise = other.judgments != query.judgments
            if otherwise or other.tags == query.tags:
                yield _double(golden, other, query, "but for case and punctuation", otherwise=otherwise)
            continue
        other = ordered.setdefault((*sorted(words), params), query)
        if other is not query:
            if _same_answer(other, query):
                yield _double(golden, other, query, "in another order")
            continue
        near = _one_letter_apart(text, params, query, halves)
        if near is not None:
            yield _double(golden, near, query, "but for one letter")


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    stripped = (word.rstrip(_END).lstrip(_START) for word in text.casefold().split())
    return [word for word in stripped if word]


def _same_answer(one: Query, other: Query) -> bool:
    if one.tags != other.tags:
        return False
    return any(grade > 0 and one.judgments.get(doc_id, 0) > 0 for doc_id, grade in other.judgments.items())


def _one_letter_apart(
    text: str, params: str, query: Query, halves: dict[Hashable, list[tuple[str, Query]]]
) -> Query | None:
    """Find an earlier query whose text is one letter away: of two such texts one half at least is the same."""
    if len(text) < _LONG_ENOUGH:
        return None
    keys = set()
    for half, rest in ((len(text) // 2,) * 2, ((len(text) - 1) // 2, (len(text) - 1) // 2 + 1)):
        keys |= {("begins", text[:half], params), ("ends", text[rest:], params)}
    found = None
    for key in keys:
        crowd = halves.setdefault(key, [])
        if len(crowd) == _CROWD:
            continue
        for known, other in crowd if found is None else ():
            if _same_answer(other, query) and _differ_by_a_letter(known, text):
                found = other
                break
        crowd.append((text, query))
    return found


def _differ_by_a_letter(one: str, other: str) -> bool:
    """Whether one letter (no digit, no sign) was added, taken away or replaced."""
    if abs(len(one) - len(other)) > 1:
        return False
    short = min(len(one), len(other))
    begin = next((i for i in range(short) if one[i] != other[i]), short)
    end = next((i for i in range(short - begin) if one[-1 - i] != other[-1 - i]), short - begin)
    rest = one[begin : len(one) - end], other[begin : len(other) - end]
    return max(map(len, rest)) == 1 and all(sign.isalpha() for part in rest for sign in part)


def _double(golden: GoldenSet, one: Query, other: Query, how: str, *, otherwise: bool = False) -> Doubt:
    advice = (
        "They are judged otherwise: judge them alike, or keep one."
        if otherwise
        else "It counts twice in the means. Keep one; or tag one of them, if that is on purpose."
    )
    line = f" on line {one.line}" if one.line is not None else ""
    return Doubt(
        golden.where(other.id), f"{quote(other.text or '')} is {quote(one.text or '')}{line} {how}. {advice}"
    )


def leaks(golden: GoldenSet) -> Iterator[Doubt]:
    """Find queries that name the id of their answer.

    Not a query that is an id and nothing else, which is a look-up on purpose. Ids that are plain words, or short
    numbers, are not looked for.
    """
    for query in golden.queries.values():
        text = (query.text or "").casefold()
        for doc_id, grade in query.documents.items():
            folded = doc_id.casefold()
            if (
                grade > 0
                and folded in text
                and folded != text.strip()
                and _IDENTIFIER.fullmatch(doc_id)
                and re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text)
            ):
                yield Doubt(
                    golden.where(query.id),
                    f"{quote(query.text or '')} contains the id of its answer, {quote(doc_id)}, so that it tests no more "
                    "than a look-up. Reword it, unless people do search for ids.",
                )
                break
