"""Rank returned chunks by the judged passages that they contain, and translate stored rankings to today's passages.

A ranking is a list of ids. A chunk that contains judged passages is replaced in it by these, one after the other, each
under its `key`, by which its grade is found too; so every metric reads passages as it reads documents. No passage is in
a ranking twice, however chunks overlap, and no score leaves its range.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.golden.passage import Passage, normalize_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Grade

_CHUNK = " (chunk "


_RANDOM_ID = re.compile(
    r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[1467][0-9a-f]{3}\1[89ab][0-9a-f]{3}\1[0-9a-f]{12}", re.IGNORECASE
)
"""A UUID that was drawn or taken from a clock: version 1, 4, 6 or 7; those of names and contents are 3, 5 and 8."""


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

    @property
    def name(self) -> str | None:
        """What it is called within its document: its id, or where that is another after each indexing, a hash of its text."""
        if self.own_id is None or not is_random_id(self.own_id):
            return self.own_id
        if self.text is None:
            return None
        data = normalize_text(self.text).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=4).hexdigest()


def rank_chunks(
    chunks: Iterable[Chunk],
    passages: Sequence[Passage],
    *,
    collapse: bool,
    add_text: Callable[[str, str], object] | None = None,
) -> tuple[str, ...]:
    """Return the ids of documents and the keys of passages that chunks stand for, best first, each once.

    A chunk stands for each passage that it is the first to contain, the best grade first. One that only contains what
    was found before gains nothing: it keeps its rank under an id of its own, or with `collapse` is dropped. So does one
    of a document that came back before and is not judged by passage. One that contains none of its document's passages
    keeps its rank under an id of its own. `add_text` is called with the id and the text of
    each chunk that stands for no passage, where that id is the same in all answers.
    """
    ranking = _Ranking(passages, add_text)
    for chunk in chunks:
        if chunk.document not in ranking.judged:
            if chunk.document not in ranking.ids:
                ranking.add(chunk.document)
                if add_text is not None and chunk.text:
                    add_text(chunk.document, chunk.text)
            elif not collapse:
                ranking.add_chunk(chunk)
            continue
        contained = ranking.passages_in(chunk.document, chunk.text or "")
        if not ranking.add_new(contained) and not (contained and collapse):
            ranking.add_chunk(chunk)
    return tuple(ranking.ids)


def translate_ranking(
    ranking: Sequence[str],
    stored: Mapping[str, tuple[str, str]],
    passages: Sequence[Passage],
    judged: Collection[str],
) -> tuple[str, ...]:
    """Return a stored ranking in terms of the passages that are judged today.

    `stored` maps the entries that were passages to document and text. Such an entry is a chunk that contained at least
    that text, so it contains every passage of today that is a part of it; where its document is judged as a whole by
    now, it is the document. What else the chunk contained is unknown.
    """
    today = _Ranking(passages)
    entries = set(ranking)
    for entry in ranking:
        document, text = stored.get(entry) or (document_of(entry), "")
        if document in today.judged and entry in stored:
            contained = today.passages_in(document, text)
            if entry in contained:  # others that are judged as they were keep their own ranks
                contained = [key for key in contained if key == entry or key not in entries]
            if not today.add_new(contained):
                today.add_with_own_id(entry, document)
        elif document != entry and document in judged and document not in today.ids:
            today.add(document)
        else:
            today.add_with_own_id(entry, document)
    return tuple(today.ids)


def passages_when_stored(
    today: Iterable[Passage], found: Mapping[str, tuple[str, str]], grades: Mapping[str, Grade]
) -> tuple[Passage, ...]:
    """Return the passages that were judged when a run was stored: those of today that were, and others that it found.

    `found` maps the run's entries that were passages to document and text, and `grades` everything that was judged then
    to its grade.
    """
    kept = {
        passage.key: passage._replace(grade=grades[passage.key]) for passage in today if passage.key in grades
    }
    gone = [
        Passage(doc, text, grades[key])
        for key, (doc, text) in found.items()
        if key in grades and key not in kept
    ]
    return (*kept.values(), *gone)


def document_of(entry: str) -> str:
    """Return the document of a ranking's entry that is no passage: of a chunk, the document that it was cut from."""
    return entry.rpartition(_CHUNK)[0] or entry


def documents_of(query: Query, ranking: Iterable[str]) -> Iterator[str]:
    """Yield the document of each entry of a query's ranking: that of a judged passage or of a chunk, or the entry itself."""
    passages = {passage.key: passage.doc for passage in query.passages}
    return (passages.get(entry) or document_of(entry) for entry in ranking)


def chunk_name(entry: str) -> str | None:
    """Return what a chunk is called within its document, by a ranking's entry; None for an entry that is no chunk."""
    document, _, name = entry.rpartition(_CHUNK)
    return name.removesuffix(")") if document else None


def is_random_id(own_id: str) -> bool:
    """Say whether a chunk's id is one that vector stores draw anew at each indexing, where they are given none."""
    return _RANDOM_ID.fullmatch(own_id) is not None


class _Ranking:
    """A ranking being built: its ids so far, and which passages of which documents are judged."""

    def __init__(
        self, passages: Sequence[Passage], add_text: Callable[[str, str], object] | None = None
    ) -> None:
        self._add_text = add_text
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
        name = chunk.name
        if self._add_text is not None and name and chunk.text:
            self._add_text(f"{chunk.document}{_CHUNK}{name})", chunk.text)
        self.add_with_own_id(f"{chunk.document}{_CHUNK}{name})" if name else chunk.document, chunk.document)

    def add_with_own_id(self, entry: str, document: str) -> None:
        """Add an entry, as a numbered chunk of its document if its id is taken or is that of a document judged by passage."""
        if entry in self.ids or (entry == document and document in self.judged):
            number = 1
            while (entry := f"{document}{_CHUNK}{number})") in self.ids:
                number += 1
        self.add(entry)
