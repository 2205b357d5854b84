"""Read YAML as nodes with their places, and explain syntax errors and unsupported YAML in plain words.

The events of PyYAML's parser are read one by one: scalars stay text as it was written (PyYAML's own loader would turn
`no` into False and 0123 into 83), each with its place. Hostile files are bounded: depth is counted before anything recurses,
and an alias is the very node that it refers to, with a limit on what all aliases of a file add up to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.source import (
    MAX_DEPTH,
    NO_CHARACTER,
    Node,
    Place,
    Source,
    Wrong,
    refuse_pattern,
    refuse_surrogate,
    too_deep,
)

PARSER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's parser, which is many times as fast; the one in Python where PyYAML was built without it."""

_MAX_ALIASED = 1_000_000
"""Characters and nodes that all aliases of a file together may stand for."""

_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]",
    'Here is the invisible sign U+{0:04X}. Remove it, or write "\\u{0:04x}" within double quotes.',
)
"""A pattern of what YAML refuses, or reads as a line break where editors do not, and what to say of it."""


class NodeReader:
    """Reads one YAML document as nodes, in the order of the file, so that a long list need not be kept as nodes.

        reader = NodeReader("a: [1, 2]", source)
        event = reader.begin()              # the start of the mapping
        for key, event in reader.pairs():   # its keys as nodes, and the event that each value begins with
            reader.compose(event)           # the value as a node; or reader.items() to read a list's items one by one
        reader.end()

    Anchors and tags that have no meaning go to the source's problems; a problem after which nothing more can be read is
    raised as Wrong.
    """

    def __init__(self, text: str, source: Source) -> None:
        refuse_pattern(text, *_INVISIBLE)
        # A hostile file could have many: libyaml takes quadratic time over them.
        refuse_pattern(text, "(?m)^%TAG", "A `%TAG` line has no meaning in a golden set. Remove it.")
        self._text = text
        self._source = source
        self._parser = PARSER(text)
        self._anchors: dict[str, tuple[Node, int, int]] = {}
        """Anchor → its node, the characters and nodes in it, and its depth."""
        self._unused: dict[str, Node] = {}
        self._aliased = 0

    def begin(self) -> Any:
        """Return the first event of the document's root; None for a file without any content."""
        self._next()
        return None if isinstance(self._next(), yaml.StreamEndEvent) else self._next()

    def end(self) -> None:
        """Read to the end of the file; report a second document and unused anchors."""
        self._next()
        event = self._next()
        if isinstance(event, yaml.DocumentStartEvent):
            message = "A second YAML document begins here. Keep one document in a file."
            raise Wrong(place_of_mark(event.start_mark), message)
        for name, node in self._unused.items():
            message = f"`&{cut(name, 60)}` is read as an anchor, and nothing refers to it."
            self._source.add(node.place, f"{message} Put the text in quotes.")

    def pairs(self) -> Iterator[tuple[Node, Any]]:
        """Yield the keys of the mapping that has begun, each with the first event of its value, which is to be read."""
        for event in self._until_end():
            yield self.compose(event), self._next()

    def items(self) -> Iterator[Node]:
        """Yield the items of the list that has begun."""
        for event in self._until_end():
            yield self.compose(event)

    def compose(self, event: Any, depth: int = 0) -> Node:
        """Return the node that begins with an event, `depth` levels inside others. Raises Wrong."""
        at = place_of_mark(event.start_mark)
        if isinstance(event, yaml.ScalarEvent):
            refuse_surrogate(event.value, at)
            node = Node(at, event.value, plain=not event.style)
        elif isinstance(event, yaml.AliasEvent):
            return self._resolve(event.anchor, at, depth)
        else:
            if depth >= MAX_DEPTH:
                raise too_deep(at)
            parts: list[Any] = [self.compose(part, depth + 1) for part in self._until_end()]
            is_list = isinstance(event, yaml.SequenceStartEvent)
            pairs = parts if is_list else list(zip(parts[::2], parts[1::2], strict=True))
            node = Node(at, pairs, "list" if is_list else "mapping")
        if event.tag is not None:
            tag = cut(event.tag.replace("tag:yaml.org,2002:", "!!"), 60)
            message = f"`{tag}` is read as a tag, which has no meaning in a golden set. Put a text that begins with `!` in quotes."
            self._source.add(at, message)
        if event.anchor is not None:
            self._anchors[event.anchor] = node, *_measure(node)
            self._unused[event.anchor] = node
        return node

    def _next(self) -> Any:
        """Return the next event. Raises Wrong for a syntax error."""
        try:
            return self._parser.get_event()
        except yaml.MarkedYAMLError as error:
            raise _explain(error, self._text) from None
        except (ValueError, OverflowError):  # of chr(), in the parser in Python
            raise Wrong(place_of_mark(self._parser.get_mark()), NO_CHARACTER) from None

    def _until_end(self) -> Iterator[Any]:
        """Yield the events that the parts of the list or mapping that has begun begin with."""
        while not isinstance(event := self._next(), yaml.CollectionEndEvent):
            yield event

    def _resolve(self, name: Any, at: Place, depth: int) -> Node:
        """Return the node that an alias refers to. Raises Wrong."""
        if name not in self._anchors:
            message = f"`*{cut(name, 60)}` refers to no anchor before it. Put a text that begins with `*` in quotes."
            raise Wrong(at, message)
        node, size, inner = self._anchors[name]
        self._unused.pop(name, None)
        self._aliased += size
        if self._aliased > _MAX_ALIASED:
            raise Wrong(at, "The aliases up to here stand for too much text. Write it out.")
        if depth + inner > MAX_DEPTH:
            raise too_deep(at)
        return node


def place_of_mark(mark: Any) -> Place:
    """Return the line and column, from 1, of a mark of PyYAML's."""
    return mark.line + 1, mark.column + 1


def _measure(node: Node) -> tuple[int, int]:
    """Return the number of characters and nodes in a node, with aliases written out, and its depth."""
    if node.kind == "text":
        return 1 + len(node.value), 0
    parts = node.value if node.kind == "list" else [part for pair in node.value for part in pair]
    sizes = [_measure(part) for part in parts]
    return 1 + sum(size for size, _ in sizes), 1 + max((depth for _, depth in sizes), default=0)


# libyaml and PyYAML tell errors apart by their text alone. Each row: a part of what they say of the problem or of its context,
# whose place is shown; and our message, in which {line} is the line of the context and {sign} the character where the problem
# is. The first row that matches counts, and the last one matches all.
_MESSAGES = (
    ("tab character", "A tab cannot indent. Use spaces."),
    ("cannot start any token", "No text can begin with {sign} unless it is in quotes, and a tab cannot indent. Put it in quotes, or use spaces."),
    ("mapping values are not allowed", "A `: ` makes no sense here. Put a text that contains it in quotes, or check the indentation."),
    ("a simple key", "This is neither `key: value` nor part of the text above. Check the indentation."),
    ("unknown escape character", "A backslash in double quotes begins an escape, and this is none. Use single quotes, or double the backslash."),
    ("found invalid Unicode", NO_CHARACTER),
    ("decimal number", "This escape is cut short. Write all its digits, or use single quotes."),
    ("scanning a quoted scalar", "The quote that opens here is never closed. Close it, or put the whole text in quotes."),
    ("expected ',' or ']'", "The list that opens on line {line} wants a `,` or its `]` before this. Put a text with brackets, commas or `: ` in quotes."),
    ("expected ',' or '}'", "The mapping that opens on line {line} wants a `,` or its `}}` before this. Put a text with brackets, commas or `: ` in quotes."),
    ("are not allowed", "A list or a key cannot begin here. Begin it on a line of its own."),
    ("node content", "A value is missing here. Write one, or remove the sign that announces it."),
    ("<document start>", "The document has ended before this. Check the indentation, and keep one document in a file."),
    ("scanning an a", "A text that begins with `*` or `&` must be in quotes."),
    ("tag", "A text that begins with `!` must be in quotes."),
    ("scanning a block scalar", "A text that begins with `|` or `>` must be in quotes; after a `|` or `>` that begins a block of text, the line ends."),
    ("incompatible YAML document", "This asks for another version of YAML. Remove the line."),
    ("directive", "A line that begins with `%` is a YAML directive. Remove it, or put the text in quotes."),
    ("", "This does not continue what begins on line {line}. Check its indentation; put a text that contains quotes, `[` or `]` in quotes."),
)  # fmt: skip


def _explain(error: yaml.MarkedYAMLError, text: str) -> Wrong:
    """Return a syntax error in plain words."""
    mark: Any = error.problem_mark
    # A limit of newer versions of libyaml, which read ahead of the events.
    if "nesting depth" in (error.problem or ""):
        return too_deep(place_of_mark(mark))
    context: Any = error.context_mark or mark
    said = ((error.problem or "", mark), (error.context or "", context))
    at, message = next((at, message) for part, message in _MESSAGES for words, at in said if part in words)
    sign = quote(text[mark.index : mark.index + 1])
    return Wrong(place_of_mark(at), message.format(line=context.line + 1, sign=sign))
