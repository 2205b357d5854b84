"""Put numbers at the ends of their ranges, and values of other types, anywhere into a JSON text."""

from __future__ import annotations

import json

from hypothesis import strategies as st

# As they are written in JSON; no Python object has all of them.
ENDS = [
    "0",
    "-0.0",
    "-1",
    "1e-400",
    "5e-324",
    "-5e-324",
    "2.2250738585072014e-308",
    "1e-300",
    "1e-10",
    "0.9999999999999999",
    "1.0000000000000002",
    "1000",
    "1000.0000000000001",
    "1e9",
    "1e16",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "1e100",
    "1e154",
    "1e155",
    "1.7e308",
    "-1.7e308",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "1e309",
    "-1e309",
    "NaN",
    "Infinity",
    "-Infinity",
    "1" + 400 * "0",
    "-1" + 400 * "0",
    "1" + 4400 * "0",
    "1e" + 5000 * "9",
    "true",
    "null",
    '"1"',
    "[]",
    "{}",
]

numbers = (
    st.sampled_from(ENDS)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.integers().map(str)
)


def places(value, path=()):
    """The paths of all values in a JSON document, itself among them."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


def replaced(document, path, written):
    """The text of a document in which the value at a path is written so."""
    mark = "\ue000here\ue000"

    def put(value, path):
        if not path:
            return mark
        copy = value.copy()
        copy[path[0]] = put(value[path[0]], path[1:])
        return copy

    return json.dumps(put(document, path)).replace(json.dumps(mark), written)


def number_places(document):
    """The paths of all numbers in a JSON document."""

    def at(path):
        value = document
        for step in path:
            value = value[step]
        return value

    return [path for path in places(document) if type(at(path)) in (int, float)]


@st.composite
def edited(draw, document):
    """A text of a document with one to three of its values replaced: mostly numbers, by numbers."""
    text = json.dumps(document)
    for _ in range(draw(st.integers(1, 3))):
        try:
            current = json.loads(text)
        except ValueError:  # a number that nobody reads
            return text
        numeric = number_places(current)
        anywhere = list(places(current))
        path = draw(
            st.sampled_from(numeric) if numeric and draw(st.integers(0, 3)) else st.sampled_from(anywhere)
        )
        text = replaced(current, path, draw(numbers))
    return text
