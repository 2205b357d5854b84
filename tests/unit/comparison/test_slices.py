"""Intervals of slices hold for all of them together."""

from __future__ import annotations

import random
from statistics import NormalDist

import pytest

from pytest_irmetrics.comparison import joint_intervals
from pytest_irmetrics.comparison.slices import joint_margins
from tests.unit.analysis.comparisons import compared, golden_set, good, lower


def alternating(n):
    return [0.1 if i % 2 else -0.1 for i in range(n)]


def test_the_margin_of_a_single_slice_is_that_of_a_normal_interval():
    margin = joint_margins({"a": alternating(100)})["a"]
    assert margin == pytest.approx(NormalDist().inv_cdf(0.975) * 0.1 / 10, rel=1e-6)


def test_thirty_slices_take_the_margin_of_a_thirtieth_of_the_level():
    margin = joint_margins({f"t{i}": alternating(100) for i in range(30)})["t0"]
    assert margin == pytest.approx(NormalDist().inv_cdf(1 - 0.025 / 30) * 0.1 / 10, rel=1e-6)


def test_slices_that_did_not_change_ask_for_no_margin():
    slices = {"a": alternating(100), "still": [0.0] * 50}
    assert joint_margins(slices)["a"] == pytest.approx(joint_margins({"a": alternating(100)})["a"])
    assert joint_margins({"still": [0.0] * 50}) == {"still": 0.0}
    assert joint_margins({}) == {}


def test_the_smallest_slice_with_signs_that_say_anything_has_six_queries():
    """Five signs are alike in 1 of 16 cases, six in 1 of 32."""
    five, six = joint_margins({"a": [-1.0] * 5})["a"], joint_margins({"a": [-1.0] * 6})["a"]
    assert five >= 1 > six


@pytest.mark.parametrize("slices", [1, 5, 30])
def test_harmless_changes_leave_a_margin_in_one_of_twenty_cases_at_most(slices):
    generator = random.Random(slices)
    sizes = [generator.choice([0, 0, 0.1, 0.5, 1]) for _ in range(100)]
    members = [generator.sample(range(100), generator.randint(5, 40)) for _ in range(slices)]
    left = 0
    for _ in range(1000):
        changes = [size * generator.choice([1, -1]) for size in sizes]
        by_tag = {str(i): [changes[q] for q in ids] for i, ids in enumerate(members)}
        margins = joint_margins(by_tag)
        left += any(abs(sum(values)) / len(values) > margins[tag] + 1e-9 for tag, values in by_tag.items())
    assert left <= 65  # 50 expected at most, and two standard deviations


def test_slices_of_fewer_than_five_changed_queries_have_no_interval():
    golden = golden_set(
        40, tags={"four": set(range(4)), "many": set(range(20)), "moved four": {0, 1, 2, 3, 30, 31}}
    )
    comparison = compared(golden, lambda n: lower(n) if n < 10 else good(n), good)
    found = joint_intervals(comparison, comparison.now.metric("ndcg@10"))
    assert list(found) == ["many"]
    low, high = found["many"]
    assert -1 <= low < comparison.change("ndcg@10", "many").delta < high


def test_a_slice_of_five_changed_queries_has_an_interval():
    comparison = compared(
        golden_set(40, tags={"five": set(range(5))}), lambda n: lower(n) if n < 10 else good(n), good
    )
    (metric,) = [metric for metric in comparison.now.metrics if metric.name == "mrr"]
    assert "five" in joint_intervals(comparison, metric)
