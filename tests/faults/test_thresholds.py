"""Thresholds that are refused and accepted: by mark, in the setting ir_thresholds and in a golden set."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.projects import printed

ROWS = yaml.safe_load((Path(__file__).parent / "thresholds.yaml").read_text(encoding="utf-8"))
OWN_METRIC = "def pytest_irmetrics_metrics(config):\n    return {'mine': lambda query, ranking, k: 0.5}\n"


def metric_and_words(row):
    """Split `METRIC: min=1 max=2` into the metric and its words; a first number is `min`."""
    metric, named, rest = str(row).partition(": ")
    metric, rest = (metric, rest) if named else ("recall@10", str(row))
    words = dict(word.split("=", 1) if "=" in word else ("min", word) for word in rest.split())
    return metric, {word: value.strip('"') for word, value in words.items()}


def value_of(text):
    """Return a number for what looks like one, as a user would write it in Python, and else the text."""
    return yaml.safe_load(text) if re.fullmatch(r"-?[\d.]+", text) else text


def mark_of(row):
    metric, words = metric_and_words(row)
    given = [repr(metric), *(f"**{{{word!r}: {value_of(value)!r}}}" for word, value in words.items())]
    return f"ir_threshold({', '.join(given)})"


def in_golden_set(row):
    metric, words = metric_and_words(row)
    given = ", ".join(f"{json.dumps(word)}: {value}" for word, value in words.items())
    return f"{metric}: {{{given}}}"


def failures(result):
    """Return the number of each test of a run → how it failed; all of them must have."""
    reports = [r for r in result.reprec.getreports("pytest_runtest_logreport") if r.when == "call"]
    assert {report.outcome for report in reports} == {"failed"}
    texts = [(re.search(r"(\d+)\D*$", report.nodeid)[1], report.longreprtext) for report in reports]
    return {int(number): " ".join(text.split()) for number, text in texts}


def assert_says(said, rows):
    assert len(said) == len(rows)
    for number, (row, key) in enumerate(rows):
        assert key in said[number], (row, key, said[number])
        assert len(said[number]) < 400, row


@pytest.fixture
def gated(project):
    """Give a project with a metric of its own."""
    project.write("conftest.py", (project.path / "conftest.py").read_text() + "\n\n" + OWN_METRIC)
    return project


def write_marks(project, marks):
    golden = '@pytest.mark.ir_golden("golden/faq.yaml")'
    tests = [
        f"{golden}\n@pytest.mark.{mark}\ndef test_{n}(irmetrics): irmetrics.check()\n"
        for n, mark in enumerate(marks)
    ]
    project.write("test_search.py", "import pytest\n\n" + "\n".join(tests))


def test_a_mark_that_cannot_be_used_fails_its_test_and_says_what_to_write(gated):
    rows = [
        *((mark_of(row), key) for row, key in ROWS["refused"].items()),
        *((f"ir_threshold('mrr', {value})", key) for value, key in ROWS["refused_values"].items()),
    ]
    write_marks(gated, [mark for mark, _ in rows])
    assert_says(failures(gated.pytester.runpytest_inprocess()), rows)


def test_a_golden_set_says_where_its_threshold_cannot_be_used(gated):
    (gated.path / "golden/faq.yaml").unlink()
    rows = []
    for row, key in ROWS["refused"].items():
        rows.append((f"thresholds:\n  {in_golden_set(row)}\nqueries:\n- {{query: q, relevant: d}}\n", key))
    for limits, key in ROWS["refused_of_a_query"].items():
        own = f"queries:\n- query: q\n  relevant: d\n  thresholds: {{mrr: {limits}}}\n"
        rows.append((own, key))
    for number, (text, _) in enumerate(rows):
        gated.write(f"golden/g{number}.yaml", text)
    said = failures(gated.pytester.runpytest_inprocess())
    assert_says(said, rows)
    for number, text in said.items():
        assert re.match(rf"golden/g{number}\.yaml:[234]:\d+: ", text), text


def line_of(row):
    metric, words = metric_and_words(row)
    return " ".join([metric, *(f"{word}={value}" for word, value in words.items())])


LINES = {**ROWS["refused_lines"], **{line_of(row): key for row, key in ROWS["refused"].items()}}


@pytest.mark.parametrize("line", LINES)
def test_a_setting_that_cannot_be_used_fails_the_tests_that_it_binds_to(project, line):
    result = project.run("-o", f"ir_thresholds={line}")
    result.assert_outcomes(failed=1)
    said = printed(result)
    assert f"ir_thresholds: {line!r}: " in said
    assert LINES[line] in said


@pytest.mark.parametrize("place", ["marks", "settings", "golden set"])
def test_a_threshold_gates_as_it_is_written_wherever_it_stands(gated, place):
    """Each row is of a metric of its own, so that one run has them all."""
    rows = {}
    for number, (row, gate) in enumerate(ROWS["accepted"].items()):
        metric, words = metric_and_words(row)
        if metric == "recall@10":
            metric = f"recall@{number + 1}"
        elif metric == "mine":
            metric = f"mine@{number + 1}"
        rows[metric] = words, gate
    golden = gated.path / "golden/faq.yaml"
    gated.test('ir_golden("golden/*.yaml", depth=50)')
    as_rows = [f"{metric}: {' '.join(f'{w}={v}' for w, v in words.items())}" for metric, (words, _) in rows.items()]  # fmt: skip
    if place == "marks":
        gated.test(['ir_golden("golden/*.yaml", depth=50)', *map(mark_of, as_rows)])
    elif place == "settings":
        lines = [row.replace(": ", " ", 1) for row in as_rows]
        gated.write("pytest.ini", "[pytest]\nir_thresholds =\n    " + "\n    ".join(lines) + "\n")
    else:
        golden.write_text(
            "thresholds:\n  " + "\n  ".join(map(in_golden_set, as_rows)) + "\n" + golden.read_text()
        )
    gated.run("--ir-report=json:report.json")
    (test,) = json.loads((gated.path / "report.json").read_text())["tests"]
    shown = {row["metric"]: row["gate"].replace("✗", "") for row in test["rows"] if row["gate"]}
    assert shown == {metric: gate for metric, (_, gate) in rows.items()}
