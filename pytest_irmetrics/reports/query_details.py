"""What reports say of single queries: how their rankings differ, which documents moved."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.numbers import change_text, score_text
from pytest_irmetrics.base.wording import cut, plural
from pytest_irmetrics.comparison.comparison import moves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_irmetrics.comparison.comparison import Move
    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport

_LONGEST_TITLE = 50
"""Characters of a title within a sentence."""


def query_option(query_id: str) -> str:
    """Return the option that shows a query in full, quoted for a shell: `--ir-query refund`."""
    separator = "=" if query_id.startswith("-") else " "
    return f"--ir-query{separator}{shlex.quote(query_id)}"


def look_command(item: ItemReport) -> str | None:
    """Return the command that shows in full the query that explains a failure best; None where no query does, or is shown so."""
    query = next((query for query in item.queries if query.explains is not None), None)
    if item.look is None or query is None or item.only_queries:
        return None
    return f"{item.look} {query_option(query.query_id)}"


def score_texts(query: QueryReport, metrics: Iterable[str]) -> list[str]:
    """Return a query's score by each of the metrics that it has one by, where it moved with the one before: `mrr 1.0000 → 0.5000`."""
    return [
        f"{name} {change_text(query.scores_before[name], now) if query.delta(name) else score_text(now)}"
        for name in metrics
        if (now := query.scores.get(name)) is not None
    ]


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a ranking, its judgment, and its rank in the ranking that this one is compared with."""

    doc_id: str
    title: str
    """Empty where none is known."""
    judgment: str
    """`forbidden`, `grade 3` or `unjudged`."""
    kind: str
    """`forbidden`, `relevant` (graded above 0), `other` (judged not relevant) or `unjudged`."""
    was: int | None = None
    """Its rank in the other ranking."""
    move: str = ""
    """`was 5`, `new`, `now 4` or `gone`; empty where its rank is the same, or nothing is compared."""
    fell: bool = False
    """Whether its rank is worse now, or it is gone."""
    new: bool = False

    @property
    def stands_out(self) -> bool:
        """Whether it is relevant or forbidden."""
        return self.kind in ("relevant", "forbidden")


def judgment_text(doc_id: str, query: QueryReport) -> str:
    """Return what a golden set says of a document: `forbidden`, `grade 3`, or `unjudged`."""
    if doc_id in query.forbidden:
        return "forbidden"
    return f"grade {query.judgments[doc_id]:g}" if doc_id in query.judgments else "unjudged"


def _document(query: QueryReport, doc_id: str, titles: Mapping[str, str], **ranked: Any) -> RankedDocument:
    grade = query.judgments.get(doc_id)
    kind = "unjudged" if grade is None else "relevant" if grade > 0 else "other"
    judgment = judgment_text(doc_id, query)
    kind = "forbidden" if doc_id in query.forbidden else kind
    return RankedDocument(doc_id, titles.get(doc_id, ""), judgment, kind, **ranked)


def side_by_side(
    query: QueryReport, titles: Mapping[str, str]
) -> list[tuple[int, RankedDocument | None, RankedDocument | None]]:
    """Return for each rank the document before and the one now; None where a ranking is shorter."""
    ranks_before = {doc_id: rank for rank, doc_id in enumerate(query.before or (), 1)}
    ranks_now = {doc_id: rank for rank, doc_id in enumerate(query.now, 1)}
    before, after = [], []
    for doc_id, rank in ranks_before.items():
        now = ranks_now.get(doc_id)
        move = "gone" if now is None else f"now {now}" if now != rank else ""
        before.append(_document(query, doc_id, titles, was=now, move=move, fell=now is None or now > rank))
    for doc_id, rank in ranks_now.items():
        was = ranks_before.get(doc_id)
        new = query.before is not None and was is None
        move = "new" if new else f"was {was}" if was not in (None, rank) else ""
        after.append(
            _document(query, doc_id, titles, was=was, move=move, fell=was is not None and was < rank, new=new)
        )
    return [(rank, *pair) for rank, pair in enumerate(zip_longest(before, after), 1)]


def missing_by_grade(query: QueryReport, titles: Mapping[str, str]) -> list[RankedDocument]:
    """Return the relevant documents that are not among today's results, the highest grade first."""
    missing = [doc_id for doc_id, grade in query.judgments.items() if grade > 0 and doc_id not in query.now]
    ranks = {doc_id: rank for rank, doc_id in enumerate(query.before or (), 1)}
    return [
        _document(query, doc_id, titles, was=ranks.get(doc_id))
        for doc_id in sorted(missing, key=lambda doc_id: -query.judgments[doc_id])
    ]


def has_moved(query: QueryReport) -> bool:
    """Whether a query's answer or score is another than before, or wrong in itself."""
    return (
        query.error is not None
        or query.before != query.now
        or any(faults(query, {}))
        or any(map(query.delta, query.scores))
    )


def moved_texts(query: QueryReport, titles: Mapping[str, str], *, ranked: bool = False) -> list[list[str]]:
    """Say which relevant documents moved, and what took their place; else what is missing.

    Each sentence is a list of parts, the most important first. ``ranked``: the ranking is shown too.
    """
    found = []
    moved = (
        []
        if query.before is None
        else [move for move in moves(query.judgments, query.before, query.now) if move.grade > 0]
    )
    if moved:
        found.append(
            [f"{_named(move.doc_id, titles)} (grade {move.grade:g}): {_from_to(move)}" for move in moved]
        )
        first = moved[0]
        gone = first.after is None
        above = (
            [doc_id for doc_id in query.now if doc_id not in (query.before or ())]
            if gone
            else first.overtaken_by
        )
        named = [_judged(doc_id, query, titles) for doc_id in above]
        if named:
            found.append([f"{'new' if gone else 'above it now'}: {named[0]}", *named[1:]])
        return found
    if query.before is None and query.now and not ranked:
        ranks = [f"{rank} {_judged(doc_id, query, titles)}" for rank, doc_id in enumerate(query.now, 1)]
        found.append([f"now: {ranks[0]}", *ranks[1:]])
    if missing := missing_by_grade(query, titles):
        named = [f"{_named(one.doc_id, titles)} ({one.judgment})" for one in missing]
        where = f"not among the {plural(len(query.now), 'result')}" if query.now else "not returned"
        found.append([f"{where}: {named[0]}", *named[1:]])
    return found


def _judged(doc_id: str, query: QueryReport, titles: Mapping[str, str]) -> str:
    return f"{_named(doc_id, titles)} ({judgment_text(doc_id, query)})"


def _from_to(move: Move) -> str:
    return (
        f"new at rank {move.after}" if move.before is None else f"rank {move.before} → {move.after or 'gone'}"
    )


def faults(query: QueryReport, titles: Mapping[str, str]) -> Iterator[str]:
    """Say what is wrong with a query's answer whatever moved: a forbidden document, an answer where none is right."""
    for doc_id in query.forbidden:
        if doc_id in query.now:
            rank = query.now.index(doc_id) + 1
            yield f"{_named(doc_id, titles)} is forbidden and stands at rank {rank}{_forbidden_before(doc_id, query)}."
    if query.status == "no_answer" and query.now:
        yield f"Marked no_answer, and {plural(len(query.now), 'document')} came back."


def _forbidden_before(doc_id: str, query: QueryReport) -> str:
    """Say whether a forbidden document was there in the baseline too."""
    if query.before is None:
        return ""
    if doc_id not in query.before:
        return ", and was not returned before"
    rank = query.before.index(doc_id) + 1
    return ", as before" if rank == query.now.index(doc_id) + 1 else f" (it was at rank {rank})"


def _named(doc_id: str, titles: Mapping[str, str]) -> str:
    """Return a document's id, with its title where it has one: `faq-12 "Refunds of annual plans"`."""
    title = titles.get(doc_id)
    return doc_id if title is None else f'{doc_id} "{cut(title, _LONGEST_TITLE)}"'
