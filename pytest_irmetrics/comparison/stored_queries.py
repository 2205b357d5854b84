"""The queries of a stored run as it was judged, and whether an answer of it is to a query of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.query import Passage
from pytest_irmetrics.retrieval.passages import judges_other_passages

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.run import Answer, Run


def is_in_the_words_of(answer: Answer, query: Query) -> bool:
    """Whether a stored answer was to this text and params; a run without texts (a TREC run) pairs by id."""
    return answer.text is None or (answer.text == query.text and answer.params == query.params)


def is_answer_to(answer: Answer, query: Query) -> bool:
    """Whether a stored answer was to this text and params, and searched for the passages that the query judges."""
    return is_in_the_words_of(answer, query) and not judges_other_passages(
        query.judgments, query.passages, answer
    )


def stored_weight(answer: Answer, otherwise: float = 1.0) -> float:
    """Return the weight that was stored with an answer; `otherwise` where none was."""
    return otherwise if answer.weight is None else answer.weight


def stored_level(run: Run) -> Grade:
    """Return the relevance level that a run was stored with; 1, the usual one, where it says none."""
    return 1 if run.relevance_level is None else run.relevance_level


def stored_query(query_id: str, answer: Answer) -> Query:
    """Return the query of a stored answer, judged as when it was stored."""
    judgments = answer.judgments or {}
    return Query(
        query_id,
        answer.text,
        judgments,
        weight=stored_weight(answer),
        tags=answer.tags,
        params=answer.params,
        no_answer=not judgments,
        xfail="" if answer.xfail else None,
        passages=stored_passages(answer),
    )


def stored_passages(answer: Answer) -> tuple[Passage, ...]:
    """Return the passages that a stored answer found, with the grades that they were stored with."""
    judgments = answer.judgments or {}
    return tuple(
        [
            Passage(doc, text, judgments[key])
            for key, (doc, text) in answer.passages.items()
            if key in judgments
        ]
    )


def golden_set_as_stored(run: Run, name: str, only: Collection[str] | None = None) -> GoldenSet:
    """Return the golden set that a stored run was judged with, without what a run does not say (thresholds, forbidden).

    `name` is what messages call it. With `only`, that of these queries.
    """
    queries = [
        stored_query(query_id, answer)
        for query_id, answer in run.answers.items()
        if only is None or query_id in only
    ]
    return GoldenSet(queries, name=name, shown=name, relevance_level=stored_level(run))
