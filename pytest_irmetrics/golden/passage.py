"""Passage: a judged piece of a document's text, which any returned chunk may contain."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_irmetrics.metrics import Grade


_INVISIBLE = dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\u2060\ufeff"))
_LONGEST = 60
"""Characters of a passage in its key; a longer text is cut, and a hash of it added."""


def normalize_text(text: str) -> str:
    """Normalise white space and Unicode forms, which text extraction and layout change; keep the words.

    Soft hyphens and zero-width characters go, Unicode forms become one (NFKC: ligatures, full-width letters), and a
    run of white space becomes one space, none at the ends. Case is kept.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    return " ".join(text.split())


class Passage(NamedTuple):
    """A judged text of a document. A chunk that contains it counts as it, however the document was split into chunks."""

    doc: str
    """The document's id."""
    text: str
    """As it was written in the golden set."""
    grade: Grade = 1

    @property
    def normalized(self) -> str:
        """The normalised text, to look for in the normalised text of a chunk."""
        return normalize_text(self.text)

    @property
    def key(self) -> str:
        """The name of the passage among a query's judgments and in rankings: ``document: text``, cut if it is long."""
        text = self.normalized
        if len(text) > _LONGEST:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
            text = f"{text[: _LONGEST - 12].rstrip()}… ({digest})"
        return f"{self.doc}: {text}"
