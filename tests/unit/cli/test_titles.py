"""Titles beside ids in `label`, `show` and `diff`: of a JSON report, or of a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from tests.unit.cli.test_label import FILE, folder  # noqa: F401 - a fixture that all use

TITLES = {"u1": "Refunds abroad", "d1": "Refunds", "0123": "When we are open", "d9": "Opening hours"}


def run_of(**rankings):
    asked = {"refund": "refund policy", "hours": "opening hours"}
    queries = [
        {
            "id": asked[key] if key == "hours" else key,
            "text": asked[key],
            "judgments": {"d1": 1},
            "rankings": [ranking],
        }
        for key, ranking in sorted(rankings.items(), reverse=True)
    ]
    return {
        "format": "pytest-irmetrics run",
        "version": 1,
        "queries": sorted(queries, key=lambda one: one["id"]),
    }


@pytest.fixture
def out(capsys):
    Path("titles.json").write_text(json.dumps(TITLES))
    run = run_of(refund=["u1", "d1", "u2"], hours=["d9", "0123"])
    test = {"nodeid": "test.py::test_it", "run": run, "titles": {"u1": "Of the report", "d1": "Judged"}}
    Path("report.json").write_text(json.dumps({"format": "pytest-irmetrics report", "tests": [test]}))
    Path("old.json").write_text(json.dumps(run_of(refund=["d1", "u1", "u2"], hours=["d9", "0123"])))

    def out(*arguments):
        assert cli.main(arguments) == 0
        return capsys.readouterr().out

    return out
