"""Command `report`: a JSON report again in another format."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.console import run

pytestmark = pytest.mark.usefixtures("folder")


def test_each_format_is_written_as_to_standard_output():
    formats = {"json": "again.json", "html": "page.html", "md": "page.md"}
    run("report", "report.json", *(part for path in formats.values() for part in ("-o", path)))
    for form, path in formats.items():
        assert (
            run("report", "report.json", "-o", f"{form}:-").out.rstrip()
            == Path(path).read_text("utf-8").rstrip()
        )
    assert json.loads(Path("again.json").read_text()) == json.loads(Path("report.json").read_text())
    markdown = Path("page.md").read_text("utf-8")
    assert run("report", "report.json").out.rstrip() == markdown.rstrip()
    assert markdown.startswith("## Retrieval quality: 1 of 2 tests fails")
    assert b"\xe2" not in run("report", "report.json", encoding="ascii").data
    Path("-").write_text("a file of that name is not written over")
    assert run("report", "report.json").out.rstrip() == markdown.rstrip()


def test_the_step_summary_of_github_is_appended_to(monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.txt")
    Path("summary.txt").write_text("before\n")
    assert run("report", "report.json", "-o", "summary.txt").status == 0
    assert Path("summary.txt").read_text("utf-8").startswith("before\n")
    assert len(Path("summary.txt").read_text("utf-8")) > 100


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff\xfe", "r.json:1: The file is in UTF-16"),
        (b"{", "r.json:1: is not JSON, or was cut short."),
        (b"[]", "r.json:1: is not a report. Give a file that `pytest --ir-report=json:PATH` wrote."),
        (
            b'{"format": "pytest-irmetrics report"}',
            "does not know; it reads up to 1. Upgrade pytest-irmetrics, or write",
        ),
        (b'{"format": "pytest-irmetrics report", "version": 2}', "it reads up to 1"),
        (b'{"format": "pytest-irmetrics report", "version": 1}', "r.json:1: "),
        (b'{"format": "pytest-irmetrics report", "version": 1, "tests": [{"nodeid": 3}]}', "r.json:1: "),
        (
            b'{"format": "pytest-irmetrics report", "version": 1, "exit_status": 0, "unmeasured": {}, "unused_baselines": [], "gone_since": [], "baselines_passed_over": 0, "tests": [{"nodeid": "t", "golden_set": "g", "test_outcome": "passed", "run": null}]}',
            "is damaged, or of another version: ",
        ),
    ],
)
def test_a_file_that_is_no_report_is_told_with_its_place(data, told):
    Path("r.json").write_bytes(data)
    done = run("report", "r.json")
    assert (done.status, done.data) == (1, b"")
    assert (told in done.err, done.err.count("r.json:1:")) == (True, 1)
    assert done.err.rstrip().endswith((".", ")"))


@pytest.mark.parametrize("value", ["Infinity", "1e400", "-1e308", "null", '"x"', "[]"])
def test_a_report_with_a_number_changed_by_hand_is_read_or_told_as_damaged(value):
    text = Path("report.json").read_text()
    for place in ('"now": 0.5', '"mean": 0.5', '"full": 0.5', '"rank": 1', '"depth": 10'):
        Path("r.json").write_text(text.replace(place, f"{place.partition(':')[0]}: {value}", 1))
        done = run("report", "r.json", "-o", "html:-")
        assert done.status in (0, 1)
        assert done.status == 0 or done.err.startswith("r.json:1: ")


@pytest.mark.parametrize("changed", ['"error": []', '"interval": []', '"depth": "x"'])
def test_a_value_that_no_report_has_is_told_as_damaged(changed):
    text, name = Path("report.json").read_text(), changed.partition(":")[0]
    Path("r.json").write_text(re.sub(rf"{name}: (null|10|\[[^]]*\])", changed, text, count=1))
    done = run("report", "r.json", "-o", "html:-")
    assert (done.status, done.out) == (1, "")
    assert re.match(
        "r.json:1: (is damaged, or .* Write the report anew|cannot be rendered, .* report it)[.]$", done.err
    )


@pytest.mark.parametrize("command", ["report report.json -o html:-", "history --html -"])
def test_html_on_standard_output_without_jinja2_says_what_to_install(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in ("html_page", "formats.html"):
        monkeypatch.delitem(sys.modules, f"pytest_irmetrics.reports.{name}", raising=False)
    done = run(*command.split())
    assert (done.status > 0, "needs Jinja2: pip install" in done.err) == (True, True)


def test_queries_that_explain_a_failure_which_no_gate_names_are_told_as_damaged():
    text = re.sub(r'("queries": )\["[^]]*\]', r"\1[]", Path("report.json").read_text())
    Path("r.json").write_text(text)
    done = run("report", "r.json")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("r.json:1: cannot be rendered, ValueError: ")
    assert done.err.endswith(" a fault of pytest-irmetrics: report it.\n")


def test_markdown_cuts_a_long_sentence_and_none_of_baselines_that_no_test_read():
    report = json.loads(Path("report.json").read_text())
    report["unused_baselines"] = ["b" * 9_000]
    report["tests"][1]["notes"] = [{"level": "normal", "text": "n" * count} for count in (593, 594, 595)]
    Path("r.json").write_text(json.dumps(report))
    lines = run("report", "r.json").out.splitlines()
    assert f"Note: the baseline {'b' * 9_000} was read by no test." in "\n".join(lines)
    place = lines.index(f"- note: {'n' * 593}")
    assert lines[place : place + 3] == [
        f"- note: {'n' * 593}",
        f"- note: {'n' * 594}",
        f"- note: {'n' * 594}…",
    ]
    assert not lines[place - 1]


def test_what_cannot_be_written_is_told():
    done = run("report", "report.json", "-o", "bm25.run/here.md", "-o", "x.md")
    assert (done.status, done.out) == (1, "x.md: written\n")
    assert "here.md" in done.err
