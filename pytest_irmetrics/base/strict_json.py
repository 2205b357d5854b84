"""Read JSON strictly, whole or value by value, and find the place of what is wrong with it.

The standard library's reader takes the last of two equal keys, and reads `NaN`, `Infinity` and numbers too large for a
double, of which other readers make something else. Here these are errors.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = re.compile(r"[ \t\r\n]*")


class NotStrictError(ValueError):
    """JSON that the standard library reads and this package refuses: a key twice, or a number that is not finite."""


class DuplicateKey(NamedTuple):
    """A key that one object has twice, and the offsets of both in the text."""

    key: str
    first: int
    second: int


class NonFiniteNumber(NamedTuple):
    """A number that is not finite, as it is written, and its offset in the text."""

    written: str
    offset: int


def loads(text: str) -> Any:
    """Read one JSON value.

    Raises NotStrictError, json.JSONDecodeError for what is not JSON, ValueError for an integer of more digits than
    Python converts, and RecursionError for lists and objects nested too deeply.
    """
    return _DECODER.decode(text)


class JsonCursor:
    """Read a JSON text value by value, so that a large one need not be in memory as Python objects all at once.

    Accepts what `loads` accepts and raises its errors; but only `loads` gives a JSONDecodeError a useful message.

        cursor = JsonCursor('{"a": [1, 2], "b": 3}')
        for key in cursor.steps():
            if key == "a":
                for index in cursor.steps():
                    print(key, index, cursor.value())
            else:
                print(key, cursor.value())
        cursor.end()
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        """Where the next value begins or, after a value, the character behind it; blanks are skipped."""
        self.step_offset = 0
        """Where the key, or the value in a list, that `steps` yielded last begins."""
        self._skip_blanks(0)

    def _skip_blanks(self, offset: int) -> None:
        self.offset = _BLANK.match(self.text, offset).end()  # type: ignore[union-attr]  # it also matches nothing

    def peek(self) -> str:
        """Return the character that is next; empty at the text's end."""
        return self.text[self.offset : self.offset + 1]

    def value(self) -> Any:
        """Read the value that is next, whole."""
        value, end = _DECODER.raw_decode(self.text, self.offset)
        self._skip_blanks(end)
        return value

    def steps(self) -> Iterator[str | int]:
        """Yield each key of the object, or each index of the list, that is next.

        Before it takes the next one, the caller reads its value, by `value` or by `steps`.
        """
        opening = self._take("{[")
        closing = "}" if opening == "{" else "]"
        if self.peek() == closing:
            self._take(closing)
            return
        index, char = 0, ","
        while char == ",":
            self.step_offset = self.offset
            if opening == "{":
                if self.peek() != '"':
                    self._refuse()
                key = self.value()
                self._take(":")
                yield key
            else:
                yield index
            index += 1
            char = self._take("," + closing)

    def end(self) -> None:
        """Raise JSONDecodeError unless the whole text has been read."""
        if self.offset < len(self.text):
            self._refuse()

    def _take(self, allowed: str) -> str:
        char = self.peek()
        if not char or char not in allowed:
            self._refuse()
        self._skip_blanks(self.offset + 1)
        return char

    def _refuse(self) -> NoReturn:
        raise json.JSONDecodeError("Unexpected char", self.text, self.offset)


def find_flaw(text: str) -> DuplicateKey | NonFiniteNumber:
    """Find the first place in a text that makes `loads` raise NotStrictError."""
    flaw = _find_flaw(JsonCursor(text))
    assert flaw is not None  # noqa: S101 - else there was no NotStrictError
    return flaw


def _find_flaw(cursor: JsonCursor) -> DuplicateKey | NonFiniteNumber | None:
    offset = cursor.offset
    if cursor.peek() not in ("{", "["):
        try:
            cursor.value()
        except NotStrictError as error:
            return NonFiniteNumber(str(error), offset)
        return None
    seen: dict[str | int, int] = {}
    for step in cursor.steps():
        if step in seen:
            return DuplicateKey(str(step), seen[step], cursor.step_offset)
        seen[step] = cursor.step_offset
        flaw = _find_flaw(cursor)
        if flaw is not None:
            return flaw
    return None


def offset_of(text: str, path: tuple[str | int, ...]) -> int:
    """Return where in a text, which `loads` reads, the value at a path of keys and indexes begins."""
    cursor = JsonCursor(text)
    for wanted in path:
        for step in cursor.steps():
            if step == wanted:
                break
            cursor.value()
    return cursor.offset


def line_at(text: str, offset: int) -> int:
    """Return the line, from 1, of a place in a text."""
    return text.count("\n", 0, offset) + 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrictError("a key is there twice")
    return found


def _constant(written: str) -> NoReturn:
    raise NotStrictError(written)


def _float(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise NotStrictError(written)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
