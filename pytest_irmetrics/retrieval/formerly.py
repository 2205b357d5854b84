"""What queries judged when a stored run was made, so that a change of passages hides no fall of the retriever.

A stored run holds rankings of the passages that were judged then. Whether today's chunks hold those as well, only
today's answers can tell, so they are read by them too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.retrieval.call import passages_of
from pytest_irmetrics.retrieval.passages import Known, judged_then

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.retrieval.call import Question
    from pytest_irmetrics.run import Answer, Run


def formerly_judged(queries: Iterable[Question], stored: Run | None) -> dict[str, Known]:
    """Return query id → what it judged then, of the queries that do not judge every passage that was found then."""
    if stored is None:
        return {}
    answers = stored.answers
    found = {}
    for query in queries:
        answer = answers.get(query.id)
        if answer is not None and answer.passages and answer.judgments:
            judged = getattr(query, "judgments", {})
            if not answer.passages.keys() <= judged.keys():
                found[query.id] = _known(query, answer)
    return found


def _known(query: Question, answer: Answer) -> Known:
    judgments = answer.judgments or {}
    passages = judged_then(passages_of(query), answer.passages, judgments)
    others = judgments.keys() - {passage.key for passage in passages}
    return Known(passages, frozenset({passage.doc for passage in passages} | others))
