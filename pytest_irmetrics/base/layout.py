"""Measure text by the cells that a terminal gives it; cut, pad and lay it out as a table."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def display_width(text: str) -> int:
    """Return the terminal cells that `text` takes: wide and fullwidth characters and emoji 2, combining marks 0, all else 1."""
    if text.isascii():
        return len(text)
    return sum(_cells(text))


def _cells(text: str) -> list[int]:
    """Return the cells that each character of a text takes."""
    cells: list[int] = []
    for char in text:
        if char.isascii():
            cells.append(1)
        elif char == "\ufe0f" and cells and cells[-1] == 1 and category(text[len(cells) - 1]) == "So":
            cells.append(1)  # asks for the colourful, wide form of the char before it
        else:
            cells.append(_cells_of_one(char))
    return cells


def _cells_of_one(char: str) -> int:
    code = ord(char)
    kind = category(char)
    if (
        kind in ("Mn", "Me", "Cf") or 0x1160 <= code <= 0x11FF
    ):  # the latter: vowels and finals of Korean syllables
        return 0
    if east_asian_width(char) in ("W", "F"):
        return 2
    # Emoji that are younger than this Python's tables.
    return 2 if kind == "Cn" and 0x1F300 <= code <= 0x1FAFF else 1


def shorten(text: str, width: int, *, ascii_only: bool = False, middle: bool = False) -> str:
    """Cut `text` to at most `width` cells, with `…` (`...` in ASCII) for what is left out.

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
    head = _count_fitting(cells, room - tail_room)
    tail = _count_fitting(cells[::-1], tail_room)
    while tail and not cells[len(text) - tail]:
        tail -= 1  # a mark belongs to the char before it, which is cut off
    if tail:
        return f"{text[:head]}{dots}{text[len(text) - tail :]}"
    return text[:head].rstrip(" ") + dots


def _count_fitting(cells: Sequence[int], room: int) -> int:
    """Return how many characters fit into `room` cells."""
    return bisect(list(accumulate(cells)), room)


def pad(text: str, width: int, align: str = "<") -> str:
    """Fill `text` with blanks to `width` cells: `<` left, `>` right, `^` centred.  Wider text stays as it is."""
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
    """Lay out rows as lines of at most `max_width` terminal cells in which the columns line up.

    `align` has one of `<`, `>`, `^` a column.  When the lines are too long, the widest left-aligned column is cut
    first, never those in `whole`, and never a right-aligned one: half a number is another number.  What still does
    not fit goes on in a second, indented line a row.  A row may be short; an empty one is an empty line.
    """
    by_row = table_rows(rows, align, max_width, ascii_only=ascii_only, whole=whole, gap=gap)
    return [line for lines in by_row for line in lines]


def table_rows(
    rows: Sequence[Sequence[str]],
    align: str,
    max_width: int,
    *,
    ascii_only: bool,
    whole: Collection[int],
    gap: int = 2,
) -> list[list[str]]:
    """Lay a table out as `table` does, and return the lines of each row."""
    columns = len(align)
    texts = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = [max((display_width(row[column]) for row in texts), default=0) for column in range(columns)]
    # A column without any text takes no room.
    used = [column for column in range(columns) if widths[column]]
    shrinkable = [column for column in used if align[column] == "<" and column not in whole]
    room = max_width - gap * (len(used) - 1)
    widths = _shrink_columns(widths, shrinkable, sum(widths) - room)
    bands = _split_columns(widths, used, max_width, gap)
    found = []
    for row in texts:
        lines: list[str] = []
        found.append(lines)
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
    return found


_MIN_WIDTH = 10  # cells that a cut text keeps; where that is not enough, rows take more lines


def _shrink_columns(widths: list[int], shrinkable: Sequence[int], excess: int) -> list[int]:
    """Return widths that are less by `excess` cells; unchanged ones where texts would be cut to less than 10 cells."""
    narrower = widths.copy()
    while excess > 0:
        widest = max((narrower[column] for column in shrinkable), default=0)
        if widest <= _MIN_WIDTH:
            return widths
        # Down to the next widest, so that two long columns share the loss.
        longest = [column for column in shrinkable if narrower[column] == widest]
        floor = max((narrower[column] for column in shrinkable if narrower[column] < widest), default=0)
        step = max(min(excess // len(longest), widest - max(floor, _MIN_WIDTH)), 1)
        for column in longest:
            taken = min(step, excess)
            narrower[column] -= taken
            excess -= taken
    return narrower


def _split_columns(widths: list[int], used: Sequence[int], max_width: int, gap: int) -> list[list[int]]:
    """Split the columns into as many lines as they need, and cut those that are wider than a line."""
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
