"""The controller's half: collects the records of all items, writes baselines, prints the summary."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.baseline import BaselineError, write_baseline
from pytest_irmetrics.record import Record
from pytest_irmetrics.reports import files, selftest, terminal
from pytest_irmetrics.reports.digest import Command, Unmeasured
from pytest_irmetrics.reports.terminal import Screen
from pytest_irmetrics.reports.text import plural
from pytest_irmetrics.writing import sweep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.files import Target


@dataclass(slots=True)
class _Item:
    """The last attempt at one test item."""

    record: Record | None = None
    sound: bool = True
    """Whether every phase so far passed, and none of them was expected to fail."""
    outcome: str = "passed"
    """pytest's word for the test so far."""
    why: str = ""
    """How it failed, in its own words."""
    reports: list[str] = field(default_factory=list)


class Recorder:
    """What the reports of all items, from however many workers, come to."""

    def __init__(self, config: pytest.Config, attribute: str, targets: Sequence[Target] = ()) -> None:
        """`attribute` is a test report's, under which an item's record travels; `targets` are the reports to write."""
        self._config = config
        self._attribute = attribute
        self._targets = targets
        self._items: dict[str, _Item] = {}
        self._stored: list[str] = []
        self._written: list[str] = []
        self._problems: list[str] = []

    def add(self, report: pytest.TestReport) -> None:
        """Take one phase's report; a new attempt at an item replaces what the last one said."""
        if report.when == "setup":
            self._items.pop(report.nodeid, None)
        text = getattr(report, self._attribute, None)
        if report.nodeid not in self._items:
            if not hasattr(report, self._attribute):
                return
            self._items[report.nodeid] = _Item()
        item = self._items[report.nodeid]
        if text is not None:
            item.record = Record.loads(text)
        item.sound = item.sound and report.outcome == "passed" and not hasattr(report, "wasxfail")
        item.outcome = _outcome(item.outcome, report)
        if report.failed:
            item.why = item.why or _why(report)
        if report.skipped and item.record is not None and item.record.outcome == "not evaluated":
            item.record = replace(item.record, outcome="skipped")
        if report.when == "teardown" and item.record is not None:
            self._store(item)

    def _store(self, item: _Item) -> None:
        """Write an item's baseline as soon as the item is through, so that a run that is killed keeps it."""
        record = item.record
        if record is None or record.baseline_text is None or record.baseline_file is None or not item.sound:
            return
        path = Path(os.path.relpath(self._config.rootpath / record.baseline_file))
        try:
            changed = write_baseline(path, record.baseline_text)
        except BaselineError as error:
            self._problems.append(str(error))
        else:
            self._stored.append(f"{record.baseline_file}: {'stored' if changed else 'unchanged'}")

    def finish(self, session: pytest.Session) -> None:
        """Sweep what a killed run left behind; a baseline that could not be stored is not a success."""
        folders = {
            Path(os.path.normpath(self._config.rootpath / record.baseline_file)).parent
            for record in self._records()
            if record.baseline_file is not None
        }
        for folder in sorted(folders):
            sweep(folder)
        self._require_no_problem(session)
        if self._targets and not self._config.option.collectonly:
            self._write_reports(session)
            self._require_no_problem(session)

    def _require_no_problem(self, session: pytest.Session) -> None:
        if self._problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_reports(self, session: pytest.Session) -> None:
        records = [record for record in self._records() if record.outcome not in ("not evaluated", "skipped")]
        measured = {record.nodeid for record in records}
        command = Command(
            exit_status=int(session.exitstatus),
            outcomes={nodeid: item.outcome for nodeid, item in self._items.items() if nodeid in measured},
            unmeasured=tuple(
                Unmeasured(nodeid, item.why)
                for nodeid, item in sorted(self._items.items())
                if nodeid not in measured and item.outcome == "failed"
            ),
        )
        targets = self._targets
        written, problems = files.write(targets, records, command)
        self._written += written
        self._problems += problems

    def _records(self) -> list[Record]:
        return [item.record for _, item in sorted(self._items.items()) if item.record is not None]

    def print_summary(self, reporter: pytest.TerminalReporter) -> None:
        """Print one line for each golden set, its table with ``-v`` or where a gate failed, and what was stored."""
        records = self._records()
        screen = Screen(max(reporter._tw.fullwidth, 40), getattr(reporter._tw._file, "encoding", None))  # noqa: SLF001 - no public way to its width and stream
        verbosity = self._config.getoption("verbose", 0)
        lines = list(self._summary(records, screen, verbosity))
        if not lines:
            return
        if verbosity >= 0:
            reporter.section("retrieval quality", sep="=")
        for text, markup in lines:
            reporter.write_line(text, **markup)

    def _summary(
        self, records: list[Record], screen: Screen, verbosity: int
    ) -> Iterator[tuple[str, dict[str, bool]]]:
        if verbosity < 0:
            yield from self._quiet(records, screen)
        else:
            for record in records:
                yield from self._record_lines(record, screen, verbosity)
        for problem in self._problems:
            for line in screen.wrapped(f"error: {problem}", hanging="  "):
                yield line, {"red": True}
        if verbosity >= 0:
            for stored in sorted(self._stored):
                yield screen.cut(f"baseline {stored}"), {}
            for path in self._written:
                yield screen.cut(f"report {path}: written"), {}
            yield from self._stale_lines(records, screen)
            yield from self._unused_options(records, screen)

    def _quiet(self, records: list[Record], screen: Screen) -> Iterator[tuple[str, dict[str, bool]]]:
        if records:
            failed = sum(self._fails(record) for record in records)
            text = (
                f"retrieval quality: {plural(len(records), 'golden set')}, {failed} failed"
                if failed
                else (f"retrieval quality: {plural(len(records), 'golden set')}, all pass")
            )
            yield screen.cut(text), {"red": True} if failed else {"green": True}
            tried = [degradation for record in records for degradation in record.selftest or ()]
            if tried:
                caught = sum(bool(degradation.caught_by) for degradation in tried)
                yield screen.cut(f"self-test: caught {caught} of {len(tried)}"), {}

    def _record_lines(
        self, record: Record, screen: Screen, verbosity: int
    ) -> Iterator[tuple[str, dict[str, bool]]]:
        inner = replace(screen, width=screen.width - 2)
        failed = record.outcome not in ("passed", "skipped")
        expected = failed and not self._fails(record)
        markup = {"red": True} if failed and not expected else {"green": True}
        yield terminal.one_line(record, screen, expected=expected), {**markup, "bold": True}
        if (failed or verbosity >= 1) and record.rows:
            for line in terminal.summary_table(record, inner):
                yield f"  {line}", {"red": True} if line.endswith("FAILS") else {}
        if (failed or verbosity >= 1) and record.slices:
            yield "", {}
            for line in terminal.slices_table(record, inner):
                yield f"  {line}", {"red": True} if line.endswith("fell") else {}
        for hint in record.hints if verbosity >= 1 else ():
            for line in screen.wrapped(f"hint: {hint}", "  ", "    "):
                yield line, {}
        if record.only_queries:
            yield (
                screen.cut("  Only single queries were judged; the gates on means were not (--ir-query)."),
                {},
            )
        for gate in record.gates if not failed else ():
            if gate.state == "not checked":
                for line in screen.wrapped(gate.text, "  ", "    "):
                    yield line, {"yellow": True}
        told = failed and self._config.getoption("tbstyle", "auto") not in ("no", "line")
        for note in record.notes if not told else ():  # a failure's own text has them
            for line in screen.wrapped(f"note: {note}", "  ", "    "):
                yield line, {"yellow": True}
        if record.selftest is not None:
            for line in selftest.lines(record, inner, everything=verbosity >= 1):
                yield f"  {line}" if line else "", {"yellow": True} if line.endswith("MISSED") else {}
        for lowered in record.lowered:
            yield screen.cut(f"  lowered: {lowered}"), {"yellow": True}
        if verbosity >= 2 or record.only_queries:
            for line in terminal.details(record, inner):
                yield f"  {line}" if line else "", {}

    def _fails(self, record: Record) -> bool:
        """Tell whether a record's failure is one for pytest too: not in a test that is expected to fail."""
        return record.outcome not in ("passed", "skipped") and self._items[record.nodeid].outcome != "xfailed"

    def _stale_lines(self, records: list[Record], screen: Screen) -> Iterator[tuple[str, dict[str, bool]]]:
        for path in sorted({path for record in records for path in record.stale}):
            for line in screen.wrapped(
                f"note: the baseline {path} belongs to no test any more; delete it, or bring the test back.",
                hanging="  ",
            ):
                yield line, {"yellow": True}

    def _unused_options(self, records: list[Record], screen: Screen) -> Iterator[tuple[str, dict[str, bool]]]:
        asked = [
            option
            for option, name in (
                ("--ir-baseline", "ir_baseline"),
                ("--ir-baseline-update", "ir_baseline_update"),
                ("--ir-selftest", "ir_selftest"),
            )
            if self._config.getoption(name)
        ]
        if asked and not records:
            yield (
                screen.cut(f"note: {asked[0]} was given, and no test of this run used irmetrics."),
                {"yellow": True},
            )


def _outcome(before: str, report: pytest.TestReport) -> str:
    """Combine what a test's phases so far came to with the next one's report; a failure stays one."""
    if before == "failed" or report.failed:
        return "failed"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return str(report.outcome) if before == "passed" else before


def _why(report: pytest.TestReport) -> str:
    """Say how a test failed: a failure's own message, or of anything else the last line of its traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return report.longreprtext if crash is None else str(crash.message).removeprefix("Failed: ")
