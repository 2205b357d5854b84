"""Run noise: what repeated answers of one query differ by, and how much of a drop it explains."""

from __future__ import annotations

import math
import random
import statistics

import pytest

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
    assert "least stable: q0, q1, q2" in decided.details[1]


def test_a_drop_beyond_run_noise_fails():
    noisy = comparison(
        lambda n: [HIT, HIT, HIT, MISS] if n == 0 else [HIT] * 4, lambda n: [MISS] * 4 if n > 4 else [HIT] * 4
    )
    assert verdict(noisy).state == "failed"


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
    noise = comparison(lambda _: [HIT, MISS], lambda _: [HIT]).run_noise("mrr")
    variance = 0.125  # of the scores 1 and 1/2
    assert noise.deviation == pytest.approx(math.sqrt(10 * 0.1**2 * (variance / 2 + variance / 1)))


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
    noise = comparison(lambda _: [HIT], lambda _: [HIT, MISS]).run_noise("mrr")
    assert noise.deviation == pytest.approx(math.sqrt(10 * 0.1**2 * (0.125 / 2 + 0.125 / 1)))
    assert set(noise.unstable) == set(GOLDEN.queries)
    once = comparison(lambda _: [HIT], lambda n: [HIT, MISS] if n == 3 else [HIT]).run_noise("mrr")
    assert once.deviation == pytest.approx(math.sqrt(0.1**2 * (0.125 / 2 + 0.125 / 1)))
    assert once.unstable == ("q3",)


def test_a_fall_within_the_noise_of_today_alone_passes():
    decided = verdict(comparison(lambda _: [HIT], lambda n: [HIT, HIT, HIT, MISS] if n < 2 else [HIT] * 4))
    assert decided.state == "passed"
    assert "within what differs from run to run" in decided.text
