"""Command `diff` on two JSON reports: all tests in one go."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import HOSTILE, assert_escaped


def run_of(refund=("d1", "a"), hours=("h1",)):
    answers = {
        "refund": Answer((refund,), "refund policy", {}, {"d1": 1}, 1.0),
        "hours": Answer((hours,), "opening hours", {}, {"h1": 1}, 1.0),
    }
    return Run.of(answers, 10, "faq.yaml", 1)


def report(path, **runs):
    tests = [
        {
            "nodeid": f"test_search.py::test_it[{name}]",
            "run": None if run is None else json.loads(run.dumps()),
        }
        for name, run in runs.items()
    ]
    path.write_text(json.dumps({"format": "pytest-irmetrics report", "version": 1, "tests": tests}))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    report(tmp_path / "main.json", bm25=run_of(), dense=run_of(refund=("a", "d1")), old=run_of())
    report(tmp_path / "branch.json", bm25=run_of(refund=("a", "d1")), dense=run_of(), new=run_of(), lost=None)
    return tmp_path


def diff(capsys, *arguments, status=0):
    assert cli.main(["diff", *arguments]) == status
    return capsys.readouterr().out


def test_every_test_of_both_has_a_row_and_a_comparison_of_its_own(capsys):
    out = diff(capsys, "main.json", "branch.json", "--metrics", "mrr,hit@1")
    head, bm25, dense = out.split("== ")
    assert head.splitlines() == [
        "baseline  main.json: 3 tests",
        "now       branch.json: 3 tests",
        "",
        "test                            metric  baseline     now    delta  n  worse  better",
        "test_search.py::test_it[bm25]   mrr       1.0000  0.7500  −0.2500  2      1       0",
        "test_search.py::test_it[dense]  mrr       0.7500  1.0000  +0.2500  2      0       1",
        "note: 1 test only in main.json: test_search.py::test_it[old].",
        "note: 1 test only in branch.json: test_search.py::test_it[new].",
        "",
    ]
    assert bm25.startswith("test_search.py::test_it[bm25]\n")
    assert "hit@1     1.0000  0.5000  −0.5000" in bm25
    assert "hit@1     0.5000  1.0000  +0.5000" in dense
    assert "refund policy" not in out


def test_queries_are_shown_where_asked_for(capsys):
    assert "refund policy" in diff(capsys, "main.json", "branch.json", "--queries", "1")


def test_one_test_of_each_is_compared_as_before(capsys):
    out = diff(capsys, "main.json", "branch.json", "--test", "bm25", "--metrics", "mrr")
    assert "==" not in out
    assert "baseline  main.json (bm25): 2 queries" in out


def test_a_report_of_one_test_is_one_run(capsys, folder):
    report(folder / "one.json", bm25=run_of())
    assert "==" not in diff(capsys, "one.json", "one.json")


def test_hostile_names_are_escaped(capsys, folder):
    report(folder / "main.json", **{HOSTILE: run_of(), "a": run_of(), HOSTILE + "1": run_of()})
    report(folder / "branch.json", **{HOSTILE: run_of(), "a": run_of(), HOSTILE + "2": run_of()})
    assert_escaped(diff(capsys, "main.json", "branch.json"))
