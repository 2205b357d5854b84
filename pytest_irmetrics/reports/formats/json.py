"""The JSON report, for programs: everything that was measured and judged, and each test's run.

The file is a JSON object with `format`, `version`, `exit_status`, `headline`, `unused_baselines`,
`unmeasured`, `run_info` (when, how long, on what), `gone_since` and `tests`, and has one query a line. A test's `run` is what `Run.dumps` writes, so that the report can be
used as a stored run.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base import strict_json
from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.reports.item_report import ItemReport, as_json, read_dataclass
from pytest_irmetrics.reports.session_report import RunInfo, SessionReport
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.run_json import REPORT_FORMAT as FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGINNING = f'{{\n"format": "{FORMAT}"'

VERSION = 1

LEFT_OUT = ("baseline_text", "baseline_digest")
"""The fields of an ItemReport that are for the controller alone."""

_ENTRY_A_LINE = ("rows", "slices", "gates", "queries")


class ReportError(IRMetricsError, ValueError):
    """A JSON report that cannot be read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class _Header:
    """What stands before the tests."""

    format: str
    version: int
    exit_status: int
    headline: str
    unused_baselines: list[str]
    unmeasured: list[dict[str, str]]
    run_info: RunInfo | None = None
    """Left out where nothing is known of the run."""
    gone_since: list[str] = field(default_factory=list)


def render(session: SessionReport) -> str:
    """Return the report as JSON text, all ASCII but for what the runs hold. Equal sessions give equal text."""
    return "".join(_lines(session))


def _lines(session: SessionReport) -> Iterator[str]:
    header = _Header(
        FORMAT,
        VERSION,
        session.exit_status,
        session.headline(),
        list(session.unused_baselines),
        [{"nodeid": nodeid, "text": text} for nodeid, text in session.unmeasured.items()],
        session.info,
        list(session.gone_since),
    )
    yield "{\n"
    for key, value in as_json(header).items():
        if value is not None:
            yield f"{_encode(key)}: {_encode(value)},\n"
    yield '"tests": ['
    separator = "\n"
    for item in sorted(session.items, key=lambda item: item.nodeid):
        yield separator
        yield from _test(item, session.outcomes.get(item.nodeid))
        separator = ",\n"
    yield "\n]\n}\n"


def _test(item: ItemReport, outcome: str | None) -> Iterator[str]:
    data = as_json(item)
    run = data.pop("run")
    for key in LEFT_OUT:
        del data[key]
    yield "{\n"
    for key, value in data.items():
        if key in _ENTRY_A_LINE:
            entries = ",\n".join(map(_encode, value))
            yield f'"{key}": [\n{entries}\n],\n' if entries else f'"{key}": [],\n'
        else:
            yield f'"{key}": {_encode(value)},\n'
        if key == "outcome":
            yield f'"test_outcome": {_encode(outcome)},\n'
    yield f'"run": {run.strip() if run is not None else "null"}\n}}'


def _encode(value: object) -> str:
    try:
        return json.dumps(value, default=as_json, allow_nan=False)
    except ValueError:  # a user's own metric may return what JSON has no number for
        return json.dumps(_finite(json.loads(json.dumps(value, default=as_json))))


def _finite(value: Any) -> Any:
    """Return a JSON value with None in place of NaN and infinities."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loads(text: str) -> SessionReport:
    """Read what `render` wrote. Raises ReportError for anything else."""
    try:
        document = strict_json.loads(text)
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
        return _session(document)
    except (KeyError, TypeError, ValueError) as error:
        raise ReportError(f"is damaged: {str(error).rstrip('.')}. Write the report anew.") from None


def _session(document: dict[str, Any]) -> SessionReport:
    """Read the header and the tests. Raises KeyError, TypeError or ValueError for what no report has."""
    header = read_dataclass(_Header, {key: value for key, value in document.items() if key != "tests"})
    tests = [dict(test) for test in document["tests"]]
    outcomes = {test["nodeid"]: test.pop("test_outcome") for test in tests}
    return SessionReport(
        [_item(test) for test in tests],
        header.exit_status,
        {nodeid: str(outcome) for nodeid, outcome in outcomes.items() if outcome is not None},
        {test["nodeid"]: test["text"] for test in header.unmeasured},
        header.unused_baselines,
        header.run_info,
        header.gone_since,
    )


def _item(test: dict[str, Any]) -> ItemReport:
    """Read the report of one test, whose run is an object in the file and text in an ItemReport."""
    if test["run"] is not None:
        try:
            test["run"] = Run.loads(json.dumps(test["run"])).dumps()
        except RunError as error:
            raise ValueError(f"its {error}") from None
    return read_dataclass(ItemReport, test)
