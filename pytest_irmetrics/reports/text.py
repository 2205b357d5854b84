"""Blocks as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_irmetrics.base.screen import Line, Screen, display_width, table
from pytest_irmetrics.reports.blocks import Block, Commands, Level, Query, Table, Text

_TONES = {"bad": "red bold", "warn": "yellow", "strong": "yellow bold", "": ""}


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
            width = max((len(purpose) for purpose, _ in block.commands), default=0) + 1
            for purpose, command in block.commands:  # not wrapped, so that they can be copied
                yield Line(screen.line(f"{f'{purpose}:':<{width}} {command}"))


def _table(block: Table, screen: Screen) -> Iterator[Line]:
    """Yield the lines of a table, of which the last one of each row has the row's style."""
    cells = [[screen.line(cell) for cell in row] for row in (block.head, *block.rows)]
    rows = table(cells, block.align, screen.width, screen.dots, whole=block.whole)
    for place, parts in enumerate(rows, -1):
        style = "bold" if place < 0 else "red" if place in block.bad else ""
        # Of a row broken in several lines the last one, with the verdict, has the style.
        yield from map(Line, parts[:-1])
        yield Line(parts[-1], style)


def _query(block: Query, screen: Screen, *, ranked: bool) -> Iterator[Line]:
    """Yield the lines of a query; ``ranked``: with its ranking, one result a line, and what is missing, else with what moved."""
    status = f" [{block.status}]" if block.status else ""
    asks = f": {block.asks}" if block.asks else ""
    yield Line(screen.cut(f"{block.where}: {block.query_id}{status}{asks}"), "bold")
    if block.facts:
        yield from map(Line, screen.wrapped("; ".join(block.facts), "  "))
    for fault in block.faults:
        yield from map(Line, screen.wrapped(fault, "  ", "    "))
    if not ranked or not (block.ranks or block.missing):
        for parts in block.moved:
            yield from map(Line, _fitting(parts, screen))
        return
    now = [(str(rank), document) for rank, _, document in block.ranks if document is not None]
    ranking = Table.of(
        [*now, *(("-", document) for document in block.missing)],
        [
            ("rank", ">", lambda one: one[0]),
            ("was", ">", lambda one: one[1].was_text if block.compared else ""),
            ("grade", ">", lambda one: one[1].judgment.removeprefix("grade ")),
            ("document", "<", lambda one: one[1].doc_id),
            ("title", "<", lambda one: one[1].title),
        ],
        whole=(3,),
    )
    inner = screen._replace(width=screen.width - 2)
    yield from (Line(line.text).indented() for line in _table(ranking, inner))
    yield Line("")


def _fitting(parts: Sequence[str], screen: Screen) -> list[str]:
    """Join as many of the parts as fit into one line, and count the others; one that alone is too long is wrapped."""
    parts = [screen.line(part) for part in parts]
    for shown in range(len(parts), 0, -1):
        left = len(parts) - shown
        text = f"  {'; '.join(parts[:shown])}{f'; and {left:,} more' if left else ''}"
        if display_width(text) <= screen.width:
            return [text]
    return screen.wrapped(text.strip(), "  ", "    ")
