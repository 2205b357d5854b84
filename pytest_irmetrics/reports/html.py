"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import plots, texts
from pytest_irmetrics.reports.html_page import Trusted, content_policy, load_template, read_resource
from pytest_irmetrics.reports.html_queries import anchor_of, anchors, query_list
from pytest_irmetrics.reports.session_report import titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.reports.html_queries import ListedQuery, QueryList
    from pytest_irmetrics.reports.item_report import ItemReport, ScoreRow
    from pytest_irmetrics.reports.session_report import RunInfo, SessionReport


def render(session: SessionReport) -> str:
    """Return the report as HTML. Raises ImportError saying what to install where Jinja2 is missing."""
    items = session.measured_failures_first
    names = titles(items)
    template = load_template("report.html.jinja")
    style, script = read_resource("report.css"), read_resource("report.js")
    set_anchors = anchors("set", (names[item.nodeid] for item in items))
    queries = query_list(items, set_anchors)
    sets = [
        _golden_set(item, names[item.nodeid], session, anchor, queries)
        for item, anchor in zip(items, set_anchors, strict=True)
    ]
    failing = (
        bool(session.unmeasured) or session.exit_status not in (0, 5) or any(one["failing"] for one in sets)
    )
    text: str = template.render(
        headline=session.headline(),
        failing=failing,
        meta=_meta(session.info),
        accepted=session.accepted,
        ending=session.ending(),
        unmeasured=session.unmeasured,
        unused_baselines=session.unused_baseline_notes,
        sets=sets,
        variants=variant_tables(items),
        list=queries,
        names={one["anchor"]: one["title"] for one in sets},
        row_height=plots.ROW_HEIGHT,
        lines_width=plots.LINES_WIDTH,
        plot_width=plots.WIDTH,
        style=Trusted(style),
        script=Trusted(script),
        policy=content_policy(style, script),
    )
    return text


def _meta(info: RunInfo | None) -> list[str]:
    """Return when the session ran, for how long, and on what; empty where that is not known."""
    if info is None:
        return []
    versions = [f"{name} {version}" for name, version in info.versions.items()]
    commit = [f"commit {info.commit[:12]}"] if info.commit else []
    return [info.started.replace("T", " "), f"took {_duration(info.seconds)}", *commit, *versions]


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _golden_set(
    item: ItemReport, title: str, session: SessionReport, anchor: str, queries: QueryList
) -> dict[str, Any]:
    """Return what the template shows of one golden set."""
    gates = {
        state: [gate for gate in item.gates if gate.state == state]
        for state in ("failed", "not checked", "passed")
    }
    own = queries.of_set[anchor]
    axis = plots.change_axis(item.rows)
    telling, tiny = plots.telling_and_tiny(item.slices)
    slice_axis = plots.interval_axis(telling)
    return {
        "anchor": anchor,
        "title": title,
        "report": item,
        "failing": session.fails(item),
        "state": _state(item, session),
        "verdict": texts.verdict(item, session),
        "sentence": next((gate.text for gate in gates["failed"]), ""),
        "subject": texts.subject(item),
        "scores": [texts.gated_score(row) for row in texts.gated_rows(item)[:3]],
        "delta": _leading_delta(item),
        "compared": texts.is_compared(item),
        "other": texts.compared_with(item),
        "rows": [
            {
                "name": texts.row_name(row),
                "gate": row.gate,
                "verdict": row.verdict,
                "plot": plots.change_plot(row, axis),
                "level": plots.level_plot(row) if row.baseline is None else None,
                **_cells(row),
            }
            for row in item.rows
        ],
        "ends": plots.axis_ends(axis),
        "table_notes": texts.table_notes(item),
        "slices": [_slice(row, slice_axis) for row in telling],
        "tiny_slices": [_slice(row, None) for row in tiny],
        "slice_ends": plots.axis_ends(slice_axis),
        "since": _since(item),
        "conclusion": texts.selftest_conclusion(item.selftest) if item.selftest else "",
        "tried": [
            (tried, texts.deltas_text(tried), texts.caught_text(tried)) for tried in item.selftest or ()
        ],
        "failed": gates["failed"],
        "unchecked": gates["not checked"],
        "passed": gates["passed"],
        "anchors": {query.report.query_id: query.anchor for query in own if query.listed},
        "leading": queries.leading.get(anchor),
        "bars": _bars(own),
        "curves": [plots.curve_plot(curve) for curve in item.curves],
        "labels": queries.counts(own),
        "count": plural(len(own), "query", "queries"),
    }


def _state(item: ItemReport, session: SessionReport) -> str:
    """Return ``FAILS``, ``passes``, or ``fails as expected``."""
    if session.fails(item):
        return "FAILS"
    return "passes" if item.outcome == "passed" else "fails as expected"


def _leading_delta(item: ItemReport) -> float:
    """Return the change of the first gated mean that is compared, for sorting."""
    return next((row.delta for row in texts.gated_rows(item) if row.delta is not None), 0.0)


def _slice(row: ScoreRow, axis: plots.Axis | None) -> dict[str, Any]:
    return {
        "tag": row.tag or "",
        "interval": texts.interval_text(row),
        "trend": texts.slice_trend(row),
        "changed": row.changed,
        "plot": plots.interval_plot(row, axis),
        **_cells(row),
    }


def _since(item: ItemReport) -> list[str]:
    """Return what changed since this branch left another; nothing without ``--ir-since``."""
    if item.since is None:
        return []
    from pytest_irmetrics.reports.since_report import SinceReport  # noqa: PLC0415 - only with --ir-since
    from pytest_irmetrics.reports.since_texts import details, one_line  # noqa: PLC0415 - as above

    since = SinceReport.of(item)
    if since is None:
        return []
    lead = one_line(since)
    return [f"{lead[0].upper()}{lead[1:]}.", *details(since)]


def _cells(row: ScoreRow) -> dict[str, str]:
    return {
        "n": f"{row.n:,}",
        "now": texts.now_text(row),
        "baseline": texts.baseline_text(row),
        "delta": texts.delta_text(row),
    }


def _bars(queries: Sequence[ListedQuery]) -> plots.Bars | None:
    """Return a bar for each changed query of a golden set; for each query's score where nothing is compared."""
    counted = [query for query in queries if not query.report.status.startswith("xfail")]
    moved = [
        (anchor_of(query), query.report.query_id, query.change)
        for query in counted
        if query.change is not None
    ]
    if moved:
        return plots.change_bars(moved)
    scored = [
        (anchor_of(query), query.report.query_id, query.score) for query in counted if query.score is not None
    ]
    return plots.score_bars(scored)
