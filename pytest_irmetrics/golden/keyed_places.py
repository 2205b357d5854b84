"""Where a query names a document: in its nodes, and in the lines of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from pytest_irmetrics.golden.node import (
    MappingStartEvent,
    NodeProblems,
    ScalarEvent,
    SequenceStartEvent,
    place_of,
)
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.golden.problems import Stop
from pytest_irmetrics.golden.yaml_nodes import NodeReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.golden.model import Query
    from pytest_irmetrics.golden.node import Node

__all__ = ["line_of", "part_named"]


def line_of(doc_id: str, query: Query, lines: Sequence[str]) -> int | None:
    """Find the line that judges or forbids a document in a query, of which `lines` begin with the first; or None."""
    if not lines or query.line is None or query.column is None:
        return None
    before = query.column - 1
    first = " " * before + lines[0][before:]  # so that the columns of what follows still fit
    try:
        nodes = NodeReader("\n".join([first, *lines[1:]]).encode(), NodeProblems(""))
        event = nodes.begin()
        if event.__class__ is not MappingStartEvent:
            return None
        root = nodes.compose(event)
    except (yaml.YAMLError, Stop):
        return None
    for key, value in zip(root[1::2], root[2::2], strict=True):
        if key.__class__ is ScalarEvent and key.value in ("relevant", "forbidden"):
            found = part_named(value, doc_id)
            if found is not value or (found.__class__ is ScalarEvent and found.value == doc_id):
                return place_of(found)[0] + query.line - 1
    return None


def part_named(node: Node, name: str) -> Node:
    """Return the part of a value that is this name, or the passage of this key; or else the value itself."""
    return next(
        (
            part
            for part in _scalars(node)
            if (part.value if part.__class__ is ScalarEvent else _passage_key(part)) == name
        ),
        node,
    )


def _scalars(node: Node) -> Iterable[Node]:
    """Return a value that is one name, a list of names or a mapping by name as the scalars that are the names."""
    if node.__class__ is not list:
        return (node,)
    return node[1:] if node[0].__class__ is SequenceStartEvent else node[1::2]


def _passage_key(node: Node) -> str | None:
    fields = {
        key.value: value.value
        for key, value in zip(node[1::2], node[2::2], strict=False)
        if key.__class__ is ScalarEvent and value.__class__ is ScalarEvent
    }
    return Passage(fields["doc"], fields["text"]).key if {"doc", "text"} <= fields.keys() else None
