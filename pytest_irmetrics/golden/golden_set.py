"""GoldenSet: queries with their judgments and thresholds, loaded from a file or made from Python mappings."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, InitVar, dataclass, field
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

from pytest_irmetrics.base.escape import id_printed_as
from pytest_irmetrics.base.numbers import MAX_GRADE, as_whole_number, finite_number
from pytest_irmetrics.base.wording import cut, plural, quote
from pytest_irmetrics.golden.formats import read_golden_set
from pytest_irmetrics.golden.query import Query, known_ids
from pytest_irmetrics.golden.source import GoldenSetError, Problem, Source, Wrong, format_place
from pytest_irmetrics.metrics import Grade
from pytest_irmetrics.run.answer import as_id
from pytest_irmetrics.thresholds import EACH_TAG, Threshold


@dataclass(frozen=True, eq=False)
class GoldenSet:
    """Queries with their judgments and thresholds: a file's content, or what `from_judgments` was given.

    `read_set` of format_yaml.py reads those that files have.
    Change none of it: all tests of a run read the same golden set, and a baseline stores it. Raises GoldenSetError for two
    queries of one id, and for a relevance level out of its range.
    """

    _queries: InitVar[Iterable[Query]]
    _: KW_ONLY
    path: Path | None = None
    """The file, or the folder of a BEIR data set; None if the set was made in Python."""
    shown: str = ""
    """How messages call it: the file's path, or the name of what was made in Python."""
    name: str = "judgments"
    """For people: the file's `name`, or else its stem."""
    relevance_level: Grade = 1
    """The lowest grade that counts as relevant in binary metrics: above 0, up to 1000."""
    thresholds: tuple[Threshold, ...] = ()
    """The set's own and, with a tag, those of its slices."""
    left_out: tuple[str, ...] = ()
    """Ids of queries that have neither a judgment nor an empty list of them."""
    queries: Mapping[str, Query] = field(init=False)
    """By id, in the file's order."""

    def __post_init__(self, _queries: Iterable[Query]) -> None:
        queries: dict[str, Query] = {}
        for query in _queries:
            if query.id in queries:
                twice = f"The query {quote(query.id)} is in it twice. Give each an `id` of its own."
                raise _error(self.name, twice)
            queries[query.id] = query
        level = _grade(self.relevance_level) or 0
        if level <= 0:
            advice = f"Give the lowest that counts, above 0 and up to {MAX_GRADE}."
            raise _error(self.name, f"relevance_level is no grade. {advice}")
        object.__setattr__(self, "relevance_level", level)
        object.__setattr__(self, "queries", queries)
        object.__setattr__(self, "shown", self.shown or self.name)

    def find(self, written: str) -> Query | None:
        r"""Return the query of an id; also where it is written as messages print it, on one line (``how\ndo I``)."""
        return self.queries.get(written) or self.queries.get(id_printed_as(written, self.queries) or "")

    def relevant(self, query: Query, level: Grade | None = None) -> set[str]:
        """Return what a query judges relevant: the ids of the documents and passages with a grade of `level` or higher; unless given, of the relevance level."""
        least = self.relevance_level if level is None else level
        return {judged for judged, grade in query.judgments.items() if grade >= least}

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, custom_metrics: Collection[str] = (), shown: str | None = None
    ) -> GoldenSet:
        """Read a golden set from a file, whose suffix says how, or from a BEIR folder.

        `golden.formats` has the suffixes; each may stand before ``.gz``. `custom_metrics` are the names of metrics of one's
        own that its thresholds may use. Messages name the file as `path` does, or as `shown`. Raises
        GoldenSetError with all problems that were found, also for a file that is missing or cannot be read.
        """
        golden: GoldenSet = read_golden_set(Path(path), shown, custom_metrics)
        return golden

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

        Ids are text, or integers and UUIDs, which become text. Grades are numbers up to 1000; as in trec_eval, those
        below 0 gain 0, and a query without a relevant document scores 0. `texts` maps query ids to what to search for;
        without it, the set can only be evaluated with a stored run. A query without any judgment is left out. Raises
        GoldenSetError with the first problem that was found.
        """
        queries = [*_queries_of(judgments, texts or {}, name)]
        judged = [query for query in queries if query.judgments]
        left_out = tuple(query.id for query in queries if not query.judgments)
        return cls(judged, name=name, relevance_level=relevance_level, left_out=left_out)

    @cached_property
    def tags(self) -> frozenset[str]:
        """Every tag that a query carries."""
        return frozenset(tag for query in self.queries.values() for tag in query.tags)

    def has_tag(self, tag: str | None) -> bool:
        """Tell whether a limit on the queries with a tag is on any of these: None is all of them, `*` each tag."""
        return tag is None or tag in self.tags or (tag == EACH_TAG and bool(self.tags))

    @cached_property
    def document_ids(self) -> frozenset[str]:
        """The documents that it judges or forbids."""
        return frozenset(doc_id for query in self.queries.values() for doc_id in known_ids(query))

    @cached_property
    def is_weighted(self) -> bool:
        """Whether any query has another weight than 1: a mean without weights takes a third of the time."""
        return any(query.weight != 1 for query in self.queries.values())

    @cached_property
    def judges_nothing(self) -> bool:
        """Whether it has queries to compare with a baseline, and not one judgment to score them by."""
        queries = self.queries.values()
        return any(query.is_unjudged for query in queries) and not any(query.judgments for query in queries)

    def where(self, query_id: str) -> str:
        """Return the place of a query as ``path:line``; the set's name if it did not come from a file."""
        return format_place(self.shown, self.queries[query_id].line, None)

    def where_judged(self, query_id: str, doc_id: str) -> str:
        """Return the place where a query judges or forbids a document, or judges the passage of that key, as ``path:line``.

        That is the first line of the query that holds the id, or the first words of the passage; if there is none, the
        query's place. Reads the file again: loading would be slower if it kept the place of each judgment.
        """
        query = self.queries[query_id]
        start = query.line or 1
        after = (other.line for other in self.queries.values() if other.line and other.line > start)
        end = min(after, default=inf)
        written = next((passage.text[:10] for passage in query.passages if passage.key == doc_id), doc_id)
        for number, line in enumerate(self.lines[start - 1 :], start):
            # In rows, those of other queries may stand between.
            if written in line and (number < end or query_id in line):
                return format_place(self.shown, number, None)
        return self.where(query_id)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file, or of a BEIR folder's split; none where it can no longer be read, or was made in Python."""
        if self.path is None:
            return []
        with suppress(Wrong):
            is_folder = os.path.isdir(self.path)  # noqa: PTH112 - Path.is_dir raises for a folder that may not be entered
            return Source(self.path / "qrels" / Path(self.shown).name if is_folder else self.path, "").lines()
        return []

    def __repr__(self) -> str:
        return f"<GoldenSet {self.shown}: {plural(len(self.queries), 'query')}>"


def _error(name: str, message: str) -> GoldenSetError:
    """Return what is wrong with a golden set of this name that was made in Python, where there is no line."""
    return GoldenSetError([Problem(name, None, None, message)])


def _queries_of(judgments: Any, texts: Any, name: str) -> Iterator[Query]:
    """Yield the queries of judgments and texts given in Python, also those without a judgment. Raises GoldenSetError."""
    try:
        known = {as_id(query_id): text for query_id, text in texts.items()}
        given = [(as_id(query_id), documents.items()) for query_id, documents in judgments.items()]
    except AttributeError:
        shapes = "{query id: {document id: grade}}, and texts as {query id: text}"
        raise _error(name, f"Judgments are no mapping of mappings. Give {shapes}.") from None
    if not any(len(documents) for _, documents in given):
        raise _error(name, "There is no query with a judgment. Give {query id: {document id: grade}}.")
    asked = dict(given)
    for query_id, documents in [*given, *((query_id, ()) for query_id in known if query_id not in asked)]:
        text = known.get(query_id)
        grades: dict[Any, Any] = {as_id(doc_id): _grade(grade) for doc_id, grade in documents}
        odd = {doc: grade for doc, grade in documents if not as_id(doc) or grades[as_id(doc)] is None}
        if odd or not query_id:
            advice = f"Give ids as text or integers, and grades as numbers up to {MAX_GRADE}."
            raise _error(name, f"The query {query_id!r} has the judgments {cut(repr(odd), 60)}. {advice}")
        if len(grades) < len(documents):
            twice = "judges one document twice, as text and as an integer. Keep one."
            raise _error(name, f"The query {query_id!r} {twice}")
        if text is not None and not (isinstance(text, str) and text.strip()):
            message = f"The text of query {query_id!r} is {cut(repr(text), 60)}. Give the text to search for."
            raise _error(name, message)
        yield Query(query_id, text, grades)


def _grade(value: object) -> Grade | None:
    """Return a grade as Python's own number, None for what is none."""
    grade = finite_number(value)
    return as_whole_number(grade) if grade is not None and grade <= MAX_GRADE else None
