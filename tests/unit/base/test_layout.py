"""Measure, cut, pad and align text by the cells of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.base.escape import (
    escape_terminal,
)
from pytest_irmetrics.base.layout import display_width, pad, shorten, table
from pytest_irmetrics.base.numbers import MINUS

anything = st.text(st.characters(), max_size=40)


@pytest.mark.parametrize(
    ("given_text", "cells"),
    [
        ("abc", 3),
        ("中文", 4),
        ("\uff21", 2),
        ("ｱ", 1),
        ("e\u0301", 1),
        ("👍", 2),
        ("\u2764\ufe0f", 2),
        ("\u2764", 1),
        ("각", 2),
        ("\u1100\u1161\u11a8", 2),
        ("\U0001fae9", 2),
        (f"…{MINUS}→", 3),
        ("", 0),
    ],
)
def test_cells_on_a_terminal(given_text, cells):
    assert display_width(given_text) == cells


@pytest.mark.parametrize(
    ("given_text", "width", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abc def", 5, "abc…"),
        ("中文字", 5, "中文…"),
        ("中文字", 4, "中…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("abcdef", -3, ""),
    ],
)
def test_shortening_counts_cells(given_text, width, shown):
    assert shorten(given_text, width) == shown


def test_shortening_in_ascii_and_in_the_middle():
    assert shorten("abcdefgh", 6, ascii_only=True) == "abc..."
    assert shorten("abcdefgh", 2, ascii_only=True) == ".."
    assert shorten("https://docs.example/guide/install", 15, middle=True) == "https:/…install"
    assert shorten("abcdefghijk", 3, middle=True) == "a…k"
    assert shorten("abcdefe\u0301", 4, middle=True) == "ab…e\u0301"
    assert shorten("abcdefge\u0301", 2, middle=True) == "a…"


@given(anything.map(escape_terminal), st.integers(0, 30), st.booleans(), st.booleans())
def test_shortened_text_fits(given_text, width, ascii_only, middle):
    shown = shorten(given_text, width, ascii_only=ascii_only, middle=middle)
    assert display_width(shown) <= width
    if display_width(given_text) <= width:
        assert shown == given_text


def test_padding_counts_cells():
    assert pad("中", 4) == "中  "
    assert pad("中", 4, ">") == "  中"
    assert pad("ab", 5, "^") == " ab  "
    assert pad("too long", 3) == "too long"


def test_columns_line_up():
    assert table(
        [("metric", "now", "verdict"), ("ndcg@10", "0.81", "ok"), ("召回率", "0.9", "低")], "<><"
    ) == [
        "metric    now  verdict",
        "ndcg@10  0.81  ok",
        "召回率    0.9  低",
    ]


def test_an_empty_column_takes_no_room_and_an_empty_row_is_an_empty_line():
    assert table([("a", "", "b"), (), ("c",)], "<<<") == ["a  b", "", "c"]
    assert table([], "<<") == []


def test_the_widest_text_is_cut_first_and_numbers_never():
    rows = [("how do I reset the password of my account", "0.123456789", "short reason")]
    assert table(rows, "<><", 50) == ["how do I reset the pas…  0.123456789  short reason"]
    assert table(rows, "<><", 50, whole=[0]) == [
        "how do I reset the password of my account",
        "  0.123456789  short reason",
    ]
    assert table(rows, "<><", 40, ascii_only=True) == ["how do I r...  0.123456789  short reason"]
    assert table(rows, "<><", 40) == ["how do I res…  0.123456789  short reason"]


def test_two_long_columns_share_the_loss():
    [line] = table([("a" * 60, "b" * 60)], "<<", 60)
    assert line == "a" * 28 + "…  " + "b" * 28 + "…"


def test_what_does_not_fit_goes_on_in_a_second_line():
    rows = [
        ("metric", "now", "baseline", "delta", "verdict"),
        ("ndcg@10", "0.81234", "0.823456", "+0.01", "ok"),
    ]
    assert table(rows, "<>>><", 30) == [
        "metric       now  baseline",
        "  delta  verdict",
        "ndcg@10  0.81234  0.823456",
        "  +0.01  ok",
    ]


def test_a_line_is_full_only_with_its_gaps():
    rows = [("1" * 20, "2" * 18)]
    assert table(rows, ">>", 40) == ["1" * 20 + "  " + "2" * 18]
    assert table(rows, ">>", 39) == ["1" * 20, "  " + "2" * 18]
    assert table(rows, ">>", 30) == ["1" * 20, "  " + "2" * 18]


@given(
    st.lists(st.lists(anything.map(escape_terminal), max_size=5), max_size=5),
    st.text("<>^", min_size=5, max_size=5),
    st.integers(40, 90),
    st.booleans(),
)
def test_no_line_is_longer_than_the_screen(rows, align, width, ascii_only):
    for line in table(rows, align, width, ascii_only=ascii_only):
        assert display_width(line) <= width
