"""The labels of a baseline held against today's: which changed since it was stored, and whether they favour one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_irmetrics.comparison.stored_runs import stored_weight
from pytest_irmetrics.golden import GoldenSet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.run import Answer

LabelPart = Literal["judgments", "relevance level", "weights", "tags"]
"""A part of the golden set, other than its queries, that scores depend on."""

_MIN_JUDGMENTS = 5
"""New judgments of one run's documents from which on they can be one-sided."""

_MAX_OTHERS = 1 / 4
"""Up to which share of them the other run's may get, for them to be one-sided."""

_HALF = 1 / 2
"""Below which share of what is judged of the one run's own documents the other's are judged less."""


class LabelChange(NamedTuple):
    """A judgment that changed since the baseline was stored; a grade of None says that there is, or was, none."""

    query_id: str
    doc_id: str
    before: Grade | None
    after: Grade | None


def judgment_changes(query: Query, answer: Answer) -> list[LabelChange]:
    """Return how a query's judgments differ from those stored with its answer, by document id; empty where none were."""
    if answer.judgments is None or answer.judgments == query.judgments:
        return []
    grades = (
        (doc, answer.judgments.get(doc), query.judgments.get(doc))
        for doc in {*answer.judgments, *query.judgments}
    )
    return [LabelChange(query.id, doc, *grade) for doc, *grade in sorted(grades) if grade[0] != grade[1]]


def with_stored_labels(golden: GoldenSet, answers: Mapping[str, Answer], level: Grade) -> GoldenSet:
    """Return a golden set in which queries have the judgments, weights and tags that were stored with these answers."""
    queries = dict(golden.queries)
    for query_id, answer in answers.items():
        query = replace(queries[query_id], weight=stored_weight(answer, queries[query_id].weight))
        if answer.judgments is not None:
            no_answer = not answer.judgments
            query = replace(query, tags=answer.tags, judgments=answer.judgments, no_answer=no_answer)
        queries[query_id] = query
    return GoldenSet(queries.values(), name=golden.name, relevance_level=level)


class JudgedSide(NamedTuple):
    """The documents that one run returns for the paired queries, and the other does not."""

    returned: int
    judged: int
    """How many of them are judged today."""
    judged_since: int
    """How many of those were not when the baseline was stored."""


class JudgedSince(NamedTuple):
    """For each run the documents that it alone returns, and how many were judged since the baseline was stored."""

    now: JudgedSide
    baseline: JudgedSide

    @property
    def one_sided(self) -> Literal["now", "baseline"] | None:
        """The run whose documents alone were judged; None where both runs' were, or the other's had been before.

        Such judgments favour that run: its relevant documents count from then on, the other's do not.
        """
        now, baseline = self.now, self.baseline
        if _favours(now, baseline):
            return "now"
        return "baseline" if _favours(baseline, now) else None


def _favours(one: JudgedSide, other: JudgedSide) -> bool:
    return (
        one.judged_since >= _MIN_JUDGMENTS
        and other.judged_since <= _MAX_OTHERS * one.judged_since
        and other.judged * one.returned < _HALF * one.judged * other.returned
    )


def count_judged_since(
    now: Evaluation, baseline: Evaluation, new: Collection[tuple[str, str]]
) -> JudgedSince:
    """Count the documents that one run alone returns, and which of them are judged; ``new`` are pairs of query and document."""
    sides = []
    for side, other in ((now, baseline), (baseline, now)):
        returned = judged = since = 0
        for query in now.counted if new else ():
            theirs = {doc_id for ranking in other.rankings(query.id) for doc_id in ranking}
            own = {doc_id for ranking in side.rankings(query.id) for doc_id in ranking} - theirs
            returned += len(own)
            judged += sum(doc_id in query.judgments for doc_id in own)
            since += sum((query.id, doc_id) in new for doc_id in own)
        sides.append(JudgedSide(returned, judged, since))
    return JudgedSince(*sides)
