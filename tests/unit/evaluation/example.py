"""A golden set of four queries, one of each kind, and a retriever that answers them."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.golden import Query

GOLDEN = GoldenSet(
    [
        Query(id="a", text="first", judgments={"d1": 2, "d2": 1}, tags=("x",), weight=3.0),
        Query(id="b", text="second", judgments={"d3": 1}, tags=("x", "y")),
        Query(id="c", text="third", judgments={"d4": 1}, xfail="TICKET-7"),
        Query(id="n", text="nothing", judgments={}, no_answer=True),
    ]
)
ANSWERS = {"first": ["d1", "d9", "d2"], "second": ["d9", "d3"], "third": [], "nothing": []}


def search(query, k):
    return ANSWERS[query][:k]
