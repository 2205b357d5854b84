"""The guard against property tests whose examples never reach their assertion."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reached import often, reached


@often(0.3)
@given(st.booleans())
def test_a_test_that_reaches_its_assertion_often_enough_passes(value):
    if reached(value):
        assert value is True


@pytest.mark.parametrize("counted", [lambda value: reached(value > 1), lambda _: None])
def test_one_that_never_does_fails(counted):
    @often(0.01)
    @settings(database=None)
    @given(st.integers(0, 1))
    def test(value):
        counted(value)

    with pytest.raises(AssertionError, match=r"^0 of \d+ examples reached the assertion"):
        test()
