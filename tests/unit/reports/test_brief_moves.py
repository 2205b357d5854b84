"""What moved in a query, in one or two lines of a failure."""

from __future__ import annotations

import pytest

from pytest_irmetrics.base.screen import Screen
from pytest_irmetrics.reports.brief_moves import brief_movements
from tests.unit.reports.samples import query

RELEVANT = {f"d{n}": 3.0 for n in range(1, 7)}


def told(before, now, judgments, titles=None, width=80, **changes):
    one = query(
        before=None if before is None else before.split(), now=now.split(), judgments=judgments, **changes
    )
    return list(brief_movements(one, titles or {}, Screen(width)))


@pytest.mark.parametrize(
    ("before", "now", "judgments", "lines"),
    [
        (
            "x d1 y",
            "y z x d1",
            {"d1": 3},
            ["  d1 (grade 3): rank 2 → 4", "  above it now: y (unjudged), z (unjudged)"],
        ),
        (
            "d1 x d2 y",
            "x y z",
            {"d1": 3, "d2": 1, "y": 0},
            ["  d1 (grade 3): rank 1 → gone; d2 (grade 1): rank 3 → gone", "  new: z (unjudged)"],
        ),
        # Merely moved up: nothing is new.
        ("d1 x y", "x y", {"d1": 1}, ["  d1 (grade 1): rank 1 → gone"]),
        ("d1 x", "", {"d1": 1}, ["  d1 (grade 1): rank 1 → gone"]),
        ("x y", "x d1", {"d1": 2}, ["  d1 (grade 2): new at rank 2"]),
        # What fell comes first, whatever rose.
        (
            "x d2 d1",
            "d2 x y d1",
            {"d1": 1, "d2": 3},
            ["  d1 (grade 1): rank 3 → 4; d2 (grade 3): rank 2 → 1", "  above it now: y (unjudged)"],
        ),
        # Nothing moved: then it is about what was never there.
        ("x y", "x y", {"d1": 1, "d2": 3}, ["  not among the 2 results: d2 (grade 3), d1 (grade 1)"]),
        (None, "", {"d1": 1}, ["  not returned: d1 (grade 1)"]),
        (None, "d1", {"d1": 1}, []),
    ],
)
def test_each_line_has_what_moved(before, now, judgments, lines):
    assert told(before, now, judgments) == lines


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (40, "  d1 (grade 3): rank 1 → 2; and 5 more"),
        (
            80,
            "  d1 (grade 3): rank 1 → 2; d2 (grade 3): rank 2 → 3; and 4 more",
        ),
    ],
)
def test_a_line_names_as_many_as_fit_and_counts_the_others(width, line):
    before = "d1 d2 d3 d4 d5 d6"
    assert told(before, f"x {before}", RELEVANT, width=width)[0] == line


def test_a_title_stands_beside_its_id_as_far_as_there_is_room():
    titles = {"d1": "Refunds of annual plans, in full, within thirty days of purchase"}
    assert told("d1 x", "x", {"d1": 1}, titles)[0] == (
        '  d1 "Refunds of annual plans, in f…" (grade 1): rank 1 → gone'
    )
    assert told("d1 x", "x", {"d1": 1}, titles, width=60)[0] == ('  d1 "Refunds o…" (grade 1): rank 1 → gone')


def test_an_id_is_never_cut_but_stands_on_lines_of_its_own():
    long = "handbook/" + "chapter/" * 8 + "refunds"
    assert told(f"{long} x", "x", {long: 2}, width=60) == [
        f"  {long}",
        "    (grade 2): rank 1 → gone",
    ]


def test_a_forbidden_document_comes_first():
    lines = told("d1 d9", "d9 d1", {"d1": 1}, forbidden=["d9"])
    assert lines[0] == "  d9 is forbidden and stands at rank 1 (it was at rank 2)."
    assert lines[1] == "  d1 (grade 1): rank 1 → 2"
