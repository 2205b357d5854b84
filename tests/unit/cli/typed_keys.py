"""Type on a terminal: keys that are typed in this process, and a command on a terminal of its own."""

from __future__ import annotations

import contextlib
import os
import re
import select
import struct
import subprocess
import sys
import time
from contextlib import contextmanager

_LAUNCHER = """
import fcntl, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell has in its background ignores it
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches it
from pytest_irmetrics import cli
sys.exit(cli.main(sys.argv[1:]))
"""
_SECONDS = 60


class Typed:
    """Keys and lines that are typed one after the other; a function among them is called when its turn comes."""

    needs_enter = False

    def __init__(self, *typed):
        self._typed = list(typed)

    def key(self):
        while self._typed and callable(self._typed[0]):
            self._typed.pop(0)()
        return self._typed.pop(0) if self._typed else ""

    def line(self):
        return self.key() or None


def type_keys(monkeypatch, *typed):
    """Make this process look as if it ran on a terminal on which these keys are typed."""

    @contextmanager
    def keyboard(_stream):
        yield Typed(*typed)

    monkeypatch.setattr("pytest_irmetrics.cli.label_loop.keyboard", keyboard)
    monkeypatch.setattr("pytest_irmetrics.cli.label_loop.refuse_without_terminal", lambda: None)


class Terminal:
    """A command that runs on a terminal of its own; a context manager."""

    def __init__(self, *arguments, columns=80, term="xterm"):
        import fcntl
        import pty
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        environment = {**os.environ, "TERM": term, "PYTHONIOENCODING": "utf-8"}
        environment.pop("COLUMNS", None)
        environment.pop("NO_COLOR", None)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCHER, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        self._slave = slave
        self._printed = b""
        self._seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._master)
        os.close(self._slave)

    @property
    def text(self):
        """All that was printed so far, without colours; a character of which a part has been read is left out."""
        text = self._printed.decode(errors="ignore")
        return re.sub(r"\x1b\[[01]m", "", text.replace("\r\n", "\n"))

    def expect(self, words):
        """Wait until these words are printed, after those that were waited for before."""
        deadline = time.monotonic() + _SECONDS
        while words not in self.text[self._seen :]:
            assert time.monotonic() < deadline, f"{words!r} is not in {self.text[self._seen :]!r}"
            self._read(0.1)
        self._seen = self.text.index(words, self._seen) + len(words)

    def press(self, keys):
        os.write(self._master, keys.encode())

    def stop_and_go_on(self):
        """Do what a shell does at Ctrl-Z and `fg`: stop the program, set the terminal as the shell has it, let it go on."""
        import signal
        import termios

        self._process.send_signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)
        termios.tcsetattr(self._slave, termios.TCSANOW, self.before)
        self._process.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + _SECONDS
        while self.mode() == self.before and time.monotonic() < deadline:
            time.sleep(0.01)

    def status(self):
        """Wait for the end; return the exit status."""
        deadline = time.monotonic() + _SECONDS
        while self._process.poll() is None:
            assert time.monotonic() < deadline, self.text
            self._read(0.05)
        while self._read(0):
            pass
        return self._process.returncode

    def mode(self):
        import termios

        return termios.tcgetattr(self._slave)

    def _read(self, seconds):
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        with contextlib.suppress(OSError):
            data = os.read(self._master, 100_000)
            self._printed += data
            return bool(data)
        return False
