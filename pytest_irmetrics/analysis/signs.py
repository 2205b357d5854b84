"""Signs of a mechanical cause in the answers of a comparison: one function for each, which looks for it and words it.

They look at ids and at the first ranking of each query, and a sign is one that a change of ranking, of text analysis or of
weights does not show. To add one, write its function here, and its row in `_KINDS` at the place where it is to be looked for.
A test refuses one without its row in docs/messages.md and in tests/scenarios/kinds_of_change.yaml. That page has
numbers in words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

from pytest_irmetrics.base import paused_gc
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.query import documents_of
from pytest_irmetrics.metrics import mean
from pytest_irmetrics.run.answer import CHUNK, document_of

_FEWEST = 3
"""In how many answers a sign must be seen, how many results they must have, and how many ids: one or two are single cases."""

_MOST = 0.8
"""In which share of all answers a sign must be seen."""

_SHARED = 0.1
"""Up to which share of its results an answer is said to have nothing of the baseline's; one of ten may be chance."""

_REORDERED = 0.3
"""From which share of pairs in the other order, on average, an order is another one: 0.5 is chance."""

_BACKWARDS = 0.75
"""From which share of pairs in the other order an answer is the reverse of another, but for equal scores."""

_FEWER = 0.8
"""Below which share of the results before fewer of them come back."""

_LOST = 0.5
"""The least share of the changed answers that shows that documents were lost before the ranking."""

_FEWEST_LOST = 5
"""In how many answers that must be seen: some answers of any change look so."""

_LITTLE = 0.1
"""Up to which share of its results an answer still keeps its order, or has what is new at its end."""

_SEPARATORS = re.compile(r"[\s_./:-]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_EDGE = re.compile(r"[^0-9A-Za-z]+")
_MOST_EDGES = 20


class Sign(NamedTuple):
    """A sign of a mechanical cause, or that there is none."""

    kind: str | None = None
    """The name of its kind; None where there is no sign."""
    text: str = ""
    """Its sentences."""


class AnswerPair(NamedTuple):
    """The first rankings of one query on both sides."""

    query: Query
    before: tuple[str, ...]
    now: tuple[str, ...]
    returned: int
    """How many results came back now, before duplicates were dropped."""

    def of_documents(self) -> AnswerPair:
        """Return the documents of both rankings: cutting texts anew exchanges none."""
        before, now = (tuple(dict.fromkeys(documents_of(self.query, one))) for one in (self.before, self.now))
        return self._replace(before=before, now=now)


AnswerPairs = list[AnswerPair]
"""Those to all paired queries to which the baseline has a result, without those that have no answer."""


@paused_gc()
def find_sign(comparison: Comparison) -> Sign:
    """Return the first sign that the answers show; one without a kind where they show none."""
    entries = _answers(comparison)
    chunked = any(pair.query.passages or CHUNK in "".join(pair.before + pair.now) for pair in entries)
    documents = [pair.of_documents() for pair in entries] if chunked else entries
    for kind in _KINDS:
        if text := kind.look(documents if kind.by_document else entries):
            return Sign(kind.name, text + " Seen in each query's first answer." * comparison.is_repeated)
    return Sign()


def _answers(comparison: Comparison) -> AnswerPairs:
    pairs, returned = [], comparison.now.retrieved.returned
    for query in comparison.now.counted:
        before, now = comparison.first_rankings(query.id)
        if before and not query.no_answer:
            was = tuple(before)
            is_now = was if now is before else tuple(now)
            pairs.append(AnswerPair(query, was, is_now, returned.get(query.id, len(is_now))))
    return pairs


def _enough(seen: int, answers: AnswerPairs) -> bool:
    """Tell whether a sign is seen in enough answers of all that the baseline has."""
    return seen >= _FEWEST and seen >= _MOST * len(answers)


def _changed(answers: AnswerPairs) -> AnswerPairs:
    return [pair for pair in answers if pair.before != pair.now]


def _showing(among: AnswerPairs, test: Callable[[AnswerPair], bool]) -> AnswerPairs:
    """Return the changed answers that show a sign; none where they are too few of those that they are among."""
    seen = [pair for pair in _changed(among) if test(pair)]
    return seen if _enough(len(seen), among) else []


# What is true of the ids or of whole answers explains all that follows from it


def _nothing_returned(answers: AnswerPairs) -> str | None:
    """Look for queries that had an answer and get none."""
    emptied = sum(not pair.now for pair in answers)
    if not _enough(emptied, answers):
        return None
    which = "any" if emptied == len(answers) else f"{emptied:,}"
    return f"Nothing comes back any more for {which} of {plural(len(answers), 'query')}."


def _ids_respelt(answers: AnswerPairs) -> str | None:
    """Look for ids of the baseline or of the golden set in another spelling, or with something added or taken off."""
    judged = {doc_id for pair in answers for doc_id, grade in pair.query.documents.items() if grade > 0}
    changed = _changed(answers)
    of_changed = {*chain.from_iterable(pair.now for pair in changed)} - judged
    if len(of_changed.difference(*[pair.before for pair in changed])) < _FEWEST:
        return None  # without all ids, which take memory
    before = {*chain.from_iterable(pair.before for pair in answers)}
    now = dict.fromkeys(chain.from_iterable(pair.now for pair in answers))
    new, gone = now.keys() - before - judged, (before | judged) - now.keys()
    if len(gone) < _FEWEST:
        return None
    by_spelling = {_normalised(doc_id): doc_id for doc_id in sorted(gone)}
    found = {doc_id: by_spelling[form] for doc_id in new if (form := _normalised(doc_id)) in by_spelling}
    longer = _affixed(new - found.keys(), gone)
    # A page below another one has its id in front, too.
    if len(before & now.keys()) * 5 <= len(now) or _added_alike(longer):
        found |= longer
    if len(found) < max(_FEWEST, len(new) / 2):
        return None
    came = [(found[doc_id], pair) for pair in changed for doc_id in pair.now if doc_id in found]
    in_place = sum(was in pair.before or was in pair.query.documents for was, pair in came)
    if in_place * 5 < len(came):
        return None  # short ids, as numbers of rows, are part of others by chance, which then stand elsewhere
    is_now = next(doc_id for doc_id in now if doc_id in found)
    return f"{plural(len(found), 'id')} came back in another spelling than before: {quote(found[is_now])} is now {quote(is_now)}. Return ids as before."


def _normalised(doc_id: str) -> str:
    """Return the form that all spellings of an id share, with `-` for separators: ``FAQ_007`` and ``faq/7`` as ``faq-7``."""
    folded = unicodedata.normalize("NFKC", unquote(doc_id)).casefold().strip()
    return _ZEROS.sub("", _SEPARATORS.sub("-", folded).strip("-"))


def _affixed(new: Collection[str], gone: Collection[str]) -> dict[str, str]:
    """Return new id → the id of ``gone`` that it contains, or that contains it.

    What is added ends at a character that is neither letter nor digit, so that `d1` is in `kb/d1` and not in `d12`.
    """
    found = {doc_id: inner for doc_id in new for inner in _inner(doc_id) if inner in gone}
    wanted = {*new} - found.keys()
    for doc_id in sorted(gone):
        found |= {inner: doc_id for inner in _inner(doc_id) if inner in wanted}
    return found


def _inner(doc_id: str) -> list[str]:
    """Return what stands between any two separators or ends of an id, without the whole id, the longest last."""
    edges = list(_EDGE.finditer(doc_id))[:_MOST_EDGES]
    starts = [0, *(edge.end() for edge in edges)]
    ends = [*(edge.start() for edge in edges), len(doc_id)]
    parts = {doc_id[start:end] for start in starts for end in ends if end > start}
    return sorted(parts - {doc_id, ""}, key=lambda part: (len(part), part))


def _added_alike(found: Mapping[str, str]) -> bool:
    """Tell whether most of these ids differ from what they were by the same text, added or taken off."""
    changes = Counter(
        max(is_, was, key=len).replace(min(is_, was, key=len), "\0", 1) for is_, was in found.items()
    )
    return max(changes.values(), default=0) >= _MOST * len(found)


def _same_answer(answers: AnswerPairs) -> str | None:
    """Look for one answer to all queries, which had answers of their own."""
    answer, times = Counter(pair.now for pair in answers).most_common(1)[0] if answers else ((), 0)
    answers_before = {pair.before for pair in answers if pair.now == answer} - {answer}
    if not _enough(times, answers) or len(answers_before) < _FEWEST:
        return None
    return f"The same {plural(len(answer), 'result')} came back for {times:,} of {plural(len(answers), 'query')}. Check whether the query's text reaches the engine, and for a cache."


def _reversed(answers: AnswerPairs) -> str | None:
    """Look for answers in reverse order; results of one score may have kept theirs."""
    seen = _showing(answers, lambda pair: _same_documents(pair) and _disorder(pair) >= _BACKWARDS)
    if not seen or 2 * sum(pair.now == pair.before[::-1] for pair in seen) < len(seen):
        return None
    return f"{_of_answers(seen, answers)} came back in reverse order. Look at the direction of the sort: a distance is best when low, a score when high."


def _other_query(answers: AnswerPairs) -> str | None:
    """Look for answers that the baseline had for another query, and which most of the changed answers are."""
    owners = {pair.before: pair.query for pair in reversed(answers) if len(pair.before) > 1}

    def is_of_another(pair: AnswerPair) -> bool:
        owner, judged = owners.get(pair.now), pair.query.judgments
        return owner is not None and not (judged and judged == owner.judgments)  # in other words

    seen = _showing(_changed(answers), is_of_another)
    if not seen:
        return None
    query, now = seen[0].query, seen[0].now
    return f"{_of_answers(seen, answers)} are the baseline's answer to another query: {quote(query.id)} got that of {quote(owners[now].id)}. Look for a cache and its key, shared state, a fallback, or results put together by position."


def _ended_early(answers: AnswerPairs) -> str | None:
    """Look for answers that are the start of the baseline's and end earlier, all at one length or not."""
    seen = _showing(answers, lambda pair: pair.now == pair.before[: len(pair.now)])
    if not seen:
        return None
    longest = max(pair.returned for pair in answers)
    cut, look = "", "a stricter match, a minimum score, a filter on results, or a time limit"
    if sum(pair.returned == longest for pair in seen) >= _MOST * len(seen):
        cut = f", and no answer has more than {plural(longest, 'result')}"
        cut += " before ir_duplicates = collapse" if longest > max(len(pair.now) for pair in answers) else ""
        look = "the number of results that is asked for"
    return f"{_of_answers(seen, answers)} end earlier than before, and up to there are the baseline's{cut}. Look at {look}."


def _began_late(answers: AnswerPairs) -> str | None:
    """Look for answers that are the baseline's from a later result on, all from the same one."""
    beginnings = [pair.before[: _skipped(pair)] for pair in answers]
    starts = Counter(filter(None, map(len, beginnings)))
    skipped = max(starts, key=starts.__getitem__, default=0)
    # Where all lost the same results, the index lacks them.
    if not _enough(starts[skipped], answers) or len({one for one in beginnings if len(one) == skipped}) == 1:
        return None
    return f"{starts[skipped]:,} of {plural(len(answers), 'answer')} begin at the baseline's result {skipped + 1}, and from there on are the baseline's. Look at the offset or page that is asked for, and at where results begin to be read."


def _skipped(pair: AnswerPair) -> int:
    """Return how many of the baseline's first results an answer lacks, if the others, at least half, are its beginning; else 0."""
    skipped = pair.before.index(pair.now[0]) if pair.now and pair.now[0] in pair.before else 0
    gone, rest = pair.before[:skipped], pair.before[skipped:]
    is_late = len(gone) <= len(rest) and pair.now[: len(rest)] == rest and {*gone}.isdisjoint(pair.now)
    return skipped if is_late else 0


def _other_texts(answers: AnswerPairs) -> str | None:
    """Look for answers that changed only where a judged passage stood: a chunk of its document stands there, and lacks it."""
    seen = _showing(_changed(answers), _lost_passages_in_place)
    if not seen:
        return None
    return f"{_of_answers(seen, answers)} differ only where a judged passage stood: a chunk of its document came back there, without the passage. Look at the texts: a stale index, documents that were edited, or how texts are cleaned and cut."


def _lost_passages_in_place(pair: AnswerPair) -> bool:
    documents = {passage.key: passage.doc for passage in pair.query.passages}
    other = [(was, now) for was, now in zip(pair.before, pair.now, strict=False) if was != now]
    in_place = len(pair.before) == len(pair.now) > len(other)
    return in_place and all(documents.get(was) == document_of(now) for was, now in other)


# What has many causes


def _reordered(answers: AnswerPairs) -> str | None:
    """Look for answers that hold the documents that they held, in quite another order."""
    seen = _showing(answers, _same_documents)
    if not seen or mean([_disorder(pair) for pair in seen]) < _REORDERED:
        return None
    return f"{_of_answers(seen, answers)} hold the same documents as before, in quite another order. Look at what ranks them rather than at what finds them."


def _nothing_shared(answers: AnswerPairs) -> str | None:
    """Look for answers that have none of their documents left, though something comes back."""

    def shares_nothing(pair: AnswerPair) -> bool:
        before, now = pair.before, pair.now
        if not now or len(before) < _FEWEST or before[0] in now:
            return False
        return len({*before}.intersection(now)) <= _SHARED * len(before)

    seen = _showing(answers, shares_nothing)
    if not seen:
        return None
    known = {*chain.from_iterable(pair.before for pair in answers)}
    unknown = known.isdisjoint(chain.from_iterable(pair.now for pair in answers))
    of_no_query = "; no id is the baseline's, as where each index draws its own" if unknown else ""
    return f"{_of_answers(seen, answers)} share next to nothing with the baseline's{of_no_query}. Look at what is searched (index, model, page), and at how results are sorted."


def _fewer_results(answers: AnswerPairs) -> str | None:
    """Look for answers that are shorter than they were: by much on average, or most of them by results that were left out."""
    # Before duplicates were dropped: smaller chunks are as many results of fewer documents.
    before, now = sum(len(pair.before) for pair in answers), sum(pair.returned for pair in answers)
    changed = _changed(answers)
    shorter = [pair for pair in answers if pair.returned < len(pair.before)]
    thinned = sum(is_part(pair.now, pair.before) for pair in shorter)
    if len(shorter) < _FEWEST or not (now < _FEWER * before or _enough(thinned, changed)):
        return None
    look = "a filter after retrieval, a minimum score, a stricter match, or a missing shard"
    if not any(pair.returned for pair in shorter):
        look = "errors or time-outs that the search turns into no results, or a filter that leaves none"
    lengths = mean([pair.returned for pair in shorter]), mean([len(pair.before) for pair in shorter])
    return f"Fewer results come back for {len(shorter):,} of {plural(len(answers), 'query')}, {lengths[0]:.1f} instead of {lengths[1]:.1f} on average. Look for {look}."


def is_part(now: Sequence[str], before: Sequence[str]) -> bool:
    """Tell whether an answer is the one before with results left out, or none."""
    rest = iter(before)
    return all(doc_id in rest for doc_id in now)


def _lost_before_ranking(answers: AnswerPairs) -> str | None:
    """Look for answers in which what stayed keeps its order, what is new stands below it, and what stood above is gone.

    Of the changed answers that can show it, half or more do in 13 of 13 such losses among 44 changes made to real engines and 77
    ordinary variants, and at most 0.35 of them in all others.
    """
    found = [_is_lost(pair) for pair in _changed(answers)]
    seen, able = found.count(True), len(found) - found.count(None)
    if seen < _FEWEST_LOST or seen < _LOST * able:
        return None
    return f"In {seen:,} of {plural(able, 'changed answer')} that keep two results, these keep their order, what is new stands below, and results from above are gone: lost before the ranking, or far down in it. Look for a text analyzer, a query cut short, a filter or penalty, a missing shard, a stale or approximate index, or the rerank depth."


def _is_lost(pair: AnswerPair) -> bool | None:
    """Tell whether an answer says that documents were lost before the ranking; None where it can say nothing of it."""
    places = {doc_id: place for place, doc_id in enumerate(pair.now)}
    kept = [doc_id for doc_id in pair.before if doc_id in places]
    if len(kept) == len(pair.before):
        return False
    if len(kept) < 2:
        return None
    new_above = max(map(places.__getitem__, kept)) + 1 - len(kept)  # above the last that stayed
    lost_above = pair.before.index(kept[-1]) >= len(kept)
    return lost_above and new_above <= _LITTLE * (len(pair.now) - len(kept)) and _disorder(pair) <= _LITTLE


class _Kind(NamedTuple):
    """A kind of change that a sign shows: how it is looked for, and what follows from it."""

    name: str
    """A word that never changes, as JSON reports have it; kind_of_change.py and notes.py treat some by name."""
    look: Callable[[AnswerPairs], str | None]
    """Returns the sign's sentences, or None where the answers do not show it."""
    by_document: bool = False
    """Whether it looks at documents in place of chunks and passages."""
    meant: bool = True
    """Whether somebody may make the change on purpose: of another no command to accept one is printed."""
    of_judgments: bool = True
    """Whether missing judgments may explain it."""


_KINDS = (
    _Kind("nothing_returned", _nothing_returned, meant=False),
    _Kind("ids_respelt", _ids_respelt, by_document=True, meant=False, of_judgments=False),
    _Kind("same_answer", _same_answer, meant=False, of_judgments=False),
    _Kind("reversed", _reversed, meant=False),
    _Kind("other_query", _other_query, meant=False, of_judgments=False),
    _Kind("ended_early", _ended_early),
    _Kind("began_late", _began_late, meant=False, of_judgments=False),
    _Kind("other_texts", _other_texts, meant=False),
    _Kind("reordered", _reordered, by_document=True),
    _Kind("nothing_shared", _nothing_shared, by_document=True),
    _Kind("fewer_results", _fewer_results),
    _Kind("lost_before_ranking", _lost_before_ranking, by_document=True, of_judgments=False),
)
"""The first that is found is named, as the others follow from it."""

MISTAKES = {kind.name for kind in _KINDS if not kind.meant}
NOT_OF_JUDGMENTS = {kind.name for kind in _KINDS if not kind.of_judgments}


def _of_answers(seen: AnswerPairs, answers: AnswerPairs) -> str:
    return f"{len(seen):,} of {plural(len(answers), 'answer')}"


def _same_documents(pair: AnswerPair) -> bool:
    """Tell whether an answer of three results or more holds the documents that it held, in whichever order."""
    return len(pair.now) == len(pair.before) >= _FEWEST and {*pair.before} == {*pair.now}


def _disorder(pair: AnswerPair) -> float:
    """Return the share of pairs of common documents that stand in the other order: 0 is the same order, 1 the reverse."""
    place = {doc_id: rank for rank, doc_id in enumerate(pair.now)}
    swapped = 0
    above: list[int] = []
    for doc_id in pair.before:
        if doc_id in place:
            lower = bisect(above, place[doc_id])
            swapped += len(above) - lower
            above.insert(lower, place[doc_id])
    return swapped / max(1, len(above) * (len(above) - 1) // 2)
