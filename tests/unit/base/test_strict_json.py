"""Read JSON strictly, whole or value by value, and find the place of a fault."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.base.strict_json import (
    DuplicateKey,
    JsonCursor,
    NonFiniteNumber,
    NotStrictError,
    find_flaw,
    line_at,
    loads,
    offset_of,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)
LAYOUTS = st.sampled_from([None, 0, 2, "\t"])


def walk(cursor):
    """Read a value in the smallest steps, as Python objects."""
    if cursor.peek() == "{":
        return {key: walk(cursor) for key in cursor.steps()}
    if cursor.peek() == "[":
        return [walk(cursor) for _ in cursor.steps()]
    return cursor.value()


def read_in_steps(text):
    cursor = JsonCursor(text)
    value = walk(cursor)
    cursor.end()
    return value


@given(VALUES, LAYOUTS, st.booleans())
def test_reads_what_json_writes_whole_and_in_steps(value, indent, ascii_only):
    text = f" {json.dumps(value, indent=indent, ensure_ascii=ascii_only)}\n"
    assert loads(text) == read_in_steps(text) == value


@given(VALUES, LAYOUTS, st.data())
def test_refuses_in_steps_what_it_refuses_whole(value, indent, data):
    text = json.dumps(value, indent=indent)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 3)))
    text = (
        text[:start]
        + data.draw(st.sampled_from(["", ",", "]", "}", "[", ":", '"', "1", "\xa0"]))
        + text[end:]
    )
    try:
        value = loads(text)
    except NotStrictError:
        find_flaw(text)  # finds one
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - any
            read_in_steps(text)
    else:
        assert read_in_steps(text) == value


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ('{"a": 1,\n"a": 2}', DuplicateKey("a", 1, 9)),
        ('[{"a": {"b": 0, "b": 1}}]', DuplicateKey("b", 8, 16)),
        ('{"a": 1, "\\u0061": 2}', DuplicateKey("a", 1, 9)),
        ("[1, NaN]", NonFiniteNumber("NaN", 4)),
        ('{"a": -Infinity}', NonFiniteNumber("-Infinity", 6)),
        ("1e999", NonFiniteNumber("1e999", 0)),
        ('{"a": NaN, "b": 1, "b": 2}', NonFiniteNumber("NaN", 6)),
    ],
)
def test_says_where_a_key_is_there_twice_and_which_number_is_not_finite(text, flaw):
    with pytest.raises(NotStrictError):
        loads(text)
    assert find_flaw(text) == flaw


def test_one_key_in_several_objects_is_no_flaw():
    assert loads('[{"a": {"a": 1}}, {"a": 2}]') == [{"a": {"a": 1}}, {"a": 2}]


@given(VALUES, LAYOUTS, st.data())
def test_finds_the_value_at_a_path(value, indent, data):
    text = json.dumps(value, indent=indent)
    path = []
    while isinstance(value, (list, dict)) and value and data.draw(st.booleans()):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        path.append(data.draw(st.sampled_from(keys)))
        value = value[path[-1]]
    found, _ = json.JSONDecoder().raw_decode(text, offset_of(text, tuple(path)))
    assert found == value


def test_lines_are_counted_from_one():
    assert [line_at("a\nb\nc", offset) for offset in (0, 2, 4)] == [1, 2, 3]
