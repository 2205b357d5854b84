"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.escape import escape_html
from pytest_irmetrics.reports import plots, texts
from pytest_irmetrics.reports.html_page import Room, Trusted, content_policy, read_resource, templates
from pytest_irmetrics.reports.html_queries import anchors, query_list, rest_lines, write_rows
from pytest_irmetrics.reports.html_sets import golden_set
from pytest_irmetrics.reports.session_report import counted_as, titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.reports.html_queries import QueryList
    from pytest_irmetrics.reports.item_report import ItemReport
    from pytest_irmetrics.reports.session_report import RunInfo, SessionReport
    from pytest_irmetrics.reports.variants import VariantTable

_COUNTED = (
    ("error", "without an answer", "bad"),
    ("worse", "queries worse", "bad"),
    ("better", "queries better", "good"),
    ("new", "new queries", ""),
)
"""The labels of queries that are counted at the top, with their names and shades."""
_LINKED_BARS = 1_000
"""How many bars of a report are links, in the order of its golden sets; a page of 100 sets would be half links otherwise."""
_PAGE = 4_950_000
"""Bytes of a page, which ends with as many lines of queries as there is room for."""
_SECTIONS = 1_200_000
"""Bytes of the sections of golden sets; the others have a row in the table of all of them."""
_INDEX = 1_000_000
"""Bytes of the rows of that table; the others are lines of one text."""
_INDEX_LINES = 300_000
"""Bytes of these lines."""
_SIDE_BY_SIDE = 300_000
"""Bytes of the tables of variants side by side."""
_OPEN = 3
"""How many golden sets that fail are open when the page is."""


def render(session: SessionReport) -> str:
    """Return the report as HTML. Raises ImportError saying what to install where Jinja2 is missing."""
    environment = templates()
    items = session.measured_failures_first
    names = titles(items)
    set_anchors = anchors("set", (names[item.nodeid] for item in items))
    queries = query_list(items, set_anchors)
    rows = _query_rows(queries, environment, [names[item.nodeid] for item in items])
    sets = [
        golden_set(item, names[item.nodeid], session, anchor, queries)
        for item, anchor in zip(items, set_anchors, strict=True)
    ]
    page = environment.get_template("report.html.jinja")
    parts = _page_parts(session, sets, queries) | _set_parts(sets, environment)
    parts |= _variant_parts(items, environment) | {"rows": rows, "rest": []}
    text: str = page.render(parts)
    if len(rows) < len(queries.in_order):
        parts["rest"] = rest_lines(queries, _PAGE - len(text.encode()))
        text = page.render(parts)
    return text


def _query_rows(queries: QueryList, environment: Any, set_titles: Sequence[str]) -> list[str]:
    """Return the rows of the list of queries, each with its golden set's title where there are several."""
    row = environment.get_template("report_query.jinja").module.row
    shown = dict(zip(queries.leading, set_titles, strict=True)) if len(set_titles) > 1 else {}
    size = plots.LINES_WIDTH, plots.ROW_HEIGHT
    return write_rows(queries, lambda query: row(query, shown.get(query.set_anchor, ""), *size))


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


def _set_parts(sets: Sequence[dict[str, Any]], environment: Any) -> dict[str, Any]:
    """Return the rows, the lines and the sections of the golden sets, of each kind as many as there is room for.

    Those that fail have a section first, then those in which queries changed.
    """
    macros = environment.get_template("report_set.jinja").module
    _link_bars(sets)
    for place, one in enumerate(sets):
        one["leads"] = one["failing"] and place == 0  # then the top of the page has its sentences
        one["opened"] = len(sets) == 1 or (one["failing"] and place < _OPEN)
    room = Room(_SECTIONS)
    for one in sorted(sets, key=lambda one: (not one["failing"], not one["changed"])):
        section = macros.section(one) if room.is_open else ""
        if room.take(section) or one is sets[0]:
            one["section"] = section
    ends = _add_leading_rows(sets)
    rows = _taken((macros.index_row(one, ends is not None) for one in sets), _INDEX)
    others = (Trusted(escape_html(f"{one['title']}: {one['verdict']}")) for one in sets[len(rows) :])
    return {
        "sets": sets,
        "index_rows": rows,
        "index_lines": _taken(others, _INDEX_LINES),
        "index_ends": ends,
        "with_section": sum(bool(one["section"]) for one in sets),
    }


def _variant_parts(items: Sequence[ItemReport], environment: Any) -> dict[str, Any]:
    """Return the tables of variants side by side, as many as there is room for, and how many more there are."""
    write = environment.get_template("report_variants.jinja").module.side_by_side
    tables = variant_tables(items)
    written = (write(_side_by_side(table), number) for number, table in enumerate(tables, 1))
    shown = _taken(written, _SIDE_BY_SIDE)
    return {"variants": shown, "more_variants": len(tables) - len(shown)}


def _taken(written: Iterable[str], size: int) -> list[str]:
    """Return as many of the first texts as are together at most so many bytes; those after them are not made."""
    return list(takewhile(Room(size).take, written))


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
