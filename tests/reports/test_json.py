"""The JSON report has JSON's numbers alone."""

from __future__ import annotations

import json

import pytest


def test_what_json_has_no_number_for_is_null(project):
    conftest = project.path / "conftest.py"
    metric = "\ndef pytest_irmetrics_metrics(config):\n    return {'odd': lambda query, ranking, k: 1e308 * 10 ** len(ranking)}\n"
    conftest.write_text(conftest.read_text(encoding="utf-8") + metric, encoding="utf-8")
    project.run("-o", "ir_metrics=odd mrr", "--ir-report=r.json")
    json.loads((project.path / "r.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
