"""Find the stored baselines that no test has, by the names of their files."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.plugin.config import run_config, runs_tests
from pytest_irmetrics.run.baseline import (
    baseline_path,
    baselines_of_test,
    folders_with_baselines,
    list_baselines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from pytest_irmetrics.reports.session_report import WhyUnused

_NARROWING_OPTIONS = ("keyword", "markexpr", "deselect", "lf", "stepwise", "ir_query", "ir_selftest")
"""Options under which a run leaves out tests of the files that it was asked for."""


def item_name(node: pytest.Item | Any) -> str:
    """Return ``Class.test_name[ids]``, what identifies a test within its file."""
    return ".".join([*class_names(node), node.name])


def class_names(node: pytest.Item | Any) -> list[str]:
    """Return the names of the classes that a test is in, the outermost first."""
    return [parent.name for parent in node.listchain() if isinstance(parent, pytest.Class)]


def collects_whole_files(config: pytest.Config) -> bool:
    """Whether all tests of a file are collected; ``--lf`` and node ids collect some of them."""
    return not any("::" in argument for argument in config.args) and not config.getoption("lf", None)


def tests_with_orphans(
    items: Iterable[pytest.Item], directory: str, shown: Callable[[Path], str]
) -> Iterator[tuple[pytest.Item, str]]:
    """Yield the first item of each test function that has baselines which none of its items has, with what to do about them.

    `items` are all that were collected. A golden set or parameter is gone or renamed there, and its gate with it.
    """
    functions: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if "irmetrics" in getattr(item, "fixturenames", ()):
            function = ".".join([*class_names(item), getattr(item, "originalname", None) or item.name])
            functions[Path(item.path), function].append(item)
    for (file, function), same in functions.items():
        stored = set(baselines_of_test(file, function, directory))
        own = {baseline_path(file, item_name(item), directory) for item in same}
        if stored - own:
            yield same[0], _on_orphans(sorted(stored - own), sorted(own - stored), shown)


def _on_orphans(orphans: list[Path], new: list[Path], shown: Callable[[Path], str]) -> str:
    """Word which baselines no item has, and the commands that carry one over to a `new` item or delete it."""
    names = [shown(path) for path in orphans]
    which = (
        f"The baseline {names[0]} belongs" if len(names) == 1 else f"The baselines {', '.join(names)} belong"
    )
    why = "its golden set, or its parameters, were renamed, or are gone."
    lines = [f"{printable(which)} to no item of this test: {why}"]
    if len(orphans) == len(new) == 1:
        lines.append(f"Where it was renamed: {printable(shlex.join(['git', 'mv', names[0], shown(new[0])]))}")
    lines.append(f"Where it is meant to be gone: {printable(shlex.join(['git', 'rm', *names]))}")
    return "\n".join(lines)


def unread_baselines(config: pytest.Config, read: Collection[Path]) -> dict[Path, WhyUnused]:
    """Return the baselines that are stored where pytest was asked to collect and are not among those that tests `read`.

    None after a run that left out tests of the files that it was asked for, which can tell of no baseline.
    """
    narrowed = any(config.getoption(name, None) for name in _NARROWING_OPTIONS)
    if narrowed or not runs_tests(config) or not collects_whole_files(config):
        return {}
    seen = {os.path.realpath(path) for path in read}
    found: dict[Path, WhyUnused] = {}
    for path in _stored(config):
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            modules = {
                baseline_path(file, "", "").parent.name for file in _folder_of(path, config).glob("*.py")
            }
            found[path] = "unread" if path.parent.name in modules else "gone"
    return found


def _stored(config: pytest.Config) -> Iterator[Path]:
    """Yield the baselines of the files, and below the folders, that pytest was asked to collect."""
    directory = run_config(config).baseline_dir
    for argument in sorted(config.args):
        asked = Path(os.path.normpath(config.invocation_params.dir / argument))
        if asked.is_file():
            module = baseline_path(asked, "", directory).parent
            yield from (path for path in list_baselines(module.parent) if path.parent == module)
        else:
            for folder in folders_with_baselines(asked, directory, config.getini("norecursedirs")):
                yield from list_baselines(folder / directory)


def _folder_of(path: Path, config: pytest.Config) -> Path:
    """Return the folder of the test file that a baseline belongs to: ``<folder>/<directory>/<module>/<name>.json``."""
    return path.parents[len(Path(run_config(config).baseline_dir).parts) + 1]
