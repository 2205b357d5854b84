"""docs/reading-a-failure.md takes apart the failure that the example project prints, as tests/expected has it.

After a change of words, `make expected` writes the parts anew. What the page says about them is for a person to read again.
"""

from __future__ import annotations

import re

import pytest

from tests.expected import FOLDER, RENEWING
from tests.pages import DOCS, blocks

PAGE = DOCS / "reading-a-failure.md"
PART = r"(?<=<!-- part: {} -->\n```text\n)(.*?)(?=^```$)"
BEGINNINGS = {"gates": " ", "queries": "28 queries ", "notes": "note: ", "commands": "To look closer: "}
PARTS = ("all", "verdict", "kind", *BEGINNINGS)


def parts():
    """The failure as it is printed, and its parts by name."""
    printed = (FOLDER / "example" / "red.txt").read_text(encoding="utf-8")
    failure = re.search(r"^_+ test_search_quality\[rules\] _+\n(.*?)^=", printed, re.MULTILINE | re.DOTALL)[1]
    first, *others = re.split(r"\n\n|\n(?=To look closer: )", failure.rstrip("\n"))
    verdict, _, kind = first.partition("\n")
    found = {"all": failure, "verdict": verdict, "kind": kind}
    for name, beginning in BEGINNINGS.items():
        found[name] = "\n\n".join(other for other in others if other.startswith(beginning))
    return {name: text.rstrip("\n") + "\n" for name, text in found.items()}


@pytest.mark.parametrize("name", PARTS)
def test_the_page_shows_each_part_as_it_is_printed(name):
    text = parts()[name]
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(PART.format(name), re.MULTILINE | re.DOTALL)
    if RENEWING:
        page = pattern.sub(lambda _: text, page, count=1)
        PAGE.write_text(page, encoding="utf-8")
    assert pattern.search(page)[0] == text
    assert text.strip()


def test_the_parts_are_the_whole_failure():
    found = parts()
    together = {line for name in PARTS[1:] for line in found[name].splitlines()}
    assert together | {""} == set(found["all"].splitlines()) | {""}


def test_what_the_page_on_labelling_quotes_is_printed():
    (block,) = (b for b in blocks(DOCS / "labelling.md") if b.remark == "lines of the example's failure")
    printed = (FOLDER / "example" / "red-v.txt").read_text(encoding="utf-8")
    for part in block.text.strip("\n").split("\n\n"):
        assert f"\n{part}\n" in printed


@pytest.mark.parametrize("words", ["rank 1 → 4", "rank 1 → gone", "new", "above it now", "(unjudged)"])
def test_the_words_that_the_page_explains_are_in_the_failure(words):
    assert words.strip("()") in PAGE.read_text(encoding="utf-8").partition("## The queries")[2]
    assert words in parts()["queries"]


def test_the_place_that_the_page_explains_is_in_the_failure():
    (place,) = re.findall(r"`(golden/rules\.yaml:\d+: [\w-]+): …`", PAGE.read_text(encoding="utf-8"))
    assert place in parts()["queries"]
