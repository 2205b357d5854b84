"""Text for a reader: made safe, measured, cut, laid out and worded.  Data in, text out; only the standard library.

What came from a file or from a retriever goes through one of the `escape_…` functions first, then through
`to_stream` where the stream may not be able to show it, and only then into `shorten`, `pad` and `table`: those measure
what they are given.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar
from unicodedata import category, east_asian_width

from pytest_irmetrics.base.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

T = TypeVar("T")

MINUS = "\N{MINUS SIGN}"

SLACK = 1e-9
"""What every comparison allows for floating point; numbers that differ by less may print alike."""

_MARKS_IN_A_ROW = 8  # Tibetan and Vietnamese need fewer; text made to overflow its line ("zalgo") needs more

# Blank on a screen although Unicode does not class them as format characters.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

# A log reader of GitHub obeys `::name::` at the start of a line, after blanks; `##[name]`, and Azure's and TeamCity's
# `##vso[` and `##teamcity[`, it obeys wherever they stand.
_CI_COMMAND = re.compile(r"(?<!\S)::|##(?=[A-Za-z0-9_.-]{0,40}\[)")

_LOOK_ALIKES = {
    "…": "...",
    "\N{MINUS SIGN}": "-",
    "\N{EN DASH}": "-",
    "—": "-",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "“": '"',
    "”": '"',
    "→": "->",
    "←": "<-",
    "↑": "^",
    "↓": "v",
    "⇒": "=>",
    "\N{MULTIPLICATION SIGN}": "x",
    "·": ".",
    "•": "*",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "~",
    "±": "+/-",
    "Δ": "delta",
    "∆": "delta",
    "\N{GREEK SMALL LETTER ALPHA}": "alpha",
    "\N{GREEK SMALL LETTER SIGMA}": "sigma",
    "✓": "ok",
    "✔": "ok",
    "✗": "x",
    "✘": "x",
    "─": "-",
    "━": "-",
    "│": "|",
    "┃": "|",
    "├": "|",
    "└": "`",
    "\N{NO-BREAK SPACE}": " ",
    "\N{FIGURE SPACE}": " ",
    "\N{THIN SPACE}": " ",
    "\N{NARROW NO-BREAK SPACE}": " ",
}


def escape_terminal(text: str) -> str:
    r"""Make `text` safe for one line of a terminal and of a CI log.

    Control characters, ANSI sequences, bidirectional controls, line and paragraph separators, lone surrogates and
    whatever else cannot be seen become what Python would write for them (`\n`, `\x1b`, `\u202e`).  Log commands
    stay readable and are no longer obeyed: `:\:error`, `#\#[error]`, `#\#vso[`.
    """
    shown = _visible(text)
    if "::" in shown or "##" in shown:
        return _CI_COMMAND.sub(lambda found: rf"{found[0][0]}\{found[0][1]}", shown)
    return shown


def printed_as(line: str, ids: Iterable[str]) -> str | None:
    r"""Return the id that messages print so, on one line (``how\ndo I``); None where it is none of these, or several."""
    if "\\" not in line:
        return None
    found = {one for one in ids if line in (escape_terminal(one), printable(one))}
    return found.pop() if len(found) == 1 else None


def escape_html(text: str) -> str:
    """Make `text` safe inside an HTML element and inside a quoted attribute; what cannot be seen is written out."""
    return _visible(text).translate(_HTML)


_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_MARKDOWN = str.maketrans(
    # GitHub takes `$` for the start of a formula before it looks at backslashes.
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"} | {sign: "\\" + sign for sign in r"\`*_[]#|~"}
)
# What GitHub turns into a link, a mention or an emoji only after Markdown is rendered, where a backslash is long gone.
_LINKED = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=//)|\bwww(?=\.)|:(?=[\w+-]+:)", re.IGNORECASE)
_BREAK = "\ue000"  # stands for a zero-width space until the rest is escaped


def escape_markdown(text: str) -> str:
    """Make `text` plain words in GitHub's Markdown, in a table's cell too.

    Nothing in it is formatted, linked, mentioned or taken for a cell's end.  Links are broken by a zero-width space;
    what a reader may want to copy, such as an id, is better served by `code_markdown`.
    """
    shown = _visible(text).replace(_BREAK, r"\ue000")
    shown = _LINKED.sub(lambda found: found[0] + _BREAK, shown).translate(_MARKDOWN)
    # Not in a cell, but where a line begins with this text, it could begin a list or underline a heading.
    shown = re.sub(r"^(\s*)(\d*)([-+=.)])", r"\1\2\\\3", shown)
    return shown.replace(_BREAK, "&#8203;")


def code_markdown(text: str) -> str:
    """`text` as a code span of GitHub's Markdown, for a table's cell: exact, to be copied, never a link."""
    shown = _visible(text)
    if not shown:
        return ""
    if r"\|" in shown:  # renderers differ on whether this ends a cell
        return f"<code>{escape_markdown(text)}</code>"
    longest = max((len(ticks) for ticks in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    # One blank on each side is stripped again, and needed where the text itself begins or ends with a tick or a blank.
    blank = " " if shown[0] in "` " or shown[-1] in "` " else ""
    # A cell ends at a pipe even within code, where no other backslash is taken off.
    return f"{fence}{blank}{shown}{blank}{fence}".replace("|", r"\|")


def _visible(text: str) -> str:
    if text.isprintable() and text.isascii():
        return text
    shown = []
    marks = _MARKS_IN_A_ROW  # a mark with nothing to stand on would sit on whatever is printed before it
    for sign in text:
        kind = category(sign)
        if kind in ("Mn", "Me") and sign not in _BLANKS:
            marks += 1
            shown.append(_written(sign) if marks > _MARKS_IN_A_ROW else sign)
            continue
        hidden = kind in _HIDDEN or sign in _BLANKS or (kind == "Cn" and _is_noncharacter(ord(sign)))
        shown.append(_written(sign) if hidden else sign)
        marks = 0
    return "".join(shown)


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _written(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def to_stream(text: str, encoding: str | None) -> str:
    r"""Replace what a stream of this encoding cannot print; an unknown encoding counts as ASCII.

    Typographic signs become ASCII look-alikes (`…` → `...`, `→` → `->`, `Δ` → `delta`); other letters are never replaced by
    others but written out (`é` → `\xe9`), so that an id stays recognisable.
    """
    if text.isascii():
        return text
    if _encodes(text, encoding):
        return text
    shown = []
    for sign in text:
        if sign.isascii() or _encodes(sign, encoding):
            shown.append(sign)
        else:
            shown.append(_LOOK_ALIKES.get(sign) or _written(sign))
    return "".join(shown)


def _encodes(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "ascii")
    except (LookupError, ValueError):  # UnicodeError is a ValueError; an unknown codec is a LookupError
        return False
    return True


def is_ascii_only(encoding: str | None) -> bool:
    """Whether a stream of this encoding lacks the few signs that a report is made of (ellipsis, minus, arrow)."""
    return not _encodes(f"…{MINUS}→", encoding)


def display_width(text: str) -> int:
    """Terminal cells that `text` takes: wide and fullwidth characters and emoji 2, combining marks 0, all else 1."""
    if text.isascii():
        return len(text)
    return sum(_cells(text))


def _cells(text: str) -> list[int]:
    cells: list[int] = []
    for sign in text:
        if sign.isascii():
            cells.append(1)
        elif sign == "\ufe0f" and cells and cells[-1] == 1 and category(text[len(cells) - 1]) == "So":
            cells.append(1)  # asks for the colourful, wide form of the sign before it
        else:
            cells.append(_cells_of_one(sign))
    return cells


def _cells_of_one(sign: str) -> int:
    code = ord(sign)
    kind = category(sign)
    if (
        kind in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11FF
    ):  # the latter: vowels and finals of Korean syllables
        return 0
    if east_asian_width(sign) in ("W", "F"):
        return 2
    # Emoji that are younger than this Python's tables.
    return 2 if kind == "Cn" and 0x1F300 <= code <= 0x1FAFF else 1


def shorten(text: str, width: int, *, ascii_only: bool = False, middle: bool = False) -> str:
    """`text` cut to at most `width` cells, with `…` (`...` in ASCII) for what is left out.

    `middle` cuts there instead of at the end, for ids, which often differ at their ends alone.
    """
    if display_width(text) <= width:
        return text
    dots = "..." if ascii_only else "…"
    room = width - len(dots)
    if room <= 0:
        return dots[: max(width, 0)]
    cells = _cells(text)
    tail_room = room // 2 if middle else 0
    head = _fitting(cells, room - tail_room)
    tail = _fitting(cells[::-1], tail_room)
    while tail and not cells[len(text) - tail]:
        tail -= 1  # a mark belongs to the sign before it, which is cut off
    if tail:
        return f"{text[:head]}{dots}{text[len(text) - tail :]}"
    return text[:head].rstrip(" ") + dots


def _fitting(cells: Sequence[int], room: int) -> int:
    """How many characters fit into `room` cells."""
    return bisect(list(accumulate(cells)), room)


def pad(text: str, width: int, align: str = "<") -> str:
    """`text` filled with blanks to `width` cells: `<` left, `>` right, `^` centred.  Wider text stays as it is."""
    missing = max(width - display_width(text), 0)
    if align == ">":
        return " " * missing + text
    if align == "^":
        return " " * (missing // 2) + text + " " * (missing - missing // 2)
    return text + " " * missing


def table(
    rows: Sequence[Sequence[str]],
    align: str,
    max_width: int = 80,
    *,
    ascii_only: bool = False,
    whole: Collection[int] = (),
    gap: int = 2,
) -> list[str]:
    """Rows of cells → lines of at most `max_width` cells in which the columns line up.

    `align` has one of `<`, `>`, `^` a column.  When the lines are too long, the widest left-aligned column is cut
    first, never those in `whole`, and never a right-aligned one: half a number is another number.  What still does
    not fit goes on in a second, indented line a row.  A row may be short; an empty one is an empty line.
    """
    columns = len(align)
    texts = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = [max((display_width(row[column]) for row in texts), default=0) for column in range(columns)]
    # A column without any text takes no room.
    used = [column for column in range(columns) if widths[column]]
    cuttable = [column for column in used if align[column] == "<" and column not in whole]
    room = max_width - gap * (len(used) - 1)
    widths = _shrunk(widths, cuttable, sum(widths) - room)
    bands = _bands(widths, used, max_width, gap)
    lines = []
    for row in texts:
        if not any(row):
            lines.append("")
            continue
        for number, band in enumerate(bands):
            indent = "  " if number else ""
            cells = [
                pad(
                    shorten(row[column], widths[column], ascii_only=ascii_only), widths[column], align[column]
                )
                for column in band
            ]
            line = indent + (" " * gap).join(cells).rstrip(" ")
            if line.strip(" ") or not number:
                lines.append(line)
    return lines


_NARROWEST = 10  # cells that a cut text keeps before the row is broken instead


def _shrunk(widths: list[int], cuttable: Sequence[int], excess: int) -> list[int]:
    """Give widths that are less by `excess` cells, or those given where texts would be cut beyond use."""
    narrower = widths.copy()
    while excess > 0:
        widest = max((narrower[column] for column in cuttable), default=0)
        if widest <= _NARROWEST:
            return widths
        # Down to the next widest, so that two long columns share the loss.
        longest = [column for column in cuttable if narrower[column] == widest]
        floor = max((narrower[column] for column in cuttable if narrower[column] < widest), default=0)
        step = max(min(excess // len(longest), widest - max(floor, _NARROWEST)), 1)
        for column in longest:
            taken = min(step, excess)
            narrower[column] -= taken
            excess -= taken
    return narrower


def _bands(widths: list[int], used: Sequence[int], max_width: int, gap: int) -> list[list[int]]:
    """Split the columns into as many lines as they need."""
    bands: list[list[int]] = [[]]
    taken = 0
    for column in used:
        indent = 2 if len(bands) > 1 else 0
        if bands[-1] and taken + gap + widths[column] > max_width:
            bands.append([])
            indent = 2
            taken = 0
        # Even a number must be cut where it alone is wider than the screen.
        start = taken + gap if bands[-1] else indent
        widths[column] = max(min(widths[column], max_width - start), 1)
        bands[-1].append(column)
        taken = start + widths[column]
    return bands


def score_text(value: float | None, *against: float | None, digits: int = 4) -> str:
    """`value` with `digits` decimals, or more where it would else print like a number that it differs from.

    0.79996 is `0.8000`, but beside a limit of 0.8 it is `0.79996`; the limit beside it then is `0.80000`
    (`score_text(0.8, 0.79996)`).  Differences of up to 1e-9 count as none, as in every gate.  None is `-`.
    """
    if value is None:
        return "-"
    if not math.isfinite(value):
        return str(value).replace("-", MINUS)
    others = [
        other
        for other in against
        if other is not None and math.isfinite(other) and abs(other - value) > SLACK
    ]
    large = max(map(abs, (value, *others))) >= 1e9
    for places in range(max(digits, 6) if large else digits, max(digits, 17) + 1):
        shown = _rounded(value, places, large=large)
        if all(shown != _rounded(other, places, large=large) for other in others):
            break
    return shown.replace("-", MINUS, 1) if shown.startswith("-") else shown


def _rounded(value: float, places: int, *, large: bool) -> str:
    shown = f"{value:.{places}g}" if large else f"{value:.{places}f}"
    return shown.lstrip("-") if not shown.strip("-0.") else shown


def signed_text(delta: float | None, *against: float | None, digits: int = 4) -> str:
    """Print a difference with its sign, `+0.0100`, with a real minus sign, and with as many digits as `score_text` would give it.

    What is no more than floating-point noise has no sign; a small difference that prints as zeros keeps its own.
    """
    if delta is None or math.isnan(delta):
        return score_text(delta)
    sign = "" if abs(delta) <= SLACK else MINUS if delta < 0 else "+"
    return sign + score_text(
        abs(delta), *(abs(other) for other in against if other is not None), digits=digits
    )


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 query`, `3,900 queries`; without `many`, an s is added."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(items: Sequence[T], most: int = 10, word: Callable[[T], str] = str, between: str = ", ") -> str:
    """Name the first few of some items, ids unless `word` words them, and how many more there are."""
    shown = between.join(map(word, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
