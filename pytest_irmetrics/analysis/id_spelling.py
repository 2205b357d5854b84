"""Recognise two spellings of one id: case, separators, leading zeros, URL-encoding, something before or after it."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Collection

_SEPARATORS = re.compile(r"[\s_./:-]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_MOST_EDGES = 20
_EDGE = re.compile(r"[^0-9A-Za-z]+")


def normalised(doc_id: str) -> str:
    """Return the form that all spellings of an id share, with `-` for separators: ``FAQ_007`` and ``faq/7`` as ``faq-7``."""
    folded = unicodedata.normalize("NFKC", unquote(doc_id)).casefold().strip()
    return _ZEROS.sub("", _SEPARATORS.sub("-", folded).strip("-"))


def affixed(new: Collection[str], gone: Collection[str]) -> dict[str, str]:
    """Return new ids that are one of ``gone`` with something before or after it, or without; each with that id.

    What is added ends at a character that is neither letter nor digit, so that `d1` is in `kb/d1` and not in `d12`.
    """
    known = {*gone}
    found = {doc_id: inner for doc_id in sorted(new) for inner in _inner(doc_id) if inner in known}
    wanted = {*new} - found.keys()
    for doc_id in sorted(known):
        found |= {inner: doc_id for inner in _inner(doc_id) if inner in wanted}
    return found


def _inner(doc_id: str) -> list[str]:
    """Return what stands between any two separators or ends of an id, without the whole id, the longest last."""
    edges = list(_EDGE.finditer(doc_id))[:_MOST_EDGES]
    starts = [0, *(edge.end() for edge in edges)]
    ends = [*(edge.start() for edge in edges), len(doc_id)]
    parts = {doc_id[start:end] for start in starts for end in ends if end > start}
    return sorted(parts - {doc_id, ""}, key=lambda part: (len(part), part))
