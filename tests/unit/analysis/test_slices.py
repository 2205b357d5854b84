"""Sentences on slices are said where a slice fell by more than chance gives any of them."""

from __future__ import annotations

import random

import pytest

from pytest_irmetrics.analysis.slices import hidden_slices, on_main_slice
from tests.unit.analysis.comparisons import compared, golden_set, good, lost, lower


def hidden(comparison, gated=()):
    return list(hidden_slices(comparison, comparison.now.metric("ndcg@10"), gated))


def main(comparison):
    return list(on_main_slice(comparison, comparison.now.metric("ndcg@10")))


def broken(first):
    """The first so many queries lose their documents, and as many others, from the tenth on, get theirs back."""
    return (
        lambda n: lost(n) if n < first else good(n),
        lambda n: lower(n) if 9 < n < 10 + 2 * first else good(n),
    )


def test_a_slice_that_the_mean_hides_is_named_with_what_the_others_did():
    golden = golden_set(60, tags={"billing": set(range(6))})
    (sentence,) = hidden(compared(golden, *broken(6)))
    assert sentence == (
        "The mean hides that ndcg@10 fell by 1.0000 in `billing` (6 of 6 queries worse, 0 better); the others moved by +0.1268."
    )


def test_a_slice_with_a_gate_of_its_own_is_not_called_hidden():
    golden = golden_set(60, tags={"billing": set(range(6))})
    assert not hidden(compared(golden, *broken(6)), ["billing"])


def test_four_queries_that_fell_are_too_few_to_speak_of_their_slice():
    golden = golden_set(60, tags={"billing": set(range(4))})
    assert not hidden(compared(golden, *broken(4)))


def test_five_of_five_may_be_chance_and_six_of_six_is_not():
    """Signs alike by chance: 1 in 16 for five, 1 in 32 for six."""
    assert [
        len(hidden(compared(golden_set(80, tags={"billing": set(range(n))}), *broken(n)))) for n in (5, 6)
    ] == [0, 1]


def test_what_says_enough_in_one_slice_says_too_little_among_thirty():
    """Six of ten queries worse and none better, beside as much that comes and goes elsewhere."""
    generator = random.Random(5)
    tags = {"billing": set(range(10))}
    worse = {*range(6), *range(10, 100, 2)}
    better = set(range(11, 100, 2))
    many = tags | {f"t{i}": set(generator.sample(range(10, 100), 12)) for i in range(29)}
    alone, among = (
        hidden(
            compared(
                golden_set(100, tags=some),
                lambda n: lower(n) if n in worse else good(n),
                lambda n: lower(n) if n in better else good(n),
            )
        )
        for some in (tags, many)
    )
    assert len(alone) == 1
    assert "and by 0.3423 in `billing`" in alone[0]
    assert not among


def test_of_many_hidden_slices_those_that_cost_most_have_a_sentence():
    tags = {f"t{size:02}": set(range(size)) for size in range(8, 16)}
    golden = golden_set(300, tags=tags)
    comparison = compared(
        golden, lambda n: lost(n) if n < 15 else good(n), lambda n: lower(n) if n > 250 else good(n)
    )
    *told, rest = hidden(comparison)
    assert [text.split("`")[1] for text in told] == ["t15", "t14", "t13", "t12", "t11"]
    assert rest == "So it did in 3 more slices that cost less: t10, t09, t08."


def test_a_slice_that_fell_as_all_did_is_not_named():
    golden = golden_set(tags={"billing": set(range(8)), "all": set(range(20))})
    comparison = compared(golden, lower, good)
    assert not hidden(comparison)
    assert not main(comparison)


@pytest.mark.parametrize(
    ("elsewhere", "sentence"),
    [
        (0, "All of the fall of ndcg@10 is in `billing`, 10 of 60 queries."),
        (5, "Most of the fall of ndcg@10 (78 %) is in `billing`, 10 of 60 queries."),
        (40, None),
    ],
)
def test_how_much_of_a_fall_is_in_a_slice_is_said_where_it_is_most(elsewhere, sentence):
    golden = golden_set(60, tags={"billing": set(range(10)), "even": set(range(0, 60, 2))})

    def now(n):
        return lost(n) if n < 10 else lower(n) if n < 10 + elsewhere else good(n)

    assert main(compared(golden, now, good)) == ([sentence] if sentence else [])


def test_a_slice_that_fell_beside_a_mean_which_fell_too_is_not_called_hidden():
    golden = golden_set(100, tags={"billing": set(range(8))})
    (sentence,) = hidden(compared(golden, lambda n: lower(n) if n < 8 else good(n), good))
    assert sentence == (
        "ndcg@10 fell by 0.0456, and by 0.5705 in `billing` (8 of 8 queries worse, 0 better); the others moved by 0.0000."
    )
