"""Single queries in reports: which explain a failure, in which order, and how their rankings differ."""

from __future__ import annotations

from pytest_irmetrics.reports import ItemReport, SessionReport, html, json, markdown
from pytest_irmetrics.reports.item_report import QueryAsStored
from pytest_irmetrics.reports.query_details import (
    explaining_queries,
    is_only_slow,
    missing_by_grade,
    queries_as_judged,
    side_by_side,
    stored_judgments_note,
    worst_first,
)
from tests.unit.reports.samples import failing, gate, query


def test_the_worst_query_comes_first():
    queries = [
        query("same", scores={"mrr": 1.0}, scores_before={"mrr": 1.0}),
        query("low", scores={"mrr": 0.1}, scores_before={"mrr": 0.1}),
        query("rose", scores={"mrr": 0.05}, scores_before={"mrr": 0.0}),
        query("fell", scores={"mrr": 0.2}, scores_before={"mrr": 0.4}),
        query("explains", scores={"mrr": 0.9}, scores_before={"mrr": 1.0}),
        query("broken", scores={}, scores_before={}, error="timed out"),
        query("nothing", scores={"mrr": None}, scores_before={}),
    ]
    item = failing(queries=queries, gates=[gate(queries=["explains", "of another set"])])
    order = ["broken", "explains", "fell", "rose", "low", "same", "nothing"]
    assert [query.query_id for query in worst_first(item)] == order


def test_queries_are_ordered_by_the_leading_metric():
    fell = query("fell", scores={"mrr": 1.0, "map": 0.2}, scores_before={"mrr": 1.0, "map": 0.9})
    low = query("low", scores={"mrr": 0.1, "map": 0.8}, scores_before={"mrr": 0.5, "map": 0.8})
    for leading, first in (("mrr", "low"), ("map", "fell")):
        item = failing(queries=[fell, low], gates=[], leading_metric=leading)
        assert worst_first(item)[0].query_id == first


def test_a_drop_explains_more_than_what_was_low_before_it():
    queries = [query("low"), query("fell"), query("own")]
    low = gate(queries=["low"], word="min", shares=[])
    own = gate(queries=["own"], word="min", shares=[], single=True, metric="map")
    item = failing(queries=queries, gates=[low, gate(queries=["fell"]), own])
    assert explaining_queries(item.gates, ["low", "fell", "own"]) == {"fell": ["mrr"], "own": ["map"]}
    assert list(explaining_queries([low], ["low"])) == ["low"]


def test_a_query_is_only_slow_where_nothing_else_failed_for_it():
    slow = query("slow", took=900.0)
    latency = gate(queries=["slow"], metric="latency_p95", word="max")
    assert is_only_slow(slow, [latency])
    assert is_only_slow(slow, [latency, gate(queries=["other"]), gate("passed", queries=["slow"])])
    assert not is_only_slow(slow, [latency, gate(queries=["slow"])])
    assert not is_only_slow(slow, [gate(queries=["slow"]), latency])
    assert not is_only_slow(slow, [latency, gate(queries=["slow"], metric=None, word="forbidden")])
    assert not is_only_slow(query("slow"), [latency])


def test_rankings_side_by_side_say_what_moved():
    ranks = side_by_side(
        query(
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
    assert [now.move for _, before, now in side_by_side(query(before=None))] == ["", ""]


def test_relevant_documents_that_are_missing_are_named_by_grade():
    missing = missing_by_grade(query(now=("d1",), judgments={"d1": 3.0, "d2": 1.0, "d3": 2.0, "d4": 0.0}))
    assert [place.doc_id for place in missing] == ["d3", "d2"]


def test_a_forbidden_document_is_not_relevant_whatever_its_grade():
    [(_, _, document)] = side_by_side(query(now=["d1"], before=None, judgments={"d1": 3.0}, forbidden=["d1"]))
    assert (document.relevant, document.judgment) == (False, "forbidden")


def relabelled(**changes):
    """A query that lost nothing by today's judgments, and fell by those that were stored."""
    then = QueryAsStored({"d1": 1}, ["d2", "d1"], ["d1", "d2"], {"mrr": 0.5}, {"mrr": 1.0})
    return query("refund", scores={"mrr": 1.0}, scores_before={"mrr": 1.0}, as_stored=then, **changes)


def test_a_fall_under_the_stored_judgments_alone_is_shown_under_these():
    by_then = failing(queries=[relabelled()], gates=[gate(queries=["refund"], as_stored=True)])
    shown = queries_as_judged(by_then)["refund"]
    assert (shown.scores, shown.scores_before, shown.judgments) == ({"mrr": 0.5}, {"mrr": 1.0}, {"d1": 1})
    assert (shown.now, shown.before, shown.status) == (["d2", "d1"], ["d1", "d2"], "judged as it was stored")
    by_both = failing(
        queries=[relabelled()], gates=[gate(queries=["refund"], as_stored=True), gate(queries=["refund"])]
    )
    assert queries_as_judged(by_both)["refund"] == relabelled()
    assert stored_judgments_note(relabelled()) == "Judged as it was stored: mrr 1.0000 → 0.5000."
    assert stored_judgments_note(query("refund")) == ""


def test_every_report_shows_a_fall_under_the_stored_judgments():
    item = failing(queries=[relabelled()], gates=[gate(queries=["refund"], as_stored=True)])
    assert ItemReport.loads(item.dumps()) == item
    assert json.loads(json.render(SessionReport([item]))).items == [item]
    assert "mrr 1.0000 → 0.5000" in html.render(SessionReport([item]))
    assert "judged as it was stored" in markdown.render(SessionReport([item]))
