"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.reports import plots, texts
from pytest_irmetrics.reports.html_page import Trusted, content_policy, read_resource, templates
from pytest_irmetrics.reports.html_queries import anchors, choose_rows, query_list
from pytest_irmetrics.reports.html_sets import golden_set
from pytest_irmetrics.reports.session_report import counted_as, titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.reports.html_queries import QueryList
    from pytest_irmetrics.reports.session_report import RunInfo, SessionReport
    from pytest_irmetrics.reports.variants import VariantTable

_COUNTED = (
    ("error", "without an answer", "bad"),
    ("worse", "queries worse", "bad"),
    ("better", "queries better", "good"),
    ("new", "new queries", ""),
)
"""The labels of queries that are counted at the top, with their names and shades."""
_INDEX = 1000
"""How many golden sets the table of all of them has."""
_SECTIONS = 100
"""How many golden sets have a section: those that fail first, then those in which queries changed."""
_LINKED = 8
"""Of how many golden sets the bars are links; of the others they are two outlines."""
_SIDE_BY_SIDE = 20
"""How many tables of variants side by side there are."""
_OPEN = 3
"""How many golden sets that fail are open when the page is."""


def render(session: SessionReport) -> str:
    """Return the report as HTML. Raises ImportError saying what to install where Jinja2 is missing."""
    environment = templates()
    items = session.measured_failures_first
    names = titles(items)
    set_anchors = anchors("set", (names[item.nodeid] for item in items))
    queries = query_list(items, set_anchors)
    rows = choose_rows(queries)
    sets = [
        golden_set(item, names[item.nodeid], session, anchor, queries)
        for item, anchor in zip(items, set_anchors, strict=True)
    ]
    shown_titles = {one["anchor"]: one["title"] for one in sets} if len(sets) > 1 else {}
    tables = variant_tables(items)
    text: str = environment.get_template("report.html.jinja").render(
        _page_parts(session, sets, queries)
        | {
            "index_ends": _add_leading_rows(sets),
            "sets": sets,
            "sections": _sections(sets),
            "index": sets[:_INDEX],
        }
        | {"rows": rows, "titles": shown_titles, "size": (plots.LINES_WIDTH, plots.ROW_HEIGHT)}
        | {"variants": [_side_by_side(table) for table in tables[:_SIDE_BY_SIDE]]}
        | {"more_variants": max(0, len(tables) - _SIDE_BY_SIDE)}
    )
    return text


def _page_parts(session: SessionReport, sets: Sequence[dict[str, Any]], queries: QueryList) -> dict[str, Any]:
    """Return what the page shows besides its long lists: its top, its filters, and what stands at its end."""
    style, script = read_resource("report.css"), read_resource("report.js")
    unit = counted_as(session.measured)
    versions = {} if session.info is None else session.info.versions
    listed = {query.set_anchor for query in queries.in_order if query.listed}
    return {
        "headline": session.headline(),
        "failing": bool(session.unmeasured)
        or session.exit_status not in (0, 5)
        or any(one["failing"] for one in sets),
        "run": _run(session.info),
        "versions": [f"{name} {version}" for name, version in versions.items()],
        "facts": _facts(sets, queries, unit),
        "unit": unit,
        "accepted": session.accepted,
        "ending": session.ending(),
        "unmeasured": session.unmeasured,
        "unused_baselines": session.unused_baseline_notes,
        "list": queries,
        "sets_in_list": [one for one in sets if one["anchor"] in listed],
        "style": Trusted(style),
        "script": Trusted(script),
        "policy": content_policy(style, script),
    }


def _sections(sets: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Choose the golden sets that have a section, and say of each how it begins."""
    for place, one in enumerate(sets):
        one["leads"] = one["failing"] and place == 0  # then the top of the page has its sentences
        one["opened"] = len(sets) == 1 or (one["failing"] and place < _OPEN)
        one["bars_linked"] = place < _LINKED
    for one in sorted(sets, key=lambda one: (not one["failing"], not one["changed"]))[:_SECTIONS]:
        one["section"] = True
    return [one for one in sets if one["section"]]


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
        found = [_fact(f"{unit}s {word}", f"{count:,} of {len(sets):,}", "bad" if failing else "good")]
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


def _side_by_side(table: VariantTable) -> dict[str, Any]:
    """Return what the template shows of one test's variants: a row for each metric."""
    return {
        "title": table.title,
        "columns": table.columns,
        "rows": [
            {"name": row.name, "cells": list(zip(table.columns, row.cells, row.best, strict=True))}
            for row in table.rows
        ],
    }
