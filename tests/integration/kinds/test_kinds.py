"""A real engine, broken in known ways and changed in ordinary ones: a failure names what broke, or no cause at all."""

from __future__ import annotations

import pytest

from tests.integration.kinds.changes import FAULTS, PARAM_FAULTS, VARIANTS
from tests.integration.kinds.golden_sets import GOLDEN_SETS
from tests.integration.kinds.table import compared, sign_of

BY_QUERIES = [name for name in GOLDEN_SETS if name != "by linter"]

# Each over two golden sets, by turns, so that all of them are used; `python -m tests.integration.kinds.table` takes each over all.
CASES = [
    *(
        (title, change, BY_QUERIES[(place + step) % len(BY_QUERIES)])
        for place, (title, change) in enumerate(FAULTS.items())
        for step in (0, 5)
    ),
    *((title, change, "by linter") for title, change in PARAM_FAULTS.items()),
]
ORDINARY = [
    (title, change, list(GOLDEN_SETS)[(place + step) % len(GOLDEN_SETS)])
    for place, (title, change) in enumerate(VARIANTS.items())
    for step in (0, 3)
]


def named(cases):
    return [pytest.param(change, name, id=f"{title}, {name}") for title, change, name in cases]


@pytest.mark.parametrize(("change", "golden_set"), named(CASES))
def test_a_fault_is_named_or_nothing_is_where_few_queries_cannot_show_it(change, golden_set):
    said = sign_of(compared(golden_set, change))
    few_queries = golden_set.endswith(" 6")
    assert said in change.says or (said == "" and (change.silent or not change.says or few_queries))


@pytest.mark.parametrize(("change", "golden_set"), named(ORDINARY))
def test_an_ordinary_change_shows_no_sign_of_a_fault(change, golden_set):
    assert sign_of(compared(golden_set, change)) in ("", *change.says)


def test_faults_that_may_be_silent_are_named_somewhere():
    for title, change in FAULTS.items():
        if (
            change.silent and change.says and title != "results are not sorted"
        ):  # which few queries alone show
            assert any(
                sign_of(compared(name, change)) in change.says for name in ("graded 110", "graded 30")
            ), title
