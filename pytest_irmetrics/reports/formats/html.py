"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pytest_irmetrics.reports import document, plots, texts
from pytest_irmetrics.reports.blocks import Commands, Level, Query, Text
from pytest_irmetrics.reports.html_page import Trusted, content_policy, read_resource, templates
from pytest_irmetrics.reports.html_queries import anchors, query_list
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.reports.query_details import failed_gates
from pytest_irmetrics.reports.session_report import counted_as, titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_irmetrics.reports.blocks import Block
    from pytest_irmetrics.reports.html_queries import ListedQuery, QueryList
    from pytest_irmetrics.reports.item_report import ItemReport
    from pytest_irmetrics.reports.session_report import RunInfo, SessionReport

BEGINNING = "<!doctype html>"
_TEMPLATES = templates()

_COUNTED = {
    "error": ("without an answer", "bad"),
    "worse": ("queries worse", "bad"),
    "better": ("queries better", "good"),
    "new": ("new queries", ""),
}
"""Label of queries that are counted at the top → what they are called there, and their shade."""
_INDEX = 1000
"""How many golden sets the table of all of them has."""
_SECTIONS = 100
"""How many golden sets have a section: those that fail first, then those in which queries changed."""
_OPEN = 3
"""How many golden sets that fail are open when the page is."""


def render(session: SessionReport) -> str:
    """Return the report as HTML."""
    style, script = read_resource("report.css"), read_resource("report.js")
    items = session.measured_failures_first
    names = titles(items)
    set_anchors = anchors("set", (names[item.nodeid] for item in items))
    queries = query_list(items, set_anchors)
    own: dict[str, list[ListedQuery]] = {anchor: [] for anchor in set_anchors}
    for query in queries.queries:
        own[query.set_anchor].append(query)
    in_order = sorted(
        range(len(items)),
        key=lambda place: (
            not session.fails(items[place]),
            all(query.label == "same" for query in own[set_anchors[place]]),
        ),
    )
    shown = sorted(in_order[:_SECTIONS])
    lead = _lead(items[0], session) if items else []
    text: str = _TEMPLATES.get_template("report.html.jinja").render(
        session=session,
        failing=bool(session.unmeasured)
        or session.exit_status not in (0, 5)
        or any(map(session.fails, items)),
        info=session.info,
        when="" if session.info is None else _when(session.info),
        lead=lead,
        items=items,
        names=names,
        unit=counted_as(items),
        anchor_of=dict(zip(names, set_anchors, strict=True)),
        facts=_facts(session, queries),
        index=document.overview(items[:_INDEX], names, session),
        links=[set_anchors[place] if place in shown else "" for place in range(len(items[:_INDEX]))],
        variants=variant_tables(items),
        sections=[
            {
                "item": items[place],
                "anchor": set_anchors[place],
                "verdict": texts.verdict(items[place], session),
                "failing": session.fails(items[place]),
                "opened": len(items) == 1 or (session.fails(items[place]) and place < _OPEN),
                "subject": texts.subject(items[place]),
                "blocks": list(_blocks(items[place], lead if not place else ())),
                "bars": _bars(own[set_anchors[place]]),
                "rows": {one.report.query_id: one.anchor for one in own[set_anchors[place]] if one.anchor},
            }
            for place in shown
        ],
        list=queries,
        plots=plots,
        style=Trusted(style),
        script=Trusted(script),
        policy=content_policy(style, script),
    )
    return text


def _lead(item: ItemReport, session: SessionReport) -> list[str]:
    """Return the sentences at the top, on the golden set that fails first, or on the only one."""
    if not session.fails(item):
        means = ", ".join(texts.gated_score(row) for row in texts.gated_rows(item)[:3])
        return [means] if means and len(session.measured) == 1 else []
    text = next((gate.text for gate in failed_gates(item)), f"It {texts.verdict(item, session)}.")
    return [text, *item.kind_sentences]


def _blocks(item: ItemReport, lead: Collection[str]) -> Iterator[Block]:
    """Yield what a section shows: all but what stands at the top, and the queries besides the worst, which are in the list."""
    for block in document.whole(item):
        if not block.is_shown_at(Level.NORMAL if isinstance(block, Query) else Level.ALL):
            continue
        if isinstance(block, Text) and block.text in lead:
            continue
        if isinstance(block, Commands) and item.against == OWN_BASELINE:
            history = f"pytest-irmetrics history {shlex.quote(item.nodeid)} --html history.html"
            yield Commands([*block.commands, ("To see how its means moved", history)])
        else:
            yield block


def _when(info: RunInfo) -> str:
    """Return when a session ran, and for how long: `2026-03-01 09:30 UTC, took 1.5 s`."""
    # `2026-03-01T09:30:00+01:00`
    started = (
        f"{info.started[:10]} {info.started[11:16]} {info.started[19:].replace('+00:00', 'UTC')}".strip()
    )
    minutes, seconds = divmod(round(info.seconds), 60)
    return f"{started} · took {f'{minutes} min {seconds} s' if minutes else f'{info.seconds:.1f} s'}"


def _facts(session: SessionReport, queries: QueryList) -> list[dict[str, str]]:
    """Return the numbers at the top: name, value, shade (`bad`, `good`, or none), and which queries of the list it counts."""
    items = session.measured
    if not items:
        return []
    failing = sum(map(session.fails, items))
    unit = f"{counted_as(items)}s"
    judged = [gate for gate in items[0].gates if gate.state != "not checked"]
    of, failed, undecided = len(items), failing, 0
    if len(items) == 1:
        unit, of, failed = "gates", len(judged), sum(gate.state == "failed" for gate in judged)
        undecided = sum(gate.state == "undecided" for gate in judged)
    shown = [
        (
            f"{unit} {'failing' if failed else 'passing'}",
            f"{failed or of - undecided:,} of {of:,}",
            "bad" if failed else "good",
            "",
        )
    ]
    for label, (name, shade) in _COUNTED.items():
        count = queries.labels[label]
        if count or (queries.compared and label in ("worse", "better")):
            shown.append((name, f"{count:,}", shade if count else "", label if count else ""))
    shown.append(("queries", f"{len(queries.queries):,}", "", "all"))
    return [
        dict(zip(("name", "value", "shade", "kind"), one, strict=True))
        for one in shown
        if of or one[0] != shown[0][0]
    ]


def _bars(queries: Sequence[ListedQuery]) -> plots.Bars | None:
    """Return a bar for each changed query of a golden set; for each query's score where nothing is compared."""
    counted = [query for query in queries if not query.report.status.startswith("xfail")]
    moved = [(one.anchor, one.report.query_id, one.change) for one in counted if one.change is not None]
    scored = [(one.anchor, one.report.query_id, one.score) for one in counted if one.score is not None]
    return plots.change_bars(moved) if moved else plots.score_bars(scored) if scored else None
