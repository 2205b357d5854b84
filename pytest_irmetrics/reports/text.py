"""Blocks as lines of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.screen import Line, display_width, table
from pytest_irmetrics.reports.blocks import Commands, Level, Query, Table, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.blocks import Block
    from pytest_irmetrics.reports.query_details import RankedDocument

_TONES = {"bad": "red bold", "warn": "yellow", "strong": "yellow bold", "": ""}
_GAP = 2


def lines(blocks: Iterable[Block], screen: Screen, verbosity: int, *, spaced: bool = False) -> Iterator[Line]:
    """Yield the lines of the blocks that this verbosity shows; ``spaced``: a blank one where another kind of block begins."""
    level = Level(min(max(verbosity, Level.NORMAL), Level.ALL))
    last: type | None = None
    blank = True
    for block in blocks:
        if not block.is_shown_at(level):
            continue
        if spaced and last not in (None, type(block)) and type(block) is not Query and not blank:
            yield Line("")
            blank = True
        last = type(block)
        for line in _block(block, screen, ranked=level is Level.ALL):
            if line.text or not blank:
                yield line
            blank = not line.text


def _block(block: Block, screen: Screen, *, ranked: bool) -> Iterator[Line]:
    match block:
        case Text():
            indent = "  " * block.indent
            for line in screen.wrapped(block.text, indent, f"{indent}  "):
                yield Line(line, _TONES[block.tone])
        case Table():
            yield from _table(block, screen)
        case Query():
            yield from _query(block, screen, ranked=ranked or block.in_full)
        case Commands():
            width = max((len(lead) for lead, _ in block.commands), default=0) + 1
            for lead, command in block.commands:  # not wrapped, so that they can be copied
                yield Line(screen.line(f"{f'{lead}:':<{width}} {command}"))


def _table(block: Table, screen: Screen) -> Iterator[Line]:
    """Yield the lines of a table, of which the last one of each row has the row's style."""
    cells = [[screen.line(cell) for cell in row] for row in (block.head, *block.rows)]
    kept = _columns(cells, block, screen.width)
    shown = [[row[column] for column in kept] for row in cells]
    align = "".join(block.align[column] for column in kept)
    whole = [place for place, column in enumerate(kept) if column in block.whole]
    rows = table(shown, align, screen.width, screen.dots, whole=whole)
    for place, parts in enumerate(rows, -1):
        style = "bold" if place < 0 else "red" if place in block.bad else ""
        # Of a row broken in several lines the last one, with the verdict, has the style.
        yield from map(Line, parts[:-1])
        yield Line(parts[-1], style)


def _columns(cells: Sequence[Sequence[str]], block: Table, width: int) -> list[int]:
    """Choose the columns that fit; names that take more than a third of the width are cut before a number goes."""
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    widths[0] = min(widths[0], width // 3)
    kept = [column for column, wide in enumerate(widths) if wide]
    for left_out in block.optional:
        if sum(widths[column] + _GAP for column in kept) - _GAP <= width:
            break
        kept = [column for column in kept if column not in left_out]
    return kept


def _query(block: Query, screen: Screen, *, ranked: bool) -> Iterator[Line]:
    status = f" [{block.status}]" if block.status else ""
    asks = f": {block.asks}" if block.asks else ""
    yield Line(screen.cut(f"{block.where}: {block.query_id}{status}{asks}"), "bold")
    if block.facts:
        yield from map(Line, screen.wrapped("; ".join(block.facts), "  "))
    for fault in block.faults:
        yield from map(Line, screen.wrapped(fault, "  ", "    "))
    if ranked and (block.ranks or block.missing):
        yield from map(Line, _ranking(block, screen))
    for parts in block.moved:
        yield from map(Line, _fitting(parts, screen))
    if ranked:
        yield Line("")


def _fitting(parts: Sequence[str], screen: Screen) -> list[str]:
    """Join as many of the parts as fit into one line, and count the others; one that alone is too long is wrapped."""
    parts = [screen.line(part) for part in parts]
    for shown in range(len(parts), 0, -1):
        left = len(parts) - shown
        text = f"  {'; '.join(parts[:shown])}{f'; and {left:,} more' if left else ''}"
        if display_width(text) <= screen.width:
            return [text]
    more = f"; and {len(parts) - 1:,} more" if len(parts) > 1 else ""
    return screen.wrapped(parts[0] + more, "  ", "    ")


def _ranking(block: Query, screen: Screen) -> Iterator[str]:
    """Yield a query's ranking, one result a line, with the titles of those documents that have one; then what is missing."""
    now = [(str(rank), document) for rank, _, document in block.ranks if document is not None]
    shown = [*now, *(("-", document) for document in block.missing)]
    if not shown:
        yield "  nothing was returned"
        return
    rows = [
        [
            "rank",
            "was" if block.compared else "",
            "grade",
            "document",
            "title" if any(one.title for _, one in shown) else "",
        ]
    ]
    rows += [[rank, *_cells(document, block, screen)] for rank, document in shown]
    for lines_of_row in table(rows, ">>><<", screen.width - 2, screen.dots):
        yield from (f"  {line}" for line in lines_of_row)


def _cells(document: RankedDocument, block: Query, screen: Screen) -> list[str]:
    was = (
        ""
        if not block.compared
        else "new"
        if document.new
        else "-"
        if document.was is None
        else str(document.was)
    )
    grade = document.judgment.removeprefix("grade ")
    return [was, grade, screen.line(document.doc_id), screen.line(document.title)]
