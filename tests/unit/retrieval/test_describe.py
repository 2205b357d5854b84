"""A user's value in a message: its type and a short repr."""

from __future__ import annotations

import pytest

from pytest_irmetrics.retrieval.describe import describe
from tests.unit.retrieval.fakes import HOSTILE


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ([HOSTILE], "[<Hostile>]"),
        ({"a": HOSTILE}, "{'a': <Hostile>}"),
        ([1, 2, 3, 4], "[1, 2, 3, ...]"),
    ],
    ids=["in a list", "in a dict", "long"],
)
def test_what_a_container_holds_is_short_and_stands_for_a_repr_that_raises(value, part):
    assert part in describe(value)
