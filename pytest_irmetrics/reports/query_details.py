"""What reports say of single queries: how their rankings differ, which documents moved; a query as a block."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from pytest_irmetrics.base.numbers import change_text, score_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison.comparison import moves
from pytest_irmetrics.reports.blocks import Level, Query, RankedDocument
from pytest_irmetrics.reports.item_report import ItemReport, QueryReport


def query_option(query_id: str) -> str:
    """Return the option that shows a query in full, quoted for a shell: `--ir-query refund`."""
    separator = "=" if query_id.startswith("-") else " "
    return f"--ir-query{separator}{shlex.quote(query_id)}"


def look_command(item: ItemReport) -> str | None:
    """Return the command that shows in full the query that explains a failure best; None where no query does, or is shown so."""
    if item.look is None or item.worst is None or item.only_queries:
        return None
    return f"{item.look} {query_option(item.worst.query_id)}"


def score_texts(query: QueryReport, metrics: Iterable[str]) -> list[str]:
    """Return a query's score by each of the metrics that it has one by, where it moved with the one before: `mrr 1.0000 → 0.5000`."""
    return [
        f"{name} {change_text(query.scores_before[name], now) if query.delta(name) else score_text(now)}"
        for name in metrics
        if (now := query.scores.get(name)) is not None
    ]


def _document(
    query: QueryReport,
    doc_id: str,
    titles: Mapping[str, str],
    was: int | None = None,
    move: str = "",
    *,
    fell: bool = False,
) -> RankedDocument:
    grade = query.judgments.get(doc_id)
    judgment, kind = "unjudged", "unjudged"
    if doc_id in query.forbidden:
        judgment = kind = "forbidden"
    elif grade is not None:
        judgment, kind = f"grade {grade:g}", "relevant" if grade > 0 else "other"
    return RankedDocument(doc_id, titles.get(doc_id, ""), judgment, kind, was, move, fell)


def side_by_side(
    query: QueryReport, titles: Mapping[str, str]
) -> list[tuple[int, RankedDocument | None, RankedDocument | None]]:
    """Return for each rank the document before and the one now; None where a ranking is shorter."""
    before, now = _ranks(query.before or ()), _ranks(query.now)

    def documents(
        here: Mapping[str, int], other: Mapping[str, int], absent: str, elsewhere: str
    ) -> Iterator[RankedDocument]:
        for doc_id, rank in here.items():
            there = other.get(doc_id)
            move = absent if there is None else f"{elsewhere} {there}" if there != rank else ""
            fell = there is not None and (there > rank if here is before else there < rank)
            yield _document(query, doc_id, titles, there, move, fell=fell)

    compared = query.before is not None
    pairs = zip_longest(
        documents(before, now, "gone", "now"), documents(now, before, "new" if compared else "", "was")
    )
    return [(rank, *pair) for rank, pair in enumerate(pairs, 1)]


def _ranks(ranking: Sequence[str]) -> dict[str, int]:
    return {doc_id: rank for rank, doc_id in enumerate(ranking, 1)}


def missing_by_grade(query: QueryReport, titles: Mapping[str, str]) -> list[RankedDocument]:
    """Return the relevant documents that are not among today's results, the highest grade first.

    Of a query that nobody has judged, those that were among the baseline's.
    """
    ranks = _ranks(query.before or ())
    wanted = [doc_id for doc_id, grade in query.judgments.items() if grade > 0]
    wanted = [*ranks] if query.status == "unjudged" else sorted(wanted, key=lambda one: -query.judgments[one])
    return [
        _document(query, doc_id, titles, ranks.get(doc_id), _stages_text(query, doc_id))
        for doc_id in wanted
        if doc_id not in query.now
    ]


def _stages_text(query: QueryReport, doc_id: str) -> str:
    """Return where a document still was: `rank 37 of candidates, rank 2 of dense`, `in no stage`; empty where no stage is known."""
    ranks = [f"rank {found[doc_id]} of {name}" for name, found in query.stages.items() if doc_id in found]
    return ", ".join(ranks) or "in no stage" * bool(query.stages)


def moved_texts(query: QueryReport, titles: Mapping[str, str]) -> list[list[str]]:
    """Say which relevant documents moved, and what took their place; else what came back, and what is missing.

    Each sentence is a list of parts, the most important first.
    """

    def sentence(lead: str, documents: Iterable[RankedDocument]) -> list[str]:
        first, *more = [
            f"{document} ({', '.join(filter(None, [document.judgment, document.move]))})"
            if query.judgments
            else str(document)
            for document in documents
        ]
        return [f"{lead}: {first}", *more]

    def unmoved(doc_ids: Iterable[str]) -> list[RankedDocument]:
        return [_document(query, doc_id, titles) for doc_id in doc_ids]

    before = query.before
    moved = [] if before is None else [m for m in moves(query.judgments, before, query.now) if m.grade > 0]
    missing = missing_by_grade(query, titles)
    sentences = []
    if before is not None and moved:
        found = []
        for move in moved:
            ranks = (
                f"rank {move.before} → {move.after or 'gone'}" if move.before else f"new at rank {move.after}"
            )
            stages = "" if move.after else _stages_text(query, move.doc_id)
            document = _document(query, move.doc_id, titles)
            found.append(f"{document} (grade {move.grade:g}): {ranks}{f', {stages}' if stages else ''}")
        gone = moved[0].after is None
        above = [i for i in query.now if i not in before] if gone else moved[0].overtaken_by
        sentences = [found, *([sentence("new" if gone else "above it now", unmoved(above))] if above else [])]
        # Those that were not found before either are said where it is known how far they came.
        missing = [one for one in missing if one.move and one.was is None]
    elif before is None and query.now:
        sentences.append(sentence("now", unmoved(query.now)))
    elif before is not None and query.status == "unjudged":
        left, came = (
            [i for i in one if i not in other] for one, other in ((before, query.now), (query.now, before))
        )
        sentences += [sentence(lead, unmoved(ids)) for lead, ids in (("gone", left), ("new", came)) if ids]
    if missing and query.status != "unjudged":
        where = f"not among the {plural(len(query.now), 'result')}" if query.now else "not returned"
        sentences.append(sentence(where, missing))
    return sentences


def faults(query: QueryReport, titles: Mapping[str, str]) -> Iterator[str]:
    """Say what is wrong with a query's answer whatever moved: a forbidden document, an answer where none is right."""
    for doc_id in query.forbidden:
        if doc_id in query.now:
            document, rank = _document(query, doc_id, titles), query.now.index(doc_id) + 1
            yield f"{document} is forbidden and stands at rank {rank}."
    if query.status == "no_answer" and query.now:
        yield f"Marked no_answer, and {plural(len(query.now), 'document')} came back."


def query_block(
    query: QueryReport, item: ItemReport, level: Level = Level.NORMAL, *, in_full: bool = False
) -> Query:
    """Return one query with its scores, in full or where it explains nothing all of them, and the documents that moved."""
    explains = query.scores if in_full or query.explains is None else query.explains
    facts = score_texts(query, explains)
    facts += [] if query.took is None else [f"took {query.took:,.1f} ms"]
    # Of what was only slow the ranking explains nothing.
    slow = query.took is not None and bool(explains) and query.scores.keys().isdisjoint(explains)
    shown = query.error is None and not slow
    return Query(
        query.where,
        query.query_id,
        query.asks or "",
        query.status,
        facts,
        [*faults(query, item.titles)] if query.error is None else [query.error],
        # Of those that only -v shows, what moved: what moved it is the same in most.
        moved_texts(query, item.titles)[: 1 if level is Level.VERBOSE else None] if shown else (),
        side_by_side(query, item.titles) if shown else (),
        missing_by_grade(query, item.titles) if shown else (),
        compared=query.before is not None,
        in_full=in_full,
        level=level,
    )
