"""Common parts of the formats with one judgment a row: reading grades, messages, and building the golden set."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import MAX_GRADE, as_whole_number, read_number
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.metrics import Grade


MAX_BYTES = 1_000_000_000
"""More than of other formats: files with a great many rows are usual here."""

_BLOCK = 4_000_000
"""Bytes that are split into lines at once."""

Judged = tuple[dict[str, dict[str, "Grade"]], dict[str, int]]
"""Grades by query and document, and the line on which each query is first named; no line in a folder of parts."""


def iter_lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of a file, without their ends; split block by block, so that never all are in memory as objects."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        yield from data[start:end].splitlines()
        start = end


@lru_cache(
    maxsize=1000
)  # files have few different grades, and parsing one takes longer than all else of a row
def read_grade(text: str) -> Grade | None:
    """Read a grade as trec_eval does: any number up to 1000, also below 0. None if it is none."""
    number = read_number(text)
    if number is None or number > MAX_GRADE:
        return None
    # Whole numbers may come as 3.0: pandas writes them so in a column with gaps.
    return as_whole_number(number)


def bad_grade_message(doc_id: str, text: str) -> str:
    """Return the message about a grade that `read_grade` returned None for."""
    return f"The grade of {quote(doc_id)} is {quote(text)}. Write a number up to {MAX_GRADE}."


def duplicate_judgment_message(query_id: str, doc_id: str) -> str:
    """Return the message about a second judgment of a document."""
    return f"The query {quote(query_id)} judges {quote(doc_id)} twice. Keep one."


def build_golden_set(
    judged: Judged,
    texts: Mapping[str, str] | None,
    problems: Problems,
    *,
    path: Path,
    name: str,
    texts_in: str,
) -> GoldenSet:
    """Make a golden set of the judgments of a file, and of texts if there are any (`texts` is None if not).

    Where there are texts, a query without one is reported: `texts_in` names the file that lacks it. A query with a
    text and no judgment is left out.
    """
    grades, lines = judged
    queries: list[Query] = []
    no_params: dict[str, object] = {}  # shared by all queries, to save memory
    for query_id, documents in grades.items():
        if texts is None:
            text = None
        else:
            text = texts.get(query_id)
            if text is None:
                message = (
                    f"The query {quote(query_id)} has no text in {texts_in}. Add it, or remove its judgments."
                )
                problems.report(lines.get(query_id, 1), 1, message)
        line = lines.get(query_id)
        column = None if line is None else 1
        queries.append(Query(query_id, text, documents, params=no_params, line=line, column=column))
    left_out = [query_id for query_id in texts or () if query_id not in grades]
    if not queries and not len(problems):
        problems.report(1, 1, "There is no judgment. Write one a line.")
    return GoldenSet(queries, path=path, shown=problems.shown, name=name, left_out=tuple(left_out))
