"""Read the marks `ir_golden` and `ir_threshold` of a test, and find those that mean nothing."""

from __future__ import annotations

import difflib
import glob
import os
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_irmetrics import thresholds
from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import TOPICS, parameter_id, relative_path
from pytest_irmetrics.base.wording import joined, printable
from pytest_irmetrics.plugin.config import GOLDEN_KEYWORDS, read_setting, requests_irmetrics
from pytest_irmetrics.thresholds import Threshold

_WILDCARDS = frozenset("*?[")
_MARKS = ("ir_golden", "ir_threshold")

_GOLDEN_TOO_LATE = 'ir_golden on a parameter, or added by a hook, binds to nothing: it makes parameters itself, of a function, class or module. Mark one of these, or pass the golden set: irmetrics.check(golden="golden/faq.yaml").'


class GoldenParameter(NamedTuple):
    """The parameter of one test item: the file of its golden set, or the problem that it fails with, or nothing."""

    path: Path | None
    siblings: tuple[Path, ...] = ()
    """All golden sets of the test, this one among them."""
    asked: Mapping[str, Any] = {}
    """What it sets in place of the settings: the keywords of `RetrievalOptions`."""
    problem: str | None = None
    marks: Sequence[pytest.Mark] = ()
    """The marks `ir_golden` that it was made from."""


class MisuseError(IRMetricsError, ValueError):
    """Raised for what a test was given and cannot be used: a mark, a fixture, a golden set, a query; says what to write instead."""


def golden_parameter(node: pytest.Item) -> GoldenParameter:
    """Return what `ir_golden` gives a test item; one without a path where it gives none."""
    parameter = getattr(getattr(node, "callspec", None), "params", {}).get("irmetrics")
    return parameter if isinstance(parameter, GoldenParameter) else GoldenParameter(None)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one test item for each golden set of a test; also for a single one, so that names never change."""
    if nearest := _golden_marks(metafunc.definition):
        try:
            found = _golden_parameters(nearest, Path(metafunc.definition.path).parent)
        except (MisuseError, pytest.UsageError) as error:
            found = {"ir_golden": GoldenParameter(None, problem=str(error))}
        made = [one._replace(marks=nearest) for one in found.values()]
        metafunc.parametrize("irmetrics", made, ids=list(found), indirect=True)


def _golden_marks(node: Any) -> list[pytest.Mark]:
    """Return the marks `ir_golden` of a test that count: the nearest."""
    return next((marks for _, marks in _mark_levels(node, "ir_golden") if marks), [])


def _golden_parameters(marks: Sequence[pytest.Mark], folder: Path) -> dict[str, GoldenParameter]:
    """Return the golden sets that the marks of a test in a folder find, by the id of their test item. Raises MisuseError and UsageError."""
    found: dict[str, GoldenParameter] = {}
    for mark in marks:
        patterns, parameter = _golden_arguments(mark)
        for path, item_id in (match for pattern in patterns for match in _expand(folder, pattern)):
            one = parameter._replace(path=path)
            other = found.setdefault(item_id, one)
            if other != one:
                shown = f"{_shown(other, folder)} and {_shown(one, folder)}"
                text = f"Two golden sets have the id {item_id!r}: {shown}. Rename one, or mark two tests."
                raise MisuseError(text)
    # Path.resolve raises where links lead in a circle.
    known = dict.fromkeys(os.path.realpath(one.path) for one in found.values() if one.path)
    siblings = tuple(map(Path, known))
    return {item_id: one._replace(siblings=siblings) for item_id, one in found.items()}


def _shown(one: GoldenParameter, folder: Path) -> str:
    """Return a golden set's path relative to a folder, with what its mark sets."""
    words = ", ".join(f"{name}={value}" for name, value in one.asked.items())
    return printable(relative_path(one.path or "", folder)) + (f" ({words})" if words else "")


def _golden_arguments(mark: pytest.Mark) -> tuple[list[str], GoldenParameter]:
    """Return the patterns of a mark, and a parameter that has all that it sets but the path. Raises MisuseError and UsageError."""
    unknown = [name for name in mark.kwargs if name not in GOLDEN_KEYWORDS]
    if unknown:
        raise MisuseError(f"ir_golden has no argument {unknown[0]!r}; it has {joined(GOLDEN_KEYWORDS)}.")
    if not mark.args or not all(isinstance(path, (str, os.PathLike)) for path in mark.args):
        raise MisuseError('ir_golden needs a path or pattern: ir_golden("golden/*.yaml").')
    given = {name: value for name, value in mark.kwargs.items() if value is not None}
    read = {key: read_setting(f"ir_{key}", value, f"ir_golden({key}=…)") for key, value in given.items()}
    return [os.fspath(path).replace(os.sep, "/") for path in mark.args], GoldenParameter(None, asked=read)


def _expand(folder: Path, pattern: str) -> list[tuple[Path, str]]:
    """Return the files that a pattern matches, in the order of their names, each with its item's id. Raises MisuseError for none."""
    folders = posixpath.dirname(pattern.rstrip("/")).split("/")
    fixed = folder / "/".join(takewhile(_WILDCARDS.isdisjoint, folders))
    named = os.path.exists(folder / pattern)  # noqa: PTH110 - Path.exists raises for a name that no file has
    if named:
        matches = [str(folder / pattern)]
    else:
        matches = sorted(glob.glob(os.path.join(glob.escape(str(folder)), pattern), recursive=True))  # noqa: PTH118, PTH207 - pathlib's glob does not take absolute patterns
    paths = [Path(match) for match in matches if _may_be_golden(match, named=named)]
    if not paths:
        where = "" if os.path.isabs(pattern) else f" in {folder.name}/"  # noqa: PTH117 - a pattern is no path
        problem, advice = "matches no file", "Mend the pattern, or add the golden set"
        if named:
            problem, advice = "is a folder", f"Write which files: {pattern.rstrip('/')}/*.yaml"
        raise MisuseError(f"ir_golden({pattern!r}) {problem}{where}. {advice}.")
    return [(path, parameter_id(path, fixed)) for path in paths]


def _may_be_golden(path: str, *, named: bool) -> bool:
    """Whether a path may be a golden set: the topics beside qrels only where they are `named` in full."""
    if os.path.isdir(path):  # noqa: PTH112 - a name costs less than a Path
        from pytest_irmetrics.golden.formats import is_beir_folder  # noqa: PLC0415 - few golden sets are folders

        return is_beir_folder(Path(path))
    return named or not path.endswith(TOPICS)


def _mark_levels(node: Any, name: str) -> Iterator[tuple[str, list[pytest.Mark]]]:
    """Yield where marks with a name can stand, nearest first, each with those that do.

    A parameter's own mark (``pytest.param(…, marks=…)``) comes before the function's, and a class before the
    classes that it derives from; pytest itself keeps each of these two in one list.
    """
    parameter = getattr(getattr(node, "callspec", None), "marks", ())
    yield "on the parameter", [mark for mark in parameter if mark.name == name]
    yield "on the test", [mark for mark in node.own_markers if mark.name == name and mark not in parameter]
    for parent in reversed(node.listchain()[:-1]):
        if isinstance(parent, pytest.Class):
            written = {cls: _marks_of_class(cls, name) for cls in parent.obj.__mro__}
            of_classes = [mark for marks in written.values() for mark in marks]
            by_hook = [mark for mark in parent.own_markers if mark.name == name and mark not in of_classes]
            for cls, marks in written.items():
                yield f"on the class {cls.__name__}", [*by_hook, *marks]
                by_hook = []
        else:
            yield "on the module", [mark for mark in parent.own_markers if mark.name == name]


def _marks_of_class(cls: type, name: str) -> list[pytest.Mark]:
    """Return the marks with a name that are written on a class itself."""
    marks = cls.__dict__.get("pytestmark", [])
    marks = [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, list) else [marks])]
    return [mark for mark in marks if mark.name == name]


def marked_thresholds(item: pytest.Item, custom: Collection[str]) -> list[list[Threshold]]:
    """Return an item's ``ir_threshold`` marks, a list for each place, nearest first: parameter, function, ….

    Raises MisuseError for one that has no meaning.
    """
    where = os.path.basename(item.path)  # noqa: PTH119 - a Path costs more than a name
    return [
        [_read_threshold(mark, f"{where}: ir_threshold {place}", custom) for mark in marks]
        for place, marks in _mark_levels(item, "ir_threshold")
    ]


def _read_threshold(mark: pytest.Mark, origin: str, custom: Collection[str]) -> Threshold:
    """Return what a mark ``ir_threshold`` sets. Raises MisuseError; `origin` is where it stands."""
    given = dict(mark.kwargs)
    for name, value in zip(("metric", "min"), mark.args, strict=False):
        if name in given:
            raise MisuseError(f"{origin}: `{name}` is given twice.")
        given[name] = value
    metric, tag = given.pop("metric", None), given.pop("tag", None)
    if len(mark.args) > 2 or not isinstance(metric, str):
        raise MisuseError(f'{origin}: write ir_threshold("ndcg@10", 0.7), then words: max_drop=0.01.')
    words = {word: value for word, value in given.items() if value is not None}
    if tag is not None and not isinstance(tag, str):
        raise MisuseError(f"{origin}: the tag is {tag!r}; it is text.")
    try:
        return thresholds.build(metric, words, tag=tag, origin=origin, custom=custom)
    except IRMetricsError as error:
        raise MisuseError(f"{origin}: {error}") from None


# Marks that mean nothing


def find_problems(config: pytest.Config, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, str]]:
    """Yield the items that fail instead of being run, each with what to do; of two problems the later one counts.

    `items` are all that were collected, those last that are deselected or hidden: the first that could tell a problem does.
    """
    registered = {line.split(":")[0].split("(")[0].strip() for line in config.getini("markers")}
    # Node ids and ``--lf`` collect some tests of a file.
    whole = not (config.getoption("lf", None) or any("::" in one for one in config.args))
    first: dict[Any, pytest.Item] = {}
    """Node with marks → the first of its items; only the item itself where some tests of a file were collected."""
    used: set[Any] = set()
    for item in items:
        yield from ((item, text) for mark in item.iter_markers() for text in _misspelt(mark.name, registered))
        # A method of unittest.TestCase has no parameters, and fails by itself.
        is_parametrized = requests_irmetrics(item) and hasattr(item, "callspec")
        if is_parametrized and _golden_marks(item) != [*golden_parameter(item).marks]:
            yield item, _GOLDEN_TOO_LATE
        for node in item.listchain() if whole else [item]:
            if any(mark.name in _MARKS for mark in node.own_markers):
                first.setdefault(node, item)
                if requests_irmetrics(item):
                    used.add(node)
    for node, item in first.items():
        if node not in used:
            text = "bind to nothing: no test there requests the fixture irmetrics."
            yield item, f"The marks on {node.name} {text}"


def foreign_fixture_problem(item: pytest.Item) -> str | None:
    """Return what an item with marks of ours fails with whose fixture `irmetrics` is another plugin's, or the user's own."""
    if not any(mark.name in _MARKS for mark in item.iter_markers()):
        return None
    return f"The marks on {item.name} bind to nothing: its fixture irmetrics is another than the plugin's, and nothing was checked. Give that fixture another name, or let it wrap the plugin's: def irmetrics(irmetrics)."


def _misspelt(name: str, registered: set[str]) -> Iterator[str]:
    """Say of a mark that looks like one of ours, and is none; `registered` are all that the configuration knows."""
    if name not in registered and name.lower().startswith("ir"):
        cutoff = 0.0 if name.startswith("ir_") else 0.8
        for close in difflib.get_close_matches(name.lower(), _MARKS, n=1, cutoff=cutoff):
            yield f"There is no mark {name!r}. Did you mean {close!r}?"
