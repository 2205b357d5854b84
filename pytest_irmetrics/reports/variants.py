"""The variants of one test over one golden set side by side, such as the retrievers that it is parametrized with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.reports.headings import labels
from pytest_irmetrics.reports.texts import row_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One metric of all variants."""

    name: str
    cells: list[str]
    best: list[bool]
    """Whether each variant has the best mean; all False where all have the same."""


@dataclass(frozen=True, slots=True)
class VariantTable:
    """The means of all variants of one test over one golden set."""

    title: str
    columns: list[str]
    rows: list[VariantRow]


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
    return VariantTable(title, columns, rows)


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
    )


def mark(row: VariantRow, sign: str) -> Iterator[str]:
    """Yield a row's cells, with a sign after the best ones and as many blanks after the others."""
    for cell, best in zip(row.cells, row.best, strict=True):
        yield f"{cell}{sign if best else ' ' * len(sign)}"
