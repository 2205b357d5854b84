"""What a golden set is made of: a Query, and the Contents that a reader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold

__all__ = ["MAX_GRADE", "MAX_WEIGHT", "Contents", "Query", "make_query"]

MAX_WEIGHT = 1e9  # greater ones could not be summed as doubles, and say no more
MAX_GRADE = 1000  # the gain 2^grade - 1 of a greater one could not be summed as a double


@dataclass(frozen=True, slots=True)
class Query:
    """One query, and what is known about its answer."""

    id: str
    text: str | None
    """What to search for; None where only ids are known, so that nothing but a stored run can be checked."""
    judgments: Mapping[str, Grade]
    """Grade by document, with those that were judged not relevant (0); by its `key` where a passage was judged."""
    forbidden: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    """Above 0; counts in every mean."""
    params: Mapping[str, object] = field(default_factory=dict)
    """Keyword arguments for the retriever."""
    thresholds: tuple[Threshold, ...] = ()
    """This query's own: `min` and `max_drop`."""
    no_answer: bool = False
    """Whether the right answer is an empty one."""
    xfail: str | None = None
    """Why it is known to be bad; such a query is in no mean and no gate."""
    note: str | None = None
    line: int | None = None
    """Where it begins in its file, counted from 1."""
    column: int | None = None
    passages: tuple[Passage, ...] = ()
    """The judged passages, which are among the judgments too."""

    @property
    def documents(self) -> Mapping[str, Grade]:
        """The best grade by judged document, those included that are judged by passage."""
        if not self.passages:
            return self.judgments
        documents: dict[str, Grade] = {}
        source = {passage.key: passage.doc for passage in self.passages}
        for judged, grade in self.judgments.items():
            doc_id = source.get(judged, judged)
            documents[doc_id] = max(grade, documents.get(doc_id, grade))
        return documents


class _Draft:
    """A Query while its slots can still be set.

    The constructor of a frozen dataclass sets each field through `object.__setattr__`, which takes four times as
    long; over 100,000 queries that is a tenth of the time in which a file is to be read.
    """

    __slots__ = Query.__slots__

    def __init__(
        self,
        query_id: str,
        text: str | None,
        judgments: Mapping[str, Grade],
        forbidden: tuple[str, ...],
        tags: tuple[str, ...],
        weight: float,
        params: Mapping[str, object],
        thresholds: tuple[Threshold, ...],
        no_answer: bool,  # noqa: FBT001 - positional, because keywords cost as much as is saved here
        xfail: str | None,
        note: str | None,
        line: int | None,
        column: int | None,
        passages: tuple[Passage, ...] = (),
    ) -> None:
        self.id = query_id
        self.text = text
        self.judgments = judgments
        self.forbidden = forbidden
        self.tags = tags
        self.weight = weight
        self.params = params
        self.thresholds = thresholds
        self.no_answer = no_answer
        self.xfail = xfail
        self.note = note
        self.line = line
        self.column = column
        self.passages = passages
        self.__class__ = Query  # type: ignore[assignment]  # equal slots, so it is one from here on


make_query = cast("Callable[..., Query]", _Draft)
"""Make a Query faster than its own constructor; all fields, in its order."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a golden set says, as its reader has read it; a GoldenSet is made of it."""

    queries: Mapping[str, Query]
    """By id, in the file's order."""
    shown: str
    """How messages name the file in which the queries' lines are counted."""
    name: str
    relevance_level: Grade = 1
    thresholds: tuple[Threshold, ...] = ()
    left_out: tuple[str, ...] = ()
    """Ids of queries without any judgment."""
