"""GoldenSet and Query, and what is said of a file that holds none."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_irmetrics.thresholds import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.passages import Passage
    from pytest_irmetrics.thresholds import Threshold

    Reader = Callable[[Path, str, Collection[str]], "GoldenSet"]

__all__ = [
    "MAX_GRADE",
    "MAX_WEIGHT",
    "SUFFIXES",
    "GoldenSet",
    "GoldenSetError",
    "Problem",
    "Query",
    "is_golden_folder",
    "make_query",
    "read_as",
]

MAX_WEIGHT = 1e9  # greater ones could not be summed as doubles, and say no more
MAX_GRADE = 1000  # the gain 2^grade - 1 of a greater one could not be summed as a double


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a golden set, where, and what to do about it."""

    file: str
    """As the user named it; of a set that came from Python, its name."""
    line: int | None
    """Counted from 1; None where there is no file."""
    column: int | None
    """Counted from 1, in characters."""
    message: str

    def __str__(self) -> str:
        """Write ``file:line:column: what is wrong. What to do.``."""
        return f"{place(self.file, self.line, self.column)}: {self.message}"


class GoldenSetError(ValueError):
    """A golden set that cannot be read; `problems` holds all that was found, in the order of the file."""

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One problem a line."""
        return "\n".join(map(str, self.problems))


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


class GoldenSet:
    """Queries with their judgments and thresholds: a file's content, or what `from_judgments` was given.

    Not to be changed once it is made.
    """

    __slots__ = (
        "_lines",
        "_shown",
        "_tags",
        "left_out",
        "name",
        "path",
        "queries",
        "relevance_level",
        "thresholds",
    )

    path: Path | None
    """None if it came from Python."""
    name: str
    """For people: the file's `name`, or else its stem."""
    relevance_level: Grade
    """The lowest grade that counts as relevant in binary metrics."""
    thresholds: tuple[Threshold, ...]
    """The set's own and, with a tag, those of its slices."""
    queries: Mapping[str, Query]
    """By id, in the file's order."""
    left_out: tuple[str, ...]
    """Ids of queries without any judgment, which no metric can say anything about."""

    def __init__(
        self,
        queries: Iterable[Query],
        *,
        path: Path | None = None,
        shown: str | None = None,
        name: str = "judgments",
        relevance_level: Grade = 1,
        thresholds: Iterable[Threshold] = (),
        left_out: Iterable[str] = (),
    ) -> None:
        self.path = path
        self.name = name
        self.relevance_level = relevance_level
        self.thresholds = tuple(thresholds)
        self.queries = {query.id: query for query in queries}
        self.left_out = tuple(left_out)
        self._shown = shown if shown is not None else str(path) if path is not None else name
        self._tags: frozenset[str] | None = None
        self._lines: Sequence[str] | None = None

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, custom_metrics: Collection[str] = (), shown: str | None = None
    ) -> GoldenSet:
        """Read a golden set from a file, whose suffix says how, or from a BEIR folder.

        `custom_metrics` are the names of metrics of one's own that its thresholds may use. Messages name the file
        as `path` does, or as `shown`. Raises GoldenSetError, also for a file that is missing or cannot be read.
        """
        file = Path(path)
        shown = str(file) if shown is None else shown
        is_folder = os.path.isdir(file)  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
        name = "beir" if is_folder and is_golden_folder(file) else SUFFIXES.get(file.suffix.lower())
        if name is None or (is_folder and name != "beir"):
            formats = ", ".join(SUFFIXES)
            if is_folder:
                message = f"This is a folder. Name the golden sets in it, files with {formats}."
            else:
                suffix = quoted(file.suffix) if file.suffix else "no suffix"
                message = (
                    f"A golden set is a file with {formats}, and this has {suffix}. Rename or convert it."
                )
            raise GoldenSetError([Problem(shown, 1, 1, message)])
        return read_as(name, file, shown, custom_metrics)

    @classmethod
    def from_judgments(
        cls,
        judgments: Mapping[str, Mapping[str, Grade]],
        *,
        texts: Mapping[str, str] | None = None,
        name: str = "judgments",
        relevance_level: Grade = 1,
    ) -> GoldenSet:
        """Make a golden set of judgments: query id → document id → grade.

        As trec_eval has it, a query without a relevant document scores 0, and grades below 0 gain 0. A query
        without any judgment is in `left_out`. Ids that are integers become text. Raises GoldenSetError.
        """
        from pytest_irmetrics.golden.judgments import read_judgments  # noqa: PLC0415 - it needs this module

        return read_judgments(judgments, texts=texts, name=name, relevance_level=relevance_level)

    @property
    def tags(self) -> frozenset[str]:
        """Every tag that a query carries."""
        if self._tags is None:
            self._tags = frozenset(tag for query in self.queries.values() for tag in query.tags)
        return self._tags

    def where(self, query_id: str) -> str:
        """Return where a query stands, as ``path:line``; the set's name if it did not come from a file."""
        return place(self._shown, self.queries[query_id].line, None)

    def where_judged(self, query_id: str, doc_id: str) -> str:
        """Return where a document or passage is judged, as ``path:line``; where its query stands if that is unknown."""
        line = self.locate(query_id, doc_id)
        where = self.where(query_id)
        return where if line is None else f"{where.rpartition(':')[0]}:{line}"

    def locate(self, query_id: str, doc_id: str) -> int | None:
        """Find the line on which a query judges or forbids a document, or judges the passage of that key.

        None if there is no file, if the file has changed since it was read, or if the query says nothing of that
        document. Reads the file again, which keeps loading fast.
        """
        query = self.queries[query_id]
        if self.path is None or query.line is None:
            return None
        if doc_id not in query.judgments and doc_id not in query.forbidden:
            return None
        from pytest_irmetrics.golden.places import lines_of, place_in  # noqa: PLC0415 - needed for files alone

        if self._lines is None:
            self._lines = lines_of(self.path)
        after = (
            other.line
            for other in self.queries.values()
            if other.line is not None and other.line > query.line
        )
        return place_in(self.path, self._lines, query, doc_id, min(after, default=len(self._lines)))

    def __repr__(self) -> str:
        return f"<GoldenSet {self._shown}: {len(self.queries)} queries>"


def place(file: str, line: int | None, column: int | None) -> str:
    """Write a place as editors and CI logs read it: ``file:line:column``, without what is None."""
    return ":".join([file, *(str(number) for number in (line, column) if number is not None)])


def is_golden_folder(path: Path) -> bool:
    """Say whether a folder is a golden set itself: one of BEIR, with ``queries.jsonl`` and ``qrels``."""
    return os.path.isfile(path / "queries.jsonl") and os.path.isdir(path / "qrels")  # noqa: PTH112, PTH113 - as above


_READERS = {
    "yaml": ("yaml_reader", "read_yaml"),
    "trec": ("trec", "read_qrels"),
    "jsonl": ("jsonl", "read_jsonl"),
    "csv": ("tables", "read_table"),
    "tsv": ("tables", "read_table"),
    "beir": ("beir", "read_folder"),
    "quepid": ("quepid", "read_quepid"),
}
"""Format → its module here and the function that reads it; none is imported before it is needed."""

SUFFIXES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".qrels": "trec",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "quepid",
}
"""Suffix → format."""


def read_as(name: str, path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set in one of the formats, whatever its suffix. Raises GoldenSetError."""
    module, function = _READERS[name]
    reader: Reader = getattr(import_module(f"pytest_irmetrics.golden.{module}"), function)
    return reader(path, shown, custom_metrics)
