"""Option `--test` of show, label, diff and convert: which test of a JSON report a run is read from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run

BM25 = {
    "refund": Answer((("d1", "a"),), "refund policy", {}, {"d1": 1}, 1.0),
    "hours": Answer((("h1",),), "opening hours", {}, {"h1": 1}, 1.0),
}
DENSE = {**BM25, "refund": replace(BM25["refund"], rankings=(("a", "new", "d1"),))}
CONFLICT = "quality.json:1: has 2 runs, of 'test_search.py::test_it[bm25-faq]', "


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "faq.yaml").write_text(
        "queries:\n- {id: refund, query: refund policy, relevant: [d1]}\n"
        "- {id: hours, query: opening hours, relevant: [h1]}\n"
    )
    tests = [
        {"nodeid": f"test_search.py::test_it[{name}-faq]", "run": json.loads(run_of(answers).dumps())}
        for name, answers in (("bm25", BM25), ("dense", DENSE))
    ]
    report = {"format": "pytest-irmetrics report", "version": 1, "tests": tests}
    (tmp_path / "quality.json").write_text(json.dumps(report))
    run_of(BM25).save(tmp_path / "bm25.json")
    return tmp_path


def run_of(answers):
    return Run.of(answers, depth=10, golden_set="faq.yaml", relevance_level=1)


def told(capsys, *arguments, status=0):
    assert cli.main([*arguments]) == status
    out, err = capsys.readouterr()
    return out if status == 0 else " ".join(err.split())


def test_a_report_of_several_tests_needs_option_test(capsys):
    for command in (
        ["show", "faq.yaml", "refund", "--run", "quality.json"],
        ["label", "faq.yaml", "--run", "quality.json"],
        ["diff", "bm25.json", "quality.json"],
        ["convert", "quality.json", "out.json"],
    ):
        said = told(capsys, *command, status=1)
        assert said.startswith(CONFLICT)
        assert "on the command line `--test`" in said


def test_show_prints_the_run_of_the_test(capsys):
    out = told(capsys, "show", "faq.yaml", "refund", "--run", "quality.json", "--test", "dense")
    assert "quality.json (dense)" in out
    assert "mrr 0.3333" in out
    out = told(capsys, "show", "faq.yaml", "refund", "--run", "quality.json", "--test", "bm25")
    assert "mrr 1.0000" in out


def test_label_pools_the_runs_of_the_tests(capsys):
    wanted = ["label", "faq.yaml", "--json", "--run", "quality.json"]
    assert "new" not in told(capsys, *wanted, "--test", "bm25")
    assert "new" in told(capsys, *wanted, "--test", "dense")
    # A run that is no report has one test's answers anyway.
    assert "new" in told(capsys, *wanted, "--run", "bm25.json", "--test", "dense")
    both = told(capsys, *wanted, "--run", "quality.json", "--test", "bm25", "--test", "dense")
    assert sorted(one["docid"] for one in json.loads(both)) == ["a", "new"]


def test_diff_compares_two_tests_of_one_report(capsys):
    out = told(capsys, "diff", "quality.json", "quality.json", "--test", "bm25", "--test", "dense")
    assert out.splitlines()[:2] == [
        "baseline  quality.json (bm25): 2 queries",
        "now       quality.json (dense): 2 queries",
    ]
    assert "    1    3         1  d1" in out
    assert (
        out.partition("\n\n")[2]
        == told(capsys, "diff", "bm25.json", "quality.json", "--test", "dense").partition("\n\n")[2]
    )


def test_convert_writes_the_run_of_the_test(capsys, folder):
    told(capsys, "convert", "quality.json", "dense.run", "--test", "dense")
    assert Run.load(folder / "dense.run")["refund"] == ("a", "new", "d1")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "diff bm25.json bm25.json --test dense",
            "bm25.json:1: is one run, and no report of tests to take 'dense' from. Leave the test out.",
        ),
        (
            "diff quality.json quality.json --test none",
            "quality.json:1: has no run of a test 'none'",
        ),
        ("diff bm25.json quality.json --test bm25 --test dense", "bm25.json:1: is one run"),
        (
            "show faq.yaml refund --run quality.json --test bm25 --test dense",
            "--test is given 2 times for 1 run. Give it once, or once for each run, in their order.",
        ),
        (
            "show faq.yaml refund --test dense",
            "--test says whose run of a JSON report is wanted. Name the report: --run REPORT.json.",
        ),
        ("label faq.yaml --test dense", "Name the report: --run REPORT.json."),
        ("convert faq.yaml out.csv --test dense", "and this is a golden set. Leave it out."),
    ],
)
def test_a_test_that_selects_nothing_is_an_error(capsys, command, words):
    assert words in told(capsys, *command.split(), status=1)
