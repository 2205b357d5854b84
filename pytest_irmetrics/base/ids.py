"""Ids of queries and documents: what can be one, which is there twice, in which order scores put them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def as_id(value: object) -> str | None:
    """Give the text of what can be an id (text, an integer, a UUID, a NumPy integer), None for all else."""
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
    """Find the first id that is there a second time, with its two ranks, from 1."""
    if len(set(ids)) == len(ids):
        return None
    ranks: dict[str, int] = {}
    return next(
        (doc, ranks[doc], rank) for rank, doc in enumerate(ids, 1) if ranks.setdefault(doc, rank) != rank
    )


def ranked(scores: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Order ids as trec_eval does: by score, highest first; ties by id, descending."""
    return tuple([doc for _, doc in sorted([(score, doc) for doc, score in scores], reverse=True)])
