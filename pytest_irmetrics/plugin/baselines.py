"""Read the run that a test is compared with, and find the stored baselines that no test has.

| function | which baselines it finds | what is said of them |
|---|---|---|
| `_without_test` | those of a module or function that is gone | a test without a baseline fails with the `git mv` of the one that may be its own |
| `find_baseline_problems` | those of a function that is there, and of none of its items | the function's first item fails, with the commands to move or delete each |
| | those of several files with one node id; those that a repeat by pytest-repeat would need | each of these items fails, with what to do |
| `unused_baselines` | those that no test of this run has read, whatever the reason | a note at the end names them |
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import joined, plural, printable
from pytest_irmetrics.comparison.stored_runs import is_half_asked, text_keys, under_todays_ids, without_others
from pytest_irmetrics.evaluation import Evaluation, EvaluationError
from pytest_irmetrics.gates.verdict import Against
from pytest_irmetrics.plugin.config import requests_irmetrics, run_config, runs_tests
from pytest_irmetrics.plugin.item import GatedItem, name_in_file
from pytest_irmetrics.plugin.marks import golden_parameter
from pytest_irmetrics.reports.item_report import OWN_BASELINE, Note
from pytest_irmetrics.retrieval import RetrievalError, Retriever
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.answer import how_to_restore
from pytest_irmetrics.run.baseline import SUFFIX, BaselineName, baseline_path, find_baselines

_NO_QUERY = "holds no query, so there is nothing to compare with."


def read_stored_run(item: GatedItem, against: Any) -> tuple[Run | None, Against]:
    """Read the stored run that a test item is compared with, and what messages call it; None where it is compared with none.

    `against` is what `check` was given: None is returned for a retriever, too.
    The item gets the digest of a baseline that an updating run replaces, and its notes what is wrong with that. Raises RunError, also where the
    baseline to gate on is missing, and RetrievalError for what cannot be compared with.
    """
    if against is None:
        return _read_own_baseline(item)
    if isinstance(against, Run):
        name, file, run = "the other run", "", against
    elif isinstance(against, (str, os.PathLike)):
        path = Path(item.node.path).parent / against
        name = file = item.settings.shown(path)
        run = _load(item, path, name)
    else:
        try:
            Retriever.of(against)
        except RetrievalError as error:
            text = f"`against` takes a retriever, a Run or a path (of an Evaluation, its run). {error}"
            raise RetrievalError(text) from None
        return None, Against()
    what = f"{file}:1: this run" if file else "The run given as `against`"
    _require(len(run), f"{what} {_NO_QUERY} Give one that answers the queries of this golden set.")
    return without_others(run, item.golden.queries), Against(name, file, given=True)


def _load(item: GatedItem, path: Path, shown: str) -> Run:
    """Read a stored run, with its answers under the ids that their queries have today: a note names those that had another."""
    run, renamed = under_todays_ids(Run.load(path, shown=shown), item.golden.queries, shown)
    item.notes += [Note("quiet", renamed)] if renamed else []
    return run


def _read_own_baseline(item: GatedItem) -> tuple[Run | None, Against]:
    """Read a test's stored baseline; None where the run does not read baselines, or replaces all of one that is missing or wrong."""
    settings = item.settings
    if not settings.reads_baselines:
        return None, Against()
    path = item.baseline_file
    shown = settings.shown(path)
    update = item.command("--ir-baseline-update")
    replacing_all = settings.update and not settings.only_queries
    if not path.exists():
        if replacing_all:
            return None, Against()
        text = f"There is no baseline for this test: {shown}.\n\n{_how_to_bring_back(item)}To store one, and then commit it: {update}"
        raise RunError(text)
    try:
        if settings.update and path.is_file():
            from pytest_irmetrics.base.atomic_write import content_digest  # noqa: PLC0415 - only an updating run writes one

            with suppress(OSError):  # which `_load` words
                item.baseline_digest = content_digest(path.read_bytes())
        run = _load(item, path, shown)
        _require(len(run), f"{shown}:1: this run {_NO_QUERY} {how_to_restore(shown)}")
        scored = any(answer.judgments and not answer.xfail for answer in run.answers.values())
        lacks = "this header tells no means, so that an edit of the rankings would not show"
        _require(run.means or not scored, f"{shown}:1: {lacks}. {how_to_restore(shown)}")
        if settings.update and settings.only_queries:
            _require_same_shape(run, item, shown, update)
        tags = () if settings.update else (tag for answer in run.answers.values() for tag in answer.tags)
        return run, Against(OWN_BASELINE, shown, update, gone_tags=frozenset(tags) - item.golden.tags)
    except RunError as error:
        if not replacing_all:
            raise
        said = "Nothing was compared with the baseline that is there, and only a pass replaces it."
        item.notes.append(Note("quiet", f"{said} {error}"))
        return None, Against()


def _how_to_bring_back(item: GatedItem) -> str:
    """Return a line with the command that brings back a committed baseline that is gone, or a renamed test's; empty for none."""
    from pytest_irmetrics.base.git import GitError, Repository  # noqa: PLC0415 - only a test without a baseline pays for it

    file = item.baseline_file
    with suppress(GitError):
        repository = Repository(item.node.config.rootpath)
        path = repository.path_of(file)
        for version in repository.history(path):
            if version.path == path and repository.read(version.commit, path) is not None:
                command = ["git", "checkout", version.commit[:10], "--", item.settings.shown(file)]
                return f"It was stored and is gone. To bring it back: {shlex.join(command)}\n"
    ids = BaselineName.of(file).ids
    alike = [path for path in _without_test(item.node.session) if BaselineName.of(path).ids == ids]
    if len(alike) != 1:
        return ""
    make = [] if file.parent.exists() else [["mkdir", "-p", item.settings.shown(file.parent)]]
    move = [*_git(*alike), "mv", *map(item.settings.shown, (*alike, file))]
    return f"Where the test was renamed, carry its baseline over: {' && '.join(map(shlex.join, [*make, move]))}\n"


def _git(*files: Path) -> list[str]:
    """Return `git`, to stand before `mv` or `rm`, where all of the files are committed; else nothing, as it would refuse them."""
    from pytest_irmetrics.base.git import GitError, Repository  # noqa: PLC0415 - needed after a failure alone

    with suppress(GitError):
        repository = Repository(files[0].parent)
        return ["git"] * all(repository.files("HEAD", repository.path_of(one)) for one in files)
    return []


@lru_cache(maxsize=1)  # each test without a baseline asks for them
def _without_test(session: pytest.Session) -> list[Path]:
    """Return the stored baselines whose test is gone."""
    config = session.config
    found = find_baselines(config.rootpath, run_config(config).baseline_dir, config.getini("norecursedirs"))
    return [one for one, folder in found if is_test_gone(session, one, folder, lambda it: not it.exists())]


def is_test_gone(
    session: pytest.Session, baseline: Path, folder: Path, is_gone: Callable[[Path], bool]
) -> bool:
    """Tell whether the test of a baseline is gone: its module in a folder, as `is_gone` tells of a file, today or since a commit; or its function there."""
    name = BaselineName.of(baseline)
    module = folder / f"{name.module.name}.py"
    return is_gone(module) or not name.may_be_in(module, _modules(session).get(os.path.realpath(module)))


@lru_cache(maxsize=1)  # each baseline is looked for in them
def _modules(session: pytest.Session) -> Mapping[str, object]:
    """Return the modules that the tests of a session are in, by the real paths of their files."""
    return {os.path.realpath(one.path): getattr(one, "module", None) for one in session.items}


def _require_same_shape(run: Run, item: GatedItem, shown: str, update: str) -> None:
    """Raise RunError where today's run has another depth, or asks more or less often, than a baseline whose answers it replaces."""
    repeat, depth = item.asked["repeat"], run.depth or item.depth
    times = max(len(answer.rankings) for answer in run.answers.values())
    _require(
        (depth, times) == (item.depth, repeat),
        f"{shown}: holds {plural(depth, 'result')} a query, {plural(times, 'answer')} each, and this run asks for {item.depth}, {plural(repeat, 'time')}, so that single answers cannot be replaced. Set ir_depth = {depth} and ir_repeat = {times}, or store all queries anew: {update}",
    )


def _require(condition: object, message: str) -> None:
    """Raise RunError unless a condition holds."""
    if not condition:
        raise RunError(message)


def run_of_other(other: Evaluation) -> tuple[Run, Against]:
    """Return what another retriever answered as the run to compare with. Raises EvaluationError where a query failed."""
    if other.errors:
        query_id, problem = next(iter(other.errors.items()))
        failed = plural(len(other.errors), "query")
        text = f"The retriever given as `against` failed for {failed}; the first is {query_id!r}: {problem}"
        raise EvaluationError(text)
    return other.run, Against("the other retriever", given=True)


# Baselines without an item

_REPEATED = "pytest-repeat (--count) runs a test under names of its own, such as {}, and none of them has a baseline. To ask every query several times, and to gate on the averages: --ir-repeat=N."


def find_baseline_problems(
    config: pytest.Config, items: Iterable[pytest.Item]
) -> Iterator[tuple[pytest.Item, str]]:
    """Yield the items whose baselines, by their names, are another item's too or no item's, each with the message that it is to fail with.

    1. Each repeat by pytest-repeat that has no baseline.
    2. Those of different files that have one node id, in folders of which not all are below pytest's rootdir.
    3. The first item of each test function that has baselines which none of its items has: a golden set or parameter is gone or
       renamed there, and its gate with it; none in a run that does not gate, or collects some items of a test alone.

    `items` are all that were collected, those last that are deselected.
    """
    settings = run_config(config)
    functions: dict[BaselineName, dict[Path, pytest.Item]] = {}
    """By their name without parameters."""
    of_id: dict[str, dict[Path, pytest.Item]] = {}
    for item in filter(requests_irmetrics, items):
        own = baseline_path(Path(item.path), name_in_file(item), settings.baseline_dir)
        of_id.setdefault(item.nodeid, {})[own] = item
        repeats = "__pytest_repeat_step_number" in getattr(getattr(item, "callspec", None), "params", ())
        if repeats and settings.gates and not (settings.update or own.exists()):
            yield item, _REPEATED.format(item.name)
        elif golden_parameter(item).problem is None:  # else none of its golden sets is known
            functions.setdefault(BaselineName.of(own)._replace(ids=""), {})[own] = item
    for nodeid, same in of_id.items():
        if len(same) > 1:
            text = f"{len(same)} tests have the node id {nodeid}, those with the baselines {joined([*map(settings.shown, same)])}: pytest-xdist may run one of them alone, and `--lf` and reports take one for the other. Run each folder by itself, or keep a pytest.ini in a folder above all of them."
            yield from ((item, text) for item in same.values())
    selects_items = config.getoption("lf", None) or any("[" in one.partition("::")[2] for one in config.args)
    if not settings.gates or settings.update or selects_items:
        return
    for name, found in functions.items():
        beside = Path(name.module).glob(f"*{SUFFIX}")
        stored = {path for path in beside if BaselineName.of(path).function == name.function}
        orphans = sorted(stored - found.keys())
        if orphans:
            new = {path: found[path] for path in sorted(found.keys() - stored)}
            yield next(iter(found.values())), _on_orphans(orphans, new, settings.shown)


def _on_orphans(orphans: list[Path], new: Mapping[Path, pytest.Item], shown: Callable[[Path], str]) -> str:
    """Word which baselines no item has, and the commands that carry one over to a `new` item, under the path of its own, or delete it.

    The note on unread baselines leaves out those whose paths, as `shown`, stand in such a failure (`Recorder._unused_baselines`).
    """
    names = [*map(shown, orphans)]
    which = f"baseline {names[0]} belongs" if len(names) == 1 else f"baselines {', '.join(names)} belong"
    lines = [f"The {which} to no item of this test: its golden set or parameters were renamed or are gone."]
    for orphan in orphans:
        move = [*_git(orphan), "mv", shown(orphan)]
        moves = [shlex.join([*move, shown(path)]) for path in _successors(orphan, new)]
        if len(moves) == 1:
            lines += ["Where it was renamed:", *moves]
        elif moves:
            lines += ["Where it got parameters, one of these, to the test that searches as it did:", *moves]
    lines.append(f"Where it is meant to be gone: {shlex.join([*_git(*orphans), 'rm', *names])}")
    return "\n".join(map(printable, lines))


def _successors(orphan: Path, new: Mapping[Path, pytest.Item]) -> list[Path]:
    """Return the paths of those `new` items that a baseline may be carried over to.

    They have all of its parameters; else its golden set; where none has, they ask half of its queries or more.
    """
    parts = BaselineName.of(orphan).parts
    if alike := [path for path in new if parts <= BaselineName.of(path).parts]:
        return alike
    of_its_set, of_others = list[Path](), list[Path]()
    with suppress(IRMetricsError):
        run = Run.load(orphan)
        for path, item in new.items():
            golden, stored_for = golden_parameter(item).path, item.path.parent / (run.golden_set or "")
            queries = run_config(item.config).golden_set(golden).queries if golden else {}
            if golden and is_half_asked(run.answers, {*text_keys(queries)}):
                is_its_set = os.path.realpath(golden) == os.path.realpath(stored_for)
                (of_its_set if is_its_set else of_others).append(path)
    return of_its_set or of_others


_NARROWING_OPTIONS = (
    *("keyword", "markexpr", "deselect", "lf", "stepwise", "stepwise_skip", "stepwise_reset"),
    *("continue_on_collection_errors", "ir_query", "ir_selftest"),
)
"""Options under which a run leaves out tests of the files that it was asked for."""


def unused_baselines(config: pytest.Config, read: Collection[Path]) -> list[Path]:
    """Return the stored baselines, of what pytest was asked to collect, that are not among those that tests `read`.

    None after a run that was typed to leave out tests of the files that it was asked for, which can tell of no baseline.
    """
    # Without those of `addopts`, which hold for every run: pytest has no public way to them.
    typed = config._parser.parse_known_args(config.invocation_params.args)  # noqa: SLF001
    narrowed = any(getattr(typed, name, None) for name in _NARROWING_OPTIONS)
    if narrowed or not runs_tests(config) or any("::" in one for one in typed.file_or_dir):
        return []
    stored = {os.path.realpath(path): path for path in _stored(config, typed.file_or_dir or ["."])}
    return [stored[real] for real in stored.keys() - set(map(os.path.realpath, read))]


def _stored(config: pytest.Config, typed: Iterable[str]) -> Iterator[Path]:
    """Yield the baselines of the files, and below the folders, that pytest was asked to collect.

    Where nobody `typed` any, those are all from here on, also what `testpaths` or `addopts` leaves out.
    """
    directory = run_config(config).baseline_dir
    for argument in typed:
        asked = Path(os.path.normpath(config.invocation_params.dir / argument))
        if asked.is_file():
            yield from baseline_path(asked, "", directory).parent.glob(f"*{SUFFIX}")
        else:
            found = find_baselines(asked, directory, config.getini("norecursedirs"))
            yield from (path for path, _ in found)
