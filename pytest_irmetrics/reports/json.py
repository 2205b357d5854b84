"""Records as JSON, for programs: everything that was measured and judged, and each test's run.

One query a line. The file is a JSON object with `format`, `version`, `exit_status`, `headline`, `unmeasured` and
`tests`; a test's `run` is what `Run.dumps` writes, so that the report can stand in for a stored run.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.reports.item_report import (
    Degradation,
    ItemReport,
    QueryAsStored,
    QueryReport,
    ScoreRow,
    VerdictReport,
)
from pytest_irmetrics.reports.view import Command, Unmeasured, headline
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.json import REPORT_FORMAT as FORMAT

VERSION = 1

_NOT_TOLD = ("baseline_file", "baseline_text")
"""Fields of a record that only storing a baseline needs."""

_LISTED = {"rows": ScoreRow, "slices": ScoreRow, "gates": VerdictReport, "queries": QueryReport}
"""Keys whose value has one entry a line."""

T = TypeVar("T")


class ReportError(IRMetricsError, ValueError):
    """A JSON report that cannot be read; the message says why and what to do."""


def render(records: Sequence[ItemReport], command: Command) -> str:
    """Write a report. Equal records give equal text, all of it ASCII but for what the runs hold."""
    return "".join(_lines(records, command))


def _lines(records: Sequence[ItemReport], command: Command) -> Iterator[str]:
    records = sorted(records, key=lambda record: record.nodeid)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "exit_status": command.exit_status,
        "headline": headline(records, command),
        "unmeasured": [asdict(test) for test in command.unmeasured],
    }
    yield "{\n"
    for key, value in header.items():
        yield f"{_encode(key)}: {_encode(value)},\n"
    yield '"tests": ['
    separator = "\n"
    for record in records:
        yield separator
        yield from _test(record, command)
        separator = ",\n"
    yield "\n]\n}\n"


def _test(record: ItemReport, command: Command) -> Iterator[str]:
    data: dict[str, Any] = {field.name: getattr(record, field.name) for field in fields(record)}
    for name in _NOT_TOLD:
        del data[name]
    run = data.pop("run")
    data["query_count"] = data.pop("queries")
    data["queries"] = data.pop("views")
    yield "{\n"
    for key, value in data.items():
        if key in _LISTED:
            entries = ",\n".join(_encode(asdict(entry)) for entry in value)
            yield f'"{key}": [\n{entries}\n],\n' if entries else f'"{key}": [],\n'
        elif key == "selftest":
            yield f'"{key}": {_encode(None if value is None else [asdict(entry) for entry in value])},\n'
        else:
            yield f'"{key}": {_encode(value)},\n'
        if key == "outcome":
            yield f'"test_outcome": {_encode(command.outcomes.get(record.nodeid))},\n'
    yield f'"run": {run.strip() if run is not None else "null"}\n}}'


def _encode(value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:  # what a metric of the user's own may return is no JSON number
        return json.dumps(_finite(value), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loads(text: str) -> tuple[list[ItemReport], Command]:
    """Read what `render` wrote. Raises ReportError for anything else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ReportError("is not JSON, or was cut short. Write the report anew.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReportError("is not a report. Give a file that `pytest --ir-report=json:PATH` wrote.")
    version = document.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ReportError(
            f"was written in a version of the format that this pytest-irmetrics does not know; it reads up to {VERSION}. "
            "Upgrade pytest-irmetrics, or write the report anew."
        )
    try:
        tests = [dict(test) for test in document["tests"]]
        outcomes = {test["nodeid"]: test.pop("test_outcome") for test in tests}
        command = _command(document, outcomes)
        return [_record(test) for test in tests], command
    except (KeyError, TypeError, ValueError) as error:
        raise ReportError(f"is damaged: {error}. Write the report anew.") from None


def _command(document: dict[str, Any], outcomes: dict[str, Any]) -> Command:
    if not _fits(outcomes, dict[str, str | None]) or not _fits(document["exit_status"], int):
        raise ValueError("an outcome or the exit status is of another type")
    return Command(
        exit_status=document["exit_status"],
        outcomes={nodeid: outcome for nodeid, outcome in outcomes.items() if outcome is not None},
        unmeasured=tuple(_read(Unmeasured, test) for test in document["unmeasured"]),
    )


def _record(test: dict[str, Any]) -> ItemReport:
    test["views"] = test.pop("queries")
    test["queries"] = test.pop("query_count")
    for key, kind in (("rows", ScoreRow), ("slices", ScoreRow), ("gates", VerdictReport)):
        test[key] = [_read(kind, entry) for entry in test[key]]
    test["views"] = [_view(dict(entry)) for entry in test["views"]]
    if test.get("selftest") is not None:
        test["selftest"] = [_read(Degradation, entry) for entry in test["selftest"]]
    if test["run"] is not None:
        try:
            test["run"] = Run.loads(json.dumps(test["run"])).dumps()
        except RunError as error:
            raise ValueError(f"its {error}") from None
    return _read(ItemReport, test)


def _view(entry: dict[str, Any]) -> QueryReport:
    if entry.get("as_stored") is not None:
        entry["as_stored"] = _read(QueryAsStored, entry["as_stored"])
    return _read(QueryReport, entry)


def _read(kind: type[T], data: dict[str, Any]) -> T:
    """Make a dataclass of what JSON holds, with every value held against its type."""
    hints = get_type_hints(kind)
    values = {}
    for key, value in data.items():
        if key not in hints:
            raise ValueError(f"the key {key!r} is unknown")
        value = tuple(value) if get_origin(_some(hints[key])) is tuple and isinstance(value, list) else value  # noqa: PLW2901 - JSON has no tuples
        if not _fits(value, hints[key]):
            raise ValueError(f"{key!r} cannot be {value!r:.60}")
        values[key] = value
    return kind(**values)


def _some(hint: Any) -> Any:
    """Give the type that an optional one holds."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if get_origin(hint) in (Union, types.UnionType) else hint


def _fits(value: object, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, kind) for kind in arguments)
    if origin is list:
        return isinstance(value, list) and all(_fits(entry, arguments[0]) for entry in value)
    if origin is tuple:
        same = (
            arguments[-1] is Ellipsis or len(arguments) == len(value) if isinstance(value, tuple) else False
        )
        return same and isinstance(value, tuple) and all(_fits(entry, arguments[0]) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(entry, arguments[1]) for entry in value.values())
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return (
        isinstance(value, bool) if hint is bool else isinstance(value, hint) and not isinstance(value, bool)
    )
