"""Reports of real runs satisfy the published JSON Schema."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from pytest_irmetrics.cli.schema import REPORT_SCHEMA
from tests.git_repository import needs_git

from .conftest import edit_golden_set, make_ranking_worse

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-report.md"


def report_of(project, *options):
    """Run, and return the report, once it has been held against the schema."""
    project.run("--ir-report=run.json", *options)
    report = json.loads((project.path / "run.json").read_text(encoding="utf-8"))
    described = json.loads(REPORT_SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(described).validate(report)
    return report


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--ir-baseline"],
        ["--ir-baseline-update"],
        ["--ir-query=refund"],
        ["--ir-repeat=2", "--ir-baseline"],
        ["--ir-selftest"],
    ],
    ids=str,
)
def test_a_report_of_each_kind_of_run(stored, options):
    make_ranking_worse(stored)
    (test,) = report_of(stored, *options)["tests"]
    assert test["rows"]


def test_the_page_s_program_reads_a_report(project, monkeypatch, capsys):
    report_of(project)
    monkeypatch.chdir(project.path)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    capsys.readouterr()
    exec(compile(code, "json-report.md", "exec"), {})
    assert capsys.readouterr().out.startswith("golden/faq.yaml mrr 0.83333333")


def test_a_report_says_where_pytest_was_called(project, monkeypatch):
    (project.path / ".git").mkdir()
    (project.path / "below").mkdir()
    assert report_of(project)["run_info"]["folder"] == ""
    monkeypatch.chdir(project.path / "below")
    project.run("--ir-report=../run.json", "..")
    assert (
        json.loads((project.path / "run.json").read_text(encoding="utf-8"))["run_info"]["folder"] == "below"
    )


def test_a_report_of_queries_that_failed_and_of_tests_that_did_not_measure(project):
    project.write("golden/bad.yaml", "queries: [{query: a, relevent: b}]\n")
    project.write("golden/none.yaml", "queries: [{query: nothing, relevant: b}]\n")
    project.retrieve("answers[query]")
    report = report_of(project)
    assert report["unmeasured"]
    assert {test["outcome"] for test in report["tests"]} == {"passed", "error"}


def test_a_report_of_passages_latencies_and_titles(project):
    edit_golden_set(project, "relevant: doc-1", "relevant: [{doc: a, text: opening hours}, doc-1]")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=10000)'])
    project.retrieve('[{"id": "a-1", "text": "our opening hours are", "title": "Hours", "doc": "a"}]')
    (test,) = report_of(project)["tests"]
    assert test["titles"] == {"a-1": "Hours"}
    assert test["queries"][0]["took"] is not None


@needs_git
def test_a_report_of_what_a_branch_accepts(committed):
    make_ranking_worse(committed)
    edit_golden_set(committed, "tags: [billing]", "weight: 2.0")
    committed.run("--ir-baseline-update")
    (test,) = report_of(committed, "--ir-since=HEAD")["tests"]
    assert test["since"]["state"] == "accepted"
    assert test["since"]["edits"]
