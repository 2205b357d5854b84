"""The Markdown report, for a GitHub job's step summary or a pull request comment, shortened to fit a size limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import code_markdown, escape_markdown
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.query_details import (
    explaining_lead,
    explaining_queries,
    failed_gates,
    is_only_slow,
    look_command,
    missing_by_grade,
    queries_as_judged,
    score_change_text,
    side_by_side,
    took_text,
)
from pytest_irmetrics.reports.session_report import all_pass, counted_as, titles
from pytest_irmetrics.reports.variants import variant_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, ScoreRow, VerdictReport
    from pytest_irmetrics.reports.query_details import RankedDocument
    from pytest_irmetrics.reports.session_report import SessionReport

COMMENT_LIMIT = 65_000
"""The bytes of a report for a comment. GitHub takes 65,536 characters in one; what posts it may add a line of its own."""

STEP_SUMMARY_LIMIT = 1024 * 1024
"""The bytes that GitHub takes as one step's summary; of a longer one it shows nothing."""

_RANKS = 10
"""The cut-off down to which every rank of a ranking is shown; below it only relevant and forbidden documents are."""

_DEEPER_RANKS = 10
"""How many relevant and forbidden documents below that cut-off are shown."""

_MOST = 20
"""How many items of any list (gates, slices, degradations, notes) are shown."""


_LONGEST_TITLE = 60
"""Characters of a document's title."""

_LONGEST_COMMAND = 1000
"""Characters of a command."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """How much of a session is reported."""

    queries: int
    """How many queries are shown at most for each failing golden set."""
    passing: bool = False
    """Whether there is a section for each golden set that passes; else it has its row in the table of all."""
    failing: int | None = None
    """How many golden sets that fail have a section at most, the others a row in the table of all; None: all."""
    named: int = 100
    """How many golden sets, tests and accepted falls a list has at most."""


_SCOPES = (
    _Scope(queries=5, passing=True),
    _Scope(queries=1, passing=True),
    _Scope(queries=1),
    _Scope(queries=1, failing=10),
    _Scope(queries=0, failing=3, named=30),
    _Scope(queries=0, failing=0, named=10),
    _Scope(queries=0, failing=0, named=0),
)
"""From the whole report down to its headline; the first that fits the limit is used."""


def render(session: SessionReport, *, limit: int = COMMENT_LIMIT) -> str:
    """Return the report as Markdown of at most `limit` bytes in UTF-8, empty where not even the headline fits.

    It says what it leaves out.
    """
    for scope in _SCOPES:
        text = "\n".join(_document(session, scope)) + "\n"
        if len(text.encode()) <= limit:
            return text
    return ""


def _document(session: SessionReport, scope: _Scope) -> Iterator[str]:
    items = session.measured_failures_first
    unit, names = counted_as(items), titles(items)
    yield f"## Retrieval quality: {session.headline()}"
    for nodeid, text in session.accepted[: scope.named]:
        yield from ("", f"**{_words(text)}** ({_code(nodeid)})")
    if ending := session.ending():
        yield from ("", _words(ending))
    if not scope.named:
        yield from ("", _left_out(len(items), unit))
        return
    if len(items) > 1 or scope.failing == 0 or not scope.passing:
        yield from _overview(items, names, session, scope, unit)
    yield from _unmeasured(session, scope)
    if scope.passing:
        yield from _side_by_side(items)
    failing = [item for item in items if session.fails(item)]
    passing = items[len(failing) :]
    for item in failing[: scope.failing]:
        yield from _golden_set(item, names[item.nodeid], session, scope)
    if scope.failing and len(failing) > scope.failing:
        yield from (
            "",
            _left_out(
                len(failing) - scope.failing, f"section on a failing {unit}", f"sections on failing {unit}s"
            ),
        )
    if scope.passing and passing:
        if failing:
            yield from ("", f"<details><summary>{_how_many(passing, unit)}</summary>")
        for item in passing:
            yield from _golden_set(item, names[item.nodeid], session, scope)
        if failing:
            yield from ("", "</details>")
    for path, told in session.unused_baseline_notes[:_MOST]:
        yield from ("", f"The baseline {_code(path)} {told}")


def _side_by_side(items: Sequence[ItemReport]) -> Iterator[str]:
    """Show the variants of each test over each golden set in one table, the best in bold."""
    for variants in variant_tables(items)[:_MOST]:
        yield from ("", f"Side by side: {_code(variants.title)}", "")
        yield _row(["metric", *map(_code, variants.columns)])
        yield _row(["---", *["---:"] * len(variants.columns)])
        for row in variants.rows:
            cells = zip(row.cells, row.best, strict=True)
            yield _row([_code(row.name), *(f"**{cell}**" if best else cell for cell, best in cells)])


def _how_many(passing: Sequence[ItemReport], unit: str) -> str:
    """Say how many golden sets do not fail the session."""
    if any(item.outcome != "passed" for item in passing):  # a test marked xfail that fails
        return plural(len(passing), f"other {unit}")
    return all_pass(len(passing), unit)


def _unmeasured(session: SessionReport, scope: _Scope) -> Iterator[str]:
    tests = list(session.unmeasured.items())
    shown = tests[: scope.named]
    if shown:
        yield from ("", "Failed before anything was measured:", "")
    for nodeid, message in shown:
        yield f"- {_code(nodeid)}:"
        yield from (f"  {line}" for line in _paragraph(message))
    if len(shown) < len(tests):
        yield from ("", _left_out(len(tests) - len(shown), "test"))


def _overview(
    items: Sequence[ItemReport], names: Mapping[str, str], session: SessionReport, scope: _Scope, unit: str
) -> Iterator[str]:
    """Report each golden set in a row of one table, failures first, with the mean that fails it or else the first gated one."""
    if not items:
        return
    compared = any(map(texts.is_compared, items))
    yield from ("", _row([unit, "verdict", "metric", "now", *(["delta"] if compared else [])]))
    yield "| :-- | :-- | :-- | --: | --: |" if compared else "| :-- | :-- | :-- | --: |"
    for item in items[: scope.named]:
        verdict = _words(texts.verdict(item, session))
        cells = [_code(names[item.nodeid], 80), f"**{verdict}**" if session.fails(item) else verdict]
        row = _telling_row(item)
        cells += ["", ""] if row is None else [_code(texts.row_name(row), 80), texts.now_text(row)]
        if compared:
            cells.append("" if row is None or row.delta is None else texts.delta_text(row))
        yield _row(cells)
    if len(items) > scope.named:
        yield from ("", _left_out(len(items) - scope.named, unit))


def _telling_row(item: ItemReport) -> ScoreRow | None:
    """Return the mean that fails a golden set, else its first gated one, else its first."""
    rows = texts.gated_rows(item)
    return next((row for row in rows if row.verdict == "FAILS"), next(iter(rows), None))


def _golden_set(item: ItemReport, name: str, session: SessionReport, scope: _Scope) -> Iterator[str]:
    yield from ("", f"### {_code(name)}: {_words(texts.verdict(item, session))}")
    yield from ("", f"{_code(item.nodeid)}: {_words(texts.subject(item))}.")
    if item.only_queries:
        yield from ("", texts.ONLY_QUERIES)
    failed = failed_gates(item)
    if failed:
        yield ""
    for gate in failed[:_MOST]:
        yield from _gate(gate)
    if len(failed) > _MOST:
        yield from ("", _left_out(len(failed) - _MOST, "failed gate"))
    if item.kind_sentences:
        yield from ("", " ".join(map(_words, item.kind_sentences)))
    if item.rows:
        yield ""
        yield from _table(item)
    yield from _since(item)
    yield from _queries(item, scope)
    yield from _commands(item)
    yield from _slices(item)
    yield from _selftest(item)
    yield from _notes(item)


def _since(item: ItemReport) -> Iterator[str]:
    """Say what changed since this branch left another."""
    if item.since is None:
        return
    from pytest_irmetrics.reports.since_texts import sentences_on  # noqa: PLC0415 - only with --ir-since

    lead, *sentences = sentences_on(item)
    yield from ("", _words(lead))
    if sentences:
        yield ""
    for sentence in sentences[:_MOST]:
        yield f"- {_words(sentence)}"
    if len(sentences) > _MOST:
        yield from ("", _left_out(len(sentences) - _MOST, "line"))


def _gate(gate: VerdictReport) -> Iterator[str]:
    yield f"- **{_words(gate.text)}**"
    for detail in gate.details[:_MOST]:
        yield f"  {_words(detail)}"
    if gate.origin:
        yield f"  Set in {_words(gate.origin)}."


def _table(item: ItemReport) -> Iterator[str]:
    compared = texts.is_compared(item)
    yield (
        f"| metric | n | now | {texts.compared_with(item)} | delta | gate | verdict |"
        if compared
        else "| metric | n | now | gate | verdict |"
    )
    yield "| :-- | --: | --: | --: | --: | :-- | :-- |" if compared else "| :-- | --: | --: | :-- | :-- |"
    for row in item.rows:
        cells = [_code(texts.row_name(row)), str(row.n), texts.now_text(row)]
        if compared:
            cells += [texts.baseline_text(row), texts.delta_text(row)]
        verdict = f"**{row.verdict}**" if row.verdict == "FAILS" else _words(row.verdict)
        yield _row([*cells, _words(row.gate), verdict])


def _commands(item: ItemReport) -> Iterator[str]:
    """Show the commands to run next; one that is too long to be shown whole is left out."""
    if not failed_gates(item):
        return
    commands = [("To look closer", look_command(item)), ("To accept it", item.accept)]
    commands[1:1] = [("To judge both", command) for command in item.judge]
    shown = [
        (lead, command)
        for lead, command in commands
        if command is not None and len(command) <= _LONGEST_COMMAND
    ]
    if shown:
        yield ""
    for lead, command in shown:
        yield f"- {lead}: {code_markdown(command)}"


def _slices(item: ItemReport) -> Iterator[str]:
    """Show the metric by tag, in a section that is closed at first."""
    shown = texts.costliest_slices(item, _MOST)
    if not shown:
        return
    yield from ("", f"<details><summary>{plural(len(item.slices), 'slice')}</summary>")
    yield from ("", f"{_code(item.slices[0].metric)} by tag:", "")
    yield f"| tag | n | now | {texts.compared_with(item)} | delta | {texts.JOINT_INTERVAL} | shows |"
    yield "| :-- | --: | --: | --: | --: | --: | :-- |"
    for row in shown:
        scores = [texts.now_text(row), texts.baseline_text(row), texts.delta_text(row)]
        yield _row(
            [_code(row.tag or "", 80), str(row.n), *scores, texts.interval_text(row), texts.slice_trend(row)]
        )
    left_out = texts.slices_left_out(item, shown)
    if left_out:
        yield from ("", f"*{left_out}.*")
    yield from ("", "</details>")


def _selftest(item: ItemReport) -> Iterator[str]:
    if item.selftest is None:
        return
    # What no gate catches is what one reads it for.
    tried = sorted(item.selftest, key=lambda degradation: bool(degradation.caught_by))
    yield from ("", f"Self-test: {_words(texts.selftest_conclusion(item.selftest))}.")
    if tried:
        yield ""
        yield "| degradation | queries | moves | verdict |"
        yield "| :-- | --: | :-- | :-- |"
    for degradation in tried[:_MOST]:
        caught = _words(texts.caught_text(degradation), 200)
        verdict = caught if degradation.caught_by else f"**{caught}**"
        moved = _words(texts.deltas_text(degradation), 200)
        yield _row([_words(degradation.name, 80), str(degradation.queries), moved, verdict])
    left_out = tried[_MOST:]
    if left_out:
        told = "; each is caught" if all(degradation.caught_by for degradation in left_out) else ""
        yield from ("", f"{_left_out(len(left_out), 'degradation')[:-2]}{told}.*")
    for sentence in item.advice:
        yield from ("", _words(sentence))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _notes(item: ItemReport) -> Iterator[str]:
    unchecked = [gate.text for gate in item.gates if gate.state == "not checked"]
    notes = [*texts.table_notes(item), *unchecked, *item.notes, *texts.lowered_notes(item)]
    if notes:
        yield ""
    for note in notes[:_MOST]:
        yield f"- {_words(note)}"
    if len(notes) > _MOST:
        yield from ("", _left_out(len(notes) - _MOST, "note"))


def _queries(item: ItemReport, scope: _Scope) -> Iterator[str]:
    """Show the queries that explain the failed gates, in a section that is closed at first."""
    queries = queries_as_judged(item)
    metrics = explaining_queries(item.gates, queries)
    if not metrics:
        return
    shown = list(metrics)[: scope.queries]
    total = max(item.explained_by, len(metrics))
    rest = total - len(shown)
    if not shown:
        yield from ("", _left_out(rest, "explaining query", "explaining queries"))
        return
    yield from ("", f"<details><summary>{explaining_lead(total)}</summary>")
    for query_id in shown:
        query = queries[query_id]
        yield from _query(query, metrics[query_id], item.titles, ranked=not is_only_slow(query, item.gates))
    if rest:
        yield from ("", _left_out(rest, "query", "queries"))
    yield from ("", "</details>")


def _query(
    query: QueryReport, metrics: Sequence[str], titles: Mapping[str, str], *, ranked: bool
) -> Iterator[str]:
    """Show one query: its scores, and where it is ``ranked`` its ranking before and now."""
    text = "" if query.asks is None else f": {_words(query.asks)}"
    yield from ("", f"**{_code(query.query_id)}**{text}")
    scored = [metric for metric in metrics if query.scores.get(metric) is not None]
    facts = [
        _code(query.where),
        *(f"{_code(metric)} {score_change_text(query, metric)}" for metric in scored),
        *filter(None, [took_text(query)]),
    ]
    yield from ("", ", ".join([*facts, *([_words(query.status)] if query.status else [])]))
    if query.error is not None:
        yield ""
        yield from _paragraph(query.error)
        return
    if not ranked:
        return
    yield ""
    yield from _ranking(query, titles)
    missing = missing_by_grade(query)
    if missing:
        named = [f"{_code(document.doc_id, 80)} ({document.judgment})" for document in missing]
        yield from ("", f"Not returned: {listed(named, 5)}.")


def _ranking(query: QueryReport, titles: Mapping[str, str]) -> Iterator[str]:
    ranks = side_by_side(query)
    if not ranks:
        yield "Nothing was returned."
        return
    compared = query.before is not None
    yield "| rank | baseline | now |" if compared else "| rank | now |"
    yield "| --: | :-- | :-- |" if compared else "| --: | :-- |"
    deeper = [
        (rank, before, now) for rank, before, now in ranks[_RANKS:] if _is_marked(before) or _is_marked(now)
    ][:_DEEPER_RANKS]
    for rank, before, now in [*ranks[:_RANKS], *deeper]:
        yield _row(
            [str(rank), *([_document_cell(before, titles)] if compared else []), _document_cell(now, titles)]
        )
    hidden = len(ranks) - min(len(ranks), _RANKS) - len(deeper)
    if hidden:
        yield from ("", _left_out(hidden, "rank"))


def _is_marked(document: RankedDocument | None) -> bool:
    """Whether there is a document at a rank that is relevant or forbidden, and so stands out."""
    return document is not None and (document.relevant or document.forbidden)


def _document_cell(document: RankedDocument | None, titles: Mapping[str, str]) -> str:
    if document is None:
        return ""
    judgment = document.judgment if document.judged else ""
    facts = [f"**{judgment}**" if _is_marked(document) else judgment, document.move]
    remark = ", ".join(filter(None, facts))
    title = titles.get(document.doc_id)
    named = _code(document.doc_id, 80) + (f" {_words(title, _LONGEST_TITLE)}" if title else "")
    return f"{named}{f' ({remark})' if remark else ''}"


def _left_out(count: int, one: str, many: str | None = None) -> str:
    """Say how many more there are than the report shows."""
    return f"*{plural(count, one, many)} more {'is' if count == 1 else 'are'} left out here, for brevity.*"


def _paragraph(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:_MOST]:
        yield _words(line)
    if len(lines) > _MOST:
        yield _left_out(len(lines) - _MOST, "line")


def _code(text: str, width: int = 200) -> str:
    """Return an id or a path as code; of a long one the two ends, since such texts differ there."""
    half = width // 2
    return code_markdown(text if len(text) <= width else f"{text[:half]}…{text[-half:]}")


def _words(text: str, width: int = 600) -> str:
    """Return text cut to a width, with what Markdown would read as markup escaped."""
    words = escape_markdown(text if len(text) <= width else f"{text[:width]}…")
    # Where somebody prints the file in a GitHub job, a line that begins with `::error` would be run as a command.
    return re.sub(r"^(\s*):", r"\1\\:", words)
