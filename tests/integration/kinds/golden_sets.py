"""Golden sets over the example project's corpus, as lists of queries: many and few, graded and sparsely judged, by params."""

from __future__ import annotations

from functools import lru_cache

from pytest_irmetrics import GoldenSet
from tests.integration.kinds.engine import ROOT, Engine

LINTERS = ("pylint", "flake8-bugbear", "Ruff-specific rules", "pycodestyle")
TEXTS = ("unused variable", "exception", "string format", "comparison", "async function", "default argument")


@lru_cache(maxsize=1)
def graded():
    """The example's own: about 110 queries with two or three graded rules each."""
    loaded = GoldenSet.load(ROOT / "example_project/golden/rules.yaml")
    return [
        {
            "id": q.id,
            "query": q.text,
            "relevant": dict(q.judgments),
            "params": dict(q.params),
            "tags": [*q.tags],
        }
        for q in loaded.queries.values()
        if q.xfail is None and not q.no_answer and any(grade > 0 for grade in q.judgments.values())
    ]


def few(count):
    """Every nth of them, so that all tags stay."""
    return graded()[:: max(1, len(graded()) // count)][:count]


def sparse():
    """Only the best rule of each, and nothing judged as wrong."""
    return [
        {**query, "relevant": {max(query["relevant"], key=lambda doc: (query["relevant"][doc], doc)): 1}}
        for query in graded()
    ]


def by_linter():
    """Queries that are asked of several linters each: they differ in params alone."""
    found = []
    for text in TEXTS:
        for linter in LINTERS:
            answer = Engine().search(text, 10, linter=linter)
            if answer:
                relevant = {doc: 3 - rank for rank, doc in enumerate(answer[:3])}
                query = {"id": f"{text} of {linter}", "query": text, "relevant": relevant}
                found.append({**query, "params": {"linter": linter}, "tags": []})
    return [*found, *few(12)]


GOLDEN_SETS = {
    "graded 110": graded,
    "sparse 110": sparse,
    "graded 30": lambda: few(30),
    "graded 6": lambda: few(6),
}
