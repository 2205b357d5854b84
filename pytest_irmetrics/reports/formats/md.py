"""The Markdown report, for a GitHub job's step summary or a pull request comment, shortened to fit a size limit."""

from __future__ import annotations

import re
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.escape import code_markdown, escape_markdown
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports import document, texts
from pytest_irmetrics.reports.blocks import Commands, Level, Query, Table, Text
from pytest_irmetrics.reports.session_report import counted_as, titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.blocks import Block
    from pytest_irmetrics.reports.item_report import ItemReport
    from pytest_irmetrics.reports.query_details import RankedDocument
    from pytest_irmetrics.reports.session_report import SessionReport

BEGINNING = "## Retrieval quality: "

COMMENT_LIMIT = 65_000
"""The bytes of a report for a comment. GitHub takes 65,536 characters in one; what posts it may add a line of its own."""

STEP_SUMMARY_LIMIT = 1024 * 1024
"""The bytes that GitHub takes as one step's summary; of a longer one it shows nothing."""

_RANKS = 10
"""The cut-off down to which every rank of a ranking is shown; below it only relevant and forbidden documents are."""

_DEEPER_RANKS = 10
"""How many relevant and forbidden documents below that cut-off are shown."""

_MOST = 20
"""How many lines of a message, and how many unused baselines, are shown."""

_ROWS = 100
"""How many golden sets the table of all of them has."""

_LONGEST_TITLE = 60
"""Characters of a document's title."""

_LONGEST_COMMAND = 1000
"""Characters of a command."""


class _Scope(NamedTuple):
    """How much is reported of each golden set."""

    level: Level
    queries: int
    """How many queries are shown at most for each that fails."""
    passing: bool = False
    """Whether there is a section for each that passes; else it has its row in the table of all."""


_SCOPES = (
    _Scope(Level.VERBOSE, queries=5, passing=True),
    _Scope(Level.NORMAL, queries=1),
    _Scope(Level.NORMAL, queries=0),
)
"""The first that fits the limit is used; of the last as many parts as fit."""


def render(session: SessionReport, *, limit: int = COMMENT_LIMIT) -> str:
    """Return the report as Markdown of at most `limit` bytes in UTF-8, empty where not even the headline fits.

    It says what it leaves out.
    """
    for scope in _SCOPES:
        parts = ["\n".join(part) + "\n" for part in _parts(session, scope) if part]
        ends = [*accumulate(len(part.encode()) for part in parts)]
        if ends[-1] <= limit:
            return "".join(parts)
    shown = bisect(ends, limit - 100)  # which the sentence on the others takes
    return "".join([*parts[:shown], f"\n{_left_out(len(parts) - shown, 'section')}\n"]) if shown else ""


def _parts(session: SessionReport, scope: _Scope) -> Iterator[list[str]]:
    """Yield the sections of the report, each as its lines, those first that are left out last."""
    items = session.failures_first
    unit, names = counted_as(items), titles(items)
    failing = [item for item in items if session.fails(item)]
    passing = items[len(failing) :]
    yield [f"{BEGINNING}{session.headline()}"]
    accepted = (f"ACCEPTED: {gate.text} ({item.nodeid})" for item, gate in session.verdicts("accepted"))
    for text in (*accepted, session.ending()):
        yield ["", f"**{_words(text)}**"] if text else []
    if len(items) > 1 or not scope.passing:
        table = document.overview(items[:_ROWS], names, session)
        yield [*_blocks([table], scope), *_more(len(items) - _ROWS, unit)]
    unused = session.unused_baseline_notes
    for path, told in unused[:_MOST]:
        yield ["", f"The baseline {_code(path)} {told}"]
    yield [*_more(len(unused) - _MOST, "unused baseline")]
    for nodeid, message in session.unmeasured.items():
        yield ["", f"{_code(nodeid)} failed before anything was measured:", *_message(message)]
    yield [*_blocks(variant_tables(items), scope)] if scope.passing else []
    for item in failing:
        yield [*_golden_set(item, names[item.nodeid], session, scope)]
    if scope.passing and passing:
        lines = (line for item in passing for line in _golden_set(item, names[item.nodeid], session, scope))
        folded = f"<details><summary>{plural(len(passing), f'other {unit}')}</summary>"
        yield ["", folded, *lines, "", "</details>"] if failing else [*lines]


def _message(text: str) -> Iterator[str]:
    """Yield a failure's message as a list."""
    lines = [line for line in text.splitlines() if line.strip()]
    yield ""
    yield from (f"- {_words(line)}" for line in lines[:_MOST])
    yield from _more(len(lines) - _MOST, "line")


def _golden_set(item: ItemReport, name: str, session: SessionReport, scope: _Scope) -> Iterator[str]:
    yield from ("", f"### {_code(name)}: {_words(texts.verdict(item, session))}")
    yield from ("", f"{_code(item.nodeid)}: {_words(texts.subject(item))}.")
    yield from _blocks(list(document.whole(item)), scope)


def _blocks(blocks: Sequence[Block], scope: _Scope) -> Iterator[str]:
    """Write blocks: sentences as paragraphs or entries of a list, queries in a section that is closed at first."""
    queries = [block for block in blocks if isinstance(block, Query)]
    shown = [block for block in queries if block.is_shown_at(Level.VERBOSE)][: scope.queries]
    last: object = None
    for block in blocks:
        if not (block in shown if isinstance(block, Query) else block.is_shown_at(scope.level)):
            continue
        if block == Text(""):
            continue
        kind = "list" if isinstance(block, Text) and (block.tone or block.indent) else type(block)
        if kind is Query and last is not Query:
            yield from ("", "<details><summary>Queries</summary>")
        if kind != "list" or last != "list":
            yield ""
        yield from _block(block)
        if shown and block is shown[-1]:
            yield from _more(len(queries) - len(shown), "query", "queries")
            yield from ("", "</details>")
        last = kind


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
                last = [f"**{cells.pop()}**"] if place in block.bad and cells[-1] else []
                yield _row([_code(row[0], 80) if first else "", *cells, *last])
        case Query():
            yield from _query(block)
        case Commands():
            # One that is too long to be shown whole is left out.
            shown = ((lead, command) for lead, command in block.commands if len(command) <= _LONGEST_COMMAND)
            yield from (f"- {lead}: {code_markdown(command)}" for lead, command in shown)


def _cell(text: str) -> str:
    """Return a cell of a table, where a number is no entry of a list."""
    return text.rstrip().replace("*", r"\*") if re.fullmatch(r"[\d.,+−-]*[ *]?", text) else _words(text, 200)


def _query(query: Query) -> Iterator[str]:
    """Show one query: its scores, and its rankings before and now, or else what is said of it."""
    yield f"**{_code(query.query_id)}**{f': {_words(query.asks)}' if query.asks else ''}"
    facts = [_code(query.where), *map(_words, query.facts), _words(query.status)]
    yield from ("", ", ".join(filter(None, facts)))
    for fault in query.faults:
        yield from ("", _words(fault))
    if query.ranks or query.missing:
        yield ""
        yield from _ranking(query)
    if query.missing:
        named = [f"{_code(document.doc_id, 80)} ({document.judgment})" for document in query.missing]
        yield from ("", f"Not returned: {listed(named, 5)}.")


def _ranking(query: Query) -> Iterator[str]:
    if not query.ranks:
        yield "Nothing was returned."
        return
    yield "| rank | baseline | now |" if query.compared else "| rank | now |"
    yield "| --: | :-- | :-- |" if query.compared else "| --: | :-- |"
    deeper = [
        row for row in query.ranks[_RANKS:] if any(one is not None and one.stands_out for one in row[1:])
    ][:_DEEPER_RANKS]
    for rank, before, now in [*query.ranks[:_RANKS], *deeper]:
        yield _row([str(rank), *([_document_cell(before)] if query.compared else []), _document_cell(now)])
    yield from _more(len(query.ranks[_RANKS:]) - len(deeper), "rank")


def _document_cell(document: RankedDocument | None) -> str:
    if document is None:
        return ""
    judgment = "" if document.kind == "unjudged" else document.judgment
    facts = [f"**{judgment}**" if document.stands_out else judgment, document.move]
    remark = ", ".join(filter(None, facts))
    named = _code(document.doc_id, 80) + (
        f" {_words(document.title, _LONGEST_TITLE)}" if document.title else ""
    )
    return f"{named}{f' ({remark})' if remark else ''}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _more(count: int, one: str, many: str | None = None) -> Iterator[str]:
    """Yield how many more there are than the report shows, if any."""
    if count > 0:
        yield from ("", _left_out(count, one, many))


def _left_out(count: int, one: str, many: str | None = None) -> str:
    """Say how many more there are than the report shows."""
    return f"*{plural(count, one, many)} more {'is' if count == 1 else 'are'} left out here, for brevity.*"


def _code(text: str, width: int = 200) -> str:
    """Return an id or a path as code; of a long one the two ends, since such texts differ there."""
    half = width // 2
    return code_markdown(text if len(text) <= width else f"{text[:half]}…{text[-half:]}")


def _words(text: str, width: int = 600) -> str:
    """Return text cut to a width, with what Markdown would read as markup escaped."""
    words = escape_markdown(text if len(text) <= width else f"{text[:width]}…")
    # Where somebody prints the file in a GitHub job, a line that begins with `::error` would be run as a command.
    return re.sub(r"^(\s*):", r"\1\\:", words)
