"""What a run is compared with where it is stored: the test's own baseline, another run, a file."""

from __future__ import annotations

import difflib
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.reports.item_report import OWN_BASELINE
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.baseline import BaselineError, read_baseline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.plugin.item import Case

STORED = (type(None), Run, str, os.PathLike)
"""What `against` may be where it stands for a stored run; None is the test's own baseline."""


class Stored(NamedTuple):
    """A stored run that this one is compared with."""

    run: Run
    name: str
    """What messages call it."""


def read_stored(
    case: Case, golden: GoldenSet, against: Any, like: Run | None, note: Callable[[str], object]
) -> Stored | None:
    """Read what a test item is compared with, if it is stored; `note` is told of a baseline that is to be replaced.

    `against` is what `check` was given; `like` as in `Run.load`. Raises BaselineError and RunError, also where a baseline to gate on is not there.
    """
    if isinstance(against, Run):
        return Stored(_of_golden_set(against, golden), "the other run")
    if isinstance(against, (str, os.PathLike)):
        path = Path(case.item.path).parent / against
        name = case.session.shown(path)
        try:
            return Stored(_of_golden_set(Run.load(path, like=like), golden), name)
        except RunError as error:
            raise RunError(str(error).replace(str(path), name)) from None
    settings = case.settings
    if against is not None or not (settings.baseline or settings.update):
        return None
    path = case.baseline_file
    if not path.exists():
        if settings.update:
            return None
        raise BaselineError(_no_baseline(case, path))
    try:
        return Stored(read_baseline(path, like=like), OWN_BASELINE)
    except BaselineError as error:
        problem = str(error).replace(str(path), case.session.shown(path))
        if not settings.update:
            raise BaselineError(problem) from None
        note(f"Nothing was compared with the baseline that is there, and only a pass replaces it. {problem}")
        return None


def evaluate_stored(now: Evaluation, run: Run) -> Evaluation:
    """Evaluate a stored run over the queries, and by the metrics, of another evaluation."""
    return _evaluated(now, run, run.depth)


def evaluate_other(now: Evaluation, other: Evaluation) -> Evaluation:
    """Evaluate what another evaluation has, as deep as that reads it, over the queries, and by the metrics, of this one."""
    return _evaluated(now, other.run, other.depth)


def _evaluated(now: Evaluation, run: Run, depth: int | None) -> Evaluation:
    return Evaluation(
        now.golden,
        replace(now.retrieved, run=run, errors={}, latencies={}, stopped="", formerly={}),
        now.metrics,
        now.depth if depth is None else depth,
        now.custom,
        now.only,
        now.aside,
    )


def _no_baseline(case: Case, path: Path) -> str:
    """Say how to make the baseline that is not there, or how to keep it where a test was renamed."""
    shown = case.session.shown
    lines = [f"There is no baseline for this test: {shown(path)}."]
    commands = [f"To store one, and then commit it: {case.command('--ir-baseline-update')}"]
    stale = case.session.stale_baselines(Path(case.item.path))
    if stale:
        old = _most_alike(stale, path)
        lines.append(f"No test has this baseline any more: {shown(old)}.")
        move = shlex.join(["git", "mv", shown(old), shown(path)])
        commands.insert(0, f"Where that test is this one, renamed: {move}")
    return "\n".join([*lines, "", *commands])


def _of_golden_set(run: Run, golden: GoldenSet) -> Run:
    """Leave out what a run has for others, if it does not say of which golden set it is: that is not gone from this."""
    answers = {query_id: run.answers[query_id] for query_id in golden.queries if query_id in run}
    if run.golden_set is not None or not answers:  # a run of nothing here is no baseline, which the gates say
        return run
    return Run.of(answers, run.depth, relevance_level=run.relevance_level)


def _most_alike(paths: Sequence[Path], path: Path) -> Path:
    """Choose the baseline that most likely was this one's: of the same ids, then of the most similar name."""
    return max(
        paths,
        key=lambda other: (
            other.name.partition("[")[2] == path.name.partition("[")[2],
            difflib.SequenceMatcher(None, other.name, path.name).ratio(),
        ),
    )
