"""``--ir-report``: which formats a path asks for, what is refused before the first test, and what stands in the files of special sessions."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from pytest_irmetrics import Run
from pytest_irmetrics.cli import main
from tests.projects import ANSWERS, TEST

WRITTEN = {
    # what is given: the file that is written, and how it begins
    "report.html": ("report.html", "<!doctype html>"),
    "out/report.JSON": ("out/report.JSON", '{\n"format": "pytest-irmetrics report"'),
    "a b.md": ("a b.md", "## Retrieval quality"),
    "html:report.htm": ("report.htm", "<!doctype html>"),
    "MD:comment": ("comment", "## Retrieval quality"),
    "json:x.html": ("x.html", '{\n"format"'),
    "json:md:x": ("md:x", '{\n"format"'),
    "./yaml:report.json": ("yaml:report.json", '{\n"format"'),
    "$FOLDER/report.md": ("reports/report.md", "## Retrieval"),
    "md:${FOLDER}/report": ("reports/report", "## Retrieval"),
    "costs-5$.html": ("costs-5$.html", "<!doctype html>"),
    "~/home.md": ("home/home.md", "## Retrieval"),
}
ACCEPTED = "Give a path that ends in ."
REFUSED = {
    "report.pdf": f"the path does not say in which format. {ACCEPTED}",
    "report": "the path does not say in which format",
    "": "the path is empty. Was it to come from a variable that is not set here?",
    "md:": "the path is empty",
    "md: ": "the path is empty",
    "markdown:report.md": f"the format markdown is unknown. {ACCEPTED}",
    "htm:report": "the format htm is unknown.",
    "golden": "this is a folder",
    "html:golden": "this is a folder",
    "new/": "this is a folder",
    "-": "the path does not say in which format",
    "json:-": "pytest prints to standard output. Give a path",
    "json:$GITHUB_STEP_SUMMARY": "the step's summary is Markdown, not json",
    "bad\x1b.pdf": r"--ir-report=bad\x1b.pdf: the path does not say",
}


@pytest.fixture
def project(project, monkeypatch):
    monkeypatch.setenv("HOME", str(project.path / "home"))
    monkeypatch.setenv("USERPROFILE", str(project.path / "home"))
    monkeypatch.setenv("FOLDER", "reports")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary"))
    monkeypatch.delenv("NOWHERE", raising=False)
    return project


def report(project, name="report.json"):
    return json.loads((project.path / name).read_text(encoding="utf-8"))


@pytest.mark.skipif(sys.platform == "win32", reason="a colon is no character of a file's name there")
def test_the_suffix_or_a_prefix_tells_the_format(project):
    result = project.run(
        *(f"--ir-report={given}" for given in WRITTEN), "--ir-report=a b.md", "--ir-report=./a b.md"
    )
    result.assert_outcomes(passed=1)
    for name, begin in WRITTEN.values():
        assert (project.path / name).read_text(encoding="utf-8").startswith(begin), name
    assert [line for line in result.outlines if line.startswith("report ")] == [
        f"report {name}: written" for name, _ in WRITTEN.values()
    ]


@pytest.mark.parametrize("given", REFUSED)
def test_what_cannot_be_written_stops_the_run_before_the_first_test(project, given):
    result = project.run(f"--ir-report={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.re_match_lines([".*--ir-report=.*"])
    said = result.stderr.str()
    assert REFUSED[given] in said
    prefixes = {*re.findall(r"(\w+):PATH", said)}
    assert {"html", "json", "md"} <= prefixes == {*re.findall(r" \.(\w+)", said.partition("ends in")[2])}
    assert "passed" not in result.stdout.str()


KEPT = {
    # what is there: whether a report may take its place
    "md:test_search.py": False,
    "md:golden/faq.yaml": False,
    "json:ir_baselines/test_search/test_search_quality[faq].json": False,
    "ir_baselines/test_search/test_search_quality[faq].json": False,
    "md:notes": False,
    "other.md": False,
    "md:begun": True,
    "md:again": True,
}


@pytest.mark.parametrize("given", KEPT)
def test_no_report_takes_the_place_of_a_test_a_golden_set_or_a_baseline(stored, given):
    for name, text in {"notes": "x", "other.md": "x", "begun": "", "again": ""}.items():
        stored.write(name, text)
    stored.run("--ir-report=md:again")
    path = stored.path / given.removeprefix("md:").removeprefix("json:")
    before = path.read_bytes()
    result = stored.run(f"--ir-report={given}")
    assert (result.ret == 0) == KEPT[given]
    assert ("a file is there that is no such report" in result.stderr.str()) == (not KEPT[given])
    assert (path.read_bytes() == before) == (not KEPT[given] or given == "md:again")


def test_a_file_that_cannot_be_read_is_left_to_what_writes_it(project, monkeypatch):
    project.write("r.md", "")

    def refuse(path, *args, of=Path.open, **named):
        if path.name == "r.md":
            raise PermissionError(13, "Permission denied")
        return of(path, *args, **named)

    monkeypatch.setattr(Path, "open", refuse)
    assert project.run("--ir-report=r.md").ret == 0


@pytest.mark.parametrize("path", ["file/report.md", "x" * 300 + ".md"])
def test_a_report_that_could_not_be_written_fails_the_run(project, path):
    project.write("file", "")
    result = project.run(f"--ir-report={path}", "--ir-report=report.json")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    said = " ".join(result.stdout.str().replace("\\", "/").split())
    assert f"error: the report {path} was not written: " in said
    assert report(project)["exit_status"] == 0


@pytest.mark.parametrize(("before", "gap"), [("", ""), ("# Build", "\n\n")])
def test_the_step_s_summary_is_appended_to(project, before, gap):
    summary = project.write("summary", before)
    summary.write_text(before, encoding="utf-8")
    project.run(f"--ir-report={summary}").stdout.fnmatch_lines(["report $GITHUB_STEP_SUMMARY: written"])
    assert summary.read_text(encoding="utf-8").startswith(
        f"{before}{gap}## Retrieval quality: 1 golden set passes\n"
    )


def test_collecting_writes_nothing_and_paths_are_those_of_where_pytest_was_called(project):
    project.run("--collect-only", "--ir-report=report.md")
    assert not (project.path / "report.md").exists()
    project.test('ir_golden("golden/*.yaml")', body="import os; os.chdir('golden'); irmetrics.check()")
    project.run("--ir-report=report.md")
    assert (project.path / "report.md").exists()


SESSIONS = {
    # test body, or the whole file: (headline, outcomes of the measured tests, text of the first unmeasured one)
    "irmetrics.check()": ("1 golden set passes, 1 with nothing gated", [("passed", "passed")], None),
    "irmetrics.check(); 1 / 0": ("1 of 1 golden set fails", [("passed", "failed")], None),
    "1 / 0": ("nothing was measured, 1 test failed", [], "ZeroDivisionError: division by zero"),
    "import pytest; irmetrics.evaluate(); pytest.skip()": ("1 of 1 golden set fails as expected", None, None),
    "def test_other(): pass": ("nothing was measured", [], None),
}


@pytest.mark.parametrize("body", SESSIONS)
def test_a_report_says_how_the_whole_test_ended(project, body):
    if body.startswith("def "):
        project.write("test_search.py", body)
    else:
        project.test('ir_golden("golden/*.yaml")', body)
    project.run("--ir-report=report.json", "--ir-report=report.md", "--ir-report=report.html")
    headline, outcomes, unmeasured = SESSIONS[body]
    found = report(project)
    if outcomes is not None:
        assert found["headline"] == headline
        assert [(test["outcome"], test["test_outcome"]) for test in found["tests"]] == outcomes
    assert [*found["unmeasured"].values()] == ([unmeasured] if unmeasured else [])
    markdown = (project.path / "report.md").read_text(encoding="utf-8")
    assert markdown.startswith(f"## Retrieval quality: {found['headline']}\n")
    assert ("but the test fails" in markdown) == ("; 1 / 0" in body)
    assert f"<title>Retrieval quality: {found['headline']}</title>" in (
        project.path / "report.html"
    ).read_text(encoding="utf-8")


def test_an_expected_failure_is_told_as_such(project):
    project.answers({**ANSWERS, "refund policy": [], "opening hours": []})
    project.write("test_search.py", TEST.replace("def ", "@pytest.mark.xfail\n    def "))
    project.run("--ir-report=report.json").assert_outcomes(xfailed=1)
    found = report(project)
    assert (found["tests"][0]["test_outcome"], found["headline"]) == (
        "xfailed",
        "1 of 1 golden set fails as expected",
    )


def test_workers_report_as_one_and_of_reruns_the_last_attempt_counts(project):
    project.write(
        "golden/second.yaml", "thresholds: {mrr: 0.9}\nqueries: [{query: opening hours, relevant: doc-1}]\n"
    )
    project.run("--ir-report=alone.json").assert_outcomes(passed=1, failed=1)
    project.run_apart("-n", "2", "--reruns", "1", "--ir-report=spread.json")
    alone, spread = (report(project, name) for name in ("alone.json", "spread.json"))
    assert alone.pop("run_info")["versions"] == spread.pop("run_info")["versions"]
    assert alone == spread
    assert alone["headline"] == "1 of 2 golden sets fails"


def test_a_report_is_a_stored_run_and_written_again_it_says_the_same(worse, monkeypatch, capsys):
    files = [f"--ir-report=r.{suffix}" for suffix in ("html", "md", "json")]
    worse.run("--ir-baseline", *files)
    assert Run.load(worse.path / "r.json")["refund"] == ("doc-5", "doc-6", "doc-9")
    monkeypatch.chdir(worse.path)
    for suffix in ("html", "md", "json"):
        assert main(["report", "r.json", "-o", f"again.{suffix}"]) == 0
        assert (worse.path / f"again.{suffix}").read_bytes() == (worse.path / f"r.{suffix}").read_bytes()
    capsys.readouterr()
    assert main(["report", "r.json"]) == 0
    assert capsys.readouterr().out == (worse.path / "r.md").read_text(encoding="utf-8")


DAMAGES = {
    '"version": 1,': ('"version": 2,', "was written in a version of the format"),
    '"headline": "': ('"tests": 3, "headline": "', "is damaged, or was cut short|is not JSON|is damaged"),
    '"depth": 10,': (
        '"depth": "ten",',
        "cannot be rendered, ValueError: Cannot specify ',' with 's'. Write the report anew; ",
    ),
    '"golden_set": "golden': ('"more": 1, "golden_set": "golden', "or of another version: "),
    '"nodeid": "test_search.py': ('"node": "test_search.py', "version: there is no 'nodeid'. Write"),
    '"format": "pytest-irmetrics report"': ('"format": "run"', "is not a report"),
    '"queries": [\n{': ('"queries": [\n{"id": "x"}, {', "or of another version: "),
}


@pytest.mark.parametrize("place", DAMAGES)
def test_a_damaged_report_is_refused_with_what_to_do(worse, monkeypatch, capsys, place):
    worse.run("--ir-baseline", "--ir-report=r.json")
    monkeypatch.chdir(worse.path)
    path = worse.path / "r.json"
    text = path.read_text(encoding="utf-8")
    assert place in text
    new, said = DAMAGES[place]
    path.write_text(text.replace(place, new, 1), encoding="utf-8")
    assert main(["report", "r.json"]) != 0
    told = capsys.readouterr().err
    assert any(one in told for one in said.split("|")), told
    assert "r.json:1: " in told
