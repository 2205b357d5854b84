"""Notes on what a `max_drop` allows on so many queries."""

from __future__ import annotations

import pytest

from pytest_irmetrics.analysis.trust import on_tolerance, on_tolerance_before_run
from pytest_irmetrics.comparison import compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import build, resolve


def golden(n):
    return GoldenSet.from_judgments({f"q{number}": {"d": 1} for number in range(n)})


def gates(metric, custom=(), **words):
    return resolve([[build(metric, words, custom=custom)]])


@pytest.mark.parametrize(
    ("n", "drop", "share"),
    [
        (20, 0.01, "a fifth"),
        (18, 0.02, "0.36"),
        (10, 0.01, "a tenth"),
        (33, 0.01, "a third"),
        (36, 0.01, "0.36"),
        (3, 0.001, "less than a hundredth"),
    ],
)
def test_a_tolerance_below_one_query_is_said_in_parts_of_it(n, drop, share):
    rule = gates("ndcg@10", max_drop=drop)
    expected = f"on {n} queries is {share} of one query: one answer that slips from rank 1 to rank 2 fails."
    assert on_tolerance_before_run(golden(n), rule, {}) == f"max_drop {drop} {expected}"
    run = evaluate_run(golden(n), Run({f"q{number}": ["d"] for number in range(n)}), ["ndcg@10"])
    (note,) = on_tolerance(compare(run, run), rule)
    assert note.startswith(f"max_drop {drop} of ndcg@10 {expected}")


@pytest.mark.parametrize(
    ("metric", "n", "share"),
    [
        ("ndcg@10", 37, "0.37"),  # a slip costs 1 − 1/log2(3) = 0.369 of a query
        ("ndcg@10", 49, "half"),
        ("rbp", 20, "a fifth"),  # (1 − 0.8)² = 0.04
        ("err", 30, "0.30"),  # 1/2 − 1/4
        ("mrr(rel=2)", 20, "a fifth"),
    ],
)
def test_a_slip_that_costs_less_than_is_allowed_is_not_said_to_fail(metric, n, share):
    assert on_tolerance_before_run(golden(n), gates(metric, max_drop=0.01), {}) == (
        f"max_drop 0.01 on {n} queries is {share} of one query."
    )


def test_nothing_is_said_to_be_lost_of_a_metric_that_has_no_best():
    custom = {"own": lambda *_: 40.0}
    set_ = golden(40)
    run = evaluate_run(set_, Run({query: ["d"] for query in set_.queries}), ["own"], custom_metrics=custom)
    assert not [*on_tolerance(compare(run, run), gates("own", custom=custom, max_drop=0.5))]


def test_with_a_baseline_it_says_how_many_queries_would_be_needed():
    set_ = golden(20)
    before = evaluate_run(set_, Run({query: ["d"] for query in set_.queries}), ["mrr"])
    now = evaluate_run(
        set_, Run({q: ["d"] if n % 3 else ["x", "d"] for n, q in enumerate(set_.queries)}), ["mrr"]
    )
    (note,) = on_tolerance(compare(now, before), gates("mrr", max_drop=0.01))
    assert " With changes this noisy, 20 queries show drops of 0." in note
    assert note.endswith(" would be needed.")


def test_where_the_queries_are_enough_no_more_are_asked_for():
    set_ = golden(3)

    def ranks(*ranks):
        found = {
            query: [*"abcefghij"[: rank - 1], "d"] for query, rank in zip(set_.queries, ranks, strict=True)
        }
        return evaluate_run(set_, Run(found), ["mrr"])

    comparison = compare(ranks(10, 9, 9), ranks(9, 9, 9))
    assert comparison["mrr"].detectable
    (note,) = on_tolerance(comparison, gates("mrr", max_drop=0.02))
    assert note.endswith("from rank 1 to rank 2 fails.")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("mrr", {"max_drop": 0.05}),
        ("mrr", {"max_drop": 0.0}),
        ("mrr", {"max_drop": 0.01, "significance": 0.05}),
        ("mrr", {"min": 0.5}),
        ("mrr", {"max_drop": "3%"}),
    ],
)
def test_nothing_is_said_of_others(metric, words):
    assert on_tolerance_before_run(golden(20), gates(metric, **words), {}) is None


def test_a_metric_of_ones_own_has_no_best_to_take_a_percentage_of():
    custom = {"own": lambda *_: 1.0}
    assert on_tolerance_before_run(golden(2), gates("own", custom=custom, max_drop="1%"), custom) is None
    assert on_tolerance_before_run(golden(2), gates("own", custom=custom, max_drop=0.1), custom) == (
        "max_drop 0.1 on 2 queries is a fifth of one query."
    )


def test_only_the_queries_that_count_are_counted(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(
        "queries:\n- {query: a, relevant: d}\n- {query: b, relevant: d, xfail: x}\n- {query: c, no_answer: true}\n"
    )
    set_ = GoldenSet.load(path)
    assert "on 1 query is" in on_tolerance_before_run(set_, gates("mrr", max_drop=0.01), {})
    assert "on 1 query is" in on_tolerance_before_run(set_, gates("no_answer", max_drop=0.01), {})


def test_a_tolerance_of_many_queries_is_said_to_lose_them():
    set_ = golden(7_000)
    run = evaluate_run(set_, Run({query: ["d"] for query in set_.queries}), ["mrr"])
    (note,) = on_tolerance(compare(run, run), gates("mrr", max_drop=0.01))
    assert note == "max_drop 0.01 of mrr on 7,000 queries lets 70 be lost altogether; consider max_lost."
