"""What the fixture ``irmetrics`` gives: ask the retriever, score its answers, and fail the test where a gate fails."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.notes import ask_index
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.escape import escape_terminal
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.evaluation.evaluate import warn_of_unknown_ids
from pytest_irmetrics.gates.decide import RETURN_KNOWN_IDS, decide
from pytest_irmetrics.gates.verdict import Against, Case, with_each_tag
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.plugin.baselines import read_stored_run, run_of_other
from pytest_irmetrics.plugin.build_report import add_notes, build_item_report
from pytest_irmetrics.plugin.item import GatedItem
from pytest_irmetrics.plugin.marks import MisuseError
from pytest_irmetrics.reports.item_report import FIXTURE_TO_PASTE, ROW_VERDICTS, ItemReport, Note
from pytest_irmetrics.retrieval import RetrievalOptions, Retrieved, aretrieve, replay, retrieve
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.thresholds import Gates

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.since import CommittedTest

Ask = Callable[[Sequence[Query], Any, RetrievalOptions], Awaitable[Retrieved]]
"""`aretrieve`, or `_ask_here`."""


_NO_RETRIEVER = (
    "There is no fixture named retriever, or it returns None. Write one in conftest.py that returns your search:\n\n"
    "import pytest\n\n"
    '@pytest.fixture(scope="session")\n'
    "def retriever():\n"
    "    return lambda query, k: my_search(query, size=k)   # ids, best first\n\n"
    "or pass one: irmetrics.check(retriever=my_search). One in a plugin is found where conftest.py loads the plugin."
)

_PROGRESS_SECONDS = 10.0
"""Before the first line that says how far the retrieval has come, and between two."""

_ITSELF = "The run that stands in for the search is the file that it is compared with, so nothing can fall. Give today's run: write it with --ir-report=json:run.json, or as a TREC run."
_NOT_AWAITED = "irmetrics.acheck() was not awaited, so nothing was checked. Write: await irmetrics.acheck()"
_NOT_FINISHED = "irmetrics.check() was called and did not come to its end, so nothing was checked. Let what it raises pass, and wait for it."

_CALL_CHECK = "so nothing was checked. Call it; or, in a test that is to gate nothing, call pytest_irmetrics.evaluate(golden, retriever) and do without the fixture irmetrics."

_SKIPS = ("Skipped", "XFailed", "SkipTest")
"""The names of what a body raises to be skipped or to fail as expected, of pytest and of unittest, which a run may do without."""

_NO_ASYNC_PLUGIN = "async def function and no async plugin installed"
"""What pytest before 8.4 says of an async test that it skips, also of a plain one that returns a coroutine."""


class IRMetrics:
    """The value of the fixture ``irmetrics``: evaluates a test's golden set and gates on the scores.

    ``check`` and ``acheck`` evaluate, gate and return the Evaluation; ``evaluate`` and ``aevaluate`` only evaluate.
    """

    def __init__(self, item: GatedItem) -> None:
        self._item = item
        self.report: ItemReport | None = None
        """What the item's test report is to carry; None where nothing was evaluated."""
        self._fails_with: str | None = None
        """What the test fails with if its body passes now, empty for nothing; None until check is called. A failure may be caught by
        the body, or raised in another thread."""
        self._headline = ""
        """Of a check that failed, the one line that stands for its message."""
        self.is_over = False
        """Whether the body has run."""
        # A rerun measures anew what JUnit's file (--junitxml) has as properties of the test.
        properties = item.node.user_properties
        properties[:] = [one for one in properties if not one[0].startswith(("ir.", "irmetrics_"))]

    def check(self, *, retriever: Any = None, golden: Any = None, against: Any = None) -> Evaluation:
        """Evaluate, gate and return the Evaluation; fail the test where a gate fails.

        ``retriever`` and ``golden`` (a GoldenSet, judgments or a path) stand in for the test's own. ``against`` is a
        retriever, a Run or a path that stands in for the stored baseline.
        """
        self._begin_check()
        return _finish(self._check(retriever, golden, against, _ask_here))

    def acheck(
        self, *, retriever: Any = None, golden: Any = None, against: Any = None
    ) -> Coroutine[Any, Any, Evaluation]:
        """Do as ``check`` does, for async tests; the retriever may be sync or async."""
        self._begin_check()  # here, so that a call that is never awaited counts as one
        self._fails_with = _NOT_AWAITED
        return self._check(retriever, golden, against, aretrieve)

    def evaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Evaluate only; nothing is gated."""
        evaluation = _finish(self._evaluate(retriever, golden, _ask_here))
        warn_of_unknown_ids(evaluation, RETURN_KNOWN_IDS)
        return evaluation

    async def aevaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation:
        """Do as ``evaluate`` does, for async tests."""
        evaluation = await self._evaluate(retriever, golden, aretrieve)
        warn_of_unknown_ids(evaluation, RETURN_KNOWN_IDS)
        return evaluation

    def _begin_check(self) -> None:
        if self.is_over:
            fail(
                "irmetrics.check() was called when the test was over, so that its verdict counts for nothing. Call it in the test's body, or in a fixture before its `yield`."
            )
        if self._fails_with is not None:
            self._fail_check(
                "This test calls check a second time, and a test has one verdict. Parametrize the fixture retriever to check several, or use irmetrics.evaluate(), which gates nothing."
            )

    async def _check(self, retriever: Any, golden: Any, against: Any, ask: Ask) -> Evaluation:
        """Evaluate and gate. All that can be wrong besides the answers is read before the first query is asked."""
        if not self._headline:  # else a second call was refused meanwhile
            self._fails_with = _NOT_FINISHED
        try:
            item = self._item.with_golden(golden)
            item.queries()  # skips the test that has none of --ir-query
            stored, compared = read_stored_run(item, against)
            asked = item.retriever(retriever)
            _refuse_itself(asked, stored, against)
            if isinstance(asked, Run):
                said = "No search was asked: the answers are those of a recorded run."
                item.notes.append(Note("normal", said))
            gates = item.gates(compared.gone_tags)
            if item.settings.selftest:
                return self._selftest(item, stored, gates, compared)
            committed = _read_committed(item)
            now = await _measure(item, asked, ask, stored)
            if now.errors:  # then there is nothing to compare
                stored = against = committed = None
            if stored is None and against is not None:
                stored, compared = run_of_other(await _measure(item, against, ask))
            baseline = None if stored is None else now.of_run(stored)
            comparison = None if baseline is None else Comparison(now, baseline)
            compared = Against() if comparison is None else compared
            held = item.written_gates if comparison is None else gates
            result = _decided(item, held, now, comparison, compared)
            add_notes(item, result)
            if committed is not None:
                _compare_since(item, result, baseline, gates, committed)
            return self._conclude(item, result)
        except IRMetricsError as error:
            self._fail_check(str(error))

    async def _evaluate(self, retriever: Any, golden: Any, ask: Ask) -> Evaluation:
        """Evaluate, and fail the test only where a query's retrieval failed."""
        try:
            item = self._item.with_golden(golden)
            now = await _measure(item, item.retriever(retriever), ask)
            verdicts = decide(Case(now, Gates())) if now.errors else ()
            return self._conclude(item, ItemResult(now, Gates(), verdicts, checked=False))
        except IRMetricsError as error:
            fail(str(error))

    def _selftest(self, item: GatedItem, stored: Run | None, gates: Gates, against: Against) -> Evaluation:
        """Ask nothing; report which degradations of the stored run the gates catch. Fails where that run itself fails."""
        from pytest_irmetrics.analysis.selftest import run_selftest  # noqa: PLC0415 - only a self-test pays for it

        if stored is None:  # a missing baseline has raised RunError
            pytest.skip("--ir-selftest needs a stored run, and this test compares with a second retriever")
        baseline = item.evaluation(Retrieved(stored)).of_run(stored)
        result = run_selftest(baseline, gates, against)
        result.notes = [*item.notes, *result.notes]
        return self._conclude(item, result)

    def _conclude(self, item: GatedItem, result: ItemResult) -> Evaluation:
        """Keep what a call came to, for the report and the baseline. Fails where a gate fails."""
        now = result.evaluation
        # Here and not when the test is through, where a metric of the user's that raises would end pytest itself.
        report = build_item_report(item, result)
        if not now.errors and result.degradations is None:  # the report is made: a hook changes nothing in it
            item.node.ihook.pytest_irmetrics_evaluated(item=item.node, evaluation=now)
        # Not before what the user's own hooks, fixtures and metrics may raise: the test has not passed then.
        if result.checked or result.failed or self.report is None:
            self.report = report
            found, properties = dict(_junit_properties(report)), item.node.user_properties
            # Not those of an evaluate() before it beside these.
            properties[:] = [*(one for one in properties if one[0] not in found), *found.items()]
        # A second check may have been refused meanwhile, in another thread or task.
        if result.checked and self._fails_with == _NOT_FINISHED:
            self._fails_with = ""
        if result.failed:
            from pytest_irmetrics.reports.document import failure  # noqa: PLC0415 - a test that passes has no use for it
            from pytest_irmetrics.reports.terminal import lines  # noqa: PLC0415 - as above

            screen = item.settings.screen
            shown = lines(failure(report), screen, item.verbosity, spaced=True)
            headline = next(gate.text for gate in report.gates if gate.state == "failed")
            failing = self._fail_check if result.checked else fail
            failing("\n".join(line.text for line in shown), screen.line(headline))
        return now

    def _fail_check(self, message: str, headline: str = "") -> NoReturn:
        """Fail ``check``, and remember it: a body that swallows the exception has not passed for that."""
        self._fails_with, self._headline = message, headline or message.partition("\n")[0]
        fail(message, headline)

    def end_body(self, raised: BaseException | None) -> None:
        """Fail a test whose body is over, and passed, although something was to be gated and nothing was.

        `raised` is what the body raised. A skip or xfail fails that it made of a failed check, and a skip that pytest made
        of an async test which no plugin runs.
        """
        # Where all frames are hidden, pytest says so below the message.
        __tracebackhide__ = False
        self.is_over = True
        if isinstance(raised, pytest.skip.Exception) and _NO_ASYNC_PLUGIN in str(raised):
            fail(
                "This test is `async def`, and no plugin runs it, so nothing was checked. Install pytest-asyncio or anyio, or write a plain `def` test: irmetrics.check() takes an async retriever too."
            )
        kept = getattr(self._item.node, "_excinfo", None) or []  # what a unittest.TestCase raised is there
        raised = kept[-1].value if kept else raised
        problem = self._why_uncalled() if self._fails_with is None else self._fails_with
        hides = self._headline and type(raised).__name__ in _SKIPS
        if problem and (raised is None or hides):
            kept.clear()
            fail(problem, self._headline)

    def _why_uncalled(self) -> str:
        """Return what a test fails with that never called check; empty where nothing was to be gated."""
        item = self._item
        if item.parameter.problem is not None:
            return item.parameter.problem
        try:
            # Without a golden set, the tags that limits of settings bind to are not known either.
            item = item if item.parameter.path else item.with_golden(GoldenSet([]))
            of_queries = [limit for query in item.golden.queries.values() for limit in query.thresholds]
            bound = next(iter([*item.written_gates, *of_queries]), None)
        except IRMetricsError as error:
            return str(error)
        never = "body never called irmetrics.check()"
        if bound is not None:
            return f"This test has a threshold on {bound.metric.name} ({bound.origin}), and its {never}, {_CALL_CHECK}"
        if item.settings.gates:
            return f"This run gates on the stored baselines, and this test's {never}, {_CALL_CHECK}"
        return ""


def _refuse_itself(asked: Any, stored: Run | None, against: Any) -> None:
    """Raise RunError or MisuseError where a recorded run or a retriever is compared with itself, so that nothing can fall."""
    if isinstance(asked, Run) and stored is not None and asked.source == stored.source is not None:
        raise RunError(_ITSELF)
    if against is not None and against is asked:
        text = "`against` is the retriever itself, so nothing can fall. Give the other one."
        raise MisuseError(text)


def _read_committed(item: GatedItem) -> CommittedTest | None:
    """Return what a test was judged by at the commit of ``--ir-since``; None without that option. Raises GitError."""
    if not item.settings.since:
        return None
    from pytest_irmetrics.plugin.committed import read_committed  # noqa: PLC0415 - only with --ir-since

    return read_committed(item)


def _compare_since(
    item: GatedItem, result: ItemResult, stored: Evaluation | None, gates: Gates, committed: CommittedTest
) -> None:
    """Add to a result what changed since the commit of ``--ir-since``; with ``--ir-query`` show the query beside its answer there."""
    if not item.settings.only_queries:
        from pytest_irmetrics.analysis.since import add_since  # noqa: PLC0415 - only with --ir-since

        add_since(result, None if item.settings.update else stored, gates, committed)
    elif committed.run and not (result.failed or result.against.given):
        # A query that passes is looked at as in the failure that prints the command.
        now = result.evaluation
        result.comparison = Comparison(now, now.of_run(committed.run))
        result.against = Against(committed.report.where)


async def _measure(item: GatedItem, retriever: Any, ask: Ask, stored: Run | None = None) -> Evaluation:
    """Ask a retriever the test's queries and score its answers, to compare with a run. Raises MisuseError where it is None."""
    if retriever is None:
        raise MisuseError(_NO_RETRIEVER)
    queries, options = item.queries(), item.retrieval_options()
    progress = _progress_of(item.node, len(queries) * options.repeat)
    options = options._replace(progress=progress, baseline=stored)
    if isinstance(retriever, Run):
        return item.evaluation(replay(queries, retriever, options))
    return item.evaluation(await ask(queries, retriever, options))


def _decided(
    item: GatedItem, gates: Gates, now: Evaluation, comparison: Comparison | None, against: Against
) -> ItemResult:
    """Decide the test's gates on today's run, compared with one called `against`; cli/score.py does the same of a stored run."""
    settings = item.settings
    storing = settings.update and not against.given
    gates = with_each_tag(gates, now, None if storing else comparison)
    corpus = item.fixtures.corpus
    sides = [now] if comparison is None else [now, comparison.baseline]
    missing = None if corpus is None or now.errors else ask_index(sides, corpus, item.notes)
    in_index = () if missing is None else corpus
    verdicts = decide(Case(now, gates, comparison, against, storing, bool(settings.only_queries), in_index))
    looked_through = {"ids": item.seen.items, "errors": item.seen.without_id}
    if verdicts and verdicts[0].word in looked_through and item.fixtures.doc_id is None:
        first = verdicts[0]
        details = _with_fixture_to_write(item, looked_through[first.word], first.details)
        verdicts = (first._replace(details=details), *verdicts[1:])
    return ItemResult(
        now,
        gates,
        verdicts,
        comparison,
        against=against,
        notes=item.notes,
        almost_held=item.seen.almost_held,
        not_in_index=missing or frozenset(),
    )


def _with_fixture_to_write(item: GatedItem, came: Sequence[Any], details: Sequence[str]) -> tuple[str, ...]:
    """Return details with the fixture to write where items that came have a judged id in another place; else as they are."""
    from pytest_irmetrics.retrieval.reading import find_id_path  # noqa: PLC0415 - only where no id is known, or there is none

    path = find_id_path(came, {i for query in item.golden.queries.values() for i in query.documents})
    if path is None:
        return tuple(details)
    lead = f"What came back has judged ids in `{path}`. Write into conftest.py:"
    # In parentheses, because a long line is broken.
    said = [one for one in details if one != RETURN_KNOWN_IDS]
    return (*said, lead, FIXTURE_TO_PASTE, f"def ir_doc_id(): return (lambda doc: {path})")


def _junit_properties(report: ItemReport) -> Iterator[tuple[str, object]]:
    """Yield each mean of a test, as ``ir.ndcg@10``, where it is compared also ``….baseline`` and ``….delta``, where gated ``….verdict``.

    The mean is over all of today's queries; what is compared is over those that both runs have.
    """
    for row in report.rows:
        name = f"ir.{row.name}"
        parts = {name: row.full, f"{name}.baseline": row.baseline, f"{name}.delta": row.delta}
        yield from ((part, round(value, 6) or 0.0) for part, value in parts.items() if value is not None)
        yield from ((f"{name}.verdict", state) for state, text in ROW_VERDICTS.items() if text == row.verdict)
    if accepted := [gate.text for gate in report.gates if gate.state == "accepted"]:
        yield "irmetrics_accepted", " ".join(accepted)


async def _ask_here(queries: Sequence[Query], retriever: Any, options: RetrievalOptions) -> Retrieved:
    """Ask in this thread, without awaiting anything."""
    return retrieve(queries, retriever, options)


def _finish(coroutine: Coroutine[Any, Any, Evaluation]) -> Evaluation:
    """Return what a coroutine returns that awaits nothing which takes time, as `_ask_here` does not."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        evaluation: Evaluation = stop.value
    return evaluation


# Failures

_HEADLINE = "irmetrics_headline"
"""The attribute of a failure of ours that holds the first line of its message."""


def fail(message: str, headline: str = "") -> NoReturn:
    """Fail the test with nothing but a message: a traceback through our code helps no user.

    ``headline`` is what stands for it where one line is wanted: its first line, unless that is part of a wrapped sentence.
    """
    message = "\n".join(map(escape_terminal, message.split("\n")))  # a file's name may be a log command
    failed = pytest.fail.Exception(message, pytrace=False)
    setattr(failed, _HEADLINE, escape_terminal(headline) or message.partition("\n")[0])
    raise failed from None


def shorten_repeated_message(item: pytest.Item, report: pytest.TestReport, raised: BaseException) -> None:
    """Leave only a failure's first line to what repeats it: the short summary where CI is set, JUnit's `message`.

    A failure that no line of the test raised is placed at the test, which ``--tb=line`` and annotations of CI show. Of any
    other the traceback ends at the line that called us, where ``--pdb`` then stops.
    """
    headline = getattr(raised, _HEADLINE, None)
    crash = getattr(report.longrepr, "reprcrash", None)
    if headline is not None and crash is not None:
        crash.message = f"Failed: {headline}"
        if Path(crash.path).parent == Path(__file__).parent:
            file, line, _ = item.reportinfo()
            crash.path, crash.lineno = os.fspath(file), (line or 0) + 1
            return
        entry = caller = raised.__traceback__
        while entry is not None:
            caller = caller if "__tracebackhide__" in entry.tb_frame.f_globals else entry
            entry = entry.tb_next
        if caller is not None:
            caller.tb_next = None


def _progress_of(node: pytest.Item, total: int) -> Callable[[int], None] | None:
    """Return a function that counts the answers to the queries of a test, and says now and then how many of `total` there are.

    None where nothing is to be said: with ``-q``, and without pytest's terminal reporter, as in a worker of pytest-xdist.
    """
    plugins = node.config.pluginmanager
    reporter, capture = plugins.getplugin("terminalreporter"), plugins.getplugin("capturemanager")
    if reporter is None or node.config.getoption("verbose") < 0:
        return None
    began = said = monotonic()
    done = 0

    def count(answers: int) -> None:
        nonlocal done, said
        done, now = done + answers, monotonic()
        if now >= said + _PROGRESS_SECONDS:
            said = now
            with nullcontext() if capture is None else capture.global_and_fixture_disabled():
                reporter.ensure_newline()
                reporter.write_line(f"{node.nodeid}: {done:,} of {total:,} answers in {now - began:,.0f} s")

    return count
