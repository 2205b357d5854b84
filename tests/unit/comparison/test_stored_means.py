"""The means in a stored run's header, held against its own rankings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.comparison.stored_means import WrongMean, means_as_stored, with_answers, wrong_means
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer

GOLDEN = GoldenSet(
    [
        Query("one", "first", {"d": 1}, weight=3.0),
        Query("two", "second", {"d": 1}),
        Query("bad", "third", {"d": 1}, xfail="TICKET-7"),
        Query("none", "fourth", {}, no_answer=True),
    ]
)
MEANS = {"mrr": (3 * 1 + 0.5) / 4, "no_answer": 1.0}


def answer(query, ranking, **changes):
    judgments = changes.pop("judgments", query.judgments)
    return Answer(
        (ranking,),
        query.text,
        {},
        judgments,
        query.weight,
        query.tags,
        xfail=query.xfail is not None,
        **changes,
    )


def stored(means=MEANS, rankings=(("d",), ("x", "d"), ("d",), ()), depth=10, **changes):
    """A baseline of the golden set, with these means in its header."""
    answers = {
        query.id: replace(answer(query, ranking), **changes)
        for query, ranking in zip(GOLDEN.queries.values(), rankings, strict=True)
    }
    return Run.of(answers, depth, "faq.yaml", 1, means)


def wrong(run, golden=GOLDEN, metrics=("mrr", "no_answer")):
    now = evaluate_run(golden, Run({query_id: ["d"] for query_id in golden.queries}), metrics, depth=10)
    return wrong_means(compare(now, evaluate_run(golden, run, metrics, depth=run.depth)))


@pytest.mark.parametrize("metrics", [("mrr", "no_answer"), ("mrr",), ("no_answer",), ("map",)])
def test_means_that_the_rankings_give_are_right(metrics):
    assert wrong(stored(), metrics=metrics) == []
    assert wrong(stored({})) == []


@pytest.mark.parametrize("metrics", [("mrr", "no_answer"), ("mrr",), ("no_answer",), ("map",)])
def test_means_that_the_rankings_do_not_give_are_named(metrics):
    edited = stored(rankings=(("x", "d"), ("x", "d"), ("d",), ("y",)))
    assert wrong(edited, metrics=metrics) == [
        WrongMean("mrr", MEANS["mrr"], 0.5),
        WrongMean("no_answer", 1.0, 0.0),
    ]
    assert wrong(stored({**MEANS, "mrr": MEANS["mrr"] + 1e-6}), metrics=metrics) == [
        WrongMean("mrr", MEANS["mrr"] + 1e-6, MEANS["mrr"])
    ]


def test_rounding_is_no_edit():
    assert wrong(stored({"mrr": MEANS["mrr"] + 1e-12})) == []


def test_what_cannot_be_held_against_the_rankings_is_left_out():
    """A metric of the user's own, one that is none any more, a latency, and a cut-off below the depth."""
    told = {"mine": 3.0, "mrr(rel=zero)": 0.1, "latency_p50": 7.0, "recall@100": 0.1, "mrr": MEANS["mrr"]}
    assert wrong(stored(told)) == []
    assert wrong(stored({**told, "mrr": 0.1})) == [WrongMean("mrr", 0.1, MEANS["mrr"])]


def test_a_cutoff_that_a_run_of_unknown_depth_may_reach_is_held():
    assert wrong(stored({"recall@100": 0.1}, depth=None)) == [WrongMean("recall@100", 0.1, 1.0)]


def test_a_query_is_excluded_as_it_was_when_the_run_was_stored():
    mended = GoldenSet([replace(query, xfail=None) for query in GOLDEN.queries.values()])
    assert wrong(stored(), mended) == []
    newly_bad = GoldenSet(
        [
            replace(query, xfail="TICKET-8" if query.id == "two" else query.xfail)
            for query in GOLDEN.queries.values()
        ]
    )
    assert wrong(stored(), newly_bad) == []


def test_labels_of_today_are_no_edit_of_the_baseline():
    relabelled = GoldenSet(
        [replace(query, judgments={"x": 1}, weight=1.0, no_answer=False) for query in GOLDEN.queries.values()]
    )
    assert wrong(stored(), relabelled, ["mrr"]) == []


def test_judgments_that_were_taken_out_are_taken_from_the_golden_set():
    assert wrong(stored(judgments=None)) == []
    assert wrong(stored({"mrr": 1.0}, judgments=None)) == [WrongMean("mrr", 1.0, MEANS["mrr"])]
    fewer = GoldenSet([query for query in GOLDEN.queries.values() if query.id != "two"])
    assert wrong(stored({"mrr": 1.0}, judgments=None), fewer) == []


def test_a_stored_run_with_other_answers_has_their_means():
    changed = with_answers(stored(), {"two": answer(GOLDEN.queries["two"], ("d",))})
    assert (changed.depth, changed.golden_set, changed.relevance_level) == (10, "faq.yaml", 1)
    assert changed.means == {"mrr": 1.0, "no_answer": 1.0}
    assert changed["one"] == stored()["one"]
    assert means_as_stored(stored()) == MEANS
    assert means_as_stored(stored(judgments=None)) == {}
    assert means_as_stored(stored({"mine": 3.0, "mrr": 0.0})) == {"mrr": MEANS["mrr"]}
    assert means_as_stored(Run.of({}, means={"mrr": 0.5})) == {}
