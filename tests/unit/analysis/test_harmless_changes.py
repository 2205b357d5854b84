"""What max_lost costs: how many simulated changes that harm nothing it would fail."""

from __future__ import annotations

import pytest

from pytest_irmetrics import thresholds
from pytest_irmetrics.analysis import selftest
from pytest_irmetrics.analysis.harmless_changes import harmless_changes
from pytest_irmetrics.analysis.selftest import run_selftest
from pytest_irmetrics.evaluation import EvaluationError, evaluate_run, read_metrics
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.run import Answer, Run

DEPTH = 10
(RECALL,) = read_metrics(["recall@10"])


def stored(rank, count=60):
    """Each query finds its one relevant document at one rank."""
    queries = [Query(id=f"q{n}", text=f"text {n}", judgments={f"r{n}": 1}) for n in range(count)]
    answers = {}
    for n, query in enumerate(queries):
        ranking = [f"d{n + place}" for place in range(DEPTH)]
        ranking[rank - 1] = f"r{n}"
        answers[query.id] = Answer((tuple(ranking),), text=query.text)
    return evaluate_run(GoldenSet(queries), Run.of(answers, depth=DEPTH), ("recall@10",), depth=DEPTH)


def advice(evaluation, *lines):
    levels = [[thresholds.parse_line(line, origin="here", custom=()) for line in lines]]
    result = run_selftest(evaluation, thresholds.resolve(levels), against="the baseline", update="pytest")
    return next(text for text in result.advice if "broken queries" in text)


def test_answers_at_the_top_are_not_lost_and_those_at_the_last_rank_are():
    top, last = (harmless_changes(stored(rank), RECALL, 1.0) for rank in (1, DEPTH))
    assert top.lost == [0] * 20
    assert min(last.lost) > 10
    assert [top.failing(0), last.failing(0), last.failing(60)] == [0, 20, 0]


def test_as_many_results_are_exchanged_as_by_other_weights():
    assert harmless_changes(stored(1), RECALL, 1.0).exchanged == pytest.approx(0.12, abs=0.01)


def test_the_changes_are_the_same_on_every_machine():
    assert harmless_changes(stored(7, count=10), RECALL, 1.0).lost == [
        *(2, 2, 2, 0, 1, 0, 1, 0, 2, 0, 1, 0, 1, 1, 0, 1, 3, 2, 1, 1)
    ]


def test_only_changes_that_move_the_mean_by_little_count():
    assert max(harmless_changes(stored(6), RECALL, 1 / 60).lost) == 1
    assert harmless_changes(stored(DEPTH), RECALL, 0.01) is None


def test_relevant_documents_that_were_missed_come_in():
    queries = [Query(id=f"q{n}", text=f"text {n}", judgments={f"r{n}": 1}) for n in range(60)]
    answers = {q.id: Answer((tuple(f"d{place}" for place in range(DEPTH)),), text=q.text) for q in queries}
    nothing = evaluate_run(GoldenSet(queries), Run.of(answers, depth=DEPTH), ("recall@10",), depth=DEPTH)
    assert harmless_changes(nothing, RECALL, 0.0) is None
    assert harmless_changes(nothing, RECALL, 0.5).lost == [0] * 20


def test_a_large_set_gets_fewer_changes():
    assert len(harmless_changes(stored(1, count=2_500), RECALL, 1.0).lost) == 8


def test_the_advice_says_its_price():
    text = advice(stored(5, count=100), "recall@10 max_drop=0.02")
    assert text == (
        'A mean hides a few broken queries: ir_threshold("recall@10", max_lost=0) fails as soon as the recall@10 of one'
        " query falls to 0. It would also fail 12 of 20 simulated changes that harm nothing: rankings shuffled a little,"
        " 11 % of results exchanged, the mean moved by at most 0.02."
    )


def test_where_no_change_is_harmless_the_price_is_said_to_be_unknown():
    """Silence would read as if the limit cost nothing."""
    text = advice(stored(DEPTH, count=100), "recall@10 max_drop=0.02")
    assert text.endswith(
        "of one query falls to 0. How many harmless changes it would fail too is not known: fewer than five small shuffles of these "
        "rankings keep the mean within 0.02."
    )


def test_a_metric_that_cannot_score_a_shuffled_ranking_costs_the_price_and_not_the_advice(monkeypatch):
    def refuse(*_):
        raise EvaluationError("the metric own raised KeyError")

    monkeypatch.setattr(selftest, "harmless_changes", refuse)
    text = advice(stored(5, count=100), "recall@10 max_drop=0.02")
    assert text.endswith(
        "How many harmless changes it would fail too is not known: recall@10 cannot score a shuffled ranking."
    )


def test_the_advice_allows_the_queries_that_a_small_loss_has():
    text = advice(stored(4, count=400), "recall@10 max_drop=0.02")
    assert (
        "max_lost=3) fails when the recall@10 of more than 3 queries fall to 0. It would also fail 3 of 20"
        in text
    )
