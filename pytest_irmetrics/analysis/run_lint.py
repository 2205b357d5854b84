"""Find what a run shows to be doubtful in its golden set: misspelt or never returned ids, ineffective gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.analysis.id_spelling import normalised
from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.retrieval.passages import documents_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gates

_MAX_NAMED = 5
"""Documents or queries that a sentence names."""
_MAX_RESULTS = 20_000
"""Results among which misspelt ids are looked for."""

_SET_METRICS = ("precision", "recall", "f1", "hit")
"""Families that ignore the order of the documents above the cut-off."""


def lint_run(
    evaluation: Evaluation, gates: Gates, corpus: Container[str] | None, stored: Evaluation | None
) -> Iterator[str]:
    """Yield a sentence for each thing that a run shows to be wrong with its golden set, almost surely.

    `corpus` holds the ids of the index, None if they are unknown; `stored` is the baseline's evaluation.
    """
    yield from _misspelt(evaluation, corpus, stored)
    yield from _whole_corpus(evaluation, gates, corpus)


def lint_run_verbose(evaluation: Evaluation, gates: Gates, corpus: Container[str] | None) -> Iterator[str]:
    """Yield a sentence for each thing that may be wrong with the golden set: judged by the run, then by itself."""
    from pytest_irmetrics.golden.lint import lint  # noqa: PLC0415 - a run without -v need not load it

    yield from _ungated(evaluation, gates)
    if corpus is None:
        yield from _never_returned(evaluation)
    yield from (f"{warning.where}: {warning.message}" for warning in lint(evaluation.golden))


def _find_unreturned(evaluation: Evaluation, queries: Sequence[Query]) -> dict[str, Query]:
    """Return the documents judged relevant that none of the queries returned, each with the first that judges it."""
    returned = _returned_documents(evaluation, queries)
    found: dict[str, Query] = {}
    for query in queries:
        for doc_id, grade in query.documents.items():
            if grade > 0 and doc_id not in returned:
                found.setdefault(doc_id, query)
    return found


def _returned_documents(evaluation: Evaluation, queries: Sequence[Query]) -> set[str]:
    """Return the ids of all documents that were returned for these queries, also of those returned as chunks."""
    returned: set[str] = set()
    for query in queries:
        entries = {entry for ranking in evaluation.rankings(query.id) for entry in ranking}
        returned.update(documents_of(query, entries) if query.passages else entries)
    return returned


def _first_queries(evaluation: Evaluation, most: int) -> Sequence[Query]:
    """Return the first queries, up to the one with which they have `most` results."""
    left = most
    for place, query in enumerate(evaluation.counted):
        left -= sum(map(len, evaluation.rankings(query.id)))
        if left <= 0:
            return evaluation.counted[: place + 1]
    return evaluation.counted


def _misspelt(
    evaluation: Evaluation, corpus: Container[str] | None, stored: Evaluation | None
) -> Iterator[str]:
    """Report judged ids that are returned only in another spelling: case, separators, leading zeros, Unicode form.

    Of a large run only the first queries are looked at, as misspelt ids follow a pattern. Where the baseline returned both
    spellings, they are two documents.
    """
    queries = _first_queries(evaluation, _MAX_RESULTS)
    unreturned = _find_unreturned(evaluation, queries)
    if not unreturned or evaluation.only is not None:
        return
    by_spelling = {normalised(doc_id): doc_id for doc_id in _returned_documents(evaluation, queries)}
    pairs = [
        (doc_id, by_spelling[normalised(doc_id)], query)
        for doc_id, query in unreturned.items()
        if normalised(doc_id) in by_spelling
    ]
    # Where the index holds both, they are two documents.
    pairs = [pair for pair in pairs if corpus is None or not all(doc_id in corpus for doc_id in pair[:2])]
    if pairs and len(queries) < len(evaluation.counted):
        returned = _returned_documents(evaluation, evaluation.counted)
        pairs = [pair for pair in pairs if pair[0] not in returned]
    before = _returned_documents(stored, stored.counted) if pairs and stored is not None else set()
    pairs = [pair for pair in pairs if not before.issuperset(pair[:2])]
    respelt = [pair for pair in pairs if pair[0] in before]
    others = [pair for pair in pairs if pair[0] not in before]
    misspelt = [pair for pair in others if corpus is None or pair[0] not in corpus]
    unlike_index = [pair for pair in others if pair not in misspelt]

    def shown_pair(pair: tuple[str, str, Query], between: str = "for") -> str:
        judged, returned, query = pair
        where = evaluation.golden.where_judged(query.id, judged)
        return f"{quote(judged)} ({where}) {between} {quote(returned)}"

    if respelt:
        shown = listed(respelt, _MAX_NAMED, lambda pair: shown_pair(pair, "is now"), "; ")
        yield (
            f"{plural(len(respelt), 'id')} came back in another spelling than before, which is the golden set's: {shown}. "
            "Return ids as before; or, where the new spelling is meant, write it in the golden set."
        )
    if unlike_index:
        shown = listed(unlike_index, _MAX_NAMED, lambda pair: shown_pair(pair, "came back as"), "; ")
        yield (
            f"{plural(len(unlike_index), 'id')} came back in another spelling than the index and the golden set have: {shown}. "
            "Return ids as the index has them."
        )
    if misspelt:
        yield (
            f"The golden set seems to misspell {plural(len(misspelt), 'id')} that no query returned: "
            f"{listed(misspelt, _MAX_NAMED, shown_pair, '; ')}. Write them as the index does."
        )


def _never_returned(evaluation: Evaluation) -> Iterator[str]:
    """Report relevant documents that were returned for no query at all."""
    if evaluation.only is not None:
        return
    unreturned = _find_unreturned(evaluation, evaluation.counted)
    relevant = {d for query in evaluation.counted for d, grade in query.documents.items() if grade > 0}
    if unreturned and len(unreturned) < len(relevant):

        def with_place(judged: tuple[str, Query]) -> str:
            doc_id, query = judged
            return f"{doc_id} ({evaluation.golden.where_judged(query.id, doc_id)})"

        yield (
            f"{len(unreturned)} of {plural(len(relevant), 'document')} judged relevant were returned for no query at all: "
            f"{listed([*unreturned.items()], _MAX_NAMED, with_place)}. Hard to find, or not in the index: a fixture ir_corpus tells which."
        )


def _whole_corpus(evaluation: Evaluation, gates: Gates, corpus: Container[str] | None) -> Iterator[str]:
    """Report gates on metrics that ignore order, where the whole index fits into an answer, which then scores the same."""
    try:
        size = len(corpus)  # type: ignore[arg-type]  # it need not have one
    except TypeError:
        return
    gated = {
        metric.name: None
        for metric in gates.metrics
        if metric.family in _SET_METRICS and size <= (metric.cutoff or evaluation.depth or 0)
    }
    if gated:
        yield (
            f"The index holds {plural(size, 'document')}, no more than an answer: whatever their order, "
            f"{' and '.join(gated)} {'is' if len(gated) == 1 else 'are'} the same for every full answer. Use a smaller "
            "cut-off, or a metric that sees order (mrr, ndcg)."
        )


def _ungated(evaluation: Evaluation, gates: Gates) -> Iterator[str]:
    """Report queries that no gate covers: all gates are on tags, and the query has none of these."""
    kinds = {(metric.kind, tag) for metric, tag in gates.slices}
    if (
        not kinds
        or evaluation.only is not None
        or any(tag is None and kind != "no_answer" for kind, tag in kinds)
    ):
        return
    tags = {tag for kind, tag in kinds if kind != "no_answer"}
    uncovered = [
        query.id
        for query in evaluation.counted
        if not query.no_answer
        and not query.forbidden
        and not query.thresholds
        and tags.isdisjoint(query.tags)
    ]
    if uncovered:
        shown = listed(uncovered, _MAX_NAMED, quote)
        yield (
            f"{plural(len(uncovered), 'query', 'queries')} can fail nothing: there are gates on tags alone, and these carry none of "
            f"them: {shown}. Add a threshold for all."
        )
