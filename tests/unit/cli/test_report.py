"""Command `report`: a JSON report written again."""

from __future__ import annotations

import json as plain_json

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.reports import json, markdown
from tests.unit.cli.console import run_script, usage_error
from tests.unit.reports.samples import broken, failing, hostile, passing


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "quality.json").write_text(json.render(broken([failing(), passing()])))
    return tmp_path


def report(capsys, *arguments, status=0):
    assert cli.main(["report", *arguments]) == status
    return capsys.readouterr()


def test_prints_markdown_as_the_run_would_have_written_it(capsys):
    out, err = report(capsys, "quality.json")
    assert out == markdown.render(broken([failing(), passing()]))
    assert err == ""


def test_writes_every_format(capsys, folder):
    out, err = report(
        capsys, "quality.json", "-o", "sub/quality.html", "--output=md:comment", "-o", "again.json"
    )
    assert out.splitlines() == ["sub/quality.html: written", "comment: written", "again.json: written"]
    assert err == ""
    assert "<!doctype html>" in (folder / "sub" / "quality.html").read_text(encoding="utf-8")
    assert (folder / "comment").read_text(encoding="utf-8") == markdown.render(broken([failing(), passing()]))
    assert (folder / "again.json").read_bytes() == (folder / "quality.json").read_bytes()


def test_appends_to_the_github_step_summary(capsys, folder, monkeypatch):
    summary = folder / "summary"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    out, _ = report(capsys, "quality.json", "-o", "$GITHUB_STEP_SUMMARY")
    assert out == "$GITHUB_STEP_SUMMARY: written\n"
    assert summary.read_text().startswith("before\n\n## Retrieval quality")


def test_a_path_without_a_format_is_a_usage_error(capsys):
    for path, told in (
        ("quality.pdf", "argument -o/--output: quality.pdf: the path does not say in which format."),
        ("hmtl:x", "Did you mean html:?"),
        (".", "this is a folder"),
    ):
        assert told in usage_error(capsys, "report", "quality.json", "-o", path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "quality.json:1: is not JSON, or was cut short. "),
        ("{}", "quality.json:1: is not a report. "),
        ("\xe9", "quality.json:1: is not UTF-8. "),
        ("[" * 100_000, "quality.json:1: is not JSON, or was cut short. "),
    ],
)
def test_a_file_that_is_no_report(capsys, folder, text, told):
    (folder / "quality.json").write_text(text, encoding="latin-1")
    out, err = report(capsys, "quality.json", status=1)
    assert out == ""
    assert err.startswith(told)
    assert len(err.splitlines()) == 1


def test_a_missing_file(capsys):
    out, err = report(capsys, "missing\x1b.json", status=1)
    assert out == ""
    assert (
        err
        == "missing\\x1b.json: cannot be read: No such file or directory. Give what pytest --ir-report=json:PATH wrote.\n"
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("rows", ["x"]), ("rows", "x"), ("gates", [[]]), ("queries", 1), ("nodeid", []), ("depth", "x")],
)
def test_a_damaged_report(capsys, folder, key, value):
    document = plain_json.loads((folder / "quality.json").read_text())
    document["tests"][0][key] = value
    (folder / "quality.json").write_text(plain_json.dumps(document))
    _, err = report(capsys, "quality.json", status=1)
    assert err.startswith("quality.json:1: is damaged: ")


@pytest.mark.parametrize("arguments", [[], ["-o", "x.html"], ["-o", "x.md"]])
def test_infinite_numbers(capsys, folder, arguments):
    document = plain_json.loads((folder / "quality.json").read_text())
    document["tests"][0]["rows"][0]["now"] = 10**400
    (folder / "quality.json").write_text(plain_json.dumps(document))
    _, err = report(capsys, "quality.json", *arguments, status=1)
    assert err.startswith("quality.json:1: is damaged: ")


def test_reports_what_cannot_be_written(capsys, folder):
    (folder / "file").write_text("")
    out, err = report(capsys, "quality.json", "-o", "file/x.md", "-o", "x.md", status=1)
    assert out == "x.md: written\n"
    assert err.startswith("the report file/x.md was not written: ")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_control_characters_are_escaped_in_any_encoding(folder, encoding):
    (folder / "hostile.json").write_text(json.render(broken([hostile()])), encoding="utf-8")
    done = run_script("report", "hostile.json", encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert all(line.isprintable() for line in done.stdout.decode(encoding).splitlines())
