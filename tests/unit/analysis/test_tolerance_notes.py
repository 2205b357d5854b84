"""Notes on what a `max_drop` allows on so many queries."""

from __future__ import annotations

import itertools

import pytest
import scipy.stats

from pytest_irmetrics.analysis.tolerance import Forecast, on_tolerance, on_tolerance_before_run
from pytest_irmetrics.comparison import RunNoise, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet, Query
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
    expected = f"on {n} queries is {share} of one query's score: one wrong document above the relevant ones fails it, whichever the query."
    assert on_tolerance_before_run(golden(n), rule, {}) == f"max_drop {drop} {expected}"
    run = evaluate_run(golden(n), Run({f"q{number}": ["d"] for number in range(n)}), ["ndcg@10"])
    (note,) = on_tolerance(compare(run, run), rule)
    assert note == f"max_drop {drop} of ndcg@10 {expected}"


def test_a_tolerance_in_per_cent_is_said_to_be_at_most_that_part():
    (before, after) = (
        on_tolerance_before_run(golden(20), gates("ndcg@10", max_drop=limit), {}) for limit in ("1%", 0.01)
    )
    assert before.startswith("max_drop 1% on 20 queries is at most a fifth of one query's score: ")
    assert after.startswith("max_drop 0.01 on 20 queries is a fifth of one query's score: ")


LOST = "one query that loses all its relevant documents fails it"


@pytest.mark.parametrize(
    ("metric", "n", "share"),
    [
        ("ndcg@10", 37, "0.37"),  # a wrong first document costs 1 − 1/log2(3) = 0.369 of a query
        ("ndcg@10", 49, "half"),
        ("rbp", 19, "0.19"),  # 0.2 at best
        ("recall@10", 20, "a fifth"),
    ],
)
def test_what_costs_less_than_is_allowed_is_not_said_to_fail(metric, n, share):
    assert on_tolerance_before_run(golden(n), gates(metric, max_drop=0.01), {}) == (
        f"max_drop 0.01 on {n} queries is {share} of one query's score: {LOST}, whichever the query."
    )


def test_of_a_metric_by_which_no_query_scores_nothing_is_said_to_fail():
    assert on_tolerance_before_run(golden(20), gates("mrr(rel=2)", max_drop=0.01), {}) == (
        "max_drop 0.01 on 20 queries is a fifth of one query's score."
    )


def test_weights_and_several_relevant_documents_are_counted():
    queries = [
        Query("one", "", {"d": 1}),
        Query("heavy", "", {"d": 1}, weight=5.0),
        Query("light", "", {"d": 1}, weight=0.1),
        *(Query(f"many{n}", "", {f"d{number}": 1 for number in range(20)} | {"wrong": 0}) for n in range(14)),
    ]
    note = on_tolerance_before_run(GoldenSet(queries), gates("ndcg@10", max_drop=0.017), {})
    # A wrong document above ten right ones costs 0.22 of a query.
    assert note.endswith("fails it, in 2 of the queries.")
    note = on_tolerance_before_run(GoldenSet(queries), gates("recall@10", max_drop=0.017), {})
    assert note.endswith(f"{LOST}, in 16 of the queries.")


def ranked(set_, *ranks):
    """Evaluate a run that finds each query's document at one of these ranks; 0 is nowhere."""
    found = {
        query: [*"abcefghij"[: rank - 1], "d"] if rank else ["x"]
        for query, rank in zip(set_.queries, itertools.cycle(ranks))
    }
    return evaluate_run(set_, Run(found), ["mrr"])


def test_with_a_change_it_says_how_often_a_harmless_one_of_its_size_fails():
    set_ = golden(20)
    comparison = compare(ranked(set_, 1, 2, 1, 1), ranked(set_, 1, 1, 1, 2))
    (note,) = on_tolerance(comparison, gates("mrr", max_drop=0.03))
    assert note == (
        "with 20 queries about 4 in 10 harmless changes of this size fail max_drop 0.03 of mrr, and 1 in 20 fails 0.16. "
        "For 0.03 to fail once in 20, it takes 200 to 600 queries."
    )
    seen = Forecast(comparison["mrr"], 0.03)
    # Ten queries move by a half: from 6 of them down on the mean falls further than 0.03, and from 9 on than 0.15, which
    # is widened by Student's quantile of 40 degrees of freedom.
    assert seen.share == pytest.approx(scipy.stats.binom.sf(5, 10, 0.5))
    assert scipy.stats.binom.sf(7, 10, 0.5) > 0.05 > scipy.stats.binom.sf(8, 10, 0.5)


def test_of_several_gates_the_one_that_fails_most_has_the_note():
    rules = resolve([[build("mrr", {"max_drop": 0.06}), build("mrr", {"max_drop": 0.03}, tag="t")]])
    queries = GoldenSet([Query(f"q{n}", "", {"d": 1}, tags=("t",)) for n in range(20)])
    comparison = compare(ranked(queries, 1, 2, 1, 1), ranked(queries, 1, 1, 1, 2))
    (note,) = on_tolerance(comparison, rules)
    assert note.startswith(
        "with 20 queries tagged t about 4 in 10 harmless changes of this size fail max_drop 0.03 of mrr"
    )


def test_few_changed_queries_do_not_tell_how_many_are_needed():
    set_ = golden(20)
    comparison = compare(ranked(set_, 1, 2, 1), ranked(set_, 1, 1, 1))
    (note,) = on_tolerance(comparison, gates("mrr", max_drop=0.01))
    assert note == (
        "with 20 queries about 5 in 10 harmless changes of this size fail max_drop 0.01 of mrr, and 1 in 20 fails 0.14."
    )


def test_four_changed_queries_tell_nothing_of_harmless_changes():
    set_ = golden(20)
    comparison = compare(ranked(set_, 1, 2, 1, 1, 1), ranked(set_, 1, 1, 1, 1, 1))
    (note,) = on_tolerance(comparison, gates("mrr", max_drop=0.01))
    assert note.startswith("max_drop 0.01 of mrr on 20 queries is a fifth of one query")


def test_a_tolerance_that_harmless_changes_seldom_exceed_has_no_note():
    set_ = golden(400)
    comparison = compare(ranked(set_, 1, 2, *[1] * 18), ranked(set_, *[1] * 20))
    assert Forecast(comparison["mrr"], 0.02).share < 0.05
    assert not [*on_tolerance(comparison, gates("mrr", max_drop=0.02))]


def test_run_noise_lets_fewer_harmless_changes_fail():
    set_ = golden(20)
    comparison = compare(ranked(set_, 1, 2, 1, 1), ranked(set_, 1, 1, 1, 2))
    noise = RunNoise(0.02, 1.645, (), (10, 10), 0.06)
    quiet, noisy = (Forecast(comparison["mrr"], 0.03, known) for known in (None, noise))
    assert noisy.share < quiet.share
    assert noisy.enough == pytest.approx(quiet.enough - noise.margin, abs=0.01)


def test_nothing_is_said_to_be_lost_of_a_metric_that_has_no_best():
    custom = {"own": lambda *_: 40.0}
    set_ = golden(40)
    run = evaluate_run(set_, Run({query: ["d"] for query in set_.queries}), ["own"], custom_metrics=custom)
    assert not [*on_tolerance(compare(run, run), gates("own", custom=custom, max_drop=0.5))]


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
        "max_drop 0.1 on 2 queries is a fifth of one query's score."
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


def test_nothing_is_noted_of_a_max_drop_that_allows_nothing_or_of_a_slice_without_a_pair():
    run = evaluate_run(golden(20), Run({f"q{number}": ["d"] for number in range(20)}), ["ndcg@10"])
    assert list(on_tolerance(compare(run, run), gates("ndcg@10", max_drop=0))) == []
    tagged = resolve([[build("ndcg@10", {"max_drop": 0.01}, tag="x")]])
    assert list(on_tolerance(compare(run, run), tagged)) == []
