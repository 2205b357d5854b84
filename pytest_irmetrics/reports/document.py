"""A test's report as blocks, in the order in which people ask: what failed, why, which queries, what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.blocks import Commands, Level, Query, Table, Text
from pytest_irmetrics.reports.item_report import explaining_gates
from pytest_irmetrics.reports.query_details import (
    faults,
    has_moved,
    look_command,
    missing_by_grade,
    moved_texts,
    score_texts,
    side_by_side,
)
from pytest_irmetrics.reports.session_report import counted_as
from pytest_irmetrics.thresholds import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_irmetrics.reports.blocks import Block, Column
    from pytest_irmetrics.reports.item_report import Degradation, ItemReport, QueryReport, ScoreRow
    from pytest_irmetrics.reports.session_report import SessionReport

_IN_FULL = {Level.NORMAL: 3, Level.VERBOSE: 10}
"""How many of the queries that explain a failure each level shows; `ALL` shows all."""
_MORE_VERDICTS = 3
"""How many failed gates have a sentence, besides the first and those in the table."""
_MAIN_DETAILS = 2
"""How many sentences on a fall under the stored judgments say why it counts."""
_FAILED_MEANS = 5
_ERRORS = 6
_PLACES = 4
"""Of how many queries with one error the place is shown; the others are named."""
_SINCE = 8
"""How many sentences on what changed since another commit are shown without `-v`."""


def failure(item: ItemReport) -> Iterator[Block]:
    """Yield the message of a failed test: what failed, its means, its queries, what else to know, what to do."""
    yield from verdicts(item)
    yield from undecided(item)
    yield from _failed_means(item)
    yield from scores(item)
    yield from errors(item)
    yield from queries(item)
    yield from slices(item)
    yield from notes(item)
    if item.verdicts("failed"):
        yield commands(item)


def golden_set(item: ItemReport, *, printed: bool) -> Iterator[Block]:
    """Yield what the summary says of a golden set below its line; ``printed``: besides what its failure's message says."""
    if not printed:
        yield from scores(item)
        yield from slices(item)
        yield from undecided(item)
    yield from _besides(item)
    if not printed:
        yield from notes(item)
        yield from queries(item)


def whole(item: ItemReport) -> Iterator[Block]:
    """Yield all that a file says of a golden set."""
    yield from failure(item)
    yield from _besides(item)


def _besides(item: ItemReport) -> Iterator[Block]:
    """Yield what no failure's message says."""
    if item.only_queries:
        yield Text(texts.ONLY_QUERIES, level=Level.QUIET)
    yield from since(item)
    if item.outcome == "passed":
        yield from (Text(gate.text, "warn") for gate in item.gates if gate.state == "not checked")
    yield from selftest(item)


def undecided(item: ItemReport) -> Iterator[Block]:
    """Yield what the gates say that neither pass nor fail: every output has it."""
    found = (gate.text for gate in item.gates if gate.state == "undecided")
    yield from (Text(text, "warn", level=Level.QUIET) for text in found)


def notes(item: ItemReport) -> Iterator[Block]:
    """Yield what a reader should know besides the verdict."""
    for note in item.notes:
        yield Text(f"note: {note.text}", "warn", level=Level[note.level.upper()])


def verdicts(item: ItemReport) -> Iterator[Block]:
    """Yield what the failed gates say, the statistics of the first drop, and what kind of change it is."""
    tabled = {(row.metric, row.tag) for row in failed_rows(item)}
    failed = item.verdicts("failed")
    first_drop = next((gate for gate in failed if gate.on_fall), None)
    others = 0
    for place, gate in enumerate(failed):
        # What else than a mean's place a verdict says may be what mends it.
        measured = gate.on_fall or gate.word in ("min", "max")
        in_table = measured and (gate.metric, gate.tag) in tabled and not (gate.single or gate.as_stored)
        others += bool(place) and not in_table
        shown = not place or not (in_table or others > _MORE_VERDICTS)
        level = Level.NORMAL if shown else Level.VERBOSE
        yield Text(gate.text, "bad", level=level)
        main = len(gate.details) if not gate.on_fall else 0 if in_table else _MAIN_DETAILS
        details = gate.details if not gate.on_fall or gate is first_drop else gate.details[:main]
        for number, detail in enumerate(details):
            yield Text(detail, indent=1, level=level if number < main else Level.VERBOSE)
        if gate.origin:
            yield Text(f"Set in {gate.origin}.", indent=1, level=Level.VERBOSE)
    if others > _MORE_VERDICTS:
        more = plural(others - _MORE_VERDICTS, "more gate fails", "more gates fail")
        yield Text(f"{more} (-v names them).", until=Level.NORMAL)
    yield from map(Text, item.kind_sentences)


def failed_rows(item: ItemReport) -> list[ScoreRow]:
    """Return the rows of the means that a gate fails by, the one furthest beyond its limit first.

    Not those that fail by the stored judgments alone, which rows do not go by, nor for single queries' own thresholds.
    """
    gates = [
        (gate.metric, gate.tag) for gate in item.verdicts("failed") if not (gate.as_stored or gate.single)
    ]
    rows = [row for row in item.rows if row.verdict == "FAILS" and (row.metric, row.tag) in gates]
    return sorted(rows, key=lambda row: gates.index((row.metric, row.tag)))


def _failed_means(item: ItemReport) -> Iterator[Block]:
    """Yield the table of the means that failed; nothing where the verdict in words says as much."""
    rows = failed_rows(item)
    compared = any(row.baseline is not None for row in rows)
    if len(rows) > 1 or compared:
        columns = [
            ("", "<", lambda row: row.name),
            ("limit", "<", lambda row: _limits(row, item)),
            ("now", ">", texts.now_text),
            *(_change(item, "change") if compared else []),
            *([("worse", ">", texts.worse_text), ("better", ">", texts.better_text)] if compared else []),
        ]
        optional = ((6, 5), (3,), (1,))
        shown = rows[:_FAILED_MEANS]
        yield Table.of(shown, columns, drawn=shown, whole=(1,), optional=optional, until=Level.NORMAL)
    if len(rows) > _FAILED_MEANS:
        yield Text(f"{len(rows) - _FAILED_MEANS:,} more fail (-v names them).", until=Level.NORMAL)


def _change(item: ItemReport, head: str) -> list[Column[ScoreRow]]:
    """Return the columns of the mean that today's is compared with, and of the difference."""
    return [(texts.compared_with(item), ">", texts.baseline_text), (head, ">", texts.delta_text)]


def _limits(row: ScoreRow, item: ItemReport) -> str:
    """Return the limits of a mean with a sign before each that is broken: `≥0.8 ✗drop≤0.01`."""
    broken = tuple(
        WORDS[gate.word].sign
        for gate in item.verdicts("failed")
        if (gate.metric, gate.tag) == (row.metric, row.tag) and not (gate.as_stored or gate.single)
    )
    return " ".join(f"✗{limit}" if limit.startswith(broken) else limit for limit in row.gate.split())


def errors(item: ItemReport) -> Iterator[Block]:
    """Yield each retrieval error once, with the places of the queries that had it; every such query is named.

    Of an error those sentences are shown that no error above has.
    """
    known = {query.query_id: query for query in item.queries}
    failed = [gate for gate in item.verdicts("failed") if gate.word == "errors"]
    by_error: dict[str, list[QueryReport]] = {}
    for query_id in (query_id for gate in failed for query_id in gate.queries):
        by_error.setdefault(known[query_id].error or "", []).append(known[query_id])
    ordered = sorted(by_error.items(), key=lambda pair: -len(pair[1]))
    shown: set[str] = set()
    for number, (error, failing) in enumerate(ordered):
        level = Level.NORMAL if number < _ERRORS else Level.VERBOSE
        sentences = re.split(r"(?<=\.) ", error)
        told = " ".join(text for text in sentences if text not in shown) or error
        shown.update(sentences)
        told = "" if len(ordered) == 1 and error.rstrip(".") in failed[0].text else told
        if not number:
            yield Text("")
        if len(failing) == 1:
            [query] = failing
            yield Query(query.where, query.query_id, faults=[told] if told else (), level=level)
            continue
        yield Text(f"{len(failing):,} queries: {told}".rstrip(), level=level)
        for place, query in enumerate(failing):
            shown_at = level if place < _PLACES else Level.VERBOSE
            yield Text(f"{query.where}: {query.query_id}", indent=1, level=shown_at)
        if others := [query.query_id for query in failing[_PLACES:]]:
            yield Text(f"and {', '.join(others)}", level=level, until=Level.NORMAL, indent=1)
    if others := [query.query_id for _, failing in ordered[_ERRORS:] for query in failing]:
        lead = plural(len(ordered) - _ERRORS, "other error", "other errors")
        yield Text(f"{lead} (-v shows all), of: {', '.join(others)}", until=Level.NORMAL)


def queries(item: ItemReport) -> Iterator[Block]:
    """Yield the queries that explain the failure, the worst first; then the others that changed, or were asked for."""
    explaining = [query for query in item.queries if query.explains is not None and query.error is None]
    least = Level.QUIET if item.only_queries else Level.NORMAL
    if explaining:
        yield Text("", level=least)
        yield Text(_worst_first(item), level=least)
    for place, query in enumerate(explaining):
        level = next((level for level, most in _IN_FULL.items() if place < most), Level.ALL)
        yield query_block(query, item, least if item.only_queries else level, in_full=item.only_queries)
    compared = any(query.before is not None for query in item.queries)
    for query in item.queries:
        if query.explains is not None or query.error is not None:
            continue
        if item.only_queries:
            yield query_block(query, item, least, in_full=True)
        elif not compared or query.before is None or has_moved(query):
            yield query_block(query, item, Level.ALL)


def _worst_first(item: ItemReport) -> str:
    """Return what stands above the queries: `27 queries worse by ndcg@10, the worst first:`."""
    gate = explaining_gates(item.verdicts("failed"))[0]
    if not gate.on_fall:
        return "Its queries, the worst first:"
    count = len(gate.queries) + gate.more
    metric = gate.metric if gate.tag is None else f"{gate.metric} [{gate.tag}]"
    return f"{plural(count, 'query', 'queries')} worse by {metric}{', the worst first' if count > 1 else ''}:"


def query_block(
    query: QueryReport, item: ItemReport, level: Level = Level.NORMAL, *, in_full: bool = False
) -> Query:
    """Return one query with its scores, in full or where it explains nothing all of them, and the documents that moved."""
    explains = None if in_full else query.explains
    metrics = query.scores if explains is None else explains
    facts = [
        *score_texts(query, metrics),
        *(f"took {took:,.1f} ms" for took in [query.took] if took is not None),
    ]
    ranked = in_full or level is Level.ALL
    # Of what was only slow the ranking explains nothing.
    slow = query.took is not None and not ranked and explains and query.scores.keys().isdisjoint(explains)
    shown = query.error is None and not slow
    return Query(
        query.where,
        query.query_id,
        query.asks or "",
        query.status,
        facts,
        [*faults(query, item.titles)] if query.error is None else [query.error],
        moved_texts(query, item.titles, ranked=ranked) if shown else (),
        side_by_side(query, item.titles) if shown else (),
        missing_by_grade(query, item.titles) if shown else (),
        compared=query.before is not None,
        in_full=in_full and shown,
        level=level,
    )


def commands(item: ItemReport) -> Commands:
    """Return the commands to run next."""
    look = look_command(item)
    # The first of two is a run that fails again, so the second must not wait for its success.
    judge = "; ".join(item.judge)
    found = (("To look closer", look), ("To judge both", judge), ("To accept it", item.accept))
    return Commands([(lead, command) for lead, command in found if command])


def overview(items: Sequence[ItemReport], names: Mapping[str, str], session: SessionReport) -> Table:
    """Return the table of all golden sets: each with the mean that fails it, or else the first gated one."""

    def of_row(text: Callable[[ScoreRow], str]) -> Callable[[ItemReport], str]:
        return lambda item: "" if (row := texts.shown_row(item)) is None else text(row)

    columns: list[Column[ItemReport]] = [
        (counted_as(items), "<", lambda item: names[item.nodeid]),
        ("metric", "<", of_row(lambda row: row.name)),
        ("now", ">", of_row(texts.now_text)),
    ]
    if any(map(texts.is_compared, items)):
        columns += [("delta", ">", of_row(texts.delta_text)), ("worse", ">", of_row(texts.worse_text))]
    columns += [
        ("queries", ">", lambda item: f"{item.query_count:,}"),
        ("verdict", "<", lambda item: texts.verdict(item, session)),
    ]
    bad = [place for place, item in enumerate(items) if session.fails(item)]
    return Table.of(items, columns, bad=bad, drawn=[*map(texts.shown_row, items)])


def scores(item: ItemReport) -> Iterator[Block]:
    """Yield the table of a golden set's scores, and what is to be said of its numbers."""
    if not item.rows:
        return
    differ = any(map(texts.full_text, item.rows))
    columns = [
        ("metric", "<", lambda row: row.name),
        ("n", ">", lambda row: str(row.n)),
        ("now", ">", texts.now_text),
        *(_change(item, "delta") if texts.is_compared(item) else []),
        *([("in full", ">", texts.full_text)] if differ else []),
        ("gate", "<", lambda row: row.gate),
        ("verdict", "<", lambda row: row.verdict),
    ]
    bad = [place for place, row in enumerate(item.rows) if row.verdict == "FAILS"]
    whole = (0, len(columns) - 1)
    yield Table.of(item.rows, columns, drawn=item.rows, bad=bad, whole=whole, level=Level.VERBOSE)
    yield from (Text(note, level=Level.VERBOSE) for note in texts.what_n_counts(item))
    if differ:
        yield Text(texts.IN_FULL, level=Level.VERBOSE)


def slices(item: ItemReport) -> Iterator[Block]:
    """Yield the slices that moved beyond chance, and how many did not."""
    moved = [row for row in item.slices if texts.slice_trend(row)]
    if moved:
        yield _slices_table(moved, item, Level.VERBOSE, Level.VERBOSE)
    if others := len(item.slices) - len(moved):
        tags = plural(others, "tag moved", "tags moved")
        text = f"{item.slices[0].metric}: {tags} no further than the joint interval."
        yield Text(text, level=Level.VERBOSE, until=Level.VERBOSE)
    if item.slices:
        yield _slices_table(item.slices, item, Level.ALL, Level.ALL)


def _slices_table(shown: Sequence[ScoreRow], item: ItemReport, level: Level, until: Level) -> Table:
    columns = [
        (f"{shown[0].metric} by tag", "<", lambda row: row.tag or ""),
        ("n", ">", lambda row: str(row.n)),
        ("now", ">", texts.now_text),
        *_change(item, "delta"),
        (texts.JOINT_INTERVAL, ">", texts.interval_text),
        ("", "<", texts.slice_trend),
    ]
    bad = [place for place, row in enumerate(shown) if texts.slice_trend(row) == "fell"]
    return Table.of(shown, columns, drawn=shown, bad=bad, whole=(), level=level, until=until)


def selftest(item: ItemReport) -> Iterator[Block]:
    """Yield which degradations the gates catch; the losses of slices that are caught are counted without `-v`."""
    tried = item.selftest
    if tried is None:
        return
    slices_lost = [one for one in tried if one.tag is not None and one.caught_by]
    yield _selftest_table([one for one in tried if one not in slices_lost], Level.NORMAL)
    if slices_lost:
        yield _selftest_table(slices_lost, Level.VERBOSE)
        more = plural(len(slices_lost), "more loss", "more losses")
        yield Text(f"{more} of slices: caught (-v shows them)", until=Level.NORMAL)
    for one in tried:
        caught = f"caught by {', '.join(one.caught_by)}" if one.caught_by else "MISSED"
        yield Text(f"{one.name}: {caught}. {one.what}", level=Level.ALL)
    yield Text(texts.selftest_conclusion(tried))


def _selftest_table(tried: Sequence[Degradation], level: Level) -> Table:
    columns: list[Column[Degradation]] = [
        ("degradation", "<", lambda one: one.name),
        ("moves", "<", _moves),
        ("verdict", "<", texts.caught_text),
    ]
    missed = [place for place, one in enumerate(tried) if not one.caught_by]
    return Table.of(tried, columns, bad=missed, whole=(0, 1, 2), level=level)


def _moves(tried: Degradation) -> str:
    """Return how far it moves the gated metric that fell most; where none fell, the metric without a gate that did."""
    fell = {name: delta for name, delta in tried.deltas.items() if delta < -TOLERANCE}
    gated = [name for name in tried.gated if name in fell]
    metric = min(gated or fell, key=lambda name: fell[name], default=None)
    return "no metric moves" if metric is None else f"{metric} {signed_text(tried.deltas[metric], digits=3)}"


def since(item: ItemReport) -> Iterator[Block]:
    """Yield what changed since this branch left another."""
    found = item.since
    if found is None:
        return
    level = Level.VERBOSE if found.state == "unchanged" else Level.QUIET
    if found.state == "new":
        text = f"new since {found.where}: there is no baseline of this test to compare with"
        yield Text(text, "warn", level=level)
    else:
        yield Text(f"{found.state} since {found.where}", level=level)
    for place, sentence in enumerate(found.details):
        yield Text(sentence, indent=1, level=level if place < _SINCE else Level.VERBOSE)
    if len(found.details) > _SINCE:
        more = plural(len(found.details) - _SINCE, "line")
        yield Text(f"{more} more with -v.", indent=1, level=level, until=Level.NORMAL)
