"""Rank returned chunks: by the judged passages that they contain, or as the documents that they are of.

A ranking is a list of ids. A chunk that contains judged passages is replaced in it by these, one after the other, each
under its `key`, by which its grade is found too; so every metric reads passages as it reads documents. No passage is in
a ranking twice, however chunks overlap, and no score leaves its range.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count
from typing import Any

from pytest_irmetrics.base.wording import describe, quote
from pytest_irmetrics.golden.query import LONGEST_PASSAGE, Passage, Query, digest, known_ids, normalize_text
from pytest_irmetrics.retrieval import reading
from pytest_irmetrics.retrieval.options import AnswerError, RetrievalOptions, Seen
from pytest_irmetrics.run.answer import CHUNK, as_id, is_uuid

_TEXT_NAMES = ("text", "page_content", "content", "get_content")
"""Keys and attributes that hold the text of a chunk, which the error below names; the last is a method of LlamaIndex."""


def read_chunk_ranking(
    items: Sequence[Any], query: Query, options: RetrievalOptions, seen: Seen, kept_texts: dict[str, str]
) -> tuple[str, ...]:
    """Return a ranking of the documents of an answer's items, and of the passages that the items contain.

    An item's document is what `options.doc_id` returns; without that, the first that there is of these: its id, if that is judged
    or forbidden; such a document, named by one of its usual fields; its id; whatever its fields name. A chunk stands for
    each passage that it is the first to contain, the best grade first. One that contains no passage, or only what was found
    before, keeps its rank under an id of its own; where `options.duplicates` is "collapse", the latter is dropped.

    Titles, and passages that a chunk holds in part or in other letters alone, are added to what was `seen`, and to
    `kept_texts` the text of each entry that is no longer than a passage should be. Raises AnswerError as `read_ids` does;
    for a chunk that comes twice, unless "collapse"; and for one without a text, of a document judged by passage.
    """
    own = {*known_ids(query)}
    documents = reading.read_ids(items, options.doc_id, lambda item: _read_document(own, options.known, item))
    reading.keep_titles(items, documents, seen.titles)
    collapse = options.duplicates == "collapse"
    judged: dict[str, list[Passage]] = {}
    for passage in sorted(query.passages, key=lambda passage: -passage.grade):
        judged.setdefault(passage.doc, []).append(passage)
    ranking: dict[str, None] = {}
    for document, own_id, text in _read_chunks(items, documents, judged, collapse=collapse):
        wanted, content = judged.get(document, ()), text or ""
        held = [passage.key for passage in wanted if passage.normalized in content]
        for passage in wanted:
            if how := "" if passage.key in held else _near_match(passage, content):
                # Of several chunks the one that says most of what to mend, which is the first in the alphabet.
                how = min(how, seen.almost_held.get((query.id, passage.key), how))
                seen.almost_held[query.id, passage.key] = how
        # Of a query that judges by document alone a chunk is its document, whether or not that is judged.
        is_document = document not in judged and (document in own or not query.passages)
        stands_for = [document] if is_document else held
        entries = [entry for entry in stands_for if entry not in ranking]
        if stands_for and not entries and collapse:
            continue
        entries = entries or [_chunk_entry(document, own_id, text, (ranking, judged))]
        ranking.update(dict.fromkeys(entries))
        if text and len(text) <= LONGEST_PASSAGE:
            kept_texts.update(dict.fromkeys(entries, text))
    return tuple(ranking)


def _read_chunks(
    items: Sequence[Any], documents: Sequence[str], judged: Collection[str], *, collapse: bool
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the document of each chunk, its own id and its text, normalized where its document is `judged` by passage.

    What came before is left out where `collapse`, and else raises AnswerError, as does a chunk without the text to look in.
    """
    texts = [_text(item) for item in items]
    is_blank = not any(text and text.strip() for text in texts)
    first_ranks: dict[tuple[str, str | None], int] = {}
    for rank, (item, document) in enumerate(zip(items, documents, strict=True), start=1):
        own_id, text = _own_id(item, document), texts[rank - 1]
        if document in judged:
            if text is None or is_blank:
                said = f"result {rank} is {describe(item)}. This query judges {quote(document)} by passage, and the result has no text to look in. Return chunks with their text, under the key or attribute `text`, `page_content` or `content`."
                raise AnswerError(said)
            text = normalize_text(text)
        first = first_ranks.setdefault((document, own_id or text), rank)
        if first == rank:
            yield document, own_id, text
        elif not collapse:
            shown = own_id or (f"{document}: {text}" if text else document)
            raise reading.repeat_error("chunk", shown, first, rank, len(items))


def _near_match(passage: Passage, text: str) -> str:
    """Say how a chunk nearly holds a passage: `case` in other capitals or small letters, `cut` by its border, `half` of its words; else nothing.

    A half is the first or the last one of its words, as the longer side of a border has it. `_unmatched_passages` of analysis/notes.py
    has a row for each.
    """
    whole = passage.normalized
    if whole.casefold() in text.casefold():
        return "case"
    words = whole.split()
    half = max(len(words) // 2, 2)
    before, last, _ = text.partition(" ".join(words[-half:]))
    _, first, after = text.rpartition(" ".join(words[:half]))
    is_cut = (last and whole.endswith(before + last)) or (first and whole.startswith(first + after))
    return "cut" if is_cut else "half" if last or first else ""


def _chunk_entry(
    document: str, own_id: str | None, text: str | None, taken: Sequence[Collection[str]]
) -> str:
    """Return the entry of a chunk that stands for no passage, as committed baselines have it: by its own id, else by a digest of its text or a number; none that is `taken`.

    A UUID counts for none where there is a text.
    """
    name = digest(normalize_text(text)) if text and (is_uuid(own_id) or own_id is None) else own_id
    names = chain([name] if name else [], count(1))
    entries = chain([] if own_id else [document], (f"{document}{CHUNK}{one})" for one in names))
    return next(entry for entry in entries if not any(entry in ids for ids in taken))


def _read_document(own: Collection[str], known: Collection[str], item: Any) -> tuple[str, float | None]:
    """Return the document that an item is a chunk of, and the score of an explicit pair; `own` are the query's documents."""
    sources = [source for value in reading.fields_of(item, reading.SOURCE_NAMES) if (source := as_id(value))]
    source = next((source for source in sources if source in known), next(iter(sources), None))
    try:
        own_id, score = reading.read_item(item)
    except reading.RefusedError:
        if source is None:
            raise
        return source, None
    return (own_id if source is None or own_id in own else source), score


def _own_id(item: Any, document: str) -> str | None:
    """Return an item's id; None where it has none, and needs none, or where it is its document's."""
    try:
        own_id = reading.read_item(item)[0]
    except reading.RefusedError:
        return None
    return None if own_id == document else own_id


def _text(item: Any) -> str | None:
    """Return an item's text from one of its usual fields; None where it has none."""
    values = (value() if callable(value) else value for value in reading.fields_of(item, _TEXT_NAMES))
    return next((value for value in values if isinstance(value, str)), None)
