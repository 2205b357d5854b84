"""Print as much as pytest's verbosity, width and encoding ask for."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from tests.plugin.conftest import summary_lines


@pytest.mark.parametrize(
    "options",
    [
        ["-p", "no:terminal"],
        ["--no-summary"],
        ["-q"],
        ["-qq"],
        ["-p", "no:randomly"],
        ["--tb=no"],
        ["--tb=line"],
        ["-rA"],
    ],
)
def test_the_verdict_is_the_same_however_it_is_shown(project, options):
    assert project.run_apart(*options).ret == 0
    project.answers({})
    result = project.run_apart(*options)
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_quiet_is_one_line(project):
    result = project.run("-q")
    result.stdout.fnmatch_lines(["retrieval quality: 1 golden set, all pass"])
    result.stdout.no_fnmatch_line("*=== retrieval quality*")


def test_verbose_is_a_table_and_more_verbose_the_rankings(project):
    result = project.run("-v")
    result.stdout.fnmatch_lines(["  metric * now *gate*verdict", "  mrr *0.8333*≥0.5*passes"])
    result.stdout.no_fnmatch_line("*rank*grade*document*")
    result = project.run("-vv")
    result.stdout.fnmatch_lines(
        ["*golden/faq.yaml:5: refund", "*rank*grade*document", "*1*3*doc-9", "*unjudged*doc-5"]
    )


@pytest.mark.parametrize("columns", ["60", "80"])
def test_no_line_is_wider_than_the_terminal(project, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    project.write(
        "golden/faq.yaml",
        "queries:\n  - {id: 退款政策退款政策退款政策退款政策退款政策退款政策退款政策退款政策退款政策, query: refund policy, relevant: [doc-9]}\n"
        "  - {query: " + "very long text " * 30 + ", relevant: [doc-1]}\n",
    )
    result = project.run("-vv")
    from pytest_irmetrics.base.layout import display_width

    for line in summary_lines(result):
        assert display_width(line) <= int(columns), line


def test_a_long_name_gives_way_to_the_verdict(project):
    name = f"golden/{'long' * 30}.yaml"
    (project.path / "golden" / "faq.yaml").rename(project.path / name)
    project.run().stdout.fnmatch_lines(["golden/longlong*…*long.yaml: passes, 3 queries; mrr *"])
    project.answers({})
    project.run().stdout.fnmatch_lines(["golden/longlong*…*long.yaml: FAILS, 3 queries; mrr *"])


@pytest.mark.parametrize("columns", [80, 60])
def test_parametrized_tests_show_a_score_however_long_their_names(project, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    project.write(
        "test_relevance.py",
        """
        import pytest

        @pytest.mark.parametrize("retriever", ["bm25-with-synonyms", "dense-multilingual"], indirect=True)
        @pytest.mark.ir_golden("golden/*.yaml")
        @pytest.mark.ir_threshold("mrr", 0.5)
        @pytest.mark.ir_threshold("ndcg@10", 0.5)
        def test_search_quality_of_the_shop(irmetrics):
            irmetrics.check()
        """,
    )
    lines = [line for line in summary_lines(project.run("test_relevance.py")) if ": passes" in line]
    assert len(lines) == len({line.partition(": passes")[0] for line in lines}) == 2
    for line in lines:
        assert "ndcg@10 0.8502" in line
        assert ("mrr" in line) == (columns == 80)
        assert len(line) <= columns


@pytest.mark.parametrize("options", [[], ["-v"]])
def test_parametrized_tests_of_several_sets_are_told_apart_beside_their_scores(project, monkeypatch, options):
    monkeypatch.setenv("COLUMNS", "80")
    text = (project.path / "golden/faq.yaml").read_text()
    (project.path / "golden/faq.yaml").unlink()
    for name in ("products", "customer-support-articles"):
        project.write(f"golden/{name}.yaml", text)
    project.write(
        "test_search.py",
        """
        import json, pathlib, pytest

        @pytest.fixture(params=["bm25-with-synonyms", "dense-multilingual"])
        def retriever(request):
            answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
            return lambda query, k: answers[query]

        @pytest.mark.ir_golden("golden/*.yaml")
        @pytest.mark.ir_threshold("mrr", 0.5)
        def test_search_quality_of_the_shop(irmetrics):
            irmetrics.check()
        """,
    )
    lines = [line for line in summary_lines(project.run(*options)) if ": passes" in line]
    assert len({line.partition(": passes")[0] for line in lines}) == 4
    assert all(line.endswith("; mrr 0.8333") and len(line) <= 80 for line in lines), lines


def test_an_ascii_stream_gets_ascii(project, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    project.answers({"refund policy": ["é→退"]})
    for workers in ("0", "2"):
        result = project.run_apart("-vv", "-n", workers)
        result.assert_outcomes(failed=1)
        assert result.stdout.str().isascii()
        assert "INTERNALERROR" not in result.stdout.str()


def test_hostile_ids_are_inert_everywhere(project):
    evil = "\x1b[31m::error::\u202e\r<script>\ud800##[group]"
    project.write("golden/faq.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.answers({"refund policy": [evil, " ::error::x", "##vso[task.x]", "doc-9"]})
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    for workers in ("0", "2"):
        result = project.run_apart("-vv", "-n", workers, "--junitxml=out.xml", "--color=no")
        result.assert_outcomes(failed=1)
        output = result.stdout.str()
        for sign in ("\x1b", "\u202e", "\ud800"):
            assert sign not in output
        assert not re.search(r"(?m)^\s*::error|##\[|##vso\[", output)
        ET.parse(project.path / "out.xml")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_failure_is_told_once_in_ci_too(project, monkeypatch, workers):
    monkeypatch.setenv("CI", "true")  # where pytest's short summary has whole messages
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    result = project.run_apart("-n", workers, "--junitxml=out.xml")
    first = "mrr is 0.8333, 0.0667 below the threshold: at least 0.9000 is required."
    assert result.outlines.count(first) == 1
    assert result.outlines[-2].endswith(f" - Failed: {first}")
    (failure,) = ET.parse(project.path / "out.xml").iter("failure")
    assert failure.get("message") == f"Failed: {first}"
    assert failure.text.startswith(f"{first}\n")
    assert "golden/faq.yaml:9: hours" in failure.text
