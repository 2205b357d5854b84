"""What is seen while queries are asked: a live line on a terminal, a line now and then in a log, else nothing."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys

import pytest

MINUTE_A_QUERY = """
import time

real, asked = time.monotonic, []
time.monotonic = lambda: real() + 60 * len(asked)
"""


@pytest.fixture
def slow(project):
    """A project whose clock goes on by a minute with each query."""
    project.retrieve("asked.append(1) or answers.get(query, [])[:k]")
    conftest = project.path / "conftest.py"
    conftest.write_text(MINUTE_A_QUERY + conftest.read_text(encoding="utf-8"), encoding="utf-8")
    return project


def test_a_log_says_how_far_it_is_and_how_long_it_will_take(slow):
    result = slow.run_apart()
    result.assert_outcomes(passed=1)
    line = "test_search.py::test_search_quality?faq?: {} of 3 queries, 0.0/s, {} left"
    result.stdout.fnmatch_lines([line.format(1, "2 min"), line.format(2, "60 s"), line.format(3, "0 s")])
    assert re.search(r"^\. +\[100%\]$", result.stdout.str(), re.MULTILINE)


@pytest.mark.parametrize("option", ["-q", "-p no:terminal", "-n 2"])
def test_nothing_is_said_where_nothing_is_wanted(slow, option):
    assert "of 3 queries" not in slow.run_apart(*option.split()).stdout.str()


def test_a_quick_retriever_says_nothing(project):
    assert "of 3 queries" not in project.run_apart().stdout.str()


@pytest.mark.parametrize("concurrency", [1, 2])
def test_every_time_asked_counts(slow, concurrency):
    slow.write("pytest.ini", f"[pytest]\nir_concurrency = {concurrency}\nir_repeat = 2\n")
    slow.run_apart().stdout.fnmatch_lines(["*: [56] of 6 queries*"])  # two at once may be one line


def test_async_retrievers_count(slow):
    slow.make_async()
    slow.run_apart().stdout.fnmatch_lines(["*: 3 of 3 queries*"])


def on_terminal(project, *arguments, columns=100):
    """Run pytest on a terminal of its own, and return what it wrote there."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    plugins = ["-p", "no:cacheprovider", "-p", "pytest_irmetrics.plugin"]
    command = [sys.executable, "-m", "pytest", *plugins, *arguments]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    written = b""
    with subprocess.Popen(
        command, cwd=project.path, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        while select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not part:
                break
            written += part
        assert process.wait(60) == 0, written.decode()
    os.close(ours)
    return written.decode()


@pytest.mark.skipif(os.name != "posix", reason="the live line needs a terminal as POSIX has it")
def test_a_terminal_shows_a_live_line_that_leaves_no_trace(slow):
    written = on_terminal(slow)
    live = re.findall(r"\x1b7(.*?)\x1b\[K\x1b8", written)
    assert [text[:14] for text in live] == ["1 of 3 queries", "2 of 3 queries", "3 of 3 queries"]
    left = re.sub(r"\x1b7.*?\x1b8|\x1b\[[0-9;]*[A-Za-z]", "", written)
    assert re.search(r"^test_search\.py \. +\[100%\]\r$", left, re.MULTILINE)
    assert "of 3 queries" not in left


@pytest.mark.skipif(os.name != "posix", reason="the live line needs a terminal as POSIX has it")
def test_a_live_line_is_cut_where_the_line_of_the_terminal_ends(slow):
    live = re.findall(r"\x1b7(.*?)\x1b\[K\x1b8", on_terminal(slow, columns=40))  # pytest takes no fewer
    assert [len(text) for text in live] == [40 - len("test_search.py ") - 1] * 3


@pytest.mark.skipif(os.name != "posix", reason="the live line needs a terminal as POSIX has it")
@pytest.mark.parametrize("option", ["-q", "-s", "--capture=sys", "-o log_cli=true", "--log-cli-level=INFO"])
def test_a_terminal_on_which_others_write_has_no_live_line(slow, option):
    assert "\x1b7" not in on_terminal(slow, *option.split())
