"""A test's report as blocks, in the order in which people ask: what failed, why, which queries, what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.blocks import Commands, Level, Query, Table, Text
from pytest_irmetrics.reports.item_report import LIMIT_SIGNS
from pytest_irmetrics.reports.query_details import (
    explaining_queries,
    failed_gates,
    has_moved,
    is_only_slow,
    look_command,
    missing_by_grade,
    moved_texts,
    queries_as_judged,
    score_texts,
    side_by_side,
    stored_judgments_note,
    took_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.blocks import Block
    from pytest_irmetrics.reports.item_report import (
        Degradation,
        ItemReport,
        QueryReport,
        ScoreRow,
    )

_IN_FULL = {Level.NORMAL: 3, Level.VERBOSE: 10}
"""How many of the queries that explain a failure each level shows; `ALL` shows all."""
_MORE_VERDICTS = 3
"""How many failed gates have a sentence, besides the first and those in the table."""
_MAIN_DETAILS = 2
"""How many sentences on a fall under the stored judgments say why it counts."""
_FAILED_MEANS = 5
_SLICES = 30
_ERRORS = 6
_PLACES = 4
"""Of how many queries with one error the place is shown; the others are named."""
_CAUGHT_SLICES = 8
"""How many caught losses of a slice the self-test's table shows; where there are more, it shows none of them."""
_SINCE = 8
"""How many sentences on what changed since another commit are shown without `-v`."""


def failure(item: ItemReport) -> Iterator[Block]:
    """Yield the message of a failed test."""
    yield from verdicts(item)
    yield from _failed_means(item)
    yield from errors(item)
    yield from queries(item)
    yield Text(f"{item.golden_set}: {texts.query_count(item)}", level=Level.VERBOSE)
    yield from notes(item)
    yield commands(item)


def golden_set(item: ItemReport, *, told: bool) -> Iterator[Block]:
    """Yield what the summary says of a golden set below its line; ``told``: its failure's message has the notes."""
    yield from scores(item)
    yield from slices(item)
    if item.only_queries:
        yield Text(texts.ONLY_QUERIES)
    yield from since(item)
    if item.outcome in ("passed", "skipped"):
        yield from (Text(gate.text, "warn") for gate in item.gates if gate.state == "not checked")
    if not told:
        yield from notes(item)
    yield from selftest(item)
    yield from queries_in_full(item)


def whole(item: ItemReport) -> Iterator[Block]:
    """Yield all that a file says of a golden set."""
    if item.only_queries:
        yield Text(texts.ONLY_QUERIES)
    yield from verdicts(item)
    yield from _failed_means(item)
    yield from scores(item)
    yield from since(item, again=True)
    yield from errors(item)
    yield from queries(item)
    if failed_gates(item):
        yield commands(item)
    yield from slices(item)
    if item.selftest is not None:
        yield _selftest_table(item.selftest, Level.ALL)
        yield from _selftest_conclusion(item)
    yield from (Text(gate.text, "warn") for gate in item.gates if gate.state == "not checked")
    yield from notes(item, "")


def verdicts(item: ItemReport) -> Iterator[Block]:
    """Yield what the failed gates say, and what kind of change it is; of those in the table only `-v` says more."""
    tabled = {(row.metric, row.tag) for row in failed_rows(item)}
    others = 0
    for place, gate in enumerate(failed_gates(item)):
        # Of a drop the table has the statistics; what else a verdict says may be what mends it.
        measured = bool(gate.shares) or gate.word in ("min", "max")
        in_table = measured and (gate.metric, gate.tag) in tabled and not (gate.single or gate.as_stored)
        others += bool(place) and not in_table
        shown = not place or not (in_table or others > _MORE_VERDICTS)
        yield Text(gate.text, "bad", Level.NORMAL if shown else Level.VERBOSE)
        main = len(gate.details) if not gate.shares else 0 if in_table else _MAIN_DETAILS
        for number, detail in enumerate(gate.details):
            yield Text(detail, level=Level.NORMAL if shown and number < main else Level.VERBOSE, indent=1)
        if gate.origin:
            yield Text(f"Set in {gate.origin}.", level=Level.VERBOSE, indent=1)
    if others > _MORE_VERDICTS:
        more = plural(others - _MORE_VERDICTS, "more gate fails", "more gates fail")
        yield Text(f"{more} (-v names them).", until=Level.NORMAL)
    yield from map(Text, item.kind_sentences)


def notes(item: ItemReport, lead: str = "note: ") -> Iterator[Block]:
    """Yield the notes on a test, each after ``lead``."""
    for note in item.notes:
        level = Level.VERBOSE if note.level == "verbose" else Level.NORMAL
        yield Text(f"{lead}{note.text}", "warn", level)


def failed_rows(item: ItemReport) -> list[ScoreRow]:
    """Return the rows of the means that a gate fails by, the one furthest beyond its limit first.

    Not those that fail by the stored judgments alone, which rows do not go by, nor for single queries' own thresholds.
    """
    gates = [(gate.metric, gate.tag) for gate in failed_gates(item) if not (gate.as_stored or gate.single)]
    rows = [row for row in item.rows if row.verdict == "FAILS" and (row.metric, row.tag) in gates]
    return sorted(rows, key=lambda row: gates.index((row.metric, row.tag)))


def _failed_means(item: ItemReport) -> Iterator[Block]:
    """Yield the table of the means that failed; nothing where the verdict in words says as much."""
    rows = failed_rows(item)
    compared = any(row.baseline is not None for row in rows)
    if len(rows) > 1 or compared:
        head = ["", "limit", "now", texts.compared_with(item), "change", "worse", "better"]
        cells = [_failed_mean(row, item) for row in rows[:_FAILED_MEANS]]
        columns = len(head) if compared else 3
        optional = ((6, 5), (3,), (1,))
        yield Table(
            head[:columns],
            [row[:columns] for row in cells],
            "<<>>>>>"[:columns],
            whole=(1,),
            optional=optional,
            level=Level.NORMAL,
            until=Level.NORMAL,
        )
    if len(rows) > _FAILED_MEANS:
        yield Text(f"{len(rows) - _FAILED_MEANS:,} more fail (-v names them).", until=Level.NORMAL)


def _failed_mean(row: ScoreRow, item: ItemReport) -> list[str]:
    broken = tuple(
        LIMIT_SIGNS[gate.word]
        for gate in failed_gates(item)
        if (gate.metric, gate.tag) == (row.metric, row.tag) and not (gate.as_stored or gate.single)
    )
    limits = " ".join(f"✗{limit}" if limit.startswith(broken) else limit for limit in row.gate.split())
    cells = [texts.row_name(row), limits, texts.now_text(row)]
    if row.baseline is None:
        return [*cells, "", "", "", ""]
    worse, changed = row.worse or 0, row.changed or 0
    return [*cells, texts.baseline_text(row), texts.delta_text(row), f"{worse:,}", f"{changed - worse:,}"]


def errors(item: ItemReport) -> Iterator[Block]:
    """Yield each retrieval error once, with the places of the queries that had it; every such query is named.

    Of an error those sentences are shown that no error above has.
    """
    known = queries_as_judged(item)
    failed = [gate for gate in failed_gates(item) if gate.word == "errors"]
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
            yield Query(query.where, query.query_id, "", "", (), [[told]] if told else (), level=level)
            continue
        yield Text(f"{len(failing):,} queries: {told}".rstrip(), level=level)
        for place, query in enumerate(failing):
            yield Text(
                f"{query.where}: {query.query_id}",
                level=level if place < _PLACES else Level.VERBOSE,
                indent=1,
            )
        if others := [query.query_id for query in failing[_PLACES:]]:
            yield Text(f"and {', '.join(others)}", level=level, until=Level.NORMAL, indent=1)
    if others := [query.query_id for _, failing in ordered[_ERRORS:] for query in failing]:
        lead = plural(len(ordered) - _ERRORS, "other error", "other errors")
        yield Text(f"{lead} (-v shows all), of: {', '.join(others)}", until=Level.NORMAL)


def queries(item: ItemReport) -> Iterator[Block]:
    """Yield the queries that explain the failure, the worst first."""
    known = queries_as_judged(item)
    metrics = {
        query_id: names
        for query_id, names in explaining_queries(item.gates, known).items()
        if known[query_id].error is None
    }
    if metrics:
        yield Text("")
        total = max(item.explained_by, len(metrics))
        yield Text(f"{plural(total, 'query explains', 'queries explain')} it, the worst first:")
    for place, (query_id, names) in enumerate(metrics.items()):
        level = next((level for level, most in _IN_FULL.items() if place < most), Level.ALL)
        yield query_block(known[query_id], names, item, level)


def query_block(
    query: QueryReport,
    metrics: Sequence[str],
    item: ItemReport,
    level: Level = Level.NORMAL,
    *,
    in_full: bool = False,
) -> Query:
    """Return one query with its scores and the documents that moved."""
    facts = [*score_texts(query, metrics), *filter(None, [took_text(query)])]
    base = (query.where, query.query_id, query.asks or "", query.status, facts)
    if query.error is not None:
        return Query(*base, [[query.error]], level=level)
    if is_only_slow(query, item.gates) and not in_full:
        return Query(*base, (), level=level)
    moved = moved_texts(query, item.titles, ranked=in_full)
    if in_full and (note := stored_judgments_note(query)):
        moved.append([note])
    compared = query.before is not None
    return Query(
        *base,
        moved,
        side_by_side(query, item.titles),
        missing_by_grade(query, item.titles),
        compared=compared,
        in_full=in_full,
        level=level,
    )


def queries_in_full(item: ItemReport) -> Iterator[Block]:
    """Yield the queries with their rankings: those of ``--ir-query``; of others those that changed, where anything is compared."""
    compared = any(query.before is not None for query in item.queries)
    for query in item.queries:
        if item.only_queries or not compared or query.before is None or has_moved(query):
            level = Level.NORMAL if item.only_queries else Level.ALL
            yield query_block(query, list(query.scores), item, level, in_full=True)


def commands(item: ItemReport) -> Commands:
    """Return the commands to run next."""
    look = look_command(item)
    # The first of two is a run that fails again, so the second must not wait for its success.
    judge = "; ".join(item.judge)
    found = (("To look closer", look), ("To judge both", judge), ("To accept it", item.accept))
    return Commands([(lead, command) for lead, command in found if command])


def scores(item: ItemReport) -> Iterator[Block]:
    """Yield the table of a golden set's scores, and what is to be said of its numbers."""
    if not item.rows:
        return
    compared = texts.is_compared(item)
    head = [
        "metric",
        "n",
        "now",
        *([texts.compared_with(item), "delta"] if compared else []),
        "gate",
        "verdict",
    ]
    rows = [
        [
            texts.row_name(row),
            str(row.n),
            texts.now_text(row),
            *([texts.baseline_text(row), texts.delta_text(row)] if compared else []),
            row.gate,
            row.verdict,
        ]
        for row in item.rows
    ]
    align = "<>>" + ">>" * compared + "<<"
    bad = [place for place, row in enumerate(item.rows) if row.verdict == "FAILS"]
    yield Table(head, rows, align, bad, whole=(0, len(align) - 1))
    yield from (Text(note, level=Level.VERBOSE) for note in texts.table_notes(item))


def slices(item: ItemReport) -> Iterator[Block]:
    """Yield the slices that cost the mean most, and how many others there are."""
    if not item.slices:
        return
    yield Text("", level=Level.VERBOSE)
    shown = texts.costliest_slices(item, _SLICES)
    if shown:
        yield _slices_table(shown, item, Level.VERBOSE, Level.VERBOSE)
    if left_out := texts.slices_left_out(item, shown):
        yield Text(f"{left_out} (-vv shows all)", level=Level.VERBOSE, until=Level.VERBOSE)
    yield _slices_table(item.slices, item, Level.ALL, Level.ALL)


def _slices_table(shown: Sequence[ScoreRow], item: ItemReport, level: Level, until: Level) -> Table:
    head = [
        f"{item.slices[0].metric} by tag",
        "n",
        "now",
        texts.compared_with(item),
        "delta",
        texts.JOINT_INTERVAL,
        "",
    ]
    rows = [
        [
            row.tag or "",
            str(row.n),
            texts.now_text(row),
            texts.baseline_text(row),
            texts.delta_text(row),
            texts.interval_text(row),
            texts.slice_trend(row),
        ]
        for row in shown
    ]
    bad = [place for place, row in enumerate(shown) if texts.slice_trend(row) == "fell"]
    return Table(head, rows, "<>>>>><", bad, whole=(), level=level, until=until)


def selftest(item: ItemReport) -> Iterator[Block]:
    """Yield which degradations the gates catch, and advice on the others."""
    tried = item.selftest
    if tried is None:
        return
    slices_lost = [one for one in tried if one.tag is not None and one.caught_by]
    hidden = slices_lost if len(slices_lost) > _CAUGHT_SLICES else []
    yield _selftest_table([one for one in tried if one not in hidden], Level.NORMAL)
    if hidden:
        yield Text(
            f"{plural(len(hidden), 'more loss', 'more losses')} of slices: caught (-v shows them)",
            until=Level.NORMAL,
        )
    for one in tried:
        yield Text(f"{one.name}: {texts.caught_text(one)}", "" if one.caught_by else "warn", Level.VERBOSE)
        yield Text(one.what, level=Level.VERBOSE, indent=1)
        yield Text(texts.deltas_text(one), level=Level.VERBOSE, indent=1)
    yield from _selftest_conclusion(item)


def _selftest_conclusion(item: ItemReport) -> Iterator[Block]:
    yield from map(Text, (texts.selftest_conclusion(item.selftest or ()), *item.advice))


def _selftest_table(tried: Sequence[Degradation], until: Level) -> Table:
    bad = [place for place, one in enumerate(tried) if not one.caught_by]
    rows = [[one.name, _moves(one), _caught(one)] for one in tried]
    head = ["degradation", "moves", "verdict"]
    return Table(head, rows, "<<<", bad, whole=(0, 1, 2), level=Level.NORMAL, until=until)


def _caught(tried: Degradation) -> str:
    """Return `caught by mrr min`, `caught by 4 gates` or `MISSED`: a paragraph with ``-v`` names them all."""
    gates = len(tried.caught_by)
    return f"caught by {gates} gates" if gates > 1 else texts.caught_text(tried)


def _moves(tried: Degradation) -> str:
    """Return how far it moves the gated metric that fell most; where none fell, the metric without a gate that did."""
    fell = {name: delta for name, delta in tried.deltas.items() if delta < -TOLERANCE}
    gated = [name for name in tried.gated if name in fell]
    metric = min(gated or fell, key=lambda name: fell[name], default=None)
    return "no metric moves" if metric is None else f"{metric} {signed_text(tried.deltas[metric], digits=3)}"


def since(item: ItemReport, *, lead: str = "", again: bool = False) -> Iterator[Block]:
    """Yield what changed since this branch left another; of a test that accepts something, which is told first, ``again``."""
    if item.since is None:
        return
    from pytest_irmetrics.reports import since_texts  # noqa: PLC0415 - only with --ir-since
    from pytest_irmetrics.reports.since_report import SinceReport  # noqa: PLC0415 - as above

    found = SinceReport.of(item)
    if found is None or (found.is_told_first and not again):
        return
    level = Level.VERBOSE if found.state == "unchanged" else Level.NORMAL
    yield Text(f"{lead}{since_texts.one_line(found)}", "warn" if found.state == "new" else "", level)
    yield from since_details(since_texts.details(found), level)


def since_details(sentences: Sequence[str], level: Level = Level.NORMAL) -> Iterator[Block]:
    """Yield sentences on what changed since another commit, below the one on their test."""
    for place, sentence in enumerate(sentences):
        yield Text(sentence, level=level if place < _SINCE else Level.VERBOSE, indent=1)
    if len(sentences) > _SINCE:
        yield Text(
            f"{plural(len(sentences) - _SINCE, 'line')} more with -v.",
            level=level,
            until=Level.NORMAL,
            indent=1,
        )
