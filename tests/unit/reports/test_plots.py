"""The plots of the HTML report as numbers: nothing off its axis, nothing hidden, nothing drawn that is not known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.reports import plots
from pytest_irmetrics.reports.item_report import Curve
from pytest_irmetrics.reports.query_details import side_by_side
from tests.unit.reports.samples import query, row


def test_all_metrics_share_one_axis_about_zero():
    axis = plots.change_axis([row("mrr", 0.7, 0.8), row("ndcg@10", 0.71, 0.7)])
    assert axis.low == -axis.high
    assert axis.high == pytest.approx(0.115)
    assert axis.at(0) == plots.WIDTH / 2
    assert axis.at(-0.1) < axis.at(0.01)


def test_a_limit_far_away_does_not_hide_the_changes():
    near, far = row("mrr", 0.79, 0.8, bounds=[0.78]), row("mrr", 0.79, 0.8, bounds=[0.1])
    assert plots.change_axis([near]).shows(-0.02)
    assert not plots.change_axis([far]).shows(-0.7)
    assert plots.change_plot(far, plots.change_axis([far])).limits == ()


def test_a_change_has_its_band_and_its_limit():
    fell = row("mrr", 0.75, 0.8, allowed=0.01, bounds=[0.74])
    axis = plots.change_axis([fell])
    plot = plots.change_plot(fell, axis)
    assert plot.limits[0] < plot.now < plot.band < plot.zero


def test_nothing_is_drawn_of_what_is_not_compared():
    alone = row("mrr", 0.5, None)
    assert plots.change_axis([alone]) is None
    assert plots.change_plot(alone, None) is None
    assert plots.level_plot(alone).now == plots.WIDTH / 2


@pytest.mark.parametrize("value", [-0.1, 1.5, 61.3, None])
def test_what_is_no_score_has_no_level(value):
    assert plots.level_plot(row("latency_p95", value, None)) is None


def test_an_interval_beyond_the_axis_is_clipped():
    wide = row("mrr", 0.7, 0.8, "", tag="a", n=9, changed=6, interval=(-0.9, 0.7))
    axis = plots.interval_axis([wide])
    plot = plots.interval_plot(wide, axis)
    assert plot.clipped
    assert 0 < plot.low < plot.now < plot.zero < plot.high < plots.WIDTH


def test_a_slice_without_an_interval_is_a_point():
    alone = row("mrr", 0.7, 0.8, tag="a")
    plot = plots.interval_plot(alone, plots.interval_axis([alone]))
    assert (plot.low, plot.high, plot.clipped) == (None, None, False)


def test_slices_that_say_nothing_stand_apart():
    rows = [
        row("mrr", 0.7, 0.8, tag="a", n=9),
        row("mrr", 0.1, 0.8, tag="b", n=2),
        row("mrr", 0.6, 0.8, tag="c", n=9),
    ]
    telling, tiny = plots.telling_and_tiny(rows)
    assert [one.tag for one in telling] == ["c", "a"]
    assert [one.tag for one in tiny] == ["b"]


def test_bars_are_the_queries_that_changed_largest_fall_first():
    bars = plots.change_bars([("q-a", "a", 0.25), ("q-b", "b", 0.0), ("q-c", "c", -0.5), ("", "d", -0.1)])
    assert [(bar.anchor, bar.title, bar.shade) for bar in bars.bars] == [
        ("q-c", "c: −0.5000", "bad"),
        ("", "d: −0.1000", "bad"),
        ("q-a", "a: +0.2500", "good"),
    ]
    assert bars.caption == "2 worse, 1 better, 1 same"
    assert bars.bars[0].y == bars.zero
    assert bars.bars[2].y + bars.bars[2].height == pytest.approx(bars.zero, abs=0.1)
    assert bars.bars[0].height == pytest.approx(2 * bars.bars[2].height, abs=0.2)


def test_where_nothing_changed_there_are_no_bars():
    assert plots.change_bars([("q-a", "a", 0.0)]) is None


def test_of_very_many_changes_the_largest_have_bars():
    queries = [(f"q-{n}", str(n), (n - 500) / 1000) for n in range(1001)]
    bars = plots.change_bars(queries)
    assert len(bars.bars) == 240
    assert (
        bars.caption
        == "500 worse, 500 better, 1 same; bars for the 120 largest falls and the 120 largest rises"
    )
    assert bars.bars[119].title == "119: −0.3810"
    assert bars.bars[120].title == "881: +0.3810"


@given(st.lists(st.floats(-1, 1) | st.floats(-1e100, 1e100), max_size=400))
def test_every_bar_is_within_its_plot(changes):
    bars = plots.change_bars([("", "", change) for change in changes])
    for bar in bars.bars if bars else ():
        assert bar.x >= 0
        assert bar.x + bar.width <= bars.width + 1
        assert bar.y >= 0
        assert bar.y + bar.height <= bars.height + 1
        assert bar.height >= 1


def test_scores_have_bars_where_nothing_is_compared():
    bars = plots.score_bars([("q-a", "a", 1.0), ("q-b", "b", 0.0)])
    assert [bar.title for bar in bars.bars] == ["b: 0.0000", "a: 1.0000"]
    assert bars.caption == "1 of 2 score 0"
    assert plots.score_bars([("q-a", "a", 12.0)]) is None


def test_each_document_has_one_line_from_its_rank_to_its_rank():
    one = query(
        before=("d1", "d3", "x", "bad"),
        now=("x", "bad", "d3", "y"),
        forbidden=["bad"],
        judgments={"d1": 2, "d3": 1},
    )
    lines = plots.rank_lines(side_by_side(one))
    height = plots.ROW_HEIGHT
    found = {
        (line.kind, line.gone, line.new, line.fell): (line.y_before / height, line.y_now / height)
        for line in lines
    }
    assert found == {
        ("relevant", True, False, True): (0.5, 4),
        ("relevant", False, False, True): (1.5, 2.5),
        ("unjudged", False, False, False): (2.5, 0.5),
        ("forbidden", False, False, False): (3.5, 1.5),
        ("unjudged", False, True, False): (4, 3.5),
    }
    assert [line.kind for line in lines[-3:]] == ["relevant", "relevant", "forbidden"]


def test_a_curve_has_a_point_for_each_cutoff():
    plot = plots.curve_plot(Curve("recall", [0.5, 0.75, 1.0], [0.5, 0.8, 0.9]))
    assert len(plot.now.split()) == len(plot.baseline.split()) == plot.depth == 3
    assert (plot.last_now, plot.last_baseline) == ("1.0000", "0.9000")
    alone = plots.curve_plot(Curve("recall", [0.0, 0.0], []))
    assert alone.baseline == ""


def test_the_points_of_a_curve_rise_with_its_values():
    plot = plots.curve_plot(Curve("rank", [0.0, 5.0, 10.0], [10.0]))
    (left, low), (middle, half), (right, high) = (map(float, point.split(",")) for point in plot.now.split())
    assert middle == pytest.approx((left + right) / 2)
    assert half == pytest.approx((low + high) / 2)
    assert (left < right, high < half < low) == (True, True)
    assert [float(number) for number in plot.baseline.split(",")] == [left, high]


def test_variants_share_an_axis_of_how_far_they_are_below_the_highest():
    axis = plots.variant_axis([[0.51, 0.61, None], [0.9, 0.89, 0.9], [12.5, 9.0, 7.0], [None, None, None]])
    assert (axis.low, axis.high) == (pytest.approx(-0.115), 0)
    assert plots.variant_axis([[0.5, 0.5]]).low < 0
    assert plots.variant_axis([[12.5, None]]) is None


def test_each_variant_has_a_dot_of_its_own_shape():
    axis = plots.variant_axis([[0.5, 0.7]])
    dots = plots.variant_dots(axis, ["a", "b", "c"], [0.5, None, 0.7], [False, False, True])
    assert [(dot.shape, dot.title, dot.best, dot.x) for dot in dots.dots] == [
        ("circle", "a 0.5000", False, axis.at(-0.2)),
        ("triangle", "c 0.7000", True, axis.at(0)),
    ]
    assert (dots.low, dots.high) == (axis.at(-0.2), axis.at(0))
    assert plots.variant_dots(axis, ["a", "b"], [0.5, 12.5], [False, True]) is None
    assert plots.variant_dots(axis, ["a"], [None], [False]) is None


def test_bars_have_their_values_at_the_ends_and_an_outline():
    bars = plots.change_bars([("q-a", "a", 0.25), ("q-c", "c", -0.5)])
    assert (bars.top, bars.bottom) == ("+0.25", "−0.50")
    assert bars.outline("bad").count("M") == bars.outline("good").count("M") == 1
    scores = plots.score_bars([("q", "a", 0.5), ("r", "b", 0.0)])
    assert (scores.top, scores.bottom) == ("1", "0")
    assert [bar.shade for bar in scores.bars] == ["bad", "plain"]
    assert (plots.score_bars([("q", "a", 0.5)]).top, plots.change_bars([("q", "a", -0.5)]).top) == ("1", "")
