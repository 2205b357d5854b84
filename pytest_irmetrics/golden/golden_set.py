"""GoldenSet: queries with their judgments and thresholds, loaded from a file or made from Python mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import id_printed_as
from pytest_irmetrics.base.ids import as_id
from pytest_irmetrics.base.numbers import MAX_GRADE, finite
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, format_place
from pytest_irmetrics.golden.formats import format_of, reader_of
from pytest_irmetrics.golden.query import Query

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


@dataclass(frozen=True, eq=False, repr=False)
class GoldenSet:
    """Queries with their judgments and thresholds: a file's content, or what `from_judgments` was given.

    Change none of it: all tests of a run read the same golden set, and a baseline stores it. Raises GoldenSetError for two
    queries of one id.
    """

    _queries: InitVar[Iterable[Query]]
    _: KW_ONLY
    path: Path | None = None
    """The file, or the folder of a BEIR data set; None if the set was made in Python."""
    shown: str | None = None
    """How messages call the file, if not by its path."""
    name: str = "judgments"
    """For people: the file's `name`, or else its stem."""
    relevance_level: Grade = 1
    """The lowest grade that counts as relevant in binary metrics: above 0, up to 1000."""
    thresholds: tuple[Threshold, ...] = ()
    """The set's own and, with a tag, those of its slices."""
    left_out: tuple[str, ...] = ()
    """Ids of queries without any judgment, which no metric can be computed for."""
    queries: Mapping[str, Query] = field(init=False)
    """By id, in the file's order."""

    def __post_init__(self, _queries: Iterable[Query]) -> None:
        queries: dict[str, Query] = {}
        for query in _queries:
            if query.id in queries:
                message = f"The query {quote(query.id)} is in it twice. Give each an `id` of its own."
                raise GoldenSetError([Problem(self.name, None, None, message)])
            queries[query.id] = query
        object.__setattr__(self, "queries", queries)

    def find(self, written: str) -> Query | None:
        r"""Return the query of an id; also where it is written as messages print it, on one line (``how\ndo I``)."""
        query_id = written if written in self.queries else id_printed_as(written, self.queries)
        return None if query_id is None else self.queries[query_id]

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, custom_metrics: Collection[str] = (), shown: str | None = None
    ) -> GoldenSet:
        """Read a golden set from a file, whose suffix says how, or from a BEIR folder.

        The suffixes are ``.yaml``, ``.yml``, ``.jsonl``, ``.csv``, ``.tsv`` and ``.qrels`` (TREC, with texts in
        ``NAME.topics.tsv``), also before ``.gz``. `custom_metrics` are the names of metrics
        of one's own that its thresholds may use. Messages name the file as `path` does, or as `shown`. Raises
        GoldenSetError with all problems that were found, also for a file that is missing or cannot be read.
        """
        file = Path(path)
        shown = str(file) if shown is None else shown
        golden: GoldenSet = reader_of(format_of(file, shown))(file, shown, custom_metrics)
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
        without it only a stored run can be evaluated. `relevance_level` is above 0 and up to 1000. A query without any
        judgment is in `left_out`. Raises GoldenSetError.
        """
        return _from_judgments(judgments, texts, name, relevance_level)

    @cached_property
    def tags(self) -> frozenset[str]:
        """Every tag that a query carries."""
        return frozenset(tag for query in self.queries.values() for tag in query.tags)

    @property
    def _shown(self) -> str:
        return self.shown or (self.name if self.path is None else str(self.path))

    def where(self, query_id: str) -> str:
        """Return the place of a query as ``path:line``; the set's name if it did not come from a file."""
        return format_place(self._shown, self.queries[query_id].line, None)

    def where_judged(self, query_id: str, doc_id: str) -> str:
        """Return the place where a document or passage is judged, as ``path:line``; if unknown, its query's place."""
        line = self.locate(query_id, doc_id)
        where = self.where(query_id)
        return where if line is None else f"{where.rpartition(':')[0]}:{line}"

    def locate(self, query_id: str, doc_id: str) -> int | None:
        """Find the line on which a query judges or forbids a document, or judges the passage of that key.

        None if there is no file, if the file has changed since it was read, or if the query does not name that
        document. Reads the file again: loading would be slower if it kept the place of each judgment.
        """
        query = self.queries[query_id]
        if self.path is None or query.line is None:
            return None
        if doc_id not in query.judgments and doc_id not in query.forbidden:
            return None
        from pytest_irmetrics.golden.locate import find_line  # noqa: PLC0415 - seldom needed

        after = (
            other.line
            for other in self.queries.values()
            if other.line is not None and other.line > query.line
        )
        return find_line(self.path, self._lines, query, doc_id, min(after, default=len(self._lines)))

    @cached_property
    def _lines(self) -> Sequence[str]:
        from pytest_irmetrics.golden.locate import judgment_lines  # noqa: PLC0415 - seldom needed

        return judgment_lines(self.path) if self.path is not None else ()

    def __repr__(self) -> str:
        return f"<GoldenSet {self._shown}: {plural(len(self.queries), 'query', 'queries')}>"


# From judgments in Python ----------------------------------------------------------------------------------------------


def _from_judgments(
    judgments: Mapping[str, Mapping[str, Grade]],
    texts: Mapping[str, str] | None,
    name: str,
    relevance_level: Grade,
) -> GoldenSet:
    """Check judgments that were given as Python mappings, and make a golden set of them."""
    problems: list[str] = []
    level = _grade(relevance_level)
    if level is None or not 0 < level <= MAX_GRADE:
        problems.append(
            f"relevance_level is {_shown(relevance_level)}. Give the lowest grade that counts, above 0 and up to {MAX_GRADE}."
        )
    if not isinstance(judgments, Mapping) or not isinstance(texts, Mapping | None):
        what = "judgments" if not isinstance(judgments, Mapping) else "texts"
        advice = (
            "a mapping of query id to document id to grade"
            if what == "judgments"
            else "a mapping of query id to text"
        )
        raise GoldenSetError([Problem(name, None, None, f"The {what} are no mapping. Give {advice}.")])
    known_texts = _check_texts(texts or {}, problems)
    queries: dict[str, Query] = {}
    left_out: dict[str, None] = {}
    for key, documents in judgments.items():
        query_id = _id(key, "query", problems)
        if query_id is None:
            continue
        if query_id in queries or query_id in left_out:
            problems.append(
                f"The query {quote(query_id)} is here twice, as text and as an integer. Keep one."
            )
        elif not isinstance(documents, Mapping):
            problems.append(
                f"The judgments of query {quote(query_id)} are {_shown(documents)}. Give {{id: grade}}."
            )
        elif documents:
            grades = _check_grades(query_id, documents, problems)
            queries[query_id] = Query(query_id, known_texts.get(query_id), grades)
        else:
            left_out[query_id] = None
    left_out |= dict.fromkeys(query_id for query_id in known_texts if query_id not in queries)
    if not queries and not problems:
        problems.append("There is no query with a judgment. Give {query id: {document id: grade}}.")
    if problems or level is None:
        raise GoldenSetError([Problem(name, None, None, message) for message in problems])
    return GoldenSet(queries.values(), name=name, relevance_level=level, left_out=tuple(left_out))


def _check_texts(texts: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    read = {}
    for key, text in texts.items():
        query_id = _id(key, "query", problems)
        if query_id is None:
            continue
        if isinstance(text, str) and text and not text.isspace():
            read[query_id] = text
        else:
            problems.append(
                f"The text of query {quote(query_id)} is {_shown(text)}. Give the text to search for."
            )
    return read


def _check_grades(query_id: str, documents: Mapping[str, Grade], problems: list[str]) -> dict[str, Grade]:
    grades: dict[str, Grade] = {}
    for key, value in documents.items():
        doc_id = _id(key, "document", problems)
        if doc_id is None:
            continue
        grade = _grade(value)
        if doc_id in grades:
            problems.append(
                f"Query {quote(query_id)} judges {quote(doc_id)} twice, as text and as an integer. Keep one."
            )
        elif grade is None or grade > MAX_GRADE:
            problems.append(
                f"Query {quote(query_id)} grades {quote(doc_id)} {_shown(value)}. Give a number up to {MAX_GRADE}."
            )
        else:
            grades[doc_id] = grade
    return grades


def _id(key: object, what: str, problems: list[str]) -> str | None:
    """Return the id of a query or document as text; what is none is reported."""
    found = as_id(key)
    if found:
        return found
    problems.append(f"The {what} id {_shown(key)} is no id. Give a text or an integer.")
    return None


def _grade(value: object) -> Grade | None:
    """Return a grade as Python's own number, None for what is none; nearly always it is an int already."""
    return value if type(value) is int and -MAX_GRADE <= value <= MAX_GRADE else finite(value)


def _shown(value: object) -> str:
    """Show a value from Python in a message, whatever its `repr` would do."""
    if isinstance(value, str | bool | float) or value is None:
        return quote(value) if isinstance(value, str) else repr(value)
    if type(value) is int and abs(value) < 10**20:
        return str(value)
    return f"of type {type(value).__name__}"
