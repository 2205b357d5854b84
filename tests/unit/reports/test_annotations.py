"""Annotations in GitHub's log: at the line of the query that broke most, and nothing of others in them is obeyed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.annotations import MOST, github_errors, github_warnings
from tests.unit.reports.samples import (
    HOSTILE,
    INFO,
    NODE,
    accepting,
    broken,
    failing,
    gate,
    hostile,
    passing,
    query,
    row,
)


def read(line):
    """Read a line as GitHub's runner does: the command's name, its properties and its message."""
    assert "\n" not in line
    assert "\r" not in line
    name, given, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    properties = {}
    for part in given.split(","):
        key, _, value = part.partition("=")
        for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(code, char)
        properties[key] = value
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        message = message.replace(code, char)
    return name, properties, message


def annotated(session, folder=""):
    return [read(line) for line in github_errors(replace(session, info=replace(INFO, folder=folder)))]


def test_a_failed_gate_is_an_error_at_the_query_that_broke_most():
    queries = [query("hours", where="golden/faq.yaml:3"), query()]
    gates = [gate(queries=["refund", "hours"], shares=[0.8, 0.2])]
    ((name, properties, message),) = annotated(
        SessionReport([failing(queries=queries, gates=gates), passing()], 1)
    )
    assert name == "error"
    assert properties == {
        "file": "golden/faq.yaml",
        "line": "12",
        "title": "Search quality: FAILS 1 of 1 gate",
    }
    assert message.splitlines() == [
        "mrr fell by 0.5000 from the baseline to 0.5000; at most 0.0100 is allowed.",
        "Here: refund, mrr 1.0000 → 0.5000. d1 (grade 3) fell from rank 1 to 2, overtaken by d2 (unjudged).",
        f"To look closer: pytest '{NODE}' --ir-baseline --ir-query refund",
    ]


@pytest.mark.parametrize(
    ("folder", "shown", "path"),
    [
        ("", "golden/faq.yaml", "golden/faq.yaml"),
        ("services/faq", "golden/faq.yaml", "services/faq/golden/faq.yaml"),
        ("services/faq", "golden/a:b, 50%.yaml", "services/faq/golden/a:b, 50%.yaml"),
    ],
)
def test_the_path_is_that_in_the_repository(folder, shown, path):
    item = failing(golden_set=shown, queries=[query(where=f"{shown}:7")])
    ((_, properties, _),) = annotated(SessionReport([item], 1), folder)
    assert (properties["file"], properties["line"]) == (path, "7")


def test_a_golden_set_outside_the_folder_is_found_in_its_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    shown = str(tmp_path / "golden" / "faq.yaml")
    ((_, properties, _),) = annotated(SessionReport([failing(queries=[query(where=f"{shown}:7")])], 1))
    assert (properties["file"], properties["line"]) == ("golden/faq.yaml", "7")
    (tmp_path / ".git").rmdir()


def test_a_query_that_could_not_be_retrieved_comes_before_those_that_scored_low():
    queries = [
        query(),
        query("down", where="golden/faq.yaml:30", now=(), before=None, error="raised KeyError: 'id'"),
    ]
    gates = [gate(word="errors", metric=None, queries=["refund", "down"], shares=[])]
    ((_, properties, message),) = annotated(
        SessionReport([failing(outcome="error", queries=queries, gates=gates)], 1)
    )
    assert properties["line"] == "30"
    assert "Here: down. raised KeyError: 'id'" in message


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        ("golden/faq.yaml:4:3", {"file": "golden/faq.yaml", "line": "4", "col": "3"}),
        ("the setting ir_max_drop", {"file": "golden/faq.yaml"}),
        ("golden/faq.yaml.old:4:3", {"file": "golden/faq.yaml"}),
    ],
)
def test_a_gate_that_no_query_explains_is_an_error_at_its_threshold_or_at_the_file(origin, place):
    item = failing(gates=[gate(queries=[], origin=origin)])
    ((_, properties, _),) = annotated(SessionReport([item], 1))
    assert {key: properties[key] for key in properties if key != "title"} == place


def test_each_problem_of_a_golden_set_that_cannot_be_read_is_an_error_at_its_place():
    first, measured, second = annotated(broken([failing()]))
    assert measured[1]["line"] == "12"  # before what else is wrong with the other set
    assert first[1] == {
        "file": "golden/new.yaml",
        "line": "3",
        "col": "5",
        "title": "Search quality: nothing was measured",
    }
    assert first[2].endswith("test_quality[new]: the key `relevent` is unknown.")
    assert second[1]["line"] == "9"


def test_a_test_that_fails_before_it_measures_is_an_error_of_its_file():
    session = SessionReport([], 1, {}, {NODE: "KeyError: 'x'\nin line: 2: 3"})
    ((_, properties, message),) = annotated(session, "services")
    assert properties == {
        "file": "services/tests/test_search.py",
        "title": "Search quality: nothing was measured",
    }
    assert message == f"{NODE}: KeyError: 'x'\nin line: 2: 3"


def test_what_passes_or_is_expected_to_fail_is_no_error():
    assert annotated(SessionReport([passing(), failing()], 0, {NODE: "xfailed"})) == []


def test_of_many_failures_the_worst_are_shown_and_the_others_counted():
    items = [
        failing(f"t.py::test[{n}]", golden_set=f"{n}.yaml", rows=[row(now=1 - n / 100)])
        for n in range(MOST + 4)
    ]
    lines = annotated(SessionReport(items, 1))
    assert len(lines) == MOST
    assert lines[-1][1] == {"title": "Search quality: 5 more failures"}
    assert {*annotated(SessionReport(items[:MOST], 1))[-1][1]} == {"file", "line", "title"}


def test_the_largest_fall_comes_first():
    items = [
        failing(f"t{n}.py::test[x]", golden_set="x.yaml", look=None, rows=[row(now=now)])
        for n, now in enumerate((0.9, 0.2, 0.5))
    ]
    assert [re.search(r"t\d", message)[0] for _, _, message in annotated(SessionReport(items, 1))] == [
        "t1",
        "t2",
        "t0",
    ]


def test_a_test_with_errors_comes_before_one_whose_mean_fell():
    fell = failing("t1.py::test[x]", golden_set="x.yaml", look=None, rows=[row(now=0.0)])
    errors = failing("t2.py::test[x]", golden_set="x.yaml", look=None, rows=[], outcome="error")
    assert "t2" in annotated(SessionReport([fell, errors], 1))[0][2]


def test_what_looks_like_an_escape_comes_out_as_it_was():
    item = failing(golden_set="50%25.yaml", gates=[gate(text="100 %, 50%0A", queries=[])])
    ((_, properties, message),) = annotated(SessionReport([item], 1))
    assert properties["file"] == "50%25.yaml"
    assert message.startswith("100 %, 50%0A\n")


def test_what_a_branch_accepts_is_ten_warnings_at_most():
    items = [accepting(f"t.py::test[{n:02}]") for n in range(MOST + 2)]
    warnings = [read(line) for line in github_warnings(SessionReport(items))]
    assert len(warnings) == MOST
    name, properties, message = warnings[0]
    assert name == "warning"
    assert properties["file"] == "ir_baselines/test_x/test[faq].json"
    assert message.startswith("t.py::test[00]: UNKNOWN: Nothing is known of what is accepted")


def test_hostile_text_gives_one_command_each():
    lines = list(
        github_errors(SessionReport([hostile()], 1, {}, {HOSTILE[0]: "\n".join(HOSTILE)}, info=INFO))
    )
    assert [read(line)[0] for line in lines] == ["error", "error"]


@given(st.text(), st.text(max_size=30), st.text())
def test_any_text_comes_out_of_one_command_as_it_is_shown(text, name, more):
    """No text ends its message or its property, begins another command, or hides anything."""
    where = f"{name}.yaml:3"
    item = failing(
        nodeid=more,
        golden_set=f"{name}.yaml",
        look=None,
        queries=[query(text, where=where, error=more or "x")],
        gates=[gate(text=text, queries=[text])],
    )
    (line,) = github_errors(SessionReport([item], 1, info=INFO))
    kind, properties, message = read(line)
    assert kind == "error"
    assert list(properties) in (["file", "line", "title"], ["file", "title"])
    assert line.isprintable() or not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", line)
    assert "Test: " in message
