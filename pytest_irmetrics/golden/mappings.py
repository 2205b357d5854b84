"""The keys and values of a mapping: each key a text, there once and known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.keys import is_key, unknown_key
from pytest_irmetrics.golden.node import ScalarEvent, kind_of, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_irmetrics.golden.node import Node, NodeProblems

__all__ = ["check_keys", "fields_of", "pairs_of"]


def fields_of(node: Node, known: frozenset[str], what: str, problems: NodeProblems) -> dict[str | None, Node]:
    """Return the values of a mapping by key, and report the keys that are not `known`."""
    keys = node[1::2]
    check_keys(keys, known, what, problems)
    return {
        key.value: value for key, value in zip(keys, node[2::2], strict=True) if key.__class__ is ScalarEvent
    }


def check_keys(keys: Iterable[Node], known: frozenset[str], what: str, problems: NodeProblems) -> None:
    """Report the keys of a mapping that are not `known`, are there twice, or are no text."""
    first: dict[str, Node] = {}
    for key in keys:
        if _is_new(key, first, problems) and not is_key(key.value, known):
            problems.at(key, unknown_key(key.value, known, what))


def pairs_of(node: Node, problems: NodeProblems) -> Iterator[tuple[Node, Node]]:
    """Yield the keys and values of a mapping, each key once and all of them text; what is not, is reported."""
    first: dict[str, Node] = {}
    for key, value in zip(node[1::2], node[2::2], strict=True):
        if _is_new(key, first, problems):
            yield key, value


def _is_new(key: Node, first: dict[str, Node], problems: NodeProblems) -> bool:
    """Report a key that is no text, or among those before; else add it to them."""
    if key.__class__ is not ScalarEvent:
        problems.at(key, f"A key is text, and this is {kind_of(key)}. Write `key: value`.")
    elif key.value == "<<" and not key.style:
        problems.at(key, "Merge keys (`<<`) are not read. Write the keys out, or quote a text that is `<<`.")
    elif key.value in first:
        line, _ = place_of(first[key.value])
        problems.at(key, f"{quote(key.value)} is here twice, first on line {line}. Keep one.")
    elif not key.value:
        problems.at(key, "A key is missing before the `:`. Write it.")
    else:
        first[key.value] = key
        return True
    return False
