"""The variants of one test over one golden set side by side, such as the retrievers that it is parametrized with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.reports.blocks import Level, Table, Text
from pytest_irmetrics.reports.session_report import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.reports.blocks import Block
    from pytest_irmetrics.reports.item_report import ItemReport

_MOST = 20
"""How many tables there are at most."""


def variant_tables(items: Iterable[ItemReport]) -> list[Block]:
    """Return a table of means, the best with a star, for each test and golden set that several items share."""
    groups: dict[tuple[str, str], list[ItemReport]] = {}
    for item in items:
        if item.rows and item.selftest is None and not item.only_queries:
            test = item.nodeid.partition("[")[0]
            groups.setdefault((test, item.golden_set), []).append(item)
    blocks: list[Block] = []
    for (test, golden_set), group in [one for one in groups.items() if len(one[1]) > 1][:_MOST]:
        blocks.append(Text(f"{golden_set}, {test}, side by side (* best)", level=Level.VERBOSE))
        blocks.append(_table(sorted(group, key=lambda item: item.nodeid)))
    return blocks


def _table(items: Sequence[ItemReport]) -> Table:
    names = labels([item.nodeid for item in items])
    means: dict[str, list[float | None]] = {}
    for place, item in enumerate(items):
        for row in item.rows:
            means.setdefault(row.name, [None] * len(items))[place] = row.full
    rows = [[name, *_cells(name, values)] for name, values in means.items()]
    return Table(
        ["metric", *(f"{name} " for name in names)], rows, "<" + ">" * len(names), level=Level.VERBOSE
    )


def _cells(name: str, values: Sequence[float | None]) -> list[str]:
    """Return the means as they are printed, with a star after the best ones and a blank after the others."""
    known = [value for value in values if value is not None]
    best = (min if name.startswith("latency") else max)(known, default=0.0)
    # How much is judged says nothing of which is better.
    differ = bool(known) and max(known) - min(known) > TOLERANCE and not name.startswith("judged")
    return [
        f"{score_text(value, *known)}{'*' if differ and value is not None and abs(value - best) <= TOLERANCE else ' '}"
        for value in values
    ]
