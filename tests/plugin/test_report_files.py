"""``--ir-report`` from the command line to the file: refused early, written whole, true about the command."""

from __future__ import annotations

import json

import pytest

import pytest_irmetrics.reports.html
import pytest_irmetrics.reports.json
import pytest_irmetrics.reports.markdown  # noqa: F401 - loaded once for all in-process runs
from pytest_irmetrics import Run
from pytest_irmetrics.reports.session_report import RunInfo
from tests.plugin.conftest import ANSWERS, TEST

SECOND = """
    thresholds: {mrr: 0.9}
    queries:
      - query: opening hours
        relevant: doc-1
"""


def report(project, name="report.json"):
    return json.loads((project.path / name).read_text(encoding="utf-8"))


def test_every_format_is_written_and_said(project):
    result = project.run("--ir-report=out/report.html", "--ir-report=report.json", "--ir-report=md:comment")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["report out?report.html: written", "report report.json: written", "report comment: written"]
    )
    assert "1 golden set passes" in (project.path / "out" / "report.html").read_text(encoding="utf-8")
    assert (
        (project.path / "comment")
        .read_text(encoding="utf-8")
        .startswith("## Retrieval quality: 1 golden set")
    )
    assert Run.load(project.path / "report.json")["refund"] == ("doc-9", "doc-4", "doc-5")


def test_all_queries_are_in_it_passing_ones_too(project):
    project.run("--ir-baseline-update")
    project.run("--ir-baseline", "--ir-report=report.json").assert_outcomes(passed=1)
    (test,) = report(project)["tests"]
    assert [query["query_id"] for query in test["queries"]] == ["reset", "refund", "hours"]
    assert test["queries"][1]["before"] == ["doc-9", "doc-4", "doc-5"]


def test_recall_and_precision_over_the_cutoffs_are_in_it(project):
    project.run("--ir-report=report.json")
    (test,) = report(project)["tests"]
    now = {curve["metric"]: curve["now"] for curve in test["curves"]}
    assert now["recall"][0] == pytest.approx(1 / 3)
    assert now["recall"][2] == 1
    assert now["precision"][0] == pytest.approx(2 / 3)


def test_the_same_run_gives_the_same_bytes(project, monkeypatch):
    info = RunInfo("2026-03-01T09:30:00+01:00", 1.5)
    monkeypatch.setattr("pytest_irmetrics.plugin.run_info.run_info", lambda _root, _started: info)
    written = []
    for _ in range(2):
        project.run("--ir-report=r.html", "--ir-report=r.json", "--ir-report=r.md")
        written.append([(project.path / f"r.{suffix}").read_bytes() for suffix in ("html", "json", "md")])
    assert written[0] == written[1]
    assert str(project.path).encode() not in b"".join(written[0])


def test_workers_report_as_one(project):
    project.write("golden/second.yaml", SECOND)
    project.run("--ir-report=alone.json").assert_outcomes(passed=1, failed=1)
    project.run_apart("-n", "2", "--ir-report=spread.json").assert_outcomes(passed=1, failed=1)
    alone, spread = (report(project, name) for name in ("alone.json", "spread.json"))
    assert alone.pop("run_info")["versions"] == spread.pop("run_info")["versions"]
    assert alone == spread
    assert report(project, "alone.json")["headline"] == "1 of 2 golden sets fails"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("report.pdf", "*--ir-report=report.pdf: the path does not say in which format.*"),
        ("", "*--ir-report=: the path is empty.*"),
    ],
)
def test_a_report_that_cannot_be_made_stops_the_run_before_the_first_test(project, given, said):
    result = project.run(f"--ir-report={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])
    assert "passed" not in result.stdout.str()


def test_a_report_that_could_not_be_written_fails_the_run(project):
    project.write("file", "")
    result = project.run("--ir-report=file/report.md", "--ir-report=report.json")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: the report file?report.md was not written: *"])
    assert report(project)["exit_status"] == 0


def test_all_that_a_failure_says_is_in_the_report_where_nothing_was_measured(project):
    project.run("--ir-baseline", "--ir-report=report.json", "--ir-report=report.md").assert_outcomes(failed=1)
    for name in ("report.json", "report.md"):
        text = (project.path / name).read_text(encoding="utf-8").replace("\\", "")
        assert "There is no baseline for this test: ir_baselines/test_search/" in text
        assert "To store one, and then commit it: pytest" in text


def test_a_golden_set_that_cannot_be_read_is_in_the_report(project):
    project.write("golden/broken.yaml", "queries:\n  - query: a\n    relevent: [d]\n")
    project.run("--ir-report=report.json", "--ir-report=report.md").assert_outcomes(passed=1, failed=1)
    data = report(project)
    assert data["headline"] == "1 golden set passes, 1 test failed before anything was measured"
    (test,) = data["unmeasured"]
    assert test["nodeid"] == "test_search.py::test_search_quality[broken]"
    assert test["text"].startswith("golden/broken.yaml:3:5: ")
    assert "relevent" in (project.path / "report.md").read_text(encoding="utf-8")


def test_other_failures_are_not_passed_over(project):
    project.write("test_other.py", "def test_other():\n    assert not 1\n")
    project.test('ir_golden("golden/*.yaml")', body="irmetrics.check(); 1 / 0")
    project.run("--ir-report=report.json", "--ir-report=report.md").assert_outcomes(failed=2)
    (test,) = report(project)["tests"]
    assert (test["outcome"], test["test_outcome"]) == ("passed", "failed")
    text = (project.path / "report.md").read_text(encoding="utf-8")
    assert "passes; nothing was gated, and the test fails for another reason" in text


def test_an_error_before_anything_is_measured_tells_its_last_line(project):
    project.test('ir_golden("golden/*.yaml")', body="1 / 0")
    project.run("--ir-report=report.json").assert_outcomes(failed=1)
    assert report(project)["unmeasured"][0]["text"] == "ZeroDivisionError: division by zero"


def test_a_retriever_that_cannot_be_set_up_is_in_the_report(project):
    project.write(
        "conftest.py",
        "import pytest\n@pytest.fixture\ndef retriever(): raise ConnectionError('it is down')\n",
    )
    result = project.run("--ir-report=report.json", "--ir-baseline")
    result.assert_outcomes(errors=1)
    assert "no test of this run used irmetrics" not in result.stdout.str()
    assert report(project)["unmeasured"][0]["text"] == "ConnectionError: it is down"


def test_expected_failures_are_told_as_such(project):
    project.answers({**ANSWERS, "refund policy": [], "opening hours": []})
    project.write("test_search.py", TEST.replace("def ", "@pytest.mark.xfail\n    def "))
    project.run("--ir-report=report.json").assert_outcomes(xfailed=1)
    data = report(project)
    assert data["tests"][0]["test_outcome"] == "xfailed"
    assert data["headline"] == "no golden set of 1 fails unexpectedly"


def test_of_reruns_the_last_attempt_counts(project):
    project.test('ir_golden("golden/*.yaml")', body="irmetrics.check(); open('x', 'x').close() or 1 / 0")
    project.run_apart("--reruns", "1", "--ir-report=report.json")
    (test,) = report(project)["tests"]
    assert test["test_outcome"] == "failed"
    assert len(report(project)["unmeasured"]) == 0


def test_the_step_summary_is_appended_to(project, monkeypatch):
    summary = project.write("summary", "# Build\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project.run(f"--ir-report={summary}").stdout.fnmatch_lines(["report $GITHUB_STEP_SUMMARY: written"])
    assert summary.read_text(encoding="utf-8").startswith(
        "# Build\n\n## Retrieval quality: 1 golden set passes\n"
    )


def test_a_run_without_anything_to_measure_says_so(project):
    project.write("test_search.py", "def test_other():\n    pass\n")
    project.run("--ir-report=report.md").assert_outcomes(passed=1)
    assert (project.path / "report.md").read_text(
        encoding="utf-8"
    ) == "## Retrieval quality: nothing was measured\n"


def test_collecting_writes_nothing(project):
    project.run("--collect-only", "--ir-report=report.md")
    assert not (project.path / "report.md").exists()


def test_paths_are_those_of_where_pytest_was_called(project):
    project.test('ir_golden("golden/*.yaml")', body="import os; os.chdir('golden'); irmetrics.check()")
    project.run("--ir-report=report.md")
    assert (project.path / "report.md").exists()
    assert not (project.path / "golden" / "report.md").exists()
