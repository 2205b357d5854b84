"""Hold a long output against a file below tests/expected.

`make expected` writes the files anew from what the code prints now; `git diff tests/expected` is then read by a person.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "expected"
RENEWING = "IRMETRICS_RENEW" in os.environ
HELD: set[Path] = set()
"""The files that tests of this session held an output against."""


def assert_as_expected(name: str, output: str) -> None:
    """Assert that an output is that of the file of this name, or write the file when the files are being renewed."""
    path = FOLDER / name
    HELD.add(path)
    if RENEWING:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(output, encoding="utf-8")
    assert path.exists(), f"tests/expected/{name} is missing. Write it with `make expected` and read it."
    assert output == path.read_text(encoding="utf-8"), (
        f"differs from tests/expected/{name}. If the new output is right, run `make expected` and commit the difference."
    )


def mark_tests_that_renew(items: list[pytest.Item]) -> None:
    """Mark as `expected` the tests of every module that writes files anew, by itself or through `tests.pages.use`."""
    for item in items:
        if {"assert_as_expected", "RENEWING", "use"} & vars(getattr(item, "module", pytest)).keys():
            item.add_marker("expected")


def remove_what_nothing_holds() -> None:
    """Remove the files below tests/expected that no test of this session held an output against."""
    for path in set(FOLDER.rglob("*.*")) - HELD:
        path.unlink()
