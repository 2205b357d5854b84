"""Collect the ItemReports of all tests, store baselines, write report files, and print the summary.

This runs in one process: the only one, or the controller of pytest-xdist's workers.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.escape import to_stream
from pytest_irmetrics.base.files import nearest_repository, relative_path
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.plugin.baselines import unused_baselines
from pytest_irmetrics.plugin.config import REPORT_ATTRIBUTE, run_config, runs_tests
from pytest_irmetrics.reports.item_report import OWN_BASELINE, ItemReport
from pytest_irmetrics.reports.session_report import HIDDEN, RunInfo, SessionReport
from pytest_irmetrics.reports.terminal import summary_lines
from pytest_irmetrics.run.baseline import baseline_path

if TYPE_CHECKING:
    from pytest_irmetrics.reports.output import Target

_PHASES = ("setup", "call", "teardown")
"""A test report of any other phase stands in for a test whose pytest-xdist worker crashed."""

_OUTCOMES = ("passed", "failed", "skipped")
"""Any other outcome, a plugin's ``rerun`` or ``retried``, is of an attempt that does not count."""

_GONE = "a branch takes no baseline away where `ir_accept = fail`, and this one does: see the note. Bring each back with its test, or add `-o ir_accept=warn` to this command."
"""What the session fails with where `ir_accept = fail` and baselines are gone."""

_WITHOUT_END = "no result of {}: its worker crashed, or `pytest.exit` was called. Run it again."
"""What a session fails with that would pass else, where a test began and did not end."""

_CI_COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "BITBUCKET_COMMIT", "CIRCLE_SHA1")
"""Environment variables in which CI systems have the commit that is checked out."""

_INI_FILES = ("*pytest.toml", "*pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
"""Where pytest looks for settings, of which it reads one file a run."""


@dataclass(eq=False, repr=False)
class _Attempt:
    """The last attempt at one test item."""

    baseline: Path
    """The path of its baseline, whether or not there is one."""
    item_report: ItemReport | None = None
    outcome: str = "passed"
    """`passed`, `failed`, `skipped`, `xfailed` or `xpassed`, as pytest counts the phases so far."""
    failure: str = ""
    """The message that it failed with."""


class Recorder:
    """Collects the test reports of all items, from however many workers, and reports on the session: a plugin of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        """Begin a session. Raises pytest.UsageError for a report that cannot be written."""
        self._config = config
        self._settings = run_config(config)
        self._targets = _report_targets(config, self._settings.reports) if self._settings.reports else []
        self._started = time.time()
        self._attempts: dict[str, _Attempt] = {}
        self._without_end: set[str] = set()
        """The tests that began, crashed or are to run again, and have not come to an end."""
        self._stored: list[str] = []
        self._problems: list[str] = []
        self._is_complete = True
        """Whether the run came to its end, with no test left `_without_end`."""
        self._report = SessionReport()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the test report of one phase, and after the last store the baseline; a new attempt at an item replaces the one before."""
        crashed, runs_again = report.when not in _PHASES, report.outcome not in _OUTCOMES
        begins = report.when == "setup" and report.passed and hasattr(report, REPORT_ATTRIBUTE)
        if report.when == "setup" or runs_again:
            self._attempts.pop(report.nodeid, None)
        unfinished = begins or runs_again or crashed
        (self._without_end.add if unfinished else self._without_end.discard)(report.nodeid)
        if begins or runs_again:
            return
        # The baseline's name is not from the node id, to which pytest-xdist's loadgroup adds a group, nor its folder from the
        # location, which is where a test is written that a class inherits, or a module imports.
        file, _, name = report.location
        path, text = getattr(report, REPORT_ATTRIBUTE, (self._config.rootpath / file, None))
        if report.nodeid not in self._attempts:
            if not crashed and not hasattr(report, REPORT_ATTRIBUTE):
                return
            path = Path(os.path.normpath(path))
            self._attempts[report.nodeid] = _Attempt(baseline_path(path, name, self._settings.baseline_dir))
        attempt = self._attempts[report.nodeid]
        if text is not None:
            attempt.item_report = ItemReport.loads(text)
        attempt.outcome = _outcome(attempt.outcome, report)
        if report.failed:
            attempt.failure = attempt.failure or _failure_message(report)
        if report.when == "teardown":
            self._store(attempt)

    def _store(self, attempt: _Attempt) -> None:
        """Write an attempt's baseline as soon as it has run, so that a run that is killed keeps it."""
        found = attempt.item_report
        if found is None or found.baseline_text is None or attempt.outcome != "passed":
            return  # the baseline that is there stays
        from pytest_irmetrics.base.atomic_write import lock_file, write_whole  # noqa: PLC0415 - only an updating run writes one

        path, data, read = attempt.baseline, found.baseline_text.encode("utf-8"), found.baseline_digest
        shown, again = self._settings.shown(path), "store the baseline again"
        try:
            with lock_file(path):  # what another run has stored since it was read is not written over
                changed = write_whole(path, data, again=again, shown=shown, digest_when_read=read)
        except IRMetricsError as error:
            self._problems.append(str(error))
        else:
            self._stored.append(f"{shown}: {'stored' if changed else 'unchanged'}")

    def pytest_keyboard_interrupt(self) -> None:
        """Note that Ctrl-C or `pytest.exit` cut the run short, which may give any exit status."""
        self._is_complete = False

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report files, and fail the session for what cannot be stored or written."""
        # What sets `shouldstop` interrupts it, and files that cannot be collected do, too.
        status = pytest.ExitCode
        cut_short = session.exitstatus in (status.INTERRUPTED, status.INTERNAL_ERROR, status.USAGE_ERROR)
        self._is_complete = self._is_complete and not (session.shouldfail or cut_short or self._without_end)
        if self._without_end and session.exitstatus == status.OK:
            self._problems.append(_WITHOUT_END.format(listed(sorted(self._without_end), 5)))
        gone = self._gone_since(session)
        if gone and self._settings.refuses:
            self._problems.append(_GONE)
        self._fail_for_problems(session)
        self._report = self._session_report(int(session.exitstatus), gone)
        if self._targets and runs_tests(self._config):
            from pytest_irmetrics.reports import output  # noqa: PLC0415 - only a run that writes reports pays for it

            written, problems = output.write(self._targets, self._report)
            self._problems += problems
            self._report = self._report._replace(written=written, problems=self._problems)
            self._fail_for_problems(session)

    def _fail_for_problems(self, session: pytest.Session) -> None:
        if self._problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _session_report(self, exit_status: int, gone: Sequence[str]) -> SessionReport:
        """Return what was measured and stored, once all tests have run."""
        config = self._config
        last = sorted(self._attempts.items())
        if self._targets:
            self._add_baseline_versions()
        items = [attempt.item_report for _, attempt in last if attempt.item_report is not None]
        unmeasured = {i: one.failure for i, one in last if one.outcome == "failed" and not one.item_report}
        tells_of_run = self._targets or os.environ.get("GITHUB_ACTIONS") == "true"
        return SessionReport(
            items=items,
            exit_status=exit_status,
            outcomes={nodeid: attempt.outcome for nodeid, attempt in last},
            unmeasured=unmeasured,
            unused_baselines=self._unused_baselines(),
            gone_since=gone,
            baselines_passed_over=self._passed_over(),
            info=self._run_info() if tells_of_run else None,
            failures_printed=config.getoption("tbstyle", "auto") != "no",
            problems=self._problems,
            stored=self._stored,
            notes=[*self._notes(items)],
        )

    def _add_baseline_versions(self) -> None:
        """Add to the reports of tests which commit stored the baseline that each was compared with, and when, where Git knows."""
        from pytest_irmetrics.base.git import GitError, Repository, day_of  # noqa: PLC0415 - only reports have a commit

        with suppress(GitError):
            repository = Repository(self._config.rootpath)
            for attempt in self._attempts.values():
                report = attempt.item_report
                if report is not None and report.against == OWN_BASELINE:
                    with suppress(GitError, OSError):
                        stored = repository.committed_in(attempt.baseline)
                        report.baseline_version = stored and f"{stored.commit[:9]} of {day_of(stored.time)}"

    def _run_info(self) -> RunInfo:
        """Return when the session ran, and on what."""
        folder = self._config.invocation_params.dir
        top = nearest_repository(folder)
        return RunInfo(
            started=datetime.fromtimestamp(self._started).astimezone().isoformat(timespec="seconds"),
            seconds=time.time() - self._started,
            commit=self._commit(),
            versions={
                "python": platform.python_version(),
                "pytest": pytest.__version__,
                # There is no distribution where the package is on PYTHONPATH alone.
                "pytest-irmetrics": next((it.version for it in distributions(name="pytest-irmetrics")), "?"),
            },
            folder="" if top in (None, folder) else relative_path(folder, top),
        )

    def _commit(self) -> str:
        """Return the commit that is checked out: what CI says, where Git itself may be missing, else what Git does. Empty if unknown."""
        from pytest_irmetrics.base.git import GitError, Repository  # noqa: PLC0415 - only reports and annotations have a commit

        by_ci = next(filter(None, map(os.environ.get, _CI_COMMITS)), "")
        with suppress(GitError):
            return by_ci or Repository(self._config.rootpath).commit("HEAD")
        return ""

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary, and in GitHub Actions what fails, and what passes and should be looked at, as commands."""
        screen = self._settings.screen
        verbosity = self._config.getoption("verbose")
        lines = list(summary_lines(self._report, screen, verbosity))
        if lines and verbosity >= 0:
            terminalreporter.write_sep("=", "retrieval quality")
        for line in lines:
            terminalreporter.write_line(line.text, **dict.fromkeys(line.style.split(), True))
        if os.environ.get("GITHUB_ACTIONS") == "true":
            from pytest_irmetrics.reports.annotations import github_errors, github_warnings  # noqa: PLC0415 - only there

            root = relative_path(self._config.rootpath, self._config.invocation_params.dir)
            for command in (*github_errors(self._report, root), *github_warnings(self._report)):
                terminalreporter.write_line(to_stream(command, screen.encoding))

    def _gone_since(self, session: pytest.Session) -> Sequence[str]:
        """Return the baselines that are gone since the commit of ``--ir-since``, or whose tests are, but for those of tests that were renamed."""
        if not self._settings.since or self._settings.only_queries:
            return ()
        from pytest_irmetrics.plugin.committed import baselines_gone_since  # noqa: PLC0415 - only with --ir-since

        reports = (attempt.item_report for attempt in self._attempts.values())
        renamed = {one.since.renamed_from for one in reports if one is not None and one.since is not None}
        return baselines_gone_since(session, renamed, {one.baseline for one in self._attempts.values()})

    def _unused_baselines(self) -> list[str]:
        """Return the stored baselines that no test read, of a run that gates or stores and was not cut short, sorted."""
        settings = self._settings
        if not (self._is_complete and settings.reads_baselines):
            return []
        # What was skipped, or failed as expected, read its baseline only if it was compared.
        tests = [(one, one.item_report) for one in self._attempts.values()]
        read = {one.baseline for one, item in tests if one.outcome not in HIDDEN or (item and item.against)}
        unread = [one.baseline for one, _ in tests if one.baseline not in read and one.baseline.exists()]
        # Of tests that ran it is known where options leave others out, too; --ir-query and --ir-selftest skip tests of their own.
        known = [] if settings.only_queries or settings.selftest else unread
        unused = {*map(settings.shown, (*unused_baselines(self._config, read), *known))}
        # A failure about baselines without an item has named them.
        return sorted(path for path in unused if all(path not in one.failure for one, _ in tests))

    def _notes(self, items: Iterable[ItemReport]) -> Iterator[str]:
        """Yield what is to be said of the whole run."""
        if self._is_complete and not self._attempts and runs_tests(self._config):
            options = ("ir_baseline_update", "ir_selftest", "ir_since", "ir_baseline")
            if given := next(filter(self._config.getoption, options), None):
                yield f"--{given.replace('_', '-')} was given, and no test of this run used irmetrics."
        left = sum(attempt.outcome not in ("passed", "skipped") for attempt in self._attempts.values())
        if self._settings.update and left:
            yield f"{plural(left, 'baseline')} not stored: a test that does not pass leaves what is stored as it is."
        read, above = self._config.inipath, {self._config.rootpath, *self._config.rootpath.parents}
        paths = {path for one in self._attempts.values() for path in one.baseline.parents} - above
        beside = (file for path in paths for name in _INI_FILES for file in path.glob(name))
        files = (file for file in beside if file.is_file() and os.access(file, os.R_OK))
        if unread := [file for file in files if b"\nir_" in file.read_bytes()]:
            yield f"pytest reads the settings of one file a run, here {self._settings.shown(read) if read else 'of none'}, and not those in {listed(sorted(map(self._settings.shown, unread)))}. Run the tests of each folder by themselves."
        # A limit of ir_thresholds whose tag no golden set of the run has may be misspelt.
        unbound = [set(one.unbound) for one in items if one.gates or one.rows]
        for limit in sorted(set.intersection(*unbound)) if unbound else ():
            yield f"the setting ir_thresholds has a limit on {limit}, and no golden set of this run has that tag."

    def _passed_over(self) -> int:
        """Return how many of the tests that ran have a stored baseline, in a run that neither gates on any nor is told not to."""
        settings = self._settings
        # Typed for this run: an option in addopts would silence all of them.
        declined = "--no-ir-baseline" in self._config.invocation_params.args
        if declined or settings.reads_baselines or settings.only_queries:
            return 0
        ran = [(one.baseline, one.item_report) for one in self._attempts.values() if one.outcome != "skipped"]
        return sum(path.exists() for path, report in ran if report and report.against is None)


def _report_targets(config: pytest.Config, paths: Sequence[str]) -> list[Target]:
    """Return the report files to write. Raises pytest.UsageError."""
    from pytest_irmetrics.reports import output  # noqa: PLC0415 - only a run that writes reports pays for it

    try:
        return output.parse(paths, config.invocation_params.dir)
    except output.ReportPathError as error:
        raise pytest.UsageError(str(error)) from None


def _outcome(before: str, report: pytest.TestReport) -> str:
    """Combine the outcome of a test's phases so far with the next one's report; a failure stays one.

    A body's own report comes after those of its subtests: that one was skipped, or failed as expected, is not the test's outcome.
    """
    if before == "failed" or report.failed:
        return "failed"
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    return str(report.outcome) if before == "passed" or report.when == "call" else before


def _failure_message(report: pytest.TestReport) -> str:
    """Return the message of a test's failure, or the last line of the traceback of any other exception."""
    text = report.longreprtext
    if getattr(report, "node", None) is not None:  # from pytest-xdist: the first line names the worker
        text = text.partition("\n")[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    message = text if crash is None else str(crash.message).removeprefix("Failed: ")
    # Of a failure without a traceback the crash may have the first line alone.
    return text if text.startswith(message) else message
