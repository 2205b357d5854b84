"""The scores as OpenMetrics: as the format and GitLab's reader of it have it."""

from __future__ import annotations

import re
import shlex

from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.openmetrics import render
from tests.unit.reports.samples import NODE, broken, failing, hostile, passing, row

LINE = re.compile(
    r'[a-z_]+\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\} -?[0-9.e-]+'
)


def read_by_gitlab(text):
    """Metric → value, as GitLab reads a metrics report: what follows a `#` is a comment, the rest is words of a shell."""
    words = (shlex.split(re.sub("#.*", "", line)) for line in text.splitlines())
    return dict(pair for pair in words if pair)


def test_each_mean_has_a_line():
    item = failing(rows=[row(), row("mrr", tag="billing", full=0.25), row("map", full=None)])
    text = render(SessionReport([passing(), item], 1))
    assert text.splitlines() == [
        "# TYPE irmetrics_score gauge",
        "# HELP irmetrics_score The mean over all queries of a golden set, or over those with a tag.",
        f'irmetrics_score{{test="{NODE}",metric="mrr"}} 0.5',
        f'irmetrics_score{{test="{NODE}",metric="mrr",tag="billing"}} 0.25',
        'irmetrics_score{test="tests/test_search.py::test_quality[help]",metric="mrr"} 1.0',
        "# TYPE irmetrics_failed_gates gauge",
        "# HELP irmetrics_failed_gates How many gates of a test fail.",
        f'irmetrics_failed_gates{{test="{NODE}"}} 1',
        'irmetrics_failed_gates{test="tests/test_search.py::test_quality[help]"} 0',
        "# EOF",
    ]
    assert read_by_gitlab(text)[f"irmetrics_score{{test={NODE},metric=mrr}}"] == "0.5"


def test_a_session_that_measured_nothing_has_no_score():
    assert read_by_gitlab(render(broken([]))) == {}


def test_hostile_text_stays_in_its_label():
    lines = [line for line in render(SessionReport([hostile()], 1)).splitlines() if not line.startswith("# ")]
    assert lines
    assert all(LINE.fullmatch(line) for line in lines)


@given(st.text(), st.text(min_size=1))
def test_any_name_is_one_label(nodeid, tag):
    text = render(SessionReport([failing(nodeid=nodeid, rows=[row(tag=tag)])], 1))
    samples = [line for line in text.splitlines() if not line.startswith("# ")]
    assert all(LINE.fullmatch(line) for line in samples)
    assert len(samples) == 2
    assert len(read_by_gitlab(text)) == 2
