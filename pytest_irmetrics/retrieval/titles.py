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
_LONGEST_TEXT = 4000
_MOST_TEXT = 5_000_000
"""Characters of all texts that are kept of one test, so that a report stays small."""
FIELD_HOLDERS = ("metadata", "meta", "payload", "_source", "node", "properties", "entity", "fields")
"""Keys and attributes under which frameworks and engines keep a document's own fields."""


class KeptChunks:
    """The titles of documents whose chunks came back, and the texts of the chunks that stand for no judged passage."""

    def __init__(self, titles: dict[str, str], *, with_texts: bool) -> None:
        self.titles = titles
        """By document."""
        self._with_texts = with_texts
        self.texts: dict[str, str] = {}
        """By the id that the chunk has in rankings. Empty where two chunks have it."""
        self._size = 0

    def add_text(self, entry: str, text: str) -> None:
        """Keep the text of a chunk, if texts are wanted and as far as there is room."""
        if not self._with_texts:
            return
        text = text[:_LONGEST_TEXT]
        before = self.texts.get(entry)
        if before is None and self._size + len(text) <= _MOST_TEXT:
            self.texts[entry] = text
            self._size += len(text)
        elif before is not None and before != text:
            self.texts[entry] = ""


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
