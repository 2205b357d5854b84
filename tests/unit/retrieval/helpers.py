"""Queries without a golden set, and short ways to ask a retriever."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from pytest_irmetrics.retrieval import RetrievalOptions, retrieve


@dataclass
class Query:
    id: str
    text: str | None = "text"
    params: dict = field(default_factory=dict)


QUERIES = [Query(f"q{number}", f"text {number}") for number in range(8)]
ONE = QUERIES[:1]


def ids(answer, **options):
    """What an answer is read as: the ids, or the problem."""
    retrieved = retrieve(ONE, lambda _query, _k: answer, RetrievalOptions(**options))
    return retrieved.errors["q0"] if retrieved.errors else list(retrieved.run["q0"])


def problem(retriever, query=ONE[0], **options):
    retrieved = retrieve([query], retriever, RetrievalOptions(**options))
    assert list(retrieved.errors) == [query.id]
    assert not len(retrieved.run)
    return retrieved.errors[query.id]


def failing(error):
    def search(_query, _k):
        raise error

    return search


async def later(answer):
    await asyncio.sleep(0)
    return answer


ALL_OPTIONS = [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]
