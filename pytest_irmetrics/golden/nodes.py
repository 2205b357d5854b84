"""Node: a text, a list or a mapping of a YAML or JSON file, with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_irmetrics.base.wording import quote

MAX_DEPTH = 30
"""Levels of lists and mappings within each other; a file with more is refused."""


@dataclass(slots=True)
class Node:
    """A text, a list of nodes, or a mapping as a list of pairs of nodes."""

    line: int
    """Counted from 1."""
    column: int
    """Counted from 1."""
    value: Any
    """The text as it was written, the items of a list, or the pairs of a mapping."""
    kind: str = "text"
    """``text``, ``list`` or ``mapping``; in JSON also ``constant``, which is true, false or null."""
    plain: bool = False
    """Whether a text is written without quotes."""

    @property
    def is_null(self) -> bool:
        """Whether it is a plain `null` or `~`; in quotes these are text, and nothing at all is empty text."""
        return self.plain and self.value in ("null", "~")

    def __str__(self) -> str:
        """Show the value of a text, or the kind of another node, for a message."""
        if self.kind == "constant":
            return str(self.value)
        if self.kind != "text":
            return f"a {self.kind}"
        if self.plain:
            return quote(self.value) if self.value else "empty"
        return f"the text {quote(self.value)}"
