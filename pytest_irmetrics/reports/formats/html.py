"""The HTML report: one file that needs no network, no other file, and no script to be read. Needs Jinja2.

`render` hands `report.html.jinja` all that it shows: the top of the page, a section for each golden set, and one list of the
queries of all, the worst first. What is said of a golden set and of a query is that of every report (`document`, `query_details`).
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pytest_irmetrics.base.numbers import score_text, signed_text
from pytest_irmetrics.reports import document, plots
from pytest_irmetrics.reports.blocks import Block, Commands, Level, Query, Text, is_shown_at
from pytest_irmetrics.reports.html_page import page
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport, QueryReport, query_option
from pytest_irmetrics.reports.query_details import query_block
from pytest_irmetrics.reports.session_report import RunInfo, SessionReport, gated_score, what_was_measured

BEGINNING = "<!doctype html>"

_SECTIONS, _OPEN_SECTIONS = 100, 3
"""How many golden sets have a section, those that fail first; how many of those that fail are open when the page is."""
_IN_FULL, _ROWS, _OPEN = 300, 2000, 5
"""How many queries, the worst, are shown with their rankings, about 5 kB each; how many others have a row of their own; how many
of the worst are open."""


def render(session: SessionReport) -> str:
    """Return the report as HTML."""
    items = session.failures_first
    lead = _lead(items[0], session) if items else []
    names = session.names
    queries = _listed_queries(items, names)
    labels = Counter(one.label for one in queries)
    own: dict[str, list[_ListedQuery]] = {item.nodeid: [] for item in items}
    for one in queries:
        own[one.item.nodeid].append(one)
    failing = bool(session.unmeasured) or session.exit_status not in (0, 5)  # 5: no test was run
    return page(
        "report.html.jinja",
        script="report.js",
        session=session,
        failing=failing or any(map(session.fails, items)),
        when="" if session.info is None else _when(session.info),
        lead=lead,
        items=items,
        names=names,
        anchor_of=dict(zip(own, _anchors("set", (names[nodeid] for nodeid in own)), strict=True)),
        facts=_facts(session, labels) if items else [],
        index=document.overview(items, session),
        variants=document.variant_tables(items),
        sections=items[:_SECTIONS],
        most_open=_OPEN_SECTIONS,
        links={i: {one.report.query_id: one.anchor for one in some if one.anchor} for i, some in own.items()},
        bars={i: _bars(some) for i, some in own.items()},
        blocks=_blocks,
        what_was_measured=what_was_measured,
        queries=queries,
        rows=[one for one in queries if one.anchor],
        in_full=_IN_FULL,
        most_open_queries=_OPEN,
        labels=labels,
        metrics=list(dict.fromkeys(name for one in queries for name in one.report.scores)),
        compared=any(one.report.before is not None for one in queries),
        query_block=query_block,
        query_option=query_option,
        score_text=score_text,
        signed_text=signed_text,
    )


def _blocks(item: ItemReport, said_above: Collection[str]) -> list[Block]:
    """Return a golden set's blocks without what the top of the page says; of its queries those alone that a failure shows."""
    blocks: list[Block] = []
    for block in document.all_blocks(item, queries_first=True):
        shown = is_shown_at(block, Level.NORMAL if isinstance(block, Query) else Level.ALL)
        if not shown or (isinstance(block, Text) and block.text in said_above):
            continue
        if isinstance(block, Commands) and item.against == OWN_BASELINE:
            history = f"pytest-irmetrics history {shlex.quote(item.nodeid)} --html history.html"
            blocks.append(Commands([*block.commands, ("To see how its means moved", history)]))
        else:
            blocks.append(block)
    return blocks


def _lead(item: ItemReport, session: SessionReport) -> list[str]:
    """Return the sentences at the top, on the golden set that fails first, or on the only one."""
    if not session.fails(item):
        means = ", ".join(gated_score(row) for row in item.gated_rows[:3])
        return [means] if means and len(session.items) == 1 else []
    text = next((gate.text for gate in item.failed_gates), f"It {session.verdict(item)}.")
    return [text, *filter(None, [item.provenance]), *item.kind_sentences]


def _when(info: RunInfo) -> str:
    """Return when a session ran, and for how long: `2026-03-01 09:30 UTC · took 1.5 s`."""
    return f"{datetime.fromisoformat(info.started):%Y-%m-%d %H:%M %Z} · took {info.seconds:.1f} s"


def _facts(session: SessionReport, labels: Counter[str]) -> list[tuple[str, str, str, str]]:
    """Return the numbers at the top: how many golden sets, or gates of the only one, fail, and the queries by what became of them.

    Each is its name, its value, its shade, and which queries it counts, as the list's filter calls them.
    """
    items = session.items
    unit, of, failed = f"{session.unit}s", len(items), sum(map(session.fails, items))
    if len(items) == 1:
        states = [gate.state for gate in items[0].gates if gate.state != "not checked"]
        unit, of, failed = "gates", len(states), states.count("failed")
    facts = [(f"{unit} failing", f"{failed:,} of {of:,}", "bad" if failed else "good", "")] if of else []
    facts += [
        (name if labels[label] != 1 else name.replace("queries", "query"), f"{labels[label]:,}", shade, label)
        for label, name, shade in (
            ("error", "without an answer", "bad"),
            ("worse", "queries worse", "bad"),
            ("better", "queries better", "good"),
            ("new", "new queries", ""),
        )
        if labels[label]
    ]
    return [*facts, ("queries", f"{sum(one.query_count for one in items):,}", "", "all")]


# Queries


@dataclass(slots=True)
class _ListedQuery:
    """One query in the list of those of all golden sets."""

    item: ItemReport
    """The test that asked it."""
    place: int
    """Among the queries of its test, the worst of which is the first."""
    report: QueryReport
    label: str
    """`worse`, `better`, `same`, `new`, `error`, or empty where no two scores are compared; report_queries.jinja and report.js know
    these words, too."""
    anchor: str = ""
    """Empty where it has no row to be linked to."""

    @property
    def score(self) -> float | None:
        """By its golden set's leading metric."""
        return self.report.scores.get(self.item.leading_metric or "")

    @property
    def change(self) -> float | None:
        """Of that score since the baseline."""
        return self.report.delta(self.item.leading_metric)

    @property
    def sort_key(self) -> tuple[float, ...]:
        """The key by which queries are sorted: an error first, what explains a failure (the worst of each set, then the next), falls, gains."""
        if self.report.explains is not None:
            return self.label != "error", False, self.place
        fall, unmoved = min(self.change or 0.0, 0.0), self.label in ("same", "")
        return self.label != "error", True, fall, unmoved, self.place


def _listed_queries(items: Sequence[ItemReport], names: Mapping[str, str]) -> list[_ListedQuery]:
    """Return the queries of all golden sets, the worst first; those that have a row with an anchor.

    `names` are what the tests are called, by node id.
    """
    queries = []
    for item in items:
        compared = any(query.before is not None for query in item.queries)
        for place, query in enumerate(item.queries):
            queries.append(_ListedQuery(item, place, query, _label(query, item, compared=compared)))
    queries.sort(key=lambda one: one.sort_key)
    rows = queries[: _IN_FULL + _ROWS]
    of_set = [f"{names[one.item.nodeid]}/" if len(items) > 1 else "" for one in rows]
    anchors = _anchors("q", (f"{name}{one.report.query_id}" for name, one in zip(of_set, rows, strict=True)))
    for one, anchor in zip(rows, anchors, strict=True):
        one.anchor = anchor
    return queries


def _label(query: QueryReport, item: ItemReport, *, compared: bool) -> str:
    """Return the label of a query, as `_ListedQuery.label` has it."""
    if query.error is not None:
        return "error"
    if query.before is None:
        return "new" if compared else ""
    delta = None if query.is_xfail else query.delta(item.leading_metric)
    return "" if delta is None else "same" if not delta else "worse" if delta < 0 else "better"


def _anchors(prefix: str, names: Iterable[str]) -> Iterator[str]:
    """Yield an anchor for each name, made of it, so that the next report has the same ones."""
    counts = Counter[str]()
    for name in names:
        words = re.sub(r"[^A-Za-z0-9_.-]", "-", name)[:80]
        counts[words] += 1
        yield f"{prefix}-{words}" + (f"~{counts[words]}" if counts[words] > 1 else "")


def _bars(queries: Sequence[_ListedQuery]) -> plots.Bars | None:
    """Return a bar for each changed query of a golden set; for each query's score where nothing is compared."""
    counted = [query for query in queries if not query.report.is_xfail]
    moved = [(one.anchor, one.report.query_id, one.change) for one in counted if one.change is not None]
    scored = [(one.anchor, one.report.query_id, one.score) for one in counted if one.score is not None]
    return plots.bars(moved or scored, compared=bool(moved))
