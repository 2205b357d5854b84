"""The Markdown report, for a GitHub job's step summary or a pull request comment, shortened to fit a size limit."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, groupby

from pytest_irmetrics.base.escape import code_markdown, escape_markdown
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports import document
from pytest_irmetrics.reports.blocks import Block, Level, Query, Table, Text, is_shown_at
from pytest_irmetrics.reports.item_report import ItemReport
from pytest_irmetrics.reports.session_report import SessionReport, what_was_measured

BEGINNING = "## Retrieval quality: "

COMMENT_LIMIT = 65_000
"""The bytes of a report for a comment. GitHub takes 65,536 characters in one; what posts it may add a line of its own."""

STEP_SUMMARY_LIMIT = 1024 * 1024
"""The bytes that GitHub takes as one step's summary; of a longer one it shows nothing."""

_MESSAGE_LINES = 20
"""How many lines of a message are shown."""

_ROWS = 100
"""How many golden sets the table of all of them has."""

_DOCUMENTS_NAMED = 5
"""How many documents a sentence on a query names."""

_QUERIES = (5, 1, 0)
"""How many queries are shown at most for each golden set that fails: the first number with which the report fits.

With fewer than the first, what a terminal shows with `-v` alone is left out, and so are the golden sets that pass.
"""


def render(session: SessionReport, *, limit: int = COMMENT_LIMIT) -> str:
    """Return the report as Markdown of at most `limit` bytes in UTF-8, empty where not even the headline fits.

    It says what it leaves out.
    """
    said = {item.nodeid: [*document.all_blocks(item)] for item in session.items}
    for queries in _QUERIES:
        sections = ["\n".join(part) + "\n" for part in _sections(session, said, queries) if part]
        ends = [*accumulate(len(part.encode()) for part in sections)]
        if ends[-1] <= limit:
            return "".join(sections)
    shown = bisect(ends, limit - 100)  # which the sentence on the others takes
    return "".join([*sections[:shown], *_more(len(sections) - shown, "section"), "\n"]) if shown else ""


def _sections(
    session: SessionReport, said: Mapping[str, Sequence[Block]], queries: int
) -> Iterator[list[str]]:
    """Yield the sections of the report, each as its lines, those first that are left out last."""
    items = session.failures_first
    unit, names = session.unit, session.names
    failing = [item for item in items if session.fails(item)]
    passing = items[len(failing) :]
    in_full = queries == _QUERIES[0]
    yield [f"{BEGINNING}{session.headline()}"]
    for loss in session.losses_accepted:
        yield ["", f"**{_words(loss)}**"]
    if session.ending():
        yield ["", f"**{session.ending()}**"]
    if len(items) > 1 or not in_full:
        table = document.overview(items[:_ROWS], session)
        yield [*_blocks([table], queries), *_more(len(items) - _ROWS, unit)]
    for note in session.baseline_notes:
        yield ["", _words(f"Note: {note}", 10_000)]
    for nodeid, message in session.unmeasured.items():
        lines = [line for line in message.splitlines() if line.strip()]
        shown = (f"- {_words(line)}" for line in lines[:_MESSAGE_LINES])
        lead = f"{_code(nodeid)} failed before anything was measured:"
        yield ["", lead, "", *shown, *_more(len(lines) - _MESSAGE_LINES, "line")]
    yield [*_blocks(document.variant_tables(items), queries)]
    for item in failing:
        yield [*_golden_set(item, names, session, said[item.nodeid], queries)]
    if in_full and passing:
        each = (_golden_set(item, names, session, said[item.nodeid], queries) for item in passing)
        lines = [*chain.from_iterable(each)]
        folded = f"<details><summary>{plural(len(passing), f'other {unit}')}</summary>"
        yield ["", folded, *lines, "", "</details>"] if failing else lines


def _golden_set(
    item: ItemReport, names: Mapping[str, str], session: SessionReport, said: Iterable[Block], queries: int
) -> Iterator[str]:
    """Yield the lines of one test's section: its golden set and verdict, and what is said of it."""
    yield from ("", f"### {_code(names[item.nodeid])}: {_words(session.verdict(item))}")
    yield from ("", f"{_code(item.nodeid)}: {_words(what_was_measured(item))}.")
    yield from _blocks(said, queries)


def _blocks(blocks: Iterable[Block], queries: int) -> Iterator[str]:
    """Write blocks: sentences as paragraphs or entries of a list, queries in a section that is closed at first."""
    level = Level.VERBOSE if queries == _QUERIES[0] else Level.NORMAL
    shown = (
        block
        for block in blocks
        if is_shown_at(block, Level.VERBOSE if isinstance(block, Query) else level) and block != Text("")
    )
    for kind, group in groupby(shown, _kind):
        alike = [*group]
        written = alike[:queries] if kind == "query" else alike
        folded = kind == "query" and queries
        if folded:
            yield from ("", "<details><summary>Queries</summary>")
        for place, block in enumerate(written):
            if kind != "entry" or not place:
                yield ""
            yield from _block(block)
        if len(alike) > len(written):
            yield from ("", "*The other queries are left out here, for brevity.*")
        if folded:
            yield from ("", "</details>")


def _kind(block: Block) -> str:
    """Return what stands with others of its kind: a `query`, an `entry` of a list; else its own kind."""
    if isinstance(block, Text) and (block.tone or block.indent):
        return "entry"
    return type(block).__name__.lower()


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text():
            bold = "**" * (block.tone == "bad")
            text = f"{bold}{_words(block.text)}{bold}"
            yield f"{'  ' * block.indent}- {text}" if block.tone or block.indent else text
        case Table():
            yield _row([_words(head, 80) for head in block.head])
            yield _row(["--:" if side == ">" else ":--" for side in block.align])
            for place, row in enumerate(block.rows):
                first, *cells = map(_cell, row)
                last = [f"**{cells.pop()}**"] if place in block.bad else []
                yield _row([_code(row[0], 80, in_cell=True) if first else "", *cells, *last])
        case Query():
            query = block.report
            yield f"**{_code(query.query_id)}**{f': {_words(query.asks)}' if query.asks else ''}"
            facts = [_code(query.where), *map(_words, block.facts), _words(query.status)]
            yield from ("", ", ".join(filter(None, facts)), "")
            moved = (listed(documents, _DOCUMENTS_NAMED, between="; ") for documents in block.moved)
            yield from (f"- {_words(text)}" for text in (*block.faults, *moved))
        case _:  # Commands: mypy refuses a kind of block that has no case
            yield from (f"- {purpose}: {code_markdown(it, in_cell=False)}" for purpose, it in block.commands)


def _cell(text: str) -> str:
    """Return a cell of a table, where a number is no entry of a list."""
    return text if re.fullmatch(r"[\d.,+−-]*", text) else _words(text, 200)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _more(count: int, what: str) -> Iterator[str]:
    """Yield how many more there are than the report shows, if any."""
    if count > 0:
        verb = "is" if count == 1 else "are"
        yield from ("", f"*{plural(count, what)} more {verb} left out here, for brevity.*")


def _code(text: str, width: int = 200, *, in_cell: bool = False) -> str:
    """Return an id or a path as code; of a long one the two ends, since such texts differ there."""
    half = width // 2
    return code_markdown(text if len(text) <= width else f"{text[:half]}…{text[-half:]}", in_cell=in_cell)


def _words(text: str, width: int = 600) -> str:
    """Return text cut to a width, with what Markdown would read as markup escaped."""
    words = escape_markdown(text if len(text) <= width else f"{text[:width]}…")
    # Where somebody prints the file in a GitHub job, a line that begins with `::error` would be run as a command.
    return re.sub(r"^(\s*):", r"\1\\:", words)
