"""Text from outside in messages: on one line, and no longer than a reader needs."""

from __future__ import annotations

import pytest

from pytest_irmetrics.base.wording import cut, joined, listed, plural, printable, quote

HOSTILE = "a\nb\x1b[2J\u202ec\u2028d\ud800"


@pytest.mark.parametrize("text", [HOSTILE, "\x00", "\x85"])
def test_nothing_moves_a_cursor_or_breaks_the_line(text):
    for shown in (printable(text), quote(text)):
        assert shown.isprintable()
        assert shown.encode("utf-8")


def test_what_prints_as_itself_stays():
    assert printable("blåbær 蓝莓 it's") == "blåbær 蓝莓 it's"
    assert quote("blåbær 蓝莓") == "'blåbær 蓝莓'"
    assert quote("it's") == '"it\'s"'


def test_a_long_text_is_cut():
    assert quote("x" * 60) == repr("x" * 60)
    assert quote("x" * 61) == repr("x" * 59 + "…")
    assert quote("x" * 61, 200) == repr("x" * 61)


def test_counting_words():
    assert plural(1, "query", "queries") == "1 query"
    assert plural(3900, "query", "queries") == "3,900 queries"
    assert plural(0, "document") == "0 documents"


def test_lists_in_words():
    assert [joined(words) for words in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert listed(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert listed(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert listed("abc", 2, str.upper, "; ") == "A; B and 1 more"
    assert listed([]) == ""


def test_a_text_without_quotes_is_cut_too():
    assert cut("x" * 30) == "x" * 30
    assert cut("x" * 31) == "x" * 29 + "…"
    assert cut("abcd", 3) == "ab…"
