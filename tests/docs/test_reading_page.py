"""docs/reading-a-failure.md takes apart the failure that the example project prints, as tests/expected has it.

After a change of words, `make expected` writes the failure anew. What the page says about it is for a person to read again.
"""

from __future__ import annotations

import re

import pytest

from tests.expected import FOLDER, RENEWING
from tests.pages import DOCS, blocks

PAGE = DOCS / "reading-a-failure.md"
PRINTED = (FOLDER / "example" / "red.txt").read_text(encoding="utf-8")
FAILURE = re.search(r"^_+ test_search_quality\[rules\] _+\n(.*?)^=", PRINTED, re.MULTILINE | re.DOTALL)[1]


def test_the_page_shows_the_failure_as_it_is_printed():
    (block,) = (block for block in blocks(PAGE) if block.remark == "the example's failure")
    if RENEWING:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            page[: block.start] + FAILURE + page[block.start + len(block.text) :], encoding="utf-8"
        )
    else:
        assert block.text == FAILURE


@pytest.mark.parametrize("words", ["rank 1 → 4", "rank 1 → gone", "new", "above it now", "(unjudged)"])
def test_the_words_that_the_page_explains_are_in_the_failure(words):
    assert f"`{words}`" in PAGE.read_text(encoding="utf-8")
    assert words in FAILURE


def test_the_place_that_the_page_explains_is_in_the_failure():
    (place,) = re.findall(r"`(golden/rules\.yaml:\d+: [\w-]+): …`", PAGE.read_text(encoding="utf-8"))
    assert place in FAILURE
