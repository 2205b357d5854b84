"""Read the answer to a query that judges passages: each item as a chunk with document, id and text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.ids import as_id
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.passage import normalize_text
from pytest_irmetrics.retrieval.answers import AnswerError, field_of, read_ids, read_item
from pytest_irmetrics.retrieval.describe import describe
from pytest_irmetrics.retrieval.passages import Chunk, JudgedPassages, rank_chunks
from pytest_irmetrics.retrieval.titles import FIELD_HOLDERS, keep_titles

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

TEXT_NAMES = ("text", "page_content", "content")
"""Keys and attributes that hold the text of a chunk."""
SOURCE_NAMES = ("doc_id", "document_id", "ref_doc_id", "source_id", "source")
"""Keys and attributes that hold the id of the document that a chunk is of."""


def read_passage_ranking(
    items: Sequence[Any],
    duplicates: str,
    doc_id: Callable[[Any], Any] | None,
    known: JudgedPassages,
    titles: dict[str, str] | None = None,
) -> tuple[str, ...]:
    """Return a ranking of the documents of an answer's items, and of the passages that the items contain.

    An item's document is what `doc_id` returns. Without that it is the item's id; or, where one of its usual fields names
    a document that the query judges or forbids, that one; or whatever they name, where it has no id. Their titles are
    added to `titles`.

    Raises AnswerError as `read_ranking` does; for a chunk that comes twice, unless `duplicates` is "collapse"; and for one
    without a text that can be read, of a document judged by passage.
    """
    judged = {passage.doc for passage in known.passages}
    documents = read_ids(items, doc_id, partial(_read_document, known.documents))
    chunks = [
        _read_chunk(rank, item, document, judged)
        for rank, (item, document) in enumerate(zip(items, documents, strict=True), start=1)
    ]
    collapse = duplicates == "collapse"
    if titles is not None:
        keep_titles(items, documents, titles)
    return rank_chunks(_without_duplicates(chunks, collapse=collapse), known.passages, collapse=collapse)


def _without_duplicates(chunks: Sequence[Chunk], *, collapse: bool) -> Iterator[Chunk]:
    """Yield each chunk once; raise AnswerError for one that comes twice, unless `collapse`."""
    first_ranks: dict[tuple[str, str | None], int] = {}
    for rank, chunk in enumerate(chunks, start=1):
        first = first_ranks.setdefault((chunk.document, chunk.own_id or chunk.text), rank)
        if first == rank:
            yield chunk
        elif not collapse:
            name = quote(chunk.own_id or chunk.document)
            raise AnswerError(
                f"{name} came back at rank {first} and again at rank {rank}. Return each chunk once, or set "
                "ir_duplicates = collapse to keep the first of each."
            )


def _read_document(documents: Collection[str], rank: int, item: Any) -> tuple[str, float | None]:
    """Return the document that an item is a chunk of, and the score of an explicit pair."""
    source = _source(item, documents)
    try:
        own_id, score = read_item(rank, item)
    except AnswerError:
        source = source or _source(item)
        if source is None:
            raise
        return source, None
    return (own_id if source is None or own_id in documents else source), score


def _read_chunk(rank: int, item: Any, document: str, judged: Collection[str]) -> Chunk:
    """Return an item as a chunk of its document, with its text if passages of that document are judged."""
    try:
        own_id: str | None = item if isinstance(item, str) else read_item(rank, item)[0]
    except AnswerError:  # it has none, and needs none
        own_id = None
    text = _text(item)
    if document in judged:
        if text is None:
            raise AnswerError(
                f"result {rank} is {describe(item)}. This query judges {quote(document)} by passage, and the result has no "
                "text to look in. Return chunks with their text, under the key or attribute `text`, `page_content` or "
                "`content`."
            )
        text = normalize_text(text)
    return Chunk(document, None if own_id == document else own_id, text)


def _source(item: Any, documents: Collection[str] | None = None) -> str | None:
    """Return the first of these documents, or of any, that one of an item's usual fields names; None if there is none."""
    for value in _field_values(item, SOURCE_NAMES):
        source = as_id(value)
        if source and (documents is None or source in documents):
            return source
    return None


def _text(item: Any) -> str | None:
    """Return an item's text, from one of its usual fields or from LlamaIndex's `get_content()`."""
    for value in _field_values(item, (*TEXT_NAMES, "get_content")):
        text = value() if callable(value) else value
        if isinstance(text, str):
            return text
    return None


def _field_values(item: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the values of these fields of an item, or of the first of a pair, and then those of its parts."""
    if isinstance(item, str):
        return
    outer = item[0] if isinstance(item, tuple) and item and not hasattr(item, "_fields") else item
    for holder in (outer, *(_get(outer, name) for name in FIELD_HOLDERS)):
        if holder is not None:
            yield from (value for name in names if (value := _get(holder, name)) is not None)


def _get(holder: Any, name: str) -> Any:
    """Return a key or an attribute of this name; None where there is neither, or where it raises."""
    try:
        return field_of(holder, name)
    except Exception:  # noqa: BLE001 - a property of a framework's raises where the item is of another kind
        return None
