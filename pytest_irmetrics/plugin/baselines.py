"""Find and read the baselines of a run's tests, and those whose test or file is gone."""

from __future__ import annotations

import difflib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.plugin.collected_tests import PLUGIN_NAME
from pytest_irmetrics.plugin.options import baseline_dir, gates_on_baseline, runs_tests
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import CURE
from pytest_irmetrics.run.baseline import (
    folders_with_baselines,
    list_baselines,
    read_baseline,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pytest

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.plugin.collected_tests import CollectedTests
    from pytest_irmetrics.plugin.item import GatedItem
    from pytest_irmetrics.reports.session_report import WhyUnused

STORED_TYPES = (type(None), Run, str, os.PathLike)
"""Types of `against` that stand for a stored run; None is the test's own baseline."""

_SELECTING_OPTIONS = ("keyword", "markexpr", "deselect", "lf", "maxfail", "stepwise")
"""Options under which a project's tests that gate may exist and not run."""


class StoredRun(NamedTuple):
    """A stored run that this one is compared with."""

    run: Run
    name: str
    """What messages call it."""
    file: str = ""
    """The path that it was read from, as messages name it; empty where it was read from none."""


def read_stored_run(
    item: GatedItem, golden: GoldenSet, against: Any, like: Run | None, note: Callable[[str], object]
) -> StoredRun | None:
    """Read the stored run that a test item is compared with; None where it is compared with none.

    `against` is what `check` was given, `like` as in `Run.load`. `note` is called with what is wrong with a baseline
    that an updating run replaces. Raises RunError, also where the baseline to gate on is missing.
    """
    if isinstance(against, Run):
        return StoredRun(
            _queries_of(golden, require_queries(against, "The run given as `against`")), "the other run"
        )
    if isinstance(against, (str, os.PathLike)):
        path = Path(item.node.path).parent / against
        name = item.session.shown(path)
        run = require_queries(Run.load(path, like=like, shown=name), f"{name}:1: this run")
        return StoredRun(_queries_of(golden, run), name, name)
    settings = item.settings
    if against is not None or not (settings.baseline or settings.update):
        return None
    path = item.baseline_file
    replacing_all = settings.update and not settings.only_queries
    if not path.exists():
        if replacing_all:
            return None
        raise RunError(_missing_baseline(item, path))
    from pytest_irmetrics.reports.item_report import OWN_BASELINE  # noqa: PLC0415 - only a run that gates pays for it

    try:
        shown = item.session.shown(path)
        run = require_queries(read_baseline(path, like=like, shown=shown), f"{shown}:1: this run", CURE)
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


def require_queries(
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
    """Word how to store the baseline that is missing, or how to keep it where a test was renamed."""
    shown = item.session.shown
    lines = [f"There is no baseline for this test: {shown(path)}."]
    commands = [f"To store one, and then commit it: {item.command('--ir-baseline-update')}"]
    stale_paths = item.session.stale_baselines(Path(item.node.path))
    if stale_paths:
        old = _most_similar(stale_paths, path)
        lines.append(f"No test has this baseline any more: {shown(old)}.")
        move = shlex.join(["git", "mv", shown(old), shown(path)])
        commands.insert(0, f"Where that test is this one, renamed: {move}")
    return "\n".join([*lines, "", *commands])


def _most_similar(paths: Sequence[Path], path: Path) -> Path:
    """Choose the baseline that a renamed test most likely had: with the same ids, then with the most similar name."""
    return max(
        paths,
        key=lambda other: (
            other.name.partition("[")[2] == path.name.partition("[")[2],
            difflib.SequenceMatcher(None, other.name, path.name).ratio(),
        ),
    )


def unused_baselines(config: pytest.Config) -> dict[Path, WhyUnused]:
    """Return the baselines that no test of a run used, each with why."""
    collected: CollectedTests | None = config.pluginmanager.get_plugin(PLUGIN_NAME)
    return {} if collected is None else collected.unused()


def unused_gating(config: pytest.Config, *, interrupted: bool) -> str | None:
    """Word that a run should have gated on baselines, and that none of its tests used irmetrics.

    None where the run was interrupted, was not to gate, or may have left out the tests that do.
    """
    if interrupted or not runs_tests(config):
        return None
    for option in ("--ir-baseline", "--ir-baseline-update", "--ir-selftest"):
        if config.getoption(option):
            return f"{option} was given, and no test of this run used irmetrics."
    if not gates_on_baseline(config) or any(config.getoption(name, None) for name in _SELECTING_OPTIONS):
        return None
    directory = baseline_dir(config)
    if not any(list_baselines(folder / directory) for folder in _collected_folders(config, directory)):
        return None
    return "the setting ir_baseline is true, and no test of this run used irmetrics."


def _collected_folders(config: pytest.Config, directory: str) -> Iterator[Path]:
    """Yield the folders with baselines below those that pytest was told to collect as a whole."""
    tops = {config.invocation_params.dir / argument for argument in config.args if "::" not in argument}
    seen = set()
    for top in tops:
        for folder in folders_with_baselines(top, directory, config.getini("norecursedirs")):
            if folder not in seen:
                seen.add(folder)
                yield folder
