"""The table of failed gates: a line for each mean, and no number broken, however narrow the screen is."""

from __future__ import annotations

import re

import pytest

from pytest_irmetrics.base.layout import display_width
from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.reports.gates_table import gates_table
from tests.unit.reports.samples import failing, gate, row


def fell(count, **changes):
    rows = [
        row("map"),
        row("mrr", gate="≥0.78 drop≤0.01", tag=None, worse=12, changed=21, p=0.181, **changes),
    ]
    rows += [row("ndcg@10", tag=f"tag-{number}", changed=3, worse=2, p=0.0004) for number in range(count - 2)]
    gates = [gate(metric="mrr"), gate(metric="map"), *(gate(metric="ndcg@10", tag=r.tag) for r in rows[2:])]
    return failing(rows=rows, gates=gates)


def texts(item, width):
    return [line.text for line in gates_table(item, Screen(width))]


def test_the_mean_furthest_beyond_its_limit_comes_first():
    blank, head, first, second = texts(fell(2), 80)
    assert blank == ""
    assert head.split() == ["limit", "now", "baseline", "change", "worse", "better", "p"]
    assert first.split() == ["mrr", "≥0.78", "✗drop≤0.01", "0.5000", "1.0000", "−0.5000", "12", "9", "0.18"]
    assert second.startswith("map")


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_each_mean_has_one_line_and_whole_numbers(width):
    _, head, *lines = texts(fell(4), width)
    assert len(lines) == 4
    for line in (head, *lines):
        assert display_width(line) <= width
    for line in lines:
        assert re.search(r"0\.5000", line)
        assert "−0.5000" in line
        assert "…" not in line.split("drop")[-1].split("≥")[-1]


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (80, ["limit", "now", "baseline", "change", "worse", "better", "p"]),
        (65, ["limit", "now", "baseline", "change", "worse", "better"]),
        (58, ["limit", "now", "baseline", "change", "p"]),
        (50, ["limit", "now", "baseline", "change"]),
        (42, ["limit", "now", "change"]),
    ],
)
def test_a_narrow_screen_leaves_out_statistics_before_means(width, columns):
    _, head, *_ = texts(fell(2), width)
    assert head.split() == columns


def test_a_long_name_is_cut_before_a_number_goes():
    item = fell(3)
    item.rows[2].tag = item.gates[2].tag = "long " * 30
    _, head, *lines = texts(item, 80)
    assert head.split()[:4] == ["limit", "now", "baseline", "change"]
    assert lines[2].startswith("ndcg@10 [long lo")
    assert all(display_width(line) <= 80 for line in lines)


def test_of_many_means_five_are_shown_and_the_others_counted():
    _, _, *lines = texts(fell(9), 80)
    assert lines[5:] == ["4 more fail (-v names them)."]


def test_a_single_mean_below_its_threshold_has_said_all_in_words():
    item = failing(
        rows=[row(baseline=None, gate="≥0.8")], gates=[gate(word="min", shares=[], details=[])], against=None
    )
    assert texts(item, 80) == []


def test_thresholds_of_single_queries_are_no_rows():
    item = fell(2)
    item.gates[1].single = True
    assert [line.split()[0] for line in texts(item, 80)[2:]] == ["mrr"]


def test_the_broken_limit_is_marked_without_colour():
    item = fell(2)
    assert " ≥0.78 ✗drop≤0.01 " in texts(item, 80)[2]
    item.gates[0].word = "min"
    assert " ✗≥0.78 drop≤0.01 " in texts(item, 80)[2]
    ascii_lines = [line.text for line in gates_table(item, Screen(80, encoding="ascii"))]
    assert " !>=0.78 drop<=0.01 " in ascii_lines[2]


def test_milliseconds_have_one_decimal_unless_it_takes_more():
    item = failing(
        rows=[row("latency_p95", 25.2405, None, gate="≤5", bounds=[5.0]), row(gate="≥0.6")],
        gates=[gate(metric="latency_p95", word="max", shares=[]), gate()],
    )
    assert texts(item, 80)[2].split()[:3] == ["latency_p95", "✗≤5", "25.2"]
    item.rows[0].now = 5.004
    assert "5.004" in texts(item, 80)[2]
