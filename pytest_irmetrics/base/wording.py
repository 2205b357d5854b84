"""Text from outside, as it stands in a message."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` on one line, with whatever would not print as itself escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quote(text: str, width: int = 60) -> str:
    """`text` in quotes, escaped, cut to about `width` characters."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")
