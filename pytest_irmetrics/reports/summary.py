"""What a run says at its end: each golden set in a line or a table, then what was stored, written and left undone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import selftest, terminal
from pytest_irmetrics.reports.view import told_apart

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport
    from pytest_irmetrics.reports.terminal import Screen

    Line = tuple[str, Mapping[str, bool]]
    """A line, and what a terminal writer may do with it: ``{"red": True}``."""

_PLAIN: Mapping[str, bool] = {}
_RED = {"red": True}
_GREEN = {"green": True}
_YELLOW = {"yellow": True}

_ONLY_QUERIES = "Only single queries were judged; the gates on means were not (--ir-query)."


@dataclass(frozen=True, slots=True)
class Run:
    """What a run came to, as far as its end tells it."""

    records: Sequence[ItemReport]
    expected: Collection[str] = ()
    """Node ids of the tests whose failure was expected: pytest does not count it as one."""
    told: bool = True
    """Whether pytest printed each failure's own text."""
    problems: Sequence[str] = ()
    """What could not be stored or written."""
    stored: Sequence[str] = ()
    """``path: stored`` or ``path: unchanged`` of each baseline."""
    written: Sequence[str] = ()
    """The reports that were written."""
    stale: Collection[str] = ()
    """Baselines whose test is gone."""
    notes: Sequence[str] = ()
    """What else a reader should know."""


def lines(run: Run, screen: Screen, verbosity: int) -> Iterator[Line]:
    """Yield one line for each golden set, its table with ``-v`` or where a gate failed, and what was stored.

    ``verbosity`` is pytest's: below 0 the golden sets are one line; what was asked for, what a baseline lowers, what gates no more
    and what could not be stored is told all the same.
    """
    if verbosity < 0:
        yield from _quiet(run, screen)
        for record in told_apart(run.records):
            yield from _even_if_quiet(record, screen)
    else:
        for record in told_apart(run.records):
            yield from _record(run, record, screen, verbosity)
    for problem in run.problems:
        yield from _wrapped(f"error: {problem}", screen, _RED)
    if verbosity >= 0:
        for stored in sorted(run.stored):
            yield from _wrapped(f"baseline {stored}", screen, _PLAIN)
        for path in run.written:
            yield from _wrapped(f"report {path}: written", screen, _PLAIN)
    for path in sorted(run.stale):
        text = f"note: the baseline {path} belongs to no test any more; delete it, or bring the test back."
        yield from _wrapped(text, screen, _YELLOW)
    for note in run.notes:
        yield from _wrapped(f"note: {note}", screen, _YELLOW)


def _wrapped(text: str, screen: Screen, markup: Mapping[str, bool], indent: str = "") -> Iterator[Line]:
    for line in screen.wrapped(text, indent, f"{indent}  "):
        yield line, markup


def _failed(record: ItemReport) -> bool:
    return record.outcome not in ("passed", "skipped")


def _quiet(run: Run, screen: Screen) -> Iterator[Line]:
    if not run.records:
        return
    failed = sum(_failed(record) and record.nodeid not in run.expected for record in run.records)
    skipped = sum(record.outcome == "skipped" for record in run.records)
    counts = [f"{count} {word}" for count, word in ((failed, "failed"), (skipped, "skipped")) if count]
    verdict = ", ".join(counts) or "all pass"
    sets = len({record.golden_set for record in run.records})
    counted = plural(sets, "golden set") + (f", {len(run.records)} tests" if sets < len(run.records) else "")
    text = f"retrieval quality: {counted}, {verdict}"
    yield screen.cut(text), _RED if failed else _YELLOW if skipped else _GREEN
    tried = [degradation for record in run.records for degradation in record.selftest or ()]
    if tried:
        caught = sum(bool(degradation.caught_by) for degradation in tried)
        yield screen.cut(f"self-test: caught {caught} of {len(tried)}"), _PLAIN


def _even_if_quiet(record: ItemReport, screen: Screen) -> Iterator[Line]:
    for lowered in record.lowered:
        yield screen.cut(f"{record.golden_set}: lowered: {lowered}"), _YELLOW
    if record.only_queries:
        yield from _wrapped(_ONLY_QUERIES, screen, _PLAIN, "  ")
        yield from _rankings(record, replace(screen, width=screen.width - 2))


def _record(run: Run, record: ItemReport, screen: Screen, verbosity: int) -> Iterator[Line]:
    failed = _failed(record)
    expected = failed and record.nodeid in run.expected
    markup = _RED if failed and not expected else _GREEN
    yield terminal.one_line(record, screen, expected=expected), {**markup, "bold": True}
    inner = replace(screen, width=screen.width - 2)
    if failed or verbosity >= 1:
        yield from _tables(record, inner, everything=verbosity >= 1)
    for hint in record.hints if verbosity >= 1 else ():
        yield from _wrapped(f"hint: {hint}", screen, _PLAIN, "  ")
    if record.only_queries:
        yield from _wrapped(_ONLY_QUERIES, screen, _PLAIN, "  ")
    for gate in record.gates if not failed else ():
        if gate.state == "not checked":
            yield from _wrapped(gate.text, screen, _YELLOW, "  ")
    for note in record.notes if not (failed and run.told) else ():  # a failure's own text has them
        yield from _wrapped(f"note: {note}", screen, _YELLOW, "  ")
    if record.selftest is not None:
        for line in selftest.lines(record, inner, everything=verbosity >= 1):
            yield _indented(line), _YELLOW if line.endswith("MISSED") else _PLAIN
    for lowered in record.lowered:
        yield screen.cut(f"  lowered: {lowered}"), _YELLOW
    if verbosity >= 2 or record.only_queries:
        yield from _rankings(record, inner)


def _rankings(record: ItemReport, screen: Screen) -> Iterator[Line]:
    for line in terminal.details(record, screen):
        yield _indented(line), _PLAIN


def _tables(record: ItemReport, screen: Screen, *, everything: bool) -> Iterator[Line]:
    if record.rows:
        for line in terminal.summary_table(record, screen):
            yield _indented(line), _RED if line.endswith("FAILS") else _PLAIN
    if record.slices:
        yield "", _PLAIN
        for line in terminal.slices_table(record, screen, everything=everything):
            yield _indented(line), _RED if line.endswith("fell") else _PLAIN


def _indented(line: str) -> str:
    return f"  {line}" if line else ""
