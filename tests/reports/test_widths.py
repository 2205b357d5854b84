"""The terminal's output is as wide as the screen at most, and says the same on every screen."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

WIDE = "退款ＱＡ" * 9
COMMANDS = ("To look closer: ", "To judge both: ", "To accept it: ", "To store it: ")
GOLDEN = f"""
thresholds: {{"ndcg@10": {{min: 0.9, max_drop: 0.01}}}}
queries:
  - {{id: {WIDE}, query: refund policy, relevant: {{doc-9: 3, doc-4: 1}}, tags: [billing]}}
  - {{id: long, query: {"very long text " * 30}, relevant: [doc-1], tags: ["{"a tag of many words " * 5}"]}}
  - {{query: how do I reset my password, relevant: [doc-12, doc-40]}}
"""


def cells(text):
    """Count the cells of a terminal that a text takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


@pytest.fixture
def fallen(project):
    project.write("golden/a rather long name of a golden set.yaml", GOLDEN)
    project.write("golden/faq.yaml", GOLDEN)
    project.answers(
        {
            "refund policy": ["doc-9", "doc-4"],
            "how do I reset my password": ["doc-12", "doc-40"],
            ("very long text " * 30).strip(): ["doc-1"],
        }
    )
    project.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("recall@10", max_drop=0.01, tag="billing")',
            'ir_threshold("mrr", 0.2)',
        ]
    )
    project.run("--ir-baseline-update")
    project.answers(
        {
            "refund policy": ["x-1", "x-2", "doc-4"],
            "how do I reset my password": ["x-1", "x-2", "doc-12"],
            ("very long text " * 30).strip(): [],
        }
    )
    return project


@pytest.mark.parametrize(
    "verbosity", [[], ["-q"], ["-v"], ["-vv"], ["--ir-query", WIDE], ["--ir-selftest"]], ids=str
)
def test_no_line_is_wider_than_the_screen_and_nothing_is_lost(fallen, monkeypatch, verbosity):
    said = {}
    for width in (40, 60, 100) if verbosity else (40, 55, 75, 80, 100, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        output = fallen.run(
            "--ir-baseline" if "--ir-selftest" not in verbosity else "-q", *verbosity, "--ir-report=r.json"
        ).stdout.str()
        lines = output.partition("=\n_" if "FAILURES" in output else "= retrieval quality =")[2].splitlines()[
            1:
        ]
        for line in lines:
            ours = not line.startswith(
                ("_", "=", "FAILED", "rootdir", "-- ", *COMMANDS)
            ) and not line.strip().startswith(COMMANDS)
            assert not ours or cells(line) <= width, (width, line)
            assert not re.search(r"\d…|✗\w*…|[≥≤](…|$)", line), (width, line)
        said[width] = " ".join(output.split())
    for test in json.loads((fallen.path / "r.json").read_text(encoding="utf-8"))["tests"]:
        quiet = "-q" in verbosity or "--ir-selftest" in verbosity
        sentences = [gate["text"] for gate in test["gates"][:1] if gate["state"] == "failed"] + (
            []
            if quiet
            else [note["text"] for note in test["notes"] if "-v" in verbosity or note["level"] != "verbose"]
            + test["kind_sentences"]
        )
        for width, text in said.items():
            for sentence in sentences:
                assert " ".join(sentence.split()) in text, (width, sentence)


@pytest.mark.parametrize(
    ("width", "begins"),
    [
        (79, "recall@10 [billing]  ✗"),
        (78, "recall@10 [billin…  ✗"),
        (70, "recall@10…  ✗"),
        (69, "recall@10 [billing]  ✗"),
    ],
)
def test_a_column_is_cut_to_ten_cells_at_the_least(fallen, monkeypatch, width, begins):
    """Where that is not enough, each row takes more lines."""
    monkeypatch.setenv("COLUMNS", str(width))
    found = [line for line in fallen.run("--ir-baseline").outlines if line.startswith("recall@10")]
    assert [line[: len(begins)] for line in found] == [begins] * 2
    assert {line.endswith(" 0") for line in found} == {width > 69}


TWO_SETS = ["golden/shop/customer-support-articles.yaml", "golden/shop/products.yaml"]
NAMES = {
    # golden sets, retrievers, width: how each test's line begins
    (1, 1, 80): ["golden/faq.yaml: passes"],
    (1, 2, 80): [
        "golden/faq.yaml [bm25-with-synonyms]: passes",
        "golden/faq.yaml [dense-multilingual]: passes",
    ],
    (1, 2, 60): ["faq.yaml [bm25-with-synonyms]: passes", "faq.yaml [dense-multilingual]: passes"],
    (2, 1, 80): ["golden/shop/customer-support-articles.yaml: passes", "golden/shop/products.yaml: passes"],
    (2, 2, 80): None,
    (2, 2, 50): None,
}


@pytest.mark.parametrize(("sets", "retrievers", "width"), NAMES)
def test_tests_are_told_apart_and_show_a_score(project, monkeypatch, sets, retrievers, width):
    monkeypatch.setenv("COLUMNS", str(width))
    if sets > 1:
        text = (project.path / "golden/faq.yaml").read_text(encoding="utf-8")
        (project.path / "golden/faq.yaml").unlink()
        for name in TWO_SETS:
            project.write(name, text)
    project.test(
        [
            'ir_golden("golden/**/*.yaml")',
            'ir_threshold("mrr", 0.5)',
            *(
                ['parametrize("retriever", ["bm25-with-synonyms", "dense-multilingual"], indirect=True)']
                if retrievers > 1
                else []
            ),
        ]
    )
    lines = [line for line in project.run().outlines if ": passes" in line]
    assert len({line.partition(": passes")[0] for line in lines}) == sets * retrievers
    for line, begin in zip(lines, NAMES[sets, retrievers, width] or lines, strict=True):
        assert line.startswith(begin)
        assert "mrr 0.8333" in line
        assert len(line) <= width


def test_a_long_name_gives_way_to_the_verdict(project):
    (project.path / "golden" / "faq.yaml").rename(project.path / f"golden/{'long' * 30}{'長' * 30}.yaml")
    project.run().stdout.fnmatch_lines(["longlong*…*長.yaml: passes, 3 queries; mrr *"])


def test_a_word_that_is_longer_than_the_line_stands_alone(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    name = "share_of_answers_from_the_newest_documents"
    hook = f"def pytest_irmetrics_metrics(config):\n    return {{{name!r}: lambda *_: 0.5}}\n"
    project.write("conftest.py", (project.path / "conftest.py").read_text(encoding="utf-8") + hook)
    project.test(['ir_golden("golden/*.yaml")', f'ir_threshold("{name}", 0.9)'])
    lines = project.run().outlines
    at = lines.index(name)
    assert lines[at - 1 : at + 2] == [
        "_______ test_search_quality[faq] _______",
        name,
        "  is 0.5000, 0.4000 below the threshold:",
    ]
