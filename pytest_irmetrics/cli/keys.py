"""Read single keys from a terminal, without Enter where the terminal can."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # everywhere else
    msvcrt = None  # type: ignore[assignment]

END = ""
"""In place of a key: there is no more input, or it was ended by Ctrl-D, on Windows by Ctrl-Z."""
UNKNOWN = "\0"
"""In place of a key: an arrow or another key that stands for no character."""

_INTERRUPT, _END_OF_FILE, _ESCAPE = "\x03", "\x04\x1a", "\x1b"
_ESCAPE_SECONDS = 0.05
"""How long the rest of an arrow's sequence may take; the key Esc has none."""


class Keys(Protocol):
    """A terminal's keyboard."""

    needs_enter: bool
    """Whether a key counts only after Enter."""

    def key(self) -> str:
        """Return the next key, `END` or `UNKNOWN`. Raises KeyboardInterrupt."""

    def line(self) -> str | None:
        """Return the next line, which the terminal lets the user edit; None at the end of the input."""


@contextmanager
def keyboard(stream: TextIO) -> Iterator[Keys]:
    """Yield the keyboard of a stream that is a terminal, which is afterwards as it was."""
    if termios is not None and os.environ.get("TERM") != "dumb":
        descriptor = stream.fileno()
        before = termios.tcgetattr(descriptor)
        keys = _PosixKeys(descriptor, before)
        # A shell that stopped the program (Ctrl-Z) gives it back another terminal than it had.
        on_continue = signal.signal(signal.SIGCONT, keys.resume)
        try:
            yield keys
        finally:
            signal.signal(signal.SIGCONT, on_continue)
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    elif msvcrt is not None:
        yield _WindowsKeys()
    else:
        yield _Lines()


class _Lines:
    """A terminal that gives lines only."""

    needs_enter = True

    def key(self) -> str:
        line = self.line()
        return END if line is None else line.strip()[:1] or "\n"

    def line(self) -> str | None:
        sys.stdout.flush()
        line = sys.stdin.readline()
        return line.rstrip("\r\n") if line else None


class _PosixKeys:
    """A terminal that is told not to wait for Enter, key by key."""

    needs_enter = False

    def __init__(self, descriptor: int, before: list[Any]) -> None:
        self._descriptor = descriptor
        self._before = before
        self._waits_for_enter = False
        self._set(waits_for_enter=False)

    def key(self) -> str:
        sys.stdout.flush()
        char = self._char()
        if char == _ESCAPE:
            return self._end_of_sequence()
        return END if char in _END_OF_FILE else char

    def line(self) -> str | None:
        sys.stdout.flush()
        self._set(waits_for_enter=True)
        read = bytearray()
        try:
            while (byte := os.read(self._descriptor, 1)) not in (b"", b"\n"):
                read += byte
        finally:
            self._set(waits_for_enter=False)
        return None if byte == b"" and not read else read.decode("utf-8", "replace").rstrip("\r")

    def resume(self, *_: object) -> None:
        """Set the terminal again as it was when the program was stopped."""
        self._set(waits_for_enter=self._waits_for_enter)

    def _set(self, *, waits_for_enter: bool) -> None:
        self._waits_for_enter = waits_for_enter
        mode = [*self._before]
        if not waits_for_enter:
            mode[3] &= ~(termios.ICANON | termios.ECHO)
            mode[6] = [*mode[6]]
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, mode)

    def _char(self) -> str:
        """Read one character, which UTF-8 may write in several bytes; `END` where the terminal is gone."""
        data = b""
        for _ in range(4):
            try:
                byte = os.read(self._descriptor, 1)
            except OSError:  # hung up
                return END
            if not byte:
                return END
            data += byte
            try:
                return data.decode("utf-8")
            except UnicodeDecodeError:
                continue
        return UNKNOWN

    def _end_of_sequence(self) -> str:
        """Read what an arrow or a function key sends after Esc, lest a digit in it be taken for a key."""
        import select  # noqa: PLC0415 - only few keys need it

        first = True
        while select.select([self._descriptor], [], [], _ESCAPE_SECONDS)[0]:
            char = self._char()
            if char == END or ("@" <= char <= "~" and not (first and char in "[O")):
                break
            first = False
        return UNKNOWN


class _WindowsKeys:
    """The console of Windows, read key by key."""

    needs_enter = False

    def key(self) -> str:
        """Return the next key, as `Keys.key` does."""
        sys.stdout.flush()
        char = msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]  # a module of Windows
        if char in ("\0", "\xe0"):  # an arrow or a function key, and its code
            msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]  # as above
            return UNKNOWN
        if char == _INTERRUPT:
            raise KeyboardInterrupt
        return UNKNOWN if char == _ESCAPE else END if char in _END_OF_FILE else char

    def line(self) -> str | None:
        return _Lines().line()
