"""What `label --interactive` shows: texts with a label, whose words are whole or in pieces as wide as the line."""

from __future__ import annotations

import pytest

from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.cli.label_screen import wrapped_whole


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("0123456789abcde", ["  0123456789abcde"]),
        ("0123456789abcdef", ["  0123456789abcde", "  f"]),
        ("word 0123456789abcdef0123456789abcde", ["  word", "  0123456789abcde", "  f0123456789abcd", "  e"]),
        ("中文中文中文中文", ["  中文中文中文中", "  文"]),
    ],
    ids=["just fits", "one too many", "three pieces", "two columns each"],
)
def test_a_word_that_is_longer_than_a_line_is_cut_where_the_line_ends(text, lines):
    assert wrapped_whole(text, Screen(width=17), "  ", "  ") == lines
