"""Where reports go: paths and formats read before the first test, files written whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_irmetrics.reports import SessionReport, output
from pytest_irmetrics.reports.markdown import STEP_SUMMARY_LIMIT
from pytest_irmetrics.reports.output import ReportPathError, Target, parse, write
from tests.unit.reports.samples import failing, passing

posix = pytest.mark.skipif(os.name != "posix", reason="links, modes and devices are made as POSIX has them")


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.mark.parametrize(
    ("given", "path", "chosen"),
    [
        ("report.html", "report.html", "html"),
        ("out/report.JSON", "out/report.JSON", "json"),
        ("a b.md", "a b.md", "md"),
        ("html:report.htm", "report.htm", "html"),
        ("MD:comment", "comment", "md"),
        ("json:x.html", "x.html", "json"),
        ("json:md:x", "md:x", "json"),
        ("codequality:gl-code-quality.json", "gl-code-quality.json", "codequality"),
        ("openmetrics:metrics.txt", "metrics.txt", "openmetrics"),
        ("./yaml:report.json", "yaml:report.json", "json"),
        ("$FOLDER/report.md", "reports/report.md", "md"),
        ("md:${FOLDER}/report", "reports/report", "md"),
        ("costs-5$.html", "costs-5$.html", "html"),
    ],
)
def test_the_suffix_or_a_prefix_tells_the_format(given, path, chosen, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDER", "reports")
    assert parse([given], tmp_path) == [Target(tmp_path / path, chosen)]


def test_home_and_absolute_paths_are_not_below_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    absolute = tmp_path / "elsewhere" / "report.md"
    targets = parse(["~/report.md", str(absolute)], tmp_path / "here")
    assert [target.path for target in targets] == [tmp_path / "home" / "report.md", absolute]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("report.pdf", "the path does not say in which format. Give a path that ends in .html"),
        ("report", "the path does not say in which format"),
        ("report.openmetrics", "the path does not say in which format"),
        (
            "gitlab:report",
            "say the format first: html:PATH, json:PATH, md:PATH, codequality:PATH, openmetrics:PATH.",
        ),
        ("", "the path is empty. Was it to come from a variable"),
        ("md:", "the path is empty"),
        ("markdown:report.md", "the format markdown is unknown"),
        ("htm:report", "the format htm is unknown. Did you mean html:?"),
        ("md:$GITHUB_STEP_SUMMARY", "the environment variable GITHUB_STEP_SUMMARY is not set"),
        ("${NOT_THERE}/report.html", "the environment variable NOT_THERE is not set"),
        ("html:folder", "this is a folder"),
        ("html:new/", "this is a folder"),
        ("md:-", "pytest itself prints to standard output. Give a path that ends in"),
        ("-", "the path does not say in which format"),
        ("report.\x1b[31mpdf", r"--ir-report=report.\x1b[31mpdf: "),
    ],
)
def test_an_invalid_path_is_refused_with_the_reason(given, said, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ReportPathError) as error:
        parse([given], tmp_path)
    assert said in str(error.value)
    assert str(error.value).startswith("--ir-report=")


def test_two_reports_cannot_share_a_file(tmp_path):
    assert len(parse(["x.json", "json:x.json", "./x.json"], tmp_path)) == 1
    with pytest.raises(ReportPathError, match="another report goes to the same file"):
        parse(["html:x", "md:./x"], tmp_path)


def test_html_without_jinja2_is_refused_before_the_first_test_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "find_spec", lambda _: None)
    assert parse(["x.json"], tmp_path)
    with pytest.raises(ReportPathError, match=r'pip install "pytest-irmetrics\[html\]"'):
        parse(["x.html"], tmp_path)


def test_each_format_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    targets = parse(["a/b/report.html", "report.json", "report.md"], tmp_path)
    written, problems = write(targets, SessionReport([failing(), passing()], 1))
    assert (written, problems) == ([str(Path("a/b/report.html")), "report.json", "report.md"], [])
    assert (tmp_path / "a/b/report.html").read_bytes().startswith(b"<!doctype html>")
    assert (tmp_path / "report.json").read_bytes().startswith(b'{\n"format": "pytest-irmetrics report"')
    assert (tmp_path / "report.md").read_bytes().startswith(b"## Retrieval quality: 1 of 2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "report.json", "report.md"]


def test_a_path_outside_the_working_directory_is_shown_in_full(tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert write(parse(["x.md"], tmp_path), SessionReport([]))[0] == [str(tmp_path / "x.md")]


def test_the_step_summary_is_appended_to(tmp_path, monkeypatch):
    summary = tmp_path / "step_summary_1"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    (target,) = parse([str(summary)], tmp_path)
    assert target == Target(summary, "md", appends=True)
    assert parse(["md:$GITHUB_STEP_SUMMARY", "$GITHUB_STEP_SUMMARY"], tmp_path) == [target]
    summary.write_text("# Build", encoding="utf-8")
    for _ in range(2):
        assert write([target], SessionReport([passing()])) == (["$GITHUB_STEP_SUMMARY"], [])
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Build\n\n## Retrieval quality: 1 golden set passes\n")
    assert text.count("\n\n## Retrieval quality: ") == 2


def test_the_step_summary_is_created_if_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "s"))
    write(parse(["$GITHUB_STEP_SUMMARY"], tmp_path), SessionReport([passing()]))
    assert (tmp_path / "s").read_text(encoding="utf-8").startswith("## Retrieval")


def test_the_step_summary_takes_markdown_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "s.html"))
    with pytest.raises(ReportPathError, match="the step's summary is Markdown, not html"):
        parse(["html:$GITHUB_STEP_SUMMARY"], tmp_path)
    assert parse(["$GITHUB_STEP_SUMMARY"], tmp_path)[0].format == "md"


@pytest.mark.parametrize("room", [0, 50, 300, 5_000])
def test_the_step_summary_stays_below_its_limit(tmp_path, monkeypatch, room):
    summary = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    summary.write_bytes(b"x" * (STEP_SUMMARY_LIMIT - room))
    written, problems = write(parse([str(summary)], tmp_path), SessionReport([failing(), passing()], 1))
    assert summary.stat().st_size <= STEP_SUMMARY_LIMIT
    if room < 100:
        assert problems == ["the report $GITHUB_STEP_SUMMARY was not written: the step's summary is full."]
    else:
        assert written
        assert summary.stat().st_size > STEP_SUMMARY_LIMIT - room


def test_a_report_that_cannot_be_written_does_not_stop_the_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    targets = [Target(tmp_path / "file" / "x.md", "md"), Target(tmp_path / "nul\0.md", "md")]
    written, problems = write([*targets, Target(tmp_path / "y.md", "md")], SessionReport([]))
    assert written == ["y.md"]
    assert problems[0].startswith(f"the report {Path('file/x.md')} was not written: ")
    assert r"nul\x00.md was not written: " in problems[1]


@pytest.mark.parametrize("chosen", ["json", "md"])
def test_only_html_loads_jinja2(chosen, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert write([Target(tmp_path / "x", chosen)], SessionReport([failing()], 1))[1] == []
