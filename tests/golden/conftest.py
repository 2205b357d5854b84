from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory of each test, so that files go by their names alone."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
