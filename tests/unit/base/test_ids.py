"""Ids: what can be one, and in which order scores put them."""

from __future__ import annotations

from uuid import UUID

import pytest

from pytest_irmetrics.base.ids import as_id, first_repeat, ranked

np = pytest.importorskip("numpy")


class Loud(str):
    """Text that prints as something else."""

    __slots__ = ()

    def __str__(self):
        return "loud"


class Number:
    def __index__(self):
        return 7


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("doc-1", "doc-1"),
        ("", ""),
        ("007", "007"),
        (Loud("quiet"), "quiet"),
        (7, "7"),
        (-7, "-7"),
        (Number(), "7"),
        (np.int64(7), "7"),
        (np.array(7), "7"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
)
def test_what_can_be_an_id(value, text):
    found = as_id(value)
    assert found == text
    assert type(found) is str


@pytest.mark.parametrize(
    "value",
    [None, True, 1.0, b"doc-1", ["doc-1"], np.bool_(1), np.float64(1), np.array([1, 2]), 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot(value):
    assert as_id(value) is None


def test_the_first_id_that_comes_again_with_both_its_ranks():
    assert first_repeat(["a", "b", "c"]) is None
    assert first_repeat([]) is None
    assert first_repeat(["a", "b", "c", "b", "a"]) == ("b", 2, 4)


def test_scores_order_ids_as_trec_eval_does():
    assert ranked([("a", 1.0), ("b", 2.0), ("D", 1.0), ("c", 1.0), ("é", -1.0)]) == ("b", "c", "a", "D", "é")
