"""The JSON report, for programs: everything that was measured and judged, and each test's run.

`docs/reference/json-report.md` has its fields. It has one query a line, and a test's `run` as `Run.dumps` writes it: `run/run_json.py`
reads that out of a report, and `cli/shared.py` titles and texts, without this module.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import is_dataclass
from typing import Any

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.files import read_json_strictly
from pytest_irmetrics.reports.item_report import ItemReport, as_json
from pytest_irmetrics.reports.session_report import RunInfo, SessionReport
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.run.run_json import REPORT_FORMAT as FORMAT

BEGINNING = f'{{\n"format": "{FORMAT}"'

VERSION = 1

_OF_SESSION = ("exit_status", "unused_baselines", "unmeasured", "gone_since", "baselines_passed_over")
"""The fields of a SessionReport that the file has under their names."""

_LEFT_OUT = ("baseline_text", "baseline_digest", "run")
"""The fields of an ItemReport that are for the controller alone, or stand in the file in another way."""


def render(session: SessionReport) -> str:
    """Return the report as JSON text, all ASCII but for what the runs hold. Equal sessions give equal text."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "headline": session.headline(),
        "run_info": session.info and session.info._asdict(),
        **{name: getattr(session, name) for name in _OF_SESSION},
    }
    tests = ",\n".join(_test(item, session.outcomes.get(item.nodeid)) for item in session.items)
    fields = [f"{_encode(key)}: {_encode(value)}" for key, value in header.items() if value is not None]
    return _object([*fields, f'"tests": [\n{tests}\n]']) + "\n"


def _test(item: ItemReport, outcome: str | None) -> str:
    data = {**as_json(item), "test_outcome": outcome}
    fields = [f"{_encode(key)}: {_encode(value)}" for key, value in data.items() if key not in _LEFT_OUT]
    return _object([*fields, f'"run": {"null" if item.run is None else item.run.strip()}'])


def _object(fields: Iterable[str]) -> str:
    return "{\n" + ",\n".join(fields) + "\n}"


def _encode(value: object) -> str:
    """Return a value as JSON, each of the parts of a report on a line of its own."""
    if isinstance(value, list) and value and is_dataclass(value[0]):
        return "[\n" + ",\n".join(map(_encode, value)) + "\n]"
    return json.dumps(value, default=as_json)


def loads(text: str) -> SessionReport:
    """Read what `render` wrote. Raises IRMetricsError, which says why and what to do, for anything else."""
    try:
        document = read_json_strictly(text)
    except ValueError:
        raise IRMetricsError("is not JSON, or was cut short. Write the report anew.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise IRMetricsError("is not a report. Give a file that `pytest --ir-report=json:PATH` wrote.")
    version = document.get("version")
    if not isinstance(version, int) or version > VERSION:
        message = f"was written in a version of the format that this pytest-irmetrics does not know; it reads up to {VERSION}. Upgrade pytest-irmetrics, or write the report anew."
        raise IRMetricsError(message)
    try:
        return _session(document)
    except (KeyError, TypeError, ValueError, RunError) as error:
        fault = f"there is no {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise IRMetricsError(f"is damaged, or of another version: {fault}. Write the report anew.") from None


def _session(document: dict[str, Any]) -> SessionReport:
    """Read the header and the tests. Raises KeyError, TypeError, ValueError or RunError for what no report has."""
    tests = [dict(test) for test in document["tests"]]
    outcomes = {test["nodeid"]: test.pop("test_outcome") for test in tests}
    for test in tests:
        # An object in the file, and text in an ItemReport.
        test["run"] = None if test["run"] is None else Run.loads(json.dumps(test["run"])).dumps()
    info = document.get("run_info")
    return SessionReport(
        items=[*map(ItemReport.of_json, tests)],
        outcomes={nodeid: outcome for nodeid, outcome in outcomes.items() if outcome is not None},
        info=None if info is None else RunInfo(**info),
        **{name: document[name] for name in _OF_SESSION},
    )
