"""The variants of one test over one golden set, side by side."""

from __future__ import annotations

import pytest

from pytest_irmetrics.reports.item_report import ItemReport, LeadingScores, ScoreRow
from pytest_irmetrics.reports.variants import variant_tables


def item(ids, means, *, golden="golden/faq.yaml", test="test_search.py::test_it", leading=None):
    rows = [
        ScoreRow(name, None, n=4, full=mean, now=mean, baseline=None, delta=None, gate="", verdict="")
        for name, mean in means.items()
    ]
    return ItemReport(f"{test}[{ids}]", golden, rows=rows, leading=leading)


def scores(*values, **weights):
    return LeadingScores("mrr", {f"q{n}": value for n, value in enumerate(values)}, weights)


def test_items_of_one_test_and_golden_set_stand_side_by_side_under_what_tells_them_apart():
    tables = variant_tables(
        [
            item("dense-faq", {"mrr": 0.5, "ndcg@10": 0.6}),
            item("bm25-faq", {"mrr": 0.7, "ndcg@10": 0.6}),
            item("bm25-help", {"mrr": 0.1}, golden="golden/help.yaml"),
            item("faq", {"mrr": 0.2}, test="test_search.py::test_other"),
        ]
    )
    (table,) = tables
    assert table.title == "golden/faq.yaml, test_search.py::test_it"
    assert table.columns == ["bm25", "dense"]
    assert [(row.name, row.cells, row.best) for row in table.rows] == [
        ("mrr", ["0.7000", "0.5000"], [True, False]),
        ("ndcg@10", ["0.6000", "0.6000"], [False, False]),
    ]
    assert table.sentence == ""


@pytest.mark.parametrize(
    ("ids", "labels"),
    [
        (["faq-bm25", "faq-dense"], ["bm25", "dense"]),
        (["bm25-k5-faq", "bm25-k10-faq"], ["k5", "k10"]),
        (["a-b", "a"], ["a-b", "a"]),
        (["x", "y-x"], ["x", "y-x"]),
    ],
)
def test_what_all_ids_have_at_their_ends_is_left_out(ids, labels):
    (table,) = variant_tables([item(one, {"mrr": 0.5}) for one in ids])
    assert sorted(table.columns) == sorted(labels)


def test_of_a_latency_the_lowest_is_best_and_of_what_is_judged_none():
    (table,) = variant_tables(
        [item("a", {"latency_p95": 5.0, "judged@10": 0.1}), item("b", {"latency_p95": 9.0, "judged@10": 0.2})]
    )
    assert [row.best for row in table.rows] == [[True, False], [False, False]]


def test_a_metric_that_one_of_them_lacks():
    (table,) = variant_tables([item("a", {"mrr": 0.5}), item("b", {"mrr": 0.6, "no_answer": 1.0})])
    assert (table.rows[1].name, table.rows[1].cells, table.rows[1].best) == (
        "no_answer",
        ["-", "1.0000"],
        [False, False],
    )


def test_says_how_far_the_others_are_from_the_best_over_the_queries_of_both():
    (table,) = variant_tables(
        [
            item("a", {"mrr": 0.5}, leading=scores(1.0, 0.5, 0.5, 0.0)),
            item("b", {"mrr": 0.75}, leading=scores(1.0, 1.0, 0.5, 0.5)),
            item("c", {"mrr": 0.75}, leading=scores(1.0)),
        ]
    )
    assert table.sentence == ("By mrr, c is best; from there, with a 95 % interval each: b 0.0000, a 0.0000.")
    (table,) = variant_tables(
        [
            item("a", {"mrr": 0.5}, leading=scores(1.0, 0.5, 0.5, 0.0)),
            item("b", {"mrr": 0.75}, leading=scores(1.0, 1.0, 0.5, 0.5)),
        ]
    )
    assert table.sentence == (
        "By mrr, b is best; from there, with a 95 % interval each: a −0.2500 (−0.709 to +0.209)."
    )


def test_weights_count_in_the_differences():
    (table,) = variant_tables(
        [
            item("a", {"mrr": 0.5}, leading=scores(0.0, 1.0, q0=3.0)),
            item("b", {"mrr": 1.0}, leading=scores(1.0, 1.0, q0=3.0)),
        ]
    )
    assert ": a −0.7500 (" in table.sentence


def test_variants_by_different_metrics_are_not_subtracted():
    other = LeadingScores("ndcg@10", {"q0": 1.0})
    (table,) = variant_tables(
        [item("a", {"mrr": 0.5}, leading=scores(1.0)), item("b", {"mrr": 1.0}, leading=other)]
    )
    assert table.sentence == ""


def test_an_interval_does_not_reach_beyond_what_a_difference_can_be():
    (table,) = variant_tables(
        [
            item("a", {"mrr": 0.0}, leading=scores(0.0, 0.0, 0.5)),
            item("b", {"mrr": 1.0}, leading=scores(1.0, 1.0, 1.0)),
        ]
    )
    assert ": a −0.8333 (−1.000 to −0.116)." in table.sentence
