"""The gate that is furthest beyond its limit comes first, and its metric leads in every output."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.evaluation import evaluate_run, read_metrics
from pytest_irmetrics.gates import decide, leading_metric, usual_metric
from pytest_irmetrics.gates.verdict import broken_by
from pytest_irmetrics.thresholds import Gates, build, resolve

GOLDEN = GoldenSet.from_judgments({f"q{n}": {f"d{n}": 1} for n in range(20)})
GOOD = Run({f"q{n}": [f"d{n}", "x"] for n in range(20)})
LOWER = Run({f"q{n}": ["x", f"d{n}"] if n < 4 else [f"d{n}", "x"] for n in range(20)})
"""MRR falls by 0.1, NDCG by 0.074, recall and hit by nothing."""
NAMES = ["mrr", "ndcg@10", "recall@10"]


def gates(*lines):
    """Return the gates of lines such as ``mrr max_drop=0.01``."""
    thresholds = []
    for line in lines:
        metric, word, limit = line.replace("=", " ").split()
        thresholds.append(build(metric, {word: float(limit)}, tag=None))
    return resolve([thresholds])


def verdicts(*lines, now=LOWER):
    comparison = compare(evaluate_run(GOLDEN, now, NAMES), evaluate_run(GOLDEN, GOOD, NAMES))
    return decide(comparison.now, gates(*lines), comparison=comparison, against="the baseline")


def first(*lines, now=LOWER):
    verdict = verdicts(*lines, now=now)[0]
    return f"{verdict.metric} {verdict.word}"


@pytest.mark.parametrize(
    ("lines", "headline"),
    [
        (["ndcg@10 max_drop=0.01", "mrr max_drop=0.01"], "mrr max_drop"),
        (["mrr max_drop=0.05", "ndcg@10 max_drop=0.01"], "ndcg@10 max_drop"),
        (["mrr min=0.95", "ndcg@10 max_drop=0.01"], "ndcg@10 max_drop"),
        (["ndcg@10 max_drop=0.07", "mrr min=0.99"], "mrr min"),
        (["recall@10 max_drop=0.01", "mrr max_drop=0.01"], "mrr max_drop"),
    ],
)
def test_the_gate_that_broke_by_most_of_its_limit_comes_first(lines, headline):
    assert first(*lines) == headline
    assert first(*reversed(lines)) == headline


def test_a_lost_query_counts_as_one_where_none_may_be_lost():
    lost = Run({f"q{n}": ["x"] if n == 0 else [f"d{n}"] for n in range(20)})
    assert first("mrr max_lost=0", "mrr max_drop=0.01", now=lost) == "mrr max_drop"
    assert first("mrr max_lost=0", "mrr max_drop=0.04", now=lost) == "mrr max_lost"


@pytest.mark.parametrize(
    ("word", "value", "limit", "expected"),
    [
        ("max_drop", 0.03, 0.01, 2),
        ("max_drop", 0.03, 0, 3),
        ("min", 0.76, 0.80, 0.05),
        ("max", 300, 200, 0.5),
        ("max_lost", 3, 0, 3),
        ("max_lost", 6, 2, 2),
    ],
)
def test_how_far_a_gate_is_broken_is_measured_in_its_limits(word, value, limit, expected):
    assert broken_by(word, value, limit) == pytest.approx(expected)


def test_what_needs_no_limit_comes_before_all_gates():
    golden = GoldenSet.from_judgments({"q0": {"d0": 1}}, name="one")
    query = next(iter(golden.queries.values()))
    forbidding = GoldenSet([type(query)("q0", "text", {"d0": 1}, forbidden=("x",))])
    now = evaluate_run(forbidding, Run({"q0": ["x", "d0"]}), NAMES)
    assert decide(now, gates("mrr min=0.9"))[0].word == "forbidden"


def test_the_metric_of_the_first_failed_gate_leads():
    lines = ["ndcg@10 max_drop=0.01", "mrr max_drop=0.01"]
    metrics = read_metrics(NAMES)
    assert leading_metric(metrics, gates(*lines), verdicts(*lines)).name == "mrr"
    passing = verdicts(*lines, now=GOOD)
    assert leading_metric(metrics, gates(*lines), passing).name == "ndcg@10"
    assert leading_metric(metrics, gates("mrr max_drop=0.01"), ()).name == "mrr"
    assert leading_metric(metrics, Gates(()), ()).name == "ndcg@10"


@pytest.mark.parametrize(
    ("names", "usual"),
    [
        (["mrr", "ndcg@10"], "ndcg@10"),
        (["judged@10", "latency_p50", "map", "mrr"], "map"),
        (["no_answer"], None),
    ],
)
def test_the_usual_metric_is_ndcg_at_10_or_the_first_that_rates_rankings(names, usual):
    found = usual_metric(read_metrics(names))
    assert (found and found.name) == usual
