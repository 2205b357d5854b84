"""Whether both runs' documents were judged since the baseline was stored, or those of one run alone."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer, Run

NOW = [f"n{i}" for i in range(6)]
BEFORE = [f"b{i}" for i in range(6)]


def judged_since(new, *, stored=(), queries=4):
    """What was judged where `new` documents are judged of each query, and `stored` ones were when the baseline was stored."""
    then = {"r": 1, **dict.fromkeys(stored, 0)}
    golden = GoldenSet(
        [
            Query(id=f"q{n}", text=f"text {n}", judgments={**then, **dict.fromkeys(new, 0)})
            for n in range(queries)
        ]
    )
    baseline = Run.of(
        {
            f"q{n}": Answer((("r", *BEFORE),), text=f"text {n}", judgments=then, weight=1.0)
            for n in range(queries)
        },
        depth=10,
    )
    today = Run({f"q{n}": ["r", *NOW] for n in range(queries)})
    sides = (evaluate_run(golden, run, ["mrr"], depth=10) for run in (today, baseline))
    return compare(*sides).judged_since


@pytest.mark.parametrize(
    ("new", "stored", "side"),
    [
        (NOW[:3], (), "now"),
        (BEFORE[:3], (), "baseline"),
        ([*NOW[:3], *BEFORE[:3]], (), None),
        ([*NOW[:4], *BEFORE[:1]], (), "now"),
        ([*NOW[:3], *BEFORE[:1]], (), None),
        (NOW, BEFORE, None),
        (NOW, BEFORE[:4], None),
        (NOW, BEFORE[:2], "now"),
        ([], (), None),
        (["elsewhere"], (), None),
    ],
    ids=[
        "today's",
        "the baseline's",
        "both",
        "four to one",
        "three to one",
        "the baseline's were judged",
        "most of them were",
        "few of them were",
        "none",
        "documents that neither returns",
    ],
)
def test_new_judgments_of_one_run_alone_are_one_sided(new, stored, side):
    assert judged_since(new, stored=stored).one_sided == side


def test_documents_that_both_return_are_of_no_side():
    found = judged_since(["r", *NOW[:3]])
    assert found.now == (24, 12, 12)
    assert found.baseline == (24, 0, 0)


def test_a_few_judgments_are_no_side():
    assert judged_since(NOW[:1]).one_sided is None
    assert judged_since(NOW[:1], queries=5).one_sided == "now"
