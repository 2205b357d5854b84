"""How far the retrieval of a test has come: one live line on a terminal, now and then a line in a log.

Nothing is said in the first two seconds, with ``-q``, without pytest's terminal reporter (as in a worker of pytest-xdist), and
on a terminal where something else writes beside it (``-s``, live logs).
"""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pytest

_SILENT_SECONDS = 2.0
"""How long a retrieval takes before anything is said of it."""
_LIVE_SECONDS = 0.25
"""Between two states of the live line."""
_LOG_SECONDS = 30.0
"""Before the first line in a log, and between two."""
_SHORTEST = 12
"""Columns that are left on the terminal's line, without which nothing is written there."""
# The cursor stays where pytest left it, so that pytest goes on there as if nothing had been written.
_SAVE, _RESTORE, _CLEAR = "\x1b7", "\x1b8", "\x1b[K"


class Display(Protocol):
    """Where progress is shown."""

    first: float
    """Seconds before it is shown for the first time."""
    every: float
    """Seconds between two times."""

    def show(self, text: str) -> None:
        """Show how far it is."""

    def close(self) -> None:
        """Leave nothing behind."""


class Progress:
    """Counts the answers to the queries of one test, and shows how many there are."""

    def __init__(self, total: int, display: Display, clock: Callable[[], float] = monotonic) -> None:
        self._total, self._display, self._clock = total, display, clock
        self._done = 0
        self._began = clock()
        self._next = self._began + display.first

    def __call__(self, answers: int) -> None:
        """Count some more answers."""
        self._done += answers
        now = self._clock()
        if now >= self._next:
            self._next = now + self._display.every
            self._display.show(progress_text(self._done, self._total, now - self._began))


def progress_text(done: int, total: int, seconds: float) -> str:
    """Return how far it is: `1,200 of 5,000 queries, 250/s, 15 s left`."""
    rate = done / seconds if seconds > 0 else 0.0
    text = f"{done:,} of {total:,} queries"
    if not done or not rate:
        return text
    shown_rate = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
    return f"{text}, {shown_rate}, {_duration((total - done) / rate)} left"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


class LiveLine:
    """The rest of the terminal's current line, on a descriptor that pytest's capturing leaves alone."""

    def __init__(self, descriptor: int, columns_left: Callable[[], int]) -> None:
        self.first, self.every = _SILENT_SECONDS, _LIVE_SECONDS
        self._descriptor, self._columns_left = descriptor, columns_left
        self._shown = False

    def show(self, text: str) -> None:
        """Write after what pytest has written on this line, and put the cursor back."""
        room = self._columns_left() - 1
        if room < _SHORTEST:
            return
        self._shown = True
        self._write(f"{_SAVE}{text[:room]}{_CLEAR}{_RESTORE}")

    def close(self) -> None:
        """Take the text away again."""
        if self._shown:
            self._write(_CLEAR)
        os.close(self._descriptor)

    def _write(self, text: str) -> None:
        try:
            os.write(self._descriptor, text.encode("ascii", "replace"))
        except OSError:  # a terminal that is gone is no reason to fail a test
            self._shown = False


class LogLines:
    """Lines of their own in pytest's output, for a log that is read later."""

    def __init__(self, name: str, write_line: Callable[[str], None]) -> None:
        self.first = self.every = _LOG_SECONDS
        self._name, self._write_line = name, write_line

    def show(self, text: str) -> None:
        """Write a line."""
        self._write_line(f"{self._name}: {text}")

    def close(self) -> None:
        """Do nothing: lines stay."""


@contextmanager
def progress_of(node: pytest.Item, total: int) -> Iterator[Progress | None]:
    """Show the progress of a test that waits for so many answers; None where nothing is to be said."""
    display = _display(node)
    if display is None:
        yield None
        return
    try:
        yield Progress(total, display)
    finally:
        display.close()


def _display(node: pytest.Item) -> Display | None:
    config = node.config
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.getoption("verbose", 0) < 0:
        return None
    capture = config.pluginmanager.getplugin("capturemanager")

    def uncaptured() -> AbstractContextManager[object]:
        return nullcontext() if capture is None else capture.global_and_fixture_disabled()

    writer = config.get_terminal_writer()
    with uncaptured():  # a captured stream is no terminal
        descriptor = _terminal_descriptor(writer._file)  # noqa: SLF001 - pytest has no public way to it
    if descriptor is None:

        def write_line(text: str) -> None:
            with uncaptured():
                reporter.ensure_newline()
                reporter.write_line(text)

        return LogLines(node.nodeid, write_line)
    if capture is None or config.getoption("capture", "fd") != "fd" or _logs_live(config):
        os.close(descriptor)
        return None
    return LiveLine(descriptor, lambda: writer.fullwidth - writer.width_of_current_line)


def _terminal_descriptor(file: Any) -> int | None:
    """Return a descriptor of its own for a terminal that moves its cursor as told; None for any other stream."""
    if os.name != "posix" or os.environ.get("TERM", "dumb") == "dumb":
        return None
    try:
        return os.dup(file.fileno()) if file.isatty() else None
    except (AttributeError, OSError, ValueError):  # a stream that is no file, or closed
        return None


def _logs_live(config: pytest.Config) -> bool:
    """Whether log records are printed while tests run."""
    if not config.pluginmanager.has_plugin("logging-plugin"):
        return False
    return bool(config.getini("log_cli")) or config.getoption("log_cli_level") is not None
