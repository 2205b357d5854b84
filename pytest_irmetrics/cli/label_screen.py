"""Show a document to judge on a terminal: its query, what is judged already, its ranks, title and text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import display_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.analysis.labelling import Unjudged
    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden import Query

_TEXT_LINES = 8
"""Lines of a document's text that are shown before the key `t` shows it whole."""
_MOST_GRADED = 5
"""Judged documents of a query that are shown."""
_LABEL_WIDTH = 12


def item_lines(
    item: Unjudged, query: Query, runs: Sequence[str], documents: Documents, screen: Screen
) -> Iterator[str]:
    """Yield the lines of all that helps to judge an item but the document's own text; `runs` are their names."""
    for label, text in _described(item, query, runs, documents):
        yield from _labelled(label, text, screen)


def _described(
    item: Unjudged, query: Query, runs: Sequence[str], documents: Documents
) -> Iterator[tuple[str, str]]:
    """Yield a label and a text for each thing; one without a label goes on with the thing before it."""
    yield "query", query.text or query.id
    if query.params:
        yield "params", json.dumps(query.params, ensure_ascii=False)
    if query.note:
        yield "note", query.note
    graded = sorted(query.judgments.items(), key=lambda judged: -judged[1])
    for number, (doc_id, grade) in enumerate(graded[:_MOST_GRADED]):
        title = documents.title(doc_id)
        yield "" if number else "judged", f"{grade:g}  {doc_id}{f'  {title}' if title else ''}"
    if len(graded) > _MOST_GRADED:
        yield "", f"and {len(graded) - _MOST_GRADED} more"
    for number, (name, rank) in enumerate(zip(runs, item.ranks, strict=True)):
        where = f"rank {rank}" if rank is not None else "not"
        yield "" if number else "found", where if len(runs) == 1 else f"{where} in {name}"
    yield "document", item.doc_id
    title = documents.title(item.doc_id)
    if title is not None:
        yield "title", title


def text_lines(text: str | None, screen: Screen) -> list[str]:
    """Return the lines of a document's text; none if it is unknown."""
    if text is None:
        return []
    return _labelled("text", on_one_line(text), screen)


def is_longer_than_shown(lines: Sequence[str]) -> bool:
    """Say whether `start_of_text` leaves out any of a text's lines."""
    return len(lines) > _TEXT_LINES


def start_of_text(lines: Sequence[str], screen: Screen) -> Iterator[str]:
    """Yield as many of a text's lines as are shown at once."""
    yield from lines[:_TEXT_LINES]
    if is_longer_than_shown(lines):
        yield " " * _LABEL_WIDTH + ("..." if screen.ascii_only else "…")


def on_one_line(text: str) -> str:
    """Return a text with each run of white space as one blank."""
    return " ".join(text.split())


def _labelled(label: str, text: str, screen: Screen) -> list[str]:
    """Return the lines of a text with a label before the first."""
    beside = " " * _LABEL_WIDTH
    # `Screen.wrapped` puts a blank after a label, and none after blanks alone.
    return wrapped_whole(
        text, screen, f"  {label}".ljust(_LABEL_WIDTH - 1) if label.strip() else beside, beside
    )


def wrapped_whole(text: str, screen: Screen, indent: str, hanging: str) -> list[str]:
    """Wrap a text as `Screen.wrapped` does, and cut words in pieces that are longer than a line."""
    room = max(screen.width - max(len(indent), len(hanging)), 10)
    words = []
    for word in screen.line(text).split(" "):
        piece = ""
        for char in word if display_width(word) > room else ():
            if display_width(piece + char) > room:
                words.append(piece)
                piece = ""
            piece += char
        words.append(piece or word)
    return screen.wrapped(" ".join(words), indent, hanging)
