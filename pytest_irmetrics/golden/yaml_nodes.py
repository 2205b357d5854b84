"""Read YAML as nodes with their places, and explain syntax errors and unsupported YAML in plain words.

The events of PyYAML's parser are read one by one: scalars stay text as it was written (PyYAML's own loader would turn
`no` into False and 0123 into 83), each with its place. Hostile files are bounded: depth is counted before anything recurses,
and an alias is the very node that it refers to, with a limit on what all aliases of a file add up to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml
from yaml.events import DocumentStartEvent, StreamEndEvent
from yaml.reader import ReaderError

from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.errors import Stop
from pytest_irmetrics.golden.files import iter_places
from pytest_irmetrics.golden.nodes import (
    MAX_DEPTH,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    place_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_irmetrics.golden.nodes import Node, NodeProblems


MAX_ALIASED = 1_000_000
"""Characters and nodes that all aliases of a file together may stand for."""
_LONGEST = 60  # characters of a name in a message

PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's parser, which is many times as fast; the one in Python where PyYAML was built without it."""

# Where an anchor or a tag may begin: never after a letter or digit. Most files have none, and then no event needs to be
# checked for them, which takes time.
_PROPERTIES = [(sign, re.compile(rb"%b(?<![0-9A-Za-z\x80-\xff]%b)" % (sign, sign))) for sign in (b"&", b"!")]
_BREAKS = {
    b"\xc2\x85": "U+0085 (next line)",
    b"\xe2\x80\xa8": "U+2028 (line separator)",
    b"\xe2\x80\xa9": "U+2029 (paragraph separator)",
    b"\xef\xbb\xbf": "U+FEFF (byte order mark)",
}
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\r")) + b"\x7f"
_INVISIBLE = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"
)
_INVISIBLE_BEYOND_ASCII = re.compile(rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TAG_DIRECTIVE = re.compile(rb"^%TAG", re.MULTILINE)


class NodeReader:
    """Reads one YAML document as nodes, in the order of the file, so that a large list need not be kept as nodes.

        reader = NodeReader(b"a: [1, 2]", problems)
        event = reader.begin()              # the start of the mapping
        node = reader.compose(event)        # the rest of it; or reader.next() for the event of its first key
        reader.end()

    Problems go to `problems`. Reading ends with Stop for a problem after which nothing more can be read, or with
    yaml.YAMLError for a syntax error, which `explain` reports.
    """

    def __init__(self, data: bytes, problems: NodeProblems) -> None:
        self._problems = problems
        self._data = self._without_invisible_characters(data)
        self._has_properties = any(
            sign in self._data and pattern.search(self._data) for sign, pattern in _PROPERTIES
        )
        self._anchors: dict[str, Node] = {}
        self._unused: dict[str, Node] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._aliased = 0
        self.next: Callable[[], Any] = lambda: None

    def begin(self) -> Any:
        """Return the first event of the document's root; None for a file without any content."""
        if b"%TAG" in self._data:  # a hostile file could have many: libyaml takes quadratic time over them
            directive = _TAG_DIRECTIVE.search(self._data)
            if directive:
                line, column = next(iter_places(self._data, [directive.start()]))
                self._problems.report(
                    line, column, "A `%TAG` line has no meaning in a golden set. Remove it."
                )
                raise Stop
        parser = PARSER(self._data)
        self.next = parser.get_event if hasattr(parser, "raw_parse") else _checked_events(parser)
        self.next()
        if self.next().__class__ is StreamEndEvent:
            return None
        return self.next()

    def compose(self, event: Any) -> Node:
        """Return the node that begins with this event."""
        has_properties = self._has_properties
        if event.__class__ is ScalarEvent:
            if has_properties:
                self._check_properties(event, event)
            return event
        if event.__class__ is not MappingStartEvent and event.__class__ is not SequenceStartEvent:
            return self._resolve(event, 0)
        following = self.next
        node: list[Any] = [event]
        append = node.append
        outer: list[list[Any]] = []
        while True:
            event = following()
            kind = event.__class__
            if kind is ScalarEvent:
                append(event)
                if has_properties and (event.anchor is not None or event.tag is not None):
                    self._check_properties(event, event)
            elif kind is SequenceStartEvent or kind is MappingStartEvent:
                outer.append(node)
                if len(outer) >= MAX_DEPTH:
                    self._refuse_depth(event)
                node = [event]
                append(node)
                append = node.append
            elif kind is SequenceEndEvent or kind is MappingEndEvent:
                if has_properties and (node[0].anchor is not None or node[0].tag is not None):
                    self._check_properties(node[0], node)
                if not outer:
                    return node
                node = outer.pop()
                append = node.append
            else:
                append(self._resolve(event, len(outer) + 1))

    def compose_mapping(self, event: Any) -> tuple[dict[str | None, Node], list[Node]]:
        """Return the values by key of the mapping that begins with this event, and the nodes of its keys.

        A sixth of the time of loading is saved against `compose`. A repeated key has its last value; a key that is no
        scalar is None.
        """
        if self._has_properties:
            node = self.compose(event)
            keys = node[1::2]
            names = [key.value if key.__class__ is ScalarEvent else None for key in keys]
            return dict(zip(names, node[2::2], strict=True)), keys
        following, compose = self.next, self.compose
        fields: dict[str | None, Node] = {}
        keys = []
        while (event := following()).__class__ is not MappingEndEvent:
            if event.__class__ is ScalarEvent:
                keys.append(event)
                value = following()
                fields[event.value] = value if value.__class__ is ScalarEvent else compose(value)
            else:
                keys.append(compose(event))
                fields[None] = compose(following())
        return fields, keys

    def end(self) -> None:
        """Read to the end of the file; report a second document and unused anchors."""
        self.next()
        event = self.next()
        if event.__class__ is DocumentStartEvent:
            self._problems.at(event, "A second YAML document begins here. Keep one document in a file.")
            raise Stop
        for name, node in self._unused.items():
            text = "Put a text that begins with `&` in quotes, and remove an anchor that nothing uses."
            self._problems.at(
                node, f"`&{cut(name, _LONGEST)}` is read as an anchor, and nothing refers to it. {text}"
            )

    def explain(self, error: yaml.YAMLError) -> None:
        """Report a syntax error in plain words."""
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
            line, column, message = _explain(error, self._sign_at)
        else:
            position = error.position if isinstance(error, ReaderError) else 0
            line, column = next(iter_places(self._data, [position]))
            message = "YAML does not allow this character. Remove it."
        self._problems.report(line, column, message)

    def _without_invisible_characters(self, data: bytes) -> bytes:
        """Report characters that YAML refuses, or reads as a line break where editors do not; replace them by blanks."""
        if data.isascii():
            if len(data.translate(None, _CONTROLS)) == len(data):
                return data
        elif _INVISIBLE_BEYOND_ASCII.search(data) is None and len(data.translate(None, _CONTROLS)) == len(
            data
        ):
            return data
        found, again = _INVISIBLE.finditer(data), _INVISIBLE.finditer(data)
        for match, (line, column) in zip(
            found, iter_places(data, (match.start() for match in again)), strict=True
        ):
            code = ord(match[0].decode("utf-8"))
            name = (
                _BREAKS.get(match[0])
                or f"U+{code:04X} ({'no character' if code > 0xFFF0 else 'control character'})"
            )
            advice = f'Remove it, or write "\\u{code:04x}" within double quotes.'
            self._problems.report(line, column, f"Here is the invisible sign {name}. {advice}")
        return _INVISIBLE.sub(b" ", data)

    def _sign_at(self, line: int, column: int) -> str:
        lines = re.split(r"\r\n?|\n", self._data.decode("utf-8"))
        return lines[line - 1][column - 1 : column] if line <= len(lines) else ""

    def _check_properties(self, event: Any, node: Node) -> None:
        """Register the anchor of a node that has been read, and report its tag."""
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!", 1)
            self._problems.at(
                event,
                f"`{cut(tag, _LONGEST)}` is read as a tag, which has no meaning in a golden set. "
                "Put a text that begins with `!` in quotes, and remove a tag.",
            )
        name = event.anchor
        if name is None:
            return
        if name in self._anchors:
            first, _ = place_of(self._anchors[name])
            self._problems.at(
                event, f"The anchor `&{cut(name, _LONGEST)}` is already on line {first}. Rename one."
            )
            return
        self._anchors[name] = self._unused[name] = node
        self._sizes[id(node)] = self._measure(node)

    def _measure(self, node: Node) -> tuple[int, int]:
        """Return the number of characters and nodes in a node, with aliases written out, and its depth."""
        if node.__class__ is not list:
            return 1 + len(node.value), 0
        size, depth = 1, 0
        for part in node[1:]:
            part_size, part_depth = self._sizes.get(id(part)) or self._measure(part)
            size += part_size
            depth = max(depth, part_depth)
        return size, depth + 1

    def _resolve(self, event: Any, depth: int) -> Node:
        """Return the node that an alias refers to; the alias as text, and a report, if it refers to none."""
        name = event.anchor
        node = self._anchors.get(name)
        if node is None:
            advice = "Put a text that begins with `*` in quotes."
            self._problems.at(event, f"`*{cut(name, _LONGEST)}` refers to no anchor before it. {advice}")
            return ScalarEvent(None, None, (False, True), f"*{name}", event.start_mark, event.end_mark, '"')
        self._unused.pop(name, None)
        size, inner = self._sizes[id(node)]
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            self._problems.at(
                event,
                f"The aliases up to here, at `*{cut(name, _LONGEST)}`, stand for too much text. Write out what they stand for.",
            )
            raise Stop
        if depth + inner > MAX_DEPTH:
            self._refuse_depth(event)
        return node

    def _refuse_depth(self, event: Any) -> None:
        self._problems.at(
            event, f"Lists and mappings are more than {MAX_DEPTH} deep here. Write them less deep."
        )
        raise Stop


def _checked_events(parser: Any) -> Callable[[], Any]:
    """Make PyYAML's Python parser refuse what libyaml refuses: escapes that are no character."""

    def following() -> Any:
        mark: Any = parser.get_mark()
        try:
            event = parser.get_event()
        except (ValueError, OverflowError):  # from chr() or int()
            raise yaml.MarkedYAMLError(problem="found invalid Unicode", problem_mark=mark) from None
        if event.__class__ is ScalarEvent and _SURROGATE.search(event.value):
            mark = event.start_mark
            raise yaml.MarkedYAMLError(problem="found invalid Unicode", problem_mark=mark)
        return event

    return following


# libyaml and PyYAML tell errors apart by their text alone. Each row: a part of their message, about the problem or its
# context; whether to show the place of the context; and our message, in which {line} is the line of the context. The first
# row that matches counts.
_MESSAGES: Sequence[tuple[str, bool, str]] = (
    ("tab character", False, "A tab cannot indent. Use spaces."),
    ("mapping values are not allowed", False, "A `: ` makes no sense here. Put a text that contains it in quotes, or check the indentation."),
    ("could not find expected ':'", True, "This is neither `key: value` nor part of the text above. Check the indentation."),
    ("unknown escape character", False, "A backslash in double quotes begins an escape, and this is none. Use single quotes, or double the backslash."),
    ("found invalid Unicode", False, "This escape stands for no character (half of a surrogate pair, or beyond Unicode). Write the character itself."),
    ("expected hexdecimal number", False, "This escape is cut short. Write all its digits, or use single quotes."),
    ("expected escape sequence of", False, "This escape is cut short. Write all its digits, or use single quotes."),
    ("scanning a quoted scalar", True, "The quote that opens here is never closed. Close it, or put the whole text in quotes."),
    ("expected ',' or ']'", False, "The list that opens on line {line} wants a `,` or its `]` before this. Put a text that contains `[`, `]`, `,` or quotes in quotes."),
    ("expected ',' or '}'", False, "The mapping that opens on line {line} wants a `,` or its `}}` before this. Put a text that contains `{{`, `}}`, `,` or quotes in quotes."),
    ("sequence entries are not allowed", False, "A list cannot begin here. Begin it on a line of its own."),
    ("mapping keys are not allowed", False, "A key cannot stand here. Write `key: value`, a line each."),
    ("expected node content", False, "A value is missing here. Write one, or remove the sign that announces it."),
    ("expected the node content", False, "A value is missing here. Write one, or remove the sign that announces it."),
    ("<document start>", False, "The document has ended before this. Check the indentation, and keep one document in a file."),
    ("scanning an alias", True, "A text that begins with `*` must be in quotes."),
    ("scanning an anchor", True, "A text that begins with `&` must be in quotes."),
    ("a tag", True, "A text that begins with `!` must be in quotes."),
    ("tag handle", False, "A text that begins with `!` must be in quotes."),
    ("scanning a block scalar", True, "A text that begins with `|` or `>` must be in quotes; after a `|` or `>` that begins a block of text, the line ends."),
    ("directive", False, "A line that begins with `%` is a YAML directive. Remove it, or put the text in quotes."),
    ("incompatible YAML document", False, "This asks for another version of YAML. Remove the line."),
    ("expected key", False, "This does not continue the mapping that begins on line {line}. Check its indentation; put a text that contains quotes in quotes."),
    ("expected '-' indicator", False, "This does not continue the list that begins on line {line}. Check its indentation."),
    ("expected <block end>", False, "This does not continue what begins on line {line}. Check its indentation; put a text that contains quotes in quotes."),
)  # fmt: skip


def _explain(error: yaml.MarkedYAMLError, sign_at: Callable[[int, int], str]) -> tuple[int, int, str]:
    """Return the line and column of a syntax error, both from 1, and a message; `sign_at` returns the character at a place."""
    mark: Any = error.problem_mark
    context_mark: Any = error.context_mark or mark
    line, column = mark.line + 1, mark.column + 1
    said = f"{error.context or ''}; {error.problem or ''}"
    if "cannot start any token" in said:
        sign = sign_at(line, column)
        if sign == "\t":
            return line, column, "A tab cannot indent. Use spaces."
        return (
            line,
            column,
            f"No text can begin with {quote(sign)} unless it is in quotes. Put it in quotes.",
        )
    for part, at_context, template in _MESSAGES:
        if part in said:
            message = template.format(line=context_mark.line + 1)
            return (
                (context_mark.line + 1, context_mark.column + 1, message)
                if at_context
                else (line, column, message)
            )
    return (
        line,
        column,
        f"This is not YAML ({cut(said.strip('; '), _LONGEST)}). Check the indentation and the quotes.",
    )
