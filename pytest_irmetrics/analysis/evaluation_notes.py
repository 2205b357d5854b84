"""Notes on today's evaluation by itself: short answers, xfail queries, unmatched passages, documents that the index lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.evaluation import EvaluationError
from pytest_irmetrics.gates import would_pass
from pytest_irmetrics.retrieval.passages import documents_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gates

_NAMED_PASSAGES = 5
"""How many unmatched passages a note names."""


def on_evaluation(
    evaluation: Evaluation, gates: Gates, corpus: Container[str] | None = None
) -> Iterator[str]:
    """Yield the notes that every run prints.

    ``corpus`` (the fixture ``ir_corpus``) is anything that tells with ``in`` whether the index has a document. Raises
    EvaluationError where it raises.
    """
    golden = evaluation.golden
    if golden.left_out:
        yield f"Left out, because without any judgment: {listed(golden.left_out)}."
    for query in evaluation.known_bad:
        if would_pass(evaluation, query, gates):
            yield f"The query {query.id} is marked xfail ({xfail_reason(query)}) and would pass now: take the mark away."
    yield from _answers_cut_short(evaluation)
    missing = evaluation.retrieved.missing
    if missing:
        yield (
            f"No line of the stored run is about {plural(len(missing), 'query', 'queries')}, which counts as an empty "
            f"answer: {listed(missing)}."
        )
    yield from _unmatched_passages(evaluation)
    if corpus is not None:
        yield from _missing_documents(evaluation, corpus)


def _answers_cut_short(evaluation: Evaluation) -> Iterator[str]:
    """Say that the retriever seems to have a depth of its own: most answers end at one length, short of what was asked for.

    Not of single queries (``--ir-query``), nor where one answer holds every document that came back: there may be no others.
    """
    depth = evaluation.depth
    if depth is None or evaluation.only is not None:
        return
    answers: list[Sequence[str]] = []
    for query in evaluation.counted:
        rankings = evaluation.rankings(query.id)
        if any(len(ranking) >= depth for ranking in rankings):  # as nearly always, at the first query
            return
        answers += filter(None, rankings)
    longest = max(map(len, answers), default=0)
    as_long = sum(len(answer) == longest for answer in answers)
    if 2 * as_long < len(answers) or longest == len(set().union(*answers)):
        return
    advice = evaluation.retrieved.depth_advice or "Check that the retriever passes k on."
    yield f"No query got the {depth} results that were asked for; the longest answer has {longest}. {advice}"


def xfail_reason(query: Query) -> str:
    """Return the reason that an ``xfail`` gives."""
    return query.xfail or "no reason given"


def _missing_documents(evaluation: Evaluation, corpus: Container[str]) -> Iterator[str]:
    judged = {
        doc_id
        for query in evaluation.golden.queries.values()
        for doc_id, grade in query.documents.items()
        if grade > 0
    }
    try:
        missing = sorted(doc_id for doc_id in judged if doc_id not in corpus)
    except Exception as error:
        raise EvaluationError(
            f"The fixture ir_corpus could not be asked for a document: {type(error).__name__}: {error}. "
            "Give anything that supports `in`, for example a set of ids."
        ) from error
    if missing:
        yield (
            f"The index lacks {plural(len(missing), 'document')} that the golden set judges relevant; no ranking can "
            f"hold {'it' if len(missing) == 1 else 'them'}: {listed(missing)}."
        )


def _unmatched_passages(evaluation: Evaluation) -> Iterator[str]:
    """Name the judged passages that no returned chunk holds, although chunks of their document were returned."""
    judging = [query for query in evaluation.counted if query.passages]
    if not judging:
        return
    entries = {
        query.id: {e for ranking in evaluation.rankings(query.id) for e in ranking} for query in judging
    }
    found = {
        passage.key for query in judging for passage in query.passages if passage.key in entries[query.id]
    }
    missed: dict[str, str] = {}  # and for which query
    golden = evaluation.golden
    for query in judging:
        returned = {*documents_of(query, entries[query.id])}
        for passage in query.passages:
            key = passage.key
            if passage.grade >= golden.relevance_level and passage.doc in returned and key not in found:
                missed.setdefault(key, query.id)
    if missed:

        def named(judged: tuple[str, str]) -> str:
            key, query_id = judged
            return f"{golden.where_judged(query_id, key)} {key}"

        yield (
            f"{plural(len(missed), 'passage')} in no returned chunk, though chunks of the document came back: {listed([*missed.items()], _NAMED_PASSAGES, named, '; ')}. "
            "The ranking missed them, or the text is worded otherwise in the corpus, or cut in two where a chunk ends: "
            "a shorter text, or chunks that overlap, mend that."
        )
