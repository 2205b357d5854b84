"""What a reader gets to see: inert, inside its column, and never at odds with the verdict."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.base import escape as room
from pytest_irmetrics.base.escape import (
    code_markdown,
    escape_html,
    escape_markdown,
    escape_terminal,
    is_ascii_only,
    to_stream,
)
from pytest_irmetrics.base.layout import display_width, pad, shorten, table
from pytest_irmetrics.base.numbers import MINUS, score_text, signed_text
from pytest_irmetrics.base.wording import plural

anything = st.text(st.characters(), max_size=40)
hostile = st.lists(
    st.sampled_from(
        [
            "::",
            "##",
            "#",
            "[",
            "error",
            "vso",
            "]",
            " ",
            "\t",
            "\n",
            "\r",
            "\x1b[31m",
            "\u202e",
            "\u2028",
            "\ud800",
            "\u200d",
            "\u0301",
            "|",
            "`",
            "<b>",
            "&",
            "@who",
            "#12",
            "中",
            "é",
            "\xa0",
            "\\",
            "-",
            "a",
        ]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("plain words, ümlaut, 中文, 👍", "plain words, ümlaut, 中文, 👍"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("\x00\x7f\x85", r"\x00\x7f\x85"),
        ("abc\u202edef\u2066", r"abc\u202edef\u2066"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\ud83d", r"\ud83d"),
        ("\ufeffid", r"\ufeffid"),
        ("so\xadft\u200bware", r"so\xadft\u200bware"),
        ("\U000e0041", r"\U000e0041"),
        ("\ufffe", r"\ufffe"),
        ("\u3164", r"\u3164"),
        ("\u0301a", r"\u0301a"),
        ("e\u0301", "e\u0301"),
        ("Việt Nam, สวัสดี, हिन्दी", "Việt Nam, สวัสดี, हिन्दी"),
        ("::error::boo", r":\:error::boo"),
        ("  ::add-mask::x", r"  :\:add-mask::x"),
        ("see ::error file=a::b", r"see :\:error file=a::b"),
        ("\xa0::error::", "\xa0" + r":\:error::"),
        ("std::vector", "std::vector"),
        ("a ##[group]b", r"a #\#[group]b"),
        ("##vso[task.setvariable]x", r"#\#vso[task.setvariable]x"),
        ("###[error]", r"##\#[error]"),
        ("## heading", "## heading"),
        ("", ""),
    ],
)
def test_what_a_terminal_or_a_ci_log_would_obey_is_shown_instead(given_text, shown):
    assert escape_terminal(given_text) == shown


@given(anything | hostile)
def test_terminal_text_is_one_visible_line_that_no_log_obeys(given_text):
    shown = escape_terminal(given_text)
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in shown)
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029")
    assert len(f"|{shown}|".splitlines()) == 1
    assert not re.match(r"\s*::", shown)
    assert not re.search(r"##[\w.-]{0,40}\[", shown, re.ASCII)
    shown.encode()
    assert escape_terminal(shown) == shown


def test_a_tower_of_marks_cannot_leave_its_line():
    shown = escape_terminal("a" + "\u0301" * 50)
    assert shown.startswith("a" + "\u0301" * 8 + r"\u0301")
    assert display_width(shown) == 1 + 42 * len(r"\u0301")


@given(anything | hostile)
def test_html_text_comes_back_as_it_was_shown(given_text):
    shown = escape_html(given_text)
    assert not re.search(r"""[<>"']""", shown)
    assert html.unescape(shown) == room._visible(given_text)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("`x`", r"\`x\`"),
        ("[a](b)", r"\[a\](b)"),
        ("![a](b)", r"!\[a\](b)"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("a & &amp; b", "a &amp; &amp;amp; b"),
        ("a\nb", r"a\\nb"),
        ("*a* _b_ ~~c~~", r"\*a\* \_b\_ \~\~c\~\~"),
        ("hi @team", "hi @&#8203;team"),
        ("me@home.org", "me@&#8203;home.org"),
        ("see #12 and GH-7", r"see \#&#8203;12 and GH-&#8203;7"),
        ("https://x.y", "https:&#8203;//x.y"),
        ("www.x.y", "www&#8203;.x.y"),
        (":tada:", ":&#8203;tada:"),
        ("1. first", r"1\. first"),
        ("- first", r"\- first"),
        ("===", r"\==="),
        ("# head", r"\# head"),
        ("$x$", "&#36;x&#36;"),
        ("\ue000", "\\\\ue000"),
        ("doc-12", "doc-12"),
        ("C:\\new", "C:\\\\new"),
    ],
)
def test_markdown_text_is_words_and_nothing_else(given_text, shown):
    assert escape_markdown(given_text) == shown


@given(anything | hostile)
def test_markdown_stays_in_its_cell(given_text):
    for shown in (escape_markdown(given_text), code_markdown(given_text)):
        assert len(f"x{shown}x".splitlines()) == 1
        assert not re.search(r"(?<!\\)\|", shown.replace(r"\\", ""))
    assert not set("<>") & set(escape_markdown(given_text))


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("doc-12", "`doc-12`"),
        ("https://x/#1|2", r"`https://x/#1\|2`"),
        ("a`b", "``a`b``"),
        ("`b``", "``` `b`` ```"),
        (" a ", "`  a  `"),
        ("a\\|b", r"<code>a\\\|b</code>"),
        ("", ""),
    ],
)
def test_code_spans_hold_any_id(given_text, shown):
    assert code_markdown(given_text) == shown


@pytest.mark.parametrize(
    ("given_text", "encoding", "shown"),
    [
        ("a … b", "utf-8", "a … b"),
        ("a … → Δ ✓", "ascii", "a ... -> delta ok"),
        (f"{MINUS}0.1 ≤ ±1", "ascii", "-0.1 <= +/-1"),
        ("… é", "latin-1", "... é"),
        ("é中👍", "ascii", r"\xe9\u4e2d\U0001f44d"),
        ("é", None, r"\xe9"),
        ("é", "no-such-codec", r"\xe9"),
        ("é", "hex", r"\xe9"),
        ("é", "undefined", r"\xe9"),
        ("é", "bad\0name", r"\xe9"),
        ("\ud800", "utf-8", r"\ud800"),
        ("— “quoted” —", "cp437", '- "quoted" -'),
    ],
)
def test_a_stream_gets_what_it_can_show(given_text, encoding, shown):
    assert to_stream(given_text, encoding) == shown


@given(anything, st.sampled_from(["ascii", "latin-1", "cp1252", "cp437", "utf-8", "koi8-r", "shift_jis"]))
def test_a_stream_never_meets_what_it_cannot_encode(given_text, encoding):
    to_stream(given_text, encoding).encode(encoding)


def test_which_streams_need_ascii():
    assert is_ascii_only("ascii")
    assert is_ascii_only("cp1252")
    assert is_ascii_only(None)
    assert not is_ascii_only("utf-8")


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


@pytest.mark.parametrize(
    ("value", "against", "shown"),
    [
        (0.8123456, [], "0.8123"),
        (0.79996, [], "0.8000"),
        (0.79996, [0.8], "0.79996"),
        (0.8, [0.79996], "0.80000"),
        (0.7999999999, [0.8], "0.8000"),
        (0.799999998, [0.8], "0.799999998"),
        (0.8, [None], "0.8000"),
        (0.00001, [0], "0.00001"),
        (None, [], "-"),
        (float("inf"), [1.0], "inf"),
        (float("-inf"), [], f"{MINUS}inf"),
        (float("nan"), [], "nan"),
        (-0.25, [], f"{MINUS}0.2500"),
        (-0.00001, [], "0.0000"),
        (0.5, [float("nan"), float("inf")], "0.5000"),
        (1e300, [], "1e+300"),
        (1234567891.0, [1234567892.0], "1234567891"),
    ],
)
def test_a_number_never_prints_like_one_it_differs_from(value, against, shown):
    assert score_text(value, *against) == shown


@given(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6),
)
def test_printed_numbers_stand_in_the_order_of_the_real_ones(first, second):
    printed = [
        float(score_text(one, other).replace(MINUS, "-")) for one, other in ((first, second), (second, first))
    ]
    if first < second - 1e-8:
        assert printed[0] < printed[1]


def test_digits_can_be_fewer():
    assert score_text(12.34, digits=1) == "12.3"
    assert score_text(12.34, 12.33, digits=1) == "12.34"


@pytest.mark.parametrize(
    ("delta", "against", "shown"),
    [
        (-0.0267, [], f"{MINUS}0.0267"),
        (0.01, [], "+0.0100"),
        (0.0, [], "0.0000"),
        (1e-12, [], "0.0000"),
        (-0.00001, [], f"{MINUS}0.0000"),
        (-0.01004, [0.01], f"{MINUS}0.01004"),
        (None, [], "-"),
        (float("nan"), [], "nan"),
    ],
)
def test_a_difference_shows_its_sign(delta, against, shown):
    assert signed_text(delta, *against) == shown


def test_counting_words():
    assert plural(1, "query", "queries") == "1 query"
    assert plural(3900, "query", "queries") == "3,900 queries"
    assert plural(0, "document") == "0 documents"
