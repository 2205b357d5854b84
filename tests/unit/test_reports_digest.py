"""What every report says alike: verdicts, order, what moved."""

from __future__ import annotations

import pytest

from pytest_irmetrics.reports import html, json, markdown, terminal
from pytest_irmetrics.reports import view as digest
from pytest_irmetrics.reports.item_report import ItemReport, QueryAsStored
from pytest_irmetrics.reports.terminal import Screen
from pytest_irmetrics.reports.view import Command, Unmeasured
from tests.unit.records import NODE, broken, failing, gate, passing, row, view


@pytest.mark.parametrize(
    ("records", "command", "said"),
    [
        ([], Command(), "nothing was measured"),
        ([passing()], Command(), "1 golden set passes"),
        ([passing("a"), passing("b", golden_set="b")], Command(), "2 golden sets pass"),
        ([passing("a"), passing("b")], Command(), "2 tests pass"),
        ([failing(), passing()], Command(1), "1 of 2 golden sets fails"),
        ([failing("a", golden_set="a"), failing("b"), passing()], Command(1), "2 of 3 golden sets fail"),
        ([failing()], Command(0, {NODE: "xfailed"}), "no golden set of 1 fails unexpectedly"),
        (
            [failing("a", golden_set="a"), failing()],
            Command(1, {NODE: "xfailed"}),
            "1 of 2 golden sets fails",
        ),
        ([passing(NODE)], Command(1, {NODE: "failed"}), "1 of 1 golden set fails"),
        ([failing()], broken(), "1 of 1 golden set fails, 1 test failed before anything was measured"),
        (
            [],
            Command(1, {}, (Unmeasured("a", ""), Unmeasured("b", ""))),
            "nothing was measured, 2 tests failed before anything was measured",
        ),
    ],
)
def test_the_headline_counts_what_fails(records, command, said):
    assert digest.headline(records, command) == said


@pytest.mark.parametrize(
    ("records", "command", "said"),
    [
        ([passing()], Command(0), ""),
        ([failing()], Command(1), ""),
        ([], broken(), ""),
        ([passing()], Command(1), "failed all the same"),
        ([], Command(1), "none that measures anything"),
        ([passing()], Command(2), "interrupted"),
        ([passing()], Command(3), "internal error"),
        ([], Command(5), "No test was run"),
        ([passing()], Command(77), "exit status 77"),
    ],
)
def test_a_failed_command_is_never_passed_over_in_silence(records, command, said):
    ending = digest.ending(records, command)
    assert said in ending
    assert bool(said) == bool(ending)


@pytest.mark.parametrize(
    ("record", "outcome", "said"),
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
def test_verdicts_are_words(record, outcome, said):
    command = Command(1, {} if outcome is None else {record.nodeid: outcome})
    assert digest.verdict(record, command) == said


def test_what_fails_comes_first():
    records = [passing("a"), failing("c"), passing("b"), failing("d")]
    assert [record.nodeid for record in digest.in_order(records, Command(1))] == ["c", "d", "a", "b"]


def test_the_worst_query_comes_first():
    views = [
        view("same", scores={"mrr": 1.0}, scores_before={"mrr": 1.0}),
        view("low", scores={"mrr": 0.1}, scores_before={"mrr": 0.1}),
        view("rose", scores={"mrr": 0.05}, scores_before={"mrr": 0.0}),
        view("fell", scores={"mrr": 0.2}, scores_before={"mrr": 0.4}),
        view("explains", scores={"mrr": 0.9}, scores_before={"mrr": 1.0}),
        view("broken", scores={}, scores_before={}, error="timed out"),
        view("nothing", scores={"mrr": None}, scores_before={}),
    ]
    record = failing(views=views, gates=[gate(queries=["explains", "of another set"])])
    order = ["broken", "explains", "fell", "rose", "low", "same", "nothing"]
    assert [query.query_id for query in digest.worst_first(record)] == order


def test_queries_are_ordered_by_the_metric_that_failed():
    assert (
        digest.leading_metric(failing(gates=[gate("passed", "mrr"), gate("failed", "ndcg@10")])) == "ndcg@10"
    )
    assert digest.leading_metric(failing(gates=[], rows=[row("map"), row("ndcg@10")])) == "ndcg@10"
    assert digest.leading_metric(failing(views=[])) is None


def test_a_drop_explains_more_than_what_was_low_before_it():
    views = [view("low"), view("fell"), view("own")]
    low = gate(queries=["low"], word="min", shares=[])
    own = gate(queries=["own"], word="min", shares=[], single=True, metric="map")
    record = failing(views=views, gates=[low, gate(queries=["fell"]), own])
    assert digest.explaining(record) == {"fell": ["mrr"], "own": ["map"]}
    assert list(digest.explaining(failing(views=views, gates=[low]))) == ["low"]


def test_rankings_side_by_side_say_what_moved():
    ranks = digest.side_by_side(
        view(
            now=("d2", "d1", "d4", "d5"),
            before=("d1", "d2", "d3", "d5")[:3],
            judgments={"d1": 3.0, "d4": 0.0, "d5": 0.5},
            forbidden=["d5"],
        )
    )
    told = [
        [place and (place.doc_id, place.judgment, place.move, place.fell) for place in rank[1:]]
        for rank in ranks
    ]
    assert told == [
        [("d1", "grade 3", "now 2", True), ("d2", "unjudged", "was 2", False)],
        [("d2", "unjudged", "now 1", False), ("d1", "grade 3", "was 1", True)],
        [("d3", "unjudged", "gone", True), ("d4", "grade 0", "new", False)],
        [None, ("d5", "forbidden", "new", False)],
    ]
    assert [rank[0] for rank in ranks] == [1, 2, 3, 4]


def test_without_a_baseline_nothing_is_new():
    assert [now.move for _, before, now in digest.side_by_side(view(before=None))] == ["", ""]


def test_relevant_documents_that_are_missing_are_named_by_grade():
    missing = digest.missing(view(now=("d1",), judgments={"d1": 3.0, "d2": 1.0, "d3": 2.0, "d4": 0.0}))
    assert [place.doc_id for place in missing] == ["d3", "d2"]


def test_the_full_mean_stands_beside_the_compared_one_only_where_it_differs():
    record = failing(rows=[row(full=0.75), row("map")])
    assert digest.full_means(record) == [
        "mrr over all of today's queries, also those without a counterpart: 0.7500"
    ]
    deeper, both = row(full=0.75, cut=10), row(full=0.75, cut=10, unpaired=2)
    assert digest.full_means(failing(rows=[deeper, both])) == [
        "mrr over today's results as deep as they are, not cut at 10: 0.7500",
        (
            "mrr over all of today's queries, also those without a counterpart, and over today's results as deep as "
            "they are, not cut at 10: 0.7500"
        ),
    ]


def test_of_many_slices_those_that_cost_most_are_shown():
    slices = [row(tag=f"tag {number}", now=1.0, n=number) for number in range(40)]
    slices[5] = row(tag="broken", now=0.0, n=2)
    record = failing(slices=slices)
    assert [row.tag for row in digest.costliest_slices(record, 2)] == ["tag 0", "broken"]
    assert digest.costliest_slices(record, 40) == slices
    short = terminal.slices_table(record, Screen(), everything=False)
    assert len(short) == 1 + 30 + 1
    assert any(line.startswith("broken ") for line in short)
    assert short[-1] == "10 tags more cost the mean less (-v shows all)"
    assert len(terminal.slices_table(record, Screen())) == 1 + 40


def test_what_was_measured_is_said_as_far_as_it_is_known():
    assert digest.subject(failing()) == "1 query, 10 results each, compared with the baseline"
    assert digest.subject(passing(depth=None, queries=1200)) == "1,200 queries"


def test_a_forbidden_document_is_not_relevant_whatever_its_grade():
    place = digest.Place("d1", 3.0, forbidden=True, move="")
    assert (place.relevant, place.judgment) == (False, "forbidden")


def relabelled(**changes):
    """A query that lost nothing by today's judgments, and fell by those that were stored."""
    then = QueryAsStored({"d1": 1}, ["d2", "d1"], ["d1", "d2"], {"mrr": 0.5}, {"mrr": 1.0})
    return view("refund", scores={"mrr": 1.0}, scores_before={"mrr": 1.0}, as_stored=then, **changes)


def test_what_only_the_stored_judgments_show_is_shown_by_these():
    by_then = failing(views=[relabelled()], gates=[gate(queries=["refund"], as_stored=True)])
    shown = digest.explaining_views(by_then)["refund"]
    assert (shown.scores, shown.scores_before, shown.judgments) == ({"mrr": 0.5}, {"mrr": 1.0}, {"d1": 1})
    assert (shown.now, shown.before, shown.status) == (["d2", "d1"], ["d1", "d2"], "judged as it was stored")
    by_both = failing(
        views=[relabelled()], gates=[gate(queries=["refund"], as_stored=True), gate(queries=["refund"])]
    )
    assert digest.explaining_views(by_both)["refund"] == relabelled()
    assert digest.as_stored(relabelled()) == "Judged as it was stored: mrr 1.0000 → 0.5000."
    assert digest.as_stored(view("refund")) == ""


def test_every_report_shows_it_and_gives_it_back():
    record = failing(views=[relabelled()], gates=[gate(queries=["refund"], as_stored=True)])
    assert ItemReport.loads(record.dumps()) == record
    assert json.loads(json.render([record], Command()))[0] == [record]
    assert "mrr 1.0000 → 0.5000" in html.render([record], Command())
    assert "judged as it was stored" in markdown.render([record], Command())
