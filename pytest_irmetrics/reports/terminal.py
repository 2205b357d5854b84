"""What a terminal shows: blocks as lines, also of a failure's message and of a command, and the summary at the end of a session.

The summary is what a branch accepts, a line for each golden set, with ``-v`` its tables, then what was stored and written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from pytest_irmetrics.base.screen import Line, Screen, display_width, shorten, table
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import document
from pytest_irmetrics.reports.blocks import (
    Block,
    Column,
    Level,
    Query,
    RankedDocument,
    Table,
    Text,
    is_shown_at,
)
from pytest_irmetrics.reports.item_report import ItemReport, SinceState
from pytest_irmetrics.reports.session_report import SessionReport, gated_score, query_count

_TONES = {"bad": "red bold", "warn": "yellow", "strong": "yellow bold", "": ""}
"""Tone of a Text → style of its lines, in words that pytest's `write_line` has as keywords."""

_NARROWEST_NAME = 16
"""How many cells a test's name keeps where a score stands beside it."""


# Blocks


def lines(blocks: Iterable[Block], screen: Screen, verbosity: int, *, spaced: bool = False) -> Iterator[Line]:
    """Yield the lines of the blocks that this verbosity shows; ``spaced``: a blank one where another kind of block begins."""
    level = Level(min(max(verbosity, Level.NORMAL), Level.ALL))  # with -q `summary_lines` chooses
    last: type | None = None
    blank = True
    for block in blocks:
        if not is_shown_at(block, level):
            continue
        if spaced and last not in (None, type(block)) and type(block) is not Query and not blank:
            yield Line("")
            blank = True
        last = type(block)
        for line in _block(block, screen, ranked=level is Level.ALL):
            if line.text or not blank:
                yield line
            blank = not line.text


def _block(block: Block, screen: Screen, *, ranked: bool) -> Iterator[Line]:
    match block:
        case Text():
            indent = "  " * block.indent
            for line in screen.wrapped(block.text, indent, f"{indent}  "):
                yield Line(line, _TONES[block.tone])
        case Table():
            yield from _table(block, screen)
        case Query():
            yield from _query(block, screen, ranked=ranked or block.in_full)
        case _:  # Commands: mypy refuses a kind of block that has no case
            width = max((len(purpose) for purpose, _ in block.commands), default=0) + 1
            for purpose, command in block.commands:  # not wrapped, so that they can be copied
                yield Line(screen.line(f"{f'{purpose}:':<{width}} {command}"))


def _table(block: Table, screen: Screen) -> Iterator[Line]:
    """Yield the lines of a table, of which the last one of each row, with the verdict, has the row's style."""
    cells = [[screen.line(cell) for cell in row] for row in (block.head, *block.rows)]
    named = block.head[:1] if block.whole is None else block.whole
    whole = [place for place, head in enumerate(block.head) if head in named]
    rows = table(cells, block.align, screen.width, screen.dots, whole)
    for place, parts in enumerate(rows, -1):
        style = "bold" if place < 0 else "red" if place in block.bad else ""
        yield from map(Line, parts[:-1])
        yield Line(parts[-1], style)


def _query(block: Query, screen: Screen, *, ranked: bool) -> Iterator[Line]:
    """Yield the lines of a query; ``ranked``: with its ranking, one result a line, and what is missing, else with what moved."""
    query, compared = block.report, block.report.before is not None
    status = f" [{query.status}]" if query.status else ""
    asks = f": {query.asks}" if query.asks else ""
    yield Line(screen.cut(f"{query.where}: {query.query_id}{status}{asks}"), "bold")
    if block.facts:
        yield from map(Line, screen.wrapped("; ".join(block.facts), "  ", "  "))
    for fault in block.faults:
        yield from map(Line, screen.wrapped(fault, "  ", "    "))
    if not ranked or not (block.ranks or block.missing):
        for parts in block.moved:
            yield from map(Line, _fitting(parts, screen))
        return
    columns: list[Column[RankedDocument]] = [
        ("rank", ">", lambda one: str(one.now or "-")),
        ("was", ">", lambda one: str(one.before or ("new" if one.now else "-")) if compared else ""),
        ("grade", ">", lambda one: one.judgment.removeprefix("grade ")),
        ("document", "_", lambda one: one.doc_id),
        ("stage", "<", lambda one: "" if one.now else one.move),
        ("title", "<", lambda one: one.title),
    ]
    returned = [now for _, _, now in block.ranks if now is not None]
    ranking = Table.of([*returned, *block.missing], columns, whole=["document"])
    inner = screen._replace(width=screen.width - 2)
    yield from (Line(line.text).indented() for line in _table(ranking, inner))
    yield Line("")


def _fitting(parts: Sequence[str], screen: Screen) -> list[str]:
    """Join as many of the parts as fit into one line, and count the others; one that alone is too long is wrapped."""
    parts = [screen.line(part) for part in parts]
    for shown in range(len(parts), 0, -1):
        left = len(parts) - shown
        text = f"  {'; '.join(parts[:shown])}{f'; and {left:,} more' if left else ''}"
        if display_width(text) <= screen.width:
            return [text]
    return screen.wrapped(text.strip(), "  ", "    ")


# The summary


def summary_lines(session: SessionReport, screen: Screen, verbosity: int) -> Iterator[Line]:
    """Yield the summary: one line for each golden set, its tables with ``-v``, and what was stored.

    ``verbosity`` is pytest's. Below 0 all golden sets share one line, but what was asked for with an option, how many baselines were stored, what a
    new one lowers, what is no longer gated and what could not be stored is printed all the same.
    """
    names, golden_sets = session.names, {item.golden_set for item in session.items}
    files = Counter(one.rpartition("/")[2] for one in golden_sets)
    yield from lines(_since(session), screen, verbosity)
    if verbosity < 0 and (session.items or session.unmeasured):
        failed = session.unmeasured or any(map(session.fails, session.items))
        style = "red" if failed else "yellow" if session.verdicts_in("undecided") else "green"
        wrapped = screen.wrapped(f"retrieval quality: {session.headline()}", "", "  ")
        yield from (Line(line, style) for line in wrapped)
    inner = screen._replace(width=screen.width - 2)
    for item in session.items:
        failed = item.outcome != "passed"
        printed = failed and session.failures_printed and session.fails(item)
        blocks: list[Block] = [*(document.beside_the_failure(item) if printed else document.all_blocks(item))]
        if verbosity < 0 or (failed and not printed):  # --tb=no, or an xfail
            blocks = [block for block in blocks if block.level is Level.QUIET]
        if blocks or verbosity >= 0:
            style = "red bold" if session.fails(item) else "green bold"
            yield Line(_one_line(item, names[item.nodeid], session.verdict(item), screen, files), style)
        yield from (line.indented() for line in lines(blocks, inner, verbosity))
    yield from lines(document.variant_tables(session.items), screen, verbosity)
    yield from lines(_ending(session, verbosity), screen, verbosity)


def _ending(session: SessionReport, verbosity: int) -> Iterator[Block]:
    """Yield what was stored and written, and what is to be said of the whole session."""
    yield from (Text(f"error: {problem}", "bad") for problem in session.problems)
    if verbosity >= 0:
        yield from (Text(f"baseline {stored}") for stored in sorted(session.stored))
        yield from (Text(f"report {path}: written") for path in session.written)
    elif stored := sum(one.endswith(": stored") for one in session.stored):
        yield Text(f"{plural(stored, 'baseline')} stored")
    yield from (Text(f"note: {note}", "warn") for note in (*session.baseline_notes, *session.notes))


def _since(session: SessionReport) -> Iterator[Block]:
    """Yield what this branch accepts since it left another, and how many tests were compared; nothing without ``--ir-since``."""
    yield from (Text(loss, "strong") for loss in session.losses_accepted)
    found = [item.since for item in session.items if item.since is not None]
    if not found:
        return
    first, *others = Counter(sorted((one.state for one in found), key=get_args(SinceState).index)).items()
    counts = [f"{plural(first[1], 'test')} {first[0]}", *(f"{count:,} {state}" for state, count in others)]
    less = sum(since.holds_less for since in found)
    held = plural(less, "test has a limit that holds less", "tests have limits that hold less")
    text = f"since {found[0].where}: {', '.join(counts)}"
    yield Text(f"{text}; {held}", "warn") if less else Text(text)


def _one_line(item: ItemReport, name: str, verdict: str, screen: Screen, files: Counter[str]) -> str:
    """Return a golden set in one line: its name, shortened where it must be, verdict, size, and as many gated scores as fit.

    `files` is how many golden sets of the session have a file's name.
    """
    name = screen.line(name)
    shown, least = f"{verdict}{_size(item)}", min(display_width(name), _NARROWEST_NAME)
    for place, row in enumerate(item.gated_rows):
        score = screen.line(gated_score(row))
        # Where the first one has no room beside the size, that goes. No number is cut: it would be another one.
        longer = [f"{shown}, {score}"] if place else [f"{shown}; {score}", f"{verdict}; {score}"]
        fitting = [one for one in longer if least + 2 + display_width(one) <= screen.width]
        if not fitting:
            break
        shown, least = fitting[0], display_width(name)  # for one score alone a name is shortened
    room = max(screen.width - display_width(shown) - 2, _NARROWEST_NAME)
    folder, _, file = item.golden_set.rpartition("/")
    # Without its folder where that tells it from no other, as services have golden sets of one name.
    if display_width(name) > room and files[file] == 1:
        name = name.removeprefix(f"{folder}/")
    return screen.cut(f"{shorten(name, room, screen.dots, middle=True)}: {shown}")


def _size(item: ItemReport) -> str:
    """Return over how many queries it is, and how many of these are compared, where not all are."""
    if item.outcome == "error":  # which the verdict says
        return ""
    paired = [f"{item.query_count - row.unpaired:,} compared" for row in item.gated_rows[:1] if row.unpaired]
    return ", ".join(["", query_count(item), *paired])
