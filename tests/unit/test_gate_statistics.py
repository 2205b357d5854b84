"""The regression gate's rule and words, on sets whose numbers are known beforehand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.notes import on_tolerance
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import Gate, Gates, Limit

HIT, SECOND, MISS = ["d"], ["x", "d"], ["x"]


def golden_set(n, weight=lambda _: 1.0):
    return GoldenSet([Query(f"q{i:04}", f"text {i}", {"d": 1}, weight=weight(i)) for i in range(n)])


def evaluated(golden, answer, metric="mrr"):
    return evaluate_run(
        golden, Run({query_id: answer(int(query_id[1:])) for query_id in golden.queries}), [metric]
    )


def verdict(now, before, **words):
    (metric,) = now.metrics
    gates = Gates(Gate(metric, None, word, Limit(value)) for word, value in words.items())
    comparison = compare(now, before)
    return comparison, decide(now, gates, comparison=comparison, against="the baseline")[0]


def test_a_latency_names_the_queries_that_took_too_long_and_how_long():
    now = evaluated(golden_set(4), lambda _: HIT, "latency_p95")
    times = {"q0000": (12.0,), "q0001": (250.04, 80.0), "q0002": (900.0,), "q0003": (100.0,)}
    now = replace(now, retrieved=replace(now.retrieved, latencies=times))
    (slow,) = decide(now, Gates([Gate(*now.metrics, None, "max", Limit(100))]))
    assert slow.text.endswith("above the threshold: at most 100.0000 ms is allowed.")
    assert slow.details == ("Slowest: q0002 900.0 ms, q0001 250.0 ms.",)
    assert slow.queries == ("q0002", "q0001")


def test_a_drop_of_exactly_what_is_allowed_passes():
    golden = golden_set(100)
    before = evaluated(golden, lambda n: HIT if n < 81 else MISS)
    now = evaluated(golden, lambda n: HIT if n < 80 else MISS)
    assert (before["mrr"], now["mrr"]) == (0.81, 0.80)
    assert verdict(now, before, max_drop=0.01)[1].state == "passed"
    assert verdict(evaluated(golden, lambda n: HIT if n < 79 else MISS), before, max_drop=0.01)[1].failed


def test_four_queries_of_200_lost_are_caught_although_no_test_calls_them_significant():
    golden = golden_set(200)
    before = evaluated(golden, lambda _: HIT)
    now = evaluated(golden, lambda n: MISS if n in (3, 50, 51, 120) else HIT)
    comparison, decided = verdict(now, before, max_drop=0.01)
    assert comparison["mrr"].p_value == 0.0625
    assert decided.failed
    assert decided.text == "mrr fell by 0.0200 from the baseline to 0.9800; at most 0.0100 is allowed."
    assert decided.details == (
        "200 queries: 4 worse, 0 better, 196 same.",
        (
            "Only 4 queries changed, all down. The smallest p that 4 can give is 0.06: too few to generalise from, but these "
            "did break."
        ),
    )
    assert not verdict(now, before, max_drop=0.01, significance=0.05)[1].failed


def test_a_pinned_baseline_notices_small_steps_that_add_up():
    golden = golden_set(200)
    runs = [evaluated(golden, lambda n, step=step: MISS if n < step else HIT) for step in range(8)]
    assert not any(verdict(now, before, max_drop=0.01)[1].failed for before, now in itertools.pairwise(runs))
    assert verdict(runs[3], runs[0], max_drop=0.01)[1].failed


def test_the_difference_is_weighted_so_that_its_plain_mean_is_that_of_the_means():
    golden = golden_set(5, weight=lambda n: n + 1.0)
    before, now = evaluated(golden, lambda _: HIT), evaluated(golden, lambda n: SECOND if n == 4 else HIT)
    change = compare(now, before)["mrr"]
    assert change.weighted_differences["q0004"] == pytest.approx(5 * 5 / 15 * -0.5, abs=1e-15)
    assert change.delta == pytest.approx(now["mrr"] - before["mrr"], abs=1e-15)


def test_identical_runs_have_p_1_and_no_width():
    golden = golden_set(20)
    change = compare(evaluated(golden, lambda _: HIT), evaluated(golden, lambda _: HIT))["mrr"]
    assert (change.p_value, change.interval, change.delta) == (1, (0, 0), 0)


def test_one_query_has_no_interval():
    golden = golden_set(1)
    change = compare(evaluated(golden, lambda _: MISS), evaluated(golden, lambda _: HIT))["mrr"]
    assert (change.n, change.interval, change.detectable) == (1, None, None)


def test_where_each_side_leaves_out_other_queries_the_means_differ_and_there_is_no_p():
    golden = golden_set(4)
    before = evaluated(golden, lambda n: HIT if n else MISS, "mrr(miss=skip)")
    now = evaluated(golden, lambda n: SECOND if n < 2 else MISS, "mrr(miss=skip)")
    change = compare(now, before)["mrr(miss=skip)"]
    assert change.delta == pytest.approx(0.5 - 1)
    assert (change.p_value, change.interval) == (None, None)


def test_a_percentage_is_one_of_the_baselines_mean():
    golden = golden_set(100)
    before = evaluated(golden, lambda n: HIT if n < 50 else MISS)
    gates = Gates([Gate(*before.metrics, None, "max_drop", Limit(5, percent=True))])
    for kept, state in ((48, "passed"), (47, "failed")):
        now = evaluated(golden, lambda n, kept=kept: HIT if n < kept else MISS)
        (decided,) = decide(now, gates, comparison=compare(now, before), against="the baseline")
        assert decided.state == state
        assert decided.limit == pytest.approx(0.025)


def test_a_tolerance_of_many_queries_is_said_to_lose_them():
    golden = golden_set(7_000)
    run = evaluated(golden, lambda _: HIT)
    (note,) = on_tolerance(compare(run, run), Gates([Gate(*run.metrics, None, "max_drop", Limit(0.01))]))
    assert note == "max_drop 0.01 of mrr on 7,000 queries lets 70 be lost altogether; consider max_lost."


def test_labels_make_no_fall_insignificant():
    """Ten queries lost are beyond chance, three are not; judging what came back relevant for the other seven helps nobody."""
    stored = golden_set(10)
    then = Run.of(
        {i: Answer((tuple(HIT),), query.text, {}, query.judgments) for i, query in stored.queries.items()}
    )
    edited = GoldenSet(
        [
            Query(i, query.text, {"d": 1, "x": 1} if i < "q0007" else query.judgments)
            for i, query in stored.queries.items()
        ]
    )
    comparison, decided = verdict(
        evaluated(edited, lambda _: MISS),
        evaluate_run(edited, then, ["mrr"]),
        max_drop=0.01,
        significance=0.05,
    )
    assert comparison["mrr"].p_value == 1 / 8
    assert decided.failed
    assert decided.text.startswith(
        "Under the judgments that were stored with the baseline, mrr fell by 1.0000"
    )


def test_p_is_said_with_what_it_was_adjusted_for_and_never_prints_like_the_level_it_misses():
    golden = golden_set(20)
    before = evaluate_run(golden, Run(dict.fromkeys(golden.queries, HIT)), ["mrr", "hit@1", "recall"])
    now = evaluate_run(
        golden, Run({i: MISS if i < "q0005" else HIT for i in golden.queries}), ["mrr", "hit@1", "recall"]
    )
    words = {"max_drop": Limit(0.01), "significance": Limit(0.094)}
    gates = Gates(Gate(metric, None, word, limit) for metric in now.metrics for word, limit in words.items())
    decided = decide(now, gates, comparison=compare(now, before), against="the baseline")
    assert [verdict.state for verdict in decided] == ["failed"] * 3
    assert decided[0].text.endswith(
        "p = 0.0938, adjusted for 3 gates (Holm), is below the significance 0.094."
    )
