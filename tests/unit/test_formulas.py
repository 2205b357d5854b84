"""Conventions of the metrics at their edges, one query at a time: what random queries against other tools do not settle."""

from __future__ import annotations

import math
from itertools import permutations

import pytest

from pytest_irmetrics.metrics import FAMILIES, MetricError, Scorer, mean, mean_of_scored

RANKING = [name for name, family in FAMILIES.items() if family.kind == "ranking"]


def score(metric, judgments, ranking, relevance_level=1):
    return Scorer([metric], relevance_level=relevance_level).row(judgments, ranking)[0]


GRADED = {"a": 3, "b": 2, "c": 3, "d": 0, "e": 1}


@pytest.mark.parametrize("name", [name for name in RANKING if name != "judged"])
def test_nothing_relevant_found_is_zero(name):
    for judgments, ranking in (
        ({"a": 1}, ""),
        ({"a": 1}, "xy"),
        ({"a": 0}, "ax"),
        ({"a": -1, "b": 0}, "ab"),
        ({}, "a"),
        ({}, ""),
    ):
        for cut in ("", "@3"):
            assert score(name + cut, judgments, list(ranking)) == 0


@pytest.mark.parametrize(
    ("metric", "judgments", "ranking", "expected"),
    [
        ("judged", {"a": 1, "b": 0, "c": -1}, "abxc", 0.75),
        ("judged@2", {"a": 1, "b": 0, "c": -1}, "abxc", 1),
        ("judged@10", {"a": 1, "b": 0, "c": -1}, "abxc", 0.75),
        ("judged@10", {"a": 1}, "", 1),
        ("judged", {}, "x", 0),
        ("mrr(miss=skip)@2", {"a": 1}, "xya", None),
        ("mrr(miss=skip)@3", {"a": 1}, "xya", 1 / 3),
        ("map@3", dict.fromkeys("abcdef", 1), "axb", (1 + 2 / 3) / 6),
        ("map(norm=min)@3", dict.fromkeys("abcdef", 1), "axb", (1 + 2 / 3) / 3),
        ("map(norm=hits)@3", dict.fromkeys("abcdef", 1), "axb", (1 + 2 / 3) / 2),
        ("map(norm=hits)@3", dict.fromkeys("abcdef", 1), "xyz", 0),
        ("precision@10", {"a": 1}, "ax", 0.1),
        ("precision(denom=retrieved)@10", {"a": 1}, "ax", 0.5),
        ("precision(denom=retrieved)@1", {"a": 1}, "ax", 1),
        ("precision", {"a": 1}, "ax", 0.5),
        ("f1@5", dict.fromkeys("abcd", 1), "axb", 2 * 0.4 * 0.5 / (0.4 + 0.5)),
        ("f1", dict.fromkeys("abcd", 1), "axb", 2 * (2 / 3) * 0.5 / (2 / 3 + 0.5)),
        ("all@3", {"a": 1, "b": 2, "n": 0}, "axb", 1),
        ("all@2", {"a": 1, "b": 2, "n": 0}, "axb", 0),
        ("all", {"a": 1, "b": 2, "c": 1}, "axb", 0),
        ("err@2", {"a": 4, "b": 2}, "ab", 15 / 16 + (1 - 15 / 16) * (3 / 16) / 2),
        ("err(max=5)@1", {"a": 4, "b": 2}, "ab", 15 / 32),
        ("rbp", {"a": 1, "b": 3}, "axb", 0.2 * (1 + 0.8**2)),
        ("rbp(p=0.5)@2", {"a": 1, "b": 3}, "axb", 0.5),
        ("bpref", {"a": 1, "b": 1, "n": 0, "m": 0, "u": -1}, "n?uab", 0.5),
        ("bpref", {"a": 1, "n": 0, "m": 0}, "nma", 0),
        ("bpref@4", {"a": 1, "b": 1, "n": 0, "m": 0, "u": -1}, "n?uab", 0.25),
        ("r_precision", {"a": 1, "b": 1}, "axb", 0.5),
        ("r_precision@1", {"a": 1, "b": 1}, "abx", 0.5),
        ("ndcg", {"a": 1, "b": -0.5}, "ba", 1 / math.log2(3)),
        ("err", {"a": 4, "b": -0.5}, "ba", 15 / 32),
        ("ndcg@5", GRADED, "abcde", 0.97237),
        ("ndcg(gain=exp)", {"a": 1, "b": 3}, "ab", (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))),
    ],
)
def test_each_metric_is_what_its_definition_says(metric, judgments, ranking, expected):
    found = score(metric, judgments, list(ranking))
    assert found == (expected if expected is None else pytest.approx(expected, abs=1e-5))
    assert Scorer([metric, "mrr"]).row(judgments, list(ranking))[0] == found


@pytest.mark.parametrize(
    "name", [name for name in RANKING if "rel" in {one.name for one in FAMILIES[name].parameters}]
)
def test_the_relevance_level_is_the_golden_sets_unless_the_metric_has_its_own(name):
    def scores(metric, relevance_level):
        judgments = {"a": 1, "b": 2, "c": 1, "n": 0}
        return [score(metric, judgments, ranking, relevance_level) for ranking in permutations("axbn")]

    assert scores(f"{name}@3", 2) != scores(f"{name}@3", 1)
    assert scores(f"{name}(rel=2)@3", 1) == scores(f"{name}@3", 2)
    assert scores(f"{name}(rel=1)@3", 2) == scores(f"{name}@3", 1)


@pytest.mark.parametrize("grade", [math.inf, -math.inf, math.nan, 10**400])
def test_grades_are_finite(grade):
    for alone in (True, False):
        with pytest.raises(MetricError, match=r"infinite or not a number"):
            Scorer(["ndcg"]).row({"b": grade} if alone else {"a": 1, "b": grade}, ["b"])


def test_rows_keep_the_order_of_metrics():
    names = ["recall(rel=2)", "recall", "mrr(rel=3)", "mrr", "mrr(rel=2)"]
    assert Scorer(names).row({"a": 1, "b": 2, "c": 3}, list("abx")) == (0.5, 2 / 3, 0.0, 1.0, 0.5)
    with pytest.raises(MetricError):
        Scorer(["mrr", "err"]).row({"a": 7}, ["a"])


def test_queries_that_score_alike_do_so_whatever_their_number_of_judgments():
    scorer = Scorer(["mrr", "map", "ndcg@3", "judged@2"])
    few = {"a": 1, "b": 2}
    for ranking in ("ab", "xba", "yb", "", "xy"):
        assert scorer.row(few, list(ranking)) == scorer.row(few, list(ranking.replace("x", "z")))
        many = Scorer(["mrr", "judged@2"]).row({**few, "c": 0, "d": 0}, list(ranking))
        assert many == scorer.row(few, list(ranking))[::3]


def test_a_mean_does_not_depend_on_order_weighs_and_leaves_out_what_has_no_score():
    values = [1.0, 1e-17, 0.1, 0.7, 1e-17]
    assert mean(values) == mean(values[::-1]) == math.fsum(values) / 5
    assert mean(values, [2.0] * 5) == pytest.approx(mean(values), abs=1e-16)
    assert mean([1.0, 0.0], [3.0, 1.0]) == 0.75
    assert mean([0.1] * 10) == 0.1
    assert mean_of_scored([1.0, None, 0.0], [3.0, 100.0, 1.0]) == 0.75
    assert mean_of_scored([1.0, None, 0.5]) == 0.75
    assert mean_of_scored([None], [1.0]) is mean_of_scored([]) is None
