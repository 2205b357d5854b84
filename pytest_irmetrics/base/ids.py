"""Read ids of queries and documents as text, find duplicates, and rank ids by score."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import SupportsIndex
from uuid import UUID


def as_id(value: object) -> str | None:
    """Return an id as text: of text, an integer, a UUID or a NumPy integer; None for all else."""
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, whatever a subclass prints as
    if isinstance(value, bool):
        return None
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, SupportsIndex) and "bool" not in str(getattr(value, "dtype", "")):
        try:
            return str(operator.index(value))
        except (TypeError, ValueError):  # an array of several, a NumPy boolean; over 4,300 digits
            return None
    return None


def first_repeat(ids: Sequence[str]) -> tuple[str, int, int] | None:
    """Return the first id that comes a second time, with its two ranks, from 1; None where all are different."""
    if len(set(ids)) == len(ids):
        return None
    ranks: dict[str, int] = {}
    return next(
        (doc, ranks[doc], rank) for rank, doc in enumerate(ids, 1) if ranks.setdefault(doc, rank) != rank
    )


def ranked(scores: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Order ids as trec_eval does: by score, highest first; ties by id, descending."""
    return tuple([doc for _, doc in sorted([(score, doc) for doc, score in scores], reverse=True)])
