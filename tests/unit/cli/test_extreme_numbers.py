"""Commands tell of stored runs and reports with numbers at the ends of their ranges, and never end in a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_irmetrics import cli
from pytest_irmetrics.reports import json as report_json
from pytest_irmetrics.run import Run
from tests.extreme_numbers import edited
from tests.unit.cli.test_diff import BEFORE, GOLDEN
from tests.unit.reports.samples import broken, failing, passing

REPORT = json.loads(report_json.render(broken([failing(), passing()])))
RUN = json.loads(Run.of(BEFORE, 10, "faq.yaml", 1, {"mrr": 0.5}).dumps())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("extremes")
    (path / "faq.yaml").write_text(GOLDEN, encoding="utf-8")
    (path / "a.json").write_text(json.dumps(RUN), encoding="utf-8")
    (path / "ir_baselines" / "test_a").mkdir(parents=True)
    before = Path.cwd()
    os.chdir(path)
    yield path
    os.chdir(before)


def commands(name):
    return [
        ["diff", "a.json", name],
        ["diff", name, "a.json", "--golden", "faq.yaml"],
        ["show", "faq.yaml", "refund", "--run", name],
        ["label", "faq.yaml", "--run", name],
        ["convert", name, "out.run", "--force"],
        ["convert", name, "out.json", "--force"],
        ["report", name],
        ["report", name, "-o", "out.html", "-o", "again.json"],
        ["baselines", "list"],
    ]


def told(command):
    """Run a command; what it prints on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(command)
        except SystemExit as end:
            status = end.code
    assert status in (0, 1, 2)
    if status:
        assert err.getvalue() or out.getvalue()
    return err.getvalue()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=edited(RUN), number=st.integers(0, 8))
def test_of_runs(folder, text, number):
    name = "ir_baselines/test_a/test_b.json"
    (folder / name).write_text(text, encoding="utf-8")
    told(commands(name)[number])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=edited(REPORT), number=st.integers(0, 7))
def test_of_reports(folder, text, number):
    (folder / "quality.json").write_text(text, encoding="utf-8")
    told(commands("quality.json")[number])
