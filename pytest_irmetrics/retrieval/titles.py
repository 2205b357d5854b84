"""Keep the titles of the documents that come back, for those who read the reports."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.retrieval.answers import field_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 200_000
"""How many titles are kept: those of a golden set of ten thousand queries with other answers each."""
_LONGEST = 200
FIELD_HOLDERS = ("metadata", "meta", "payload", "_source", "node", "properties", "entity", "fields")
"""Keys and attributes under which frameworks and engines keep a document's own fields."""


def keep_titles(items: Sequence[Any], doc_ids: Sequence[str], titles: dict[str, str]) -> None:
    """Add the titles of an answer's items, whose ids are given in the same order, to ``titles``.

    A title is the key, attribute or metadata entry ``title``. What raises or is no text is no title: a report without one
    is as right.
    """
    if len(items) != len(doc_ids):  # a document that came twice was dropped
        return
    for item, doc_id in islice(zip(items, doc_ids, strict=True), max(0, _MOST - len(titles))):
        if isinstance(item, (str, int)) or doc_id in titles:
            continue
        document = item[0] if isinstance(item, tuple) and item else item
        if isinstance(document, (str, int)):
            continue
        title = None
        with suppress(Exception):  # an attribute of the user's object may raise anything
            title = _title_of(document)
        if title:
            titles[doc_id] = title


def _title_of(document: Any) -> str | None:
    """Return the title in a document's own fields; None where there is none."""
    title = field_of(document, "title")
    if isinstance(title, str):  # of a text, `title` is a method
        return title[:_LONGEST]
    for name in FIELD_HOLDERS:
        holder = field_of(document, name)
        title = holder.get("title") if isinstance(holder, Mapping) else None
        if isinstance(title, str):
            return title[:_LONGEST]
    return None
