"""Rank returned chunks by the judged passages that they hold, and read stored rankings of passages again.

A ranking holds names. A chunk that holds judged passages stands in it as these, one after the other, each under
its `key`, which is also what its grade is kept under; so every metric reads passages as it reads documents. No
passage stands in a ranking twice, however chunks overlap, and no score leaves its range.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.golden.passage import Passage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_irmetrics.metrics import Grade

__all__ = [
    "Chunk",
    "JudgedPassages",
    "document_of",
    "passages_when_stored",
    "rank_chunks",
    "translate_ranking",
]

_CHUNK = " (chunk "


class JudgedPassages(NamedTuple):
    """What a query that judges passages says of documents; plain data, to go along to where it is asked."""

    passages: tuple[Passage, ...]
    documents: frozenset[str]
    """Those that it judges, as a whole or by passage, or forbids."""


class Chunk(NamedTuple):
    """One returned item of a query that judges passages."""

    document: str
    own: str | None
    """The item's own id, where that is another than its document's."""
    text: str | None
    """Folded; None where it does not matter: no passage of the document is judged."""


def rank_chunks(chunks: Iterable[Chunk], passages: Sequence[Passage], *, collapse: bool) -> tuple[str, ...]:
    """Name what came back, best first, each name once.

    A chunk stands for each passage that it is the first to hold, the best grade first. One that only holds what was
    found before gains nothing: it keeps its rank under a name of its own, or with `collapse` is dropped. So does one
    of a document that came back before and is not judged by passage. One that holds none of its document's passages
    keeps its rank under a name of its own.
    """
    ranking = _Ranking(passages)
    for chunk in chunks:
        if chunk.document not in ranking.judged:
            if chunk.document not in ranking.names:
                ranking.add(chunk.document)
            elif not collapse:
                ranking.add_chunk(chunk)
            continue
        held = ranking.held(chunk.document, chunk.text or "")
        if not ranking.add_new(held) and not (held and collapse):
            ranking.add_chunk(chunk)
    return tuple(ranking.names)


def translate_ranking(
    ranking: Sequence[str],
    stored: Mapping[str, tuple[str, str]],
    passages: Sequence[Passage],
    judged: Collection[str],
) -> tuple[str, ...]:
    """Name a stored ranking's entries by what is judged today.

    `stored` maps the entries that were passages to document and text. Such an entry is a chunk that held at least
    that text, so it holds every passage of today that is a part of it; where its document is judged as a whole by
    now, it is the document. What more the chunk held nobody knows.
    """
    today = _Ranking(passages)
    entries = set(ranking)
    for entry in ranking:
        document, text = stored.get(entry) or (document_of(entry), "")
        if document in today.judged and entry in stored:
            held = today.held(document, text)
            if entry in held:  # others that are judged as they were stand where they stood
                held = [key for key in held if key == entry or key not in entries]
            if not today.add_new(held):
                today.add_apart(entry, document)
        elif document != entry and document in judged and document not in today.names:
            today.add(document)
        else:
            today.add_apart(entry, document)
    return tuple(today.names)


def passages_when_stored(
    today: Iterable[Passage], found: Mapping[str, tuple[str, str]], grades: Mapping[str, Grade]
) -> tuple[Passage, ...]:
    """Return the passages that were judged when a run was stored: those of today that were, and others that it found.

    `found` maps the entries that were passages to document and text, and `grades` all that was judged then to its grade.
    """
    kept = {
        passage.key: replace(passage, grade=grades[passage.key]) for passage in today if passage.key in grades
    }
    gone = [
        Passage(doc, text, grades[key])
        for key, (doc, text) in found.items()
        if key in grades and key not in kept
    ]
    return (*kept.values(), *gone)


def document_of(entry: str) -> str:
    """Return the document of a ranking's entry that is no passage: of a chunk the one that it was cut from."""
    return entry.rpartition(_CHUNK)[0] or entry


class _Ranking:
    """A ranking as it grows, and what of it was found so far."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.names: dict[str, None] = {}
        self.judged: dict[str, list[tuple[str, str]]] = {}
        for passage in sorted(passages, key=lambda passage: -passage.grade):
            self.judged.setdefault(passage.doc, []).append((passage.key, passage.folded))

    def held(self, document: str, text: str) -> list[str]:
        """Return the keys of the document's passages that are in a text, the best grade first."""
        return [key for key, passage in self.judged[document] if passage in text]

    def add(self, name: str) -> None:
        self.names[name] = None

    def add_new(self, keys: Iterable[str]) -> bool:
        """Add what is not there yet, and say whether anything was."""
        before = len(self.names)
        self.names.update(dict.fromkeys(keys))
        return len(self.names) > before

    def add_chunk(self, chunk: Chunk) -> None:
        self.add_apart(
            f"{chunk.document}{_CHUNK}{chunk.own})" if chunk.own else chunk.document, chunk.document
        )

    def add_apart(self, name: str, document: str) -> None:
        """Add an entry under its name, or else, if that is taken or is the document's, as a chunk by number."""
        if name in self.names or (name == document and document in self.judged):
            number = 1
            while (name := f"{document}{_CHUNK}{number})") in self.names:
                number += 1
        self.add(name)
