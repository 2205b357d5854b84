"""The terminal summary at the end of a session: a line or a table for each golden set, then what was stored and written."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from pytest_irmetrics.base.screen import Line, display_width, shorten
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.blocks import Level, Text
from pytest_irmetrics.reports.session_report import titles
from pytest_irmetrics.reports.text import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.blocks import Block
    from pytest_irmetrics.reports.item_report import ItemReport
    from pytest_irmetrics.reports.session_report import SessionReport

_NARROWEST_NAME = 12
"""How many cells a test's name keeps on the narrowest screen."""

_NAME_BESIDE_SCORES = {"; ": 16, ", ": 32}
"""How many cells it keeps where a score could stand beside it, and where further ones could."""

_SHORTEST_PATH = 6
"""How many cells a golden set's path keeps beside the parameters of its test."""


def summary_lines(session: SessionReport, screen: Screen, verbosity: int) -> Iterator[Line]:
    """Yield the summary: one line for each golden set, its tables with ``-v``, and what was stored.

    ``verbosity`` is pytest's. Below 0 all golden sets share one line, but what was asked for with an option, what a
    new baseline lowers, what is no longer gated and what could not be stored is printed all the same.
    """
    names = titles(session.items)
    yield from lines(_since(session, names), screen, verbosity)
    if verbosity < 0:
        yield from _counts(session, screen)
    for item in session.items:
        if verbosity >= 0 or _may_say_quietly(item):
            yield from _item(session, item, names[item.nodeid], screen, verbosity)
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
    unused = (f"the baseline {path} {why}" for path, why in session.unused_baseline_notes)
    notes = (session.passed_over_note, *unused, *session.notes)
    yield from (Text(f"note: {note}", "warn") for note in notes if note)


_STATES = ("refused", "accepted", "changed", "new", "unchanged")
"""How a test may stand to another commit, in the order in which they are counted."""


def _since(session: SessionReport, names: Mapping[str, str]) -> Iterator[Block]:
    """Yield what this branch accepts since it left another, and how many tests were compared; nothing without ``--ir-since``."""
    for item, gate in session.verdicts("accepted"):
        yield Text(f"ACCEPTED: {names[item.nodeid]}: {gate.text}", "strong")
    found = session.since
    if not found:
        return
    states = [since.state for since in found]
    counts = [f"{states.count(state):,} {state}" for state in _STATES if state in states]
    less = sum(since.holds_less for since in found)
    held = (
        f"; {plural(less, 'test has a limit that holds', 'tests have limits that hold')} less" if less else ""
    )
    yield Text(f"since {found[0].where}: {', '.join(counts)}{held}", "warn" if less else "")
    for path in session.gone_since:
        yield Text(
            f"Gone since {found[0].where}: the baseline {path}. Its test is not gated any more.", "warn"
        )


def _failed(item: ItemReport) -> bool:
    return item.outcome != "passed"


def _message_printed(session: SessionReport, item: ItemReport) -> bool:
    """Whether pytest printed the message of a golden set's failure."""
    return _failed(item) and session.failures_printed and not session.is_expected_failure(item)


def _counts(session: SessionReport, screen: Screen) -> Iterator[Line]:
    """Sum all golden sets up in one line."""
    items = session.items
    if not items and not session.unmeasured:
        return
    failed = session.unmeasured or any(map(session.fails, session.items))
    doubtful = any(item.verdicts("undecided") for item in items)
    style = "red" if failed else "yellow" if doubtful else "green"
    yield Line(screen.cut(f"retrieval quality: {session.headline()}"), style)
    tried = [degradation for item in items for degradation in item.selftest or ()]
    if tried:
        caught = sum(bool(degradation.caught_by) for degradation in tried)
        yield Line(screen.cut(f"self-test: caught {caught} of {len(tried)}"))


def _may_say_quietly(item: ItemReport) -> bool:
    """Whether a golden set may have something to say under ``-q``."""
    quiet = any(note.level == "quiet" for note in item.notes)
    return quiet or bool(item.verdicts("undecided")) or item.since is not None or item.only_queries


def _item(
    session: SessionReport, item: ItemReport, name: str, screen: Screen, verbosity: int
) -> Iterator[Line]:
    """Report one golden set; below 0 only where it has something to say under ``-q`` too."""
    from pytest_irmetrics.reports import document  # noqa: PLC0415 - with -q, few runs have more to say than their counts

    blocks = [*document.golden_set(item, printed=_message_printed(session, item))]
    if verbosity < 0:
        blocks = [block for block in blocks if block.level is Level.QUIET]
    if blocks or verbosity >= 0:
        expected = session.is_expected_failure(item)
        style = "red bold" if _failed(item) and not expected else "green bold"
        yield Line(_one_line(session, item, name, screen), style)
    inner = screen._replace(width=screen.width - 2)
    yield from (line.indented() for line in lines(blocks, inner, verbosity))


def _one_line(session: SessionReport, item: ItemReport, name: str, screen: Screen) -> str:
    """Return a golden set in one line: its name, shortened where that takes, verdict, size, and as many gated scores as fit."""
    shown, separator = f"{texts.verdict(item, session)}{_size(item)}", "; "
    own = display_width(screen.line(name))
    for row in texts.gated_rows(item):
        longer = f"{shown}{separator}{screen.line(texts.gated_score(row))}"
        if min(own, _NAME_BESIDE_SCORES[separator]) + 2 + display_width(longer) > screen.width:
            break  # a number is never cut: it would be another one
        shown, separator = longer, ", "
    return _name_and_verdict(name, shown, screen)


def _size(item: ItemReport) -> str:
    """Return over how many queries it is, and how many of these are compared, or worse, where that is asked."""
    size = texts.query_count(item)
    if item.outcome == "error":  # which the verdict says
        return ""
    if not item.only_queries:
        return f", {size}{texts.compared_count(item)}"
    metrics = {row.metric for row in texts.gated_rows(item)}
    worse = sum(any((query.delta(metric) or 0.0) < 0 for metric in metrics) for query in item.queries)
    return f", {worse:,} of {size} worse" if worse else f", {size}"


def _name_and_verdict(name: str, verdict: str, screen: Screen) -> str:
    """Return a test's name and verdict; of a name that is too long the file, cut in its middle."""
    width = max(screen.width - display_width(verdict) - 2, _NARROWEST_NAME)
    shown = screen.line(name)
    if display_width(shown) > width:
        golden_set, bracket, label = shown.partition(" [")
        file, tail = posixpath.basename(golden_set), bracket + label
        room = width - display_width(tail)
        file, tail, room = (file, tail, room) if room >= _SHORTEST_PATH else (file + tail, "", width)
        shown = shorten(file, room, screen.dots, middle=True) + tail
    return screen.cut(f"{shown}: {verdict}")
