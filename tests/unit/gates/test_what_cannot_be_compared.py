"""Baselines that were edited, and baselines of which too few queries are still asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import Gates, build, resolve
from tests.unit.gates.runs import gates

GOLDEN = GoldenSet([Query(f"q{n}", f"text {n}", {"d": 1}, tags=("x",) if n < 3 else ()) for n in range(8)])
METRICS = ["mrr", "recall@10", "map"]


def compared(golden=GOLDEN, means=None, ranking=("d",)):
    """Today's run, and its comparison with a baseline of the golden set whose header tells these means."""
    answers = {
        query.id: Answer((ranking,), query.text, {}, query.judgments, 1.0, query.tags)
        for query in GOLDEN.queries.values()
    }
    stored = Run.of(answers, 10, "faq.yaml", 1, means)
    now = evaluate_run(golden, Run({query_id: ["d"] for query_id in golden.queries}), METRICS, depth=10)
    return now, compare(now, evaluate_run(golden, stored, METRICS, depth=10))


def decided(now, comparison, gates=Gates(), **options):  # noqa: B008 - immutable
    return decide(
        now,
        gates,
        comparison=comparison,
        against="the baseline",
        update_command="pytest --ir-baseline-update",
        **options,
    )


EDITED = (
    "b.json was edited after it was stored: its header tells mrr 0.5000, and its rankings and judgments give 1.0000. "
    "Nothing can be compared with it."
)
RESTORE = "Restore the file: `git checkout -- b.json`."


def test_a_baseline_that_was_edited_fails_with_the_means_that_show_it():
    (verdict,) = decided(*compared(means={"mrr": 0.5}), file="b.json")
    assert (verdict.state, verdict.word, verdict.text, verdict.details) == (
        "failed",
        "baseline",
        EDITED,
        (RESTORE,),
    )


@pytest.mark.parametrize(
    ("means", "also"),
    [
        ({"mrr": 0.5, "map": 0.25}, "give 1.0000. map differs too. Nothing"),
        ({"mrr": 0.5, "map": 1.0, "recall@10": 0.25}, "give 1.0000. recall@10 differs too. Nothing"),
        ({"mrr": 0.5, "map": 0.25, "recall@10": 0.5}, "give 1.0000. map, recall@10 differ too. Nothing"),
    ],
)
def test_further_means_that_differ_are_named_behind_the_first(means, also):
    (verdict,) = decided(*compared(means=means), file="b.json")
    assert also in verdict.text


def test_a_mean_that_the_rankings_do_not_have_at_all_is_said():
    (verdict,) = decided(*compared(means={"no_answer": 0.5}), file="b.json")
    assert "its header tells no_answer 0.5000, and its rankings and judgments give none." in verdict.text


@pytest.mark.parametrize(
    ("storing", "single_queries_only", "judged"),
    [(False, False, True), (True, True, True), (True, False, False), (False, True, False)],
)
def test_an_edit_is_looked_for_where_the_baseline_stays_as_it_is_or_in_part(
    storing, single_queries_only, judged
):
    """Not where all of it is stored anew, nor where single queries of today alone are asked."""
    verdicts = decided(
        *compared(means={"mrr": 0.5}), file="b.json", storing=storing, single_queries_only=single_queries_only
    )
    assert [verdict.text for verdict in verdicts] == ([EDITED] if judged else [])
    assert (
        decided(*compared(means={"mrr": 0.5}), storing=storing, single_queries_only=single_queries_only) == ()
    )


def reworded(*ids):
    return GoldenSet(
        [
            replace(query, text="reworded" if query.id in ids else query.text)
            for query in GOLDEN.queries.values()
        ]
    )


def test_a_slice_of_which_too_few_queries_pair_fails_and_says_how_they_pair_again():
    now, comparison = compared(reworded("q0", "q1"))
    (verdict,) = decided(now, comparison, gates(tag="x", max_drop=0.1))
    assert (verdict.state, verdict.details) == (
        "failed",
        ("Restore the ids and texts, or store a new baseline.",),
    )
    assert verdict.text == (
        "mrr of the queries tagged x: only 33% of those that the baseline has (by weight) are still asked in the same words. "
        "That is too few to say that nothing regressed."
    )
    (verdict,) = decided(now, comparison, gates(tag="x", max_drop=0.1), storing=True)
    assert (verdict.state, verdict.details) == ("not checked", ())
    assert decided(*compared(reworded("q0")), gates(tag="x", max_drop=0.1))[0].state == "passed"


def test_a_set_of_which_too_few_queries_pair_fails_unless_it_is_stored_anew():
    now, comparison = compared(reworded("q0", "q1", "q2", "q3", "q4"))
    verdicts = decided(now, comparison)
    assert [(verdict.word, verdict.state, verdict.queries) for verdict in verdicts] == [
        ("baseline", "failed", ("q0", "q1", "q2", "q3", "q4"))
    ]
    assert decided(now, comparison, storing=True) == decided(now, comparison, single_queries_only=True) == ()
    assert decided(*compared(reworded("q0", "q1", "q2", "q3"))) == ()


def test_gates_that_the_baseline_cannot_judge_make_no_other_p_value_larger():
    """One on a cut-off below the baseline's depth, and one on a slice of which too few queries pair."""
    queries = [Query(f"q{n}", f"text {n}", {"d": 1}, tags=("x",) if n < 3 else ()) for n in range(20)]
    then = GoldenSet(queries)
    golden = GoldenSet(
        [replace(query, text="reworded") if query.id in ("q0", "q1") else query for query in queries]
    )
    answers = {
        query.id: Answer((("d",),), query.text, {}, query.judgments, 1.0, query.tags) for query in queries
    }
    before = evaluate_run(then, Run.of(answers, 5, "faq.yaml", 1, None), METRICS, depth=5)
    lost = {
        query_id: ["x"] if number % 2 or query_id == "q2" else ["d"]
        for number, query_id in enumerate(golden.queries)
    }
    now = evaluate_run(golden, Run(lost), [*METRICS, "recall@10"], depth=10)
    words = {"max_drop": 0.01, "significance": 0.05}
    mrr, too_deep, slice_ = build("mrr", words), build("recall@10", words), build("mrr", words, tag="x")

    def of_mrr(*thresholds):
        decided_ = decided(now, compare(now, before), resolve([thresholds]))
        return next(v for v in decided_ if v.word == "max_drop" and v.metric.name == "mrr" and v.tag is None)

    assert of_mrr(mrr, too_deep).text == of_mrr(mrr, slice_).text == of_mrr(mrr).text
    assert "adjusted" not in of_mrr(mrr).text
    assert "is below the significance 0.05." in of_mrr(mrr).text
