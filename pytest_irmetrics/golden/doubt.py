"""Something to look at again: a place and a sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something to look at again."""

    where: str
    """As ``path:line``, or with the column too."""
    message: str

    def __str__(self) -> str:
        """Write ``path:line: note: what is doubtful. What to do.``."""
        return f"{self.where}: note: {self.message}"
