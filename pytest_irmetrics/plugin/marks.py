"""Read the marks `ir_golden` and `ir_threshold` of a test, and what names it in commands and files."""

from __future__ import annotations

import difflib
import glob
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_irmetrics import thresholds
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.escape import break_ci_commands
from pytest_irmetrics.base.files import parameter_id, relative_path
from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.metrics import MetricError
from pytest_irmetrics.plugin.config import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.thresholds import Threshold

_WILDCARDS = frozenset("*?[")


class GoldenParameter(NamedTuple):
    """The parameter of one test item: the file of its golden set, or the problem that it fails with, or nothing."""

    path: Path | None
    siblings: tuple[Path, ...] = ()
    """All golden sets of the test, this one among them."""
    depth: int | None = None
    duplicates: str | None = None
    problem: str | None = None


class MarkError(IRMetricsError, ValueError):
    """Raised for a mark that means nothing; the message says what to write instead."""


def name_in_file(node: pytest.Item) -> str:
    """Return ``Class.test_name[ids]``, what identifies a test within its file."""
    # Not of its id, to which pytest-xdist's loadgroup adds a group by which pytest finds no test.
    return node.location[2]


def unknown_query(wanted: str, known: Iterable[GoldenSet]) -> str:
    """Return the message that no golden set has a query, with the id that is most like it."""
    ids = sorted({query_id for golden in known for query_id in golden.queries})
    close = difflib.get_close_matches(wanted, ids, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"--ir-query: no golden set of this run has the query {wanted!r}.{hint}"


def golden_parameter(node: pytest.Item) -> GoldenParameter:
    """Return what `ir_golden` gives a test item; one without a path where it gives none."""
    parameter = getattr(getattr(node, "callspec", None), "params", {}).get("irmetrics")
    return parameter if isinstance(parameter, GoldenParameter) else GoldenParameter(None)


def golden_parameters(marks: Sequence[pytest.Mark], folder: Path) -> dict[str, GoldenParameter]:
    """Return the golden sets that the marks of a test in a folder find, by the id of their test item."""
    found: dict[str, list[GoldenParameter]] = defaultdict(list)
    for mark in marks:
        try:
            patterns, parameter = _golden_arguments(mark)
        except MarkError as error:
            found["ir_golden"].append(GoldenParameter(None, problem=str(error)))
            continue
        for pattern in patterns:
            paths = _expand(folder, pattern)
            for path, item_id in paths:
                found[item_id].append(parameter._replace(path=path))
            if not paths:
                where = "" if os.path.isabs(pattern) else f" in {folder.name}/"  # noqa: PTH117 - a pattern is no path
                problem, advice = "matches no file", "Mend the pattern, or add the golden set"
                if os.path.isdir(folder / pattern):  # noqa: PTH112 - Path.is_dir raises for a name that no file has
                    problem, advice = "is a folder", f"Write which files: {pattern.rstrip('/')}/*.yaml"
                text = f"ir_golden({pattern!r}) {problem}{where}. {advice}."
                found[break_ci_commands(pattern)].append(GoldenParameter(None, problem=text))
    # Path.resolve raises where links lead in a circle.
    known = {os.path.realpath(one.path) for same in found.values() for one in same if one.path}
    siblings = tuple(map(Path, sorted(known)))
    return {item_id: _parameter_of(item_id, same, siblings, folder) for item_id, same in found.items()}


def _golden_arguments(mark: pytest.Mark) -> tuple[list[str], GoldenParameter]:
    """Return the patterns of a mark, and a parameter that has all that it sets but the path. Raises MarkError."""
    unknown = [name for name in mark.kwargs if name not in ("depth", "duplicates")]
    if unknown:
        raise MarkError(f"ir_golden has no argument {unknown[0]!r}; it has depth and duplicates.")
    if not mark.args or not all(isinstance(path, (str, os.PathLike)) for path in mark.args):
        raise MarkError('ir_golden needs a path or pattern: ir_golden("golden/*.yaml").')
    given = {name: value for name, value in mark.kwargs.items() if value is not None}
    try:
        read = {key: SETTINGS[f"ir_{key}"][1](f"ir_golden({key}=…)", value) for key, value in given.items()}
    except pytest.UsageError as error:
        raise MarkError(str(error)) from None
    return [os.fspath(path).replace(os.sep, "/") for path in mark.args], GoldenParameter(None, **read)


def _fixed_folder(pattern: str) -> str:
    """Return the folder of a pattern that has no wildcard in it."""
    parts = pattern.split("/")[:-1]
    fixed = next((i for i, part in enumerate(parts) if _WILDCARDS.intersection(part)), len(parts))
    return "/".join(parts[:fixed]) or "."


def _expand(folder: Path, pattern: str) -> list[tuple[Path, str]]:
    """Return the files that a pattern matches, in the order of their names, each with its item's id."""
    pattern = pattern.rstrip("/") or "/"
    fixed = folder / _fixed_folder(pattern)
    named = os.path.exists(folder / pattern)  # noqa: PTH110 - Path.exists raises for a name that no file has
    if named:
        matches = [str(folder / pattern)]
    else:
        matches = sorted(glob.glob(os.path.join(glob.escape(str(folder)), pattern), recursive=True))  # noqa: PTH118, PTH207 - pathlib's glob does not take absolute patterns
    paths = [Path(match) for match in matches if _may_be_golden(match, named=named)]
    return [(path, parameter_id(path, fixed)) for path in paths]


def _may_be_golden(path: str, *, named: bool) -> bool:
    """Whether a path that a pattern matches is a golden set; texts beside qrels are not, unless `named` in full."""
    if os.path.isdir(path):  # noqa: PTH112 - a name costs less than a Path
        from pytest_irmetrics.golden.formats import is_golden_folder  # noqa: PLC0415 - few golden sets are folders

        return is_golden_folder(Path(path))
    return named or not path.endswith(".topics.tsv")


def _parameter_of(
    item_id: str, same: Sequence[GoldenParameter], siblings: tuple[Path, ...], folder: Path
) -> GoldenParameter:
    first = same[0]
    different = {parameter.path for parameter in same}
    if len(different) > 1:
        files = " and ".join(
            sorted(printable(relative_path(path, folder)) if path else "?" for path in different)
        )
        return GoldenParameter(
            None, problem=f"Two golden sets have the id {item_id!r}: {files}. Rename one, or mark two tests."
        )
    if len({(parameter.depth, parameter.duplicates) for parameter in same}) > 1:
        return GoldenParameter(
            None,
            problem=f"Two ir_golden marks name the golden set {item_id!r}, and differ in depth or duplicates. Keep one.",
        )
    return GoldenParameter(first.path, siblings, first.depth, first.duplicates, first.problem)


def nearest_marks(node: pytest.Item | Any, name: str) -> list[pytest.Mark]:
    """Return the marks with a name from the nearest place that has one: function, class, module."""
    return next((marks for _, marks in mark_levels(node, name) if marks), [])


def parameter_marks(node: Any) -> list[pytest.Mark]:
    """Return the marks of a test item's parameters: ``pytest.param(…, marks=…)``."""
    return list(getattr(getattr(node, "callspec", None), "marks", ()))


def mark_levels(node: Any, name: str) -> Iterator[tuple[str, list[pytest.Mark]]]:
    """Yield where marks with a name can stand, nearest first, each with those that do.

    A parameter's own mark (``pytest.param(…, marks=…)``) comes before the function's, and a class before the
    classes that it derives from; pytest itself keeps each of these two in one list.
    """
    parameter = parameter_marks(node)
    yield "on the parameter", [mark for mark in parameter if mark.name == name]
    own = [mark for mark in node.own_markers if mark.name == name]
    for mark in parameter:
        if mark in own:
            own.remove(mark)
    yield "on the test", own
    for parent in reversed(node.listchain()[:-1]):
        if isinstance(parent, pytest.Class):
            for cls in parent.obj.__mro__:
                marks = cls.__dict__.get("pytestmark", [])
                marks = marks if isinstance(marks, list) else [marks]
                yield f"on the class {cls.__name__}", [mark for mark in marks if mark.name == name]
        else:
            yield "on the module", [mark for mark in parent.own_markers if mark.name == name]


def marked_thresholds(item: pytest.Item, custom: Collection[str]) -> list[list[Threshold]]:
    """Return an item's ``ir_threshold`` marks, a list for each place, nearest first: parameter, function, ….

    Raises MarkError for one that has no meaning.
    """
    where = os.path.basename(item.path)  # noqa: PTH119 - a Path costs more than a name
    levels = []
    for place, marks in mark_levels(item, "ir_threshold"):
        origin = f"{where}: ir_threshold {place}"
        levels.append([read_threshold(mark, origin, custom) for mark in marks])
    return levels


def read_threshold(mark: pytest.Mark, origin: str, custom: Collection[str]) -> Threshold:
    """Return what a mark ``ir_threshold`` sets. Raises MarkError; `origin` is where it stands."""
    given = dict(mark.kwargs)
    for name, value in zip(("metric", "min"), mark.args, strict=False):
        if name in given:
            raise MarkError(f"{origin}: `{name}` is given twice.")
        given[name] = value
    metric, tag = given.pop("metric", None), given.pop("tag", None)
    if len(mark.args) > 2 or not isinstance(metric, str):
        raise MarkError(f'{origin}: write ir_threshold("ndcg@10", 0.7), with words after it: max_drop=0.01.')
    words = {word: value for word, value in given.items() if value is not None}
    if tag is not None and not isinstance(tag, str):
        raise MarkError(f"{origin}: the tag is {tag!r}; it is text.")
    try:
        return thresholds.build(metric, words, tag=tag, origin=origin, custom=custom)
    except (thresholds.ThresholdError, MetricError) as error:
        raise MarkError(f"{origin}: {error}") from None
