"""Read numbers strictly, and print scores so that they do not contradict a verdict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.base.numbers import (
    MINUS,
    change_text,
    finite,
    interval_ends_text,
    p_value_text,
    read_number,
    score_text,
    signed_text,
    weight_advice,
)


@pytest.mark.parametrize(
    ("value", "against", "shown"),
    [
        (0.8123456, [], "0.8123"),
        (0.79996, [], "0.8000"),
        (0.79996, [0.8], "0.79996"),
        (0.8, [0.79996], "0.80000"),
        (0.7999999999, [0.8], "0.8000"),
        (0.799999998, [0.8], "0.799999998"),
        (0.8, [None], "0.8000"),
        (0.00001, [0], "0.00001"),
        (None, [], "-"),
        (float("inf"), [1.0], "inf"),
        (float("-inf"), [], f"{MINUS}inf"),
        (float("nan"), [], "nan"),
        (-0.25, [], f"{MINUS}0.2500"),
        (-0.00001, [], "0.0000"),
        (0.5, [float("nan"), float("inf")], "0.5000"),
        (1e300, [], "1e+300"),
        (1234567891.0, [1234567892.0], "1234567891"),
        (1e15 + 1, [1e15 + 2], "1000000000000001"),
        (2.0**54, [2.0**54 + 4], "1.801439850948198e+16"),
        (1e9, [], "1e+09"),
        (999_999_999.0, [], "999999999.0000"),
        (1234567891.0, [], "1.23457e+09"),
        (0.5, [1e9], "0.5"),
        (-1e12, [], f"{MINUS}1e+12"),
        (1.0, [1.0 + 9e-10], "1.0000"),
        (1.0, [1.0 - 3e-9], "1.000000000"),
    ],
)
def test_a_number_never_prints_like_one_it_differs_from(value, against, shown):
    assert score_text(value, *against) == shown


@given(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6),
)
def test_printed_numbers_stand_in_the_order_of_the_real_ones(first, second):
    printed = [
        float(score_text(one, other).replace(MINUS, "-")) for one, other in ((first, second), (second, first))
    ]
    if first < second - 1e-8:
        assert printed[0] < printed[1]


def test_a_change_shows_both_scores_so_that_they_differ():
    assert change_text(0.8, 0.79) == "0.8000 → 0.7900"
    assert change_text(0.8, 0.79996) == "0.80000 → 0.79996"
    assert change_text(None, 0.5) == "- → 0.5000"


def test_digits_can_be_fewer():
    assert score_text(12.34, digits=1) == "12.3"
    assert score_text(12.34, 12.33, digits=1) == "12.34"
    assert signed_text(0.5, digits=2) == "+0.50"


@pytest.mark.parametrize(
    ("delta", "against", "shown"),
    [
        (-0.0267, [], f"{MINUS}0.0267"),
        (0.01, [], "+0.0100"),
        (0.0, [], "0.0000"),
        (1e-12, [], "0.0000"),
        (-0.00001, [], f"{MINUS}0.0000"),
        (-0.01004, [0.01], f"{MINUS}0.01004"),
        (None, [], "-"),
        (float("nan"), [], "nan"),
    ],
)
def test_a_difference_shows_its_sign(delta, against, shown):
    assert signed_text(delta, *against) == shown


def test_the_ends_of_an_interval_have_three_decimals():
    assert interval_ends_text((-0.0451, 0.0081)) == f"{MINUS}0.045 to +0.008"


@pytest.mark.parametrize(
    ("p", "levels", "shown"),
    [
        (0.5, [], "p = 0.50"),
        (0.01, [], "p = 0.01"),
        (0.0094, [], "p = 0.009"),
        (0.001, [], "p = 0.001"),
        (0.0009, [], "p < 0.001"),
        (0.0, [], "p < 0.001"),
        (0.004, [0.05], "p = 0.004"),
        (0.0499, [0.05], "p = 0.0499"),
        (0.0501, [0.05], "p = 0.0501"),
        (0.0009, [0.001], "p < 0.001"),
        (0.001, [0.001], "p = 0.001"),
        (0.0001, [0.0005], "p < 0.0005"),
        (0.0007, [0.0005], "p = 0.0007"),
    ],
)
def test_a_p_value_is_short_and_on_the_right_side_of_its_level(p, levels, shown):
    assert p_value_text(p, *levels, equal="p = ", less="p < ") == shown


def test_a_p_value_of_a_table_is_bare():
    assert [p_value_text(p) for p in (0.25, 0.004, 0.0004)] == ["0.25", "0.004", "<0.001"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("-3", -3), ("0.50", 0.5), (".5", 0.5), ("-.5e1", -5.0), ("1E3", 1000.0), ("2.0", 2.0)],
)
def test_reads_a_number_as_json_writes_it_or_without_its_zero(text, number):
    assert read_number(text) == number
    assert type(read_number(text)) is type(number)


@pytest.mark.parametrize(
    "text",
    ["", "x", "+1", "01", "1.", "0x1", "1_000", "nan", "inf", "1e999", "\u0663", " 1", "9" * 401, "5%"],
)
def test_reads_nothing_that_others_read_otherwise(text):
    assert read_number(text) is None


def test_takes_finite_numbers_alone():
    assert [finite(value) for value in (1, 0.5, True, float("nan"), float("inf"), "1", None)] == [
        1, 0.5, None, None, None, None, None,
    ]  # fmt: skip


def test_says_which_weights_can_be_used():
    assert weight_advice(None) == weight_advice(0) == weight_advice(2e9) == weight_advice(-1e-301)
    assert weight_advice(None) == "Write a number above 0 and up to 1,000,000,000."
    assert (
        weight_advice(1e-301)
        == "Write a number above 0, such as 1e-300 or greater: nearer to 0, sums lose it."
    )
    assert weight_advice(1e-300) == weight_advice(None)
