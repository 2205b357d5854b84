"""Golden sets and comparisons of made-up runs, for the tests of what is said of a change."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query


def golden_set(queries=20, tags=None):
    return GoldenSet(
        [
            Query(
                id=f"q{n:02}",
                text=f"text {n}",
                judgments={f"d{n}": 2, f"e{n}": 1},
                tags=tuple(tag for tag, members in (tags or {}).items() if n in members),
            )
            for n in range(queries)
        ]
    )


def compared(golden, now, before, depth=10, metrics=("mrr", "ndcg@10", "recall@10")):
    """Compare two runs, each given as a function from a query's number to its ranking."""

    def evaluated(answer):
        run = Run({query_id: answer(int(query_id[1:])) for query_id in golden.queries})
        return evaluate_run(golden, run, list(metrics), depth=depth)

    return compare(evaluated(now), evaluated(before))


def good(n):
    """Both relevant documents at the top."""
    return [f"d{n}", f"e{n}", *(f"x{i}" for i in range(8))]


def lower(n):
    """Both relevant documents, four ranks lower."""
    return [*(f"x{i}" for i in range(4)), f"d{n}", f"e{n}", *(f"x{i}" for i in range(4, 8))]


def lost(n):
    """No relevant document, and the others in quite another order; what others lost comes back for the first query."""
    return [*(f"x{(3 * i + n) % 8}" for i in range(8)), *([f"y{n}", f"z{n}"] if n else ["d1", "e2"])]
