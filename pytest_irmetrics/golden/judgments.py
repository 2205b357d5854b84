"""Judgments from Python → Contents, by trec_eval's conventions rather than a YAML file's."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem
from pytest_irmetrics.golden.query import MAX_GRADE, Contents, Query, make_query
from pytest_irmetrics.thresholds import finite

if TYPE_CHECKING:
    from pytest_irmetrics.metrics import Grade

__all__ = ["read_judgments"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours


def read_judgments(
    judgments: Mapping[str, Mapping[str, Grade]],
    *,
    texts: Mapping[str, str] | None = None,
    name: str = "judgments",
    relevance_level: Grade = 1,
) -> Contents:
    """Read judgments, query id → document id → grade. Raises GoldenSetError."""
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
    known_texts = _texts(texts or {}, problems)
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
            graded = _graded(query_id, documents, problems)
            text = known_texts.get(query_id)
            queries[query_id] = make_query(
                query_id, text, graded, (), (), 1.0, {}, (), False, None, None, None, None  # noqa: FBT003 - as its fields
            )  # fmt: skip
        else:
            left_out[query_id] = None
    left_out |= dict.fromkeys(query_id for query_id in known_texts if query_id not in queries)
    if not queries and not problems:
        problems.append("There is no query with a judgment. Give {query id: {document id: grade}}.")
    if problems or level is None:
        raise GoldenSetError([Problem(name, None, None, message) for message in problems])
    return Contents(queries, name, name, relevance_level=level, left_out=tuple(left_out))


def _texts(texts: Mapping[str, str], problems: list[str]) -> dict[str, str]:
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


def _graded(query_id: str, documents: Mapping[str, Grade], problems: list[str]) -> dict[str, Grade]:
    graded: dict[str, Grade] = {}
    for key, value in documents.items():
        doc_id = _id(key, "document", problems)
        if doc_id is None:
            continue
        grade = _grade(value)
        if doc_id in graded:
            problems.append(
                f"Query {quote(query_id)} judges {quote(doc_id)} twice, as text and as an integer. Keep one."
            )
        elif grade is None or grade > MAX_GRADE:
            problems.append(
                f"Query {quote(query_id)} grades {quote(doc_id)} {_shown(value)}. Give a number up to {MAX_GRADE}."
            )
        else:
            graded[doc_id] = grade
    return graded


def _id(key: object, what: str, problems: list[str]) -> str | None:
    """Return an id as text; an integer's is its digits."""
    if isinstance(key, str) and key:
        return str(key)
    if isinstance(key, Integral) and not isinstance(key, bool):
        try:
            return str(int(key))
        except ValueError:  # longer than Python prints
            pass
    problems.append(f"The {what} id {_shown(key)} is no id. Give a text or an integer.")
    return None


def _grade(value: object) -> Grade | None:
    """Return a grade as Python's own number, None for what is none; nearly always it is an int already."""
    return value if type(value) is int else finite(value)


def _shown(value: object) -> str:
    if isinstance(value, str | bool | float) or value is None:
        return quote(value) if isinstance(value, str) else repr(value)
    if type(value) is int and abs(value) < 10**20:
        return str(value)
    return f"of type {type(value).__name__}"
