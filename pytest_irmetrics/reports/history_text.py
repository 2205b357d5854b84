"""The history of a test's baselines as text for a terminal: a line of signs per metric, a row per version, what fell."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import table, table_rows
from pytest_irmetrics.base.numbers import TOLERANCE, interval_ends_text, score_text, signed_text
from pytest_irmetrics.base.wording import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.history_report import HistoryPoint, Since, TestHistory

_SIGNS, _ASCII_SIGNS = "▁▂▃▄▅▆▇█", "_.-=+*#@"
_UNKNOWN = " "
_LINE = 40
"""Signs of a metric's line; of more versions, each sign stands for several, and shows the last of them."""
_COSTLIEST = 10
"""How many of the versions that lowered a mean are named."""
_NAMED = 5
"""How many queries are named."""


def history_lines(history: TestHistory, screen: Screen, limit: int) -> Iterator[str]:
    """Yield the history of one test; `limit` is how many versions the table shows, 0 for all."""
    yield screen.cut(history.test)
    inner = screen._replace(width=screen.width - 2)
    for line in _lines(history, inner, limit):
        yield f"  {line}" if line else ""


def _lines(history: TestHistory, screen: Screen, limit: int) -> Iterator[str]:
    yield from screen.wrapped(heading(history))
    yield ""
    yield from _summary(history, screen)
    for note in history.notes:
        yield from screen.wrapped(f"note: {note}", hanging="  ")
    yield ""
    yield from _versions(history, screen, limit)
    lowered = list(_lowered(history, screen))
    if lowered:
        yield ""
        yield from lowered
    if history.since is not None:
        yield ""
        yield from _since(history.since, history.leading, screen)


def heading(history: TestHistory) -> str:
    """Say how many versions there are, from when to when, and by what they are scored."""
    points = history.points
    span = f", {date(points[0])} to {date(points[-1])}" if len(points) > 1 else ""
    return f"{plural(len(points), 'version')} of its baseline{span}, all scored under {history.golden_set}."


def date(point: HistoryPoint | Since) -> str:
    """Return the day of a commit; ``now`` for what is not committed."""
    if not point.commit:
        return "now"
    return datetime.fromtimestamp(point.time, UTC).date().isoformat()


def short_id(commit: str) -> str:
    """Return the first ten characters of a commit's id, as Git abbreviates it."""
    return commit[:10]


def sparkline(values: Sequence[float | None], *, ascii_only: bool, width: int = _LINE) -> str:
    """Return a line of signs, the lowest value as the lowest sign and the highest as the highest."""
    if len(values) > width:
        values = [values[(at + 1) * len(values) // width - 1] for at in range(width)]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    signs = _ASCII_SIGNS if ascii_only else _SIGNS
    if high - low <= TOLERANCE:
        return "".join(_UNKNOWN if value is None else signs[3] for value in values)
    top = len(signs) - 1
    return "".join(
        _UNKNOWN if value is None else signs[round((value - low) / (high - low) * top)] for value in values
    )


def _summary(history: TestHistory, screen: Screen) -> Iterator[str]:
    rows = [["metric", "first", "best", "today", "from best", "oldest to newest"]]
    rows += [
        [
            screen.line(one.metric),
            score_text(one.first),
            score_text(one.best),
            score_text(one.now, one.best),
            screen.line(signed_text(one.from_best)),
            sparkline(one.line, ascii_only=screen.ascii_only),
        ]
        for one in history.summary
    ]
    yield from table(rows, "<>>>><", screen.width, ascii_only=screen.ascii_only, whole=(0,))
    leading = next(one for one in history.summary if one.metric == history.leading)
    if leading.best_commit:
        best = next(point for point in history.points if point.commit == leading.best_commit)
        yield from screen.wrapped(
            f"{leading.metric} was best in {short_id(best.commit)} ({date(best)}, {best.subject}): over the queries that both "
            f"hold, today is {signed_text(leading.from_best)} from there."
        )


def _versions(history: TestHistory, screen: Screen, limit: int) -> Iterator[str]:
    """Yield a row for each version, newest first; without a limit all, else only those that changed anything."""
    points = history.points[::-1]
    if limit:
        telling = [point for point in points if point is points[-1] or says_anything(point)]
        points, hidden = telling[:limit], len(history.points) - len(telling[:limit])
    else:
        hidden = 0
    rows = [["date", "commit", "queries", history.leading, "change", "subject"]]
    for point in points:
        change = point.changes.get(history.leading)
        rows.append(
            [
                date(point),
                short_id(point.commit),
                "" if point.problem else str(point.query_count),
                "" if point.problem else score_text(point.means.get(history.leading)),
                "" if change is None else screen.line(signed_text(change)),
                screen.line(point.subject),
            ]
        )
    laid_out = table_rows(rows, "<<>>><", screen.width, ascii_only=screen.ascii_only, whole=(0, 1))
    yield from laid_out[0]
    for lines, point in zip(laid_out[1:], points, strict=True):
        yield from lines
        for sentence in besides(point, history.leading):
            yield from screen.wrapped(sentence, " " * 12, " " * 14)
    if hidden:
        yield from screen.wrapped(f"{plural(hidden, 'more version')} (--limit 0 shows all)")


def says_anything(point: HistoryPoint) -> bool:
    """Whether a version moved a mean, changed the queries or their judgments, was renamed or could not be scored."""
    moved = any(abs(change or 0.0) > TOLERANCE for change in point.changes.values())
    sets = (point.added, point.dropped, point.reworded, point.relabelled)
    return moved or any(sets) or bool(point.renamed_from or point.problem or not point.commit)


def besides(point: HistoryPoint, metric: str) -> Iterator[str]:
    """Say what a version changed besides the means."""
    if point.problem:
        yield f"not scored: {point.problem}"
    if point.renamed_from:
        yield f"renamed from {point.renamed_from}"
    if point.added:
        yield f"{plural(len(point.added), 'query', 'queries')} added: {listed(point.added, _NAMED)}"
    if point.dropped:
        mean = point.dropped_means.get(metric)
        told = "" if mean is None else f", which had {metric} {score_text(mean)}"
        yield f"{plural(len(point.dropped), 'query', 'queries')} dropped{told}: {listed(point.dropped, _NAMED)}"
    if point.reworded:
        yield f"{plural(len(point.reworded), 'query', 'queries')} reworded: {listed(point.reworded, _NAMED)}"
    if point.relabelled:
        before = point.as_judged_before.get(metric)
        told = "" if before is None else f", by the judgments before {metric} {signed_text(before)}"
        queries = plural(len(point.relabelled), "query", "queries")
        yield f"judgments of {queries} changed{told}: {listed(point.relabelled, _NAMED)}"


def _lowered(history: TestHistory, screen: Screen) -> Iterator[str]:
    """Name the versions that lowered a mean by more than differs from run to run, those that cost most first."""
    metric = history.leading
    lowering = [(point.lowered, point) for point in history.points if point.lowered]
    if not lowering:
        return
    in_all = [lowered[metric] for lowered, _ in lowering if metric in lowered]
    raised = [change for point in history.points if (change := point.changes.get(metric) or 0.0) > TOLERANCE]
    text = f"{plural(len(lowering), 'version')} lowered a mean."
    if in_all:
        text += f" {metric}: {len(in_all)} lowered it, by {score_text(-sum(in_all))} together"
        text += f"; {len(raised)} raised it, by {score_text(sum(raised))}." if raised else "; none raised it."
    yield from screen.wrapped(text)
    order = sorted(lowering, key=lambda one: (metric not in one[0], one[0].get(metric, min(one[0].values()))))
    rows = []
    for lowered, point in order[:_COSTLIEST]:
        name = metric if metric in lowered else min(lowered, key=lowered.__getitem__)
        fell = screen.line(f"{name} {signed_text(lowered[name])}")
        rows.append([date(point), short_id(point.commit), fell, screen.line(point.subject)])
    for line in table(rows, "<<<<", screen.width - 2, ascii_only=screen.ascii_only, whole=(0, 1, 2)):
        yield f"  {line}"
    if len(order) > _COSTLIEST:
        yield f"  and {len(order) - _COSTLIEST} more"


def _since(since: Since, leading: str, screen: Screen) -> Iterator[str]:
    """Say what has changed since a pinned commit."""
    when = f" ({date(since)}, {short_id(since.commit)})"
    if since.problem:
        yield from screen.wrapped(f"Since {since.revision}{when}: {since.problem}.", hanging="  ")
        return
    yield from screen.wrapped(f"Since {since.revision}{when}, over the queries that both hold:")
    rows = [["metric", "then", "today", "delta", "95 % interval", "n", "worse", "better"], *since_rows(since)]
    cells = [[screen.line(cell) for cell in row] for row in rows]
    yield from table(cells, "<>>>>>>>", screen.width, ascii_only=screen.ascii_only, whole=(0,))
    for sentence in since_sentences(since, leading):
        yield from screen.wrapped(sentence, hanging="  ")


def since_rows(since: Since) -> list[list[str]]:
    """Return a row for each metric: its mean then and today, the difference with its interval, and counts of queries."""
    rows = []
    for one in since.metrics:
        interval = "" if one.interval is None else interval_ends_text(one.interval)
        rows.append(
            [
                one.metric,
                score_text(one.then, one.now),
                score_text(one.now, one.then),
                signed_text(one.delta),
                interval,
                str(one.n),
                str(len(one.worse)),
                str(len(one.better)),
            ]
        )
    return rows


def since_sentences(since: Since, leading: str) -> Iterator[str]:
    """Say what the judgments of then make of it, which queries pay, and which came and went."""
    chosen = next((one for one in since.metrics if one.metric == leading), None)
    if chosen is not None:
        if chosen.as_judged_then is not None and abs(chosen.as_judged_then - chosen.delta) > TOLERANCE:
            yield f"By the judgments of then: {leading} {signed_text(chosen.as_judged_then)}."
        if chosen.worse:
            yield f"Worse by {leading}, those that cost most first: {listed(chosen.worse, 2 * _NAMED)}."
    if since.dropped:
        mean = since.dropped_means.get(leading)
        told = "" if mean is None else f", which had {leading} {score_text(mean)} then"
        queries = plural(len(since.dropped), "query has", "queries have")
        yield f"{queries} been dropped or reworded{told}: {listed(since.dropped, _NAMED)}."
    if since.added:
        queries = plural(len(since.added), "query has", "queries have")
        yield f"{queries} been added or reworded: {listed(since.added, _NAMED)}."
