"""The history of tests' baselines as one HTML file with a plot for each metric; no script, no network. Needs Jinja2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.numbers import TOLERANCE, score_text, signed_text
from pytest_irmetrics.reports.history_text import (
    besides,
    date,
    heading,
    says_anything,
    short_id,
    since_rows,
    since_sentences,
)
from pytest_irmetrics.reports.html_page import Trusted, content_policy, read_resource, templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.reports.history_report import HistoryPoint, MetricHistory, TestHistory

_WIDTH, _HEIGHT = 720, 140
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 708, 14, 112
_MOST_DOTS = 200
"""With more versions, only those that lowered the mean and the best have a dot."""


def render(histories: Sequence[TestHistory]) -> str:
    """Return the page. Raises ImportError saying what to install where Jinja2 is missing."""
    template = templates().get_template("history.html.jinja")
    style = read_resource("report.css") + read_resource("history.css")
    text: str = template.render(
        tests=[_test(history, number) for number, history in enumerate(histories, 1)],
        style=Trusted(style),
        policy=content_policy(style),
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_RIGHT,
        top=_TOP,
        bottom=_BOTTOM,
    )
    return text


def _test(history: TestHistory, number: int) -> dict[str, Any]:
    """Return what the template shows of one test."""
    since = history.since
    return {
        "anchor": f"test-{number}",
        "course": _course(history),
        "history": history,
        "heading": heading(history),
        "first": date(history.points[0]),
        "last": date(history.points[-1]),
        "plots": [_plot(one, history.points) for one in history.summary],
        "rows": [_row(point, history.leading) for point in history.points[::-1] if says_anything(point)],
        "since": since
        and {
            "revision": since.revision,
            "when": f"{date(since)}, {short_id(since.commit)}",
            "problem": since.problem,
            "rows": since_rows(since),
            "sentences": list(since_sentences(since, history.leading)),
        },
    }


def _course(history: TestHistory) -> dict[str, Any]:
    """Return where the leading mean stands today, in words and numbers, for the top of the page."""
    leading = next(one for one in history.summary if one.metric == history.leading)
    lowered = sum(history.leading in point.lowered for point in history.points)
    course = {
        "metric": history.leading,
        "versions": f"{len(history.points):,}",
        "lowered": f"{lowered:,}",
        "below": False,
        "sentence": "",
        "today": "",
        "best": "",
        "from_best": "",
    }
    if leading.now is None:
        return course
    below = leading.from_best < -TOLERANCE
    return course | {
        "below": below,
        "sentence": f"{leading.metric} is {score_text(-leading.from_best)} below its best, of commit {short_id(leading.best_commit)}, over the queries that both hold."
        if below
        else f"{leading.metric} is at its best.",
        "today": score_text(leading.now, leading.best),
        "best": score_text(leading.best, leading.now),
        "from_best": signed_text(leading.from_best),
    }


def _row(point: HistoryPoint, metric: str) -> dict[str, Any]:
    change = point.changes.get(metric)
    return {
        "date": date(point),
        "commit": short_id(point.commit),
        "queries": "" if point.problem else str(point.query_count),
        "mean": "" if point.problem else score_text(point.means.get(metric)),
        "change": "" if change is None else signed_text(change),
        "fell": metric in point.lowered,
        "subject": point.subject,
        "besides": list(besides(point, metric)),
    }


def _plot(one: MetricHistory, points: Sequence[HistoryPoint]) -> dict[str, Any]:
    """Return the parts of one metric's plot: lines, broken where a version could not be scored, and dots."""
    known = [value for value in one.line if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    span = high - low if high - low > TOLERANCE else 1.0
    step = (_RIGHT - _LEFT) / max(len(points) - 1, 1)
    lines: list[list[str]] = [[]]
    dots = []
    for place, (value, point) in enumerate(zip(one.line, points, strict=True)):
        if value is None:
            lines.append([])
            continue
        x, y = _LEFT + place * step, _BOTTOM - (value - low) / span * (_BOTTOM - _TOP)
        lines[-1].append(f"{x:.1f},{y:.1f}")
        fell = point.lowered.get(one.metric)
        text = f"{date(point)} {short_id(point.commit)} {point.subject}: {score_text(value)}"
        text += f" ({signed_text(fell)})" if fell is not None else ""
        dot = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text": text}
        if fell is not None:
            dots.append({**dot, "kind": "fell"})
        elif len(points) <= _MOST_DOTS:
            dots.append({**dot, "kind": "dot"})
        if one.best_commit and point.commit == one.best_commit:
            dots.append({**dot, "kind": "best"})
    return {
        "metric": one.metric,
        "now": score_text(one.now, one.best),
        "best": score_text(one.best, one.now),
        "from_best": signed_text(one.from_best),
        "low": score_text(low),
        "high": score_text(high),
        "label": f"{one.metric} over {len(points)} versions: first {score_text(one.first)}, best {score_text(one.best)}, "
        f"today {score_text(one.now)}",
        "lines": [" ".join(line) for line in lines if line],
        "dots": dots,
    }
