"""The history of tests' baselines: its records, and these as blocks, as JSON, and as an HTML page with a plot for each metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pytest_irmetrics.base.git import day_of
from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import FEW, listed, plural
from pytest_irmetrics.reports.blocks import Block, Column, Table, Text

_SIGNS = "▁▂▃▄▅▆▇█"
_LINE = 40
"""Signs of a metric's line; of more versions, each sign stands for several, and shows the last of them."""
_WIDTH, _HEIGHT, _MARGIN = 720, 140, 14
"""Of a plot, and what is free around its line."""


# Records, which JSON has under the same names


@dataclass(slots=True)
class HistoryPoint:
    """One version of a baseline, scored under today's golden set and compared with the version before it.

    `history_of` in analysis/history.py fills it in.
    """

    commit: str
    """Its id; empty for a version that is not committed."""
    time: int
    """When it was committed, in seconds since 1970."""
    subject: str
    path: str
    """The file's path in that commit, from the repository's top folder."""
    problem: str = ""
    """Why it could not be scored; all that follows is then empty."""
    query_count: int = 0
    """How many queries it holds."""
    means: dict[str, float | None] = field(default_factory=dict)
    """Metric → mean over those of today's queries that it holds in today's words."""
    changes: dict[str, float] = field(default_factory=dict)
    """Metric → change from the version before, over those of them that both hold."""
    as_judged_before: dict[str, float] = field(default_factory=dict)
    """`changes` under the judgments stored with the version before, where this one changed any."""
    lowered: dict[str, float] = field(default_factory=dict)
    """Metric → change, of the means that fell by more than differs from run to run, by either judgments."""
    until_today: dict[str, float] = field(default_factory=dict)
    """Metric → change from this version to today's, over those of today's queries that both hold."""
    added: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Ids of the queries that the version before held, and this one does not."""
    reworded: list[str] = field(default_factory=list)
    relabelled: list[str] = field(default_factory=list)
    """Ids of the queries whose stored judgments differ from those of the version before."""

    @property
    def date(self) -> str:
        """The day of the commit; ``now`` for what is not committed."""
        return day_of(self.time) if self.commit else "now"

    @property
    def short(self) -> str:
        """The first ten characters of the commit's id, as Git abbreviates it."""
        return self.commit[:10]


@dataclass(slots=True)
class BaselineHistory:
    """All committed baselines of one test."""

    test: str
    """``tests/test_search.py::test_search_quality[faq]``."""
    path: str
    """The baseline's path, as messages show it."""
    golden_set: str
    """What the versions are judged by: a golden set's path, or that it is the judgments stored last."""
    leading: str
    """The metric that the table of versions shows."""
    points: Sequence[HistoryPoint]
    """Oldest first; the last is today's."""
    since: HistoryPoint | None
    """What today's changed against that of a pinned commit; its `subject` is that commit as it was given."""
    notes: Sequence[str]


def history_json(histories: Sequence[BaselineHistory]) -> str:
    """Return the histories as JSON, in ASCII."""
    tests = [asdict(history) for history in histories]
    return json.dumps({"format": "pytest-irmetrics history", "version": 1, "tests": tests}, indent=1)


# Blocks


class _Course(NamedTuple):
    """One metric over all versions."""

    metric: str
    line: Sequence[float | None]
    """The mean of each version, oldest first; None where it could not be scored."""
    best: HistoryPoint
    """The version that today's is furthest below, over the queries that both hold; today's if it is below none."""


def _courses(history: BaselineHistory) -> list[_Course]:
    """Return the course of each metric."""
    newest_first = history.points[::-1]
    return [
        _Course(
            name,
            [point.means.get(name) for point in history.points],
            min(newest_first, key=lambda point: round(point.until_today.get(name, 0.0), 9)),
        )
        for name in newest_first[0].means
    ]


def blocks(history: BaselineHistory, limit: int) -> Iterator[Block]:
    """Yield what is said of one test's history: each metric, the newest versions, a pinned commit; of 0 versions: of all."""
    points, leading = history.points, history.leading
    courses = _courses(history)
    yield Text(history.test, "strong")
    span = f", {points[0].date} to {points[-1].date}" if len(points) > 1 else ""
    counted = plural(len(points), "version")
    yield Text(f"{counted} of its baseline{span}, all scored under {history.golden_set}.")
    yield Text("")
    by_metric: list[Column[_Course]] = [
        ("metric", "<", lambda one: one.metric),
        ("first", ">", lambda one: score_text(one.line[0])),
        ("today", ">", lambda one: score_text(one.line[-1])),
        ("from best", ">", lambda one: signed_text(one.best.until_today.get(one.metric, 0.0))),
        ("oldest to newest", "<", lambda one: _sparkline(one.line)),
    ]
    yield Table.of(courses, by_metric)
    best = next(one for one in courses if one.metric == leading).best
    if best is not points[-1]:
        yield Text(
            f"{leading} was best in {best.short} ({best.date}, {best.subject}): over the queries that both hold, today is {signed_text(best.until_today[leading])} from there."
        )
    yield from (Text(f"note: {note}", "warn") for note in history.notes)
    yield Text("")
    by_version: list[Column[HistoryPoint]] = [
        ("date", "<", lambda one: one.date),
        ("commit", "<", lambda one: one.short),
        ("queries", ">", lambda one: "" if one.problem else str(one.query_count)),
        (leading, ">", lambda one: "" if one.problem else score_text(one.means.get(leading))),
        ("change", ">", lambda one: signed_text(one.changes[leading]) if leading in one.changes else ""),
        ("", "<", _lowered),
        ("subject", "<", lambda one: one.subject),
    ]
    shown = points[-limit:][::-1]
    yield Table.of(
        shown, by_version, bad=[n for n, one in enumerate(shown) if one.lowered], whole=["date", "commit"]
    )
    if len(shown) < len(points):
        yield Text(f"{plural(len(points) - len(shown), 'more version')} (--limit 0 shows all)")
    for point in shown:
        yield from (Text(f"{point.short or 'now'}: {text}") for text in _besides(point, leading))
    lowered = [point.lowered[leading] for point in points if leading in point.lowered]
    if lowered:
        counted = plural(len(lowered), "version")
        yield Text(f"{counted} lowered {leading}, by {score_text(-sum(lowered))} together.")
    if "lowered*" in map(_lowered, points):
        yield Text("* by the judgments before that version, which edited them")
    if history.since is not None:
        pin = history.since
        changes = f", over the queries that both hold: {_changes_text(pin.changes)}" if pin.changes else ""
        yield Text("")
        yield Text(f"Since {pin.subject} ({pin.date}, {pin.short}){changes}.")
        yield from (Text(text, indent=1) for text in _besides(pin, leading))


def _lowered(point: HistoryPoint) -> str:
    """Say whether a version lowered a mean; with a star where no mean is lower by today's judgments."""
    by_today = any(point.changes[name] < -TOLERANCE for name in point.lowered)
    return f"lowered{'' if by_today else '*'}" if point.lowered else ""


def _changes_text(changes: dict[str, float]) -> str:
    """Return changes of means: `mrr −0.0100, ndcg@10 +0.0200`."""
    return ", ".join(f"{name} {signed_text(change)}" for name, change in changes.items())


def _besides(point: HistoryPoint, metric: str) -> Iterator[str]:
    """Say what a version changed besides the means."""
    if point.problem:
        yield f"not scored: {point.problem}"
    if point.lowered and metric not in point.lowered:
        yield f"lowered {_changes_text(point.lowered)}"
    before = point.as_judged_before.get(metric)
    as_before = "" if before is None else f", by the judgments before {metric} {signed_text(before)}"
    for queries, what in (
        (point.added, "added"),
        (point.dropped, "dropped"),
        (point.reworded, "reworded"),
        (point.relabelled, f"judged otherwise{as_before}"),
    ):
        if queries:
            yield f"{plural(len(queries), 'query')} {what}: {listed(queries, FEW)}"


def _sparkline(values: Sequence[float | None]) -> str:
    """Return a line of signs, the lowest value as the lowest sign and the highest as the highest, a blank for none."""
    if len(values) > _LINE:
        values = [values[(at + 1) * len(values) // _LINE - 1] for at in range(_LINE)]
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = (len(_SIGNS) - 1) / (high - low) if high - low > TOLERANCE else 0.0
    return "".join(
        " " if value is None else _SIGNS[round((value - low) * scale) if scale else 3] for value in values
    )


# HTML


def render(histories: Sequence[BaselineHistory]) -> str:
    """Return the page. Raises ImportError saying what to install where Jinja2 is missing."""
    from pytest_irmetrics.reports.html_page import page  # noqa: PLC0415 - Jinja2 is an extra

    tests = [
        (one.test, list(blocks(one, 0))[1:], [_plot(course, one.points) for course in _courses(one)])
        for one in histories
    ]
    return page("history.html.jinja", tests=tests, width=_WIDTH, height=_HEIGHT)


def _plot(course: _Course, points: Sequence[HistoryPoint]) -> dict[str, Any]:
    """Return one metric's plot: its line through the versions that could be scored, and where it fell or was best."""
    known = [value for value in course.line if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    span = high - low if high - low > TOLERANCE else 1.0
    step = (_WIDTH - 2 * _MARGIN) / max(len(points) - 1, 1)
    dots: list[dict[str, Any]] = []
    for place, (value, point) in enumerate(zip(course.line, points, strict=True)):
        if value is not None:
            x, y = _MARGIN + place * step, _HEIGHT - _MARGIN - (value - low) / span * (_HEIGHT - 2 * _MARGIN)
            fell = course.metric in point.lowered and value < dots[-1]["value"]
            kind = "best" if point is course.best else "fell" if fell else "dot"
            title = f"{point.date} {point.short} {point.subject}: {score_text(value)}"
            dots.append({"at": f"{x:.1f} {y:.1f}", "title": title, "kind": kind, "value": value})
    label = f"{course.metric}: lowest {score_text(low)}, highest {score_text(high)}, today {score_text(course.line[-1])}"
    return {"label": label, "path": "M" + "L".join(dot["at"] for dot in dots), "dots": dots}
