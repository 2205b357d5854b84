"""What a run shows of a golden set: ids that are misspelt or never returned, gates that say nothing."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.golden.by_itself import doubts
from pytest_irmetrics.golden.passage import document_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates import Limits
    from pytest_irmetrics.golden import Query

_NAMED = 5
"""How many documents a sentence names."""
_LOOKED_AT = 20_000
"""Results among which misspelt ids are looked for."""

_SEPARATORS = re.compile(r"[\s_./:-]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_OF_SETS = ("precision", "recall", "f1", "hit")


def on_run(
    evaluation: Evaluation, limits: Limits, corpus: Container[str] | None, stored: Evaluation | None = None
) -> Iterator[str]:
    """Say what a run shows to be wrong with the golden set, almost surely; `stored` is the baseline's."""
    yield from _misspelt(evaluation, corpus, stored)
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


def _misspelt(
    evaluation: Evaluation, corpus: Container[str] | None, stored: Evaluation | None
) -> Iterator[str]:
    """Tell ids that are returned in another spelling alone: case, separators, leading zeros, Unicode forms.

    Of a large run its first queries show that: ids that are misspelt are so by habit. Where the baseline returned both
    spellings they are two documents.
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
    before = _returned(stored, stored.counted) if pairs and stored is not None else set()
    pairs = [pair for pair in pairs if not before.issuperset(pair[:2])]
    respelt = [pair for pair in pairs if pair[0] in before]
    misspelt = [pair for pair in pairs if pair[0] not in before]

    def told(pair: tuple[str, str, Query], between: str = "for") -> str:
        judged, returned, query = pair
        where = evaluation.golden.where_judged(query.id, judged)
        return f"{quote(judged)} ({where}) {between} {quote(returned)}"

    if respelt:
        shown = listed(respelt, _NAMED, lambda pair: told(pair, "is now"), "; ")
        yield (
            f"{plural(len(respelt), 'id')} came back in another spelling than before, which is the golden set's: {shown}. "
            "Return ids as before; or, where the new spelling is meant, write it in the golden set."
        )
    if misspelt:
        yield (
            f"The golden set seems to misspell {plural(len(misspelt), 'id')} that no query returned: "
            f"{listed(misspelt, _NAMED, told, '; ')}. Write them as the index does."
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
