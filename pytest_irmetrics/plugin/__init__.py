"""The pytest plugin: its hooks, the fixtures that a test may use or override, and the hooks that others may implement.

pytest imports this module in every run, also in those that have nothing to do with retrieval, so it imports
nothing but pytest and the tables of options and settings; all else is imported when a test uses the fixture.

PYTEST_DONT_REWRITE: pytest does not warn a second run in one process that this is imported already.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

import pytest

from pytest_irmetrics.plugin.config import (
    GOLDEN_KEYWORDS,
    OPTIONS,
    REPORT_ATTRIBUTE,
    SETTINGS,
    RunConfig,
    requests_irmetrics,
    run_config,
    run_config_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.plugin.fixture import IRMetrics
    from pytest_irmetrics.plugin.recorder import Recorder

_irmetrics_key = pytest.StashKey["IRMetrics"]()
"""The fixture of an item, until it is torn down."""

_problem_key = pytest.StashKey[str]()
"""What an item fails with instead of being called: its marks mean nothing."""

_HIDING = {"skip", "skipif", "xfail"}
"""The marks under which an item may not fail the run."""


class _PlainFinder:
    """Import this package's modules as Python does, from byte code where there is any.

    pytest compiles every module of a plugin's distribution itself, to rewrite its asserts, of which there are none:
    CONTRIBUTING.md. PYTEST_DONT_REWRITE in a docstring spares the rewriting, not the compiling.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path) if name.startswith("pytest_irmetrics.") else None


sys.meta_path.insert(0, _PlainFinder)  # before pytest's own, which it installed before it loads plugins


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("irmetrics", "retrieval quality (pytest-irmetrics)")
    for option, (keywords, explanation) in OPTIONS.items():
        group.addoption(option, help=explanation, **keywords)
    for name, (default, explanation, (words, _)) in SETTINGS.items():
        if default is None:
            parser.addini(name, f"{explanation}: {words}.", "linelist")
        else:
            parser.addini(name, f"{explanation}: {words} ({default or 'none'}).", default=default)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(_HookSpecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"ir_golden(*paths, {', '.join(f'{name}=None' for name in GOLDEN_KEYWORDS)}): the golden query sets of a test, as globs relative to its file; one test item each.",
    )
    config.addinivalue_line(
        "markers",
        f"ir_threshold(metric, min=None, *, {_words(config)}, tag=None): what fails the test; repeatable.",
    )
    run = config.stash[run_config_key] = RunConfig(config)
    if not hasattr(config, "workerinput"):
        controller = _RecorderLoader(config)
        config.pluginmanager.register(controller)
        # Somebody should hear of a run in which no test uses irmetrics; and a report is refused before the first test, not after the last.
        if run.reads_baselines or run.only_queries or run.reports:
            controller.record()


def _words(config: pytest.Config) -> str:
    """Return the words of `ir_threshold` for ``--markers``, which alone shows them: reading the table takes time in every run."""
    if not config.getoption("markers"):
        return "..."
    from pytest_irmetrics.thresholds import WORDS  # noqa: PLC0415 - see above

    return ", ".join(f"{word}=None" for word in WORDS if word != "min")


def pytest_unconfigure() -> None:
    if on_loop := sys.modules.get("pytest_irmetrics.retrieval.on_loop"):  # else no retriever was async
        on_loop.close_session_loop()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "irmetrics" in metafunc.fixturenames:
        from pytest_irmetrics.plugin.marks import parametrize  # noqa: PLC0415 - only a run that gates pays for it

        parametrize(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, object, object]:
    # A wrapper sees what was collected before a conftest.py or another plugin deselects any of it, and what is left.
    collected = [*items]
    result = yield
    # A mark can also stand on a test that does not request the fixture, and must not be silent there.
    # Without the underscore too: irthreshold.
    marked = any(mark.name[:2].lower() == "ir" for item in collected for mark in item.iter_markers())
    if marked or any(map(requests_irmetrics, collected)):
        from pytest_irmetrics.plugin.baselines import find_baseline_problems  # noqa: PLC0415 - only a run that gates pays for it
        from pytest_irmetrics.plugin.marks import find_problems, golden_parameter  # noqa: PLC0415 - as above

        paths = (path for item in collected for path in golden_parameter(item).siblings)
        run_config(config).marked_golden_sets = dict.fromkeys(paths)
        # What any of several items could tell is told by one that can fail the run, where there is one.
        left = {*items}
        collected.sort(key=lambda one: one not in left or not _HIDING.isdisjoint(one.keywords))
        for item, problem in (*find_baseline_problems(config, collected), *find_problems(config, collected)):
            item.stash[_problem_key] = problem
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    problem = item.stash.get(_problem_key, None)
    if problem is not None:
        _fail_in_place_of_test(problem)
    raised = None
    try:
        return (yield)
    except BaseException as error:
        raised = error
        raise
    finally:
        irmetrics = item.stash.get(_irmetrics_key, None)  # the body itself may have requested it
        if irmetrics is not None:
            irmetrics.end_body(raised)
        elif raised is None and requests_irmetrics(item):
            from pytest_irmetrics.plugin.marks import foreign_fixture_problem  # noqa: PLC0415 - a fixture of this name is rare

            if problem := foreign_fixture_problem(item):
                _fail_in_place_of_test(problem)


def _fail_in_place_of_test(problem: str) -> None:
    """Fail a test with what keeps it from being judged, in place of its body."""
    # No frame of a test is on the stack: were this one hidden too, pytest would say under the message that all are.
    __tracebackhide__ = False
    from pytest_irmetrics.plugin.fixture import fail  # noqa: PLC0415 - only a failure pays for it

    fail(problem)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    if call.excinfo is not None:
        # pytest leaves out the frames of such modules: a traceback shows the user's own lines.
        for name, module in sys.modules.copy().items():
            if name.partition(".")[0] == "pytest_irmetrics":
                vars(module)["__tracebackhide__"] = True
    report = yield
    irmetrics = item.stash.get(_irmetrics_key, None)
    if call.when == "teardown":
        return report
    # A setup that passed says that the test began: the recorder misses its end, where it has none.
    if irmetrics is not None and (irmetrics.is_over or call.when == "setup"):
        setattr(report, REPORT_ATTRIBUTE, (str(item.path), irmetrics.report and irmetrics.report.dumps()))
    elif not report.passed and (irmetrics is not None or requests_irmetrics(item)):
        # What failed or was skipped before it, say the retriever, is not passed over; nor is a subtest, whose report comes first.
        setattr(report, REPORT_ATTRIBUTE, (str(item.path), None))
    # Where nothing loaded it, no failure is of the gate.
    if call.excinfo is not None and (ours := sys.modules.get("pytest_irmetrics.plugin.fixture")):
        ours.shorten_repeated_message(item, report, call.excinfo.value)
    return report


class _RecorderLoader:
    """Loads the recorder, in the controlling process, once there is something to record."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def record(self) -> Recorder:
        """Register the recorder in place of this: it sees all reports from then on."""
        from pytest_irmetrics.plugin.recorder import Recorder  # noqa: PLC0415 - only a run that gates pays for it

        recorder = Recorder(self._config)
        self._config.pluginmanager.unregister(self)
        self._config.pluginmanager.register(recorder)
        return recorder

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, REPORT_ATTRIBUTE):
            self.record().pytest_runtest_logreport(report)


@pytest.fixture(scope="session")
def retriever() -> None:
    """Your search: override it with a fixture that returns a function of (query, k), which returns ids, best first."""


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
def ir_provenance() -> None:
    """Override it with a mapping of names to text or numbers (model, index build), stored with the baseline; what differs is named."""


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
    ir_provenance: Any,
    ir_executor: Any,
) -> Iterator[IRMetrics]:
    """Ask the retriever each query of the test's golden set, score the answers, and gate on the scores.

    ``irmetrics.check()``, or ``await irmetrics.acheck()`` in an async test; ``evaluate()`` and ``aevaluate()`` gate nothing.
    """
    from pytest_irmetrics.plugin.fixture import IRMetrics  # noqa: PLC0415 - only a run that gates pays for it
    from pytest_irmetrics.plugin.item import GatedItem, UserFixtures  # noqa: PLC0415 - as above

    fixtures = UserFixtures(retriever, ir_doc_id, ir_doc_title, ir_corpus, ir_provenance, ir_executor)
    fixture = IRMetrics(GatedItem(request.node, fixtures))
    request.node.stash[_irmetrics_key] = fixture
    yield fixture
    del request.node.stash[_irmetrics_key]  # a rerun makes its own


class _HookSpecs:
    """The hooks that a conftest.py or another plugin may implement."""

    def pytest_irmetrics_metrics(self, config: pytest.Config) -> Mapping[str, Callable[..., float]]:
        """Return metrics of your own: a mapping from name to ``f(query, ranking, k, **parameters) -> float``.

        ``query`` has ``id``, ``text``, ``judgments``, ``tags`` and ``params``; ``ranking`` holds the returned ids, best
        first, cut to ``k`` (None: no cut-off); ``parameters`` are those in the metric's name, ``mine(alpha=2)@10``.
        The value is any finite number, higher is better. A name that is already taken is an error.

        :param config: The pytest config object.
        """
        raise NotImplementedError

    def pytest_irmetrics_evaluated(self, item: pytest.Item, evaluation: Evaluation) -> None:
        """Look at an evaluation that the ``irmetrics`` fixture made, before the test passes or fails by it.

        Not called where a query could not be retrieved. The gates are decided by then: what an implementation changes is
        in no report and in no baseline, and what it returns is ignored.

        :param item: The test item.
        :param evaluation: Its golden set, run and scores.
        """
