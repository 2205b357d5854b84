"""Where the marks of the HTML report's plots stand: numbers in the units of each SVG, which report_blocks.jinja and report_queries.jinja ask for and draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.reports.blocks import RankedDocument, RankRow
from pytest_irmetrics.reports.item_report import ScoreRow

WIDTH = 240
"""Of a plot in a table's cell; html_page.py hands it to report.css, as `--plot`."""
_MARGIN = 8.0
"""Free at both ends of an axis, so that a mark at its end is whole."""
_HEADROOM = 1.15
"""How much longer an axis is than what it shows."""
_MOST_BARS = 120
"""How many queries have a bar: of more, the lowest and the highest."""
_WIDEST_BAR = 32.0
BARS_WIDTH, BARS_HEIGHT = 960.0, 120.0
MOST_RANKS = 25
"""How many ranks of a ranking are shown; of what is below, graded and forbidden documents are named."""
ROW_HEIGHT = 30
"""Of a row of two rankings side by side, in pixels, for the lines between them; `--rank` in report.css, likewise."""
LINES_WIDTH = 96
"""Of the lines between two rankings, in pixels; `--between` in report.css, likewise."""


class Mark(NamedTuple):
    """One mean on an axis: its change from the baseline, or itself where nothing is compared."""

    zero: float
    now: float
    band: float | None
    """Where the fall that is allowed ends."""
    limits: Sequence[float]
    """Where the mean would be at its `min` or `max`, as far as that is on the axis."""
    interval: tuple[float, float] | None


class Axis(NamedTuple):
    """The horizontal axis of a table's marks: of changes, symmetrical about 0, or of means, from 0 to 1."""

    low: float
    high: float
    compared: bool

    @classmethod
    def of(cls, rows: Sequence[ScoreRow | None]) -> Axis:
        """Return the axis that all changes of a table fit on, with their intervals."""
        moved = [row for row in rows if row is not None and row.delta is not None]
        if not moved:
            return cls(0.0, 1.0, compared=False)
        shown = [value for row in moved for value in (row.delta, row.allowed, *(row.interval or ())) if value]
        longest = _HEADROOM * max([0.01, *map(abs, shown)])
        return cls(-longest, longest, compared=True)

    @property
    def ends(self) -> Sequence[str]:
        """The values at its ends, as they are printed above it."""
        return [signed_text(end, digits=2) for end in (self.low, self.high)] if self.compared else ["0", "1"]

    def at(self, value: float) -> float:
        """Return where a value stands."""
        return round(_MARGIN + (value - self.low) / (self.high - self.low) * (WIDTH - 2 * _MARGIN), 1)

    def mark(self, row: ScoreRow | None) -> Mark | None:
        """Return the marks of one mean; None for what is not on the axis, such as a latency."""
        value = None if row is None else row.delta if self.compared else row.now
        if row is None or value is None or not self.low <= value <= self.high:
            return None
        shift = (row.baseline or 0.0) if self.compared else 0.0
        return Mark(
            self.at(0.0),
            self.at(value),
            None if row.allowed is None else self.at(-row.allowed),
            [self.at(one - shift) for one in row.bounds if self.low <= one - shift <= self.high],
            None if row.interval is None else (self.at(row.interval[0]), self.at(row.interval[1])),
        )


class Bar(NamedTuple):
    """One query's change, or its score where nothing is compared."""

    anchor: str
    title: str
    x: float
    y: float
    width: float
    height: float
    shade: str
    """`bad` or `good`."""


class Bars(NamedTuple):
    """The queries of one golden set as bars, the largest fall first."""

    bars: Sequence[Bar]
    zero: float
    caption: str
    top: str
    """The value at the top of the highest bar, as it is printed; empty where no bar goes up."""
    bottom: str
    """The value at the foot of the lowest bar; empty where no bar goes down."""


def bars(queries: Sequence[tuple[str, str, float]], *, compared: bool) -> Bars | None:
    """Return a bar for each query with a value other than 0, given as anchor, id and change or score; None where none has one."""
    shown = sorted((one for one in queries if abs(one[2]) > TOLERANCE), key=lambda one: one[2])
    if not shown:
        return None
    same = len(queries) - len(shown)
    worse = sum(value < 0 for _, _, value in shown)
    caption = f"{worse:,} worse, {len(shown) - worse:,} better, {same:,} same"
    if not compared:
        caption = f"{same:,} of {len(queries):,} score 0"
    if len(shown) > _MOST_BARS:
        half = _MOST_BARS // 2
        shown = [*shown[:half], *shown[-half:]]
        caption += f"; bars for the {half} lowest and the {half} highest"
    text = signed_text if compared else score_text
    lowest, highest = min(0.0, shown[0][2]), max(0.0, shown[-1][2])
    scale = (BARS_HEIGHT - 4) / (highest - lowest)
    zero = round(2 + highest * scale, 1)
    step = min(BARS_WIDTH / len(shown), _WIDEST_BAR)
    drawn = [
        Bar(
            anchor,
            f"{name}: {text(value)}",
            round(place * step, 1),
            zero if value < 0 else round(zero - value * scale, 1),
            round(step * 0.82, 1),
            round(max(abs(value) * scale, 1.0), 1),
            "bad" if value < 0 else "good",
        )
        for place, (anchor, name, value) in enumerate(shown)
    ]
    top, bottom = (text(end, digits=2) if end else "" for end in (highest, lowest))
    return Bars(drawn, zero, caption, top, bottom)


class Line(NamedTuple):
    """The way of one document from its rank in the baseline to its rank now; what has but one of them is gone or new."""

    document: RankedDocument
    before: float | None
    now: float | None


def rank_lines(ranks: Sequence[RankRow]) -> list[Line]:
    """Return a line for each document of two rankings, given as the rows of `side_by_side`; what stands out last, above the others."""

    def middle(rank: int | None) -> float | None:
        """Return where a row's middle is; None for a rank below those shown."""
        return None if rank is None or rank > len(ranks) else (rank - 0.5) * ROW_HEIGHT

    sides = [before for _, before, _ in ranks], [now for _, _, now in ranks]
    documents = {one.doc_id: one for side in sides for one in side if one is not None}
    lines = [Line(one, middle(one.before), middle(one.now)) for one in documents.values()]
    return sorted(lines, key=lambda line: line.document.stands_out)
