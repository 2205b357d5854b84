from __future__ import annotations

import contextlib
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.metrics import Metric, parse_metric
from pytest_irmetrics.thresholds import (
    QUERY_WORDS,
    WORDS,
    Gate,
    Limit,
    Threshold,
    ThresholdError,
    build,
    parse_line,
    read_limit,
    resolve,
)

NDCG = parse_metric("ndcg@10")
LATENCY = parse_metric("latency_p95")
OWN = parse_metric("freshness", custom=["freshness"])


def error_of(function, *args, **kwargs) -> str:
    with pytest.raises(ThresholdError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


class TestLimit:
    @pytest.mark.parametrize(
        ("limit", "text"),
        [
            (Limit(0.7), "0.7"),
            (Limit(5, percent=True), "5%"),
            (Limit(2.5, percent=True), "2.5%"),
            (Limit(3), "3"),
            (Limit(1.0), "1"),
            (Limit(1e-05), "1e-05"),
            (Limit(0.1 + 0.2), "0.30000000000000004"),
        ],
    )
    def test_prints_as_one_would_write_it(self, limit, text):
        assert str(limit) == text

    @given(st.floats(0, 1))
    def test_what_is_printed_is_read_back_as_the_same_number(self, value):
        assert read_limit(NDCG, "min", str(Limit(value))) == Limit(value)


class TestReadLimit:
    @pytest.mark.parametrize(
        ("word", "value", "limit"),
        [
            ("min", 0.7, Limit(0.7)),
            ("min", " 0.7 ", Limit(0.7)),
            ("min", ".5", Limit(0.5)),
            ("min", "1e-3", Limit(0.001)),
            ("min", 1, Limit(1)),
            ("max", "1.0", Limit(1.0)),
            ("max_drop", "5%", Limit(5, percent=True)),
            ("max_drop", "0.5 %", Limit(0.5, percent=True)),
            ("max_drop", 0, Limit(0)),
            ("max_drop", "0%", Limit(0, percent=True)),
            ("max_drop", "100%", Limit(100, percent=True)),
            ("max_lost", 3, Limit(3)),
            ("max_lost", "3", Limit(3)),
            ("significance", "0.05", Limit(0.05)),
            ("min_each", Fraction(1, 2), Limit(0.5)),
        ],
    )
    def test_reads_numbers_and_their_text(self, word, value, limit):
        assert read_limit(NDCG, word, value) == limit

    @pytest.mark.parametrize("word", WORDS)
    def test_off_is_none(self, word):
        assert read_limit(NDCG, word, "off") is None

    @pytest.mark.parametrize(
        ("word", "value"),
        [
            ("min", value)
            for value in (
                True,
                False,
                None,
                "high",
                "",
                "nan",
                "NaN",
                ".nan",
                "inf",
                "-inf",
                [0.5],
                {},
                "0x1",
                "1_0",
            )
        ]
        + [
            ("min", float("nan")),
            ("min", float("inf")),
            ("min", "\u0660"),
            ("min", "1" * 5000),
        ]
        + [("max_lost", "all"), ("max_lost", Decimal(1))],
    )
    def test_refuses_what_is_not_a_number(self, word, value):
        message = error_of(read_limit, NDCG, word, value)
        assert "not a number. Write" in message
        assert len(message) < 250

    @pytest.mark.parametrize(
        ("word", "value", "part"),
        [
            ("min", 1.1, "from 0 to 1"),
            ("min", -0.1, "from 0 to 1"),
            ("min", 70, "For 70 per cent, write 0.7."),
            ("max", 2, "from 0 to 1"),
            ("min_each", 2, "from 0 to 1"),
            ("max_drop", -0.01, "0 or more"),
            ("max_drop", 5, "or 5%"),
            ("max_drop", "101%", "from 0% to 100%"),
            ("max_drop", "-1%", "from 0% to 100%"),
            ("max_drop", "%", "from 0% to 100%"),
            ("max_lost", -1, "whole number"),
            ("max_lost", 1.5, "whole number"),
            ("max_lost", "5%", "only `max_drop` takes per cent"),
            ("min", "70%", "only `max_drop` takes per cent"),
            ("significance", 0, "between 0 and 1"),
            ("significance", 1, "between 0 and 1"),
            ("significance", 5, "between 0 and 1"),
        ],
    )
    def test_refuses_what_is_out_of_range(self, word, value, part):
        assert part in error_of(read_limit, NDCG, word, value)

    @pytest.mark.parametrize("word", [word for word in WORDS if word != "max"])
    def test_a_latency_has_max_alone(self, word):
        assert "Use `max`" in error_of(read_limit, LATENCY, word, 1)
        assert read_limit(LATENCY, "max", 250) == Limit(250)
        assert "0 or more" in error_of(read_limit, LATENCY, "max", -1)

    def test_a_metric_of_ones_own_has_no_range(self):
        assert read_limit(OWN, "min", -40) == Limit(-40)
        assert read_limit(OWN, "max_drop", 40) == Limit(40)

    def test_survives_a_value_whose_repr_raises(self):
        class Hostile:
            def __repr__(self):
                raise RuntimeError

        assert "a value of type Hostile" in error_of(read_limit, NDCG, "min", Hostile())

    def test_refuses_an_integer_that_python_will_not_print(self):
        assert "a value of type int" in error_of(read_limit, NDCG, "min", 10**5000)

    @given(st.text(), st.sampled_from(WORDS))
    def test_no_text_ends_in_another_error(self, text, word):
        with contextlib.suppress(ThresholdError):
            read_limit(NDCG, word, text)


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
        ("text", "tag"), [("billing", "billing"), ('"late delivery"', "late delivery"), ("'a b'", "a b")]
    )
    def test_reads_a_tag(self, text, tag):
        assert parse_line(f"mrr 0.5 tag={text}").tag == tag

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

    @given(st.text())
    def test_no_line_ends_in_another_error(self, line):
        with contextlib.suppress(ThresholdError):
            parse_line(line)


def gates(*levels):
    return list(resolve(levels))


class TestResolve:
    def test_the_nearest_wins_word_by_word(self):
        near = [build("P@5", {"min": 0.9}, origin="function")]
        far = [build("precision@5", {"min": 0.5, "max_drop": 0.1}, origin="settings")]
        assert gates(near, far) == [
            Gate(Metric("precision", 5), None, "min", Limit(0.9), "function"),
            Gate(Metric("precision", 5), None, "max_drop", Limit(0.1), "settings"),
        ]

    def test_a_tag_is_another_gate(self):
        near = [build("mrr", {"min": 0.9}, tag="a", origin="near")]
        far = [build("mrr", {"min": 0.5}, origin="far")]
        assert gates(near, far) == [
            Gate(Metric("mrr"), "a", "min", Limit(0.9), "near"),
            Gate(Metric("mrr"), None, "min", Limit(0.5), "far"),
        ]

    def test_off_cancels_what_is_further_away_and_no_more(self):
        near = [build("mrr", {"min": 0.9, "max_drop": "off"}, origin="near")]
        far = [build("mrr", {"min": 0.5, "max_drop": 0.1, "max_lost": 0}, origin="far")]
        assert gates(near, far) == [
            Gate(Metric("mrr"), None, "min", Limit(0.9), "near"),
            Gate(Metric("mrr"), None, "max_lost", Limit(0), "far"),
        ]
        assert not gates([build("mrr", {"min": "off"})], [build("mrr", {"min": 0.5})])
        assert gates([build("mrr", {"min": 0.5})], [build("mrr", {"min": "off"})]) == [
            Gate(Metric("mrr"), None, "min", Limit(0.5))
        ]

    def test_one_place_may_say_a_word_once(self):
        one, two = (
            build("P@5", {"min": 0.9}, origin="f.yaml:2:3"),
            build("precision@5", {"min": 0.8}, origin="f.yaml:3:3"),
        )
        message = error_of(resolve, [[one, two]])
        assert (
            message == "`min` of precision@5 is set twice in one place (f.yaml:2:3 and f.yaml:3:3). Keep one."
        )
        tagged = [build("mrr", {"max": 0.9}, tag="a", origin="x")] * 2
        assert (
            error_of(resolve, [tagged])
            == "`max` of mrr for the tag 'a' is set twice in one place (x). Keep one."
        )

    def test_one_place_may_say_different_words_of_one_metric(self):
        level = [build("mrr", {"min": 0.9}), build("mrr", {"max_drop": 0.1})]
        assert gates(level) == [
            Gate(Metric("mrr"), None, "min", Limit(0.9)),
            Gate(Metric("mrr"), None, "max_drop", Limit(0.1)),
        ]

    def test_gates_are_found_by_metric_tag_and_word(self):
        level = [build("mrr", {"min": 0.9, "max_drop": 0.1}), build("mrr", {"max_drop": 0}, tag="a")]
        resolved = resolve([level])
        assert len(resolved) == 3
        assert list(resolved.of(Metric("mrr"))) == ["min", "max_drop"]
        assert not resolved.of(Metric("map"))
        assert resolved.metrics == (Metric("mrr"),)
        assert list(resolved.slices) == [(Metric("mrr"), None), (Metric("mrr"), "a")]
        assert [gate.tag for gate in resolved.with_word("max_drop")] == [None, "a"]
        assert [gate.tag for gate in resolved.with_word("max_drop", without="min")] == ["a"]
