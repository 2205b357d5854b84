"""A query as a block of a report: its scores, which documents moved, both rankings side by side.

`query_block` is what reports take. The words on each document, such as `grade 3` and `new`, are made in `_Documents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import inf

from pytest_irmetrics.base.numbers import change_text, score_text
from pytest_irmetrics.base.wording import as_title, plural
from pytest_irmetrics.metrics import Grade
from pytest_irmetrics.reports.blocks import DocumentKind, Level, Query, RankedDocument, RankRow
from pytest_irmetrics.reports.item_report import WORST, ItemReport, QueryReport


def query_block(
    query: QueryReport, item: ItemReport, level: Level = Level.NORMAL, *, in_full: bool = False
) -> Query:
    """Return one query with the scores that explain a failure, or all of them, and the documents that moved."""
    explains = [*(query.scores if in_full or query.explains is None else query.explains)]
    # Of what was only slow the ranking explains nothing.
    shown = query.error is None and not (explains and query.scores.keys().isdisjoint(explains))
    documents = _Documents(query, item.titles, _reach(query.explains or [item.leading_metric or ""]))
    missing = documents.missing() if shown else []
    empty = ["no results"] if shown and (query.before or in_full) and not query.now else []
    return Query(
        report=query,
        facts=[*_scores(query, explains), *_remarks(query, item, in_full=in_full), *empty],
        faults=[*documents.faults()] if query.error is None else [query.error],
        # Of those that only -v shows, what moved: what moved it is the same in most.
        moved=[*documents.moved(missing)][: 1 if level is Level.VERBOSE else None] if shown else (),
        ranks=documents.side_by_side() if shown else (),
        missing=missing,
        in_full=in_full,
        level=level,
    )


def _scores(query: QueryReport, names: Iterable[str]) -> Iterator[str]:
    """Yield a query's scores by these metrics, `mrr 1.0000 → 0.5000` where one moved."""
    for name in names:
        now = query.scores.get(name)
        if now is not None:
            has_moved = query.delta(name)
            yield f"{name} {change_text(query.scores_before[name], now) if has_moved else score_text(now)}"


def _remarks(query: QueryReport, item: ItemReport, *, in_full: bool) -> Iterator[str]:
    """Yield what is said behind a query's scores: that it explains another limit than the first that failed, and how long it took."""
    # The line above the queries counts those of the first, which others may follow.
    first = item.explaining_gates[0].queries if query.explains is not None and not in_full else ()
    if len(first) >= WORST and query.query_id not in first:
        yield "of another limit"
    if query.took is not None:
        yield f"took {query.took:,.1f} ms"


def _reach(names: Iterable[str]) -> float:
    """Return the first rank below the deepest cut-off of some metrics, from which on none of them sees a move; infinity where one has no cut-off."""
    cuts = [name.rpartition("@")[2] for name in names]
    return max(int(k) + 1 if k.isdecimal() else inf for k in cuts)


class _Documents:
    """What is said of the documents of one query: their judgments, and where they stood before and stand now."""

    def __init__(self, query: QueryReport, titles: Mapping[str, str], reach: float) -> None:
        """`reach` is the first rank that the metrics do not see."""
        self._query, self._titles, self._reach = query, titles, reach
        self._before, self._now = _ranks(query.before or ()), _ranks(query.now)

    def _named(self, doc_id: str, move: str = "") -> RankedDocument:
        """Return a document with all that is said of it, in the words that `RankedDocument` lists: templates compare them."""
        query, grade = self._query, self._query.judgments.get(doc_id)
        kind: DocumentKind = "unjudged" if grade is None else "graded" if grade > 0 else "other"
        kind = "forbidden" if doc_id in query.forbidden else kind
        judgment = f"grade {grade:g}" if kind in ("graded", "other") else kind
        before, now = self._before.get(doc_id), self._now.get(doc_id)
        title = self._titles.get(doc_id) or as_title(query.texts.get(doc_id, ""))
        return RankedDocument(doc_id, title, judgment, kind, before, now, move)

    def side_by_side(self) -> list[RankRow]:
        """Return for each rank the document before and the one now."""

        def side(
            here: Mapping[str, int], other: Mapping[str, int], absent: str, elsewhere: str
        ) -> Iterator[RankedDocument]:
            for doc_id, rank in here.items():
                there = other.get(doc_id)
                move = absent if there is None else f"{elsewhere} {there}" if there != rank else ""
                yield self._named(doc_id, move)

        new = "" if self._query.before is None else "new"
        before, now = side(self._before, self._now, "gone", "now"), side(self._now, self._before, new, "was")
        return [(rank, *pair) for rank, pair in enumerate(zip_longest(before, now), 1)]

    def missing(self) -> list[RankedDocument]:
        """Return the documents with a grade above 0 that are not among today's results, the highest grade first.

        Of a query that nobody has judged, those that were among the baseline's.
        """
        judgments = self._query.judgments
        wanted = [doc_id for doc_id, grade in judgments.items() if grade > 0]
        wanted.sort(key=lambda doc_id: -judgments[doc_id])
        if self._query.status == "unjudged":
            wanted = [*self._before]
        return [self._named(doc_id, self._stages(doc_id)) for doc_id in wanted if doc_id not in self._now]

    def _stages(self, doc_id: str) -> str:
        """Return where a document still was: `rank 37 of candidates, rank 2 of dense`, `in no stage`; empty where no stage is known."""
        stages = self._query.stages
        ranks = [f"rank {found[doc_id]} of {name}" for name, found in stages.items() if doc_id in found]
        return ", ".join(ranks) or "in no stage" * bool(stages)

    def moved(self, missing: Iterable[RankedDocument]) -> Iterator[list[str]]:
        """Say which documents with a grade above 0 moved, and what took their place; else what came back, and what is missing.

        Each sentence is a list of parts, the most important first.
        """
        query, before = self._query, self._query.before
        if before is None:
            yield from self._sentence("now", map(self._named, query.now))
        elif query.status == "unjudged":
            yield from self._sentence("gone", (self._named(i) for i in before if i not in self._now))
            yield from self._sentence("new", (self._named(i) for i in query.now if i not in self._before))
            return
        elif moved := self._by_fall():
            yield [self._move_text(doc_id) for doc_id in moved]
            was, now = self._before.get(moved[0], inf), self._now.get(moved[0])
            if now is None:
                yield from self._sentence("new", (self._named(i) for i in query.now if i not in self._before))
            elif now > was:
                above = (i for i in query.now[: now - 1] if self._before.get(i, inf) > was)
                yield from self._sentence("above it now", map(self._named, above))
            # Those that were not found before either are said where it is known how far they came.
            missing = [one for one in missing if one.move and one.before is None]
        where = f"not among the {plural(len(query.now), 'result')}" if query.now else "not returned"
        yield from self._sentence(where, missing)

    def _sentence(self, lead: str, documents: Iterable[RankedDocument]) -> Iterator[list[str]]:
        """Yield a sentence that lists documents; none where there is none."""
        shown = [
            f"{document} ({', '.join(filter(None, [document.judgment, document.move]))})"
            if self._query.judgments
            else str(document)
            for document in documents
        ]
        if shown:
            yield [f"{lead}: {shown[0]}", *shown[1:]]

    def _by_fall(self) -> list[str]:
        """Return the documents with a grade above 0 whose rank changed: falls that a metric sees first, the highest grade first, then the largest."""
        judgments, below = self._query.judgments, max(len(self._before), len(self._now)) + 1

        def key(doc_id: str) -> tuple[int, Grade, int, str]:
            # 0 for a fall and 1 for a rise that the metric sees, 2 for a move below its cut-off.
            was, now = self._before.get(doc_id, below), self._now.get(doc_id, below)
            fall = min(now, self._reach) - min(was, self._reach)
            return (0 if fall > 0 else 1 if fall else 2), -judgments[doc_id], was - now, doc_id

        graded = (doc_id for doc_id, grade in judgments.items() if grade > 0)
        return sorted((i for i in graded if self._before.get(i) != self._now.get(i)), key=key)

    def _move_text(self, doc_id: str) -> str:
        """Return where a judged document stood and stands: `faq-1 (grade 3): rank 1 → 4`."""
        one = self._named(doc_id)
        ranks = f"rank {one.before} → {one.now or 'gone'}" if one.before else f"new at rank {one.now}"
        stages = "" if one.now else self._stages(doc_id)
        return f"{one} ({one.judgment}): {', '.join(filter(None, [ranks, stages]))}"

    def faults(self) -> Iterator[str]:
        """Say what is wrong with an answer whatever moved: a forbidden document, results where none is right."""
        for doc_id in self._query.forbidden:
            if doc_id in self._now:
                yield f"{self._named(doc_id)} is forbidden and stands at rank {self._now[doc_id]}."
        if self._query.status == "no_answer" and self._now:
            yield f"Marked no_answer, and {plural(len(self._now), 'document')} came back."


def _ranks(ranking: Sequence[str]) -> dict[str, int]:
    return {doc_id: rank for rank, doc_id in enumerate(ranking, 1)}
