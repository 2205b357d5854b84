"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import plots, texts
from pytest_irmetrics.reports.html_page import Trusted, content_policy, load_template, read_resource
from pytest_irmetrics.reports.html_queries import anchor_of, anchors, query_list
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.reports.session_report import counted_as, titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.reports.html_queries import ListedQuery, QueryList
    from pytest_irmetrics.reports.item_report import ItemReport, ScoreRow
    from pytest_irmetrics.reports.session_report import RunInfo, SessionReport
    from pytest_irmetrics.reports.variants import VariantTable

_VERDICTS = ("FAILS", "passes", "not checked")
"""The order of the rows in a table of scores; those without a limit come last."""


_COUNTED = (
    ("error", "without an answer", "bad"),
    ("worse", "queries worse", "bad"),
    ("better", "queries better", "good"),
    ("new", "new queries", ""),
)
"""The labels of queries that are counted at the top, with their names and shades."""
_LINKED_BARS = 1_000
"""How many bars of a report are links, in the order of its golden sets; a page of 100 sets would be half links otherwise."""


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
    _link_bars(sets)
    text: str = template.render(
        headline=session.headline(),
        failing=failing,
        run=_run(session.info),
        versions=[f"{name} {version}" for name, version in session.info.versions.items()]
        if session.info
        else [],
        facts=_facts(sets, queries, counted_as(items)),
        asked=plural(len(queries.in_order), "query", "queries"),
        unit=f"{counted_as(items)}s",
        accepted=session.accepted,
        ending=session.ending(),
        unmeasured=session.unmeasured,
        unused_baselines=session.unused_baseline_notes,
        sets=sets,
        index_ends=_add_leading_rows(sets),
        variants=[_side_by_side(table) for table in variant_tables(items)],
        list=queries,
        names={one["anchor"]: one["title"] for one in sets},
        row_height=plots.ROW_HEIGHT,
        lines_width=plots.LINES_WIDTH,
        style=Trusted(style),
        script=Trusted(script),
        policy=content_policy(style, script),
    )
    return text


def _run(info: RunInfo | None) -> dict[str, str]:
    """Return which commit the session ran on, when, and how long it took; empty texts where that is not known."""
    if info is None:
        return {"commit": "", "started": "", "when": "", "took": ""}
    # `2026-03-01T09:30:00+01:00`
    when = f"{info.started[:10]} {info.started[11:16]} {info.started[19:].replace('+00:00', 'UTC')}"
    return {
        "commit": info.commit[:12],
        "started": info.started,
        "when": when.strip(),
        "took": _duration(info.seconds),
    }


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _facts(sets: Sequence[dict[str, Any]], queries: QueryList, unit: str) -> list[dict[str, str]]:
    """Return the numbers at the top: name, value, shade (`bad`, `good`, or none), and which queries of the list it counts."""
    if not sets:
        return []
    failing = sum(one["failing"] for one in sets)
    found = []
    if len(sets) > 1:
        count, word = (failing, "failing") if failing else (len(sets), "passing")
        found = [_fact(f"{unit}s {word}", f"{count} of {len(sets)}", "bad" if failing else "good")]
    elif sets[0]["failed"] or sets[0]["passed"]:
        failed, passed = len(sets[0]["failed"]), len(sets[0]["passed"])
        of = f"of {failed + passed}"
        found = [_fact("gates passing", f"{passed} {of}", "good")]
        if failed:
            found = [_fact("gates failing", f"{failed} {of}", "bad", "explains")]
    counts = queries.labels
    for label, name, shade in _COUNTED:
        count = counts.get(label, 0)
        if count:
            found.append(_fact(name, f"{count:,}", shade, label))
        elif label in ("worse", "better") and queries.compared:
            found.append(_fact(name, "0", ""))
    return [*found, _fact("queries", f"{len(queries.in_order):,}", "", "all")]


def _fact(name: str, value: str, shade: str, kind: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "shade": shade, "kind": kind}


def _add_leading_rows(sets: Sequence[dict[str, Any]]) -> tuple[str, str] | None:
    """Give each golden set its row of the index, about its leading metric; return the ends of the axis that these share."""
    leading = [next(iter(texts.gated_rows(one["report"])), None) for one in sets]
    # Without the limits of the means, of which one far away would make all changes small.
    axis = plots.change_axis([replace(row, bounds=[]) for row in leading if row is not None])
    for one, row in zip(sets, leading, strict=True):
        one["leading_row"] = {
            "name": "" if row is None else texts.row_name(row),
            "verdict": "" if row is None else row.verdict,
            "plot": None if row is None else plots.change_plot(row, axis),
            "value": "" if row is None or row.now is None else row.now,
            "now": "" if row is None else texts.now_text(row),
            "delta": "" if row is None or row.delta is None else texts.delta_text(row),
            "moved": "" if row is None or row.delta is None else row.delta,
        }
    return plots.axis_ends(axis)


def _link_bars(sets: Sequence[dict[str, Any]]) -> None:
    """Say of which golden sets the bars are links, the first ones; of the others they are two outlines."""
    count = 0
    for one in sets:
        count += 0 if one["bars"] is None else len(one["bars"].bars)
        one["bars_linked"] = count <= _LINKED_BARS


def _side_by_side(table: VariantTable) -> dict[str, Any]:
    """Return what the template shows of one test's variants: a row for each metric, with a dot for each variant."""
    axis = plots.variant_axis(row.values for row in table.rows)
    shapes = [plots.SHAPES[place % len(plots.SHAPES)] for place in range(len(table.columns))]
    return {
        "title": table.title,
        "columns": table.columns,
        "legend": list(zip(table.columns, shapes, strict=True)) if axis else [],
        "ends": plots.axis_ends(axis),
        "sentence": table.sentence,
        "rows": [
            {
                "name": row.name,
                "cells": list(zip(table.columns, row.cells, row.best, strict=True)),
                "dots": plots.variant_dots(axis, table.columns, row.values, row.best),
            }
            for row in table.rows
        ],
    }


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
        "sentence": next((gate.text for gate in gates["failed"]), f"It {texts.verdict(item, session)}."),
        "explained": item.kind_sentences,
        "means": [texts.gated_score(row) for row in texts.gated_rows(item)[:3]] if item.gates else [],
        "subject": texts.subject(item),
        "next": _next_steps(item) if session.fails(item) else [],
        "compared": texts.is_compared(item),
        "other": texts.compared_with(item),
        "rows": [
            {
                "name": texts.row_name(row),
                "gate": row.gate,
                "verdict": row.verdict,
                "worse": "" if row.worse is None else f"{row.worse:,}",
                "better": "" if row.worse is None or row.changed is None else f"{row.changed - row.worse:,}",
                "plot": plots.change_plot(row, axis),
                "level": plots.level_plot(row) if row.baseline is None else None,
                **_cells(row),
            }
            for row in sorted(
                item.rows,
                key=lambda row: _VERDICTS.index(row.verdict) if row.verdict in _VERDICTS else len(_VERDICTS),
            )
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


def _next_steps(item: ItemReport) -> list[tuple[str, list[str]]]:
    """Return what to do about a failure, each with its commands."""
    history = [f"pytest-irmetrics history {shlex.quote(item.nodeid)} --html history.html"]
    steps = [
        ("Judge what is not judged of both runs, before you decide", item.judge),
        ("Accept what is new as the baseline", [item.accept] if item.accept else []),
        ("See how its means moved over the commits", history if item.against == OWN_BASELINE else []),
    ]
    return [(what, commands) for what, commands in steps if commands]


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
