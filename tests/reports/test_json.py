"""The JSON report: the page of its fields names all that it has, its numbers are JSON's, and the page's program reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-report.md"


def fields_of_page():
    """Return the fields of each object that the page lists, those that may be absent apart."""
    found = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        rows = re.findall(r"(?m)^\| `(\w+)` \| ([^|]*) \|", body)
        found[title.strip("`")] = (
            {name for name, _ in rows},
            {name for name, kind in rows if "may be absent" in kind},
        )
    return found


KINDS = {
    "rows": "score_row",
    "slices": "score_row",
    "gates": "verdict",
    "notes": "note",
    "queries": "query",
    "as_stored": "query_as_stored",
    "selftest": "degradation",
    "run": "run",
    "since": "since",
    "means": "mean_since",
    "edits": "edit_since",
}
"""Field → what the page calls the objects in it."""


def objects(value, name):
    """Yield each object of a report with the page's name for it."""
    if isinstance(value, list):
        for one in value:
            yield from objects(one, name)
    elif isinstance(value, dict):
        yield name, value
        for key, inner in value.items():
            kind = {("run", "queries"): "answer"}.get((name, key), KINDS.get(key))
            if kind is not None and not (name == "run" and key == "means"):
                yield from objects(inner, kind)


def assert_as_the_page_has_it(report):
    pages = fields_of_page()
    every = [("The file", report), ("run_info", report["run_info"]), *objects(report["tests"], "test")]
    for name, found in every:
        known, optional = pages[name]
        assert known - optional <= found.keys() <= known, (name, found.keys() ^ known)
    return {name for name, _ in every}


def test_the_page_names_all_fields_of_a_session(rich):
    report = json.loads((rich.folder / "r.json").read_text(encoding="utf-8"))
    assert {"score_row", "verdict", "query", "query_as_stored", "run", "answer"} <= assert_as_the_page_has_it(
        report
    )


def test_the_page_names_all_fields_of_the_self_test(project):
    project.run("--ir-baseline-update")
    project.run("--ir-selftest", "--ir-report=r.json")
    assert "degradation" in assert_as_the_page_has_it(
        json.loads((project.path / "r.json").read_text(encoding="utf-8"))
    )


def test_what_json_has_no_number_for_is_null(project):
    conftest = project.path / "conftest.py"
    metric = "\ndef pytest_irmetrics_metrics(config):\n    return {'odd': lambda query, ranking, k: 1e308 * 10 ** len(ranking)}\n"
    conftest.write_text(conftest.read_text(encoding="utf-8") + metric, encoding="utf-8")
    project.run("-o", "ir_metrics=odd mrr", "--ir-report=r.json")
    json.loads((project.path / "r.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_the_page_s_program_reads_a_report(project, monkeypatch, capsys):
    project.run("--ir-report=run.json")
    monkeypatch.chdir(project.path)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    capsys.readouterr()
    exec(compile(code, "json-report.md", "exec"), {})
    assert capsys.readouterr().out.startswith("golden/faq.yaml mrr 0.83333333")
