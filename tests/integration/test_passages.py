"""One golden set by passages over one corpus, cut into chunks of 100, 300 and 900 words: the gate holds unedited."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from pytest_irmetrics import GoldenSet, compare, evaluate
from tests.integration.handbooks import Handbooks, write_golden_set

SIZES = [(size, overlap) for size in (100, 300, 900) for overlap in (0, 35)]

CONFTEST = """
import os, pytest
from tests.integration.handbooks import Handbooks

@pytest.fixture(scope="session", params=SIZES, ids=str)
def retriever(request):
    engine = Handbooks(*request.param, os.environ.get("BROKEN"))
    yield engine.search
    engine.close()
"""

TEST = """
import pytest

@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("ndcg@10", 0.60)
@pytest.mark.ir_threshold("recall@10", 0.70)
def test_handbooks(irmetrics):
    irmetrics.check()
"""


@pytest.fixture(scope="module")
def golden_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("handbooks") / "golden" / "rules.yaml"
    write_golden_set(path)
    return path


@pytest.fixture(scope="module")
def golden(golden_file):
    return GoldenSet.load(golden_file)


@pytest.fixture
def project(pytester, golden_file):
    pytester.makeconftest(CONFTEST.replace("SIZES", repr(SIZES)))
    pytester.makepyfile(test_handbooks=TEST)
    (pytester.mkdir("golden") / "rules.yaml").write_bytes(golden_file.read_bytes())
    return pytester


def run(project, *args):
    others = [part for name in ("cacheprovider", "asyncio", "anyio") for part in ("-p", f"no:{name}")]
    return project.runpytest_inprocess(*others, "--ir-report=json:report.json", *args)


def rows(project):
    """Every size's scores."""
    tests = json.loads((project.path / "report.json").read_text(encoding="utf-8"))["tests"]
    return {test["nodeid"]: {row["metric"]: row["now"] for row in test["rows"]} for test in tests}


def test_the_gate_is_green_at_every_size(project):
    run(project).assert_outcomes(passed=len(SIZES))
    scores = rows(project)
    assert len(scores) == len(SIZES)
    ndcg = [score["ndcg@10"] for score in scores.values()]
    assert max(ndcg) - min(ndcg) < 0.2


@pytest.mark.parametrize("broken", ["half of the index", "no ranking"])
def test_a_broken_retriever_is_red_at_every_size(project, monkeypatch, broken):
    monkeypatch.setenv("BROKEN", broken)
    run(project).assert_outcomes(failed=len(SIZES))
    assert max(score["ndcg@10"] for score in rows(project).values()) < 0.5


def test_other_chunks_compare_with_the_baseline_as_any_change_does(golden):
    metrics = ["ndcg@10", "recall@10"]
    sides = []
    for size, broken in ((300, None), (900, None), (300, "half of the index")):
        with closing(Handbooks(size, 35, broken)) as engine:
            sides.append(evaluate(golden, engine.search, metrics))
    before, larger, broken = (compare(side, sides[0]) for side in sides)
    assert (before["ndcg@10"].delta, larger.relabelled) == (0, {})
    assert abs(larger["ndcg@10"].delta) < 0.05
    assert broken["ndcg@10"].delta < -0.25
    assert broken["ndcg@10"].p_value < 0.001


@pytest.mark.parametrize("duplicates", ["error", "collapse"])
def test_chunks_that_nearly_repeat_each_other_push_no_score_over_one(golden, duplicates):
    names = [
        "mrr",
        "map",
        "ndcg",
        "precision",
        "recall",
        "hit",
        "f1",
        "r_precision",
        "judged",
        "err",
        "rbp",
        "bpref",
    ]
    cut = [
        f"{name}@{k}"
        for name in ("ndcg", "recall", "precision", "map", "f1", "err", "judged")
        for k in (3, 10)
    ]
    with closing(Handbooks(300, 270)) as engine:
        now = evaluate(golden, engine.search, [*names, *cut], depth=50, duplicates=duplicates)
    assert max(max(by_query.values()) for by_query in now.scores.values()) <= 1
    for query_id, answer in now.run.answers.items():
        keys = [entry for entry in answer.rankings[0] if entry in golden.queries[query_id].judgments]
        assert len(keys) == len(set(keys))
    assert now["recall"] > 0.8
