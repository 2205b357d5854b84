"""Formats of one judgment a row: what their readers share, from rows to contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.query import MAX_GRADE, Contents, Query, make_query
from pytest_irmetrics.thresholds import read_number

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.metrics import Grade

__all__ = [
    "MAX_BYTES",
    "Judged",
    "bad_grade",
    "blocks",
    "contents_of",
    "grouped",
    "judged_twice",
    "read_grade",
]

MAX_BYTES = 1_000_000_000
"""Rows are read block by block, and a great many are usual here."""

_BLOCK = 4_000_000
_GRADES: dict[bytes, Grade] = {b"%d" % grade: grade for grade in range(-10, MAX_GRADE + 1)}

Judged = tuple[dict[str, dict[str, "Grade"]], dict[str, int]]
"""Grades by query and document, and the line on which each query is first named."""


def blocks(data: bytes) -> Iterator[bytes]:
    """Yield the data in blocks of whole lines, so that never all rows are in memory as objects."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        yield data[start:end]
        start = end


def grouped(rows: Iterable[tuple[bytes, bytes, bytes]], first: int = 1) -> Judged | None:
    """Group rows of query, document and grade, of which `first` is the line of the first.

    None where anything is not as it nearly always is (a grade that is no integer, a document judged twice, rows of
    another shape), for a slower reader to read or to complain of.
    """
    judged: dict[str, dict[str, Grade]] = {}
    lines: dict[str, int] = {}
    current = None
    documents: dict[str, Grade] = {}
    line = first - 1
    grades = _GRADES
    try:
        for line, (query, document, grade) in enumerate(rows, first):
            if query != current:
                current = query
                query_id = query.decode()
                if query_id not in judged:
                    judged[query_id] = {}
                    lines[query_id] = line
                documents = judged[query_id]
            documents[document.decode()] = grades[grade]
    except (KeyError, ValueError):
        return None
    return (judged, lines) if sum(map(len, judged.values())) == line - first + 1 else None


def read_grade(text: str) -> Grade | None:
    """Read a grade by trec_eval's conventions: any number up to 1000, also below 0. None if it is none."""
    number = read_number(text)
    if number is None or number > MAX_GRADE:
        return None
    return (
        int(number) if number == int(number) else number
    )  # as pandas writes whole numbers beside a gap: 3.0


def bad_grade(doc_id: str, text: str) -> str:
    """Say that `read_grade` could make nothing of a text."""
    return f"The grade of {quote(doc_id)} is {quote(text)}. Write a number up to {MAX_GRADE}."


def judged_twice(query_id: str, doc_id: str, line: int) -> str:
    """Say that a query judges a document a second time."""
    return f"The query {quote(query_id)} judges {quote(doc_id)} twice, first on line {line}. Keep one."


def contents_of(
    judged: Judged,
    texts: Mapping[str, str] | None,
    problems: Problems,
    *,
    name: str,
    texts_in: str = "",
    ignored: Container[str] = (),
) -> Contents:
    """Make contents of judgments and texts, which are None where the set has none.

    A query without a text, where there are texts, is reported: `texts_in` names the file that lacks it. One with a
    text and no judgment is left out, unless it is `ignored`.
    """
    grades, lines = judged
    queries: dict[str, Query] = {}
    no_params: dict[str, object] = {}  # one for all, as nothing changes a query
    for query_id, documents in grades.items():
        if texts is None:
            text = None
        else:
            text = texts.get(query_id)
            if text is None:
                message = (
                    f"The query {quote(query_id)} has no text in {texts_in}. Add it, or remove its judgments."
                )
                problems.report(lines[query_id], 1, message)
        queries[query_id] = make_query(
            query_id, text, documents, (), (), 1.0, no_params, (), False, None, None, lines[query_id], 1  # noqa: FBT003 - as its fields
        )  # fmt: skip
    left_out = [query_id for query_id in texts or () if query_id not in grades and query_id not in ignored]
    if not queries and not len(problems):
        problems.report(1, 1, "There is no judgment. Write one a line.")
    return Contents(queries, problems.shown, name, left_out=tuple(left_out))
