"""Text for a terminal: measured by the cells that it takes, cut, wrapped, laid out as a table; lines with a colour."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import NamedTuple
from unicodedata import category, east_asian_width

from pytest_irmetrics.base.escape import escape_terminal, to_stream


def display_width(text: str) -> int:
    """Return the terminal cells that `text` takes: wide and fullwidth characters and emoji 2, combining marks 0, all else 1."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    """Return how many columns of a terminal a character takes: 0, 1 or 2."""
    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1


def shorten(text: str, width: int, dots: str, *, middle: bool = False) -> str:
    """Cut `text` to at most `width` cells, more than `dots` take, with `dots` for what is left out.

    `middle` cuts there instead of at the end, for ids, which often differ at their ends alone.
    """
    if display_width(text) <= width:
        return text
    room = width - len(dots)
    tail_room = room // 2 if middle else 0
    # How many characters fit.
    head = bisect([*accumulate(map(_cells, text))], room - tail_room)
    tail = bisect([*accumulate(map(_cells, reversed(text)))], tail_room)
    return f"{text[:head].rstrip(' ')}{dots}{text[len(text) - tail :]}"


def table(
    rows: Sequence[Sequence[str]], align: str, max_width: int, dots: str, whole: Collection[int]
) -> list[list[str]]:
    """Lay out rows as lines of at most `max_width` terminal cells in which the columns line up; return the lines of each row.

    `align` has `<` or `>` for each column; `_` is `<`, in a second line in those rows alone where it does not fit. When the
    lines are too long, the widest column of `<` is cut first, never those in `whole`, and never a right-aligned one: half a
    number is another number. What still does not fit goes on in a second, indented line a row, which a cell in `whole` may
    overflow, to be copied.
    """
    columns = range(len(align))
    widths = [max(display_width(row[column]) for row in rows) for column in columns]
    shrinkable = [column for column in columns if align[column] == "<" and column not in whole]
    excess = sum(widths) + len(_GAP) * (len(columns) - 1) - max_width
    widths = _shrink_columns(widths, shrinkable, excess)
    found = []
    for row in rows:
        lines = [""]
        for column in columns:
            # No cell is wider than the screen, for which even a number is cut; but not an id, as many differ at their ends alone.
            width = min(widths[column], max_width - len(_GAP))
            text = row[column] if column in whole else shorten(row[column], width, dots)
            blanks = " " * (width - display_width(text))
            cell = blanks + text if align[column] == ">" else text + blanks
            must_fit = text if align[column] == "_" else cell
            if display_width(lines[-1] + _GAP + must_fit) <= max_width:
                lines[-1] += _GAP + cell if lines[-1] else cell
            else:
                lines.append(_GAP + cell)
        found.append([line.rstrip(" ") for line in lines if not line.isspace()] or [""])
    return found


_GAP = "  "
_MIN_WIDTH = 10  # cells that a cut text keeps; where that is not enough, rows take more lines


def _shrink_columns(widths: list[int], shrinkable: Sequence[int], excess: int) -> list[int]:
    """Return widths that are less by `excess` cells; unchanged ones where texts would keep less than `_MIN_WIDTH`."""
    narrower = widths.copy()
    for _ in range(excess):
        widest = max(shrinkable, key=narrower.__getitem__, default=None)
        if widest is None or narrower[widest] <= _MIN_WIDTH:
            return widths
        narrower[widest] -= 1
    return narrower


# What stands between spaces that are not themselves between two backticks.
_WORD = re.compile(r"(?:^| )((?:`[^`]*`|[^ ])*)")


class Screen(NamedTuple):
    """A terminal to print to: its width in cells, and its stream's encoding."""

    width: int
    encoding: str | None

    @property
    def dots(self) -> str:
        """What stands for the rest of a text that is cut."""
        return to_stream("…", self.encoding)

    def line(self, text: str) -> str:
        """Return text as one line that is safe to print and that the stream can encode."""
        return to_stream(escape_terminal(text), self.encoding)

    def wrapped(self, text: str, indent: str, hanging: str) -> list[str]:
        """Wrap text between words; `hanging` indents all lines but the first. A word that is too long stands alone.

        What is in backticks is one word: a command can be copied.
        """
        lines, current = [], indent
        for word in _WORD.findall(self.line(text)):
            joined = current + word if not current.strip() else f"{current} {word}"
            if current.strip() and display_width(joined) > self.width:
                lines.append(current)
                current = hanging + word
            else:
                current = joined
        return [*lines, current]

    def cut(self, text: str) -> str:
        """Return text as one line that is no wider than the screen."""
        return shorten(self.line(text), self.width, self.dots)


class Line(NamedTuple):
    """A line of output, safe to print."""

    text: str
    style: str = ""
    """Words of pytest's terminal writer, such as `red bold`."""

    def indented(self) -> Line:
        """Return the line two cells further to the right."""
        return Line(f"  {self.text}" if self.text else "", self.style)
