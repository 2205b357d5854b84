"""Each row of tests/scenarios/*.yaml through pytest itself: README.md beside this file says how to write one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.scenarios.scenario import Scenario, rows

TABLE = Path(__file__).with_name("interface.md")


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Give the folder for projects whose baselines are stored, for rows that begin alike."""
    return tmp_path_factory.mktemp("stored")


@pytest.mark.expected
@pytest.mark.parametrize("name", rows(), ids=list(rows()))  # whole, however long they are
def test_scenario(name, project, monkeypatch, stored):
    Scenario(rows()[name], project, monkeypatch, stored).run()


def test_the_table_of_the_interface_names_what_there_is():
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    held = [line.rsplit(" | ", 1)[1] for line in lines if not line.endswith("| held by |")]
    assert all("`" in cell for cell in held)
    missing = [name for cell in held for name in re.findall("`([^`]+)`", cell) if not is_there(name)]
    assert missing == []


def is_there(name):
    if not name.startswith("tests/"):
        return any(row.startswith(name) for row in rows())
    path, _, test = name.partition("::")
    path = TABLE.parents[2] / path
    return path.exists() and f"def {test}" in (path.read_text(encoding="utf-8") if test else "def ")
