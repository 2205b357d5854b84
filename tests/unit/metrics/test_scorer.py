"""Scoring many queries with several metrics at once."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics import metrics
from pytest_irmetrics.metrics import (
    FAMILIES,
    Scorer,
    parse_metric,
    score,
)

RANKING = [name for name, family in FAMILIES.items() if family.kind == "ranking"]
BINARY = [name for name in RANKING if "rel" in FAMILIES[name].parameters]


EVERY = [
    *RANKING,
    *[f"{name}@{k}" for name in RANKING for k in (1, 3, 10, 2000)],
    *[f"{name}(rel=2)@5" for name in BINARY],
    "mrr(miss=skip)@3",
    "map(norm=min)@5",
    "map(norm=hits)@5",
    "ndcg(gain=exp)@5",
    "ndcg(gain=exp)",
    "precision(denom=retrieved)@5",
    "rbp(p=0.5)",
    "err(max=7)",
]
grades = st.one_of(st.integers(-2, 4), st.sampled_from([0.5, 1.0, 1.5, 2.0, -0.5]))


@st.composite
def queries(draw):
    pool = draw(st.sampled_from([4, 12, 40, 200]))
    documents = st.integers(0, pool).map("d{}".format)
    judgments = draw(st.dictionaries(documents, grades, max_size=draw(st.sampled_from([1, 3, 12, 13, 40]))))
    ranking = draw(st.lists(documents, unique=True, max_size=pool))
    if draw(st.booleans()):  # long enough for what differs with the length, and for ranks off the tables
        ranking = [f"x{at}" for at in range(draw(st.sampled_from([15, 16, 17, 1022, 1030])))] + ranking
    return judgments, ranking


@settings(max_examples=60, deadline=None)
@given(st.lists(queries(), max_size=8), st.sampled_from([1, 2, 0.5]))
def test_many_queries_at_once_equal_each_alone(batch, level):
    judgments, rankings = [one for one, _ in batch], [other for _, other in batch]
    scorer = Scorer([parse_metric(name) for name in EVERY], relevance_level=level)
    alone = [[score(name, one, ranking, relevance_level=level) for one, ranking in batch] for name in EVERY]
    assert scorer.columns(judgments, rankings) == alone
    assert scorer.columns(iter(judgments), map(tuple, rankings)) == alone  # what is remembered is the same
    for at, (one, ranking) in enumerate(batch):
        assert scorer.row(one, ranking) == [column[at] for column in alone]


def test_the_number_of_remembered_rows_is_bounded(monkeypatch):
    monkeypatch.setattr("pytest_irmetrics.metrics.scorer._MAX_ROWS", 5)
    scorer = Scorer(["mrr", "ndcg@10"])
    judgments = [{f"d{number % 7}": 1 + number % 3, "other": 1} for number in range(300)]
    ranking = [f"d{number}" for number in range(7)]
    columns = scorer.columns(judgments, [ranking] * 300)
    assert columns == [[score(name, one, ranking) for one in judgments] for name in ("mrr", "ndcg@10")]
    assert sum(len(profile.rows) for profile in scorer._profiles.values()) <= 2 * 6


def test_queries_with_equal_hits_share_one_row():
    scorer = Scorer(["mrr"])
    scorer.columns([{"a": 1}, {"b": 1}], [["x", "a"], ["y", "b"]])
    assert scorer._row_count == 1
    scorer.columns([{"c": 2, "d": 1}, {"f": 1, "e": 2}], [["c"], ["e"]])
    assert (
        scorer._profiles[1, 2] is scorer._profiles[2, 1]
    )  # one profile, whatever the order of the judgments
    assert len(scorer._profiles[1, 2].rows) == 1
    remembered = scorer._row_count
    scorer.columns([{"f": 1, "e": 2}, {"c": 2, "d": 1}, {"a": 1}], [["e"], ["c"], ["x", "a"]])
    assert scorer._row_count == remembered


@pytest.mark.parametrize("name", ["judged", "judged@5", "precision", "f1", "precision(denom=retrieved)@5"])
def test_metrics_that_depend_on_the_length_share_no_row_across_lengths(name):
    rankings = [["a"], ["a", "x"], ["a", "x", "y"]]
    for judgments in ({"a": 1}, {"a": 1, "b": 1}):
        assert Scorer([name]).columns([judgments] * 3, rankings) == [
            [score(name, judgments, one) for one in rankings]
        ]


def test_columns_of_no_queries_or_no_metrics():
    assert Scorer(["mrr", "map"]).columns([], []) == [[], []]
    assert Scorer([]).columns([{"a": 1}], [["a"]]) == []


def test_columns_require_a_ranking_for_each_query():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Scorer(["mrr"]).columns([{"a": 1}, {"b": 1}], [["a"]])


def test_columns_keep_the_order_of_metrics_of_several_levels():
    names = ["recall(rel=2)", "recall", "mrr(rel=3)", "mrr", "mrr(rel=2)"]
    judgments, ranking = {"a": 1, "b": 2, "c": 3}, list("abx")
    assert Scorer(names).row(judgments, ranking) == [score(name, judgments, ranking) for name in names]
    assert Scorer(names).row(judgments, ranking) == [0.5, 2 / 3, 0.0, 1.0, 0.5]


def test_importing_the_metrics_loads_nothing_slow():
    heavy = {"pytest", "yaml", "numpy", "dataclasses", "inspect", "difflib"}
    code = f"import sys, {metrics.__name__}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert metrics.__name__ in loaded
    assert not heavy & set(loaded)
