"""Real engines, broken in known ways and changed in ordinary ones: a failure names what broke, or no cause at all."""

from __future__ import annotations

import pytest

from tests.integration.kinds.changes import FAULTS, PARAM_FAULTS, VARIANTS
from tests.integration.kinds.judging import Case, assert_counted_in_the_documentation, judged, over_sets

BREAKAGES = [
    *over_sets(FAULTS, (0, 2)),
    *(Case(title, "by linter", change) for title, change in PARAM_FAULTS.items()),
]
CASES = [*BREAKAGES, *over_sets(VARIANTS, (0, 1))]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    return judged(tmp_path_factory.mktemp("kinds"), CASES)


@pytest.mark.parametrize("number", range(len(CASES)), ids=map(str, CASES))
def test_a_fault_is_named_and_an_ordinary_change_is_not(said, number):
    case = CASES[number]
    change = case.change
    may_be_silent = (
        change.silent or not change.says or case.title in VARIANTS or case.golden_set.endswith(" 6")
    )
    kind = said[number] or ""
    assert kind in change.says or (kind == "" and may_be_silent)


@pytest.mark.parametrize(
    ("title", "part"),
    [("broken in SQLite", slice(len(BREAKAGES))), ("changed in SQLite", slice(len(BREAKAGES), None))],
)
def test_the_documentation_counts_them(said, title, part):
    assert_counted_in_the_documentation(title, CASES[part], said[part])
