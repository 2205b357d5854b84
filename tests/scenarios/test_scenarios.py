"""Each row of tests/scenarios/*.yaml through pytest itself: README.md beside this file says how to write one."""

from __future__ import annotations

import pytest

from tests.scenarios.scenario import Scenario, rows


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Give the folder for projects whose baselines are stored, for rows that begin alike."""
    return tmp_path_factory.mktemp("stored")


@pytest.mark.parametrize("name", rows())
def test_scenario(name, project, monkeypatch, stored):
    Scenario({**rows()[name], "id": name}, project, monkeypatch, stored).run()
