"""Words for a message: text and values from outside, quoted and cut; counts and lists."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, TypeVar

T = TypeVar("T")

FEW = 5
"""How many queries, documents or edits a sentence names among others."""

_DETAILS = r"""'(?:\\.|[^'\\])*'|"[^"]*"|\?\S+|\w*\d\w*"""
"""What is quoted, what a URL asks, and words with a digit, such as an address."""
_HTTP_ERROR = r"\b[45]\d\d\b"


def printable(text: str, most: int | None = None) -> str:
    """Return `text` on one line, with whatever would not print as itself escaped; cut to `most` characters."""
    shown = text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown if most is None else cut(shown, most)


def cut(text: str, most: int) -> str:
    """Return `text` cut to at most `most` characters, with `…` for what is left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def as_title(text: str) -> str:
    """Return a text as it stands beside a document's id: in one line, of at most 120 characters."""
    return cut(" ".join(text.split()), 120)


def quote(text: str, width: int = 60) -> str:
    """Return `text` in quotes, escaped, cut to about `width` characters."""
    return repr(cut(text, width))


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 query`, `3,900 queries`; `many` is an irregular plural."""
    many = many or (f"{one[:-1]}ies" if one.endswith("y") else f"{one}s")
    return f"{count:,} {one if count == 1 else many}"


def joined(words: Sequence[str]) -> str:
    """Join words to `a and b` or `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


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


# Values of the user's, of any type, whose own code may raise


def type_name(value: object) -> str:
    """Return the name of a value's type, on one line."""
    return printable(type(value).__name__)


def value_of(holder: Any, name: str) -> Any:
    """Return a key or an attribute by its name; None where there is neither, or where it raises, as the user's may."""
    with suppress(Exception):
        if isinstance(holder, Mapping):
            return holder.get(name)
        keys = getattr(type(holder), "keys", None)  # of a row of sqlite3, whose `in` looks at its values
        if callable(keys) and hasattr(type(holder), "__getitem__") and name in keys(holder):
            return holder[name]
        return getattr(holder, name, None)
    return None


def describe(value: object) -> str:
    """Return a value's type and a short repr for a message, also where its own repr raises."""
    name = type_name(value)
    try:
        text = printable(" ".join(_SHORT.repr(value).split()))
    except Exception:  # noqa: BLE001 - reprlib goes by the type's name, and another type may have that name
        text = f"<{name}>"
    return text if value is None or text.startswith((f"<{name}", f"{name}(")) else f"{name} {text}"


def as_code(value: object) -> str:
    """Return a value as Python code writes it, cut where it is long; of a mapping at most twelve keys."""
    cutter = copy(_SHORT)
    cutter.maxdict = 12
    return printable(cutter.repr(value))


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = _SHORT.maxdict = _SHORT.maxdeque = 3
_SHORT.maxlevel = 3
