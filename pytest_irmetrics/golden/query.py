"""Query: what to search for, which documents are judged how, and what else a golden set says of it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.read_only import ReadOnlyDict, read_only, refuse_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold


# Not frozen: the constructor of a frozen dataclass takes four times as long, which at 100,000 queries is a tenth of
# the time of loading.
@dataclass(slots=True)
class Query:
    """One query of a golden set, with its judgments. What is in a golden set cannot be changed."""

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


class _ReadOnlyQuery(Query):
    """A query of a golden set; it differs from other queries only in that it cannot be changed."""

    __slots__ = ()

    # A copy with changes, as dataclasses.replace makes one, is an ordinary query.
    def __new__(cls, *args: Any, **kwargs: Any) -> Query:  # type: ignore[misc]
        return Query(*args, **kwargs)

    __setattr__ = __delattr__ = refuse_change

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and _values(self) == _values(other)

    __hash__ = None  # type: ignore[assignment]  # as that of any query, which holds mappings

    def __reduce__(self) -> tuple[Any, ...]:
        return Query, _values(self)


_ReadOnlyQuery.__qualname__ = Query.__qualname__  # which is what `repr` shows
_FIELDS = tuple(field.name for field in fields(Query))


def _values(query: Query) -> tuple[Any, ...]:
    return tuple([getattr(query, name) for name in _FIELDS])


def make_read_only(query: Query) -> None:
    """Make a query unchangeable from now on, with its judgments and params.

    In place, because a second object for each query would take twice the time.
    """
    if type(query) is _ReadOnlyQuery:
        return
    query.judgments = ReadOnlyDict(query.judgments)
    if query.params:
        query.params = read_only(dict(query.params))
    else:
        query.params = _NO_PARAMS
    query.__class__ = _ReadOnlyQuery


_NO_PARAMS: ReadOnlyDict[str, object] = ReadOnlyDict()
