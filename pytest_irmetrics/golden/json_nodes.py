"""JSON → the nodes that YAML is read as, with their places: what is checked of the one is checked of the other."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.numbers import JSON_NUMBER
from pytest_irmetrics.base.strict_json import loads
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.nodes import (
    CONSTANTS,
    MAX_DEPTH,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)

if TYPE_CHECKING:
    from pytest_irmetrics.golden.nodes import Node

__all__ = ["JsonError", "compose", "is_plain", "strict_json"]

_BLANK = re.compile(r"[ \t\r\n]*")
_LEXEME = re.compile(
    r'(?P<sign>[{}\[\]:,])|(?P<text>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")|(?P<word>[^\s{}\[\]:,"]+)'
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_INSIDE = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*')


class JsonError(IRMetricsError, ValueError):
    """What is no JSON: where, as a line and a column from 1, and what to do."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message


class _Mark(NamedTuple):
    """A place, as the parser of YAML has it: both from 0."""

    line: int
    column: int


def is_plain(node: Node) -> bool:
    """Say whether a node is `true`, `false` or `null`."""
    return node.__class__ is ScalarEvent and not node.style and node.value in CONSTANTS


def strict_json(text: str) -> Any:
    """Read JSON as `compose` does, but fast and without places. Raises ValueError or RecursionError."""
    value = loads(text)
    if "\\ud" in text or "\\uD" in text:
        json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError, a ValueError, for half a pair
    return value


def compose(text: str, first_line: int = 1) -> Node:
    """Read one JSON value; `first_line` is where the text begins in its file. Raises JsonError."""
    return _Composer(text, first_line).read()


class _Composer:
    """Reads a text token by token, without recursion, so that no depth can hurt."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._line = first_line - 1
        self._starts = (
            [0, *(found.end() for found in re.finditer(r"\r\n?|\n", text))]
            if "\n" in text or "\r" in text
            else [0]
        )

    def _mark(self, offset: int) -> Any:
        line = bisect_right(self._starts, offset) - 1
        return _Mark(self._line + line, offset - self._starts[line])

    def _fail(self, offset: int, message: str) -> NoReturn:
        line, column = self._mark(offset)
        raise JsonError(line + 1, column + 1, message)

    def read(self) -> Node:
        holder: list[Node] = []
        node = holder  # what the next value goes into
        outer: list[list[Node]] = []
        # A list wants "first" (a value or its end), "value" or "after"; a mapping "first", "key", "colon", "value" or
        # "after"; the text itself "value", then "end".
        want = "value"
        position = 0
        while True:
            position = _BLANK.match(self._text, position).end()  # type: ignore[union-attr]  # it matches nothing, too
            if position == len(self._text):
                if want == "end":
                    return holder[0]
                self._fail(position, "The JSON ends here, too early. Close what it opened.")
            found = _LEXEME.match(self._text, position)
            if found is None:
                self._fail_text(position)
            lexeme, at = found[0], position
            position = found.end()
            if want == "end":
                self._fail(at, f"{quote(lexeme)} follows where the JSON has ended. Write one object.")
            mapping = bool(outer) and node[0].__class__ is MappingStartEvent
            if want == "colon":
                if lexeme != ":":
                    self._fail(
                        at,
                        f"A `:` is missing between a key and its value, before {quote(lexeme)}. Write it.",
                    )
                want = "value"
            elif lexeme in ("}", "]"):
                if not outer or want not in ("first", "after") or (lexeme == "}") is not mapping:
                    after_comma = self._text[:at].rstrip().endswith(",")
                    advice = "Remove the comma before it." if after_comma else "Check the brackets before it."
                    self._fail(at, f"A {quote(lexeme)} makes no sense here. {advice}")
                node = outer.pop()
                want = "after" if outer else "end"
            elif want == "after":
                if lexeme != ",":
                    self._fail(at, f"A `,` is missing before {quote(lexeme)}. Write it.")
                want = "key" if mapping else "value"
            elif want == "key" or (want == "first" and mapping):
                if found.lastgroup != "text":
                    self._fail(
                        at, f'A key is in double quotes, and here is {quote(lexeme)}. Write {{"key": …}}.'
                    )
                node.append(self._scalar(found.lastgroup, lexeme, at))
                want = "colon"
            elif lexeme in ("{", "["):
                kind = MappingStartEvent if lexeme == "{" else SequenceStartEvent
                inner: list[Node] = [kind(None, None, implicit=True, start_mark=self._mark(at))]
                node.append(inner)
                outer.append(node)
                if len(outer) > MAX_DEPTH:
                    self._fail(
                        at, f"Lists and objects are more than {MAX_DEPTH} deep here. Write them less deep."
                    )
                node = inner
                want = "first"
            elif lexeme in (":", ","):
                self._fail(at, f"A {quote(lexeme)} makes no sense here, where a value is wanted. Write one.")
            else:
                node.append(self._scalar(found.lastgroup, lexeme, at))
                want = "after" if outer else "end"

    def _scalar(self, kind: str | None, lexeme: str, at: int) -> Node:
        mark = self._mark(at)
        if kind == "text":
            try:
                value = json.loads(lexeme)
            except ValueError:
                self._fail(at, "An escape in this text is none that JSON has. Double the backslash.")
            if _SURROGATE.search(value):
                self._fail(at, "An escape in this text is half of a character. Write the character itself.")
            return ScalarEvent(None, None, (False, True), value, mark, None, '"')
        if lexeme not in CONSTANTS and JSON_NUMBER.fullmatch(lexeme) is None:
            close = {"true": "true", "false": "false", "none": "null", "null": "null"}.get(lexeme.lower())
            if close:
                self._fail(at, f"{quote(lexeme)} is no JSON. Write {close}.")
            if lexeme.lower().lstrip("+-") in ("nan", "infinity", "inf"):
                self._fail(at, f"{quote(lexeme)} is no number in JSON. Write a finite one.")
            self._fail(at, f"{quote(lexeme)} is no JSON. Put a text in double quotes.")
        return ScalarEvent(None, None, (True, False), lexeme, mark, None)

    def _fail_text(self, at: int) -> NoReturn:
        """Say why a text in quotes does not end as it should."""
        if self._text[at] != '"':
            self._fail(at, f"{quote(self._text[at])} is no JSON. Remove it.")
        end = _INSIDE.match(self._text, at).end()  # type: ignore[union-attr]  # there is a quote
        if end < len(self._text) and self._text[end] < " " and self._text[end] not in "\r\n":
            self._fail(
                end,
                f'A control character cannot stand in JSON. Remove it, or write "\\u{ord(self._text[end]):04x}".',
            )
        self._fail(at, "The quote that opens here is never closed on its line. Close it.")
