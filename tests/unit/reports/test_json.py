"""The JSON report: everything, loadable, and the same bytes for the same items."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.json import FORMAT, VERSION, ReportError, loads, render
from pytest_irmetrics.run import Run
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

anything = st.text(st.characters(exclude_categories=()), max_size=20)


def test_when_and_on_what_a_session_ran_is_read_back():
    assert loads(render(SessionReport([failing()], 1, info=INFO))).info == INFO
    assert loads(render(SessionReport([failing()], 1))).info is None


def test_a_report_has_all_keys():
    document = json.loads(render(broken([failing(), passing()])))
    assert list(document) == [
        "format",
        "version",
        "accepted",
        "exit_status",
        "headline",
        "gone_since",
        "unused_baselines",
        "unmeasured",
        "tests",
    ]
    assert (document["format"], document["version"], document["exit_status"]) == (FORMAT, VERSION, 1)
    assert document["unmeasured"][0]["nodeid"] == "tests/test_search.py::test_quality[new]"
    first, second = document["tests"]
    assert (first["nodeid"], first["golden_set"]) == (NODE, "golden/faq.yaml")
    assert (first["outcome"], first["test_outcome"], second["test_outcome"]) == ("failed", "failed", None)
    assert first["query_count"] == 1
    assert first["rows"][0]["delta"] == -0.5
    assert first["gates"][0]["state"] == "failed"
    assert first["notes"] == failing().notes
    assert first["queries"][0]["scores"] == {"mrr": 0.5, "ndcg@10": 0.6}
    assert first["queries"][0]["before"] == ["d1", "d2"]


def test_a_tests_run_can_be_loaded():
    document = json.loads(render(SessionReport([failing()])))
    run = Run.loads(json.dumps(document["tests"][0]["run"]))
    assert run == Run.loads(failing().run)
    assert run["refund"] == ("d2", "d1")


def test_a_report_of_one_test_can_be_loaded_as_a_run(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(render(SessionReport([failing()], 1)), encoding="utf-8")
    assert Run.load(path) == Run.loads(failing().run)


def test_each_query_is_on_a_line_of_its_own():
    lines = render(SessionReport([failing(queries=[query("q1"), query("q2")])])).splitlines()
    assert sum(line.startswith('{"query_id": "q1"') for line in lines) == 1
    assert sum(line.startswith('{"id": "q1"') for line in lines) == 1


def test_the_same_items_in_any_order_give_the_same_bytes():
    items = [failing(), passing(), passing("z")]
    assert render(broken(items)) == render(broken(items[::-1]))


def test_a_report_is_read_as_it_was_written():
    items = [failing(), passing(only_queries=True)]
    items += [sliced(nodeid="u"), tried(nodeid="v"), tried(nodeid="w", selftest=[])]
    session = replace(broken(items), unused_baselines={"ir_baselines/test_x/y.json": "gone"})
    assert loads(render(session)) == session


@pytest.mark.parametrize("unused", [None, [], {"a.json": "lost"}, {"a.json": []}, {"a.json": 1}])
def test_a_baseline_that_is_unused_for_no_known_reason_is_damage(unused):
    document = json.loads(render(broken([failing()])))
    with pytest.raises(ReportError, match="is damaged"):
        loads(json.dumps({**document, "unused_baselines": unused}))


@given(text=anything, number=st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_and_number_are_read_as_written(text, number):
    item = failing(
        nodeid=text,
        queries=[query(text, now=(text or "d",), judgments={text: min(number, 1000)}, error=text, text=None)],
        rows=[row(tag=text, now=number, interval=(number, number))],
        notes=[text],
    )
    written = render(SessionReport([item], 1, {text: "failed"}))
    assert loads(written) == (SessionReport([item], 1, {text: "failed"}))
    written.encode("utf-8")


def test_hostile_text_is_written_in_ascii():
    written = render(SessionReport([hostile()]))
    assert written.isascii()
    assert loads(written).items == [hostile()]


def test_nan_and_infinity_become_null():
    item = failing(rows=[row(now=float("inf"), baseline=None)], queries=[query(scores={"mrr": float("nan")})])
    read = loads(render(SessionReport([item]))).items[0]
    assert read.rows[0].now is None
    assert read.queries[0].scores == {"mrr": None}


def test_the_baseline_to_store_is_left_out():
    written = render(SessionReport([failing(baseline_file="ir_baselines/x.json", baseline_text="{}")]))
    assert "baseline_file" not in written
    assert "baseline_text" not in written


def test_a_test_without_a_run_is_kept():
    item = failing(outcome="error", run=None, rows=[])
    assert loads(render(SessionReport([item], 1))).items == [item]


def damaged(change):
    document = json.loads(render(SessionReport([failing()], 1)))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        (render(SessionReport([failing()]))[:-4], "cut short"),
        ("[]", "not a report"),
        (failing().run, "not a report"),
        (damaged(lambda report: report.update(version=2)), "does not know"),
        (damaged(lambda report: report.update(version="1")), "does not know"),
        (damaged(lambda report: report.update(tests=3)), "damaged"),
        (damaged(lambda report: report.update(exit_status="0")), "damaged"),
        (damaged(lambda report: report.pop("unmeasured")), "damaged"),
        (damaged(lambda report: report["tests"][0].update(rows=[{}])), "damaged"),
        (damaged(lambda report: report["tests"][0].update(rowz=[])), "'rowz' is unknown"),
        (damaged(lambda report: report["tests"][0].update(notes="x")), "'notes' cannot be 'x'"),
        (damaged(lambda report: report["tests"][0].update(query_count=True)), "'query_count' cannot be True"),
        (damaged(lambda report: report["tests"][0].update(only_queries=1)), "'only_queries' cannot be 1"),
        (damaged(lambda report: report["tests"][0]["rows"][0].update(now="1")), "'now' cannot be '1'"),
        (damaged(lambda report: report["tests"][0]["rows"][0].update(interval=[1])), "'interval' cannot be"),
        (damaged(lambda report: report["tests"][0]["queries"][0].update(scores=[])), "'scores' cannot be"),
        (damaged(lambda report: report["tests"][0]["run"].update(queries=3)), "`queries` is not a list"),
    ],
)
def test_a_damaged_report_is_refused_with_the_reason(text, said):
    with pytest.raises(ReportError, match=said):
        loads(text)


def test_items_are_not_changed_by_being_written():
    item = failing()
    before = replace(item)
    render(SessionReport([item]))
    assert item == before
