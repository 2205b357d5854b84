"""The variants of one test over one golden set side by side, such as the retrievers that it is parametrized with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, interval_ends_text, score_text, signed_text
from pytest_irmetrics.comparison import significance
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.reports.headings import labels
from pytest_irmetrics.reports.texts import row_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, LeadingScores


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One metric of all variants."""

    name: str
    cells: list[str]
    best: list[bool]
    """Whether each variant has the best mean; all False where all have the same."""
    values: list[float | None]
    """The means; None for a variant without this metric."""


@dataclass(frozen=True, slots=True)
class VariantTable:
    """The means of all variants of one test over one golden set."""

    title: str
    columns: list[str]
    rows: list[VariantRow]
    sentence: str
    """How far the others are from the best by the leading metric, with intervals; empty where that is not known."""


def variant_tables(items: Iterable[ItemReport]) -> list[VariantTable]:
    """Return a table for each test and golden set that several items share."""
    groups: dict[tuple[str, str], list[ItemReport]] = {}
    for item in items:
        if item.rows and item.selftest is None and not item.only_queries:
            test = item.nodeid.partition("[")[0]
            groups.setdefault((test, item.golden_set), []).append(item)
    return [
        _table(f"{golden_set}, {test}", sorted(group, key=lambda item: item.nodeid))
        for (test, golden_set), group in groups.items()
        if len(group) > 1
    ]


def _table(title: str, items: Sequence[ItemReport]) -> VariantTable:
    columns = labels([item.nodeid.partition("[")[2].removesuffix("]") for item in items])
    means: dict[str, list[float | None]] = {}
    for at, item in enumerate(items):
        for row in item.rows:
            means.setdefault(row_name(row), [None] * len(items))[at] = row.full
    rows = [_row(name, values) for name, values in means.items()]
    return VariantTable(title, columns, rows, _differences(items, columns))


def _row(name: str, values: Sequence[float | None]) -> VariantRow:
    known = [value for value in values if value is not None]
    lower_is_better = name.startswith("latency")
    top = min(known, default=0.0) if lower_is_better else max(known, default=0.0)
    # How much is judged says nothing of which is better.
    differ = bool(known) and max(known) - min(known) > TOLERANCE and not name.startswith("judged")
    return VariantRow(
        name,
        [score_text(value, *known) for value in values],
        [differ and value is not None and abs(value - top) <= TOLERANCE for value in values],
        list(values),
    )


def _differences(items: Sequence[ItemReport], columns: Sequence[str]) -> str:
    """Say how far each variant's mean is from the best one's, over the queries that both score."""
    scored = [
        (label, item.leading) for label, item in zip(columns, items, strict=True) if item.leading is not None
    ]
    if len(scored) < 2 or len({leading.metric for _, leading in scored}) > 1:
        return ""
    order = sorted(scored, key=lambda one: -_mean(one[1]))
    (label, best), *others = order
    told = ", ".join(f"{other} {_difference(best, leading)}" for other, leading in others)
    return f"By {best.metric}, {label} is best; from there, with a 95 % interval each: {told}."


def _mean(leading: LeadingScores) -> float:
    weights = [leading.weights.get(query_id, 1.0) for query_id in leading.scores]
    parts = (weight * score for weight, score in zip(weights, leading.scores.values(), strict=True))
    return math.fsum(parts) / math.fsum(weights) if weights else 0.0


def _difference(best: LeadingScores, other: LeadingScores) -> str:
    both = [query_id for query_id in best.scores if query_id in other.scores]
    if not both:
        return "not over the same queries"
    weights = [best.weights.get(query_id, 1.0) for query_id in both]
    scale = len(both) / math.fsum(weights)
    differences = [
        weight * scale * (other.scores[query_id] - best.scores[query_id])
        for query_id, weight in zip(both, weights, strict=True)
    ]
    delta = math.fsum(differences) / len(both)
    interval = significance.interval(differences)
    widest = _widest(best.metric)
    ends = (
        "" if interval is None else interval_ends_text((max(interval[0], -widest), min(interval[1], widest)))
    )
    return f"{signed_text(delta)}{f' ({ends})' if ends else ''}"


def _widest(name: str) -> float:
    """Return the largest difference of two scores of a metric; of one's own metric there is none."""
    try:
        metric = parse_metric(name)
    except MetricError:
        return math.inf
    return metric.upper - metric.lower


def mark(row: VariantRow, sign: str) -> Iterator[str]:
    """Yield a row's cells, with a sign after the best ones and as many blanks after the others."""
    for cell, best in zip(row.cells, row.best, strict=True):
        yield f"{cell}{sign if best else ' ' * len(sign)}"
