"""Escape text from outside for the terminal, CI logs, HTML, Markdown and a stream's encoding."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.base import escape
from pytest_irmetrics.base.escape import (
    code_markdown,
    escape_html,
    escape_markdown,
    escape_terminal,
    is_ascii_only,
    to_stream,
)
from pytest_irmetrics.base.numbers import MINUS

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
        ("\ufdd0\ufdef\U0001fffe\U0010ffff", r"\ufdd0\ufdef\U0001fffe\U0010ffff"),
        ("\ufdcf\u0378", "\ufdcf\u0378"),  # not assigned, as emoji younger than this Python are
        ("\u3164", r"\u3164"),
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


@given(anything | hostile)
def test_html_text_comes_back_as_it_was_shown(given_text):
    shown = escape_html(given_text)
    assert not re.search(r"""[<>"']""", shown)
    assert html.unescape(shown) == escape._escape_invisible(given_text)


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
        ("a`", "`` a` ``"),
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
        (f"{MINUS}0.1 ≤ … → 2×3 ≥", "ascii", "-0.1 <= ... -> 2x3 >="),
        ("… é", "latin-1", "... é"),
        ("é中👍", "ascii", r"\xe9\u4e2d\U0001f44d"),
        ("é", None, r"\xe9"),
        ("é", "no-such-codec", r"\xe9"),
        ("é", "hex", r"\xe9"),
        ("é", "undefined", r"\xe9"),
        ("é", "bad\0name", r"\xe9"),
        ("\ud800", "utf-8", r"\ud800"),
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
