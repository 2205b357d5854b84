"""Make text from outside safe for where it goes: terminal, CI log, HTML, Markdown, and the stream's encoding.

What came from a file or from a retriever goes through one of the `escape_…` functions first, then through
`to_stream` where the stream may not be able to show it, and only then into `base.screen`, which measures what it is given.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from unicodedata import category

from pytest_irmetrics.base.numbers import MINUS
from pytest_irmetrics.base.wording import printable

# Blank on a screen although Unicode does not class them as format characters.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

# A log reader of GitHub obeys `::name::` at the start of a line, after blanks; `##[name]`, and Azure's and TeamCity's
# `##vso[` and `##teamcity[`, it obeys wherever they stand.
_CI_COMMAND = re.compile(r"(?<!\S)::|##(?=[A-Za-z0-9_.-]{0,40}\[)")

_LOOK_ALIKES = str.maketrans(
    {"…": "...", MINUS: "-", "→": "->", "×": "x", "≤": "<=", "≥": ">=", "✗": "!"}
) | str.maketrans("▁▂▃▄▅▆▇█", "_.-=+*#@")
"""What reports are made of, in ASCII."""


def escape_terminal(text: str) -> str:
    r"""Make `text` safe for one line of a terminal and of a CI log.

    Control characters, ANSI sequences, bidirectional controls, line and paragraph separators, lone surrogates and
    whatever else cannot be seen become what Python would write for them (`\n`, `\x1b`, `\u202e`).  Log commands
    stay readable and are no longer obeyed: `:\:error`, `#\#[error]`, `#\#vso[`.
    """
    return _CI_COMMAND.sub(lambda found: rf"{found[0][0]}\{found[0][1]}", _escape_invisible(text))


def break_ci_commands(text: str) -> str:
    """Return `text` without log commands, for names that other programs print: `#_#vso[`, `:_:error`.

    A backslash, which `escape_terminal` uses, is not safe in a test's name: pytest doubles it.
    """
    return _CI_COMMAND.sub(lambda found: f"{found[0][0]}_{found[0][1]}", text)


def id_printed_as(printed: str, ids: Iterable[str]) -> str | None:
    r"""Return the id that messages print, escaped, as `printed` (``how\ndo I``); None where none or several of `ids` are."""
    found = {one for one in ids if printed in (escape_terminal(one), printable(one))}
    return found.pop() if len(found) == 1 else None


def escape_html(text: str) -> str:
    """Make `text` safe inside an HTML element and inside a quoted attribute; what cannot be seen is written out."""
    return html.escape(_escape_invisible(text))


_MARKDOWN = str.maketrans(
    # GitHub takes `$` for the start of a formula before it looks at backslashes.
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "\u200b": "&#8203;"}
    | {char: "\\" + char for char in r"\`*_[]#|~"}
)
# What GitHub turns into a link, a mention or an emoji only after Markdown is rendered, where a backslash is long gone.
_LINKED = r"(?i)@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=//)|\bwww(?=\.)|:(?=[\w+-]+:)"


_CODE = "(?<!`)`([^`]+)`(?!`)"
"""What a message has in backticks."""


def escape_markdown(text: str) -> str:
    """Make `text` plain words in GitHub's Markdown, in a table's cell too, in which only what it has in backticks is code.

    Nothing else in it is formatted, linked, mentioned or taken for a cell's end.  Links are broken by a zero-width space;
    what a reader may want to copy, such as an id, is better served by `code_markdown`.
    """
    parts = enumerate(re.split(_CODE, text))  # words and code by turns
    shown = "".join(code_markdown(one, in_cell=True) if n % 2 else _plain_markdown(one) for n, one in parts)
    # Not in a cell, but where a line begins with this text, it could begin a list or underline a heading.
    return re.sub(r"^(\s*)(\d*)([-+=.)])", r"\1\2\\\3", shown)


def _plain_markdown(text: str) -> str:
    # The only zero-width spaces are then those that break a link.
    return re.sub(_LINKED, "\\g<0>\u200b", _escape_invisible(text)).translate(_MARKDOWN)


def code_markdown(text: str, *, in_cell: bool) -> str:
    """Return `text` as a code span of GitHub's Markdown, also for a table's cell: exact, to be copied, never a link."""
    shown = _escape_invisible(text)
    if in_cell and r"\|" in shown:  # renderers differ on whether this ends a cell
        return f"<code>{_plain_markdown(text)}</code>"
    longest = max((len(ticks) for ticks in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    # One blank on each side is stripped again, and needed where the text itself begins or ends with a tick or a blank.
    blank = " " if shown[:1] in "` " or shown[-1:] in "` " else ""
    # A cell ends at a pipe even within code, where no other backslash is taken off.
    code = f"{fence}{blank}{shown}{blank}{fence}"
    return code.replace("|", r"\|") if in_cell else code


def _escape_invisible(text: str) -> str:
    """Write out what cannot be seen."""
    if text.isprintable() and text.isascii():
        return text
    return "".join([c.encode("unicode_escape").decode("ascii") if is_invisible(c) else c for c in text])


def is_invisible(char: str) -> bool:
    """Say whether a character cannot be seen: control and format characters, blank letters."""
    return category(char) in _HIDDEN or char in _BLANKS


def to_stream(text: str, encoding: str | None) -> str:
    r"""Return text in ASCII where a stream of this encoding cannot print it; one without an encoding counts as ASCII.

    What reports are made of has a look-alike (`…` → `...`, `→` → `->`); all else is written out (`é` → `\xe9`).
    """
    try:
        text.encode(encoding or "ascii")
    except UnicodeError:
        return text.translate(_LOOK_ALIKES).encode("ascii", "backslashreplace").decode()
    return text
