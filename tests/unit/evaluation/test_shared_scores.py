"""Scores that the two sides of a comparison share are those that each would have computed by itself."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, evaluate
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation, read_metrics
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import mean, score
from pytest_irmetrics.retrieval import Retrieved
from pytest_irmetrics.run import Answer, Run

CUSTOM = {"shortness": lambda query, ranking, _k: len(query.judgments) / (1 + len(ranking))}
METRICS = read_metrics(
    ["mrr", "mrr(miss=skip)@2", "ndcg@3", "precision@2", "judged@3", "shortness@2", "no_answer"], CUSTOM
)
RANKINGS = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5).map(tuple)


@st.composite
def sides(draw):
    """Two runs over one golden set: some queries answered alike, some otherwise, some on one side alone."""
    queries, now, then = [], {}, {}
    for number in range(draw(st.integers(1, 6))):
        no_answer = draw(st.integers(0, 5)) == 0
        query = Query(
            id=f"q{number}",
            text=f"text {number}",
            judgments={}
            if no_answer
            else draw(st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 3), min_size=1, max_size=3)),
            tags=draw(st.sampled_from([(), ("x",), ("x", "y")])),
            weight=draw(st.sampled_from([1.0, 1.0, 0.3, 2])),
            no_answer=no_answer,
            xfail=draw(st.sampled_from([None, None, None, "TICKET-7"])),
        )
        queries.append(query)
        rankings = tuple(draw(st.lists(RANKINGS, min_size=1, max_size=2)))
        if draw(st.integers(0, 5)):
            now[query.id] = Answer(rankings, query.text)
        if draw(st.integers(0, 5)):
            other = (
                rankings if draw(st.booleans()) else tuple(draw(st.lists(RANKINGS, min_size=1, max_size=2)))
            )
            text = query.text if draw(st.integers(0, 5)) else "another"
            then[query.id] = Answer(other, text, query.params, query.judgments, query.weight)
    golden = GoldenSet(queries)
    depths = draw(st.tuples(st.sampled_from([3, 4, None]), st.sampled_from([3, 4, None])))
    return tuple(
        Evaluation(golden, Retrieved(Run.of(run), {}, stopped=False, latencies={}), METRICS, depth, CUSTOM)
        for run, depth in zip((now, then), depths, strict=True)
    )


def expected(evaluation, metric, query, depth):
    """Score one query by itself."""
    answer = evaluation.run.answers.get(query.id, Answer(((),)))
    rankings = [ranking[:depth] for ranking in answer.rankings]
    if metric.kind == "no_answer":
        return mean([float(not ranking) for ranking in rankings])
    if metric.kind == "custom":
        return mean([CUSTOM["shortness"](query, ranking[:2], 2) for ranking in rankings])
    values = [score(metric, query.judgments, ranking) for ranking in rankings]
    values = [value for value in values if value is not None]
    return mean(values) if values else None


@given(sides())
def test_a_comparison_equals_scoring_each_query_by_itself(both):
    now, then = both
    comparison = Comparison(now, then)
    asked = then.run.answers
    paired = [q for q in now.golden.queries.values() if q.id in asked and asked[q.id].text == q.text]
    assert comparison.paired == tuple(q.id for q in paired)
    for metric in METRICS:
        for tag in (None, "x", "y"):
            queries = [
                q
                for q in paired
                if q.xfail is None
                and q.no_answer == (metric.kind == "no_answer")
                and (tag is None or tag in q.tags)
            ]
            after = {q.id: expected(now, metric, q, comparison.depth) for q in queries}
            before = {q.id: expected(then, metric, q, comparison.depth) for q in queries}
            change = comparison.change(metric, tag)
            assert change.after == {i: value for i, value in after.items() if value is not None}
            assert change.before == {i: value for i, value in before.items() if value is not None}
            assert change.weights == {q.id: q.weight for q in queries}
            both_sides = [i for i in after if after[i] is not None and before[i] is not None]
            assert change.differences == {i: after[i] - before[i] for i in both_sides}
            assert change.n == len(both_sides)
            if len(both_sides) == len(queries) and queries:
                total = math.fsum(q.weight for q in queries)
                parts = math.fsum(q.weight * (after[q.id] - before[q.id]) for q in queries)
                assert change.delta == pytest.approx(parts / total, abs=1e-12)
                assert list(change.weighted_differences) == both_sides
            moved = {*change.worse, *change.better}
            assert moved.isdisjoint(change.same)
            assert moved | {*change.same} == set(both_sides)
            for query in queries:
                assert comparison.now.score(metric, query.id) == after[query.id]
    # And today's own, whole: what is narrowed shares with it, and changes nothing in it.
    whole = replace(now)
    assert whole.scores == now.scores
    assert whole.scores == {
        metric.name: dict(scores) for metric, scores in zip(METRICS, now.scores.values(), strict=True)
    }


@given(sides(), st.sampled_from(["nothing", "weights", "labels"]))
def test_the_effect_of_labels_is_the_baseline_scored_under_both(both, changed):
    now, then = both
    if changed != "nothing":
        other = {"weight": 3.0} if changed == "weights" else {"judgments": {"a": 3, "b": 0}}
        answers = {query_id: replace(answer, **other) for query_id, answer in then.run.answers.items()}
        then = replace(then, retrieved=replace(then.retrieved, run=Run.of(answers)))
    comparison = Comparison(now, then)
    metric = METRICS[2]
    queries = comparison.now.queries(metric)
    if not queries:
        assert comparison.labels_delta(metric) is None
        return
    answers = then.run.answers
    # One that has an answer today may have had none then, and the other way round.
    asked = [now.golden.queries[i] for i in comparison.paired if answers[i].judgments]
    asked = [query for query in asked if query.xfail is None]
    before = [
        expected(then, metric, replace(query, judgments=answers[query.id].judgments), comparison.depth)
        for query in asked
    ]
    weights = [answers[query.id].weight for query in asked]
    assert comparison.labels_delta(metric) == comparison.change(metric).baseline - mean(before, weights)


@given(sides())
def test_scores_are_not_shared_across_different_labels(both):
    now, then = both
    relabelled = GoldenSet(
        [
            replace(q, judgments=dict.fromkeys(q.judgments, 1) | ({} if q.no_answer else {"g": 2}))
            for q in reversed(then.golden.queries.values())
        ]
    )
    other = replace(then, golden=relabelled)
    comparison = Comparison(now, other)
    for metric in METRICS:
        for query_id, value in comparison.change(metric).before.items():
            assert value == expected(other, metric, relabelled.queries[query_id], comparison.depth)


def narrowed_to(evaluation, *query_ids):
    return evaluation.narrowed(only=query_ids)


def test_scores_are_not_shared_with_an_evaluation_over_fewer_queries():
    golden = GoldenSet.from_judgments({"a": {"d": 1}, "b": {"d": 1}})
    whole = evaluate(golden, Run({"a": ["d"], "b": []}), ["mrr"])
    for narrow in (narrowed_to(whole, "a"), narrowed_to(whole, "a", "b")):
        assert narrowed_to(narrow, "b")["mrr"] == 0
        assert narrowed_to(narrow, "a", "b").scores["mrr"] == {"a": 1, "b": 0}


def test_an_evaluation_that_shares_scores_equals_one_that_computes_them():
    golden = GoldenSet.from_judgments({"a": {"d": 1}, "b": {"d": 1}})
    one, same, other = (evaluate(golden, Run({"a": ["d"], "b": [last]}), ["mrr"]) for last in "xxd")
    assert one == same == one.narrowed() == same.sharing_scores_with(other)
    assert one != other
