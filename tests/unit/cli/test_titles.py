"""Titles beside ids in `label`, `show` and `diff`: of a JSON report, or of a corpus."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from tests.unit.cli.test_label import FILE, folder  # noqa: F401 - a fixture that all use

TITLES = {"u1": "Refunds abroad", "d1": "Refunds", "0123": "When we are open", "d9": "Opening hours"}


def run_of(**rankings):
    asked = {"refund": "refund policy", "hours": "opening hours"}
    queries = [
        {
            "id": asked[key] if key == "hours" else key,
            "text": asked[key],
            "judgments": {"d1": 1},
            "rankings": [ranking],
        }
        for key, ranking in sorted(rankings.items(), reverse=True)
    ]
    return {
        "format": "pytest-irmetrics run",
        "version": 1,
        "queries": sorted(queries, key=lambda one: one["id"]),
    }


@pytest.fixture
def out(capsys):
    Path("titles.json").write_text(json.dumps(TITLES))
    run = run_of(refund=["u1", "d1", "u2"], hours=["d9", "0123"])
    test = {"nodeid": "test.py::test_it", "run": run, "titles": {"u1": "Of the report", "d1": "Judged"}}
    Path("report.json").write_text(json.dumps({"format": "pytest-irmetrics report", "tests": [test]}))
    Path("old.json").write_text(json.dumps(run_of(refund=["d1", "u1", "u2"], hours=["d9", "0123"])))

    def out(*arguments):
        assert cli.main(arguments) == 0
        return capsys.readouterr().out

    return out


def test_label_shows_them_in_its_list(out):
    assert "     0.3066     1  u1        Refunds abroad    refund: refund policy\n" in out(
        "label", FILE, "--corpus", "titles.json"
    )
    assert "  u1        Of the report  refund: refund policy\n" in out("label", FILE, "--run", "report.json")
    assert "title" not in out("label", FILE)


def test_label_writes_them_for_programs_and_spreadsheets(out):
    listed = json.loads(out("label", FILE, "--json", "--corpus", "titles.json"))
    assert [(one["docid"], one.get("title")) for one in listed] == [
        ("u1", "Refunds abroad"),
        ("0123", "When we are open"),
        ("u2", None),
    ]
    Path("corpus.csv").write_text("docid,title,text\nu1,=1+1,Some text\n")
    rows = list(csv.DictReader(io.StringIO(out("label", FILE, "--out", "-", "--corpus", "corpus.csv"))))
    assert [(row["docid"], row["title"], row["text"]) for row in rows] == [
        ("u1", " =1+1", "Some text"),
        ("0123", "", ""),
        ("u2", "", ""),
    ]


def test_show_has_them_beside_judgments_and_results(out):
    shown = out("show", FILE, "refund", "--corpus", "titles.json")
    assert "                 1  d1        Refunds\n" in shown
    assert [line.split(None, 3)[3] for line in shown.splitlines() if "  u1  " in line] == ["Refunds abroad"]
    of_report = out("show", FILE, "refund", "--run", "report.json")
    assert "                 1  d1        Judged\n" in of_report
    assert "Of the report" in of_report
    assert "title" not in out("show", FILE, "refund")


def test_diff_has_them_beside_the_documents_that_moved(out):
    assert "    1    2         1  d1        Judged\n" in out("diff", "old.json", "report.json")
    with_corpus = out("diff", "old.json", "report.json", "--corpus", "titles.json")
    assert "    2    1  unjudged  u1        Of the report\n" in with_corpus
    Path("now.json").write_text(json.dumps(run_of(refund=["u1", "d1", "u2"], hours=["d9", "0123"])))
    of_runs = out("diff", "old.json", "now.json", "--corpus", "titles.json")
    assert "    2    1  unjudged  u1        Refunds abroad\n" in of_runs
