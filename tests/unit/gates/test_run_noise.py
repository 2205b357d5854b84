"""Run noise: what repeated answers of one query differ by, and how much of a drop it explains."""

from __future__ import annotations

import math
import random
import statistics

import pytest
import scipy.stats

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.comparison.run_noise import _variance
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from tests.unit.gates.runs import gates

GOLDEN = GoldenSet.from_judgments({f"q{n}": {"d": 1} for n in range(10)})
HIT, MISS = ("d", "x"), ("x", "d")


def comparison(before, now):
    def evaluated(rankings):
        answers = {
            query_id: Answer(rankings=tuple(rankings(int(query_id[1:])))) for query_id in GOLDEN.queries
        }
        return evaluate_run(GOLDEN, Run.of(answers, depth=10), ["mrr"], depth=10)

    return compare(evaluated(now), evaluated(before))


def verdict(compared, max_drop=0.01):
    (decided,) = decide(
        compared.full,
        gates(max_drop=max_drop),
        comparison=compared,
        against="the baseline",
    )
    return decided


def test_a_drop_within_run_noise_passes_and_says_so():
    noisy = comparison(
        lambda _: [HIT, HIT, HIT, MISS], lambda n: [HIT, MISS, HIT, MISS] if n < 5 else [HIT, HIT, HIT, MISS]
    )
    decided = verdict(noisy)
    assert noisy["mrr"].delta == pytest.approx(-0.0625)
    assert decided.state == "passed"
    assert "within what differs from run to run" in decided.text
    assert decided.details[1].startswith("With 4 answers a query on each side the difference varies by 0.")
    assert "(standard deviation): a fall fails beyond 0." in decided.details[1]
    assert "Least stable: q0, q1, q2" in decided.details[1]


def test_a_drop_beyond_run_noise_fails():
    noisy = comparison(
        lambda n: [HIT, HIT, HIT, MISS] if n == 0 else [HIT] * 4, lambda n: [MISS] * 4 if n > 4 else [HIT] * 4
    )
    assert verdict(noisy).state == "failed"


def test_run_noise_is_granted_on_top_of_what_a_mean_may_fall():
    noisy = comparison(
        lambda _: [HIT, HIT, HIT, MISS], lambda n: [MISS] * 4 if n > 1 else [HIT, HIT, HIT, MISS]
    )
    drop, margin = -noisy["mrr"].delta, noisy.run_noise("mrr").margin
    assert drop > margin
    assert verdict(noisy, drop - 0.99 * margin).state == "passed"
    assert verdict(noisy, drop - 1.01 * margin).state == "failed"


def test_without_repeats_on_either_side_the_rule_is_exact():
    exact = comparison(lambda _: [HIT], lambda n: [MISS] if n == 0 else [HIT])
    assert exact.run_noise("mrr") is None
    assert verdict(exact).state == "failed"
    assert verdict(exact, 0.05).state == "passed"


def test_repeats_that_agree_leave_the_rule_exact():
    exact = comparison(lambda _: [HIT] * 3, lambda n: [MISS if n == 0 else HIT] * 3)
    assert exact.run_noise("mrr").deviation == 0
    assert verdict(exact).state == "failed"


def test_the_variance_is_that_of_the_standard_library():
    generator = random.Random(2)
    for size in (2, 3, 10):
        scores = [generator.random() for _ in range(size)]
        assert _variance(scores) == pytest.approx(statistics.variance(scores), rel=1e-12)
    assert _variance([0.1] * 3) == 0


def test_the_side_with_repeats_stands_for_the_one_without():
    noise = comparison(lambda n: [HIT, MISS] if n % 2 else [MISS, HIT], lambda _: [HIT]).run_noise("mrr")
    variance = 0.125  # of the scores 1 and 1/2
    assert noise.deviation == pytest.approx(math.sqrt(10 * 0.1**2 * (variance / 2 + variance / 1)))
    assert (noise.quantile, noise.asked) == (1.645, (1, 2))


def test_queries_that_move_together_have_the_variance_of_the_passes():
    noise = comparison(lambda _: [HIT, MISS], lambda _: [HIT]).run_noise("mrr")
    variance = 0.125  # of the means of the passes, which are those of each query
    assert noise.deviation == pytest.approx(math.sqrt(variance / 2 + variance / 1))
    assert noise.quantile == pytest.approx(6.3138, abs=1e-4)  # Student's with one degree of freedom


def test_with_repeats_on_both_sides_the_degrees_of_freedom_are_those_of_welch_and_satterthwaite():
    noise = comparison(
        lambda _: [HIT, HIT, HIT, MISS], lambda _: [HIT, MISS, HIT, MISS, HIT, MISS]
    ).run_noise("mrr")
    parts = statistics.variance([1, 1, 1, 0.5]) / 4, statistics.variance([1, 0.5] * 3) / 6
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 5)
    assert noise.deviation == pytest.approx(math.sqrt(sum(parts)))
    assert noise.quantile == pytest.approx(scipy.stats.t.isf(0.05, freedom))


def test_the_noise_of_a_single_query_has_few_degrees_of_freedom():
    """Its variance by query is that by pass, whatever rounding makes of them."""
    for places in range(10):
        noise = comparison(
            lambda n, at=places: [HIT, MISS, HIT] if n == at else [HIT] * 3,
            lambda n, at=places: [MISS, MISS, HIT] if n == at else [HIT] * 3,
        ).run_noise("mrr")
        assert noise.quantile == pytest.approx(scipy.stats.t.isf(0.05, 4))


def test_two_passes_still_fail_a_search_that_broke():
    noisy = comparison(
        lambda n: [HIT, MISS if n == 0 else HIT], lambda n: [("x",), ("x",) if n else ("x", "d")]
    )
    assert verdict(noisy).state == "failed"
    assert noisy.run_noise("mrr").quantile > 2.9


def test_what_more_answers_would_show_is_what_they_show():
    few = comparison(lambda _: [HIT, MISS] * 2, lambda _: [MISS, HIT] * 2).run_noise("mrr")
    many = comparison(lambda _: [HIT, MISS] * 50, lambda _: [MISS, HIT] * 50).run_noise("mrr")
    assert few.margin_if_asked(100) == pytest.approx(many.margin, rel=0.2)


def test_answers_that_a_metric_leaves_out_are_in_no_pass():
    golden = GoldenSet.from_judgments({"q": {"d": 1}, "r": {"d": 1}})

    def evaluated(rankings):
        answers = {query_id: Answer(rankings=tuple(each)) for query_id, each in rankings.items()}
        return evaluate_run(golden, Run.of(answers, depth=10), ["mrr(miss=skip)@10"], depth=10)

    before = evaluated({"q": [HIT, ("x",), MISS], "r": [HIT, HIT, HIT]})
    noise = compare(evaluated({"q": [HIT], "r": [HIT]}), before).run_noise("mrr(miss=skip)@10")
    passes = statistics.variance([1, 1, 0.75])
    by_query = 0.25 * statistics.variance([1, 0.5]) * (1 / 2 + 1)
    assert noise.deviation == pytest.approx(math.sqrt(max(passes * (1 / 3 + 1), by_query)))


def test_a_pass_whose_answers_a_metric_all_leaves_out_has_no_mean():
    golden = GoldenSet.from_judgments({"q": {"d": 1}, "r": {"d": 1}})
    run = Run.of(dict.fromkeys(golden.queries, Answer(rankings=(HIT, ("x",), MISS))), depth=10)
    sides = [evaluate_run(golden, run, ["mrr(miss=skip)@10"], depth=10) for _ in range(2)]
    noise = compare(*sides).run_noise("mrr(miss=skip)@10")
    assert noise.deviation == pytest.approx(math.sqrt(statistics.variance([1, 0.5]) * (1 / 3 + 1 / 3)))


def test_metrics_of_ones_own_and_no_answer_have_run_noise_too():
    golden = GoldenSet([Query("q", "text", {"d": 1}), Query("none", "nothing", {}, no_answer=True)])
    custom = {"first": lambda query, ranking, _k: float(ranking[0] in query.judgments)}

    def evaluated(hits, answered):
        answers = {
            "q": Answer(tuple(HIT if hit else MISS for hit in hits)),
            "none": Answer(tuple(("x",) if one else () for one in answered)),
        }
        metrics = ["first", "no_answer", "mrr"]
        return evaluate_run(golden, Run.of(answers, depth=10), metrics, depth=10, custom_metrics=custom)

    compared = compare(evaluated([1, 1, 0, 0], [0, 0, 1, 0]), evaluated([1, 1, 1, 0], [0, 0, 0, 0]))
    assert compared.run_noise("first").deviation == pytest.approx(math.sqrt(1 / 3 / 4 + 1 / 4 / 4))
    assert compared.run_noise("no_answer").deviation == pytest.approx(math.sqrt(1 / 4 / 4))
    assert compared.run_noise("first").unstable == ("q",)


def test_today_alone_may_have_repeats():
    noise = comparison(lambda _: [HIT], lambda n: [HIT, MISS] if n % 2 else [MISS, HIT]).run_noise("mrr")
    assert noise.deviation == pytest.approx(math.sqrt(10 * 0.1**2 * (0.125 / 2 + 0.125 / 1)))
    assert set(noise.unstable) == set(GOLDEN.queries)
    once = comparison(lambda _: [HIT], lambda n: [HIT, MISS] if n == 3 else [HIT]).run_noise("mrr")
    assert once.deviation == pytest.approx(math.sqrt(0.1**2 * (0.125 / 2 + 0.125 / 1)))
    assert once.unstable == ("q3",)


def test_a_fall_within_the_noise_of_today_alone_passes():
    decided = verdict(comparison(lambda _: [HIT], lambda n: [HIT, HIT, HIT, MISS] if n < 2 else [HIT] * 4))
    assert decided.state == "passed"
    assert "within what differs from run to run" in decided.text


def test_the_queries_that_move_the_mean_most_are_named_first():
    golden = GoldenSet([Query(f"q{n}", "text", {"d": 1}, weight=1.0 + n) for n in range(5)])

    def evaluated(*rankings):
        run = Run.of({query_id: Answer(rankings) for query_id in golden.queries}, depth=10)
        return evaluate_run(golden, run, ["mrr"], depth=10)

    assert compare(evaluated(HIT, MISS), evaluated(HIT, MISS)).run_noise("mrr").unstable == (
        "q4",
        "q3",
        "q2",
        "q1",
        "q0",
    )
