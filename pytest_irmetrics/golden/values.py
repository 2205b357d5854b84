"""Read the keys of a mapping, and values of each type, from nodes; what is none is raised as Wrong."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.numbers import (
    JSON_NUMBER,
    MAX_GRADE,
    MAX_WEIGHT,
    MIN_WEIGHT,
    read_number,
    weight_advice,
)
from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.errors import Wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.golden.nodes import Node
    from pytest_irmetrics.metrics import Grade

    Reader = Callable[[Node, str], Any]
    """Returns the value of a node under a key. Raises Wrong."""


_CONSTANTS = {"true": True, "false": False, "null": None}
_SYNONYMS = {
    **dict.fromkeys(("text", "question"), "query"),
    **dict.fromkeys(("documents", "docs", "expected", "judgments", "qrels"), "relevant"),
    **dict.fromkeys(("label", "labels"), "tags"),
    "comment": "note",
}


def read_keys(
    node: Node, readers: Mapping[str, Reader], what: str, problems: Problems
) -> tuple[dict[str, Any], dict[str, Node]]:
    """Read a mapping by the reader of each key; return what was read, and the nodes of the values, by key.

    What is wrong with a key, or a value, goes to `problems`; keys that begin with ``x-`` are for people.
    """
    values: dict[str, Any] = {}
    nodes: dict[str, Node] = {}
    for key, value in pairs_of(node, problems):
        name = key.value
        reader = readers.get(name)
        if reader is not None:
            nodes[name] = value
            try:
                values[name] = reader(value, name)
            except Wrong as wrong:
                problems.add(wrong)
        elif not name.startswith("x-"):
            problems.add(Wrong(key, f"{quote(name)} is no key of {what}. {_advice(name, readers)}"))
    return values, nodes


def _advice(name: str, known: Collection[str]) -> str:
    """Return the key that may be meant, or all keys."""
    close = get_close_matches(name.lower(), known, n=1) if len(name) <= 40 else []
    meant = close[0] if close else _SYNONYMS.get(name.lower())
    if meant in known:
        return f"Did you mean `{meant}`?"
    return f"Its keys are {', '.join(sorted(known))}; one for people begins with x-."


def pairs_of(node: Node, problems: Problems) -> Iterator[tuple[Node, Node]]:
    """Yield the keys and values of a mapping; a key that is repeated or no text is reported instead."""
    first: dict[str, int] = {}
    for key, value in node.value:
        name = key.value
        if key.kind != "text":
            message = f"A key is text, and this is {key}. Write `key: value`."
        elif name == "<<" and key.plain:
            message = "Merge keys (`<<`) are not read. Write the keys out, or quote a text that is `<<`."
        elif not name:
            message = "A key is missing before the `:`. Write it."
        elif name in first:
            message = f"{quote(name)} is here twice, first on line {first[name]}. Keep one."
        else:
            first[name] = key.line
            yield key, value
            continue
        problems.add(Wrong(key, message))


def read_text(node: Node, key: str) -> str:
    """Read a text that is not blank."""
    if node.kind != "text":
        raise Wrong(node, f"`{key}` is {node}. Write one text.")
    _refuse_null(node, f"`{key}` is {node.value}")
    text: str = node.value
    if not text.strip():
        raise Wrong(node, f"`{key}` is empty. Write its text, or remove the key.")
    return text


def read_names(node: Node, key: str, what: str = "document") -> tuple[str, ...]:
    """Read a list of ids or tags, or a single one."""
    if node.kind == "mapping":
        raise Wrong(node, f"`{key}` is a mapping. Write a list, [a, b].")
    if node.kind != "list":
        if node.kind == "text" and not node.value:
            raise Wrong(node, f"`{key}` is empty. Name a {what}, or remove the key.")
        return (_read_name(node, key, what),)
    found: dict[str, int] = {}
    for item in node.value:
        name = _read_name(item, key, what)
        if name in found:
            raise Wrong(
                item, f"The {what} {quote(name)} is here twice, first on line {found[name]}. Keep one."
            )
        found[name] = item.line
    return tuple(found)


def read_tags(node: Node, key: str) -> tuple[str, ...]:
    """Read tags; several in one text are likely a mistake."""
    if node.kind == "text" and node.plain and ", " in node.value:
        advice = "Write a list, [a, b]; or quote it, if the comma is part of it."
        raise Wrong(node, f"`{key}` is one tag here, {node}. {advice}")
    return read_names(node, key, "tag")


def _read_name(node: Node, key: str, what: str) -> str:
    if node.kind != "text":
        raise Wrong(node, f"A {what} is text, and this is {node}. Write `{key}: [a, b]`.")
    if not node.value:
        raise Wrong(node, f"A {what} is missing here. Write it, or remove its place in the list.")
    _refuse_null(node, f"A {what} is {node.value} here")
    name: str = node.value
    return name


def _refuse_null(node: Node, said: str) -> None:
    if node.is_null:
        raise Wrong(node, f'{said}. Write the text that is meant, or "{node.value}" in quotes.')


def read_boolean(node: Node, key: str) -> bool:
    """Read `true` or `false`."""
    if node.value in ("true", "false") and (node.plain or node.kind == "constant"):
        return bool(node.value == "true")
    raise Wrong(node, f"`{key}` is {node}. Write true or false, without quotes.")


def read_reason(node: Node, key: str) -> str:
    """Read the reason why a query is known to fail."""
    reason = read_text(node, key)
    if node.plain and reason.lower() in ("true", "false", "yes", "no"):
        raise Wrong(node, f"`{key}` is {reason}. Write why it is known to be bad, such as a ticket.")
    return reason


def read_note(node: Node, key: str) -> str | None:  # noqa: ARG001 - as every reader
    """Read what people wrote; anything but a text is for them alone."""
    return node.value if node.kind == "text" else None


def _number(node: Node) -> Grade | None:
    return read_number(node.value) if node.kind == "text" and node.plain else None


def read_weight(node: Node, key: str) -> float:
    """Read the weight of a query: above 0, up to 1e9."""
    number = _number(node)
    if number is None or not MIN_WEIGHT <= number <= MAX_WEIGHT:
        raise Wrong(node, f"`{key}` is {node}. {weight_advice(number)}")
    return float(number)


def read_level(node: Node, key: str) -> Grade:
    """Read a relevance level: above 0, up to 1000."""
    number = _number(node)
    if number is None or not 0 < number <= MAX_GRADE:
        advice = f"Write the lowest grade that counts, above 0 and up to {MAX_GRADE}."
        raise Wrong(node, f"`{key}` is {node}. {advice}")
    return number


def read_grade(node: Node, of: str, *, negative: bool) -> Grade:
    """Read the grade of a document or passage, up to 1000; below 0 only where `negative` says so."""
    number = _number(node)
    if number is not None and (negative or number >= 0) and number <= MAX_GRADE:
        return number
    shown, advice = str(node), f"Write a number from 0 to {MAX_GRADE}."
    if number is not None and number < 0:
        shown, advice = f"{cut(node.value)}, below 0", "Write 0 for a document that is not relevant."
    elif number is not None:
        shown = f"{cut(node.value)}, above {MAX_GRADE}"
    elif node.kind == "text" and node.plain:
        shown = f"{quote(node.value)}, which is no number" if node.value else "missing"
    elif node.kind == "text" and read_number(node.value) is not None:
        advice = "Take the quotes off."
    raise Wrong(node, f"The grade of {of} is {shown}. {advice}")


def read_value(node: Node, problems: Problems) -> object:
    """Return the JSON value of a node, in parameters; the recursion goes no deeper than nodes, which is MAX_DEPTH."""
    if node.kind == "list":
        return [read_value(part, problems) for part in node.value]
    if node.kind == "mapping":
        return {key.value: read_value(value, problems) for key, value in pairs_of(node, problems)}
    if node.kind == "constant" or (node.plain and node.value in _CONSTANTS):
        return _CONSTANTS[node.value]
    if not node.plain:
        return node.value
    if not node.value:
        raise Wrong(node, 'A parameter has no value. Write null, "" or another value.')
    number = read_number(node.value)
    if JSON_NUMBER.fullmatch(node.value) is None:
        return node.value
    if number is None:
        advice = "Write a smaller one, or quote it to make it text."
        raise Wrong(node, f"The number {cut(node.value)} is too large. {advice}")
    return number
