"""Which judged documents moved between two rankings of one query."""

from __future__ import annotations

import pytest

from pytest_irmetrics.comparison import Move, moves


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (["a", "b"], ["a", "b"], []),
        (["x", "a"], ["y", "a"], []),
        (["a", "x"], ["x", "a"], [Move("a", 1, 1, 2, ("x",))]),
        (["x", "a"], ["a", "x"], [Move("a", 1, 2, 1)]),
        (["a"], ["x", "y"], [Move("a", 1, 1, None, ("x", "y"))]),
        (["x"], ["x", "a"], [Move("a", 1, None, 2)]),
        (["x", "a"], ["x", "y"], [Move("a", 1, 2, None, ("y",))]),
        (["x", "a"], ["x", "y", "a"], [Move("a", 1, 2, 3, ("y",))]),
    ],
)
def test_a_move_has_both_ranks_and_what_overtook_the_document(before, after, found):
    assert list(moves({"a": 1, "b": 0}, before, after)) == found


def test_falls_come_first_then_the_highest_grade_then_the_largest_fall():
    judgments = {"up": 3, "low": 1, "far": 2, "near": 2}
    before, after = ["near", "far", "low", "x", "up"], ["up", "near", "x", "low", "far"]
    assert [move.doc_id for move in moves(judgments, before, after)] == ["far", "near", "low", "up"]
