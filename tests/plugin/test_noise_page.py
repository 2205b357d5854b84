"""docs/noise.md: the builds of its conftest.py take turns."""

from __future__ import annotations

import re

from tests.expected import RENEWING
from tests.pages import DOCS, blocks

from .test_docs_messages import Faq, noise, shown

PAGE = DOCS / "noise.md"
INDEX = """
from itertools import count

_built = count()


class Index:
    def __init__(self):
        self.number = next(_built)

    def search(self, query, k):
        return [f"doc-{query}", f"build-{self.number}"][:k]


build_index = Index
"""


def test_each_pass_over_the_queries_meets_another_build(project):
    (code,) = (block.text for block in blocks(PAGE) if block.kind == "python")
    project.write("conftest.py", INDEX + code)
    project.write(
        "golden/faq.yaml",
        "queries: [{query: a, relevant: doc-a}, {query: b, relevant: {doc-b: 1, build-9: 1}}]\n",
    )
    project.run("--ir-repeat=10", "--ir-baseline-update").assert_outcomes(passed=1)
    (baseline,) = (project.path / "ir_baselines").rglob("*.json")
    text = baseline.read_text(encoding="utf-8")
    assert [text.count(f'"build-{number}"') for number in range(10)] == [2] * 9 + [
        3
    ]  # once more as a judgment


def test_the_notes_are_printed_as_the_page_shows_them(project):
    printed = shown(project.run("-v", *noise(Faq(project))))
    about_noise = re.findall(
        r"^  (?:hint: A fall fails|note: (?:mrr moved|max_drop)).*\n(?:    .*\n?)*", printed, re.MULTILINE
    )
    notes = "".join(f"{note.rstrip()}\n" for note in about_noise)
    (block,) = (block for block in blocks(PAGE) if block.remark == "notes on run noise")
    if RENEWING:
        PAGE.write_text(
            PAGE.read_text(encoding="utf-8").replace(f"```text\n{block.text}", f"```text\n{notes}"),
            encoding="utf-8",
        )
    else:
        assert notes == block.text
