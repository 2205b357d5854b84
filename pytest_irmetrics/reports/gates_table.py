"""The table of the means that failed a gate, with how each moved in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import display_width, table
from pytest_irmetrics.base.screen import Line, Style
from pytest_irmetrics.reports.item_report import LIMIT_SIGNS
from pytest_irmetrics.reports.query_details import failed_gates
from pytest_irmetrics.reports.texts import baseline_text, compared_with, delta_text, now_text, row_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.item_report import ItemReport, ScoreRow

_MOST_ROWS = 5
"""How many means the table has; the others are counted."""

_GAP = 2

_LIMIT, _BASELINE, _WORSE, _BETTER = 1, 3, 5, 6
"""The places of columns."""

_LEFT_OUT: Sequence[Collection[int]] = (
    (),
    (_WORSE, _BETTER),
    (_BASELINE, _WORSE, _BETTER),
    (_LIMIT, _BASELINE, _WORSE, _BETTER),
)
"""Which columns a narrow screen has no room for, the least first."""


def failed_rows(item: ItemReport) -> list[ScoreRow]:
    """Return the rows of the means that a gate fails by, the one furthest beyond its limit first.

    Not those that fail by the stored judgments alone, which rows do not go by, nor for single queries' own thresholds.
    """
    gates = [(gate.metric, gate.tag) for gate in failed_gates(item) if not (gate.as_stored or gate.single)]
    rows = [row for row in item.rows if row.verdict == "FAILS" and (row.metric, row.tag) in gates]
    return sorted(rows, key=lambda row: gates.index((row.metric, row.tag)))


def gates_table(item: ItemReport, screen: Screen) -> list[Line]:
    """Return the table, a line for each mean; nothing where the verdict in words says as much."""
    rows = failed_rows(item)
    compared = any(row.baseline is not None for row in rows)
    if not rows or (len(rows) == 1 and not compared):
        return []
    shown = rows[:_MOST_ROWS]
    cells = [
        ["", "limit", "now", compared_with(item), "change", "worse", "better"],
        *(_cells(row, item, screen) for row in shown),
    ]
    cells = [[screen.line(cell) for cell in row] for row in cells]
    kept = _columns(cells if compared else [row[:_BASELINE] for row in cells], screen.width)
    lines = table(
        [[row[column] for column in kept] for row in cells],
        "".join("<<>>>>>"[column] for column in kept),
        screen.width,
        ascii_only=screen.ascii_only,
        whole=[place for place, column in enumerate(kept) if column == _LIMIT],
        gap=_GAP,
    )
    styles = [Style.BOLD] + [Style.PLAIN] * (len(lines) - 1)
    more = len(rows) - len(shown)
    told = [Line(screen.cut(f"{more:,} more fail (-v names them)."))] if more else []
    return [Line(""), *map(Line, lines, styles), *told]


def _cells(row: ScoreRow, item: ItemReport, screen: Screen) -> list[str]:
    cells = [row_name(row), _limits(row, item, screen), now_text(row)]
    if row.baseline is None:
        return [*cells, "", "", "", ""]
    worse, changed = row.worse or 0, row.changed or 0
    return [
        *cells,
        baseline_text(row),
        delta_text(row),
        f"{worse:,}",
        f"{changed - worse:,}",
    ]


def _limits(row: ScoreRow, item: ItemReport, screen: Screen) -> str:
    """Return the limits of a row, those that are broken with a sign that is seen without colour."""
    broken = tuple(
        LIMIT_SIGNS[gate.word]
        for gate in failed_gates(item)
        if (gate.metric, gate.tag) == (row.metric, row.tag) and not (gate.as_stored or gate.single)
    )
    mark = "!" if screen.ascii_only else "✗"
    return " ".join(f"{mark}{limit}" if limit.startswith(broken) else limit for limit in row.gate.split())


def _columns(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Choose the columns that fit; names that take more than a third of the width are cut before a number goes."""
    widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
    widths[0] = min(widths[0], width // 3)
    kept: list[int] = []
    for left_out in _LEFT_OUT:
        kept = [column for column, cells_wide in enumerate(widths) if cells_wide and column not in left_out]
        if sum(widths[column] for column in kept) + _GAP * (len(kept) - 1) <= width:
            break
    return kept
