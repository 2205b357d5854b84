"""Command `score`: one run over a golden set."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import HOSTILE, assert_escaped, run_script

GOLDEN = """\
thresholds: {mrr: {min: 0.7, max_drop: 0.01, min_each: 0.4}, hit@1: 0.5, latency_p95: {max: 5}}
slices: {billing: {mrr: 0.9}}
queries:
- {id: refund, query: refund policy, relevant: {d1: 3, d2: 1}, tags: [billing], thresholds: {recall@5: 1.0}}
- {id: hours, query: opening hours, relevant: [h1]}
- {id: hard, query: hard one, relevant: [x1], xfail: TICKET-7}
- {id: empty, query: asdf, no_answer: true}
"""
RUN = "refund Q0 d1 1 9 x\nrefund Q0 z 2 8 x\nhours Q0 z 1 9 x\nhours Q0 y 2 8 x\nhours Q0 h1 3 7 x\nother Q0 z 1 9 x\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "faq.yaml").write_text(GOLDEN)
    (tmp_path / "bm25.run").write_text(RUN)
    return tmp_path


def score(capsys, *arguments, status=0):
    assert cli.main(["score", *arguments]) == status
    return capsys.readouterr()


def test_prints_means_thresholds_and_what_is_not_in_them(capsys):
    out, err = score(capsys, "faq.yaml", "bm25.run", "--metrics", "mrr,ndcg@10")
    assert err == ""
    assert out.splitlines() == [
        "golden  faq.yaml: 4 queries",
        "run     bm25.run: 3 queries",
        "",
        "metric         n    mean  threshold",
        "mrr            2  0.6667  ≥0.7 each≥0.4  FAILS",
        "ndcg@10        2  0.6631",
        "hit@1          2  0.5000  ≥0.5           passes",
        "recall@5       2  0.7500                 FAILS",  # a query's own threshold
        "mrr [billing]  1  1.0000  ≥0.9           passes",
        "fails: mrr is below 0.4000 for 1 of 2 queries; the lowest is 0.3333, and each must reach it.",
        "fails: mrr is 0.6667, 0.0333 below the threshold: at least 0.7000 is required.",
        "fails: recall@5 of the query refund is 0.5000, 0.5000 below its own threshold; at least 1.0000 is",
        "  required.",
        "note: 1 no_answer query is not in the run and counts as empty: empty.",
        "note: 1 query of the run is not in the golden set: other.",
        "note: 1 query marked xfail, and in no mean: hard.",
    ]


def test_prints_the_scores_of_each_query(capsys):
    out, _ = score(capsys, "faq.yaml", "bm25.run", "-q", "--metrics", "mrr,no_answer")
    assert out.split("\n\n")[2].splitlines() == [
        "query      mrr  no_answer   hit@1  recall@5",
        "refund  1.0000          -  1.0000    0.5000",
        "hours   0.3333          -  0.0000    1.0000",
        "hard    0.0000          -  0.0000    0.0000",
        "empty        -     1.0000       -         -",
    ]


def test_prints_json(capsys):
    out, _ = score(capsys, "faq.yaml", "bm25.run", "--json", "--metrics", "mrr")
    found = json.loads(out)
    assert found["golden_set"] == "faq.yaml"
    assert found["run"] == "bm25.run"
    assert found["depth"] is None
    assert found["metrics"]["mrr"] == pytest.approx(2 / 3)
    assert found["queries"][1] == {
        "id": "hours",
        "scores": {"mrr": pytest.approx(1 / 3), "hit@1": 0.0, "recall@5": 1.0},
    }
    failed = [(gate["metric"], gate["word"]) for gate in found["gates"] if gate["state"] == "failed"]
    assert failed == [("mrr", "min_each"), ("mrr", "min"), ("recall@5", "min")]


def test_queries_without_results_and_without_an_answer_are_told_apart(capsys, folder):
    (folder / "bm25.run").write_text("refund Q0 d1 1 9 x\n")
    out, _ = score(capsys, "faq.yaml", "bm25.run", "--metrics", "mrr")
    notes = [line for line in out.splitlines() if "not in the run" in line]
    assert notes == [
        "note: 1 query is not in the run and scores 0: hours.",
        "note: 1 no_answer query is not in the run and counts as empty: empty.",
    ]


def test_a_query_without_results_scores_0(capsys, folder):
    (folder / "bm25.run").write_text("refund Q0 d1 1 9 x\n")
    out, _ = score(capsys, "faq.yaml", "bm25.run", "--metrics", "mrr")
    assert "mrr            2  0.5000" in out
    assert "note: 1 query is not in the run and scores 0: hours." in out


def test_reads_a_baseline_as_deep_as_it_is(capsys, folder):
    answers = {
        "refund": Answer((("d1",), ("a", "d1")), "refund rules"),
        "hours": Answer((("h1",),), "opening hours"),
    }
    Run.of(answers, depth=5).save(folder / "b.json")
    out, _ = score(capsys, "faq.yaml", "b.json", "--metrics", "mrr,ndcg@10")
    assert "run     b.json: 2 queries, 5 results each" in out
    assert "mrr            2  0.8750" in out
    assert "note: 1 query of the run answered another text or other params: refund." in out
    assert "note: Some queries were asked more than once; their scores are averages." in out
    assert "note: The run holds 5 results a query, too few for ndcg@10." in out
    assert "ndcg@10   " not in out


def test_a_run_too_shallow_for_all_metrics_says_that_there_is_nothing_to_score(capsys, folder):
    run = Run.of({"refund": Answer((("d1",),), "refund policy", {})}, depth=1)
    run.save(folder / "shallow.json")
    (folder / "plain.yaml").write_text("queries:\n  - {id: refund, query: refund policy, relevant: d1}\n")
    out, _ = score(capsys, "plain.yaml", "shallow.json", "--metrics", "ndcg@10")
    assert out.splitlines()[3:] == [
        "There is nothing to score.",
        "note: The run holds 1 result a query, too few for ndcg@10.",
    ]


def test_ids_of_another_kind_are_told(capsys, folder):
    (folder / "bm25.run").write_text("refund Q0 http://x 1 9 x\n")
    out, _ = score(capsys, "faq.yaml", "bm25.run")
    assert "fails: None of the 1 returned id occurs in the golden set" in " ".join(out.split())


def test_what_cannot_be_read_exits_with_1(capsys):
    assert "missing.run" in score(capsys, "faq.yaml", "missing.run", status=1).err
    assert "missing.yaml" in score(capsys, "missing.yaml", "bm25.run", status=1).err


def test_hostile_ids_are_escaped(capsys, folder):
    Run.of({HOSTILE: Answer((("d1",),))}).save(folder / "b.json")
    (folder / "h.jsonl").write_text(json.dumps({"id": HOSTILE, "query": "a", "relevant": ["d1"]}) + "\n")
    for options in ([], ["-q"], ["--json"]):
        out, _ = score(capsys, "h.jsonl", "b.json", *options)
        assert_escaped(out)


def test_prints_in_ascii():
    done = run_script("score", "faq.yaml", "bm25.run", encoding="ascii")
    assert done.returncode == 0
    assert b"mrr" in done.stdout
