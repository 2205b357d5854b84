"""docs/messages.md quotes what other tests hold that it is printed; docs/noise.md shows its notes, and varies what it says."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.expected import RENEWING
from tests.pages import DOCS, blocks
from tests.support_site import Faq, good

PAGE = DOCS / "messages.md"
NOISE_PAGE = DOCS / "noise.md"
TESTS = Path(__file__).parents[1]
CODE = TESTS.with_name("pytest_irmetrics")
QUOTES = [
    quote
    for cell in re.findall(r'^\| (".*?") \| ', PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    for quote in re.findall(r'"([^"]+)"', cell)
]


@cache
def held():
    """What tests hold that it is printed: whole outputs, and the rows of scenarios."""
    files = [*(TESTS / "expected").rglob("*.txt"), *(TESTS / "scenarios").glob("*.yaml")]
    return "\n".join(" ".join(file.read_text(encoding="utf-8").split()) for file in files)


@pytest.mark.parametrize("quote", QUOTES)
def test_what_the_page_quotes_is_printed(quote):
    assert quote in held(), "no output of tests/expected has it, and no row of tests/scenarios"


def test_each_kind_of_change_is_on_the_page_and_shown_by_a_scenario():
    code = CODE.joinpath("analysis", "signs.py").read_text(encoding="utf-8")
    kinds = {*re.findall(r'^    _Kind\("(\w+)"', code, re.MULTILINE)}
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert kinds == {*rows} - {"kind"} == {*re.findall(r"tests\.0\.kind: (\w+)", held())} - {"null"}


def test_each_kind_of_edit_is_shown_by_a_scenario():
    code = CODE.joinpath("gates", "stored_limits.py").read_text(encoding="utf-8")
    kinds = re.findall(r'^    [A-Z_]+ = \(?"([^"]+)"', code, re.MULTILINE)
    assert kinds == [kind for kind in kinds if kind in held()] != []


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
    (code,) = (block.text for block in blocks(NOISE_PAGE) if block.kind == "python")
    project.write("conftest.py", INDEX + code)
    project.write(
        "golden/faq.yaml",
        "queries: [{query: a, relevant: doc-a}, {query: b, relevant: {doc-b: 1, build-9: 1}}]\n",
    )
    project.run("--ir-repeat=10", "--ir-baseline-update").assert_outcomes(passed=1)
    (baseline,) = (project.path / "ir_baselines").rglob("*.json")
    text = baseline.read_text(encoding="utf-8")
    # The last is named once more, as a judgment.
    assert [text.count(f'"build-{number}"') for number in range(10)] == [2] * 9 + [3]


def test_the_notes_are_printed_as_the_page_shows_them(project):
    faq = Faq(project)
    faq.gate('ir_threshold("mrr", max_drop=0.01)')
    lower = ["about-21", *good("refund")[:9]]
    faq.search(refund={"0": good("refund"), "1": good("refund"), "2": good("refund"), "3": lower})
    faq.store("--ir-repeat=4")
    faq.search(refund={"a": good("refund"), "b": lower})
    printed = project.run("-v", "--ir-repeat=4", "--ir-baseline").stdout.str()
    about_noise = re.findall(r"^  note: max_drop.*\n(?:    .*\n?)*", printed, re.MULTILINE)
    notes = "".join(f"{note.rstrip()}\n" for note in about_noise)
    (block,) = (block for block in blocks(NOISE_PAGE) if block.remark == "notes on run noise")
    if RENEWING:
        page = NOISE_PAGE.read_text(encoding="utf-8")
        page = page.replace(f"```text\n{block.text}", f"```text\n{notes}")
        NOISE_PAGE.write_text(page, encoding="utf-8")
    else:
        assert notes == block.text
