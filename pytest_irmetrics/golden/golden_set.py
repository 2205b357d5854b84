"""GoldenSet: read from a file or made in Python, and asked where it says what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import printed_as
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, place
from pytest_irmetrics.golden.formats import format_of, read
from pytest_irmetrics.golden.judgments import read_judgments

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_irmetrics.golden.query import Contents, Query
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold

__all__ = ["GoldenSet", "made_of", "read_as"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours


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
        self.queries = _by_id(queries, name)
        self.left_out = tuple(left_out)
        self._shown = shown if shown is not None else str(path) if path is not None else name
        self._tags: frozenset[str] | None = None
        self._lines: Sequence[str] | None = None

    def find(self, written: str) -> Query | None:
        r"""Return the query of an id; also where it is written as messages print it, on one line (``how\ndo I``)."""
        query_id = written if written in self.queries else printed_as(written, self.queries)
        return None if query_id is None else self.queries[query_id]

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
        return read_as(format_of(file, shown), file, shown, custom_metrics)

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
        contents = read_judgments(judgments, texts=texts, name=name, relevance_level=relevance_level)
        return made_of(contents)

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
        from pytest_irmetrics.golden.locate import lines_of, place_in  # noqa: PLC0415 - few are asked for a place

        if self._lines is None:
            self._lines = lines_of(self.path)
        after = (
            other.line
            for other in self.queries.values()
            if other.line is not None and other.line > query.line
        )
        return place_in(self.path, self._lines, query, doc_id, min(after, default=len(self._lines)))

    def __repr__(self) -> str:
        return f"<GoldenSet {self._shown}: {plural(len(self.queries), 'query', 'queries')}>"


def _by_id(queries: Iterable[Query], name: str) -> dict[str, Query]:
    """Key queries by id. Raises GoldenSetError for two of one id."""
    found: dict[str, Query] = {}
    for query in queries:
        if query.id in found:
            message = f"The query {quote(query.id)} is in it twice. Give each an `id` of its own."
            raise GoldenSetError([Problem(name, None, None, message)])
        found[query.id] = query
    return found


def read_as(form: str, path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set in one of the formats, whatever its suffix. Raises GoldenSetError."""
    return made_of(read(form, path, shown, custom_metrics), path)


def made_of(contents: Contents, path: Path | None = None) -> GoldenSet:
    """Make a golden set of what a reader returned, of the file or folder at `path`."""
    golden = GoldenSet(
        (),
        path=path,
        shown=contents.shown,
        name=contents.name,
        relevance_level=contents.relevance_level,
        thresholds=contents.thresholds,
        left_out=contents.left_out,
    )
    golden.queries = contents.queries  # by id already, and of large sets a second index takes its time
    return golden
