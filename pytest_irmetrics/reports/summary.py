"""The terminal summary at the end of a session: a line or a table for each golden set, then what was stored and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_irmetrics.base.screen import Line, Screen, display_width, shorten
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import document
from pytest_irmetrics.reports.blocks import Block, Level, Text
from pytest_irmetrics.reports.item_report import ItemReport
from pytest_irmetrics.reports.session_report import (
    SessionReport,
    gated_rows,
    gated_score,
    names_by_nodeid,
    query_count,
)
from pytest_irmetrics.reports.text import lines

_NARROWEST_NAME = 16
"""How many cells a test's name keeps where a score stands beside it."""

_STATES = ("refused", "accepted", "changed", "new", "unchanged")
"""How a test may stand to another commit, in the order in which they are counted."""


def summary_lines(session: SessionReport, screen: Screen, verbosity: int) -> Iterator[Line]:
    """Yield the summary: one line for each golden set, its tables with ``-v``, and what was stored.

    ``verbosity`` is pytest's. Below 0 all golden sets share one line, but what was asked for with an option, what a
    new baseline lowers, what is no longer gated and what could not be stored is printed all the same.
    """
    names = names_by_nodeid(session.items)
    yield from lines(_since(session, names), screen, verbosity)
    if verbosity < 0 and (session.items or session.unmeasured):
        yield _counts(session, screen)
    inner = screen._replace(width=screen.width - 2)
    for item in session.items:
        failed = item.outcome != "passed"
        expected = session.is_expected_failure(item)
        printed = failed and session.failures_printed and not expected
        blocks: list[Block] = [*(document.besides(item) if printed else document.whole(item))]
        if verbosity < 0 or (failed and not printed):
            blocks = [block for block in blocks if block.level is Level.QUIET]
        if blocks or verbosity >= 0:
            style = "red bold" if failed and not expected else "green bold"
            yield Line(_one_line(session, item, names[item.nodeid], screen), style)
        yield from (line.indented() for line in lines(blocks, inner, verbosity))
    if verbosity > 0:
        from pytest_irmetrics.reports.variants import variant_tables  # noqa: PLC0415 - only with -v

        yield from lines(variant_tables(session.items), screen, verbosity)
    yield from lines(_ending(session, verbosity), screen, verbosity)


def _ending(session: SessionReport, verbosity: int) -> Iterator[Block]:
    """Yield what was stored and written, and what is to be said of the whole session."""
    yield from (Text(f"error: {problem}", "bad") for problem in session.problems)
    if verbosity >= 0:
        yield from (Text(f"baseline {stored}") for stored in sorted(session.stored))
        yield from (Text(f"report {path}: written") for path in session.written)
    notes = (session.passed_over_note, *session.baseline_notes, *session.notes)
    yield from (Text(f"note: {note}", "warn") for note in notes if note)


def _since(session: SessionReport, names: Mapping[str, str]) -> Iterator[Block]:
    """Yield what this branch accepts since it left another, and how many tests were compared; nothing without ``--ir-since``."""
    for item, gate in session.verdicts("accepted"):
        yield Text(f"ACCEPTED: {names[item.nodeid]}: {gate.text}", "strong")
    found = [item.since for item in session.items if item.since is not None]
    if not found:
        return
    states = [since.state for since in found]
    counts = [f"{states.count(state):,} {state}" for state in _STATES if state in states]
    less = sum(since.holds_less for since in found)
    held = (
        f"; {plural(less, 'test has a limit that holds', 'tests have limits that hold')} less" if less else ""
    )
    yield Text(f"since {found[0].where}: {', '.join(counts)}{held}", "warn" if less else "")


def _counts(session: SessionReport, screen: Screen) -> Line:
    """Sum all golden sets up in one line."""
    failed = session.unmeasured or any(map(session.fails, session.items))
    style = "red" if failed else "yellow" if session.verdicts("undecided") else "green"
    return Line(screen.cut(f"retrieval quality: {session.headline()}"), style)


def _one_line(session: SessionReport, item: ItemReport, name: str, screen: Screen) -> str:
    """Return a golden set in one line: its name, shortened where that takes, verdict, size, and as many gated scores as fit."""
    name = screen.line(name)
    shown, least = f"{session.verdict(item)}{_size(item)}", min(display_width(name), _NARROWEST_NAME)
    for place, row in enumerate(gated_rows(item)):
        longer = f"{shown}{', ' if place else '; '}{screen.line(gated_score(row))}"
        if least + 2 + display_width(longer) > screen.width:
            break  # a number is never cut: it would be another one
        shown, least = longer, display_width(name)
    room = max(screen.width - display_width(shown) - 2, _NARROWEST_NAME)
    if display_width(name) > room:
        golden_set, bracket, parameters = name.partition(" [")
        name = f"{golden_set.rpartition('/')[2]}{bracket}{parameters}"
    return screen.cut(f"{shorten(name, room, screen.dots, middle=True)}: {shown}")


def _size(item: ItemReport) -> str:
    """Return over how many queries it is, and how many of these are compared, where not all are."""
    if item.outcome == "error":  # which the verdict says
        return ""
    row = next(iter(gated_rows(item)), None)
    some = row is not None and bool(row.unpaired) and row.baseline is not None
    return f", {query_count(item)}{f', {row.n:,} compared' if row is not None and some else ''}"
