"""Which unjudged documents `label` lists, in which order, and how much of a mean hangs on each."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest

from tests.cli.console import run

ONE = "- {query: q, relevant: r}\n"
TWO = "- {query: a, relevant: r}\n- {query: b, relevant: r}\n"
SECOND, THIRD = 1 / math.log2(3), 1 / math.log2(4)
IDEAL = 1 + SECOND


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def listed(golden, *runs, by="ndcg@10"):
    """Map documents, as `query document`, to what is listed of them, in its order; each run maps queries to rankings."""
    Path("faq.yaml").write_text("queries:\n" + golden)
    for number, answers in enumerate(runs):
        queries = [
            {"id": query_id, "rankings": [ranking.split() for ranking in found.split("/")]}
            for query_id, found in sorted(answers.items())
        ]
        head = {"format": "pytest-irmetrics run", "version": 1, "depth": 10}
        Path(f"{number}.json").write_text(json.dumps({**head, "queries": queries}))
    options = [option for number in range(len(runs)) for option in ("--run", f"{number}.json")]
    done = run("label", "faq.yaml", *options, "--by", by, "--limit", "0", "--out", "-")
    assert done.status == 0, done.err
    rows = csv.DictReader(io.StringIO(done.data.decode("utf-8-sig")))
    return {f"{one['id']} {one['docid']}": one for one in rows}


@pytest.mark.parametrize(
    ("golden", "answers", "by", "influence"),
    [
        (ONE, {"q": "r u v"}, "ndcg@10", {"q u": SECOND / IDEAL, "q v": THIRD / IDEAL}),
        (ONE, {"q": "u v r"}, "mrr", {"q u": 1 - 1 / 3, "q v": 1 / 2 - 1 / 3}),
        (ONE, {"q": "u/r"}, "ndcg@10", {"q u": 1 / IDEAL / 2}),
        ("- {query: q, relevant: {r: 3, s: 0}}\n", {"q": "u s r"}, "ndcg@10", {"q u": 1 / IDEAL}),
        (
            "- {query: q, relevant: []}\n- {query: p, relevant: {r: 2}}\nrelevance_level: 2\n",
            {"q": "u", "p": "r"},
            "mrr",
            {"q u": 1 / 2},
        ),
        (
            "- {query: a, relevant: r, weight: 3}\n- {query: b, relevant: r}\n- {query: c, relevant: r, weight: 9, xfail: x}\n",
            dict.fromkeys("abc", "u"),
            "ndcg@10",
            {"a u": 3 / 4 / IDEAL, "b u": 1 / 4 / IDEAL},
        ),
        (
            "- {query: a, relevant: {r: 1, n: 0}, forbidden: [f]}\n- {query: b, no_answer: true}\n",
            {"a": "r n f u deep", "b": "x"},
            "ndcg@4",
            {"a u": 1 / math.log2(5) / IDEAL},
        ),
        ("- {query: a, relevant: r}\n", {"a": "r u"}, "mrr", {}),
    ],
)
def test_a_document_counts_by_what_its_rank_adds_to_the_mean_if_relevant(golden, answers, by, influence):
    found = listed(golden, answers, by=by)
    assert {key: float(one["influence"]) for key, one in found.items()} == pytest.approx(influence, abs=1e-6)


def test_the_first_rank_counts_more_than_the_ninth_however_good_the_query_is():
    fill = " ".join(f"n{rank}" for rank in range(6))
    order = list(listed(TWO, {"a": f"u1 r {fill} u9", "b": f"v1 m {fill} v9 r"}))
    assert set(order[:2]) == {"a u1", "b v1"}
    assert set(order[-2:]) == {"a u9", "b v9"}


def test_of_several_runs_the_larger_influence_counts():
    found = listed(ONE, {"q": "r x u"}, {"q": "u r y"})
    assert {key: one["rank"] for key, one in found.items()} == {"q u": "1", "q x": "2", "q y": "3"}
    assert float(found["q u"]["influence"]) == pytest.approx(1 / IDEAL, abs=1e-6)


@pytest.mark.parametrize(
    ("runs", "order"),
    [
        ([{"a": "same r x", "b": "y r"}, {"a": "same r z", "b": "r y"}], ["b y", "a x", "a z", "a same"]),
        ([{"a": "r u v", "b": "x"}, {"a": "r v u"}], ["a u", "a v", "b x"]),
    ],
)
def test_what_settles_nothing_between_the_runs_comes_last(runs, order):
    assert list(listed(TWO, *runs)) == order
