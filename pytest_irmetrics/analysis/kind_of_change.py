"""Classify a drop: by a sign of its cause in the answers, else by what it did to the relevant documents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_irmetrics.analysis.signs import Sign, SignKind, find_sign
from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.evaluation import read_metrics
from pytest_irmetrics.metrics import mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.comparison import Comparison, MetricChange
    from pytest_irmetrics.metrics import Grade

_MAIN_CAUSE = 2 / 3
"""From which share of a drop on one cause is named as the cause."""

_FEWER_RESULTS = 0.8
"""Below which share of the results before it is said that fewer come back."""

_FEWEST_QUERIES = 3
"""How many queries it takes to speak of a kind of change rather than of single cases."""


class Causes(NamedTuple):
    """A change of NDCG as the sum of two parts: of documents found or lost, and of documents that moved.

    Over all answers to a query that was asked several times; counts are then averages.
    """

    found: float
    """The part of relevant documents that are returned on one side only."""
    ranked: float
    """The part of relevant documents that are returned on both sides, at different ranks."""
    lost_documents: int
    gained_documents: int


def causes(comparison: Comparison) -> Causes:
    """Divide the change of NDCG over the paired queries, at the depth that both runs have, exactly.

    NDCG is Σ gain / log2(rank + 1) over the relevant documents, divided by the ideal DCG (Järvelin and Kekäläinen, 2002),
    which both runs share. So the change is the sum of one term for each document.
    """
    found = ranked = lost = gained = 0.0
    queries = [query for query in comparison.now.counted if not query.no_answer]
    total = math.fsum(query.weight for query in queries)
    for query in queries:
        ideal = _ideal(query.judgments, comparison.depth)
        if not ideal:
            continue
        # Chunks that hold several passages make a ranking longer than its depth.
        before = [_discounts(r[: comparison.depth]) for r in comparison.baseline.rankings(query.id)]
        now = [_discounts(r[: comparison.depth]) for r in comparison.now.rankings(query.id)]
        times = math.lcm(len(before), len(now))
        for turn in range(times):
            then, today = before[turn % len(before)], now[turn % len(now)]
            for doc_id, grade in query.judgments.items():
                was, is_ = then.get(doc_id), today.get(doc_id)
                if grade <= 0 or was == is_:
                    continue
                part = query.weight / total * grade * ((is_ or 0.0) - (was or 0.0)) / ideal / times
                if was is None or is_ is None:
                    found += part
                    gained += (was is None) / times
                    lost += (is_ is None) / times
                else:
                    ranked += part
    return Causes(found, ranked, round(lost), round(gained))


def _discounts(ranking: Sequence[str]) -> dict[str, float]:
    """Map documents to 1 / log2(rank + 1)."""
    return {doc_id: 1 / math.log2(rank + 1) for rank, doc_id in enumerate(ranking, 1)}


def _ideal(judgments: Mapping[str, Grade], depth: int | None) -> float:
    """Return the DCG of the ideal ranking, cut at a depth, with gains as in `causes`."""
    best = sorted((grade for grade in judgments.values() if grade > 0), reverse=True)[:depth]
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))


Kind = Literal[
    SignKind,
    "fewer_results",
    "not_found",
    "ranked_lower",
    "not_found_and_ranked_lower",
    "one_slice",
    "unjudged",
]
"""What kind of change a drop is, as a word; JSON reports have it, so it never changes its meaning."""


class KindOfChange(NamedTuple):
    """What kind of change a drop is, with the sentences that say so."""

    kind: Kind
    sentences: tuple[str, ...]
    sign: Sign | None = None
    """The sign by which it was told; None where it was told by what became of relevant documents."""


def kind_of_change(comparison: Comparison) -> KindOfChange | None:
    """Say what kind of drop it is; None where neither NDCG nor recall fell."""
    whole = "ndcg" if comparison.depth is None else f"ndcg@{comparison.depth}"
    measured = comparison.with_metrics(read_metrics([whole, "recall"]))
    change = measured.change(whole)
    fell = change.n > 0 and change.delta < -TOLERANCE
    if not fell and measured.change("recall").delta >= -TOLERANCE:
        return None
    sign = find_sign(comparison)
    if sign is not None and (sign.alone or not fell):
        return KindOfChange(sign.kind, (sign.text,), sign)
    if not fell:
        return None
    parts = causes(comparison)
    fewer = _fewer_results(comparison, emptied=sign is not None and sign.kind == "nothing_returned")
    sentences = [*fewer, _cause(parts, change, comparison)]
    if sign is not None:
        return KindOfChange(sign.kind, (sign.text, *sentences), sign)
    return KindOfChange("fewer_results" if len(sentences) > 1 else _part(parts, change), tuple(sentences))


def _fewer_results(comparison: Comparison, *, emptied: bool) -> Iterator[str]:
    """Say that queries come back empty, unless that was said (``emptied``), and that others have clearly fewer results."""
    sizes = [
        [
            mean([len(ranking) for ranking in side.rankings(query.id)])
            for side in (comparison.baseline, comparison.now)
        ]
        for query in comparison.now.counted
        if not query.no_answer
    ]
    empty = sum(before > 0 and not now for before, now in sizes)
    if empty >= _FEWEST_QUERIES and not emptied:
        yield f"Nothing comes back any more for {empty:,} of {plural(len(sizes), 'query', 'queries')}."
        emptied = True
    answered = [(before, now) for before, now in sizes if before > 0 and now > 0]
    if not answered:
        return
    before, now = (math.fsum(side) / len(answered) for side in zip(*answered, strict=True))
    if now < _FEWER_RESULTS * before:
        which = "of the others " if emptied else ""
        yield f"Fewer results come back: {now:.1f} a query {which}on average, and {before:.1f} before."


def _part(parts: Causes, change: MetricChange) -> Kind:
    """Return which part is the larger: documents lost, ranked lower, or both."""
    if -parts.ranked >= _MAIN_CAUSE * -change.delta:
        return "ranked_lower"
    return "not_found" if -parts.found >= _MAIN_CAUSE * -change.delta else "not_found_and_ranked_lower"


def _cause(parts: Causes, change: MetricChange, comparison: Comparison) -> str:
    """Say which part of a drop is documents lost, and which is documents ranked lower."""
    depth = comparison.depth
    # NDCG counts every grade above 0, also those below the relevance level.
    level = comparison.now.golden.relevance_level
    grades = {grade for query in comparison.now.counted for grade in query.judgments.values() if grade > 0}
    left = plural(
        parts.lost_documents, "graded document" if any(g < level for g in grades) else "relevant document"
    )
    gone = "left the results" if depth is None else f"dropped out of the first {depth}"
    exchanged = f"{left} {gone} and {parts.gained_documents} came in"
    ranked = f"({signed_text(parts.ranked)} of {change.metric.name})"
    part = _part(parts, change)
    if part == "not_found":
        return f"Documents are no longer found: {exchanged}."
    if part == "not_found_and_ranked_lower":
        found = f"({signed_text(parts.found)} of {change.metric.name})"
        return f"Documents are no longer found: {exchanged} {found}; and others ranked lower {ranked}."
    if not parts.lost_documents:
        came_in = f"; {parts.gained_documents} came in" if parts.gained_documents else ""
        return f"Documents are found as before, but ranked lower {ranked}{came_in}."
    return f"Mostly documents ranked lower {ranked}: {exchanged}."
