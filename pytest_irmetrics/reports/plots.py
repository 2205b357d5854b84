"""Where the marks of the HTML report's plots stand: numbers in the units of each SVG, which the template draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.reports import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.reports.item_report import ScoreRow
    from pytest_irmetrics.reports.query_details import RankedDocument

WIDTH = 240.0
"""Of a plot in a table's cell."""
_MARGIN = 8.0
"""Free at both ends of an axis, so that a mark at its end is whole."""
_HEADROOM = 1.15
"""How much longer an axis is than what it shows."""
_MOST_BARS = 240
"""How many queries have a bar of their own: with more of them a bar is too thin to hit."""
_WIDEST_BAR = 32.0
_BARS_WIDTH, _BARS_HEIGHT = 960.0, 120.0
ROW_HEIGHT = 30
"""Of a row of two rankings side by side, in pixels, for the lines between them."""
LINES_WIDTH = 96
"""Of the lines between two rankings, in pixels."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A horizontal axis of `width` units from one value to another."""

    low: float
    high: float
    width: float = WIDTH

    def at(self, value: float) -> float:
        """Return where a value stands; at the axis's end where it lies beyond."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_MARGIN + share * (self.width - 2 * _MARGIN), 1)

    def shows(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return self.low - TOLERANCE <= value <= self.high + TOLERANCE


@dataclass(frozen=True, slots=True)
class Change:
    """One mean's change from the baseline, with what it may fall and the limits of the mean itself."""

    zero: float
    now: float
    band: float | None
    """Where the fall that is allowed ends."""
    limits: tuple[float, ...]
    """Where the mean would be at its `min` or `max`, as far as that is on the axis."""


@dataclass(frozen=True, slots=True)
class Level:
    """One mean without a baseline, as a bar from 0."""

    zero: float
    now: float
    limits: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """One slice's change with its interval, clipped to the axis."""

    zero: float
    now: float
    low: float | None
    high: float | None
    clipped: bool
    """Whether the interval goes on beyond the axis."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One query's change, or its score where nothing is compared."""

    anchor: str
    title: str
    x: float
    y: float
    width: float
    height: float
    shade: str
    """`bad`, `good`, or `plain` for what is neither."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The queries of one golden set as bars, the largest fall first."""

    bars: Sequence[Bar]
    zero: float
    caption: str
    top: str
    """The value at the top of the highest bar, as it is printed; empty where no bar goes up."""
    bottom: str
    """The value at the foot of the lowest bar; empty where no bar goes down."""
    width: float = _BARS_WIDTH
    height: float = _BARS_HEIGHT

    def outline(self, shade: str) -> str:
        """Return the path of all bars of a shade: a tenth of the text of bars with a link each."""
        return "".join(
            f"M{bar.x:g} {bar.y:g}h{bar.width:g}v{bar.height:g}h{-bar.width:g}z"
            for bar in self.bars
            if bar.shade == shade
        )


@dataclass(frozen=True, slots=True)
class Line:
    """The way of one document from its rank in the baseline to its rank now."""

    y_before: float
    y_now: float
    gone: bool
    new: bool
    kind: str
    """`relevant`, `unjudged`, `forbidden` or `other` (judged not relevant)."""
    fell: bool


def change_axis(rows: Iterable[ScoreRow]) -> Axis | None:
    """Return one axis for the changes of all metrics, symmetrical about 0; None where nothing is compared.

    Limits of a mean do not widen it beyond three times the largest change: one that is far away would hide all changes.
    """
    compared = [row for row in rows if row.delta is not None]
    if not compared:
        return None
    changes = [abs(row.delta or 0.0) for row in compared] + [row.allowed or 0.0 for row in compared]
    longest = max(0.01, *changes)
    limits = [
        abs(bound - row.baseline) for row in compared for bound in row.bounds if row.baseline is not None
    ]
    longest = max([longest, *(limit for limit in limits if limit <= 3 * longest)])
    return Axis(-_HEADROOM * longest, _HEADROOM * longest)


def change_plot(row: ScoreRow, axis: Axis | None) -> Change | None:
    """Return the marks of one metric's change; None where it is not compared."""
    if axis is None or row.delta is None or row.baseline is None:
        return None
    limits = [bound - row.baseline for bound in row.bounds]
    return Change(
        axis.at(0.0),
        axis.at(row.delta),
        None if row.allowed is None else axis.at(-row.allowed),
        tuple(axis.at(limit) for limit in limits if axis.shows(limit)),
    )


def level_plot(row: ScoreRow) -> Level | None:
    """Return the marks of a mean without a baseline; None where it is no score from 0 to 1."""
    if row.now is None or not all(0 <= value <= 1 for value in (row.now, *row.bounds)):
        return None
    axis = Axis(0.0, 1.0)
    return Level(axis.at(0.0), axis.at(row.now), tuple(map(axis.at, row.bounds)))


def interval_axis(rows: Sequence[ScoreRow]) -> Axis | None:
    """Return one axis for the changes of all slices, no longer than a score can change; None without any."""
    ends = [abs(value) for row in rows for value in (row.delta, *(row.interval or ())) if value is not None]
    changes = [abs(row.delta) for row in rows if row.delta is not None]
    if not changes:
        return None
    # Intervals of small slices are much wider than what any slice changed; they are clipped.
    longest = min(max(0.02, *ends), max(0.02, 3 * max(changes)), max(1.0, *changes))
    return Axis(-_HEADROOM * longest, _HEADROOM * longest)


def interval_plot(row: ScoreRow, axis: Axis | None) -> Interval | None:
    """Return the marks of one slice's change; None where it is not compared."""
    if axis is None or row.delta is None:
        return None
    low, high = row.interval or (None, None)
    return Interval(
        axis.at(0.0),
        axis.at(row.delta),
        None if low is None else axis.at(low),
        None if high is None else axis.at(high),
        any(end is not None and not axis.shows(end) for end in (low, high)),
    )


def axis_ends(axis: Axis | None) -> tuple[str, str] | None:
    """Return the values at an axis's ends, as they are printed below it."""
    return None if axis is None else (signed_text(axis.low, digits=2), signed_text(axis.high, digits=2))


def change_bars(queries: Sequence[tuple[str, str, float]]) -> Bars | None:
    """Return a bar for each query that changed, the largest fall first; None where none did.

    `queries` has anchor, id and change of all of them. Of very many the largest falls and rises have bars.
    """
    changed = sorted(
        ((delta, anchor, name) for anchor, name, delta in queries if abs(delta) > TOLERANCE),
        key=lambda one: one[0],
    )
    if not changed:
        return None
    shown = changed
    if len(changed) > _MOST_BARS:
        shown = [*changed[: _MOST_BARS // 2], *changed[-_MOST_BARS // 2 :]]
    worse = sum(delta < 0 for delta, _, _ in changed)
    better, same = len(changed) - worse, len(queries) - len(changed)
    lowest, highest = min(0.0, shown[0][0]), max(0.0, shown[-1][0])
    scale = (_BARS_HEIGHT - 4) / (highest - lowest)
    zero = round(2 + highest * scale, 1)
    step = min(_BARS_WIDTH / len(shown), _WIDEST_BAR)
    bars = [
        Bar(
            anchor,
            f"{name}: {signed_text(delta)}",
            round(place * step, 1),
            zero if delta < 0 else round(zero - delta * scale, 1),
            round(step * 0.82, 1),
            round(max(abs(delta) * scale, 1.0), 1),
            "bad" if delta < 0 else "good",
        )
        for place, (delta, anchor, name) in enumerate(shown)
    ]
    caption = f"{worse:,} worse, {better:,} better, {same:,} same"
    if len(shown) < len(changed):
        caption += f"; bars for the {len(shown) // 2} largest falls and the {len(shown) // 2} largest rises"
    return Bars(
        bars,
        zero,
        caption,
        signed_text(highest, digits=2) if highest else "",
        signed_text(lowest, digits=2) if lowest else "",
    )


def score_bars(queries: Sequence[tuple[str, str, float]]) -> Bars | None:
    """Return a bar for each query's score, the lowest first, where nothing is compared; None for other numbers than scores."""
    if not queries or not all(0 <= score <= 1 for _, _, score in queries):
        return None
    shown = sorted(queries, key=lambda one: one[2])[:_MOST_BARS]
    step = min(_BARS_WIDTH / len(shown), _WIDEST_BAR)
    zero = _BARS_HEIGHT - 2
    bars = [
        Bar(
            anchor,
            f"{name}: {score_text(score)}",
            round(place * step, 1),
            round(zero - max(score * (zero - 2), 2.0), 1),
            round(step * 0.82, 1),
            round(max(score * (zero - 2), 2.0), 1),
            "bad" if score <= TOLERANCE else "plain",
        )
        for place, (anchor, name, score) in enumerate(shown)
    ]
    caption = f"{sum(score <= TOLERANCE for _, _, score in queries):,} of {len(queries):,} score 0"
    if len(shown) < len(queries):
        caption += f"; bars for the {len(shown)} lowest"
    return Bars(bars, zero, caption, "1", "0")


def rank_lines(
    ranks: Sequence[tuple[int, RankedDocument | None, RankedDocument | None]],
) -> list[Line]:
    """Return a line for each document of two rankings, given as the rows of `side_by_side`; unjudged ones first, below the others."""
    rows_now = {now.doc_id: row for row, (_, _, now) in enumerate(ranks) if now is not None}
    rows_before = {before.doc_id: row for row, (_, before, _) in enumerate(ranks) if before is not None}
    height = len(ranks) * ROW_HEIGHT
    lines = []
    for _, before, now in ranks:
        for document in (before, now):
            if document is None or (document is now and document.doc_id in rows_before):
                continue
            was, is_now = rows_before.get(document.doc_id), rows_now.get(document.doc_id)
            lines.append(
                Line(
                    height if was is None else (was + 0.5) * ROW_HEIGHT,
                    height if is_now is None else (is_now + 0.5) * ROW_HEIGHT,
                    is_now is None,
                    was is None,
                    _kind(document),
                    is_now is None or (was is not None and is_now > was),
                )
            )
    return sorted(lines, key=lambda line: line.kind in ("relevant", "forbidden"))


def _kind(document: RankedDocument) -> str:
    if document.forbidden:
        return "forbidden"
    return "relevant" if document.relevant else "other" if document.judged else "unjudged"


def telling_and_tiny(rows: Sequence[ScoreRow]) -> tuple[list[ScoreRow], list[ScoreRow]]:
    """Split slices into those that can say something, the largest fall first, and those that are too small."""
    telling = [row for row in rows if texts.slice_trend(row) != "too few"]
    telling.sort(key=lambda row: (row.delta or 0.0, row.tag or ""))
    return telling, [row for row in rows if texts.slice_trend(row) == "too few"]
