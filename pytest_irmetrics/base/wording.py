"""Quote and cut text from outside, count things and list them, for a message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

FEW = 5
"""How many queries, documents or edits a sentence names among others."""

_DETAILS = r"""'(?:\\.|[^'\\])*'|"[^"]*"|\?\S+|\w*\d\w*"""
"""What is quoted, what a URL asks, and words with a digit, such as an address."""
_HTTP_ERROR = r"\b[45]\d\d\b"


def printable(text: str) -> str:
    """Return `text` on one line, with whatever would not print as itself escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def cut(text: str, most: int) -> str:
    """Return `text` cut to at most `most` characters, with `…` for what is left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def quote(text: str, width: int = 60) -> str:
    """Return `text` in quotes, escaped, cut to about `width` characters."""
    return repr(cut(text, width))


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 query`, `3,900 queries`; `many` is what else the plural is than `one` with an s, or ies for y."""
    many = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{count:,} {one if count == 1 else many}"


def joined(words: Sequence[str]) -> str:
    """Join words to `a and b` or `a, b and c`."""
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])


def listed(items: Sequence[T], most: int = 10, word: Callable[[T], str] = str, between: str = ", ") -> str:
    """Return the first `most` items as text, each as `word` gives it, and how many more there are."""
    shown = between.join(map(word, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most:,} more"


def group_alike(items: Iterable[T], text: Callable[[T], str]) -> list[list[T]]:
    """Group items whose texts differ in details alone, as errors of one cause do, the largest group first.

    Details are quoted parts, numbers and what a URL asks, but for the status of an HTTP error.
    """
    groups: dict[tuple[str, ...], list[T]] = {}
    for item in items:
        said = text(item)
        groups.setdefault((re.sub(_DETAILS, "", said), *re.findall(_HTTP_ERROR, said)), []).append(item)
    return sorted(groups.values(), key=len, reverse=True)
