"""docs/reading-a-failure.md takes apart the failure of the example project that it shows; tests/example/test_readme.py holds that."""

from __future__ import annotations

import re

import pytest

from tests.pages import DOCS, blocks

PAGE = DOCS / "reading-a-failure.md"
(FAILURE,) = (block.text for block in blocks(PAGE) if block.remark == "the example's failure")


@pytest.mark.parametrize("words", ["rank 1 → 4", "rank 1 → gone", "new", "above it now", "(unjudged)"])
def test_the_words_that_the_page_explains_are_in_the_failure(words):
    assert f"`{words}`" in PAGE.read_text(encoding="utf-8")
    assert words in FAILURE


def test_the_place_that_the_page_explains_is_in_the_failure():
    (place,) = re.findall(r"`(golden/rules\.yaml:\d+: [\w-]+): …`", PAGE.read_text(encoding="utf-8"))
    assert place in FAILURE
