"""Whole reports, held against the files below tests/expected/reports; `make expected` writes these anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics.base.screen import Screen, Style
from pytest_irmetrics.reports import html, json, markdown
from pytest_irmetrics.reports.failure import failure_message
from pytest_irmetrics.reports.terminal import summary_lines
from tests.expected import assert_as_expected
from tests.unit.reports.samples import broken, failing, gate, passing, query, row, sliced, tried


def session():
    """A golden set that fails in several ways, one that passes, one for the self-test, and one that is broken."""
    queries = [
        query("refund"),
        query("opening", now=("d5",), before=("d1", "d5"), scores={"mrr": 0.0}, scores_before={"mrr": 1.0}),
        query("new", before=None, status="xfail: TICKET-7"),
        query("down", now=(), before=None, scores={}, error="raised KeyError: 'id'\nin line 2"),
    ]
    several = sliced(
        queries=queries,
        rows=[
            row(full=0.75, unpaired=1),
            row("map", 0.9, 0.9, "not checked"),
            row("judged@10", 0.4, 0.5, "", gate=""),
        ],
        gates=[
            gate(queries=["refund", "opening"], shares=[0.75, 0.25]),
            gate("not checked", "map", (), text="map: max_drop 0.01 is not checked without --ir-baseline."),
        ],
        explained_by=14,
        lowered=["map 0.9 → 0.8 (−0.1)"],
    )
    selftest = tried(nodeid="tests/test_search.py::test_quality[selftest]", golden_set="golden/selftest.yaml")
    return replace(
        broken([several, passing(), selftest]),
        problems=["the report x.html was not written: No space left on device."],
        stored=["ir_baselines/test_search/test_quality[help].json: stored"],
        written=["report.md"],
        unused_baselines={"ir_baselines/test_search/test_gone.json": "gone"},
        notes=[
            "the setting ir_thresholds has a limit on mrr [billing], and no golden set of this run has that tag."
        ],
    )


@pytest.mark.parametrize(
    ("report", "name"), [(html, "report.html"), (json, "report.json"), (markdown, "report.md")]
)
def test_a_report_file_is_as_expected(report, name):
    assert_as_expected(f"reports/{name}", report.render(session()))


@pytest.mark.parametrize("verbosity", [-1, 0, 1, 2])
@pytest.mark.parametrize("width", [60, 100])
def test_the_summary_is_as_expected(verbosity, width):
    """Each line has its style before it, so that a change of colour shows too."""
    lines = summary_lines(session(), Screen(width), verbosity)
    text = "".join(
        f"{'' if line.style is Style.PLAIN else line.style.name:<11}|{line.text}\n" for line in lines
    )
    assert_as_expected(f"reports/summary-{width}-verbosity-{verbosity}.txt", text)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_message_of_a_failure_is_as_expected(encoding):
    [item, *_] = session().items
    message = failure_message(item, Screen(80, encoding))
    assert_as_expected(f"reports/failure-{encoding}.txt", f"{message}\n")


def test_the_message_of_a_golden_set_with_errors_is_as_expected():
    places = [
        query(name, where=f"golden/faq.yaml:{line}", error="timed out after 5 s")
        for line, name in ((3, "a"), (9, "b"))
    ]
    errors = gate(
        word="errors",
        metric=None,
        text="2 of 2 queries could not be retrieved.",
        queries=["a", "b"],
        shares=[],
    )
    message = failure_message(
        failing(outcome="error", accept=None, rows=[], queries=places, gates=[errors]), Screen(80)
    )
    assert_as_expected("reports/failure-errors.txt", f"{message}\n")
