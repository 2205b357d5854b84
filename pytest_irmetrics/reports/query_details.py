"""What reports say of single queries: which explain a failure, how their rankings differ, which documents moved."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, change_text, score_text
from pytest_irmetrics.base.wording import cut, listed, plural
from pytest_irmetrics.comparison import moves
from pytest_irmetrics.reports.item_report import explaining_gates
from pytest_irmetrics.reports.texts import gated_rows, judgment_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import Move
    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, VerdictReport

_MOST_MOVES = 3
"""How many documents of a kind of move are named; the others are counted."""
_MOST_OVERTAKING = 2
"""How many documents are named that now stand above another, or that are new."""
_MOST_MISSING = 5
_LONGEST_TITLE = 50
"""Characters of a title within a sentence."""


def explaining_queries(gates: Iterable[VerdictReport], known: Collection[str]) -> dict[str, list[str]]:
    """Map the known queries that explain failed gates to all metrics that failed for them, those that matter most first."""
    gates = list(gates)
    explaining = explaining_gates(gates)
    found: dict[str, list[str]] = {
        query_id: [] for gate in explaining for query_id in gate.queries if query_id in known
    }
    # A gate that explains nothing (the `min` of another metric, beside a drop) still failed for its queries.
    for gate in [*explaining, *(gate for gate in gates if gate.state == "failed")]:
        for query_id in gate.queries:
            if gate.metric is not None and gate.metric not in found.get(query_id, [gate.metric]):
                found[query_id].append(gate.metric)
    return found


def explaining_lead(total: int) -> str:
    """Introduce the queries that explain a failure, where all of them are shown."""
    return "The query that explains it" if total == 1 else f"The {total:,} queries that explain it"


def query_option(query_id: str) -> str:
    """Return the option that shows a query in full, quoted for a shell: `--ir-query refund`."""
    separator = "=" if query_id.startswith("-") else " "
    return f"--ir-query{separator}{shlex.quote(query_id)}"


def is_only_slow(query: QueryReport, gates: Iterable[VerdictReport]) -> bool:
    """Whether all failed gates that name a query are on latencies, so that its ranking explains nothing."""
    naming = [gate for gate in gates if gate.state == "failed" and query.query_id in gate.queries]
    return query.took is not None and all(
        gate.metric is not None and gate.metric not in query.scores for gate in naming
    )


def took_text(query: QueryReport) -> str:
    """Return how long a query took, `took 61.3 ms`; empty where no latency is measured."""
    return "" if query.took is None else f"took {query.took:,.1f} ms"


def failed_gates(item: ItemReport) -> list[VerdictReport]:
    """Return the gates that fail the test."""
    return [gate for gate in item.gates if gate.state == "failed"]


def look_command(item: ItemReport) -> str | None:
    """Return the command that shows in full the query that explains a failure best; None where no query does, or is shown so."""
    query = next(
        (query_id for gate in explaining_gates(failed_gates(item)) for query_id in gate.queries), None
    )
    if item.look is None or query is None or item.only_queries:
        return None
    return f"{item.look} {query_option(query)}"


def queries_as_judged(item: ItemReport) -> dict[str, QueryReport]:
    """Map query ids to the queries, under the stored judgments where a failure shows only under these."""
    today = {query_id for gate in failed_gates(item) if not gate.as_stored for query_id in gate.queries}
    return {
        query.query_id: query if query.query_id in today else _under_stored_judgments(query)
        for query in item.queries
    }


def _under_stored_judgments(query: QueryReport) -> QueryReport:
    """Return a query as it is under the judgments stored with the baseline; as it is where these are today's."""
    stored = query.as_stored
    if stored is None:
        return query
    return replace(
        query,
        judgments=stored.judgments,
        now=stored.now,
        before=stored.before,
        scores=stored.scores,
        scores_before=stored.scores_before,
        status="judged as it was stored",
        as_stored=None,
    )


def stored_judgments_note(query: QueryReport) -> str:
    """Say how a query's scores fell under the stored judgments, where today's differ; empty if none fell."""
    stored = _under_stored_judgments(query)
    fell = (
        [metric for metric in query.scores if (score_delta(stored, metric) or 0.0) < 0]
        if query.as_stored
        else []
    )
    if not fell:
        return ""
    scores = "; ".join(f"{metric} {score_change_text(stored, metric)}" for metric in fell)
    return f"Judged as it was stored: {scores}."


def score_delta(query: QueryReport, metric: str | None) -> float | None:
    """Return how far a query's score moved (0 for up to 1e-9); None without two scores."""
    now, before = query.scores.get(metric or ""), query.scores_before.get(metric or "")
    if now is None or before is None:
        return None
    return 0.0 if abs(now - before) <= TOLERANCE else now - before


def count_worse(item: ItemReport) -> int:
    """Return how many of the queries in a report score lower than before in a gated metric, or where none is, in any."""
    metrics = {row.metric for row in gated_rows(item)}
    return sum(any((score_delta(query, metric) or 0.0) < 0 for metric in metrics) for query in item.queries)


def score_change_text(query: QueryReport, metric: str) -> str:
    """Return a query's score, `0.5000`; where it moved, the one before and the one now, `1.0000 → 0.5000`."""
    now, before = query.scores[metric], query.scores_before.get(metric)
    if not score_delta(query, metric):
        return score_text(now)
    return change_text(before, now)


def score_texts(query: QueryReport, metrics: Iterable[str]) -> list[str]:
    """Return a query's score by each of the metrics that it has one by: `mrr 1.0000 → 0.5000`."""
    return [
        f"{metric} {score_change_text(query, metric)}"
        for metric in metrics
        if query.scores.get(metric) is not None
    ]


def worst_first(item: ItemReport) -> list[QueryReport]:
    """Order queries: those with an error, those that explain a failed gate, the largest drops, the lowest scores."""
    metric = item.leading_metric
    known = {query.query_id for query in item.queries}
    explained = {query_id: place for place, query_id in enumerate(explaining_queries(item.gates, known))}

    def key(query: QueryReport) -> tuple[bool, int, float, bool, float]:
        now = query.scores.get(metric or "")
        return (
            query.error is None,
            explained.get(query.query_id, len(explained)),
            min(score_delta(query, metric) or 0.0, 0.0),
            now is None,
            now or 0.0,
        )

    return sorted(item.queries, key=key)


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document of a ranking, its judgment, and its rank in the ranking that this one is compared with."""

    doc_id: str
    judgment: str
    """As `judgment_text` has it."""
    judged: bool
    """Whether it is graded or forbidden."""
    relevant: bool
    """Whether it is graded above 0 and not forbidden."""
    forbidden: bool
    move: str
    """`was 5`, `new`, `now 4` or `gone`; empty where its rank is the same, or nothing is compared."""
    fell: bool
    """Whether its rank is worse now, or it is gone."""
    new: bool


def _document(
    query: QueryReport, doc_id: str, move: str = "", *, fell: bool = False, new: bool = False
) -> RankedDocument:
    forbidden = doc_id in query.forbidden
    return RankedDocument(
        doc_id,
        judgment_text(doc_id, query.judgments, query.forbidden),
        forbidden or doc_id in query.judgments,
        not forbidden and query.judgments.get(doc_id, 0) > 0,
        forbidden,
        move,
        fell,
        new,
    )


def side_by_side(query: QueryReport) -> list[tuple[int, RankedDocument | None, RankedDocument | None]]:
    """Return for each rank the document before and the one now; None where a ranking is shorter."""
    was = {doc_id: rank for rank, doc_id in enumerate(query.before or (), 1)}
    now = {doc_id: rank for rank, doc_id in enumerate(query.now, 1)}
    compared = query.before is not None
    before, after = [], []
    for doc_id, rank in was.items():
        other = now.get(doc_id)
        move = "gone" if other is None else f"now {other}" if other != rank else ""
        before.append(_document(query, doc_id, move, fell=other is None or other > rank))
    for doc_id, rank in now.items():
        other = was.get(doc_id)
        new = compared and other is None
        move = "new" if new else f"was {other}" if other not in (None, rank) else ""
        after.append(_document(query, doc_id, move, fell=other is not None and other < rank, new=new))
    return [
        (
            index + 1,
            before[index] if index < len(before) else None,
            after[index] if index < len(after) else None,
        )
        for index in range(max(len(before), len(after)))
    ]


def missing_documents(query: QueryReport) -> list[str]:
    """Return the relevant documents that are not among today's results, in the order of the judgments."""
    returned = set(query.now)
    return [doc_id for doc_id, grade in query.judgments.items() if grade > 0 and doc_id not in returned]


def missing_by_grade(query: QueryReport) -> list[RankedDocument]:
    """Return the relevant documents that are not among today's results, the highest grade first."""
    missing = sorted(missing_documents(query), key=lambda doc_id: -query.judgments[doc_id])
    return [_document(query, doc_id) for doc_id in missing]


def movements(query: QueryReport, titles: Mapping[str, str]) -> Iterator[str]:
    """Say which documents moved; where none did, or nothing is compared, which relevant ones are missing.

    ``titles`` maps ids to titles, of documents that have one.
    """
    yield from faults(query, titles)
    moved = [] if query.before is None else moves(query.judgments, query.before, query.now)
    moved = [move for move in moved if move.grade > 0]
    gone = [move for move in moved if move.after is None]
    fell = [move for move in moved if move.before and move.after and move.after > move.before]
    rose = [move for move in moved if move.after and (move.before is None or move.after < move.before)]
    on_gone = [f"{_gone(gone, query, titles)}{_new(query, titles)}."] if gone else []
    on_fallen = [
        f"{_graded(move, titles)} fell from rank {move.before} to {move.after}, overtaken by "
        f"{_overtaking(move.overtaken_by, query, titles)}."
        for move in fell[:_MOST_MOVES]
    ]
    # `moves` has the highest grade first; the sentences follow it.
    yield from [*on_fallen, *on_gone] if fell and moved[0] is fell[0] else [*on_gone, *on_fallen]
    for move in rose[:_MOST_MOVES]:
        if move.before is None:
            yield f"{_graded(move, titles)} is returned now, at rank {move.after}."
        else:
            yield f"{_graded(move, titles)} rose from rank {move.before} to {move.after}."
    for kind, how in ((fell, "fell"), (rose, "rose or came in")):
        if len(kind) > _MOST_MOVES:
            yield f"And {plural(len(kind) - _MOST_MOVES, 'more relevant document')} {how}."
    if not moved:
        yield from _missing(query, titles)


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


def _gone(gone: Sequence[Move], query: QueryReport, titles: Mapping[str, str]) -> str:
    """Say which relevant documents are no longer returned, and where they stood."""
    several = len(query.now) > 1
    if len(gone) == 1:
        how = f"no longer among the {len(query.now)} results" if several else "no longer returned"
        return f"{_graded(gone[0], titles)} is {how} (it was at rank {gone[0].before})"
    how = f"No longer among the {len(query.now)} results" if several else "No longer returned"
    named = [
        f"{_named(move.doc_id, titles)} (grade {move.grade:g}, was at rank {move.before})" for move in gone
    ]
    return f"{how}: {listed(named, _MOST_MOVES)}"


def _new(query: QueryReport, titles: Mapping[str, str]) -> str:
    """Name the documents that are returned now and were not before, whatever their judgment."""
    new = [doc_id for doc_id in query.now if doc_id not in (query.before or ())]
    if not new:
        return ""
    return f"; new {'are' if len(new) > 1 else 'is'} {_overtaking(new, query, titles)}"


def _overtaking(doc_ids: Sequence[str], query: QueryReport, titles: Mapping[str, str]) -> str:
    """Name documents that stand above another now, each with its judgment."""
    named = [
        f"{_named(doc_id, titles)} ({judgment_text(doc_id, query.judgments, query.forbidden)})"
        for doc_id in doc_ids
    ]
    return listed(named, _MOST_OVERTAKING)


def _graded(move: Move, titles: Mapping[str, str]) -> str:
    """Return a document's id, its title where it has one, and its grade."""
    return f"{_named(move.doc_id, titles)} (grade {move.grade:g})"


def _named(doc_id: str, titles: Mapping[str, str]) -> str:
    """Return a document's id, with its title where it has one: `faq-12 "Refunds of annual plans"`."""
    title = titles.get(doc_id)
    return doc_id if title is None else f'{doc_id} "{cut(title, _LONGEST_TITLE)}"'


def _missing(query: QueryReport, titles: Mapping[str, str]) -> Iterator[str]:
    """Name the relevant documents that are not among today's results."""
    missing = missing_by_grade(query)
    if missing:
        where = f"Not among the {plural(len(query.now), 'result')}" if query.now else "Not returned"
        named = [f"{_named(document.doc_id, titles)} ({document.judgment})" for document in missing]
        yield f"{where}: {listed(named, _MOST_MISSING)}."
