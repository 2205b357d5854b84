"""One golden set in the HTML report: what its row in the table of all of them shows, and its section."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.reports import plots, texts
from pytest_irmetrics.reports.html_queries import anchor_of
from pytest_irmetrics.reports.item_report import OWN_BASELINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.reports.html_queries import ListedQuery, QueryList
    from pytest_irmetrics.reports.item_report import ItemReport, ScoreRow
    from pytest_irmetrics.reports.session_report import SessionReport

_VERDICTS = ("FAILS", "passes", "not checked")
"""The order of the rows in a table of scores; those without a limit come last."""


def golden_set(
    item: ItemReport, title: str, session: SessionReport, anchor: str, queries: QueryList
) -> dict[str, Any]:
    """Return what the templates show of one golden set."""
    gates = {
        state: [gate for gate in item.gates if gate.state == state]
        for state in ("failed", "not checked", "passed")
    }
    own = queries.of_set[anchor]
    labels = queries.counts(own)
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
        "means": [texts.gated_score(row) for row in texts.gated_rows(item)[:3]],
        "ungated": not item.only_queries and len(gates["not checked"]) == len(item.gates),
        "subject": texts.subject(item),
        "next": _next_steps(item) if session.fails(item) else [],
        "compared": texts.is_compared(item),
        "other": texts.compared_with(item),
        "rows": _score_rows(item, axis),
        "limited": any(row.gate or row.verdict for row in item.rows),
        "ends": plots.axis_ends(axis),
        "table_notes": texts.table_notes(item),
        "slices": [_slice(row, slice_axis) for row in telling],
        "tiny_slices": [_slice(row, None) for row in tiny],
        "slice_ends": plots.axis_ends(slice_axis),
        "since": _since(item),
        "conclusion": texts.selftest_conclusion(item.selftest or ()),
        "only_queries": texts.ONLY_QUERIES if item.only_queries else "",
        "tried": [
            (tried, texts.deltas_text(tried), texts.caught_text(tried)) for tried in item.selftest or ()
        ],
        "failed": gates["failed"],
        "explained_gates": [gate for gate in gates["failed"] if gate.details or gate.origin],
        "unchecked": gates["not checked"],
        "passed": gates["passed"],
        "anchors": {query.report.query_id: query.anchor for query in own if query.listed},
        "leading": queries.leading.get(anchor),
        "bars": _bars(own),
        "labels": labels,
        "changed": any(label != "same" for label in labels),
        "section": False,
    }


def _score_rows(item: ItemReport, axis: plots.Axis | None) -> list[dict[str, Any]]:
    """Return the rows of the table of scores: those that fail first, those without a limit last."""
    in_order = sorted(
        item.rows,
        key=lambda row: _VERDICTS.index(row.verdict) if row.verdict in _VERDICTS else len(_VERDICTS),
    )
    return [
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
        for row in in_order
    ]


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
    from pytest_irmetrics.reports.since_texts import sentences_on  # noqa: PLC0415 - only with --ir-since

    return sentences_on(item)


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
