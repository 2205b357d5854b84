"""What became of one query's documents, in sentences: fallen and below what, gone, returned now, forbidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.comparison import moves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Move
    from pytest_irmetrics.reports.item_report import QueryReport

_NAMED = 3
"""How many documents of a kind are named; of the others it is said how many there are."""
_ABOVE = 2
"""How many are named of what stands above a document now, or is new."""
_MISSING = 5


def movements(view: QueryReport) -> Iterator[str]:
    """Say which documents moved; where none did, or nothing is compared, which relevant ones are missing."""
    for doc_id in view.forbidden:
        if doc_id in view.now:
            yield f"{doc_id} is forbidden and stands at rank {view.now.index(doc_id) + 1}{_before(doc_id, view)}."
    if view.status == "no_answer" and view.now:
        yield f"Marked no_answer, and {plural(len(view.now), 'document')} came back."
    moved = [] if view.before is None else moves(view.judgments, view.before, view.now)
    moved = [move for move in moved if move.grade > 0]
    gone = [move for move in moved if move.after is None]
    fell = [move for move in moved if move.before and move.after and move.after > move.before]
    rose = [move for move in moved if move.after and (move.before is None or move.after < move.before)]
    told = [f"{_gone(gone, view)}{_new(view)}."] if gone else []
    falls = [
        f"{_graded(move)} fell from rank {move.before} to {move.after}, below {_named(move.overtaken_by, view)}."
        for move in fell[:_NAMED]
    ]
    yield from [*falls, *told] if fell and moved[0] is fell[0] else [*told, *falls]
    for move in rose[:_NAMED]:
        came = "is returned now, at" if move.before is None else f"rose from rank {move.before} to"
        yield f"{_graded(move)} {came} {'rank ' if move.before is None else ''}{move.after}."
    for kind, how in ((fell, "fell"), (rose, "rose or came in")):
        if len(kind) > _NAMED:
            yield f"And {plural(len(kind) - _NAMED, 'more relevant document')} {how}."
    if not moved:
        yield from _missing(view)


def _before(doc_id: str, view: QueryReport) -> str:
    """Say whether a forbidden document was there in the baseline too."""
    if view.before is None:
        return ""
    if doc_id not in view.before:
        return ", and was not returned before"
    rank = view.before.index(doc_id) + 1
    return ", as before" if rank == view.now.index(doc_id) + 1 else f" (it was at rank {rank})"


def _gone(gone: Sequence[Move], view: QueryReport) -> str:
    several = len(view.now) > 1
    if len(gone) == 1:
        how = f"no longer among the {len(view.now)} results" if several else "no longer returned"
        return f"{_graded(gone[0])} is {how} (it was at rank {gone[0].before})"
    how = f"No longer among the {len(view.now)} results" if several else "No longer returned"
    named = [f"{move.doc_id} (grade {move.grade:g}, was at rank {move.before})" for move in gone]
    return f"{how}: {listed(named, _NAMED)}"


def _new(view: QueryReport) -> str:
    """Name what is returned and was not: it did not merely move up."""
    new = [doc_id for doc_id in view.now if doc_id not in (view.before or ())]
    return (
        f"; new are {_named(new, view)}" if len(new) > 1 else f"; new is {_named(new, view)}" if new else ""
    )


def _named(doc_ids: Sequence[str], view: QueryReport) -> str:
    return listed([f"{doc_id} ({_judged(doc_id, view)})" for doc_id in doc_ids], _ABOVE)


def _judged(doc_id: str, view: QueryReport) -> str:
    if doc_id in view.forbidden:
        return "forbidden"
    return f"grade {view.judgments[doc_id]:g}" if doc_id in view.judgments else "unjudged"


def _graded(move: Move) -> str:
    return f"{move.doc_id} (grade {move.grade:g})"


def _missing(view: QueryReport) -> Iterator[str]:
    """Name the relevant documents that are not returned, the highest grade first."""
    relevant = sorted(view.judgments.items(), key=lambda judged: -judged[1])
    missing = [
        f"{doc_id} (grade {grade:g})" for doc_id, grade in relevant if grade > 0 and doc_id not in view.now
    ]
    if missing:
        where = f"Not among the {plural(len(view.now), 'result')}" if view.now else "Not returned"
        yield f"{where}: {listed(missing, _MISSING)}."
