"""Which judged documents moved between two rankings, and what overtook them."""

from __future__ import annotations

import pytest

from pytest_irmetrics.reports.query_details import moves


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("a b", "a b", []),
        ("x a", "y a", []),
        ("a x", "x a", [("a", 1, 1, 2, ("x",))]),
        ("x a", "a x", [("a", 1, 2, 1, ())]),
        ("a", "x y", [("a", 1, 1, None, ("x", "y"))]),
        ("x", "x a", [("a", 1, None, 2, ())]),
        ("x a", "x y", [("a", 1, 2, None, ("y",))]),
        ("x a", "x y a", [("a", 1, 2, 3, ("y",))]),
        ("n f l x u", "u n x l f", [("f", 2, 2, 5, ("u", "x", "l")), ("n", 2, 1, 2, ("u",)), ("l", 1, 3, 4, ("u", "x")), ("u", 3, 5, 1, ())]),
    ],
)  # fmt: skip
def test_a_move_has_both_ranks_and_what_overtook_the_document(before, after, found):
    judgments = {"a": 1, "b": 0, "u": 3, "l": 1, "f": 2, "n": 2}
    assert [*moves(judgments, before.split(), after.split())] == found
