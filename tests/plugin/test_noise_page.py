"""docs/noise.md: the builds of its conftest.py take turns."""

from __future__ import annotations

from tests.pages import DOCS, blocks

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
    (code,) = (block.text for block in blocks(DOCS / "noise.md") if block.kind == "python")
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
