"""Where judged documents stood in one ranking and stand in another, and what came above them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.metrics import Grade


@dataclass(frozen=True, slots=True)
class Move:
    """Where a judged document stood in the baseline's ranking and stands now; ranks from 1, None: not returned."""

    doc_id: str
    grade: Grade
    before: int | None
    after: int | None
    overtaken_by: tuple[str, ...] = ()
    """Of a document that fell: what stands above it now and did not before, best first."""


def moves(judgments: Mapping[str, Grade], before: Sequence[str], after: Sequence[str]) -> tuple[Move, ...]:
    """Return the judged documents that stand elsewhere than before: falls first, the highest grade first."""
    was = {doc_id: rank for rank, doc_id in enumerate(before, 1)}
    now = {doc_id: rank for rank, doc_id in enumerate(after, 1)}
    beyond = max(len(before), len(after)) + 1

    def fall(move: Move) -> int:
        return (move.after or beyond) - (move.before or beyond)

    def overtaking(move: Move) -> tuple[str, ...]:
        """Give what stands above the document now and did not before."""
        old = move.before or beyond
        above = after[: move.after - 1] if move.after else after
        return tuple(doc_id for doc_id in above if was.get(doc_id, beyond) > old) if fall(move) > 0 else ()

    found = [
        Move(doc_id, grade, was.get(doc_id), now.get(doc_id))
        for doc_id, grade in judgments.items()
        if was.get(doc_id) != now.get(doc_id)
    ]
    found.sort(key=lambda move: (fall(move) <= 0, -move.grade, -fall(move), move.doc_id))
    return tuple(replace(move, overtaken_by=overtaking(move)) for move in found)
