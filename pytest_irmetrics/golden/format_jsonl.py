"""JSONL golden sets: one query a line, with the keys and messages of YAML. And JSON as nodes, for every format that holds JSON."""

from __future__ import annotations

import json

from pytest_irmetrics.golden.formats import KEYS, Format
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import query_as_dict
from pytest_irmetrics.golden.query_reader import QueryReader
from pytest_irmetrics.golden.source import MAX_DEPTH, Node, Place, Source, Wrong, refuse_surrogate, too_deep

FORMATS = {"jsonl": Format((".jsonl",), frozenset(KEYS))}


def read(source: Source) -> GoldenSet:
    """Read a golden set of one query a line. Raises Wrong and GoldenSetError.

    A query without a judgment is left out, and grades may be below 0, as in trec_eval.
    """
    reader = QueryReader(source, as_trec_eval=True)
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            node = source.attempt(read_json, line, (number, 1))
            if node is not None and node.kind == "mapping":
                # null is how an empty cell of a table is exported.
                node.value = [(key, item) for key, item in node.value if not item.is_null]
            if node is not None:
                reader.read(node)
    return reader.judged_set()


def render(golden: GoldenSet, path: str, _form: str) -> dict[str, str]:
    """Return the content of the file."""
    return {path: "".join(json_line(query_as_dict(query, short=True)) for query in golden.queries.values())}


def json_line(record: object) -> str:
    """Write a value as a line of JSON, in which what cannot be printed is escaped."""
    line = json.dumps(record, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line) + "\n"


# JSON as nodes


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
    """Return a decoded JSON value as a node; `depth` counts the lists and objects around it. Raises Wrong."""
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
    refuse_surrogate(value, place)
    return Node(place, str(value), plain=isinstance(value, _Number))
