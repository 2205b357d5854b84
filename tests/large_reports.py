"""Write JSON reports of sessions of any size: one real run of one golden set, and as many tests with its report as are wanted."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

from tests.reports.rich_session import run_pytest

CONFTEST = """
import json, pathlib, pytest

@pytest.fixture
def retriever():
    answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
    return lambda query, k: answers[query][:k]
"""
TEST = """
import pytest

@pytest.mark.ir_golden("faq.yaml")
@pytest.mark.ir_threshold("mrr", 0.5)
def test_it(irmetrics):
    irmetrics.check()
"""
TOPICS = (
    "refund",
    "shipping",
    "login",
    "a very long word that nobody types: Donaudampfschifffahrtsgesellschaftskapitän",
)


def write_large_report(folder, tests, queries, moved=0.2):
    """Write `large.json` of so many tests of so many queries, of which a share fell; return its path. Every second test fails."""
    folder.mkdir(exist_ok=True)
    report = json.loads(_report_of_one_test(queries, moved))
    test = report["tests"][0]
    report["tests"] = [_named(test, n, failing=n % 2 == 0) for n in range(tests)]
    path = folder / "large.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


@cache
def _report_of_one_test(queries, moved):
    """Return the JSON report of a run that fails; reports of more tests with such queries need no other."""
    with tempfile.TemporaryDirectory() as folder:
        return _run(Path(folder), queries, moved)


def _run(folder, queries, moved):
    lines, before, now = ["queries:"], {}, {}
    for n in range(queries):
        text = f"{TOPICS[n % 4]} {n}"
        lines.append(
            f"  - {{id: faq-{n}, query: {json.dumps(text)}, relevant: {{doc-{n}-0: 2, doc-{n}-4: 1}}, tags: [tag-{n % 6}]}}"
        )
        before[text] = [f"doc-{n}-{rank}" for rank in range(10)]
        now[text] = before[text][::-1] if n < moved * queries else before[text]
    (folder / "faq.yaml").write_text("\n".join(lines), encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_large.py").write_text(TEST, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for answers, options in (
        (before, ["--ir-baseline-update"]),
        (now, ["--ir-baseline", "--ir-report=one.json"]),
    ):
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        run_pytest(folder, "-q", *options)
    return (folder / "one.json").read_text(encoding="utf-8")


def _named(test, number, *, failing):
    """Return a test's report as that of another golden set; one that passes without what failed."""
    named = {
        **test,
        "nodeid": f"test_large.py::test_it[faq-{number}]",
        "golden_set": f"golden/faq-{number}.yaml",
        "run": None,
    }
    if failing:
        return named
    gates = [gate for gate in test["gates"] if gate["state"] != "failed"]
    rows = [{**row, "verdict": row["verdict"] and "passes"} for row in test["rows"]]
    return {
        **named,
        "outcome": "passed",
        "test_outcome": "passed",
        "gates": gates,
        "rows": rows,
        "kind_sentences": [],
        "queries": [{**query, "explains": None} for query in test["queries"]],
    }
