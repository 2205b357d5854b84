"""What came back for a query that judges passages, read as chunks: of which document, under what id, with what text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.ids import as_id
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.passage import fold
from pytest_irmetrics.retrieval.items import AnswerError, part, read_ids, read_item
from pytest_irmetrics.retrieval.passages import Chunk, rank
from pytest_irmetrics.retrieval.showing import show

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from pytest_irmetrics.retrieval.passages import Known

_TEXTS = ("text", "page_content", "content")
_SOURCES = ("doc_id", "document_id", "ref_doc_id", "source_id", "source")
_INNER = ("metadata", "meta", "payload", "_source", "node", "properties", "entity", "fields")
"""In which of its parts an item of a framework or an engine may hold its text and its source."""


def identify_chunks(
    items: Sequence[Any],
    duplicates: str,
    doc_id: Callable[[Any], Any] | None,
    known: Known,
) -> tuple[str, ...]:
    """Turn drawn items into a ranking of documents and of the passages that the items hold.

    An item's document is what `doc_id` gives; without that its id or, where one of its usual fields names a document
    that the query judges or forbids, that one. Raises AnswerError as `identify` does; for a chunk that comes twice, unless
    `duplicates` is "collapse"; and for one without a text that can be read, of a document that is judged by passage.
    """
    judged = {passage.doc for passage in known.passages}
    documents = read_ids(items, doc_id, partial(_read_document, known.documents))
    chunks = [
        _chunk(place, item, document, judged)
        for place, (item, document) in enumerate(zip(items, documents, strict=True), start=1)
    ]
    collapse = duplicates == "collapse"
    return rank(_once(chunks, collapse=collapse), known.passages, collapse=collapse)


def _once(chunks: Sequence[Chunk], *, collapse: bool) -> Iterator[Chunk]:
    first: dict[tuple[str, str | None], int] = {}
    for place, chunk in enumerate(chunks, start=1):
        before = first.setdefault((chunk.document, chunk.own or chunk.text), place)
        if before == place:
            yield chunk
        elif not collapse:
            name = quote(chunk.own or chunk.document)
            raise AnswerError(
                f"{name} came back at rank {before} and again at rank {place}. Return each chunk once, or set "
                "ir_duplicates = collapse to keep the first of each."
            )


def _read_document(known: Collection[str], place: int, item: Any) -> tuple[str, float | None]:
    source = _source(item, known)
    try:
        own, score = read_item(place, item)
    except AnswerError:
        if source is None:
            raise
        return source, None
    return (own if source is None or own in known else source), score


def _chunk(place: int, item: Any, document: str, judged: Collection[str]) -> Chunk:
    try:
        own: str | None = item if isinstance(item, str) else read_item(place, item)[0]
    except AnswerError:  # it has none, and needs none
        own = None
    text = _text(item)
    if document in judged:
        if text is None:
            raise AnswerError(
                f"result {place} is {show(item)}. This query judges {quote(document)} by passage, and the result has no "
                "text to look in. Return chunks with their text, under the key or attribute `text`, `page_content` or "
                "`content`."
            )
        text = fold(text)
    return Chunk(document, None if own == document else own, text)


def _source(item: Any, documents: Collection[str]) -> str | None:
    for value in _values(item, _SOURCES):
        source = as_id(value)
        if source in documents:
            return source
    return None


def _text(item: Any) -> str | None:
    for value in _values(item, (*_TEXTS, "get_content")):
        text = value() if callable(value) else value
        if isinstance(text, str):
            return text
    return None


def _values(item: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield what an item, or the first of a pair, has under these names, and then what its parts have."""
    if isinstance(item, str):
        return
    outer = item[0] if isinstance(item, tuple) and item and not hasattr(item, "_fields") else item
    for holder in (outer, *(_get(outer, name) for name in _INNER)):
        if holder is not None:
            yield from (value for name in names if (value := _get(holder, name)) is not None)


def _get(holder: Any, name: str) -> Any:
    try:
        return part(holder, name)
    except Exception:  # noqa: BLE001 - a property of a framework's raises where the item is of another kind
        return None
