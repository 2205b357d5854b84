"""What is doubtful about a golden set in which nothing is wrong; few sentences, each with its place.

Queries that say the same, answers given away, gates that nothing fails, ids that nothing returned.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.metrics import Scorer, mean
from pytest_irmetrics.passages import document_of
from pytest_irmetrics.reports.text import SLACK, listed, plural, score_text
from pytest_irmetrics.words import quote

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates import Limits
    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Threshold

_MOST = 10
"""How many doubts of one kind are told; what there are more of is counted."""
_NAMED = 5
"""How many documents a sentence names."""
_LOOKED_AT = 20_000
"""Results among which misspelt ids are looked for."""
_CROWD = 30
"""Queries that share half of their text; among more, made by a template, misspelt ones are not looked for."""
_LONG_ENOUGH = 10
"""Characters from which on two texts that differ by one are likely one text, misspelt."""

_END = ".,;:!?…。？！"
_START = "¿¡"
_IDENTIFIER = re.compile(r"(?=.{4})(?!\d{1,4}\Z)(?=.*[\d_./:#-]).*\w", re.DOTALL)
_SEPARATORS = re.compile(r"[\s_./:-]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_BOUNDED = ("precision", "recall", "f1", "hit", "map", "mrr", "ndcg", "r_precision", "rbp", "err")
_OF_SETS = ("precision", "recall", "f1", "hit")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something to look at again."""

    where: str
    """As ``path:line``, or with the column too."""
    message: str

    def __str__(self) -> str:
        """Write ``path:line: note: what is doubtful. What to do.``."""
        return f"{self.where}: note: {self.message}"


def doubts(golden: GoldenSet) -> list[Doubt]:
    """Return what can be doubted in a golden set by itself, the most telling first."""
    found = []
    for kind in (_thresholds(golden), _near_duplicates(golden), _leaks(golden)):
        some = list(kind)
        found += some[:_MOST]
        if len(some) > _MOST:
            found.append(Doubt(some[_MOST].where, f"{len(some) - _MOST} more of this kind begin here."))
    return found


# Thresholds -----------------------------------------------------------------------------------------------------


def _thresholds(golden: GoldenSet) -> Iterator[Doubt]:
    """Find the limits that nothing fails, and those that nothing meets."""
    for threshold in golden.thresholds:
        queries = [q for q in golden.queries.values() if threshold.tag is None or threshold.tag in q.tags]
        yield from _of_one(threshold, queries, golden)
    for query in golden.queries.values():
        for threshold in query.thresholds:
            yield from _of_one(threshold, [query], golden)


def _of_one(threshold: Threshold, queries: Sequence[Query], golden: GoldenSet) -> Iterator[Doubt]:
    metric = threshold.metric
    for word, limit in threshold.limits.items():
        if limit is None:
            continue
        free = (
            limit.value <= metric.lower
            if word in ("min", "min_each")
            else limit.value >= (100 if limit.percent else metric.upper - metric.lower)
            if word == "max_drop"
            else limit.value >= len(queries)
            if word == "max_lost"
            else False
        )
        if free:
            yield Doubt(
                threshold.origin,
                f"`{word}: {limit}` of {metric} is a gate that nothing fails. Write a limit, or off.",
            )
        elif word in ("min", "min_each") and metric.family in _BOUNDED:
            best = _best(metric, queries, golden, each=word == "min_each")
            if best is not None and best < limit.value - SLACK:
                yield Doubt(
                    threshold.origin,
                    f"`{word}: {limit}` of {metric} cannot be met: with these judgments the best ranking there is scores "
                    f"{score_text(best, limit.value)}. Lower it, or choose a metric that allows for how many documents are "
                    "relevant (r_precision, ndcg).",
                )


def _best(metric: Metric, queries: Sequence[Query], golden: GoldenSet, *, each: bool) -> float | None:
    """Return the mean, or the lowest, of what rankings of the judged documents, best first, score."""
    counted = [query for query in queries if query.xfail is None and not query.no_answer]
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    judgments = [query.judgments for query in counted]
    (scores,) = scorer.columns(judgments, (tuple(sorted(j, key=lambda d, j=j: -j[d])) for j in judgments))  # type: ignore[misc]
    values = [
        (score, query.weight) for score, query in zip(scores, counted, strict=True) if score is not None
    ]
    if not values:
        return None
    return min(value for value, _ in values) if each else mean(*map(list, zip(*values, strict=True)))


# Queries --------------------------------------------------------------------------------------------------------


def _near_duplicates(golden: GoldenSet) -> Iterator[Doubt]:
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


def _leaks(golden: GoldenSet) -> Iterator[Doubt]:
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


# A run ----------------------------------------------------------------------------------------------------------


def on_run(evaluation: Evaluation, limits: Limits, corpus: Container[str] | None) -> Iterator[str]:
    """Say what a run shows to be wrong with the golden set, almost surely."""
    yield from _misspelt(evaluation, corpus)
    yield from _whole_corpus(evaluation, limits, corpus)


def on_run_in_detail(evaluation: Evaluation, limits: Limits, corpus: Container[str] | None) -> Iterator[str]:
    """Say what a run gives reason to doubt, and what the golden set by itself does."""
    yield from _ungated(evaluation, limits)
    if corpus is None:
        yield from _never_returned(evaluation)
    yield from (f"{doubt.where}: {doubt.message}" for doubt in doubts(evaluation.golden))


def _unreturned(evaluation: Evaluation, queries: Sequence[Query]) -> dict[str, Query]:
    """Return the documents judged relevant that none of the queries returned, each with the first that judges it."""
    returned = _returned(evaluation, queries)
    found: dict[str, Query] = {}
    for query in queries:
        for doc_id, grade in query.documents.items():
            if grade > 0 and doc_id not in returned:
                found.setdefault(doc_id, query)
    return found


def _returned(evaluation: Evaluation, queries: Sequence[Query]) -> set[str]:
    returned: set[str] = set()
    for query in queries:
        entries = {entry for ranking in evaluation.rankings(query.id) for entry in ranking}
        if query.passages:
            documents = {passage.key: passage.doc for passage in query.passages}
            entries = {documents.get(entry) or document_of(entry) for entry in entries}
        returned |= entries
    return returned


def _first_results(evaluation: Evaluation, most: int) -> Sequence[Query]:
    """Return the first queries that together have about as many results."""
    left = most
    for place, query in enumerate(evaluation.counted):
        left -= sum(map(len, evaluation.rankings(query.id)))
        if left <= 0:
            return evaluation.counted[: place + 1]
    return evaluation.counted


def _misspelt(evaluation: Evaluation, corpus: Container[str] | None) -> Iterator[str]:
    """Tell ids that are returned in another spelling alone: case, separators, leading zeros, Unicode forms.

    Of a large run its first queries show that: ids that are misspelt are so by habit.
    """
    queries = _first_results(evaluation, _LOOKED_AT)
    unreturned = _unreturned(evaluation, queries)
    if not unreturned or evaluation.only is not None:
        return
    spelt = {_spelling(doc_id): doc_id for doc_id in _returned(evaluation, queries)}
    pairs = [
        (doc_id, spelt[_spelling(doc_id)], query)
        for doc_id, query in unreturned.items()
        if _spelling(doc_id) in spelt
    ]
    pairs = [pair for pair in pairs if corpus is None or pair[0] not in corpus]
    if pairs and len(queries) < len(evaluation.counted):
        returned = _returned(evaluation, evaluation.counted)
        pairs = [pair for pair in pairs if pair[0] not in returned]
    if pairs:

        def told(pair: tuple[str, str, Query]) -> str:
            judged, returned, query = pair
            return (
                f"{quote(judged)} ({evaluation.golden.where_judged(query.id, judged)}) for {quote(returned)}"
            )

        yield (
            f"The golden set seems to misspell {plural(len(pairs), 'id')} that no query returned: {listed(pairs, _NAMED, told, '; ')}. Write them as "
            "the index does."
        )


def _spelling(doc_id: str) -> str:
    folded = unicodedata.normalize("NFKC", doc_id).casefold().strip()
    return _ZEROS.sub("", _SEPARATORS.sub("-", folded))


def _never_returned(evaluation: Evaluation) -> Iterator[str]:
    if evaluation.only is not None:
        return
    unreturned = _unreturned(evaluation, evaluation.counted)
    relevant = {d for query in evaluation.counted for d, grade in query.documents.items() if grade > 0}
    if unreturned and len(unreturned) < len(relevant):

        def told(judged: tuple[str, Query]) -> str:
            doc_id, query = judged
            return f"{doc_id} ({evaluation.golden.where_judged(query.id, doc_id)})"

        yield (
            f"{len(unreturned)} of {plural(len(relevant), 'document')} judged relevant were returned for no query at all: "
            f"{listed([*unreturned.items()], _NAMED, told)}. Hard to find, or not in the index: a fixture ir_corpus tells which."
        )


def _whole_corpus(evaluation: Evaluation, limits: Limits, corpus: Container[str] | None) -> Iterator[str]:
    """Tell the gates on metrics of sets of documents where every answer can hold the whole index."""
    try:
        size = len(corpus)  # type: ignore[arg-type]  # it need not have one
    except TypeError:
        return
    gated = {
        metric.name: None
        for metric in map(evaluation.metric, dict.fromkeys(name for name, _ in limits))
        if metric.family in _OF_SETS and size <= (metric.cutoff or evaluation.depth or 0)
    }
    if gated:
        yield (
            f"The index holds {plural(size, 'document')}, no more than an answer: whatever their order, "
            f"{' and '.join(gated)} {'is' if len(gated) == 1 else 'are'} the same for every full answer. Use a smaller "
            "cut-off, or a metric that sees order (mrr, ndcg)."
        )


def _ungated(evaluation: Evaluation, limits: Limits) -> Iterator[str]:
    """Name the queries that no gate looks at: without a gated tag, where nothing is gated as a whole."""
    kinds = {(evaluation.metric(name).kind, tag) for name, tag in limits}
    if (
        not kinds
        or evaluation.only is not None
        or any(tag is None and kind != "no_answer" for kind, tag in kinds)
    ):
        return
    tags = {tag for kind, tag in kinds if kind != "no_answer"}
    free = [
        query.id
        for query in evaluation.counted
        if not query.no_answer
        and not query.forbidden
        and not query.thresholds
        and tags.isdisjoint(query.tags)
    ]
    if free:
        shown = listed(free, _NAMED, quote)
        yield (
            f"{plural(len(free), 'query', 'queries')} can fail nothing: there are gates on tags alone, and these carry none of "
            f"them: {shown}. Add a threshold for all."
        )
