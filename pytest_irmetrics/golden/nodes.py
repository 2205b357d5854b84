"""Nodes that YAML and JSON are read as: their kinds, their places, and how messages name them."""

from __future__ import annotations

from typing import Any

from yaml.events import (
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Problems

__all__ = [
    "CONSTANTS",
    "MAX_DEPTH",
    "NULLS",
    "MappingEndEvent",
    "MappingStartEvent",
    "Node",
    "NodeProblems",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "is_mapping",
    "is_null",
    "is_sequence",
    "kind_of",
    "place_of",
    "shown_node",
]

Node = Any
"""A scalar is PyYAML's event. A list or mapping is a Python list: the event that begins it, then its items, or its keys
and values by turns. Objects of our own would take as long to make as the C parser takes for an event."""

CONSTANTS = {"true": True, "false": False, "null": None}
"""Values of unquoted words in parameters, as in JSON."""

NULLS = frozenset(("null", "~"))
"""Unquoted words that stand for nothing where a text belongs."""

MAX_DEPTH = 30
"""Levels of lists and mappings within each other; a file with more is refused."""


class NodeProblems(Problems):
    """Problems of a file that is read as nodes."""

    def at(self, node: Node, message: str) -> None:
        """Add a problem at the place of a node. Raises Stop at MAX_PROBLEMS."""
        line, column = place_of(node)
        self.report(line, column, message)


def place_of(node: Node) -> tuple[int, int]:
    """Return a node's line and column, both from 1."""
    mark = (node[0] if node.__class__ is list else node).start_mark
    return mark.line + 1, mark.column + 1


def is_mapping(node: Node) -> bool:
    """Say whether a node is a mapping."""
    return node.__class__ is list and node[0].__class__ is MappingStartEvent


def is_null(node: Node) -> bool:
    """Say whether a node is a plain `null` or `~`; in quotes these are text, and nothing at all is empty text."""
    return node.__class__ is ScalarEvent and not node.style and node.value in NULLS


def is_sequence(node: Node) -> bool:
    """Say whether a node is a list."""
    return node.__class__ is list and node[0].__class__ is SequenceStartEvent


def kind_of(node: Node) -> str:
    """Name the kind of a node for a message: text, empty, a list or a mapping."""
    if node.__class__ is not list:
        return "text" if node.value or node.style else "empty"
    return "a list" if node[0].__class__ is SequenceStartEvent else "a mapping"


def shown_node(node: Node) -> str:
    """Show the value of a scalar, or the kind of another node, for a message."""
    if node.__class__ is list or not (node.value or node.style):
        return kind_of(node)
    return f"the text {quote(node.value)}" if node.style else quote(node.value)
