"""In GitHub Actions a failed test is an error at the line of the query that broke most, and needs no token for it."""

from __future__ import annotations

import pytest

from .conftest import edit_golden_set, make_ranking_worse


@pytest.fixture
def github(stored, monkeypatch):
    """A project whose search got worse, in a job of GitHub Actions."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (stored.path / ".git").mkdir()
    make_ranking_worse(stored)
    return stored


def errors(result):
    return [line for line in result.outlines if line.startswith("::error ")]


@pytest.mark.parametrize(
    "options", [[], ["-q"], ["-qq"], ["-v"], ["--tb=no"], ["-s"], ["--color=yes"], ["-n", "2"]], ids=str
)
def test_a_failing_gate_is_an_error_at_the_line_of_the_query(github, options):
    (line,) = errors(github.run_apart("--ir-baseline", *options))
    assert line.startswith(
        "::error file=golden/faq.yaml,line=5,title=Search quality%3A FAILS 1 of 2 gates::mrr fell by"
    )
    assert "%0AHere: refund, mrr 1.0000 → 0.3333." in line


def test_the_path_is_that_in_the_repository(github, monkeypatch):
    (github.path / ".git").rmdir()
    (github.path.parent / ".git").mkdir()
    try:
        (line,) = errors(github.run("--ir-baseline"))
        assert f"file={github.path.name}/golden/faq.yaml,line=5," in line
        tests = github.path / "below"
        tests.mkdir()
        monkeypatch.chdir(tests)
        (line,) = errors(github.run("--ir-baseline", str(github.path)))
        assert f"file={github.path.name}/golden/faq.yaml,line=5," in line
    finally:
        (github.path.parent / ".git").rmdir()


def test_a_golden_set_that_cannot_be_read_has_an_error_at_each_problem(github):
    edit_golden_set(github, "relevant: doc-1", "relevent: doc-1")
    edit_golden_set(github, "tags: [billing]", "tag: [billing]")
    lines = errors(github.run("--ir-baseline"))
    assert [line.partition(",title")[0] for line in lines] == [
        "::error file=golden/faq.yaml,line=8,col=5",
        "::error file=golden/faq.yaml,line=11,col=5",
    ]


def test_a_missing_baseline_is_an_error_of_the_file(github):
    github.baseline.unlink()
    (line,) = errors(github.run("--ir-baseline"))
    assert line.startswith("::error file=golden/faq.yaml,title=")
    assert "There is no baseline for this test" in line


def test_of_reruns_the_last_attempt_counts(github):
    assert len(errors(github.run("--ir-baseline", "--reruns", "2"))) == 1


def test_elsewhere_and_without_the_plugin_there_are_none(github, monkeypatch):
    assert errors(github.run()) == []  # nothing fails
    assert "::" not in github.pytester.runpytest_subprocess("-p", "no:irmetrics").stdout.str().replace(
        "py::", ""
    )
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert errors(github.run("--ir-baseline")) == []
