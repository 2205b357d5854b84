"""The pytest plugin: its options, settings, marks, hooks and the fixture `irmetrics`.

pytest imports this module in every run, also in those that have nothing to do with retrieval, so it imports
nothing but pytest; all else is imported when a test uses the fixture.

PYTEST_DONT_REWRITE: pytest does not warn a second run in one process that this is imported already.
"""

from __future__ import annotations

import sys
import time
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from importlib.machinery import ModuleSpec
    from typing import NoReturn

    from pytest_irmetrics.plugin.fixture import IRMetrics
    from pytest_irmetrics.plugin.recorder import Recorder
    from pytest_irmetrics.plugin.session import GatingSession
    from pytest_irmetrics.reports.output import Target

_irmetrics_key = pytest.StashKey["IRMetrics"]()
"""The fixture of an item, until its body has run."""

_finished_key = pytest.StashKey["IRMetrics"]()
"""The fixture of an item whose body has run."""

_problem_key = pytest.StashKey[str]()
"""What an item fails with instead of being called: its marks mean nothing."""

_session_key = pytest.StashKey["GatingSession"]()

_targets_key: pytest.StashKey[list[Target]] = pytest.StashKey()
"""The report files that the controller writes."""

REPORT_ATTRIBUTE = "irmetrics_record"
"""The attribute of a test report that carries the ItemReport of its item, as one JSON string."""


class _PlainFinder:
    """Import this package's modules as Python does, from byte code where there is any.

    pytest compiles every module of a plugin's distribution itself, to rewrite its asserts, and does not use the byte
    code of the installed package. No test reads our asserts, and PYTEST_DONT_REWRITE in a docstring spares the
    rewriting, not the compiling: a gating run would take twice as long where pytest cannot keep what it compiled.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path) if name.startswith("pytest_irmetrics.") else None


sys.meta_path.insert(0, _PlainFinder)  # before pytest's own, which it installed before it loads plugins


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("irmetrics", "retrieval quality (pytest-irmetrics)")
    group.addoption(
        "--ir-baseline",
        action="store_true",
        default=None,
        help="Fail on regression from the stored baseline, and where a test has none.",
    )
    group.addoption(
        "--no-ir-baseline",
        action="store_false",
        dest="ir_baseline",
        help="Do not look at the stored baseline, whatever the setting ir_baseline says.",
    )
    group.addoption(
        "--ir-baseline-update",
        action="store_true",
        default=False,
        help="Store this run as the baseline of each test that passes; drops are printed, not gated. With --ir-query: "
        "replace the answers of these queries alone.",
    )
    group.addoption(
        "--ir-since",
        default=None,
        metavar="REF",
        help="Gate on the stored baselines, and say what this branch accepts in them since it left REF: origin/main.",
    )
    group.addoption(
        "--ir-report",
        action="append",
        default=[],
        metavar="PATH",
        help="Write a report: .html, .json or .md, or with a prefix html:, json:, md:. Repeatable.",
    )
    group.addoption(
        "--ir-query",
        action="append",
        default=[],
        metavar="ID",
        help="Ask only this query and show its ranking and judgments in full. Repeatable.",
    )
    group.addoption(
        "--ir-repeat",
        default=None,
        metavar="N",
        help="Ask every query N times, 1 to 10,000, and gate on the averages.",
    )
    group.addoption(
        "--ir-selftest",
        action="store_true",
        default=False,
        help="Ask nothing: degrade the stored baseline in many ways and tell which of them the thresholds would catch.",
    )
    parser.addini(
        "ir_metrics",
        "The metrics to report, besides those that have a threshold (mrr map ndcg@3 ndcg@10 precision@10 recall@10).",
        "linelist",
    )
    parser.addini(
        "ir_thresholds",
        "Thresholds of every test that gates, a line each: `METRIC [MIN] word=value …`, the mark's words (none).",
        "linelist",
    )
    parser.addini(
        "ir_baseline",
        "Whether every run gates on regression from the stored baseline: `true` or `false` (false).",
        default="false",
    )
    parser.addini(
        "ir_baseline_dir",
        "The folder of the baselines, below that of each test file (ir_baselines).",
        default="ir_baselines",
    )
    parser.addini(
        "ir_max_drop",
        "How far a mean may fall from the baseline where no threshold says so: from 0 to 1, per cent of it, or `off` (0.01).",
        default="0.01",
    )
    parser.addini(
        "ir_since", "The branch, tag or commit of --ir-since where that is not given (none).", default=""
    )
    parser.addini(
        "ir_accept",
        "What a fall does that this branch has stored in its baseline: `warn` or `fail` (warn).",
        default="warn",
    )
    parser.addini("ir_depth", "How many results a retriever is asked for, 1 or more (10).", default="10")
    parser.addini(
        "ir_duplicates",
        "What a repeated id in a ranking does: `error`, or `collapse` to the first (error).",
        default="error",
    )
    parser.addini("ir_concurrency", "How many queries are in flight at once, 1 or more (1).", default="1")
    parser.addini("ir_timeout", "How many seconds a query may take, above 0 (no limit).", default="")
    parser.addini("ir_repeat", "How many times every query is asked, 1 to 10,000 (1).", default="1")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_irmetrics.plugin import hookspecs  # noqa: PLC0415 - nothing else needs it

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ir_golden(*paths, depth=None, duplicates=None): the golden query sets of a test, as globs relative to "
        "its file; one test item each.",
    )
    config.addinivalue_line(
        "markers",
        "ir_threshold(metric, min=None, *, max=None, max_drop=None, min_each=None, max_lost=None, "
        "significance=None, tag=None, min_gain=None): what fails the test; repeatable.",
    )
    if config.getoption("ir_baseline") and config.getoption("ir_baseline_update"):
        raise pytest.UsageError(
            "--ir-baseline and --ir-baseline-update were both given, on the command line or in addopts: one gates on the "
            "stored baselines, the other replaces them. Give one. To gate in every run, write `ir_baseline = true` in "
            "place of addopts; --ir-baseline-update goes before that."
        )
    _gate_since(config)
    if not hasattr(config, "workerinput"):
        if config.getoption("ir_report"):
            _read_report_paths(config)
        config.pluginmanager.register(_Controller(config), "irmetrics-controller")


def _gate_since(config: pytest.Config) -> None:
    """Let --ir-since imply --ir-baseline; the setting ir_since does where the settings are read."""
    ref = config.getoption("ir_since")
    if ref is None:
        return
    if not ref.strip():
        raise pytest.UsageError(
            "--ir-since is empty, and would compare with nothing. Name the branch that this one left: --ir-since=origin/main."
        )
    if config.getoption("ir_baseline") is False:
        raise pytest.UsageError(
            "--ir-since gates on the stored baselines, and --no-ir-baseline turns that off. Give one of them."
        )
    others = ("ir_baseline_update", "ir_selftest")
    if config.getoption("ir_baseline") is None and not any(map(config.getoption, others)):
        config.option.ir_baseline = True


def _may_use_baselines(config: pytest.Config) -> bool:
    """Whether options, or the settings ir_baseline and ir_since, make a run compare with stored baselines, or store them."""
    if any(config.getoption(name) for name in ("ir_baseline", "ir_baseline_update", "ir_selftest")):
        return True
    if config.getoption("ir_baseline") is not None:
        return False
    return _text_of_setting(config, "ir_baseline") != "false" or _text_of_setting(config, "ir_since") != ""


def _text_of_setting(config: pytest.Config, name: str) -> str | None:
    """Return a setting; None where it is no text, in a native TOML table, which is read when a test gates."""
    try:
        text: str = config.getini(name)
    except (TypeError, pytest.UsageError):
        return None
    return text


def _read_report_paths(config: pytest.Config) -> None:
    """Refuse a report that cannot be written before the first test runs, not after the last."""
    from pytest_irmetrics.reports import output  # noqa: PLC0415 - only a run that writes reports pays for it

    try:
        config.stash[_targets_key] = output.parse(config.getoption("ir_report"), config.invocation_params.dir)
    except output.ReportPathError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_unconfigure(config: pytest.Config) -> None:
    session = config.stash.get(_session_key, None)
    if session is not None:
        session.close()


def _session(config: pytest.Config) -> GatingSession:
    session = config.stash.get(_session_key, None)
    if session is None:
        from pytest_irmetrics.plugin.session import GatingSession  # noqa: PLC0415 - only a run that gates pays for it

        session = config.stash[_session_key] = GatingSession(config)
    return session


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "irmetrics" in metafunc.fixturenames:
        _session(metafunc.config).parametrize(metafunc)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, object, object]:
    # A wrapper sees what was collected before a conftest.py or another plugin deselects any of it.
    # A mark can also stand on a test that does not request the fixture, and must not be silent there.
    nodes = {item.parent for item in items if item.parent is not None}
    on_parents = any(_may_be_ours(mark) for node in nodes for mark in node.iter_markers())
    marked = on_parents or any(_may_be_ours(mark) for item in items for mark in item.own_markers)
    if marked or (_may_use_baselines(config) and any(map(_uses_irmetrics, items))):
        for item, problem in _session(config).find_problems(items):
            item.stash[_problem_key] = problem
    return (yield)


def _may_be_ours(mark: pytest.Mark) -> bool:
    return mark.name[:2].lower() == "ir"  # also without the underscore: irthreshold


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    # What is raised without a line of the test, say by a warning, did not come from here.
    __tracebackhide__ = True
    problem = item.stash.get(_problem_key, None)
    if problem is not None:
        _fail_unasked(problem)
    try:
        result = yield
    except pytest.skip.Exception as skipped:
        irmetrics = _finish(item)
        if irmetrics is not None:
            irmetrics.require_async_plugin(skipped)
        raise
    except BaseException:
        _finish(item)
        raise
    irmetrics = _finish(item)
    if irmetrics is not None:
        irmetrics.require_checked()
    return result


def _fail_unasked(problem: str) -> NoReturn:
    # No frame of a test is on the stack: were this one hidden too, pytest would say under the message that all are.
    raise pytest.fail.Exception(problem, pytrace=False)


def _finish(item: pytest.Item) -> IRMetrics | None:
    """Return the fixture of a test whose body has run; the body itself may have requested it."""
    irmetrics = item.stash.get(_irmetrics_key, None)
    if irmetrics is not None:
        del item.stash[_irmetrics_key]
        item.stash[_finished_key] = irmetrics
    return irmetrics


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    key = _irmetrics_key if call.when == "setup" else _finished_key
    irmetrics = item.stash.get(key, None)
    if irmetrics is not None and (call.when == "call" or (call.when == "setup" and report.failed)):
        setattr(report, REPORT_ATTRIBUTE, irmetrics.send_report())
    elif report.failed and call.when != "teardown" and _uses_irmetrics(item):
        # What failed before it, say the retriever, is not passed over; nor is a subtest, whose report comes first.
        setattr(report, REPORT_ATTRIBUTE, None)
    if call.excinfo is not None and hasattr(report, REPORT_ATTRIBUTE):
        from pytest_irmetrics.plugin.failure import shorten_repeated_message  # noqa: PLC0415 - only a failure pays for it

        shorten_repeated_message(item, report, call.excinfo.value)
    if irmetrics is not None and (call.when == "teardown" or (call.when == "setup" and report.failed)):
        del item.stash[key]  # a rerun makes its own
    return report


def _uses_irmetrics(item: pytest.Item) -> bool:
    return _irmetrics_key in item.stash or "irmetrics" in getattr(item, "fixturenames", ())


class _Controller:
    """The hooks of the controlling process; they load the recorder once there is something to record."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._recorder: Recorder | None = None
        self._started = time.time()
        self._collected_all = True

    def _recorder_if_asked(self) -> Recorder | None:
        asked = self._config.getoption("ir_report") or self._config.getoption("ir_query")
        if self._recorder is None and (asked or _may_use_baselines(self._config)):
            self._load_recorder()
        return self._recorder

    def _load_recorder(self) -> Recorder:
        if self._recorder is None:
            from pytest_irmetrics.plugin.recorder import Recorder  # noqa: PLC0415 - only a run that gates pays for it

            targets: list[Target] = self._config.stash.get(_targets_key, [])
            self._recorder = Recorder(self._config, REPORT_ATTRIBUTE, targets, self._started)
        return self._recorder

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._collected_all = self._collected_all and not report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # What stands in for a test whose worker crashed is of no phase, and may be the first thing that is heard.
        recorder = self._load_recorder() if hasattr(report, REPORT_ATTRIBUTE) else self._recorder
        if recorder is None and report.when not in ("setup", "call", "teardown"):
            recorder = self._recorder_if_asked()
        if recorder is not None:
            recorder.add(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        recorder = self._recorder_if_asked()
        if recorder is not None:
            recorder.finish(session, collected_all=self._collected_all)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        recorder = self._recorder_if_asked()
        interrupted = exitstatus == pytest.ExitCode.INTERRUPTED  # also by files that cannot be collected
        if recorder is not None:
            recorder.print_summary(terminalreporter, interrupted=interrupted)


@pytest.fixture(scope="session")
def retriever() -> object:
    """Your search: override it with a fixture that returns a function of (query, k), which returns ids, best first."""
    from pytest_irmetrics.plugin.fixture import MISSING_RETRIEVER  # noqa: PLC0415 - only a run that gates pays for it

    return MISSING_RETRIEVER


@pytest.fixture(scope="session")
def ir_doc_id() -> None:
    """Override it with a function that turns one returned item, such as a chunk, into its document's id."""


@pytest.fixture(scope="session")
def ir_doc_title() -> None:
    """Override it with a function or a mapping from a document's id to its title, which reports show beside the id."""


@pytest.fixture(scope="session")
def ir_corpus() -> None:
    """Override it with the ids of your index, as anything that supports `in`; judged documents that it lacks are named."""


@pytest.fixture(scope="session")
def ir_executor() -> None:
    """Override it with a `concurrent.futures.Executor`, in whose threads or processes the queries then run."""


@pytest.fixture
def irmetrics(
    request: pytest.FixtureRequest,
    retriever: Any,
    ir_doc_id: Any,
    ir_doc_title: Any,
    ir_corpus: Any,
    ir_executor: Any,
) -> IRMetrics:
    """Ask the retriever each query of the test's golden set, score the answers, and gate on the scores.

    ``irmetrics.check()``, or ``await irmetrics.acheck()`` in an async test; ``evaluate()`` and ``aevaluate()`` gate nothing.
    """
    from pytest_irmetrics.plugin.fixture import IRMetrics  # noqa: PLC0415 - only a run that gates pays for it

    fixture = IRMetrics(
        request,
        _session(request.config),
        retriever,
        doc_id=ir_doc_id,
        doc_title=ir_doc_title,
        corpus=ir_corpus,
        executor=ir_executor,
    )
    request.node.stash[_irmetrics_key] = fixture
    return fixture
