"""Queries' own thresholds, and queries that are known to be bad."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet, Run
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import would_pass
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import Gates, build
from tests.unit.gates.runs import HIT, MISS, SECOND, evaluated, gates, judged


def golden(*, metric="mrr", words=None, **query):
    own = (build(metric, words, origin="here", for_query=True),) if words else ()
    return GoldenSet([Query("q0", "text", {"d": 1}, thresholds=own, **query)])


@pytest.mark.parametrize(
    ("words", "ranking", "state", "text"),
    [
        ({"min": 0.5}, SECOND, "passed", "mrr of the query q0 is 0.5000; at least 0.5000 is required."),
        (
            {"min": 0.6},
            SECOND,
            "failed",
            "mrr of the query q0 is 0.5000, 0.1000 below its own threshold; at least 0.6000 is required.",
        ),
        (
            {"max_drop": 0.5},
            SECOND,
            "passed",
            "mrr of the query q0 did not fall beyond its limit; at most 0.5000 is allowed.",
        ),
        (
            {"max_drop": "10%"},
            SECOND,
            "failed",
            "mrr of the query q0 fell by 0.5000 to 0.5000; at most 0.1000 is allowed.",
        ),
    ],
)
def test_a_query_is_held_against_its_own_threshold(words, ranking, state, text):
    set_ = golden(words=words)
    (decided,) = judged(evaluated(set_, lambda _: ranking), evaluated(set_, lambda _: HIT))
    assert (decided.state, decided.text) == (state, text)
    assert (decided.single, decided.queries, decided.origin) == (True, ("q0",), "here")


def test_a_query_without_a_score_fails():
    set_ = golden(metric="mrr(miss=skip)", words={"min": 0})
    run = evaluated(set_, lambda _: [], "mrr(miss=skip)")
    (decided,) = judged(run, run)
    assert decided.text == "A gate over no query: mrr(miss=skip) of the query q0 is not defined."
    assert decided.failed


@pytest.mark.parametrize(
    ("ranking", "own", "inherited", "passes"),
    [
        (HIT, None, None, True),
        (MISS, None, None, False),
        (SECOND, None, None, True),
        (SECOND, {"min": 0.6}, None, False),
        (SECOND, None, 0.6, False),
        (SECOND, {"min": 0.4}, 0.6, True),
        (SECOND, {"min": "off"}, 0.6, True),
    ],
)
def test_an_xfail_query_would_pass_where_no_gate_on_single_queries_fails(ranking, own, inherited, passes):
    set_ = golden(words=own, xfail="known")
    (query,) = set_.queries.values()
    held = Gates() if inherited is None else gates(min_each=inherited)
    assert would_pass(evaluated(set_, lambda _: ranking), query, held) is passes


def test_an_xfail_query_that_returns_a_forbidden_document_still_fails():
    set_ = golden(xfail="known", forbidden=("x",))
    (query,) = set_.queries.values()
    assert not would_pass(evaluated(set_, lambda _: SECOND), query, Gates())
    assert would_pass(evaluated(set_, lambda _: HIT), query, Gates())


@pytest.mark.parametrize(("ranking", "passes"), [([], True), (MISS, False)])
def test_an_xfail_query_without_an_answer_would_pass_where_nothing_comes_back(ranking, passes):
    set_ = GoldenSet([Query("q0", "text", {}, no_answer=True, xfail="known")])
    (query,) = set_.queries.values()
    assert would_pass(evaluated(set_, lambda _: ranking), query, Gates()) is passes
    # A gate on the others says nothing of it.
    assert would_pass(evaluated(set_, lambda _: ranking), query, gates(min_each=0.9)) is passes


def test_an_xfail_query_would_pass_only_where_every_repeat_does():
    set_ = GoldenSet([Query("q0", "text", {"d": 1}, forbidden=("x",), xfail="known")])
    (query,) = set_.queries.values()

    def asked(*rankings):
        run = Run.of({"q0": Answer(tuple(map(tuple, rankings)))})
        return would_pass(evaluate_run(set_, run, ["mrr"]), query, Gates())

    assert asked(["d"], ["y", "d"])
    assert not asked(["d"], ["y"])
    assert not asked(["y"], ["d"])
    assert not asked(["d"], ["d", "x"])
    assert not asked(["d", "x"], ["d"])


def test_a_gate_on_another_tag_is_none_of_an_xfail_query():
    set_ = golden(xfail="known", tags=("billing",))
    (query,) = set_.queries.values()
    assert would_pass(evaluated(set_, lambda _: SECOND), query, gates(tag="other", min_each=0.9))
    assert not would_pass(evaluated(set_, lambda _: SECOND), query, gates(tag="billing", min_each=0.9))
