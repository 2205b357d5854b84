"""Falls that an edit of the golden set hides: each gate also judges by the labels stored with the baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import build
from tests.unit.gates.runs import HIT, MISS, SECOND, evaluated, gates, golden_set, judged, verdict


def stored(golden, ranking=HIT, **run):
    """A run that was stored with the labels of its golden set."""
    answers = {
        query.id: Answer((tuple(ranking),), query.text, {}, query.judgments, query.weight, query.tags)
        for query in golden.queries.values()
    }
    return Run.of(answers, **run)


def edited(golden, edit, **values):
    return GoldenSet([edit(query) for query in golden.queries.values()], **values)


def test_labels_make_no_fall_insignificant():
    """Ten queries lost are beyond chance, three are not; judging what came back relevant for the other seven helps nobody."""
    then = golden_set(10)
    golden = edited(then, lambda q: replace(q, judgments={"d": 1, "x": 1}) if q.id < "q0007" else q)
    now, before = evaluated(golden, lambda _: MISS), evaluate_run(golden, stored(then), ["mrr"])
    assert compare(now, before)["mrr"].p_value == 1 / 8
    decided = verdict(now, before, max_drop=0.01, significance=0.05)
    assert decided.failed
    assert decided.text.startswith(
        "Under the judgments that were stored with the baseline, mrr fell by 1.0000"
    )


def test_judging_what_came_back_relevant_hides_no_drop():
    then = golden_set(4)
    golden = edited(then, lambda query: replace(query, judgments={"x": 1}))
    now, before = evaluated(golden, lambda _: MISS), evaluate_run(golden, stored(then), ["mrr"])
    decided = verdict(now, before, max_drop=0.01)
    assert decided.failed
    assert decided.as_stored
    assert decided.text == (
        "Under the judgments that were stored with the baseline, mrr fell by 1.0000 from the baseline to 0.0000; "
        "at most 0.0100 is allowed."
    )
    first, second = decided.details[:2]
    assert first == ("By the stored judgments −1.0000 (fails), by today's +1.0000 (passes).")
    assert second == (
        "New judgments alone cannot make it pass: accept today's run, or undo the change of the search."
    )


def test_new_judgments_that_move_no_mean_are_not_spoken_of_in_a_drop():
    then = golden_set(4)
    golden = edited(then, lambda query: replace(query, judgments={"d": 1, "never returned": 1}))
    now, before = evaluated(golden, lambda _: SECOND), evaluate_run(golden, stored(then), ["mrr"])
    decided = verdict(now, before, max_drop=0.01)
    assert decided.failed
    assert not decided.as_stored
    assert decided.details[0] == "4 queries: 4 worse, 0 better, 0 same."


def test_lost_queries_are_counted_under_the_stored_labels_too():
    then = golden_set(4)
    golden = edited(then, lambda query: replace(query, judgments={"x": 1}))
    now, before = evaluated(golden, lambda _: MISS), evaluate_run(golden, stored(then), ["mrr"])
    decided = verdict(now, before, max_lost=0)
    assert (decided.as_stored, len(decided.queries)) == (True, 4)
    assert decided.details[0].startswith("By today's judgments, which the table goes by, none did.")


def test_lost_queries_are_counted_under_todays_labels_too():
    then = golden_set(4)
    golden = edited(then, lambda query: replace(query, judgments={"x": 1}) if query.id < "q0002" else query)
    now, before = evaluated(golden, lambda _: MISS), evaluate_run(golden, stored(then), ["mrr"])
    decided = verdict(now, before, max_lost=2)
    assert (decided.as_stored, len(decided.queries)) == (True, 4)
    assert decided.details[0].startswith("By today's judgments, which the table goes by, 2 did.")


def test_a_querys_own_threshold_sees_what_an_edit_hides():
    own = build("mrr", {"max_drop": 0.1}, for_query=True)
    then = edited(golden_set(1), lambda query: replace(query, thresholds=(own,)))
    golden = edited(then, lambda query: replace(query, judgments={"x": 1}))
    now, before = evaluated(golden, lambda _: MISS), evaluate_run(golden, stored(then), ["mrr"])
    (decided,) = judged(now, before)
    assert (decided.state, decided.single, decided.as_stored) == ("failed", True, True)
    assert decided.text.startswith(
        "Under the judgments that were stored with the baseline, mrr of the query q0000 fell"
    )


@pytest.mark.parametrize(
    ("edit", "level", "tag", "labels"),
    [
        (lambda query: query, 1, None, ()),
        (lambda query: replace(query, judgments={"d": 2}), 1, None, ("judgments",)),
        (lambda query: query, 2, None, ("relevance level",)),
        (lambda query: replace(query, weight=2.0), 1, None, ("weights",)),
        (lambda query: replace(query, tags=("new",)), 1, None, ()),
        (lambda query: replace(query, tags=("new",)), 1, "new", ("tags",)),
        (lambda query: replace(query, tags=("new",)), 1, "other", ()),
        (
            lambda query: replace(query, judgments={"d": 2}, weight=2.0),
            2,
            None,
            ("judgments", "relevance level", "weights"),
        ),
    ],
)
def test_what_changed_is_known_by_name(edit, level, tag, labels):
    then = golden_set(2)
    golden = edited(then, edit, relevance_level=level)
    before = evaluate_run(golden, stored(then, relevance_level=1), ["mrr"])
    assert compare(evaluated(golden, lambda _: HIT), before).changed_labels(tag) == labels


def test_a_relevance_level_is_one_thing():
    then = edited(golden_set(4), lambda query: replace(query, judgments={"d": 2, "x": 1}))
    golden = edited(then, lambda query: query, relevance_level=2)
    now = evaluated(golden, lambda _: ["y", "d"], "recall@1")
    before = evaluate_run(golden, stored(then, ["x"], relevance_level=1), ["recall@1"])
    (decided,) = judged(now, before, gates("recall@1", max_drop=0.01))
    assert decided.text.startswith(
        "Under the relevance level that was stored with the baseline, recall@1 fell by 0.5"
    )
    assert "A new relevance level alone cannot make it pass" in decided.details[1]
