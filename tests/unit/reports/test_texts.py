"""Texts that all reports share: verdicts, means, slices."""

from __future__ import annotations

import pytest

from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.reports import SessionReport, texts
from pytest_irmetrics.reports.headings import headings
from pytest_irmetrics.reports.terminal import one_line, slices_table
from tests.unit.reports.samples import failing, gate, passing, row


@pytest.mark.parametrize(
    ("item", "outcome", "said"),
    [
        (passing(), None, "passes 1 gate"),
        (passing(gates=[]), None, "passes; nothing was gated"),
        (passing(gates=[gate("not checked")]), None, "passes; nothing was gated"),
        (passing(), "failed", "passes 1 gate, and the test fails for another reason"),
        (failing(), "failed", "FAILS 1 of 2 gates"),
        (failing(), "xfailed", "FAILS 1 of 2 gates, as its xfail mark expects"),
        (failing(), "passed", "FAILS 1 of 2 gates, and the test passes all the same"),
        (failing(outcome="error"), None, "FAILS: not every query was retrieved"),
    ],
)
def test_the_verdict_names_the_outcome_of_the_test(item, outcome, said):
    session = SessionReport([item], 1, {} if outcome is None else {item.nodeid: outcome})
    assert texts.verdict(item, session) == said


def test_the_full_means_stand_beside_the_compared_ones_in_one_sentence_where_they_differ():
    item = failing(rows=[row(full=0.75), row("map"), row("ndcg@10", full=0.25)])
    assert texts.full_means(item) == [
        "Over all of today's queries, also those without a counterpart: mrr 0.7500, ndcg@10 0.2500."
    ]
    deeper, both = row(full=0.75, cut=10), row(full=0.75, cut=10, unpaired=2)
    assert texts.full_means(failing(rows=[deeper, both])) == [
        "Over today's results as deep as they are, not cut at 10: mrr 0.7500.",
        (
            "Over all of today's queries, also those without a counterpart, and today's results as deep as they are, "
            "not cut at 10: mrr 0.7500."
        ),
    ]


def test_one_line_says_of_how_many_queries_its_means_are_where_some_have_no_counterpart():
    heading = headings([passing()])[passing().nodeid]
    compared = passing(query_count=17, rows=[row(n=13, unpaired=4, now=0.9, baseline=0.9)])
    assert ": passes, 17 queries, 13 compared; mrr 0.9000" in one_line(
        compared, heading, Screen(), expected=False
    )
    alone = passing(query_count=17, rows=[row(n=17, now=0.9)])
    assert ": passes, 17 queries; mrr 0.9000" in one_line(alone, heading, Screen(), expected=False)


def test_of_many_slices_the_costliest_are_shown():
    slices = [row(tag=f"tag {number}", now=1.0, n=number + 5) for number in range(40)]
    slices[5] = row(tag="broken", now=0.0, n=6)
    item = failing(slices=slices)
    assert [row.tag for row in texts.costliest_slices(item, 2)] == ["tag 0", "broken"]
    assert texts.costliest_slices(item, 40) == slices
    short = [line.text for line in slices_table(item, Screen(), everything=False)]
    assert len(short) == 1 + 30 + 1
    assert any(line.startswith("broken ") for line in short)
    assert short[-1] == "10 tags more: 10 that cost the mean less (-vv shows all)"
    assert len(list(slices_table(item, Screen()))) == 1 + 40


def test_the_subject_names_queries_depth_and_what_is_compared():
    assert texts.subject(failing()) == "1 query, 10 results each, compared with the baseline"
    assert texts.subject(passing(depth=None, query_count=1200)) == "1,200 queries"
