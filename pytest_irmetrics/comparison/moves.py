"""Compare two rankings of one query: which judged documents moved, from which rank to which, and what overtook them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.metrics import Grade


class Move(NamedTuple):
    """The rank of a judged document in the baseline's ranking and in today's, from 1; None where it is not returned."""

    doc_id: str
    grade: Grade
    before: int | None
    after: int | None
    overtaken_by: tuple[str, ...] = ()
    """Of a document that fell: the ids that stand above it now and did not before, best first."""


def moves(judgments: Mapping[str, Grade], before: Sequence[str], after: Sequence[str]) -> tuple[Move, ...]:
    """Return the judged documents whose rank changed: falls first, the highest grade first, then the largest fall."""
    was = {doc_id: rank for rank, doc_id in enumerate(before, 1)}
    now = {doc_id: rank for rank, doc_id in enumerate(after, 1)}
    not_returned = max(len(before), len(after)) + 1

    def fall(move: Move) -> int:
        return (move.after or not_returned) - (move.before or not_returned)

    def overtaking(move: Move) -> tuple[str, ...]:
        """Return the ids that stand above the document now and did not before."""
        old = move.before or not_returned
        above = after[: move.after - 1] if move.after else after
        return (
            tuple(doc_id for doc_id in above if was.get(doc_id, not_returned) > old) if fall(move) > 0 else ()
        )

    found = [
        Move(doc_id, grade, was.get(doc_id), now.get(doc_id))
        for doc_id, grade in judgments.items()
        if was.get(doc_id) != now.get(doc_id)
    ]
    found.sort(key=lambda move: (fall(move) <= 0, -move.grade, -fall(move), move.doc_id))
    return tuple(move._replace(overtaken_by=overtaking(move)) for move in found)
