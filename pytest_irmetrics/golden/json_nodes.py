"""Read JSON as nodes, with numbers as they were written."""

from __future__ import annotations

import json
import re

from pytest_irmetrics.golden.source import MAX_DEPTH, NO_CHARACTER, SURROGATE, Node, Place, Wrong, too_deep


class _Number(str):
    """A number as it was written, without quotes."""

    __slots__ = ()


class _Pairs(list[tuple[str, object]]):
    """The pairs of a JSON object, with keys that may repeat."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number)


def read_json(text: str, place: Place) -> Node:
    """Return a JSON value as a node of one place, with numbers as they were written. Raises Wrong."""
    try:
        return _node(_DECODER.decode(text), place, 0)
    except json.JSONDecodeError as error:
        message = f"This is no JSON: {error.msg}. Write one object a line."
        raise Wrong((place[0], error.colno), message) from None
    except RecursionError:
        raise too_deep(place) from None


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
    if not value.isascii() and re.search(SURROGATE, value):
        raise Wrong(place, NO_CHARACTER)
    return Node(place, str(value), plain=isinstance(value, _Number))
