"""Retrievers of a parametrized test side by side: under -v and in report files."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import printed

RETRIEVERS = """
    import pytest

    ANSWERS = {
        "bm25": {"refund policy": ["doc-9"], "opening hours": ["doc-2", "doc-1"]},
        "dense": {"refund policy": ["doc-9"], "opening hours": ["doc-1"]},
    }

    @pytest.fixture(params=["bm25", "dense"])
    def retriever(request):
        return lambda query, k: ANSWERS[request.param].get(query, [])
"""


@pytest.fixture
def two(project):
    project.write("conftest.py", RETRIEVERS)
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'])
    return project


SENTENCE = "By mrr, dense is best; from there, with a 95 % interval each: bm25 −0.1667 (−0.884 to +0.550)."


def test_the_terminal_shows_them_under_v(two):
    assert "side by side" not in printed(two.run())
    for result in (two.run("-v"), two.run_apart("-v", "-n", "2")):
        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines(
            [
                "golden/faq.yaml, test_search.py::test_search_quality, side by side (* best)",
                "  metric * bm25 * dense",
                "  mrr * 0.5000 * 0.6667[*]",
            ]
        )
        assert SENTENCE in printed(result)


def test_report_files_show_them(two):
    pytest.importorskip("jinja2")
    two.run("--ir-report=r.md", "--ir-report=r.html", "--ir-report=r.json")
    markdown, page = ((two.path / f"r.{form}").read_text(encoding="utf-8") for form in ("md", "html"))
    assert "Side by side: `golden/faq.yaml, test_search.py::test_search_quality`" in markdown
    assert "| `mrr` | 0.5000 | **0.6667** |" in markdown
    assert SENTENCE.partition("(")[0] in markdown
    assert "Side by side: " in page
    assert SENTENCE in page
    bm25, dense = json.loads((two.path / "r.json").read_text())["tests"]
    assert bm25["leading"]["metric"] == dense["leading"]["metric"] == "mrr"
    assert dense["leading"]["scores"]["hours"] == 1.0


def test_one_retriever_stands_alone(project):
    assert "side by side" not in printed(project.run("-v"))
    project.run("--ir-report=r.json")
    assert json.loads((project.path / "r.json").read_text())["tests"][0]["leading"] is None
