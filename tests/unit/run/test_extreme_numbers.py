"""Stored runs with numbers at the ends of their ranges are refused in a sentence, or can be scored, compared and stored."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, compare, evaluate
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.run import Run, RunError
from tests.extreme_numbers import ENDS, edited, numbers, replaced
from tests.unit.run.stored import RUN, STORED

DOCUMENT = json.loads(STORED)
METRICS = ["mrr", "map", "ndcg@10", "ndcg(gain=exp)@10", "err(max=1000)", "rbp", "bpref", "judged"]


def read(load, *arguments, **named):
    """The run that a function loads, and what it says where it refuses to."""
    try:
        return load(*arguments, **named), None
    except RunError as error:
        return None, str(error)


def assert_usable(run):
    """Every step after reading does without errors of its own, and gives finite numbers."""
    assert Run.loads(run.dumps()) == run
    judgments = {query_id: answer.judgments or {"d1": 1} for query_id, answer in run.answers.items()}
    if not judgments:
        return
    try:
        golden = GoldenSet.from_judgments(judgments, relevance_level=run.relevance_level or 1)
        now, before = (evaluate(golden, one, metrics=METRICS) for one in (run, Run({"refund": ["d2", "d9"]})))
    except IRMetricsError:
        return
    for name in METRICS:
        assert math.isfinite(now[name])
    if not now.errors and not before.errors:
        change = compare(now, before)["ndcg@10"]
        assert math.isfinite(change.delta)
        assert change.p_value is None or 0 <= change.p_value <= 1


@given(edited(DOCUMENT))
def test_a_run_is_read_or_refused_in_a_sentence(text):
    run, refusal = read(Run.loads, text, "base.json")
    if run is not None:
        assert_usable(run)
    else:
        assert re.match(r"base\.json:\d+: ", refusal)
        assert len(refusal) < 500


@pytest.mark.parametrize("written", ENDS)
@pytest.mark.parametrize(
    "path",
    [
        ("depth",),
        ("version",),
        ("relevance_level",),
        ("means", "mrr"),
        ("queries", 1, "weight"),
        ("queries", 1, "judgments", "d1"),
        ("queries", 1, "params", "max"),
    ],
)
def test_every_end_at_every_number(path, written):
    run, refusal = read(Run.loads, replaced(DOCUMENT, path, written), "base.json")
    if run is not None:
        assert_usable(run)
    else:
        assert re.match(r"base\.json:\d+: ", refusal)


def test_what_is_within_its_range_is_read():
    for path, written, value_in in (
        (("relevance_level",), "5e-324", lambda run: run.relevance_level),
        (("queries", 1, "weight"), "1e-300", lambda run: run.answers["refund"].weight),
        (("queries", 1, "weight"), "1e9", lambda run: run.answers["refund"].weight),
        (("queries", 1, "judgments", "d1"), "-1.7e308", lambda run: run.answers["refund"].judgments["d1"]),
        (("queries", 1, "judgments", "d1"), "1000", lambda run: run.answers["refund"].judgments["d1"]),
        (("means", "mrr"), "-1.7e308", lambda run: run.means["mrr"]),
        (("depth",), "9223372036854775807", lambda run: run.depth),
    ):
        assert value_in(Run.loads(replaced(DOCUMENT, path, written))) == json.loads(written)
    assert Run.loads(STORED) == RUN


@given(st.lists(numbers, min_size=1, max_size=5))
def test_scores_of_a_run_in_python(written):
    scores = {}
    for position, number in enumerate(written):
        try:
            scores[f"d{position}"] = json.loads(number)
        except ValueError:  # of thousands of digits
            scores[f"d{position}"] = 10**5000
    run, refusal = read(Run, {"q": scores})
    if run is not None:
        assert sorted(run["q"]) == sorted(scores)
    else:
        assert "the ranking of query 'q'" in refusal


@given(st.lists(numbers | st.just("1_0") | st.just("inf"), min_size=1, max_size=5))
def test_scores_of_a_trec_run(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("trec") / "a.run"
    lines = [f"q Q0 d{position} 1 {number} x" for position, number in enumerate(written)]
    path.write_text("\n".join(lines), encoding="utf-8")
    run, refusal = read(Run.load, path, shown="a.run")
    if run is not None:
        assert sorted(run["q"]) == sorted(f"d{position}" for position in range(len(written)))
    else:
        assert refusal.startswith("a.run:")
        assert len(refusal) < 300
