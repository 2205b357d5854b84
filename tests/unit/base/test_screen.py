"""Lines that fit a terminal."""

from __future__ import annotations

import pytest

from pytest_irmetrics.base.screen import Screen

TEXT = "the quick brown fox jumps"


def test_what_is_in_backticks_is_kept_on_one_line():
    assert Screen(width=12).wrapped("run `git log -p`, then `a b` or c d e f") == [
        "run",
        "`git log -p`,",
        "then `a b`",
        "or c d e f",
    ]
    assert Screen(width=6).wrapped("a ` b c d e") == ["a ` b", "c d e"]


def test_text_is_wrapped_between_words():
    assert Screen(width=10).wrapped(TEXT) == ["the quick", "brown fox", "jumps"]
    assert Screen(width=9).wrapped(TEXT) == ["the quick", "brown fox", "jumps"]
    assert Screen(width=8).wrapped(TEXT) == ["the", "quick", "brown", "fox", "jumps"]
    assert Screen().wrapped(TEXT) == [TEXT]
    assert Screen().wrapped("") == [""]


def test_lines_are_indented_all_alike_or_all_but_the_first():
    assert Screen(width=12).wrapped(TEXT, "  ") == ["  the quick", "  brown fox", "  jumps"]
    assert Screen(width=12).wrapped(TEXT, "  ", "    ") == [
        "  the quick",
        "    brown",
        "    fox",
        "    jumps",
    ]


def test_a_word_that_is_too_long_stands_alone():
    assert Screen(width=5).wrapped("a " + "x" * 9 + " b") == ["a", "x" * 9, "b"]
    assert Screen(width=5).wrapped("x" * 9, "  ") == ["  " + "x" * 9]


def test_wide_characters_take_two_cells():
    assert Screen(width=5).wrapped("中文 中文") == ["中文", "中文"]
    assert Screen(width=9).wrapped("中文 中文") == ["中文 中文"]


@pytest.mark.parametrize(
    ("encoding", "line", "cut"),
    [("utf-8", r"a → b\nc", "a →…"), ("ascii", r"a -> b\nc", "a..."), (None, r"a -> b\nc", "a...")],
)
def test_a_line_is_safe_and_one_that_the_stream_can_encode(encoding, line, cut):
    screen = Screen(5, encoding)
    assert screen.ascii_only is (encoding != "utf-8")
    assert screen.line("a → b\nc") == line
    assert screen.cut("a → b\nc") == cut
    assert screen.cut("a → b\nc", 40) == line
    assert screen.cut("a → b\nc", 0) == ""
    assert (Screen().width, Screen().encoding) == (80, "utf-8")
