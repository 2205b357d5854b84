"""The repository of `tests/two_years.py` is one that this plugin could have made."""

from __future__ import annotations

import pytest

from tests.two_years import PINNED, build, git


@pytest.mark.parametrize("commit", [PINNED, "main~7", "main"])
def test_its_baselines_are_those_that_an_update_stores(pytester, commit):
    build(pytester.path)
    git(pytester.path, "checkout", "-q", commit)
    result = pytester.runpytest("-p", "no:asyncio", "--ir-baseline-update")
    assert result.ret == 0
    assert git(pytester.path, "diff", "--stat", "--", "ir_baselines", "golden") == ""
    result.stdout.fnmatch_lines(["*ir_baselines*: unchanged"])
