"""The width and encoding of a terminal, text made to fit them, and lines with a colour."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from pytest_irmetrics.base.escape import escape_terminal, is_ascii_only, to_stream
from pytest_irmetrics.base.layout import display_width, shorten


class Screen(NamedTuple):
    """A terminal to print to: its width in cells, and its stream's encoding."""

    width: int = 80
    encoding: str | None = "utf-8"

    @property
    def ascii_only(self) -> bool:
        """Whether the stream cannot encode the ellipsis, the minus sign and arrows."""
        return is_ascii_only(self.encoding)

    def line(self, text: str) -> str:
        """Return text as one line that is safe to print and that the stream can encode."""
        return to_stream(escape_terminal(text), self.encoding)

    def wrapped(self, text: str, indent: str = "", hanging: str | None = None) -> list[str]:
        """Wrap text between words; `hanging` indents all lines but the first. A word that is too long stands alone.

        What is in backticks is one word: a command can be copied.
        """
        hanging = indent if hanging is None else hanging
        lines, current = [], indent
        for word in _words(self.line(text)):
            joined = current + word if not current.strip() else f"{current} {word}"
            if current.strip() and display_width(joined) > self.width:
                lines.append(current)
                current = hanging + word
            else:
                current = joined
        return [*lines, current]

    def cut(self, text: str, width: int | None = None) -> str:
        """Return text as one line of at most `width` cells, by default the screen's width."""
        return shorten(self.line(text), self.width if width is None else width, ascii_only=self.ascii_only)


def _words(text: str) -> list[str]:
    """Split text at its spaces, but for those between two backticks."""
    if text.count("`") % 2:
        return text.split(" ")
    words: list[str] = []
    for word in text.split(" "):
        if words and words[-1].count("`") % 2:
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


class Style(Enum):
    """How a line is printed; the value is what pytest's terminal writer takes, ``{"red": True}``."""

    PLAIN = ()
    BOLD = ("bold",)
    RED = ("red",)
    YELLOW = ("yellow",)
    BOLD_YELLOW = ("yellow", "bold")
    GREEN = ("green",)
    BOLD_RED = ("red", "bold")
    BOLD_GREEN = ("green", "bold")

    @property
    def markup(self) -> dict[str, bool]:
        """The keyword arguments of `TerminalReporter.write_line`."""
        return dict.fromkeys(self.value, True)


class Line(NamedTuple):
    """A line of output, safe to print."""

    text: str
    style: Style = Style.PLAIN

    def indented(self) -> Line:
        """Return the line two cells further to the right."""
        return Line(f"  {self.text}" if self.text else "", self.style)
