"""The variants of one test over one golden set side by side, such as the retrievers that it is parametrized with."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.reports.blocks import Block, Table, Text
from pytest_irmetrics.reports.item_report import ItemReport
from pytest_irmetrics.reports.session_report import parameters


def variant_tables(items: Iterable[ItemReport]) -> list[Block]:
    """Return a table of means for each test and golden set that several items share, with a column for each item."""
    groups: dict[tuple[str, str], list[ItemReport]] = {}
    for item in sorted(items, key=lambda item: item.nodeid):
        if item.rows and item.selftest is None and not item.only_queries:
            groups.setdefault((item.nodeid.partition("[")[0], item.golden_set), []).append(item)
    blocks: list[Block] = []
    for (test, golden_set), group in groups.items():
        if len(group) > 1:
            means = [{row.name: row.full for row in item.rows} for item in group]
            names = dict.fromkeys(name for own in means for name in own)
            rows = [[name, *(score_text(own.get(name)) for own in means)] for name in names]
            blocks.append(Text(f"{golden_set}, {test}, side by side"))
            head = ["metric", *parameters([item.nodeid for item in group])]
            blocks.append(Table(head, rows, "<" + ">" * len(group)))
    return blocks
