from __future__ import annotations

import pytest

from tests.git_repository import commit, git, isolate_git, new_repository
from tests.projects import ANSWERS

WITHOUT_OTHERS = [
    *("-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:asyncio"),
    *("-p", "no:hypothesispytest", "-p", "no:rerunfailures", "-p", "no:xdist", "-p", "no:xdist.looponfail"),
]
"""Load the plugin as it is installed, and none of those that the tests alone need."""


@pytest.fixture
def committed(stored, monkeypatch):
    """Give a project whose baseline is stored, all of it committed on `main`."""
    isolate_git(monkeypatch)
    stored.write("pytest.ini", "[pytest]\n")
    stored.write(".gitignore", "__pycache__\n*.out\n")
    new_repository(stored.path)
    commit(stored.path, "store the baseline")
    return stored


@pytest.fixture
def branch(committed):
    """Give a project whose baseline is committed on `main`, with the branch `feature` checked out."""
    git(committed.path, "checkout", "-q", "-b", "feature")
    return committed


def make_ranking_worse(project):
    project.answers({**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]})


def summary_lines(result):
    """Return the lines about retrieval quality, without what differs between runs."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if "retrieval quality" in line)
    end = next(index for index, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("="))
    return lines[start + 1 : end]
