"""What is seen while queries are asked: a live line on a terminal, a line now and then in a log, else nothing."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import textwrap

import pytest

from pytest_irmetrics.plugin.progress import LiveLine, LogLines, Progress, progress_text

SLOW = """
    import time
    from pytest_irmetrics.plugin import progress

    progress._SILENT_SECONDS = progress._LIVE_SECONDS = progress._LOG_SECONDS = 0.0
"""


class Display:
    first, every = 2.0, 0.5

    def __init__(self):
        self.shown = []

    def show(self, text):
        self.shown.append(text)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_nothing_is_shown_at_first_and_then_not_too_often():
    display, clock = Display(), Clock()
    progress = Progress(10, display, clock)
    for seconds in (0.1, 1.9, 2.0, 2.4, 2.5):
        clock.now = 100 + seconds
        progress(1)
    assert display.shown == ["3 of 10 queries, 1.5/s, 5 s left", "5 of 10 queries, 2.0/s, 2 s left"]


@pytest.mark.parametrize(
    ("done", "seconds", "text"),
    [
        (0, 3.0, "0 of 5,000 queries"),
        (1200, 4.8, "1,200 of 5,000 queries, 250/s, 15 s left"),
        (10, 100.0, "10 of 5,000 queries, 0.1/s, 14 h left"),
        (100, 25.0, "100 of 5,000 queries, 4.0/s, 20 min left"),
        (5000, 0.0, "5,000 of 5,000 queries"),
    ],
)
def test_progress_has_count_rate_and_time_left(done, seconds, text):
    assert progress_text(done, 5000, seconds) == text


def test_a_live_line_stays_on_its_line_and_is_taken_away():
    read, write = os.pipe()
    columns = [40, 20, 5]
    live = LiveLine(write, lambda: columns.pop(0))
    for _ in range(3):
        live.show("1,200 of 5,000 queries, 250/s")
    live.close()
    written = os.read(read, 1000).decode()
    os.close(read)
    assert written == "\x1b71,200 of 5,000 queries, 250/s\x1b[K\x1b8\x1b71,200 of 5,000 quer\x1b[K\x1b8\x1b[K"


def test_a_live_line_that_was_never_shown_writes_nothing():
    read, write = os.pipe()
    LiveLine(write, lambda: 80).close()
    assert os.read(read, 10) == b""
    os.close(read)


def test_a_log_has_lines_with_the_name_of_the_test():
    lines = []
    LogLines("test_search.py::test_quality[faq]", lines.append).show("1 of 3 queries")
    assert lines == ["test_search.py::test_quality[faq]: 1 of 3 queries"]


@pytest.fixture
def slow(project):
    """A project whose retrieval takes long enough for progress to be shown."""
    conftest = project.path / "conftest.py"
    conftest.write_text(textwrap.dedent(SLOW) + conftest.read_text(encoding="utf-8"), encoding="utf-8")
    return project


def test_a_log_says_how_far_it_is(slow):
    result = slow.run_apart()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["test_search.py::test_search_quality?faq?: 1 of 3 queries*"])
    assert re.search(r"^\. +\[100%\]$", result.stdout.str(), re.MULTILINE)


@pytest.mark.parametrize("option", ["-q", "-p no:terminal"])
def test_nothing_is_said_where_nothing_is_wanted(slow, option):
    assert "of 3 queries" not in slow.run_apart(*option.split()).stdout.str()


def test_workers_say_nothing(slow):
    assert "of 3 queries" not in slow.run_apart("-n", "2").stdout.str()


def test_every_way_of_asking_counts(slow):
    slow.write("pytest.ini", "[pytest]\nir_concurrency = 2\nir_repeat = 2\n")
    slow.run_apart().stdout.fnmatch_lines(["*: 6 of 6 queries*"])


def test_async_retrievers_count(slow):
    slow.make_async()
    slow.run_apart().stdout.fnmatch_lines(["*: 3 of 3 queries*"])


def on_terminal(project, *arguments, columns=100):
    """Run pytest on a terminal of its own, and return what it wrote there."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_irmetrics.plugin",
        *arguments,
    ]
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
