"""Which unjudged documents are chosen for labelling, and in which order."""

from __future__ import annotations

import math

import pytest

from pytest_irmetrics.analysis.labelling import pool
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.metrics import parse_metric
from pytest_irmetrics.run import Answer, Run

NDCG = parse_metric("ndcg@10")


def golden_set(tmp_path, text):
    path = tmp_path / "golden.yaml"
    path.write_text(f"queries:\n{text}")
    return GoldenSet.load(path)


def found(golden, *runs, metric=NDCG):
    return {
        (one.query.id, one.doc_id): one.influence
        for one in pool(golden, [Run(run) if isinstance(run, dict) else run for run in runs], metric).unjudged
    }


def test_influence_is_what_the_rank_adds_to_the_mean():
    golden = GoldenSet.from_judgments({"q": {"r": 1}})
    ideal = 1 + 1 / math.log2(3)
    assert found(golden, {"q": ["r", "u", "v"]}) == {
        ("q", "u"): pytest.approx(1 / math.log2(3) / ideal),
        ("q", "v"): pytest.approx(1 / math.log2(4) / ideal),
    }
    assert found(golden, {"q": ["u", "v", "r"]}, metric=parse_metric("mrr")) == {
        ("q", "u"): pytest.approx(1 - 1 / 3),
        ("q", "v"): pytest.approx(1 / 2 - 1 / 3),
    }


def test_the_first_rank_counts_more_than_the_ninth_however_good_the_query_is():
    golden = GoldenSet.from_judgments({"easy": {"e": 1}, "hard": {"h": 1}})
    fill = [f"n{rank}" for rank in range(7)]
    order = list(found(golden, {"easy": ["u1", "e", *fill[:6], "u9"], "hard": ["v1", *fill, "v9", "h"]}))
    assert set(order[:2]) == {("easy", "u1"), ("hard", "v1")}
    assert set(order[-2:]) == {("easy", "u9"), ("hard", "v9")}


def test_a_query_counts_by_its_share_of_the_weight(tmp_path):
    golden = golden_set(
        tmp_path,
        "- {query: a, relevant: r, weight: 3}\n- {query: b, relevant: r}\n"
        "- {query: c, relevant: r, weight: 100, xfail: known}\n",
    )
    influence = found(golden, {query: ["u"] for query in "abc"})
    assert influence == {
        ("a", "u"): pytest.approx(3 / 4 * 1 / (1 + 1 / math.log2(3))),
        ("b", "u"): influence["a", "u"] / 3,
    }


def test_an_unjudged_document_is_assumed_to_have_the_best_grade(tmp_path):
    golden = golden_set(tmp_path, "- {query: a, relevant: {r: 3, s: 0}}\n")
    ideal = 3 + 3 / math.log2(3)
    assert found(golden, {"a": ["u", "s", "r"]}) == {("a", "u"): pytest.approx(3 / ideal)}


def test_judged_forbidden_deep_and_uncounted_documents_are_left_out(tmp_path):
    golden = golden_set(
        tmp_path,
        "- {query: a, relevant: {r: 1, n: 0}, forbidden: [f]}\n- {query: b, no_answer: true}\n"
        "- {query: c, relevant: r, xfail: known}\n",
    )
    run = {"a": ["r", "n", "f", "u", "deep"], "b": ["x"], "c": ["y"]}
    assert list(found(golden, run, metric=parse_metric("ndcg@4"))) == [("a", "u")]
    assert found(golden, run, metric=parse_metric("mrr")) == {}
    assert pool(golden, [Run(run)], parse_metric("ndcg@4")).returned == 4


def test_several_runs_are_pooled_and_the_larger_influence_counts():
    golden = GoldenSet.from_judgments({"q": {"r": 1}})
    one, other = Run({"q": ["r", "x", "u"]}), Run({"q": ["u", "r", "y"]})
    pooled = pool(golden, [one, other], NDCG)
    assert [(entry.doc_id, entry.ranks) for entry in pooled.unjudged] == [
        ("u", (3, 1)),
        ("x", (2, None)),
        ("y", (None, 3)),
    ]
    assert pooled.unjudged[0].influence == found(golden, other)["q", "u"]
    assert pooled.returned == 4


def test_what_all_runs_return_at_one_rank_settles_nothing_and_comes_last():
    golden = GoldenSet.from_judgments({"a": {"r": 1}, "b": {"r": 1}})
    before = {"a": ["same", "r", "x"], "b": ["y", "r"]}
    now = {"a": ["same", "r", "z"], "b": ["r", "y"]}
    influence = found(golden, before, now)
    assert list(influence) == [("b", "y"), ("a", "x"), ("a", "z"), ("a", "same")]
    assert influence["a", "same"] == influence["b", "y"]
    assert list(found(golden, before))[:2] == [("a", "same"), ("b", "y")]


def test_a_query_that_one_run_alone_answers_settles_nothing_and_comes_last():
    golden = GoldenSet.from_judgments({"both": {"r": 1}, "one": {"r": 1}})
    influence = found(golden, {"both": ["r", "u", "v"], "one": ["x"]}, {"both": ["r", "v", "u"]})
    assert list(influence) == [("both", "u"), ("both", "v"), ("one", "x")]


def test_repeats_are_averaged():
    golden = GoldenSet.from_judgments({"q": {"r": 1}})
    once, both = Run({"q": ["u"]}), Run.of({"q": Answer((("u",), ("r",)))})
    assert found(golden, both)["q", "u"] == pytest.approx(found(golden, once)["q", "u"] / 2)


def test_queries_that_a_run_does_not_have_or_has_in_other_words_are_named(tmp_path):
    golden = golden_set(tmp_path, "".join(f"- {{id: {i}, query: text of {i}, relevant: r}}\n" for i in "abc"))
    run = Run.of({"a": Answer((("u",),), "text of a"), "b": Answer((("u",),), "another")})
    pooled = pool(golden, [run], NDCG)
    assert pooled.unpaired == (("b", "c"),)
    assert [one.query.id for one in pooled.unjudged] == ["a"]
