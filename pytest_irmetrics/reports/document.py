"""A test's report as blocks, in the order in which people ask: what failed, why, which queries, what to do; and tables of a session."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_irmetrics.base.numbers import TOLERANCE, interval_ends_text, score_text, signed_text
from pytest_irmetrics.base.wording import group_alike, listed, plural
from pytest_irmetrics.comparison.metric_change import MIN_CHANGED
from pytest_irmetrics.reports.blocks import Block, Column, Commands, Level, Table, Text
from pytest_irmetrics.reports.item_report import (
    FIXTURE_TO_PASTE,
    OWN_BASELINE,
    WORST,
    Degradation,
    ItemReport,
    ScoreRow,
    VerdictReport,
    mean_name,
)
from pytest_irmetrics.reports.session_report import SessionReport, full_mean_text, mean_text, parameters

_MORE_VERDICTS = 3
"""How many failed gates have a sentence, besides the first and those in the table."""
_MAIN_DETAILS = 2
"""How many sentences on a fall under the stored judgments say why it counts."""
_FAILED_MEANS = 5
_ERRORS = 6
_PLACES = 4
"""Of how many queries with one error the place is shown; the others are named."""
_WORST_VERBOSE = 10
"""How many queries that explain a failure are shown with ``-v``; without it `WORST`."""


def failure(item: ItemReport, *, queries_first: bool = False) -> Iterator[Block]:
    """Yield the message of a failed test, or what there is of it for one that passed: what failed and what bears on that, its means, its queries, what else to know, what to do.

    With `queries_first` the queries stand above all tables, which would take them off the first screen of a page.
    """
    yield from _verdicts(item)
    yield from _undecided(item)
    notes = [Text(f"note: {one.text}", "warn", level=Level[one.level.upper()]) for one in item.notes]
    yield from (note for note in notes if note.level is Level.QUIET)
    yield from _tags_that_did_not_move(item)
    shown = [_queries, _means, _errors] if queries_first else [_means, _errors, _queries]
    for part in (*shown, _slices, _selftest):
        yield from part(item)
    yield from (note for note in notes if note.level is not Level.QUIET)
    if item.failed_gates:
        commands = [
            ("To look closer", item.look_command),
            ("To judge both", item.judge),
            ("To accept it", item.accept),
        ]
        yield Commands([(purpose, command) for purpose, command in commands if command])


def beside_the_failure(item: ItemReport) -> Iterator[Block]:
    """Yield what no failure's message says."""
    if item.only_queries:
        text = "Only single queries were judged; the gates on means were not (--ir-query)."
        yield Text(text, level=Level.QUIET)
    if item.outcome == "passed":
        yield from (Text(gate.text, "warn") for gate in item.gates if gate.state == "not checked")
    yield from _since(item)


def all_blocks(item: ItemReport, *, queries_first: bool = False) -> Iterator[Block]:
    """Yield all that is said of a golden set, in the order of `failure`."""
    yield from failure(item, queries_first=queries_first)
    yield from beside_the_failure(item)


def _undecided(item: ItemReport) -> Iterator[Block]:
    """Yield what is undecided; where the test passes with the queries that are worse, which a failure shows anyway."""
    for gate in (one for one in item.gates if one.state == "undecided"):
        yield Text(gate.text, "warn", level=Level.QUIET)
        if item.outcome == "passed" and gate.queries:
            few, more = named_queries(gate, WORST), named_queries(gate, _WORST_VERBOSE)
            yield Text(f"{few} (-vv shows them).", indent=1, until=Level.NORMAL)
            yield Text(f"{more}.", indent=1, level=Level.VERBOSE, until=Level.VERBOSE)


def named_queries(gate: VerdictReport, most: int) -> str:
    """Name the queries that explain a verdict, at most so many: `7 queries worse, the worst first: refund, hours and 5 more`."""
    left = f" and {gate.explained_by - most:,} more" if gate.explained_by > most else ""
    return f"{_worse(gate)}: {', '.join(gate.queries[:most])}{left}"


def _worse(gate: VerdictReport, by: str = "") -> str:
    """Say how many queries explain a verdict, and in which order they follow: `7 queries worse by mrr, the worst first`."""
    first = ", the worst first" if gate.explained_by > 1 else ""
    return f"{plural(gate.explained_by, 'query')} worse{by}{first}"


def _verdicts(item: ItemReport) -> Iterator[Block]:
    """Yield what the failed gates say, the statistics of the first drop, and what kind of change it is.

    The HTML report has some at its top, and leaves out here a block of the same text.
    """
    tabled = {(row.metric, row.tag) for row in _failed_rows(item)}
    failed = item.failed_gates
    first_drop = next((gate for gate in failed if gate.on_fall and gate.details), None)
    others = 0
    for place, gate in enumerate(failed):
        # Its row says all that such a verdict does; any other may say what mends it.
        measured = gate.word in ("max_drop", "min", "max") and not (gate.single or gate.as_stored)
        in_table = measured and (gate.metric, gate.tag) in tabled
        if place and in_table and gate is not first_drop:
            continue
        others += bool(place) and not in_table
        level = Level.VERBOSE if place and (in_table or others > _MORE_VERDICTS) else Level.NORMAL
        yield Text(gate.text, "bad", level=level)
        if item.provenance and not place:
            yield Text(item.provenance)
        most = len(gate.details) if not gate.on_fall else 0 if in_table else _MAIN_DETAILS
        yield from _details(gate, level, most, in_full=gate is first_drop)
    if others > _MORE_VERDICTS:
        more = plural(others - _MORE_VERDICTS, "more gate fails", "more gates fail")
        yield Text(f"{more} (-v names them).", until=Level.NORMAL)
    if origins := dict.fromkeys(gate.origin for gate in failed if gate.origin):
        yield Text(f"Limits set by {listed([*origins], between='; ')}.", level=Level.VERBOSE)
    yield from map(Text, item.kind_sentences)


def _details(gate: VerdictReport, level: Level, most: int, *, in_full: bool) -> Iterator[Block]:
    """Yield the details of a failed verdict, at most so many at its own level; where `in_full` the others with ``-v``."""
    indent = 0 if FIXTURE_TO_PASTE in gate.details else 1
    for number, detail in enumerate(gate.details if in_full else gate.details[:most]):
        yield Text(detail, indent=indent, level=level if number < most else Level.VERBOSE)


def _failed_rows(item: ItemReport) -> list[ScoreRow]:
    """Return the rows of the means that a gate fails by, the one furthest beyond its limit first.

    Not those that fail by the stored judgments alone, which rows do not go by, nor for single queries' own thresholds.
    """
    failed = [gate for gate in item.failed_gates if not (gate.as_stored or gate.single)]
    means = dict.fromkeys((gate.metric, gate.tag) for gate in failed)
    rows = {(row.metric, row.tag): row for row in item.rows if row.fails}
    return [rows[mean] for mean in means if mean in rows]


def _interval_text(row: ScoreRow) -> str:
    """Return the interval of a slice's change; where none of its queries changed, which share of such queries may.

    That share is 1 − .05^(1/n), up to which none of n changes in 5 of 100 cases. Empty where some changed and no interval is known, or of fewer than `MIN_CHANGED` queries.
    """
    if row.interval is not None:
        return interval_ends_text(row.interval)
    if row.n < MIN_CHANGED or row.changed != 0:
        return ""
    return f"up to {math.ceil(100 * (1 - 0.05 ** (1 / row.n)) - TOLERANCE)} % may"


def _trend(row: ScoreRow) -> str:
    """Return `fell` or `rose` where the interval of a slice excludes 0."""
    low, high = row.interval or (0.0, 0.0)
    return "fell" if high < -TOLERANCE else "rose" if low > TOLERANCE else ""


_ROW_COLUMNS: dict[str, tuple[str, Callable[[ScoreRow], str]]] = {
    "metric": ("<", lambda row: row.name),
    "limit": ("<", lambda row: row.gate),
    "n": (">", lambda row: str(row.n)),
    "now": (">", mean_text),
    "baseline": (">", lambda row: "" if row.baseline is None else score_text(row.baseline, row.now)),
    "change": (">", lambda row: "" if row.delta is None else signed_text(row.delta, row.allowed)),
    "in full": (">", full_mean_text),
    "worse": (">", lambda row: "" if row.baseline is None else f"{row.worse or 0:,}"),
    "better": (">", lambda row: "" if row.baseline is None else f"{(row.changed or 0) - (row.worse or 0):,}"),
    "joint 95 %": (">", _interval_text),
    "moved": ("<", _trend),
    "verdict": ("<", lambda row: row.verdict),
}
"""Heading → alignment, and the text of a mean; a column of which no mean has anything is left out."""


def _row_columns(item: ItemReport, *heads: str) -> list[Column[ScoreRow]]:
    """Return the columns of a table of means; today's are compared with the baseline, or another run."""
    names = {} if item.against == OWN_BASELINE else {"baseline": "other"}
    return [(names.get(head, head), *_ROW_COLUMNS[head]) for head in heads]


def _means(item: ItemReport) -> Iterator[Block]:
    """Yield the table of the means that failed, unless the verdict says as much; with ``-v`` that of all means."""
    failed = _failed_rows(item)
    if len(failed) > 1 or any(row.baseline is not None for row in failed):
        shown = failed[:_FAILED_MEANS]
        heads = ("metric", "limit", "now", "baseline", "change", "in full", "worse", "better")
        yield Table.of(shown, _row_columns(item, *heads), whole=["limit"], until=Level.NORMAL)
    if len(failed) > _FAILED_MEANS:
        yield Text(f"And {len(failed) - _FAILED_MEANS:,} more (-v names all).", until=Level.NORMAL)
    if item.rows:
        bad = [place for place, row in enumerate(item.rows) if row.fails]
        heads = ("metric", "n", "now", "baseline", "change", "in full", "limit", "verdict")
        yield Table.of(item.rows, _row_columns(item, *heads), drawn=item.rows, bad=bad, level=Level.VERBOSE)


def _tags_that_did_not_move(item: ItemReport) -> Iterator[Block]:
    """Yield how many slices did not move beyond chance, whose table is not shown; a limit on one may fail all the same."""
    if others := sum(not _trend(row) and not row.fails for row in item.slices):
        tags = plural(others, "other tag" if others < len(item.slices) else "tag")
        alone = ", each alone," if others > 1 else ""
        text = f"{item.slices[0].metric}: {tags}{alone} showed no clear move."
        yield Text(text, level=Level.VERBOSE, until=Level.VERBOSE)


def _slices(item: ItemReport) -> Iterator[Block]:
    """Yield the slices that moved beyond chance; with ``-vv`` all."""
    moved = [row for row in item.slices if _trend(row)]
    for shown, level in ((moved, Level.VERBOSE), (item.slices, Level.ALL)):
        if shown:
            tag: Column[ScoreRow] = (f"{shown[0].metric} by tag", "<", lambda row: row.tag or "")
            columns = [tag, *_row_columns(item, "n", "now", "baseline", "change", "joint 95 %", "moved")]
            bad = [place for place, row in enumerate(shown) if _trend(row) == "fell"]
            yield Table.of(shown, columns, drawn=shown, bad=bad, whole=(), level=level, until=level)


def overview(items: Sequence[ItemReport], session: SessionReport) -> Table:
    """Return the table of a session's golden sets: each with the mean that fails it, or else the first gated one."""
    rows, names = {item.nodeid: next(iter(item.gated_rows), None) for item in items}, session.names

    def of_row(text: Callable[[ScoreRow], str]) -> Callable[[ItemReport], str]:
        return lambda item: "" if (row := rows[item.nodeid]) is None else text(row)

    columns: list[Column[ItemReport]] = [
        (session.unit, "<", lambda item: names[item.nodeid]),
        *(
            (head, side, of_row(text))
            for head in ("metric", "now", "change", "worse")
            for side, text in [_ROW_COLUMNS[head]]
        ),
        ("queries", ">", lambda item: f"{item.query_count:,}"),
        ("verdict", "<", session.verdict),
    ]
    bad = [place for place, item in enumerate(items) if session.fails(item)]
    return Table.of(items, columns, bad=bad, drawn=[*rows.values()])


def variant_tables(items: Iterable[ItemReport]) -> list[Block]:
    """Return a table of means for each test and golden set that several items share, with a column for each item.

    Those are variants of one test, such as the retrievers that it is parametrized with.
    """
    groups: dict[tuple[str, str], list[ItemReport]] = {}
    for item in sorted(items, key=lambda item: item.nodeid):
        if item.rows and item.selftest is None and not item.only_queries:
            groups.setdefault((item.nodeid.partition("[")[0], item.golden_set), []).append(item)
    blocks: list[Block] = []
    for (test, golden_set), group in groups.items():
        if len(group) > 1:
            means = [{row.name: row.full for row in item.rows} for item in group]
            names = dict.fromkeys(name for own in means for name in own)
            rows = [[name, *(score_text(own.get(name)) for own in means)] for name in names]
            blocks.append(Text(f"{golden_set}, {test}, side by side", level=Level.VERBOSE))
            head = ["metric", *parameters([item.nodeid for item in group])]
            blocks.append(Table(head, rows, "<" + ">" * len(group), level=Level.VERBOSE))
    return blocks


def _errors(item: ItemReport) -> Iterator[Block]:
    """Yield each retrieval error once, with the places of the queries that had it; every such query is named.

    Of errors that differ in details the first is shown, and of an error those sentences that no error above has.
    """
    kinds = group_alike((query for query in item.queries if query.error), lambda query: str(query.error))
    said: set[str] = set()
    for number, alike in enumerate(kinds):
        level = Level.NORMAL if number < _ERRORS else Level.VERBOSE
        error = str(alike[0].error)
        failing = [query for query in alike if query.error == error]
        if len(kinds) > 1 or error.rstrip(".") not in item.gates[0].text:
            sentences = re.split(r"(?<=\.) ", error)
            text = " ".join(sentence for sentence in sentences if sentence not in said) or error
            such = ", for example" if len(failing) < len(alike) else ""
            yield Text(f"{plural(len(alike), 'query')}{such}: {text}", level=level)
            said.update(sentences)
        for query in failing[:_PLACES]:
            named = filter(None, (query.where, query.query_id, query.asks))
            yield Text(": ".join(named), indent=1, level=level)
        if others := [query.query_id for query in failing[_PLACES:]]:
            yield Text(f"and {', '.join(others)}", indent=1, level=level)
        if others := [query.query_id for query in alike if query.error != error]:
            yield Text(f"and with other details: {', '.join(others)}", indent=1, level=level)
    if others := [query.query_id for alike in kinds[_ERRORS:] for query in alike]:
        lead = plural(len(kinds) - _ERRORS, "other error", "other errors")
        yield Text(f"{lead} (-v shows all), of: {', '.join(others)}", until=Level.NORMAL)


def _queries(item: ItemReport) -> Iterator[Block]:
    """Yield the queries that explain the failure, the worst first; then the others that changed, or were asked for."""
    if not item.queries:
        return
    from pytest_irmetrics.reports.query_details import query_block  # noqa: PLC0415 - a test that passes reports few queries

    answered = [query for query in item.queries if query.error is None]
    single = item.only_queries
    first = Level.QUIET if single else Level.NORMAL
    if any(query.explains is not None for query in answered):
        yield Text("", level=first)
        yield Text(_worst_first(item), level=first)
    for place, query in enumerate(answered):
        explains = query.explains is not None
        moved = query.before != query.now or any(map(query.delta, query.scores))
        level = Level.ALL
        if single or (explains and place < WORST):
            level = first
        elif explains and place < _WORST_VERBOSE:
            level = Level.VERBOSE
        if single or explains or moved:
            yield query_block(query, item, level, in_full=single)


def _worst_first(item: ItemReport) -> str:
    """Return what stands above the queries: `27 queries worse by ndcg@10, the worst first:`."""
    gate, *others = item.explaining_gates
    since = f" since {item.against}" if item.since and item.since.where == item.against else ""
    further = {query_id for one in others for query_id in one.queries}.difference(gate.queries)
    # Where fewer are shown, query_block says so beside each.
    also = "; then those of other limits" if gate.explained_by < WORST and further else ""
    if not gate.on_fall:
        return f"Its {'query' if gate.explained_by == 1 else 'queries, the worst first'}{also}:"
    return f"{_worse(gate, f' by {mean_name(gate.metric, gate.tag)}{since}')}{also}:"


def _selftest(item: ItemReport) -> Iterator[Block]:
    """Yield which degradations the gates catch."""
    tried = item.selftest
    if tried is None:
        return
    missed = [place for place, one in enumerate(tried) if not one.caught_by]
    columns: list[Column[Degradation]] = [
        ("degradation", "<", lambda one: one.name),
        ("moves", "<", _fall_text),
        ("verdict", "<", _caught),
    ]
    if tried:
        yield Table.of(tried, columns, bad=missed, whole=["degradation", "moves", "verdict"])
    for one in tried:
        yield Text(f"{one.name}: {_caught(one, len(one.caught_by))}. {one.what}", level=Level.ALL)
    nothing = "nothing could be made worse: the stored run finds no relevant document"
    caught = f"caught {len(tried) - len(missed)} of {len(tried)}" if tried else nothing
    yield Text(f"self-test: {caught}", level=Level.QUIET)


def _fall_text(tried: Degradation) -> str:
    """Return how far which mean fell, `mrr −0.250`."""
    fell = tried.delta < -TOLERANCE
    return f"{tried.metric} {signed_text(tried.delta, digits=3)}" if fell else "no metric moves"


def _caught(tried: Degradation, named: int = 1) -> str:
    """Return `caught by mrr min`; `caught by 4 gates` where more caught it than are to be `named`; or `MISSED`."""
    gates = tried.caught_by
    names = ", ".join(gates) if len(gates) <= named else f"{len(gates)} gates"
    return f"caught by {names}" if gates else "MISSED"


def _since(item: ItemReport) -> Iterator[Block]:
    """Yield what changed since this branch left another."""
    found = item.since
    if found is None:
        return
    level = Level.VERBOSE if found.state == "unchanged" else Level.QUIET
    yield Text(f"{found.state} since {found.where}", "warn" if found.state == "new" else "", level=level)
    yield from (Text(sentence, indent=1, level=level) for sentence in found.details)
