"""The controller's half: collects the records of all items, writes baselines and reports, prints what they came to."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.plugin.baselines import baselines_without_file, unused_gating
from pytest_irmetrics.plugin.options import runs_tests
from pytest_irmetrics.plugin.paths import shown_path
from pytest_irmetrics.plugin.session import stream_encoding
from pytest_irmetrics.reports import ItemReport, SessionReport
from pytest_irmetrics.reports.terminal import summary_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_irmetrics.reports.output import Target

_NAMED = 5
"""How many tests a note names."""

_PHASES = ("setup", "call", "teardown")
"""Whatever else a report is of stands in for that of a test whose pytest-xdist worker crashed."""

_OUTCOMES = ("passed", "failed", "skipped")
"""Whatever else a plugin puts there, ``rerun`` or ``retried``, is of an attempt that does not count."""


@dataclass(slots=True)
class _Item:
    """The last attempt at one test item."""

    record: ItemReport | None = None
    sound: bool = True
    """Whether every phase so far passed, and none of them was expected to fail."""
    outcome: str = "passed"
    """pytest's word for the test so far."""
    why: str = ""
    """How it failed, in its own words."""
    crashed: bool = False
    """Whether its pytest-xdist worker crashed while running it."""


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
        if report.when == "setup" or report.outcome not in _OUTCOMES:
            self._items.pop(report.nodeid, None)
        if report.outcome not in _OUTCOMES:
            return
        text = getattr(report, self._attribute, None)
        crashed = report.when not in _PHASES
        if report.nodeid not in self._items:
            if not crashed and not hasattr(report, self._attribute):
                return
            self._items[report.nodeid] = _Item()
        item = self._items[report.nodeid]
        item.crashed = crashed
        if text is not None:
            item.record = ItemReport.loads(text)
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
        if record is None:
            return
        if record.baseline_text is None or record.baseline_file is None or not item.sound:
            item.record = replace(record, lowered=[])  # the old one stays as it is
            return
        from pytest_irmetrics.run.baseline import write_baseline  # noqa: PLC0415 - only an updating run pays for it

        path = self._config.rootpath / record.baseline_file
        shown = self._shown(record.baseline_file)
        try:
            changed = write_baseline(path, record.baseline_text, shown=shown)
        except IRMetricsError as error:
            self._problems.append(str(error))
            item.record = replace(record, lowered=[])
        else:
            self._stored.append(f"{shown}: {'stored' if changed else 'unchanged'}")

    def _shown(self, in_root: str) -> str:
        return shown_path(self._config, self._config.rootpath / in_root)

    def finish(self, session: pytest.Session) -> None:
        """Sweep what a killed run left behind; a baseline that could not be stored is not a success."""
        folders = {
            Path(os.path.normpath(self._config.rootpath / record.baseline_file)).parent
            for record in self._records()
            if record.baseline_file is not None
        }
        if folders:
            from pytest_irmetrics.base.atomic_write import remove_abandoned  # noqa: PLC0415 - only an updating run pays for it

            for folder in sorted(folders):
                remove_abandoned(folder)
        self._require_no_problem(session)
        if self._targets and runs_tests(self._config):
            self._write_reports(session)
            self._require_no_problem(session)

    def _require_no_problem(self, session: pytest.Session) -> None:
        if self._problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_reports(self, session: pytest.Session) -> None:
        from pytest_irmetrics.reports import output  # noqa: PLC0415 - only a run that writes reports pays for it

        report = replace(self._session_report(), exit_status=int(session.exitstatus))
        written, problems = output.write(self._targets, report)
        self._written += written
        self._problems += problems

    def _session_report(self) -> SessionReport:
        """Return what was measured; what only the terminal summary shows is added there."""
        measured = {item.nodeid for item in SessionReport(self._records()).measured}
        return SessionReport(
            items=self._records(),
            outcomes={nodeid: item.outcome for nodeid, item in self._items.items()},
            unmeasured={
                nodeid: item.why
                for nodeid, item in sorted(self._items.items())
                if nodeid not in measured and item.outcome == "failed"
            },
        )

    def _records(self) -> list[ItemReport]:
        return [item.record for _, item in sorted(self._items.items()) if item.record is not None]

    def print_summary(self, reporter: pytest.TerminalReporter, *, interrupted: bool) -> None:
        """Print what the run came to, also one that was `interrupted`."""
        width = self._config.get_terminal_writer().fullwidth
        screen = Screen(max(width, 40), stream_encoding(self._config))
        verbosity = self._config.getoption("verbose", 0)
        lines = list(summary_lines(self._whole_report(interrupted=interrupted), screen, verbosity))
        if not lines:
            return
        if verbosity >= 0:
            reporter.write_sep("=", "retrieval quality")
        for line in lines:
            reporter.write_line(line.text, **line.style.markup)

    def _whole_report(self, *, interrupted: bool) -> SessionReport:
        """Return all that the terminal summary shows."""
        records = self._records()
        return replace(
            self._session_report(),
            failures_printed=self._config.getoption("tbstyle", "auto") not in ("no", "line"),
            problems=self._problems,
            stored=self._stored,
            written=self._written,
            unused_baselines={self._shown(path) for record in records for path in record.stale}
            | self._without_file(),
            notes=[*self._lost(), *self._unused(interrupted=interrupted), *_unbound(records)],
        )

    def _without_file(self) -> set[str]:
        return {shown_path(self._config, path) for path in baselines_without_file(self._config)}

    def _lost(self) -> Iterator[str]:
        """Name the tests whose baseline an updating run did not store because they failed, or their worker crashed."""
        if not self._config.getoption("ir_baseline_update") or self._config.getoption("ir_query"):
            return
        failed = [nodeid for nodeid, item in sorted(self._items.items()) if _unstored(item)]
        if failed:
            yield f"No baseline was stored for {plural(len(failed), 'test')} that failed: {listed(failed, _NAMED)}."
        for nodeid in sorted(nodeid for nodeid, item in self._items.items() if item.crashed):
            yield (
                f"a worker crashed while running {nodeid}; nothing of that test was stored. Mend the crash, and "
                "store its baseline again."
            )

    def _unused(self, *, interrupted: bool) -> list[str]:
        note = None if self._items else unused_gating(self._config, interrupted=interrupted)
        return [] if note is None else [note]


def _unstored(item: _Item) -> bool:
    """Whether a test failed that would have stored a baseline; a crash is told apart."""
    record = item.record
    if record is None or item.outcome != "failed" or item.crashed:
        return False
    return bool(record.gates) or record.outcome != "passed"


def _unbound(records: Iterable[ItemReport]) -> Iterator[str]:
    """Name what the setting ir_thresholds says of a tag that no golden set of the run has: a typo gates nothing."""
    told = [set(record.unbound) for record in records if record.gates or record.rows]
    for limit in sorted(set.intersection(*told)) if told else ():
        yield f"the setting ir_thresholds has a limit on {limit}, and no golden set of this run has that tag."


def _outcome(before: str, report: pytest.TestReport) -> str:
    """Combine what a test's phases so far came to with the next one's report; a failure stays one."""
    if before == "failed" or report.failed:
        return "failed"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return str(report.outcome) if before == "passed" else before


def _why(report: pytest.TestReport) -> str:
    """Say how a test failed: a failure's own message, or of anything else the last line of its traceback."""
    text = report.longreprtext
    if getattr(report, "node", None) is not None:  # from pytest-xdist: the first line names the worker
        text = text.partition("\n")[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    said = text if crash is None else str(crash.message).removeprefix("Failed: ")
    return (
        text if text.startswith(said) else said
    )  # of a failure without a traceback the crash may have one line
