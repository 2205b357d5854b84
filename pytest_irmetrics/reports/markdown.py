"""Records as GitHub's Markdown, for a job's step summary or a comment on a pull request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import code_markdown, escape_markdown
from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports import selftest
from pytest_irmetrics.reports import view as digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport, QueryReport, VerdictReport
    from pytest_irmetrics.reports.view import Command, Place

COMMENT_LIMIT = 65_536
"""GitHub takes as many characters in a comment; this many bytes are never more."""

STEP_SUMMARY_LIMIT = 1024 * 1024
"""Bytes that GitHub takes as one step's summary; of a longer one it shows nothing."""

_RANKS = 10
"""Ranks of a ranking that are shown; deeper ones only where something judged or forbidden stands."""

_DEEPER = 10
"""How many of those."""

_SENTENCES = 20
"""Gates, notes and the like of one golden set that are shown in full."""


@dataclass(frozen=True, slots=True)
class _Amount:
    """How much is told."""

    queries: int = 0
    """Of each failing golden set, at most so many of the queries that explain it."""
    passing: bool = True
    """Whether the tables of golden sets that pass are shown."""
    failing: bool = True
    """Whether the tables of those that fail are."""
    sets: int | None = None
    """How many golden sets are named at most."""


_AMOUNTS = (
    *(_Amount(queries=queries) for queries in (20, 10, 5, 3, 1, 0)),
    _Amount(passing=False),
    *(_Amount(passing=False, failing=False, sets=sets) for sets in (None, 1000, 300, 100, 30, 10, 3, 0)),
)
"""From everything down to the headline; the first that fits is taken."""


def render(records: Sequence[ItemReport], command: Command, *, limit: int = COMMENT_LIMIT) -> str:
    """Write a report of at most `limit` bytes of UTF-8, saying what it leaves out; empty where not even a headline fits."""
    records = digest.in_order(records, command)
    for amount in _AMOUNTS:
        text = "\n".join(_document(records, command, amount)) + "\n"
        if len(text.encode()) <= limit:
            return text
    return ""


def _document(records: Sequence[ItemReport], command: Command, amount: _Amount) -> Iterator[str]:
    unit = digest.unit(records)
    yield f"## Retrieval quality: {digest.headline(records, command, unit)}"
    if ending := digest.ending(records, command):
        yield from ("", _words(ending))
    if amount.sets == 0:
        yield from ("", _left_out(len(records), unit))
        return
    yield from _unmeasured(command, amount)
    records = list(digest.told_apart(records))
    failing = [record for record in records if digest.fails(record, command)]
    passing = records[len(failing) :]
    if amount.failing:
        for record in failing:
            yield from _record(record, command, amount)
    else:
        yield from _lines(failing, command, amount.sets, unit)
    if amount.passing and passing:
        if failing:
            yield from ("", f"<details><summary>{_how_many(passing, unit)}</summary>")
        for record in passing:
            yield from _record(record, command, amount)
        if failing:
            yield from ("", "</details>")
    else:
        yield from _lines(passing, command, amount.sets, unit)
    for path in digest.stale(records)[:_SENTENCES]:
        yield from (
            "",
            f"The baseline {_code(path)} belongs to no test any more; delete it, or bring the test back.",
        )


def _how_many(passing: Sequence[ItemReport], unit: str) -> str:
    if any(record.outcome != "passed" for record in passing):  # an expected failure
        return plural(len(passing), f"other {unit}")
    return digest.headline(passing, digest.Command(), unit)


def _unmeasured(command: Command, amount: _Amount) -> Iterator[str]:
    shown = command.unmeasured if amount.sets is None else command.unmeasured[: amount.sets]
    if shown:
        yield from ("", "Failed before anything was measured:", "")
    for test in shown:
        yield f"- {_code(test.nodeid)}:"
        yield from (f"  {line}" for line in _paragraph(test.text))
    if len(shown) < len(command.unmeasured):
        yield from ("", _left_out(len(command.unmeasured) - len(shown), "test"))


def _lines(records: Sequence[ItemReport], command: Command, most: int | None, unit: str) -> Iterator[str]:
    """Give each a line."""
    if records:
        yield ""
    for record in records[:most]:
        scores = digest.gated_scores(record)
        yield f"- {_code(record.golden_set)}: {_words(digest.verdict(record, command))}{f'; {_words(scores)}' if scores else ''}"
    if most is not None and len(records) > most:
        yield from ("", _left_out(len(records) - most, unit))


def _record(record: ItemReport, command: Command, amount: _Amount) -> Iterator[str]:
    yield from ("", f"### {_code(record.golden_set)}: {_words(digest.verdict(record, command))}")
    yield from ("", f"{_code(record.nodeid)}: {_words(digest.subject(record))}.")
    if record.only_queries:
        yield from ("", "Only single queries were judged; the gates on means were not (`--ir-query`).")
    failed = digest.failed_gates(record)
    if failed:
        yield ""
    for gate in failed[:_SENTENCES]:
        yield from _gate(gate)
    if len(failed) > _SENTENCES:
        yield from ("", _left_out(len(failed) - _SENTENCES, "failed gate"))
    if record.kind:
        yield from ("", " ".join(_words(sentence) for sentence in record.kind))
    if record.rows:
        yield ""
        yield from _table(record)
    yield from _queries(record, amount)
    yield from _slices(record)
    yield from _selftest(record)
    yield from _notes(record)


def _gate(gate: VerdictReport) -> Iterator[str]:
    yield f"- **{_words(gate.text)}**"
    for detail in gate.details[:_SENTENCES]:
        yield f"  {_words(detail)}"
    if gate.origin:
        yield f"  Set in {_words(gate.origin)}."


def _table(record: ItemReport) -> Iterator[str]:
    compared = digest.is_compared(record)
    yield (
        f"| metric | n | now | {digest.other_side(record)} | delta | gate | verdict |"
        if compared
        else "| metric | n | now | gate | verdict |"
    )
    yield "| :-- | --: | --: | --: | --: | :-- | :-- |" if compared else "| :-- | --: | --: | :-- | :-- |"
    for row in record.rows:
        cells = [_code(digest.row_name(row)), str(row.n), digest.now_text(row)]
        if compared:
            cells += [digest.baseline_text(row), digest.delta_text(row)]
        verdict = f"**{row.verdict}**" if row.verdict == "FAILS" else _words(row.verdict)
        yield _row([*cells, _words(row.gate), verdict])


def _slices(record: ItemReport) -> Iterator[str]:
    """Show the metric by tag, folded away."""
    if not record.slices:
        return
    yield from ("", f"<details><summary>{plural(len(record.slices), 'slice')}</summary>")
    yield from ("", f"{_code(record.slices[0].metric)} by tag:", "")
    yield f"| tag | n | now | {digest.other_side(record)} | delta | 95 % interval | shows |"
    yield "| :-- | --: | --: | --: | --: | --: | :-- |"
    for row in digest.costliest_slices(record, _SENTENCES):
        scores = [digest.now_text(row), digest.baseline_text(row), digest.delta_text(row)]
        yield _row(
            [_code(row.tag or "", 80), str(row.n), *scores, digest.interval(row), digest.slice_moved(row)]
        )
    if len(record.slices) > _SENTENCES:
        yield from ("", _left_out(len(record.slices) - _SENTENCES, "slice"))
    yield from ("", "</details>")


def _selftest(record: ItemReport) -> Iterator[str]:
    if record.selftest is None:
        return
    tried = record.selftest
    if not tried:
        yield from (
            "",
            "Self-test: nothing could be made worse, because the stored run finds no relevant document.",
        )
    else:
        yield from ("", f"Self-test: {_words(selftest.conclusion(tried))}.", "")
        yield "| degradation | queries | moves | verdict |"
        yield "| :-- | --: | :-- | :-- |"
    for degradation in tried[:_SENTENCES]:
        caught = _words(digest.caught(degradation), 200)
        verdict = caught if degradation.caught_by else f"**{caught}**"
        yield _row(
            [
                _words(degradation.name, 80),
                str(degradation.queries),
                _words(digest.moved(degradation), 200),
                verdict,
            ]
        )
    if len(tried) > _SENTENCES:
        yield from ("", _left_out(len(tried) - _SENTENCES, "degradation"))
    for sentence in record.advice:
        yield from ("", _words(sentence))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _notes(record: ItemReport) -> Iterator[str]:
    unchecked = [gate.text for gate in record.gates if gate.state == "not checked"]
    lowered = [f"The new baseline lowers {text}." for text in record.lowered]
    notes = [*digest.full_means(record), *unchecked, *record.notes, *lowered]
    if notes:
        yield ""
    for note in notes[:_SENTENCES]:
        yield f"- {_words(note)}"
    if len(notes) > _SENTENCES:
        yield from ("", _left_out(len(notes) - _SENTENCES, "note"))


def _queries(record: ItemReport, amount: _Amount) -> Iterator[str]:
    """Show the queries that explain the failed gates, folded away."""
    metrics = digest.explaining(record)
    if not metrics:
        return
    views = digest.explaining_views(record)
    shown = list(metrics)[: amount.queries]
    total = max(record.explained_by, len(metrics))
    rest = total - len(shown)
    if not shown:
        yield from ("", _left_out(rest, "explaining query", "explaining queries"))
        return
    many = "The query that explains it" if total == 1 else f"The {total:,} queries that explain it"
    yield from ("", f"<details><summary>{many}</summary>")
    for query_id in shown:
        yield from _query(views[query_id], metrics[query_id])
    if rest:
        yield from ("", _left_out(rest, "query", "queries"))
    yield from ("", "</details>")


def _query(view: QueryReport, metrics: Sequence[str]) -> Iterator[str]:
    text = f": {_words(view.text)}" if view.text is not None and view.text != view.query_id else ""
    yield from ("", f"**{_code(view.query_id)}**{text}")
    facts = [
        _code(view.where),
        *(_score(view, metric) for metric in metrics if view.scores.get(metric) is not None),
    ]
    yield from ("", ", ".join([*facts, *([_words(view.status)] if view.status else [])]))
    if view.error is not None:
        yield ""
        yield from _paragraph(view.error)
        return
    yield ""
    yield from _ranking(view)
    absent = digest.missing(view)
    if absent:
        named = [f"{_code(place.doc_id, 80)} ({place.judgment})" for place in absent]
        yield from ("", f"Not returned: {listed(named, 5)}.")


def _score(view: QueryReport, metric: str) -> str:
    now, before = view.scores[metric], view.scores_before.get(metric)
    if not digest.delta(view, metric):
        return f"{_code(metric)} {score_text(now)}"
    return f"{_code(metric)} {score_text(before, now)} → {score_text(now, before)}"


def _ranking(view: QueryReport) -> Iterator[str]:
    ranks = digest.side_by_side(view)
    if not ranks:
        yield "Nothing was returned."
        return
    compared = view.before is not None
    yield "| rank | baseline | now |" if compared else "| rank | now |"
    yield "| --: | :-- | :-- |" if compared else "| --: | :-- |"
    deeper = [rank for rank in ranks[_RANKS:] if any(_matters(place) for place in rank[1:])][:_DEEPER]
    for rank, before, now in [*ranks[:_RANKS], *deeper]:
        yield _row([str(rank), *([_place(before)] if compared else []), _place(now)])
    hidden = len(ranks) - min(len(ranks), _RANKS) - len(deeper)
    if hidden:
        yield from ("", _left_out(hidden, "rank"))


def _matters(place: Place | int | None) -> bool:
    return isinstance(place, digest.Place) and (place.relevant or place.forbidden)


def _place(place: Place | None) -> str:
    if place is None:
        return ""
    judgment = place.judgment if place.judgment != "unjudged" else ""
    facts = [f"**{judgment}**" if place.relevant or place.forbidden else judgment, place.move]
    told = ", ".join(filter(None, facts))
    return f"{_code(place.doc_id, 80)}{f' ({told})' if told else ''}"


def _left_out(count: int, one: str, many: str | None = None) -> str:
    return f"*{plural(count, one, many)} more {'is' if count == 1 else 'are'} left out here, for brevity.*"


def _paragraph(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:_SENTENCES]:
        yield _words(line)
    if len(lines) > _SENTENCES:
        yield _left_out(len(lines) - _SENTENCES, "line")


def _code(text: str, width: int = 200) -> str:
    """Give an id or a path, of a long one the two ends, in which such texts differ."""
    half = width // 2
    return code_markdown(text if len(text) <= width else f"{text[:half]}…{text[-half:]}")


def _words(text: str, width: int = 600) -> str:
    words = escape_markdown(text if len(text) <= width else f"{text[:width]}…")
    # A log reader would obey a line that begins with `::error`, where somebody prints the file.
    return re.sub(r"^(\s*):", r"\1\\:", words)
