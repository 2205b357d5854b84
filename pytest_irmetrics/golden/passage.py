"""A judged passage: a text of a document, found in whichever chunk holds it."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_irmetrics.metrics import Grade

__all__ = ["Passage", "fold"]

_INVISIBLE = dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\u2060\ufeff"))
_LONGEST = 60
"""Characters of a passage in its key; a longer one is cut, and told apart by a hash."""


def fold(text: str) -> str:
    """Fold what extraction and layout change of a text, and leave its words as they are.

    Soft hyphens and zero-width characters go, Unicode forms become one (NFKC: ligatures, full-width letters), and a
    run of white space becomes one space, none at the ends. Case is kept.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of a document, judged wherever it is found: the document may be cut into chunks in any way."""

    doc: str
    """The document's id."""
    text: str
    """As it was written."""
    grade: Grade = 1

    @property
    def folded(self) -> str:
        """The text that a chunk holds, or does not."""
        return fold(self.text)

    @property
    def key(self) -> str:
        """What the passage is called among a query's judgments and in rankings: document and text, cut to be read."""
        text = self.folded
        if len(text) > _LONGEST:
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
            text = f"{text[: _LONGEST - 12].rstrip()}… ({digest})"
        return f"{self.doc}: {text}"
