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


def on_misspelt_ids(
    evaluation: Evaluation, corpus: Container[str] | None, stored: Evaluation | None
) -> Iterator[str]:
    """Report judged ids that come back only in another spelling: case, separators, leading zeros, Unicode form.

    `corpus` holds the ids of the index, None if they are unknown; `stored` is the baseline's evaluation. Of a large run
    only the first queries are looked at, as misspelt ids follow a pattern. Where the index holds both spellings, or the
    baseline returned both, they are two documents.
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
    pairs = [pair for pair in pairs if corpus is None or not all(doc_id in corpus for doc_id in pair[:2])]
    if pairs and len(queries) < len(evaluation.counted):
        returned = _returned_documents(evaluation, evaluation.counted)
        pairs = [pair for pair in pairs if pair[0] not in returned]
    before = _returned_documents(stored, stored.counted) if pairs and stored is not None else set()
    pairs = [pair for pair in pairs if not before.issuperset(pair[:2])]
    if not pairs:
        return

    def shown_pair(pair: tuple[str, str, Query]) -> str:
        judged, returned, query = pair
        return f"{quote(judged)} ({evaluation.golden.where_judged(query.id, judged)}) came back as {quote(returned)}"

    as_judged = sum(judged in before or (corpus is not None and judged in corpus) for judged, _, _ in pairs)
    advice = (
        "Return ids as the index has them; or, where the new spelling is meant, write it in the golden set."
        if as_judged
        else "Write them in the golden set as the index does."
    )
    yield (
        f"{plural(len(pairs), 'id')} of the golden set came back in another spelling alone: "
        f"{listed(pairs, _MAX_NAMED, shown_pair, '; ')}. {advice}"
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
