"""Thresholds from Python and from a setting's line: metric, words, tag."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.thresholds import (
    QUERY_WORDS,
    WORDS,
    Limit,
    Threshold,
    ThresholdError,
    build,
    parse_line,
)
from tests.reached import often, reached

NDCG = parse_metric("ndcg@10")


def error_of(function, *args, **kwargs) -> str:
    with pytest.raises(ThresholdError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


class TestBuild:
    def test_reads_a_metric_by_any_of_its_names(self):
        threshold = build("nDCG@10", {"min": 0.7, "max_drop": "5%"}, tag="billing", origin="here")
        assert threshold == Threshold(
            NDCG, {"min": Limit(0.7), "max_drop": Limit(5, percent=True)}, "billing", "here"
        )

    def test_knows_metrics_of_ones_own(self):
        assert build("freshness@5", {"min": -3}, custom=["freshness"]).metric.kind == "custom"

    @pytest.mark.parametrize(
        ("metric", "words", "part"),
        [
            ("ndgc@10", {"min": 0.5}, "Did you mean ndcg@10"),
            ("mrr", {}, "has no limit. Write one: `min`, `max`"),
            ("mrr", {"mim": 0.5}, "Did you mean `min`?"),
            ("mrr", {"max-drop": 0.5}, "Did you mean `max_drop`?"),
            ("mrr", {"z" * 100_000: 0.5}, "The words are `min`"),
            ("mrr", {"min": 2}, "`min` of mrr"),
        ],
    )
    def test_refuses(self, metric, words, part):
        message = error_of(build, metric, words)
        assert part in message
        assert len(message) < 300

    def test_a_query_has_fewer_words(self):
        for word in WORDS:
            if word in QUERY_WORDS:
                assert build("mrr", {word: 1}, for_query=True).limits == {word: Limit(1)}
            else:
                assert "about many queries" in error_of(build, "mrr", {word: 1}, for_query=True)
        assert error_of(build, "mrr", {}, for_query=True).endswith("Write one: `min`, `max_drop`.")


class TestParseLine:
    @pytest.mark.parametrize(
        ("line", "limits"),
        [
            ("ndcg@10 0.7", {"min": Limit(0.7)}),
            ("ndcg@10 0.7 max_drop=5%", {"min": Limit(0.7), "max_drop": Limit(5, percent=True)}),
            ("nDCG@10\tmin=0.7   max_lost=0", {"min": Limit(0.7), "max_lost": Limit(0)}),
            ("ndcg@10 off", {"min": None}),
            ("ndcg@10 max_drop=off", {"max_drop": None}),
            ('ndcg@10 max_drop="1%"', {"max_drop": Limit(1, percent=True)}),
        ],
    )
    def test_reads_the_words(self, line, limits):
        threshold = parse_line(line, origin="settings")
        assert (threshold.metric, threshold.limits, threshold.tag) == (NDCG, limits, None)
        assert threshold.origin == "settings"

    def test_reads_parameters_with_and_without_spaces(self):
        for text in ("ndcg(gain=exp)@10 0.7", "ndcg( gain = exp )@10 0.7"):
            assert parse_line(text).metric.name == "ndcg(gain=exp)@10"

    @pytest.mark.parametrize(
        ("text", "tag"),
        [
            ("billing", "billing"),
            ('"late delivery"', "late delivery"),
            ("'a b'", "a b"),
            ("abba", "abba"),
            ("'a", "'a"),
            ("a'", "a'"),
            ("'", "'"),
        ],
    )
    def test_reads_a_tag(self, text, tag):
        assert parse_line(f"mrr 0.5 tag={text}").tag == tag
        assert parse_line(f"mrr tag={text} min=0.5") == parse_line(f"mrr 0.5 tag={text}")

    def test_knows_metrics_of_ones_own(self):
        assert parse_line("freshness -3", custom=["freshness"]).metric.kind == "custom"

    @pytest.mark.parametrize(
        ("line", "part"),
        [
            ("", "empty"),
            ("mrr", "has no limit"),
            ("mrr tag=a", "has no limit"),
            ("mrr 0.5 0.6", "'0.6' is not `word=value`"),
            ("mrr high", "'high' is not `word=value`"),
            ("mrr min = 0.5", "'min' is not `word=value`"),
            ("mrr min= 0.5", "without spaces"),
            ("mrr 0.5 min=0.6", "`min` is given twice"),
            ("mrr min=0.5 min=0.6", "`min` is given twice"),
            ("mrr 0.5 tag=a tag=b", "`tag` is given twice"),
            ('mrr 0.5 tag=" "', "blank"),
            ("mrr maxdrop=0.5", "Did you mean `max_drop`?"),
            ("mmr 0.5", "unknown metric"),
        ],
    )
    def test_refuses(self, line, part):
        assert part in error_of(parse_line, line)

    LIMITS = st.sampled_from(["0.5", "0.01", "0", "5%", "off", "1e-9", "-1", "2", "x"])
    WORDED = st.builds("{}={}".format, st.sampled_from([*WORDS, "tag", "mni"]), LIMITS)
    LINES = st.builds(
        lambda name, given, worded: " ".join([name, *given, *worded]),
        st.sampled_from(
            [
                "mrr",
                "ndcg@10",
                "P@5",
                "mrr(rel=2)",
                "map(norm=min, rel=2)@10",
                "no_answer",
                "latency_p95",
                "x",
            ]
        ),
        st.lists(LIMITS, max_size=1),
        st.lists(WORDED, max_size=1),
    )

    @often(0.05)
    @given(st.text() | LINES | LINES)
    def test_no_line_ends_in_another_error(self, line):
        try:
            threshold = parse_line(line)
        except (ThresholdError, MetricError):
            reached(None)
            return
        reached(threshold)
        assert threshold.limits
        for limit in threshold.limits.values():
            assert limit is None or math.isfinite(limit.value)
