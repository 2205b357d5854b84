"""Reports of large sessions: below what GitHub takes and a browser shows at once, with the worst first, and saying what they leave out."""

from __future__ import annotations

import re

import pytest

from pytest_irmetrics.cli import main
from tests.large_reports import write_large_report

from .html_page import Page

COMMENT, SUMMARY = 65_536, 1024 * 1024


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Give the JSON report of so many tests of so many queries, written once."""
    made = {}

    def report(tests, queries, moved=0.2):
        size = tests, queries, moved
        if size not in made:
            made[size] = write_large_report(tmp_path_factory.mktemp("large"), *size)
        return made[size]

    return report


def converted(report, suffix):
    path = report.with_suffix(f".{suffix}")
    assert main(["report", str(report), "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def counted(text):
    """Count what a Markdown report has: sections of failing tests, their queries, one of a passing test, rows of the table of all."""
    found = (r"^### .*: FAILS", r"^\*\*`faq-\d+`\*\*", r"^### `golden/faq-1.yaml`: passes", r"^\| `golden/")
    return tuple(len(re.findall(pattern, text, re.MULTILINE)) for pattern in found)


LEVELS = {1: (1, 5, 0, 0), 4: (2, 10, 1, 4), 16: (8, 40, 1, 16), 100: (50, 50, 0, 100), 101: (51, 0, 0, 100)}


@pytest.mark.parametrize("tests", LEVELS)
def test_markdown_is_cut_to_what_github_takes_in_a_comment(large, tests):
    text = converted(large(tests, 20, 0.4), "md")
    failing = (tests + 1) // 2
    assert len(text.encode()) <= COMMENT - 500
    assert text.startswith(f"## Retrieval quality: {failing} of {tests} golden set")
    assert counted(text) == LEVELS[tests]
    assert "*The other queries are left out here, for brevity.*" in text
    assert "sections more are left out here" not in text
    assert ("*1 golden set more is left out here, for brevity.*" in text) == (tests == 101)


# Bytes that the step's summary still takes → what of 100 tests is shown there.
LEFT = {200_000: (50, 250, 1, 100), 60_000: (50, 0, 0, 100), 20_000: (15, 0, 0, 100), 3_000: (0, 0, 0, 0)}


def test_the_step_s_summary_has_what_there_is_room_for(large, tmp_path, monkeypatch, capsys):
    report = large(100, 20, 0.4)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for left, shown in LEFT.items():
        summary.write_text("x" * (SUMMARY - left), encoding="utf-8")
        assert main(["report", str(report), "-o", str(summary)]) == 0
        text = summary.read_text(encoding="utf-8").lstrip("x")
        assert len(summary.read_bytes()) <= SUMMARY
        assert text.startswith("\n\n## Retrieval quality: 50 of 100 golden sets fail")
        assert counted(text) == shown
        sections, rows = shown[0], shown[-1]
        rest = 50 - sections + (rows == 0)
        assert (f"*{rest} sections more are left out here, for brevity.*" in text) == (rest > 0)
    summary.write_text("x" * (SUMMARY - 20), encoding="utf-8")
    assert main(["report", str(report), "-o", str(summary)]) == 1
    assert "was not written: the step's summary is full." in capsys.readouterr().err
    assert len(summary.read_bytes()) == SUMMARY - 20


def test_a_page_stays_below_6_mb_and_says_what_it_leaves_out(large):
    # The last query that is shown, and the last with its rankings, have others of their golden set after them.
    text = converted(large(105, 22, moved=1.0), "html")
    assert len(text.encode()) < 6_000_000
    page = Page(text)
    page.assert_every_link_leads_somewhere()
    rows = [one["id"] for one in page.all("li") if "data-label" in one]
    assert len(rows) == 2300
    assert len([one for one in page.all("table") if one.get("class", "").startswith("ranking")]) == 300
    assert "300 of 2,310 are shown with their rankings" in page.text
    assert ", 10 of them not at all, to keep this page small" in page.text
    # Of what fails three golden sets are open, and the five worst queries.
    assert len([one for one in page.all("details") if "open" in one]) == 3 + 5
    sections = [one for one in page.all("section") if one.get("class") == "set"]
    assert len(sections) == 100
    assert "100 of 105 golden sets are shown in full below" in page.text
