"""Query: what to search for, which documents are judged how, and what else a golden set says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a golden set, with its judgments. Change none of it: all tests of a run read the same golden set."""

    id: str
    """Unique in its golden set: the file's `id`, or else the text."""
    text: str | None
    """What to search for; None where only ids are known, so that only a stored run can be evaluated."""
    judgments: Mapping[str, Grade]
    """Grade by document, with those that were judged not relevant (0); by its `key` where a passage was judged."""
    forbidden: tuple[str, ...] = ()
    """Documents that the answer must not contain."""
    tags: tuple[str, ...] = ()
    """The slices that it belongs to."""
    weight: float = 1.0
    """The query's weight in every mean: above 0, up to 1e9."""
    params: Mapping[str, object] = field(default_factory=dict)
    """Keyword arguments for the retriever."""
    thresholds: tuple[Threshold, ...] = ()
    """This query's own: `min` and `max_drop`."""
    no_answer: bool = False
    """Whether the right answer is an empty one."""
    xfail: str | None = None
    """The reason why it is known to fail; such a query is in no mean and no gate."""
    note: str | None = None
    """What people wrote about it."""
    line: int | None = None
    """The line in its file on which it begins, counted from 1."""
    column: int | None = None
    """The column in which it begins, counted from 1."""
    passages: tuple[Passage, ...] = ()
    """The judged passages, which are among the judgments too."""

    @property
    def documents(self) -> Mapping[str, Grade]:
        """The best grade of each judged document; a document that is judged by passage counts with its best passage."""
        if not self.passages:
            return self.judgments
        documents: dict[str, Grade] = {}
        source = {passage.key: passage.doc for passage in self.passages}
        for judged, grade in self.judgments.items():
            doc_id = source.get(judged, judged)
            documents[doc_id] = max(grade, documents.get(doc_id, grade))
        return documents
