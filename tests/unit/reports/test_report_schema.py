"""The published JSON Schema of the JSON report: what is written satisfies it, and no field is without a meaning."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from pytest_irmetrics.cli.schema import REPORT_SCHEMA
from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.json import render
from tests.expected import RENEWING
from tests.report_schema import page_text, schema, schema_text
from tests.unit.reports.samples import (
    INFO,
    NODE,
    broken,
    failing,
    hostile,
    passing,
    query,
    row,
    sliced,
    tried,
)
from tests.unit.reports.test_expected_output import session

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "json-report.md"
LEAD = "<!-- what follows is made of the code: make expected -->\n\n"


@pytest.fixture(scope="module")
def validator():
    described = json.loads(REPORT_SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(described)
    return jsonschema.Draft202012Validator(described)


def assert_same(path, wanted):
    """Hold a file against what it should be; with IRMETRICS_RENEW=1, write it."""
    if RENEWING:
        path.write_text(wanted, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == wanted, "`make expected` writes it anew"


def test_the_published_schema_is_that_of_the_code():
    assert_same(REPORT_SCHEMA, schema_text())


def test_the_page_lists_every_field_with_its_meaning():
    before, lead, _ = PAGE.read_text(encoding="utf-8").partition(LEAD)
    assert lead
    assert_same(PAGE, before + lead + page_text())


def objects(part):
    """Every object of a schema that lists its keys."""
    if isinstance(part, dict):
        if "properties" in part and isinstance(part["properties"], dict):
            yield part
        for one in part.values():
            yield from objects(one)
    elif isinstance(part, list):
        for one in part:
            yield from objects(one)


def test_every_object_is_closed_and_every_field_has_a_meaning():
    found = list(objects(schema()))
    assert len(found) > 15
    for one in found:
        assert one["additionalProperties"] is False
        for name, field in one["properties"].items():
            assert field["description"].endswith("."), name
            assert "None" not in field["description"], name


SESSIONS = {
    "all kinds of tests": session(),
    "nothing measured": SessionReport(),
    "a broken set": broken([]),
    "with its time and commit": SessionReport([failing(), passing()], 1, {NODE: "xfailed"}, info=INFO),
    "hostile texts": broken([replace(hostile(), rows=[])]),
    "slices and the self-test": SessionReport(
        [sliced(), tried(nodeid="v"), tried(nodeid="w", selftest=[])], 1
    ),
    "numbers that JSON has none for": SessionReport(
        [failing(rows=[row(full=None, now=None, baseline=None)])]
    ),
    "a query without a text": SessionReport([failing(queries=[query("q1", text=None)])], 1),
    "an unused baseline": SessionReport(unused_baselines={"x.json": "uncollected"}, gone_since=("y.json",)),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_report_satisfies_the_schema(validator, name):
    validator.validate(json.loads(render(SESSIONS[name])))


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.update(new=1),
        lambda report: report["tests"][0].update(new=1),
        lambda report: report["tests"][0]["rows"][0].update(new=1),
        lambda report: report["tests"][0]["run"]["queries"][0].update(new=1),
        lambda report: report["tests"][0].pop("outcome"),
        lambda report: report["tests"][0]["rows"][0].update(interval=[0.5]),
        lambda report: report.update(version=2),
    ],
)
def test_what_the_schema_does_not_name_is_refused(validator, change):
    report = json.loads(render(SESSIONS["with its time and commit"]))
    validator.validate(report)
    change(report)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(report)
