"""What a terminal of few columns, or one that shows ASCII alone, gets: every line fits, columns line up, nothing is lost that is gated."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest

GOLDEN = """
    queries:
      - {id: "召回率 查询 质量", query: "质量 召回率 👍 e\u0301", relevant: "中文-42", tags: ["质量e\u0301"]}
      - {query: how do I reset the password of my account after the second reminder, relevant: doc-with-a-very-long-name-that-goes-on-12}
      - {query: "::error:: ##vso[x] | <b> \\u202e", relevant: "\\x1b[31m-1", forbidden: [doc-99]}
      - {id: x, query: opening … hours × ≤, relevant: d1, xfail: TICKET-7}
"""
BEFORE = {
    "质量 召回率 👍 e\u0301": ["中文-42", "中文-43"],
    "how do I reset the password of my account after the second reminder": [
        "doc-with-a-very-long-name-that-goes-on-12"
    ],
    "::error:: ##vso[x] | <b> \u202e": ["\x1b[31m-1"],
}
OTHERS = ["doc-99", "doc-with-a-very-long-name-that-goes-on-13", "中文-43", "\u0378\ufdd0\u3164"]
NOW = {
    **dict.fromkeys(BEFORE, OTHERS),
    "how do I reset the password of my account after the second reminder": [
        "doc-1",
        "doc-with-a-very-long-name-that-goes-on-12",
    ],
}


def cells(line):
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return len(line) + wide - sum(unicodedata.category(char) in ("Mn", "Me", "Cf") for char in line)


@pytest.fixture
def worse(project):
    project.write("golden/faq.yaml", GOLDEN)
    project.answers(BEFORE)
    project.store()
    project.answers(NOW)
    return project


def shown(result):
    """What is about the gates, without what pytest adds."""
    text = result.stdout.str()
    return re.sub(
        r"(?m) +$", "", re.split("=+ short test", text[text.index("= FAILURES") :])[0].partition("\n")[2]
    )


@pytest.mark.parametrize("width", [40, 58, 72, 90])
def test_every_line_fits_but_for_commands_and_names_that_cannot_be_cut(worse, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = shown(worse.run("--ir-baseline", "-vv"))
    long = [
        line
        for line in text.splitlines()
        if cells(line) > width and not re.search(r"pytest|::|golden/|json|`|^ *\S+$", line)
    ]
    assert long == []


def test_a_stream_of_ascii_gets_ascii(worse, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    text = shown(worse.run_apart("--ir-baseline", "-vv"))
    assert text.isascii()
    for piece in (
        "!>=0.5 !drop<=auto",
        "mrr 1.0000 -> 0.0000",
        "  -0.8333 ",
        "reset the password",
        r"\u4e2d\u6587-42",
        r"\u7387...",
    ):
        assert piece in text


SPANS = {"ab`": "`` ab` ``", "`b": "`` `b ``", "c``d|": "```c``d|```", " g ": "`  g  `", r"h\|i": r"`h\|i`"}


def test_an_id_is_code_of_markdown_whatever_it_holds(project):
    listed = "".join(
        f"  - {{id: {json.dumps(one)}, query: query {n}, relevant: x}}\n" for n, one in enumerate(SPANS)
    )
    project.write("golden/faq.yaml", f"queries:\n{listed}")
    project.answers({"query 0": ["y", "x"]})
    project.run("--ir-report=r.md", "-o", "ir_thresholds=mrr min_each=1")
    text = (project.path / "r.md").read_text(encoding="utf-8")
    assert [one for one, span in SPANS.items() if span not in text] == []
