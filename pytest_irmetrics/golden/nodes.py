"""What a node is, where it stands, and how a complaint names it."""

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
    "MappingEndEvent",
    "MappingStartEvent",
    "Node",
    "NodeProblems",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "is_mapping",
    "is_sequence",
    "kind_of",
    "place_of",
    "shown_node",
]

# A scalar is its event. A list or mapping is a Python list: of the event that begins it, then of its items or, by
# turns, its keys and values. Objects of our own would take as long to make as the C parser takes for an event.
Node = Any

CONSTANTS = {"true": True, "false": False, "null": None}

MAX_DEPTH = 30


class NodeProblems(Problems):
    """What has been found in a file whose places are those of nodes."""

    def at(self, node: Node, message: str) -> None:
        """Add what is wrong with a node. Raises Stop where there are more than anybody reads."""
        line, column = place_of(node)
        self.report(line, column, message)


def place_of(node: Node) -> tuple[int, int]:
    """Return a node's line and column, both from 1."""
    mark = (node[0] if node.__class__ is list else node).start_mark
    return mark.line + 1, mark.column + 1


def is_mapping(node: Node) -> bool:
    """Say whether a node is a mapping."""
    return node.__class__ is list and node[0].__class__ is MappingStartEvent


def is_sequence(node: Node) -> bool:
    """Say whether a node is a list."""
    return node.__class__ is list and node[0].__class__ is SequenceStartEvent


def kind_of(node: Node) -> str:
    """Name what a node is, where one of another kind is wanted."""
    if node.__class__ is not list:
        return "text" if node.value or node.style else "empty"
    return "a list" if node[0].__class__ is SequenceStartEvent else "a mapping"


def shown_node(node: Node) -> str:
    """Show a node, where another value or kind is wanted."""
    if node.__class__ is list or not (node.value or node.style):
        return kind_of(node)
    return f"the text {quote(node.value)}" if node.style else quote(node.value)
