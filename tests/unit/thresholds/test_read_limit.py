"""Limits: which numbers, percentages and texts each word of a threshold takes, and how a limit prints."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.metrics import parse_metric
from pytest_irmetrics.thresholds import WORDS, Limit, ThresholdError, read_limit
from tests.reached import often, reached

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

    def test_a_percentage_is_one_of_the_baselines_score(self):
        assert Limit(5, percent=True).absolute(0.5) == 0.025
        assert Limit(5, percent=True).absolute(-0.5) == 0.025
        assert Limit(5, percent=True).absolute(None) == 0
        assert Limit(0.05).absolute(0.5) == 0.05


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
            ("min_gain", "0.01", Limit(0.01)),
            ("min_gain", 0, Limit(0)),
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
            ("min", 1.1, "from 0 to 1. For 1.1 per cent, write 0.011."),
            ("min", 7, "For 7 per cent, write 0.07."),
            ("max", 33.3, "For 33.3 per cent, write 0.333."),
            ("min_each", 70, "For 70 per cent, write 0.7."),
            ("min", -0.1, "from 0 to 1"),
            ("min", 1.5, "For 1.5 per cent, write 0.015."),
            ("min", 70, "For 70 per cent, write 0.7."),
            ("min", 100, "For 100 per cent, write 1."),
            ("max", 2, "from 0 to 1"),
            ("min_each", 2, "from 0 to 1"),
            ("max_drop", -0.01, "0 or more"),
            ("max_drop", 5, "or 5%"),
            ("max_drop", "101%", "from 0% to 100%"),
            ("max_drop", "-1%", "from 0% to 100%"),
            ("max_drop", "%", "from 0% to 100%"),
            ("max_lost", -1, "whole number"),
            ("min_gain", -0.01, "how far it must rise, 0 or more; `max_drop` says how far it may fall"),
            ("min_gain", 1.5, "further than it can rise"),
            ("min_gain", "5%", "only `max_drop` takes per cent"),
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

    @pytest.mark.parametrize("value", [101, -1])
    def test_what_is_no_percentage_is_not_taken_for_one(self, value):
        assert error_of(read_limit, NDCG, "min", value).endswith("Write a number from 0 to 1.")

    @pytest.mark.parametrize(
        ("word", "example"),
        [
            ("min", "0.7"),
            ("max_drop", "0.01 or 5%"),
            ("max_lost", "3"),
            ("significance", "0.05"),
            ("min_gain", "0.01"),
        ],
    )
    def test_shows_what_to_write_for_what_is_not_a_number(self, word, example):
        assert error_of(read_limit, NDCG, word, "high") == (
            f"`{word}` of ndcg@10 is 'high', which is not a number. Write for example {example}, or off."
        )

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

    @often(0.1)
    @given(
        st.text()
        | st.floats(-1, 2).map(str)
        | st.integers(-1, 99).map("{}%".format)
        | st.integers().map(str),
        st.sampled_from(WORDS),
    )
    def test_no_text_ends_in_another_error(self, text, word):
        try:
            limit = read_limit(NDCG, word, text)
        except ThresholdError:
            reached(None)
            return
        if reached(limit is not None):
            assert math.isfinite(limit.value)
