"""Read the run that a test is compared with: its stored baseline, or what ``check(against=…)`` was given."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.evaluation import Evaluation, EvaluationError
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.retrieval import RetrievalError
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import CURE
from pytest_irmetrics.run.baseline import read_baseline

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.plugin.item import GatedItem

STORED_TYPES = (type(None), Run, str, os.PathLike)
"""Types of `against` that stand for a stored run; None is the test's own baseline."""


class StoredRun(NamedTuple):
    """A stored run that this one is compared with."""

    run: Run
    name: str
    """What messages call it."""
    file: str = ""
    """The path that it was read from, as messages name it; empty where it was read from none."""


def read_stored_run(
    item: GatedItem, golden: GoldenSet, against: Any, note: Callable[[str], object]
) -> StoredRun | None:
    """Read the stored run that a test item is compared with; None where it is compared with none.

    `against` is what `check` was given: also None is returned for a retriever that can be compared with.
    `note` is called with what is wrong with a baseline that an updating run replaces. Raises
    RunError, also where the baseline to gate on is missing; RetrievalError and EvaluationError for what cannot be compared with.
    """
    if isinstance(against, Evaluation):
        raise EvaluationError(
            "`against` takes a retriever, a Run or a path, not an Evaluation. Give its run: check(against=evaluation.run)."
        )
    if isinstance(against, Run):
        return StoredRun(
            _queries_of(golden, _require_queries(against, "The run given as `against`")), "the other run"
        )
    if isinstance(against, (str, os.PathLike)):
        path = Path(item.node.path).parent / against
        name = item.session.shown(path)
        run = _require_queries(Run.load(path, shown=name), f"{name}:1: this run")
        return StoredRun(_queries_of(golden, run), name, name)
    if against is not None:
        _require_retriever(against)
        return None
    return _read_own_baseline(item, note)


def _read_own_baseline(item: GatedItem, note: Callable[[str], object]) -> StoredRun | None:
    """Read a test's stored baseline; None where the run neither gates on it nor keeps anything of it."""
    settings = item.settings
    if not (settings.gates or settings.update):
        return None
    path = item.baseline_file
    replacing_all = settings.update and not settings.only_queries
    if not path.exists():
        if replacing_all:
            return None
        raise RunError(_missing_baseline(item, path))
    try:
        shown = item.session.shown(path)
        run = _require_queries(read_baseline(path, shown=shown), f"{shown}:1: this run", CURE)
        if settings.update and settings.only_queries:
            from pytest_irmetrics.analysis.accepted_queries import require_same_depth_and_repeats  # noqa: PLC0415 - few runs accept single queries

            command = item.command("--ir-baseline-update")
            require_same_depth_and_repeats(run, item.depth, settings.repeat, shown, command)
        return StoredRun(run, OWN_BASELINE, shown)
    except RunError as error:
        if not replacing_all:
            raise
        note(f"Nothing was compared with the baseline that is there, and only a pass replaces it. {error}")
        return None


def _require_queries(
    run: Run, what: str, cure: str = "Give one that answers the queries of this golden set."
) -> Run:
    """Return a run that holds a query; with none, nothing could fall. Raises RunError. `what` is how the error calls it."""
    if not len(run):
        raise RunError(f"{what} holds no query, so there is nothing to compare with. {cure}")
    return run


def _queries_of(golden: GoldenSet, run: Run) -> Run:
    """Leave out a run's answers to queries of other golden sets, where it does not say of which set it is.

    Otherwise they would be named as queries that are gone from this one.
    """
    answers = {query_id: run.answers[query_id] for query_id in golden.queries if query_id in run}
    if run.golden_set is not None or not answers:  # a run of none of these queries fails in the gates
        return run
    return Run.of(answers, run.depth, relevance_level=run.relevance_level)


def _missing_baseline(item: GatedItem, path: Path) -> str:
    """Word how to store the baseline that is missing."""
    return (
        f"There is no baseline for this test: {item.session.shown(path)}.\n\n"
        f"To store one, and then commit it: {item.command('--ir-baseline-update')}"
    )


def evaluate_run(now: Evaluation, run: Run, depth: int | None) -> Evaluation:
    """Score another run over the queries, and by the metrics, of an evaluation; `depth` is the run's, None if not known."""
    return Evaluation(
        now.golden,
        replace(now.retrieved, run=run, errors={}, latencies={}, stopped=""),
        now.metrics,
        now.depth if depth is None else depth,
        now.custom,
        now.only,
        now.extra_metrics,
    )


def require_no_errors(other: Evaluation) -> None:
    """Raise EvaluationError where a query of the evaluation to compare with failed."""
    if other.errors:
        query_id, problem = next(iter(other.errors.items()))
        failed = plural(len(other.errors), "query", "queries")
        raise EvaluationError(
            f"The retriever given as `against` failed for {failed}; the first is {query_id!r}: {problem}"
        )


def _require_retriever(against: Any) -> None:
    """Raise RetrievalError for what cannot be called as a retriever, before the test's own is asked."""
    from pytest_irmetrics.retrieval import Retriever  # noqa: PLC0415 - few tests compare two retrievers

    try:
        Retriever.of(against)
    except RetrievalError as error:
        raise RetrievalError(f"What `against` gives cannot be asked. {error}") from None
