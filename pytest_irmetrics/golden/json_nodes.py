"""Read JSON as the same nodes as YAML, each with its line and column, so that both are checked by the same code.

The standard library names the place of a syntax error, but not of a value, and its columns differ between Python
versions (3.13 reports a trailing comma where it stands, 3.12 what follows it).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.numbers import JSON_NUMBER
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


_LEXEME = re.compile(
    r'[ \t\r\n]*(?:(?P<sign>[{}\[\]:,])|(?P<text>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")|(?P<word>[^\s{}\[\]:,"]+)|(?P<end>\Z))'
)
_BLANK = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNCLOSED_TEXT = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*')


class JsonError(IRMetricsError, ValueError):
    """A syntax error in JSON: its line and column, both from 1, what is wrong and what to do."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message


class _Mark(NamedTuple):
    """A place as PyYAML's marks have it: line and column from 0."""

    line: int
    column: int


def is_constant(node: Node) -> bool:
    """Say whether a node is `true`, `false` or `null`."""
    return node.__class__ is ScalarEvent and not node.style and node.value in CONSTANTS


def compose(text: str, first_line: int = 1) -> Node:
    """Read one JSON value as a node; `first_line` is where the text begins in its file. Raises JsonError."""
    return _Composer(text, first_line).read()


class _Composer:
    """Reads a text lexeme by lexeme, without recursion, so that deep nesting cannot exhaust the stack."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._line = first_line - 1
        self._starts = [0, *(found.end() for found in re.finditer(r"\r\n?|\n", text))]

    def _mark(self, offset: int) -> Any:
        if len(self._starts) == 1:
            return _Mark(self._line, offset)
        line = bisect_right(self._starts, offset) - 1
        return _Mark(self._line + line, offset - self._starts[line])

    def _fail(self, offset: int, message: str) -> NoReturn:
        line, column = self._mark(offset)
        raise JsonError(line + 1, column + 1, message)

    def read(self) -> Node:
        """Return the node of the text's only value. Raises JsonError."""
        text, next_lexeme = self._text, _LEXEME.match
        root: list[Node] = []
        node = root  # the list or mapping that the next value goes into
        outer: list[list[Node]] = []  # those that contain `node`, the outermost first
        mapping = False  # whether `node` is a mapping
        # What may come next. In a list "first" (a value or the end), "value" or "after"; in a mapping "first", "key",
        # "colon", "value" or "after"; in the text itself "value", then "end".
        want = "value"
        position = 0
        while True:
            found = next_lexeme(text, position)
            if found is None:
                self._fail_lexeme(_BLANK.match(text, position).end())  # type: ignore[union-attr]  # it also matches the empty text
            kind = found.lastgroup
            lexeme, at, position = found[kind], found.start(kind), found.end()  # type: ignore[index,arg-type]  # one of the groups
            if kind == "end":
                if want == "end":
                    return root[0]
                self._fail(at, "The JSON ends here, too early. Close what it opened.")
            if want == "end":
                self._fail(at, f"{quote(lexeme)} follows where the JSON has ended. Write one object.")
            if want == "colon":
                if lexeme != ":":
                    self._fail(
                        at, f"A `:` is missing between a key and its value, before {quote(lexeme)}. Write it."
                    )
                want = "value"
            elif lexeme in ("}", "]"):
                if not outer or want not in ("first", "after") or (lexeme == "}") is not mapping:
                    self._fail_bracket(at, lexeme)
                node = outer.pop()
                mapping = bool(outer) and node[0].__class__ is MappingStartEvent
                want = "after" if outer else "end"
            elif want == "after":
                if lexeme != ",":
                    self._fail(at, f"A `,` is missing before {quote(lexeme)}. Write it.")
                want = "key" if mapping else "value"
            elif mapping and want != "value":
                if kind != "text":
                    self._fail(
                        at, f'A key is in double quotes, and here is {quote(lexeme)}. Write {{"key": …}}.'
                    )
                node.append(self._text_node(lexeme, at))
                want = "colon"
            elif lexeme in ("{", "["):
                mapping = lexeme == "{"
                event = MappingStartEvent if mapping else SequenceStartEvent
                inner: list[Node] = [event(None, None, implicit=True, start_mark=self._mark(at))]
                node.append(inner)
                outer.append(node)
                if len(outer) > MAX_DEPTH:
                    self._fail(
                        at, f"Lists and objects are more than {MAX_DEPTH} deep here. Write them less deep."
                    )
                node = inner
                want = "first"
            elif kind == "sign":
                self._fail(at, f"A {quote(lexeme)} makes no sense here, where a value is wanted. Write one.")
            else:
                node.append(self._text_node(lexeme, at) if kind == "text" else self._word_node(lexeme, at))
                want = "after" if outer else "end"

    def _text_node(self, lexeme: str, at: int) -> Node:
        value = lexeme[1:-1]
        if "\\" in value:
            try:
                value = json.loads(lexeme)
            except ValueError:
                self._fail(at, "An escape in this text is none that JSON has. Double the backslash.")
            if _SURROGATE.search(value):
                self._fail(at, "An escape in this text is half of a character. Write the character itself.")
        return ScalarEvent(None, None, (False, True), value, self._mark(at), None, '"')

    def _word_node(self, lexeme: str, at: int) -> Node:
        if lexeme not in CONSTANTS and JSON_NUMBER.fullmatch(lexeme) is None:
            meant = {"true": "true", "false": "false", "none": "null", "null": "null"}.get(lexeme.lower())
            if meant:
                self._fail(at, f"{quote(lexeme)} is no JSON. Write {meant}.")
            if lexeme.lower().lstrip("+-") in ("nan", "infinity", "inf"):
                self._fail(at, f"{quote(lexeme)} is no number in JSON. Write a finite one.")
            self._fail(at, f"{quote(lexeme)} is no JSON. Put a text in double quotes.")
        return ScalarEvent(None, None, (True, False), lexeme, self._mark(at), None)

    def _fail_bracket(self, at: int, lexeme: str) -> NoReturn:
        after_comma = self._text[:at].rstrip().endswith(",")
        advice = "Remove the comma before it." if after_comma else "Check the brackets before it."
        self._fail(at, f"A {quote(lexeme)} makes no sense here. {advice}")

    def _fail_lexeme(self, at: int) -> NoReturn:
        """Report what is no lexeme: an unclosed text, or a character that JSON does not use."""
        if self._text[at] != '"':
            self._fail(at, f"{quote(self._text[at])} is no JSON. Remove it.")
        end = _UNCLOSED_TEXT.match(self._text, at).end()  # type: ignore[union-attr]  # there is a quote
        if end < len(self._text) and self._text[end] < " " and self._text[end] not in "\r\n":
            self._fail(
                end,
                f'A control character cannot stand in JSON. Remove it, or write "\\u{ord(self._text[end]):04x}".',
            )
        self._fail(at, "The quote that opens here is never closed on its line. Close it.")
