"""What is said of a whole session: the headline, the exit status, the order of golden sets."""

from __future__ import annotations

import json as plain_json

import pytest

from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.reports import SessionReport, json, markdown
from pytest_irmetrics.reports.terminal import summary_lines
from tests.unit.reports.samples import NODE, broken, failing, passing, row


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (SessionReport([]), "nothing was measured"),
        (SessionReport([passing()]), "1 golden set passes"),
        (SessionReport([passing("a"), passing("b", golden_set="b")]), "2 golden sets pass"),
        (SessionReport([passing("a"), passing("b")]), "2 tests pass"),
        (SessionReport([failing(), passing()], 1), "1 of 2 golden sets fails"),
        (
            SessionReport([failing("a", golden_set="a"), failing("b"), passing()], 1),
            "2 of 3 golden sets fail",
        ),
        (SessionReport([failing()], 0, {NODE: "xfailed"}), "no golden set of 1 fails unexpectedly"),
        (
            SessionReport([failing("a", golden_set="a"), failing()], 1, {NODE: "xfailed"}),
            "1 of 2 golden sets fails",
        ),
        (SessionReport([passing(NODE)], 1, {NODE: "failed"}), "1 of 1 golden set fails"),
        (broken([failing()]), "1 of 1 golden set fails, 1 test failed before anything was measured"),
        (
            SessionReport([], 1, {}, {"a": "", "b": ""}),
            "nothing was measured, 2 tests failed before anything was measured",
        ),
    ],
)
def test_the_headline_counts_what_fails(session, said):
    assert session.headline() == said


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (SessionReport([passing()], 0), ""),
        (SessionReport([failing()], 1), ""),
        (broken([]), ""),
        (SessionReport([passing()], 1), "failed all the same"),
        (SessionReport([], 1), "none that measures anything"),
        (SessionReport([passing()], 2), "interrupted"),
        (SessionReport([passing()], 3), "internal error"),
        (SessionReport([], 5), "No test was run"),
        (SessionReport([passing()], 77), "exit status 77"),
    ],
)
def test_a_failed_session_always_says_why(session, said):
    ending = session.ending()
    assert said in ending
    assert bool(said) == bool(ending)


def test_failures_come_first_and_of_these_the_worst():
    items = [
        passing("b"),
        failing("fell"),
        passing("a"),
        failing("fell too"),
        failing("fell most", rows=[row(now=0.1)]),
        failing("without means", outcome="error", rows=[]),
    ]
    found = [item.nodeid for item in SessionReport(items, 1).measured_failures_first]
    assert found == ["without means", "fell most", "fell", "fell too", "a", "b"]


def test_unused_baselines_are_named_by_path():
    unused = {"b.json": "gone", "c.json": "skipped", "a.json": "gone"}
    session = SessionReport([passing()], unused_baselines=unused)
    assert [path for path, _ in session.unused_baseline_notes] == ["a.json", "b.json", "c.json"]
    text = json.render(session)
    assert list(plain_json.loads(text)["unused_baselines"]) == ["a.json", "b.json", "c.json"]
    assert text == json.render(SessionReport([passing()], unused_baselines=dict(sorted(unused.items()))))


def test_stored_baselines_are_printed_by_path():
    printed = [
        line.text
        for line in summary_lines(SessionReport([passing()], stored=["b: stored", "a: stored"]), Screen(), 0)
    ]
    assert [line for line in printed if "stored" in line] == ["baseline a: stored", "baseline b: stored"]


def test_sets_that_pass_beside_one_that_is_expected_to_fail_are_others():
    items = [failing("a", golden_set="a"), failing("b", golden_set="b"), passing("c")]
    text = markdown.render(SessionReport(items, 1, {"b": "xfailed"}))
    assert "<summary>2 other golden sets</summary>" in text
    assert "golden sets pass</summary>" not in text
