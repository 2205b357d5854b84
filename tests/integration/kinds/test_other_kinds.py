"""Other engines, changed as teams change theirs: a loss before the ranking is named or nothing is, and no ordinary change is accused.

docs/statistics.md has the two counts. Write a change in other_changes.py before any sign is tried on it.
"""

from __future__ import annotations

from tests.integration.kinds.judging import Case, assert_counted_in_the_documentation, judged
from tests.integration.kinds.other_changes import OTHERS

CASES = [
    Case(title, ("graded 110", "sparse 110")[place % 2], change)
    for place, (title, change) in enumerate(OTHERS.items())
]


def test_what_is_named_is_true(tmp_path):
    """One test for all, so that no second process builds the engines too."""
    said = judged(tmp_path, CASES)
    wrong = {
        str(case): kind
        for case, kind in zip(CASES, said, strict=True)
        if kind and kind not in case.change.says
    }
    assert wrong == {}
    for title, broken in (("broken in the others", True), ("changed in the others", False)):
        some = [place for place, case in enumerate(CASES) if bool(case.change.says) is broken]
        assert_counted_in_the_documentation(
            title, [CASES[n] for n in some], [said[n] for n in some], but_for=2
        )
