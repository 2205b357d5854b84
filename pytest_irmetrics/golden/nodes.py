"""Node: a text, a list or a mapping of a file, with its place; every format is read as nodes, JSON here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.source import Place, Wrong

MAX_DEPTH = 30
"""Levels of lists and mappings within each other; a file with more is refused."""

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a character, which an escape may stand for and no file can hold."""
NO_CHARACTER = (
    "This escape stands for no character (half of a pair, or beyond Unicode). Write the character itself."
)


@dataclass(slots=True)
class Node:
    """A text, a list of nodes, or a mapping as a list of pairs of nodes."""

    place: Place
    value: Any
    """The text as it was written, the items of a list, or the pairs of a mapping."""
    kind: str = "text"
    """``text``, ``list`` or ``mapping``."""
    plain: bool = False
    """Whether a text is written without quotes: in JSON a number, true, false or null."""

    @property
    def is_null(self) -> bool:
        """Whether it is a plain `null` or `~`; in quotes these are text, and nothing at all is empty text."""
        return self.plain and self.value in ("null", "~")

    def __str__(self) -> str:
        """Show the value of a text, or the kind of another node, for a message."""
        if self.kind != "text":
            return f"a {self.kind}"
        if self.plain:
            return quote(self.value) if self.value else "empty"
        return f"the text {quote(self.value)}"


def too_deep(place: Place) -> Wrong:
    """Return the problem of lists and mappings that are more than MAX_DEPTH deep."""
    return Wrong(place, f"Lists and mappings are more than {MAX_DEPTH} deep here. Write them less deep.")


# JSON


class _Number(str):
    """A number as it was written, without quotes."""

    __slots__ = ()


class _Pairs(list[tuple[str, object]]):
    """The pairs of a JSON object, with keys that may repeat."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number)


def read_json(text: str, line: int) -> Node:
    """Return a JSON value as a node of its line, with numbers as they were written. Raises Wrong."""
    try:
        return _node(_DECODER.decode(text), (line, 1), 0)
    except json.JSONDecodeError as error:
        message = f"This is no JSON: {error.msg}. Write one object a line."
        raise Wrong((line, error.colno), message) from None
    except RecursionError:
        raise too_deep((line, 1)) from None


def _node(value: object, place: Place, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise too_deep(place)
    if isinstance(value, _Pairs):
        pairs = [(_node(key, place, depth), _node(item, place, depth + 1)) for key, item in value]
        return Node(place, pairs, "mapping")
    if isinstance(value, list):
        return Node(place, [_node(item, place, depth + 1) for item in value], "list")
    if isinstance(value, float):
        raise Wrong(place, f"{json.dumps(value)} is no number in JSON. Write a finite one.")
    if not isinstance(value, str):
        return Node(place, json.dumps(value), plain=True)
    if not value.isascii() and SURROGATE.search(value):
        raise Wrong(place, NO_CHARACTER)
    return Node(place, str(value), plain=isinstance(value, _Number))
