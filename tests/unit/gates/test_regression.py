"""Gates against the baseline: `max_drop`, `max_lost`, `significance`, and what cannot be compared."""

from __future__ import annotations

import itertools

import pytest

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import Query
from pytest_irmetrics.thresholds import build, resolve
from tests.unit.gates.runs import HIT, MISS, SECOND, evaluated, gates, golden_set, judged, verdict


def test_a_drop_of_exactly_what_is_allowed_passes():
    golden = golden_set(100)
    before = evaluated(golden, lambda n: HIT if n < 81 else MISS)
    now = evaluated(golden, lambda n: HIT if n < 80 else MISS)
    assert (before["mrr"], now["mrr"]) == (0.81, 0.80)
    assert verdict(now, before, max_drop=0.01).state == "passed"
    assert verdict(evaluated(golden, lambda n: HIT if n < 79 else MISS), before, max_drop=0.01).failed


def test_a_fall_says_whether_other_queries_would_have_fallen_too():
    golden = golden_set(20)
    half = verdict(
        evaluated(golden, lambda n: SECOND if n % 2 else HIT), evaluated(golden, lambda _: HIT), max_drop=0.01
    )
    assert half.details == (
        "20 queries: 10 worse, 0 better, 10 same.",
        (
            "Exact for these two runs on this golden set. The mean over other queries drawn like these likely fell too "
            "(p < 0.001, 95 % interval −0.370 to −0.130)."
        ),
    )
    mixed = evaluated(golden, lambda n: HIT if n < 5 else MISS if n < 12 else SECOND)
    assert verdict(mixed, evaluated(golden, lambda _: SECOND), max_drop=0.01).details == (
        "20 queries: 7 worse, 5 better, 8 same.",
        (
            "Exact for these two runs on this golden set; too few queries to tell whether the mean over others fell too "
            "(p = 0.39, 95 % interval −0.234 to +0.134)."
        ),
    )


def test_four_queries_of_200_lost_are_caught_although_no_test_calls_them_significant():
    golden = golden_set(200)
    before = evaluated(golden, lambda _: HIT)
    now = evaluated(golden, lambda n: MISS if n in (3, 50, 51, 120) else HIT)
    decided = verdict(now, before, max_drop=0.01)
    assert compare(now, before)["mrr"].p_value == 0.0625
    assert decided.failed
    assert decided.text == "mrr fell by 0.0200 from the baseline to 0.9800; at most 0.0100 is allowed."
    assert decided.details == (
        "200 queries: 4 worse, 0 better, 196 same.",
        (
            "Only 4 queries changed, all down. The smallest p that 4 can give is 0.06: too few to generalise from, but these "
            "did break."
        ),
    )
    assert not verdict(now, before, max_drop=0.01, significance=0.05).failed


def test_a_pinned_baseline_notices_small_steps_that_add_up():
    golden = golden_set(200)
    runs = [evaluated(golden, lambda n, step=step: MISS if n < step else HIT) for step in range(8)]
    assert not any(verdict(now, before, max_drop=0.01).failed for before, now in itertools.pairwise(runs))
    assert verdict(runs[3], runs[0], max_drop=0.01).failed


def test_a_percentage_is_one_of_the_baselines_mean():
    golden = golden_set(100)
    before = evaluated(golden, lambda n: HIT if n < 50 else MISS)
    for kept, state in ((48, "passed"), (47, "failed")):
        now = evaluated(golden, lambda n, kept=kept: HIT if n < kept else MISS)
        decided = verdict(now, before, max_drop="5%")
        assert decided.state == state
        assert decided.limit == pytest.approx(0.025)


def test_p_is_said_with_what_it_was_adjusted_for_and_never_prints_like_the_level_it_misses():
    golden = golden_set(20)
    metrics = ["mrr", "hit@1", "recall"]
    before = evaluated(golden, lambda _: HIT, *metrics)
    now = evaluated(golden, lambda n: MISS if n < 5 else HIT, *metrics)
    words = {"max_drop": 0.01, "significance": 0.094}
    decided = judged(now, before, resolve([[build(metric, words) for metric in metrics]]))
    assert [verdict.state for verdict in decided] == ["failed"] * 3
    assert decided[0].text.endswith(
        "p = 0.0938, adjusted for 3 gates (Holm), is below the significance 0.094."
    )


def test_lost_queries_are_counted_and_named_also_when_the_gate_passes():
    golden = golden_set(10)
    before, now = evaluated(golden, lambda _: HIT), evaluated(golden, lambda n: HIT if n > 1 else MISS)
    for allowed, state in ((1, "failed"), (2, "passed")):
        decided = verdict(now, before, max_lost=allowed)
        assert (decided.state, decided.queries, decided.limit) == (state, ("q0000", "q0001"), allowed)
        assert decided.text == (f"2 of 10 queries fell to 0 by mrr; at most {allowed} may.")


def test_a_failed_drop_says_what_share_of_it_each_query_has():
    golden = golden_set(10, weight=lambda n: 3.0 if n == 0 else 1.0)
    before, now = evaluated(golden, lambda _: HIT), evaluated(golden, lambda n: HIT if n > 1 else MISS)
    decided = verdict(now, before, max_drop=0)
    assert decided.queries == ("q0000", "q0001")
    assert decided.shares == pytest.approx((0.75, 0.25))


def test_without_a_comparison_gates_against_the_baseline_are_not_checked():
    now = evaluated(golden_set(2), lambda _: HIT)
    for word in ("max_drop", "max_lost", "significance"):
        (decided,) = decide(now, gates(**{word: 0.5 if word == "significance" else 0}))
        assert decided.state == "not checked"
        assert decided.text.endswith("is not checked without --ir-baseline.")


def test_a_significance_without_a_drop_to_narrow_fails():
    run = evaluated(golden_set(2), lambda _: HIT)
    assert verdict(run, run, significance=0.05).text == (
        "mrr: significance 0.05 has no max_drop to narrow. Give it one, or take it away."
    )


def test_while_a_baseline_is_stored_what_would_fail_is_not_checked():
    golden = golden_set(10)
    before, now = evaluated(golden, lambda _: HIT), evaluated(golden, lambda _: [])
    (decided,) = judged(now, before, gates(max_drop=0.01), storing=True)
    assert (decided.state, decided.limit, len(decided.queries)) == ("not checked", 0.01, 10)
    assert decided.text.startswith("mrr fell by 1.0000")


def test_a_baseline_that_is_too_shallow_fails_with_the_command_that_stores_a_deeper_one():
    golden = golden_set(2)
    now = evaluated(golden, lambda _: HIT, "mrr@10")
    before = evaluate_run(golden, Run.of(now.run.answers, depth=5), ["mrr@10"], depth=5)
    (decided,) = judged(now, before, gates("mrr@10", max_drop=0), update_command="pytest --update")
    assert decided.text == "mrr@10 needs 10 results a query, and the baseline holds 5."
    assert decided.details == ("Store a deeper one.",)


def test_too_few_paired_queries_fail_for_the_set_and_for_a_slice():
    def tagged(words):
        return GoldenSet([Query(f"q{n}", f"{words} {n % 3}", {"d": 1}, tags=("a",)) for n in range(6)])

    from_before = evaluated(tagged("text"), lambda _: HIT)
    stored = {
        query.id: answer.__class__((tuple(HIT),), query.text, {}, query.judgments, 1.0, query.tags)
        for query, answer in zip(
            from_before.golden.queries.values(), from_before.run.answers.values(), strict=True
        )
    }
    golden = tagged("reworded")
    before = evaluate_run(golden, Run.of(stored), ["mrr"])
    now = evaluated(golden, lambda _: HIT)
    whole, of_slice = judged(now, before, gates(tag="a", max_drop=0))
    assert whole.text.startswith(
        "Only 0% of the baseline's queries (by weight) are still asked in the same words"
    )
    assert (whole.word, whole.state, whole.over_no_query) == ("baseline", "failed", False)
    assert of_slice.text.startswith("mrr of the queries tagged a: only 0% of those that the baseline has")
    assert of_slice.failed


def test_a_metric_that_leaves_out_today_all_that_it_counted_is_a_gate_over_no_query():
    golden = golden_set(2)
    before, now = (evaluated(golden, lambda _, r=r: r, "mrr(miss=skip)") for r in (HIT, []))
    decided = verdict(now, before, max_drop=0)
    assert decided.text.startswith("A gate over no query: mrr(miss=skip) leaves out today")
    assert decided.over_no_query
