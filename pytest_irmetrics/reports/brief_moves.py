"""One query's movements in one or two lines: its relevant documents from rank to rank, and what stands above them now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import display_width
from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.comparison import moves
from pytest_irmetrics.reports.query_details import faults, missing_by_grade
from pytest_irmetrics.reports.texts import judgment_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.comparison import Move
    from pytest_irmetrics.reports.item_report import QueryReport

_INDENT = "  "

_LONGEST_TITLE = 50
_BESIDE_TITLE = 50
"""How many cells of a line are for what stands beside a title: id, grade, ranks and how many more there are."""


def brief_movements(query: QueryReport, titles: Mapping[str, str], screen: Screen) -> Iterator[str]:
    """Yield lines on what moved: what is wrong whatever moved, the documents that fell or left first, what took their place.

    Of many documents those are named that a line has room for, at least one, and the others are counted.
    """
    for sentence in faults(query, titles):
        yield from screen.wrapped(sentence, _INDENT, _INDENT * 2)
    room = min(screen.width - _BESIDE_TITLE, _LONGEST_TITLE)
    moved = [] if query.before is None else moves(query.judgments, query.before, query.now)
    moved = [move for move in moved if move.grade > 0]
    if moved:
        entries = [
            f"{_named(move.doc_id, titles, room)} ({_grade(move)}): {_from_to(move)}" for move in moved
        ]
        yield from one_line(entries, screen, "; ")
        label, above = _in_its_place(moved[0], query)
        named = [
            f"{_named(doc_id, titles, room)} ({judgment_text(doc_id, query.judgments, query.forbidden)})"
            for doc_id in above
        ]
        yield from one_line(named, screen, ", ", label)
        return
    missing = [
        f"{_named(document.doc_id, titles, room)} ({document.judgment})"
        for document in missing_by_grade(query)
    ]
    where = f"not among the {len(query.now)} results: " if len(query.now) > 1 else "not returned: "
    yield from one_line(missing, screen, ", ", where)


def one_line(
    parts: Sequence[str], screen: Screen, between: str, label: str = "", *, counted: bool = True
) -> list[str]:
    """Join as many of the parts as fit into one indented line, and count the others; a part that alone is too long is wrapped."""
    parts = [screen.line(part) for part in parts]
    last = between if between == "; " else " "
    for shown in range(len(parts), 0, -1):
        left = len(parts) - shown
        text = f"{_INDENT}{label}{between.join(parts[:shown])}{f'{last}and {left:,} more' if left and counted else ''}"
        if display_width(text) <= screen.width:
            return [text]
        if shown == 1:
            return screen.wrapped(text.removeprefix(_INDENT), _INDENT, _INDENT * 2)
    return []


def _grade(move: Move) -> str:
    return f"grade {move.grade:g}"


def _from_to(move: Move) -> str:
    if move.before is None:
        return f"new at rank {move.after}"
    return f"rank {move.before} → {move.after or 'gone'}"


def _in_its_place(move: Move, query: QueryReport) -> tuple[str, Sequence[str]]:
    """Return what stands above a document that fell and did not before; of one that is gone, what is new among the results."""
    if move.after is None:
        return "new: ", [doc_id for doc_id in query.now if doc_id not in (query.before or ())]
    return "above it now: ", move.overtaken_by


def _named(doc_id: str, titles: Mapping[str, str], room: int) -> str:
    title = titles.get(doc_id)
    return doc_id if title is None else f'{doc_id} "{cut(title, room)}"'
