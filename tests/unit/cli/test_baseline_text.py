"""Action `baselines text`: a baseline as text for Git's `diff`."""

from __future__ import annotations

import os
import sys

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.two_years import git
from tests.unit.cli.console import HOSTILE, assert_escaped

BASELINE = "ir_baselines/test_search/test_it[faq].json"


def baseline(refund=("d1", "z", "d2"), **more):
    answers = {
        "refund": Answer(
            (refund,), "refund policy", {"lang": "no"}, {"d1": 3, "d2": 1, "d7": 0}, 2.0, ("billing",)
        ),
        "hours": Answer((("h1",), ()), "hours", {}, {"h1": 1}, 1.0, xfail=True),
        "empty": Answer(((),), "asdf", {}, {}, 1.0),
        **more,
    }
    return Run.of(answers, 10, "golden/faq.yaml", 1, {"mrr": 1.0, "own": 0.5, "no_answer": 1.0}).dumps()


@pytest.fixture
def text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def show(content):
        (tmp_path / "blob").write_text(content, encoding="utf-8")
        assert cli.main(["baselines", "text", "blob"]) == 0
        return capsys.readouterr().out

    return show


def test_each_fact_and_each_result_has_a_line(text):
    assert text(baseline()).splitlines() == [
        "golden set golden/faq.yaml",
        "depth 10",
        "relevance level 1",
        "mean mrr 1.0000",
        "mean no_answer 1.0000",
        "mean own 0.5000",
        "",
        "query empty",
        "  text asdf",
        "  scores no_answer 1.0000",
        "  judged results: none",
        "  results: none",
        "",
        "query hours",
        "  xfail yes",
        "  judged h1 (1)",
        "  judged results of answer 1: h1 (1) at 1",
        "  results of answer 1:",
        "    h1 (1)",
        "  judged results of answer 2: none",
        "  results of answer 2: none",
        "",
        "query refund",
        "  text refund policy",
        '  params {"lang": "no"}',
        "  tags billing",
        "  weight 2",
        "  judged d1 (3), d2 (1), d7 (0)",
        "  scores mrr 1.0000",
        "  judged results: d1 (3) at 1, d2 (1) at 3",
        "  results:",
        "    d1 (3)",
        "    z",
        "    d2 (1)",
    ]


def test_a_result_that_comes_in_on_top_changes_its_own_line_alone(text):
    before, after = (
        text(baseline()).splitlines(),
        text(baseline(refund=("new", "d1", "z", "d2"))).splitlines(),
    )
    new = [line for line in after if line not in before]
    assert new == ["  scores mrr 0.5000", "  judged results: d1 (3) at 2, d2 (1) at 4", "    new"]


@pytest.mark.parametrize("content", ["", "{", "<<<<<<< HEAD\n{\n", "not a baseline\n"])
def test_what_cannot_be_read_is_printed_as_it_is(text, content):
    first, *rest = text(content).splitlines()
    assert first.startswith("not read: blob:1: ")
    assert rest == content.splitlines()


def test_a_file_that_is_not_there_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["baselines", "text", "none"]) == 1
    assert "none: cannot be read" in capsys.readouterr().err


def test_hostile_texts_are_escaped(text):
    hostile = Answer(((HOSTILE,),), HOSTILE, {HOSTILE: HOSTILE}, {HOSTILE: 1}, 1.0, (HOSTILE,))
    assert_escaped(text(baseline(**{HOSTILE: hostile})))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for the console script")
def test_git_diff_shows_queries_and_documents_and_a_merge_leaves_no_markers(tmp_path, monkeypatch):
    script = tmp_path / "bin" / "pytest-irmetrics"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pytest_irmetrics.cli "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "project"
    file = folder / BASELINE
    file.parent.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", ".")
    # As docs/history.md has it.
    (folder / ".gitattributes").write_text("ir_baselines/**/*.json diff=irmetrics -merge\n")
    git(folder, "config", "diff.irmetrics.textconv", "pytest-irmetrics baselines text")
    git(folder, "config", "diff.irmetrics.xfuncname", "^query .*$")

    def commit(subject, **changes):
        file.write_text(baseline(**changes), encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", subject)

    commit("Begin")
    git(folder, "checkout", "-q", "-b", "topic")
    commit("Lose one", refund=("d1", "z"))
    shown = git(folder, "diff", "main", "topic")
    assert "-  judged results: d1 (3) at 1, d2 (1) at 3" in shown
    assert "+  judged results: d1 (3) at 1" in shown
    assert "-    d2 (1)" in shown
    assert '"rankings"' not in shown
    git(folder, "checkout", "-q", "main")
    commit("Find more", refund=("d1", "d2"))
    ours = file.read_text(encoding="utf-8")
    with pytest.raises(Exception, match="returned non-zero exit status 1"):
        git(folder, "merge", "-q", "topic")
    assert file.read_text(encoding="utf-8") == ours
    assert git(folder, "status", "--porcelain", "--", BASELINE).startswith("UU ")
