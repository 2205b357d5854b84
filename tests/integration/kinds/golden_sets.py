"""Golden sets over the example project's corpus: many and few queries, graded and binary, judged densely and sparsely."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.golden import Query
from tests.integration.kinds.engine import ROOT, Engine


@lru_cache(maxsize=1)
def graded():
    """The example's own: about 110 queries with two or three graded rules each."""
    path = ROOT / "example_project/golden/rules.yaml"
    loaded = GoldenSet.load(path, shown="rules.yaml")
    return tuple(
        replace(query, forbidden=(), thresholds=(), weight=1.0)
        for query in loaded.queries.values()
        if query.xfail is None and not query.no_answer and query.judgments
    )


def few(queries, count):
    """Every nth of them, so that all tags stay."""
    step = max(1, len(queries) // count)
    return queries[::step][:count]


def binary(queries):
    return tuple(
        replace(query, judgments={doc: int(grade > 0) for doc, grade in query.judgments.items()})
        for query in queries
    )


def sparse(queries):
    """Only the best rule of each, and nothing judged as wrong."""
    return tuple(
        replace(query, judgments={max(query.judgments, key=lambda doc: (query.judgments[doc], doc)): 1})
        for query in queries
    )


def dense(queries):
    """All that four engines find among the first ten is judged: what is not known to be good is 0."""
    engines = [
        Engine(),
        Engine(tokenizer="unicode61"),
        Engine(tokenizer="trigram"),
        Engine(weights=(1.0, 1.0, 1.0)),
    ]
    return tuple(
        replace(
            query,
            judgments={
                **{doc: 0 for engine in engines for doc in engine.search(query.text, 10, **query.params)},
                **query.judgments,
            },
        )
        for query in queries
    )


LINTERS = ("pylint", "flake8-bugbear", "Ruff-specific rules", "pycodestyle")


def by_linter():
    """Queries that are asked of several linters each: they differ in params alone."""
    found = []
    texts = (
        "unused variable",
        "exception",
        "string format",
        "comparison",
        "async function",
        "default argument",
    )
    for text in texts:
        for linter in LINTERS:
            answer = Engine().search(text, 10, linter=linter)
            if answer:
                judgments = {doc: 3 - rank for rank, doc in enumerate(answer[:3])}
                found.append(
                    Query(id=f"{text} of {linter}", text=text, judgments=judgments, params={"linter": linter})
                )
    return (*found, *few(graded(), 12))


GOLDEN_SETS = {
    "graded 110": graded,
    "binary 110": lambda: binary(graded()),
    "dense 110": lambda: dense(graded()),
    "sparse 110": lambda: sparse(graded()),
    "graded 30": lambda: few(graded(), 30),
    "binary 30": lambda: binary(few(graded(), 30)),
    "sparse 30": lambda: sparse(few(graded(), 30)),
    "dense 30": lambda: dense(few(graded(), 30)),
    "graded 6": lambda: few(graded(), 6),
    "binary 6": lambda: binary(few(graded(), 6)),
    "by linter": by_linter,
}
