"""Rank returned chunks by the judged passages that they contain.

A ranking is a list of ids. A chunk that contains judged passages is replaced in it by these, one after the other, each
under its `key`, by which its grade is found too; so every metric reads passages as it reads documents. No passage is in
a ranking twice, however chunks overlap, and no score leaves its range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.run import Answer

_CHUNK = " (chunk "


class JudgedPassages(NamedTuple):
    """The passages that a query judges, and its documents; can be pickled, to be sent with the call."""

    passages: tuple[Passage, ...]
    documents: frozenset[str]
    """The documents that it judges, as a whole or by passage, or forbids."""


class Chunk(NamedTuple):
    """One returned item: a part of a document, with its text."""

    document: str
    own_id: str | None
    """The item's id, if it is not its document's."""
    text: str | None
    """Normalized (see `normalize_text`) where passages of the document are judged; None where the item has none."""


def rank_chunks(chunks: Iterable[Chunk], passages: Sequence[Passage], *, collapse: bool) -> tuple[str, ...]:
    """Return the ids of documents and the keys of passages that chunks stand for, best first, each once.

    A chunk stands for each passage that it is the first to contain, the best grade first. One that only contains what
    was found before gains nothing: it keeps its rank under an id of its own, or with `collapse` is dropped. So does one
    of a document that came back before and is not judged by passage. One that contains none of its document's passages
    keeps its rank under an id of its own.
    """
    ranking = _Ranking(passages)
    for chunk in chunks:
        if chunk.document not in ranking.judged:
            if chunk.document not in ranking.ids:
                ranking.add(chunk.document)
            elif not collapse:
                ranking.add_chunk(chunk)
            continue
        contained = ranking.passages_in(chunk.document, chunk.text or "")
        if not ranking.add_new(contained) and not (contained and collapse):
            ranking.add_chunk(chunk)
    return tuple(ranking.ids)


def judges_other_passages(
    judgments: Mapping[str, Grade], passages: Iterable[Passage], answer: Answer
) -> bool:
    """Say whether a query judges other passages than when an answer to it was stored, which was not searched for these.

    Another grade of the same passage is no edit of passages.
    """
    stored = answer.judgments
    if stored is None or stored == judgments:
        return False
    edited = stored.keys() ^ judgments.keys()
    if not edited.isdisjoint({*answer.passages, *(passage.key for passage in passages)}):
        return True
    # A document that was judged by passage and is judged as a whole now.
    whole = edited & judgments.keys()
    return any(key.startswith(f"{doc}: ") for doc in whole for key in edited & stored.keys())


def document_of(entry: str) -> str:
    """Return the document of a ranking's entry that is no passage: of a chunk, the document that it was cut from."""
    return entry.rpartition(_CHUNK)[0] or entry


def documents_of(query: Query, ranking: Iterable[str]) -> Iterator[str]:
    """Yield the document of each entry of a query's ranking: that of a judged passage or of a chunk, or the entry itself."""
    passages = {passage.key: passage.doc for passage in query.passages}
    return (passages.get(entry) or document_of(entry) for entry in ranking)


class _Ranking:
    """A ranking being built: its ids so far, and which passages of which documents are judged."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.ids: dict[str, None] = {}
        self.judged: dict[str, list[tuple[str, str]]] = {}
        """Document → key and text of each of its judged passages, the best grade first."""
        for passage in sorted(passages, key=lambda passage: -passage.grade):
            self.judged.setdefault(passage.doc, []).append((passage.key, passage.normalized))

    def passages_in(self, document: str, text: str) -> list[str]:
        """Return the keys of the document's passages that a text contains, the best grade first."""
        return [key for key, passage in self.judged[document] if passage in text]

    def add(self, entry: str) -> None:
        self.ids[entry] = None

    def add_new(self, keys: Iterable[str]) -> bool:
        """Add the keys that are not there yet; return whether there were any."""
        before = len(self.ids)
        self.ids.update(dict.fromkeys(keys))
        return len(self.ids) > before

    def add_chunk(self, chunk: Chunk) -> None:
        """Add a chunk that stands for no passage, under an id of its own."""
        name = chunk.own_id
        self.add_with_own_id(f"{chunk.document}{_CHUNK}{name})" if name else chunk.document, chunk.document)

    def add_with_own_id(self, entry: str, document: str) -> None:
        """Add an entry, as a numbered chunk of its document if its id is taken or is that of a document judged by passage."""
        if entry in self.ids or (entry == document and document in self.judged):
            number = 1
            while (entry := f"{document}{_CHUNK}{number})") in self.ids:
                number += 1
        self.add(entry)
