"""What reports say of single queries: how their rankings differ, which documents moved."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pytest_irmetrics.base.numbers import change_text, score_text
from pytest_irmetrics.base.wording import cut, plural
from pytest_irmetrics.comparison.comparison import moves
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
    """Whether its rank is worse now."""

    @property
    def was_text(self) -> str:
        """Its rank in the other ranking as it is printed: `5`, `new`, or `-`."""
        return "new" if self.move == "new" else str(self.was or "-")

    @property
    def stands_out(self) -> bool:
        """Whether it is relevant or forbidden."""
        return self.kind in ("relevant", "forbidden")

    def __str__(self) -> str:
        """Return its id, with its title where it has one: `faq-12 "Refunds of annual plans"`."""
        return f'{self.doc_id} "{cut(self.title, _LONGEST_TITLE)}"' if self.title else self.doc_id


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
    """Return the relevant documents that are not among today's results, the highest grade first."""
    missing = [doc_id for doc_id, grade in query.judgments.items() if grade > 0 and doc_id not in query.now]
    ranks = _ranks(query.before or ())
    return [
        _document(query, doc_id, titles, ranks.get(doc_id))
        for doc_id in sorted(missing, key=lambda doc_id: -query.judgments[doc_id])
    ]


def moved_texts(query: QueryReport, titles: Mapping[str, str]) -> list[list[str]]:
    """Say which relevant documents moved, and what took their place; else what came back, and what is missing.

    Each sentence is a list of parts, the most important first.
    """

    def sentence(lead: str, documents: Iterable[str]) -> list[str]:
        first, *more = [
            f"{document} ({document.judgment})"
            for document in (_document(query, doc_id, titles) for doc_id in documents)
        ]
        return [f"{lead}: {first}", *more]

    before = query.before
    moved = [] if before is None else [m for m in moves(query.judgments, before, query.now) if m.grade > 0]
    if before is not None and moved:
        found = []
        for move in moved:
            ranks = (
                f"rank {move.before} → {move.after or 'gone'}" if move.before else f"new at rank {move.after}"
            )
            found.append(f"{_document(query, move.doc_id, titles)} (grade {move.grade:g}): {ranks}")
        gone = moved[0].after is None
        above = [i for i in query.now if i not in before] if gone else moved[0].overtaken_by
        return [found, *([sentence("new" if gone else "above it now", above)] if above else [])]
    sentences = []
    if before is None and query.now:
        sentences.append(sentence("now", query.now))
    if missing := missing_by_grade(query, titles):
        where = f"not among the {plural(len(query.now), 'result')}" if query.now else "not returned"
        sentences.append(sentence(where, [document.doc_id for document in missing]))
    return sentences


def faults(query: QueryReport, titles: Mapping[str, str]) -> Iterator[str]:
    """Say what is wrong with a query's answer whatever moved: a forbidden document, an answer where none is right."""
    for doc_id in query.forbidden:
        if doc_id in query.now:
            document, rank = _document(query, doc_id, titles), query.now.index(doc_id) + 1
            yield f"{document} is forbidden and stands at rank {rank}."
    if query.status == "no_answer" and query.now:
        yield f"Marked no_answer, and {plural(len(query.now), 'document')} came back."
