"""The history of tests' baselines as blocks, for a terminal, and as an HTML page with a plot for each metric."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.numbers import TOLERANCE, interval_ends_text, score_text, signed_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports import plots
from pytest_irmetrics.reports.blocks import Level, Table, Text
from pytest_irmetrics.reports.html_page import Trusted, content_policy, read_resource, templates
from pytest_irmetrics.reports.text import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.blocks import Block, Column
    from pytest_irmetrics.reports.history_report import (
        HistoryPoint,
        MetricHistory,
        PinnedCommit,
        TestHistory,
    )

_SIGNS = "▁▂▃▄▅▆▇█"
_LINE = 40
"""Signs of a metric's line; of more versions, each sign stands for several, and shows the last of them."""
_COSTLIEST = 10
"""How many of the versions that lowered a mean are named."""
_NAMED = 5
"""How many queries are named."""
_WIDTH, _HEIGHT, _MARGIN = 720, 140, 14
"""Of a plot, and what is free around its line."""


def history_lines(history: TestHistory, screen: Screen, limit: int) -> Iterator[str]:
    """Yield the history of one test for a terminal; `limit` is how many versions the table shows, 0 for all."""
    yield screen.cut(history.test)
    inner = screen._replace(width=screen.width - 2)
    for line in lines(blocks(history, limit), inner, Level.NORMAL):
        yield line.indented().text


def render(histories: Sequence[TestHistory]) -> str:
    """Return the page. Raises ImportError saying what to install where Jinja2 is missing."""
    style = read_resource("report.css")
    lead = _standing(histories[0]) if len(histories) == 1 else ""
    text: str = (
        templates()
        .get_template("history.html.jinja")
        .render(
            lead=lead,
            tests=[
                {
                    "name": history.test,
                    "below": history.leading_metric.from_best < -TOLERANCE,
                    "blocks": [block for block in blocks(history, 0) if block != Text(lead)],
                    "courses": [_course(one, history.points) for one in history.summary],
                }
                for history in histories
            ],
            plots=plots,
            style=Trusted(style),
            policy=content_policy(style),
            width=_WIDTH,
            height=_HEIGHT,
        )
    )
    return text


def blocks(history: TestHistory, limit: int) -> Iterator[Block]:
    """Yield what is said of one test's history: each metric, the versions, those that lowered a mean, a pinned commit."""
    points = history.points
    span = f", {_date(points[0])} to {_date(points[-1])}" if len(points) > 1 else ""
    counted = plural(len(points), "version")
    yield Text(f"{counted} of its baseline{span}, all scored under {history.golden_set}.")
    yield Text("")
    columns: list[Column[MetricHistory]] = [
        ("metric", "<", lambda one: one.metric),
        ("first", ">", lambda one: score_text(one.first)),
        ("best", ">", lambda one: score_text(one.best)),
        ("today", ">", lambda one: score_text(one.now, one.best)),
        ("from best", ">", lambda one: signed_text(one.from_best)),
        ("oldest to newest", "<", lambda one: sparkline(one.line)),
    ]
    yield Table.of(history.summary, columns)
    if standing := _standing(history):
        yield Text(standing)
    yield from (Text(f"note: {note}", "warn") for note in history.notes)
    yield Text("")
    yield from _versions(history, limit)
    yield from _lowered(history)
    if history.since is not None:
        yield from _since(history.since, history.leading)


def _standing(history: TestHistory) -> str:
    """Say how far today's leading mean is from its best; empty where it cannot be computed."""
    leading = history.leading_metric
    best = next((point for point in history.points if point.commit == leading.best_commit), None)
    if leading.now is None:
        return ""
    if best is None or leading.from_best >= -TOLERANCE:
        return f"{leading.metric} is at its best."
    return (
        f"{leading.metric} was best in {_short(best)} ({_date(best)}, {best.subject}): over the queries that both hold, "
        f"today is {signed_text(leading.from_best)} from there."
    )


def _date(point: HistoryPoint | PinnedCommit) -> str:
    """Return the day of a commit; ``now`` for what is not committed."""
    return datetime.fromtimestamp(point.time, UTC).date().isoformat() if point.commit else "now"


def _short(point: HistoryPoint | PinnedCommit) -> str:
    """Return the first ten characters of a commit's id, as Git abbreviates it."""
    return point.commit[:10]


def sparkline(values: Sequence[float | None], width: int = _LINE) -> str:
    """Return a line of signs, the lowest value as the lowest sign and the highest as the highest, a blank for none."""
    if len(values) > width:
        values = [values[(at + 1) * len(values) // width - 1] for at in range(width)]
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = (len(_SIGNS) - 1) / (high - low) if high - low > TOLERANCE else 0.0
    return "".join(
        " " if value is None else _SIGNS[round((value - low) * scale) if scale else 3] for value in values
    )


def _versions(history: TestHistory, limit: int) -> Iterator[Block]:
    """Yield a row for each version, newest first; without a limit all, else only those that changed anything."""
    points, metric = history.points[::-1], history.leading
    telling = [point for point in points if point is points[-1] or point.says_anything]
    shown = telling[:limit] if limit else points
    columns: list[Column[HistoryPoint]] = [
        ("date", "<", _date),
        ("commit", "<", _short),
        ("queries", ">", lambda one: "" if one.problem else str(one.query_count)),
        (metric, ">", lambda one: "" if one.problem else score_text(one.means.get(metric))),
        (
            "change",
            ">",
            lambda one: "" if one.changes.get(metric) is None else signed_text(one.changes[metric]),
        ),
        ("subject", "<", lambda one: one.subject),
    ]
    bad = [place for place, point in enumerate(shown) if metric in point.lowered]
    yield Table.of(shown, columns, bad=bad, whole=(0, 1))
    if limit and len(shown) < len(points):
        yield Text(f"{plural(len(points) - len(shown), 'more version')} (--limit 0 shows all)")
    for point in shown:
        yield from (Text(f"{_short(point) or 'now'}: {text}") for text in _besides(point, metric))


def _besides(point: HistoryPoint, metric: str) -> Iterator[str]:
    """Say what a version changed besides the means."""
    if point.problem:
        yield f"not scored: {point.problem}"
    if point.renamed_from:
        yield f"renamed from {point.renamed_from}"
    before = point.as_judged_before.get(metric)
    as_before = "" if before is None else f", by the judgments before {metric} {signed_text(before)}"
    for queries, what in (
        (point.added, "added"),
        (point.dropped, f"dropped{_had(point, metric)}"),
        (point.reworded, "reworded"),
        (point.relabelled, f"judged otherwise{as_before}"),
    ):
        if queries:
            yield f"{plural(len(queries), 'query', 'queries')} {what}: {listed(queries, _NAMED)}"


def _had(dropping: HistoryPoint, metric: str) -> str:
    """Say which mean the queries had that were dropped."""
    mean = dropping.dropped_means.get(metric)
    return "" if mean is None else f", which had {metric} {score_text(mean)}"


def _lowered(history: TestHistory) -> Iterator[Block]:
    """Name the versions that lowered a mean by more than differs from run to run, those that cost most first."""
    metric = history.leading
    lowering = [(point, *point.costliest(metric)) for point in history.points if point.lowered]
    if not lowering:
        return
    fell = [change for _, name, change in lowering if name == metric]
    rose = [change for point in history.points if (change := point.changes.get(metric) or 0.0) > TOLERANCE]
    text = f"{plural(len(lowering), 'version')} lowered a mean."
    if fell:
        raised = f"{len(rose)} raised it, by {score_text(sum(rose))}" if rose else "none raised it"
        text += f" {metric}: {len(fell)} lowered it, by {score_text(-sum(fell))} together; {raised}."
    yield Text("")
    yield Text(text)
    order = sorted(lowering, key=lambda one: (one[1] != metric, one[2]))[:_COSTLIEST]
    rows = [
        [_date(point), _short(point), name, signed_text(change), point.subject]
        for point, name, change in order
    ]
    yield Table(["date", "commit", "metric", "change", "subject"], rows, "<<<><", whole=(0, 1, 2))
    if len(lowering) > len(order):
        yield Text(f"and {len(lowering) - len(order)} more")


def _since(since: PinnedCommit, leading: str) -> Iterator[Block]:
    """Say how far today's means are from those of a pinned commit, and which queries pay."""
    lead = f"Since {since.revision} ({_date(since)}, {_short(since)})"
    yield Text("")
    if since.problem:
        yield Text(f"{lead}: {since.problem}.")
        return
    moved = ", ".join(f"{name} {signed_text(delta)}" for name, delta in since.deltas.items())
    yield Text(f"{lead}, over the {plural(since.n, 'query', 'queries')} that both hold: {moved}.")
    if since.interval is not None:
        yield Text(f"{leading}: 95 % interval {interval_ends_text(since.interval)}.")
    if since.as_judged_there is not None:
        judged = signed_text(since.as_judged_there)
        yield Text(f"By the judgments that were stored there: {leading} {judged}.")
    if since.worse:
        yield Text(f"Worse by {leading}, those that cost most first: {listed(since.worse, 2 * _NAMED)}.")


def _course(one: MetricHistory, points: Sequence[HistoryPoint]) -> dict[str, Any]:
    """Return one metric's plot: its line, broken where a version could not be scored, and where it fell or was best."""
    known = [value for value in one.line if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    span = high - low if high - low > TOLERANCE else 1.0
    step = (_WIDTH - 2 * _MARGIN) / max(len(points) - 1, 1)
    path, dots, pen = "", [], "M"
    for place, (value, point) in enumerate(zip(one.line, points, strict=True)):
        if value is None:
            pen = "M"
            continue
        x, y = _MARGIN + place * step, _HEIGHT - _MARGIN - (value - low) / span * (_HEIGHT - 2 * _MARGIN)
        path, pen = f"{path}{pen}{x:.1f} {y:.1f}", "L"
        fell = point.lowered.get(one.metric)
        moved = "" if fell is None else f" ({signed_text(fell)})"
        title = f"{_date(point)} {_short(point)} {point.subject}: {score_text(value)}{moved}"
        best = one.best_commit and point.commit == one.best_commit
        kind = "best" if best else "dot" if fell is None else "fell"
        dots.append({"x": f"{x:.1f}", "y": f"{y:.1f}", "title": title, "kind": kind})
    ends = f"{one.metric}: lowest {score_text(low)}, highest {score_text(high)}, today {score_text(one.now)}"
    return {"label": ends, "path": path, "dots": dots}
