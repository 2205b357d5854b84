"""What is seen while queries are asked: a line now and then."""

from __future__ import annotations

import re

import pytest

TEN_SECONDS_A_QUERY = """
import time

asked = []
time.monotonic = lambda: 5.0 + 10.0 * len(asked)
"""


@pytest.fixture
def slow(project):
    """A project whose clock goes on by ten seconds with each query, and else stands."""
    project.retrieve("asked.append(1) or answers.get(query, [])[:k]")
    conftest = project.path / "conftest.py"  # before the package takes the function, so in a cold process
    conftest.write_text(TEN_SECONDS_A_QUERY + conftest.read_text(encoding="utf-8"), encoding="utf-8")
    return project


def test_a_log_says_how_far_it_is_and_how_long_it_took(slow):
    result = slow.run_apart(cold=True)
    result.assert_outcomes(passed=1)
    line = "test_search.py::test_search_quality?faq?: {} of 3 answers in {} s"
    result.stdout.fnmatch_lines([line.format(1, 10), line.format(2, 20), line.format(3, 30)])
    assert re.search(r"^\. +\[100%\]$", result.stdout.str(), re.MULTILINE)


@pytest.mark.parametrize("option", ["-q", "-p no:terminal", "-n 1"])
def test_nothing_is_said_where_nothing_is_wanted(slow, option):
    assert "of 3 answers" not in slow.run_apart(*option.split(), cold=True).stdout.str()


def test_a_quick_retriever_says_nothing(project):
    assert "of 3 answers" not in project.run_apart().stdout.str()


@pytest.mark.parametrize("concurrency", [1, 2])
def test_every_time_asked_counts(slow, concurrency):
    slow.write("pytest.ini", f"[pytest]\nir_concurrency = {concurrency}\nir_repeat = 2\n")
    slow.run_apart(cold=True).stdout.fnmatch_lines(["*: [56] of 6 answers*"])  # two at once may be one line


def test_async_retrievers_count(slow):
    slow.make_async()
    slow.run_apart(cold=True).stdout.fnmatch_lines(["*: 3 of 3 answers*"])
