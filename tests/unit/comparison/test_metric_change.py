"""The change of one metric between two runs: weights, p-values, and queries that one side leaves out."""

from __future__ import annotations

import pytest

from pytest_irmetrics import compare
from tests.unit.gates.runs import HIT, MISS, SECOND, evaluated, golden_set


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


@pytest.mark.parametrize(
    ("n", "worse", "detectable"),
    [
        (5, SECOND, (2.1318 + 0.842) * 0.1),  # Student's t of 4 degrees of freedom, and s / sqrt(n)
        (3, SECOND, (2.9200 + 0.842) / 6),
        (3, MISS, None),  # 1.25, more than any mean can fall
        (3, HIT, 0.0),
    ],
)
def test_the_drop_that_is_detectable_is_one_that_can_be(n, worse, detectable):
    golden = golden_set(n)
    change = compare(evaluated(golden, lambda i: HIT if i else worse), evaluated(golden, lambda _: HIT))[
        "mrr"
    ]
    assert change.detectable == (detectable if detectable is None else pytest.approx(detectable, rel=1e-4))


def test_where_each_side_leaves_out_other_queries_the_means_differ_and_there_is_no_p():
    golden = golden_set(4)
    before = evaluated(golden, lambda n: HIT if n else MISS, "mrr(miss=skip)")
    now = evaluated(golden, lambda n: SECOND if n < 2 else MISS, "mrr(miss=skip)")
    change = compare(now, before)["mrr(miss=skip)"]
    assert change.delta == pytest.approx(0.5 - 1)
    assert (change.p_value, change.interval) == (None, None)


@pytest.mark.parametrize(
    ("fell", "rose", "of", "conclusion"),
    [
        (20, 0, 20, "worse"),
        (5, 1, 20, "too few"),
        (4, 3, 400, "no worse"),
        (4, 0, 20, None),
        (0, 0, 20, "no worse"),
    ],
)
def test_a_conclusion_on_other_queries_is_drawn_from_p_and_interval(fell, rose, of, conclusion):
    golden = golden_set(of)
    now = evaluated(golden, lambda n: MISS if n < fell else HIT if n < fell + rose else SECOND)
    change = compare(now, evaluated(golden, lambda _: SECOND))["mrr"]
    assert change.conclusion(0.02) == conclusion


def test_lost_queries_come_costliest_first():
    golden = golden_set(4, weight=lambda n: (1.0, 3.0, 2.0, 3.0)[n])
    change = compare(evaluated(golden, lambda _: MISS), evaluated(golden, lambda _: HIT))["mrr"]
    assert change.lost == ("q0001", "q0003", "q0002", "q0000")


def test_its_repr_is_a_line_without_queries_and_scores():
    golden = golden_set(3)
    shown = repr(compare(evaluated(golden, lambda _: MISS), evaluated(golden, lambda _: HIT))["mrr"])
    assert shown.startswith("MetricChange(metric=")
    assert "Query(" not in shown
    assert "_before" not in shown
    assert "_after" not in shown
