"""Sentences on which documents of a ranking moved."""

from __future__ import annotations

import pytest

from pytest_irmetrics.reports.query_details import movements
from tests.unit.reports.samples import query

RELEVANT = {f"d{n}": 3.0 for n in range(1, 7)}


@pytest.mark.parametrize(
    ("before", "now", "judgments", "told"),
    [
        # What stood above before is not what it fell below.
        (
            "x d1 y",
            "y z x d1",
            {"d1": 3},
            ["d1 (grade 3) fell from rank 2 to 4, overtaken by y (unjudged), z (unjudged)."],
        ),
        (
            "d1 x d2 y",
            "x y z",
            {"d1": 3, "d2": 1, "y": 0},
            ["No longer among the 3 results: d1 (grade 3, was at rank 1), d2 (grade 1, was at rank 3); new is z (unjudged)."],
        ),
        ("d1 x", "x y z", {"d1": 1}, ["d1 (grade 1) is no longer among the 3 results (it was at rank 1); new are y (unjudged), z (unjudged)."]),
        # Merely moved up: nothing is new.
        ("d1 x y", "x y", {"d1": 1}, ["d1 (grade 1) is no longer among the 2 results (it was at rank 1)."]),
        ("d1 x", "", {"d1": 1}, ["d1 (grade 1) is no longer returned (it was at rank 1)."]),
        ("x d1", "d1 x", {"d1": 2}, ["d1 (grade 2) rose from rank 2 to 1."]),
        ("x y", "x d1", {"d1": 2}, ["d1 (grade 2) is returned now, at rank 2."]),
        # Grades of 0 are named, and do not move.
        ("z x d1", "x d1 z", {"d1": 1, "z": 0}, ["d1 (grade 1) rose from rank 3 to 2."]),
        ("d1 z", "z d1", {"d1": 1, "z": 0}, ["d1 (grade 1) fell from rank 1 to 2, overtaken by z (grade 0)."]),
        # Nothing moved: then it is about what was never there.
        ("x", "x", {"d1": 1, "d2": 3}, ["Not among the 1 result: d2 (grade 3), d1 (grade 1)."]),
        (None, "", {"d1": 1}, ["Not returned: d1 (grade 1)."]),
        (None, "d1", {"d1": 1}, []),
        # The best first, and no more than a reader takes in.
        (
            "d1 d2 d3 d4 d5 d6",
            "x d1 d2 d3 d4 d5 d6",
            RELEVANT,
            [
                *(f"d{n} (grade 3) fell from rank {n} to {n + 1}, overtaken by x (unjudged)." for n in (1, 2, 3)),
                "And 3 more relevant documents fell.",
            ],
        ),
        (
            "x d1 d2 d3 d4",
            "d1 d2 d3 d4 x",
            RELEVANT,
            [
                *(f"d{n} (grade 3) rose from rank {n + 1} to {n}." for n in (1, 2, 3)),
                "And 1 more relevant document rose or came in.",
            ],
        ),
        (
            "d1 d2 d3 d4",
            "x",
            RELEVANT,
            [
                "No longer returned: d1 (grade 3, was at rank 1), d2 (grade 3, was at rank 2), d3 (grade 3, was at rank 3) and 1 more; new is x (unjudged)."
            ],
        ),
    ],
)  # fmt: skip
def test_sentences_say_which_documents_moved(before, now, judgments, told):
    seen = query(now=now.split(), before=None if before is None else before.split(), judgments=judgments)
    assert list(movements(seen, {})) == told


def test_the_highest_grade_comes_first():
    judgments = {"d1": 1, "d2": 3}
    lost_first = query(before=["d2", "d1"], now=["x", "d1"], judgments=judgments)
    assert [sentence[:2] for sentence in movements(lost_first, {})] == ["d2"]
    fell_first = query(before=["d2", "d1"], now=["x", "d2"], judgments=judgments)
    assert [sentence[:2] for sentence in movements(fell_first, {})] == ["d2", "d1"]


def test_what_is_forbidden_is_not_called_unjudged():
    seen = query(before=["d1"], now=["bad", "d1"], judgments={"d1": 1}, forbidden=["bad"])
    assert list(movements(seen, {}))[1] == "d1 (grade 1) fell from rank 1 to 2, overtaken by bad (forbidden)."


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (None, "bad is forbidden and stands at rank 2."),
        (["d1"], "bad is forbidden and stands at rank 2, and was not returned before."),
        (["bad", "d1"], "bad is forbidden and stands at rank 2 (it was at rank 1)."),
        (["d1", "bad"], "bad is forbidden and stands at rank 2, as before."),
    ],
)
def test_it_is_said_whether_a_forbidden_document_was_returned_before(before, told):
    seen = query(before=before, now=["d1", "bad"], judgments={"d1": 1}, forbidden=["bad"])
    assert next(movements(seen, {})) == told
