"""Read the keys of a golden set, a query or a passage, and values of each type, from YAML or JSON nodes."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import (
    JSON_NUMBER,
    MAX_GRADE,
    MAX_WEIGHT,
    MIN_WEIGHT,
    read_number,
    weight_advice,
)
from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.nodes import (
    CONSTANTS,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    is_mapping,
    is_null,
    kind_of,
    place_of,
    shown_node,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_irmetrics.golden.nodes import Node, NodeProblems
    from pytest_irmetrics.metrics import Grade


SET_KEYS = frozenset(("version", "name", "relevance_level", "thresholds", "slices", "queries"))
QUERY_KEYS = frozenset(
    (
        "id",
        "query",
        "relevant",
        "forbidden",
        "tags",
        "weight",
        "params",
        "thresholds",
        "no_answer",
        "xfail",
        "note",
    )
)
PASSAGE_KEYS = frozenset(("doc", "text", "grade"))
_SYNONYMS = {
    "text": "query",
    "question": "query",
    "documents": "relevant",
    "docs": "relevant",
    "expected": "relevant",
    "judgments": "relevant",
    "qrels": "relevant",
    "label": "tags",
    "labels": "tags",
    "comment": "note",
}

PASSAGE_EXAMPLE = "{doc: handbook, text: thirty days after purchase, grade: 2}"


# Keys -----------------------------------------------------------------------------------------------------------------


def _is_known(name: str, known: frozenset[str]) -> bool:
    """Say whether a key is known, or begins with ``x-``, which marks the user's own."""
    return name in known or name.startswith("x-")


def all_known(names: Iterable[str | None], known: frozenset[str] = QUERY_KEYS) -> bool:
    """Say whether each key is known, so that a missing one was not just misspelt. None is a key that is no text."""
    return all(name is not None and _is_known(name, known) for name in names)


def _unknown_key(name: str, known: frozenset[str], what: str) -> str:
    """Return the message about an unknown key of `what`, with the key that may be meant."""
    close = get_close_matches(name.lower(), known, n=1) if len(name) <= 40 else []
    synonym = _SYNONYMS.get(name.lower())
    if close:
        advice = f"Did you mean `{close[0]}`?"
    elif synonym in known:
        advice = f"Did you mean `{synonym}`?"
    else:
        advice = f"Its keys are {', '.join(sorted(known))}; one for people begins with x-."
    return f"{quote(name)} is no key of {what}. {advice}"


def fields_of(node: Node, known: frozenset[str], what: str, problems: NodeProblems) -> dict[str | None, Node]:
    """Return the values of a mapping by key, and report what is wrong with its keys, as `check_keys` does."""
    keys = node[1::2]
    check_keys(keys, known, what, problems)
    return {
        key.value: value for key, value in zip(keys, node[2::2], strict=True) if key.__class__ is ScalarEvent
    }


def check_keys(keys: Iterable[Node], known: frozenset[str], what: str, problems: NodeProblems) -> None:
    """Report the keys of a mapping that are not `known`, are repeated, or are no text."""
    first: dict[str, Node] = {}
    for key in keys:
        if _check_key(key, first, problems) and not _is_known(key.value, known):
            problems.at(key, _unknown_key(key.value, known, what))


def pairs_of(node: Node, problems: NodeProblems) -> Iterator[tuple[Node, Node]]:
    """Yield the keys and values of a mapping; a key that is repeated or no text is reported instead."""
    first: dict[str, Node] = {}
    for key, value in zip(node[1::2], node[2::2], strict=True):
        if _check_key(key, first, problems):
            yield key, value


def _check_key(key: Node, first: dict[str, Node], problems: NodeProblems) -> bool:
    """Add a key to those before it, `first`; report it and return False if it is no text or among them."""
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


# Values ---------------------------------------------------------------------------------------------------------------


def read_text(node: Node, key: str, problems: NodeProblems) -> str | None:
    """Read a text that is not blank; anything else is reported, and None returned."""
    if node.__class__ is ScalarEvent:
        text: str = node.value
        if is_null(node):
            problems.at(node, f"`{key}` is {text}. {_null_advice(text)}")
        elif text.strip():
            return text
        else:
            problems.at(node, f"`{key}` is empty. Write its text, or remove the key.")
    else:
        problems.at(node, f"`{key}` is {kind_of(node)}. Write one text.")
    return None


def read_names(node: Node, key: str, what: str, problems: NodeProblems) -> tuple[str, ...]:
    """Read a list of ids or tags, or a single one; each that is not valid is reported and left out."""
    if node.__class__ is ScalarEvent:
        if not node.value:
            problems.at(node, f"`{key}` is empty. Name a {what}, or remove the key.")
            return ()
        if is_null(node):
            problems.at(node, f"`{key}` is {node.value}. {_null_advice(node.value)}")
            return ()
        if key == "tags" and ", " in node.value and not node.style:
            advice = "Write a list, [a, b]; or quote it, if the comma is part of it."
            problems.at(node, f"`{key}` is one {what} here, {quote(node.value)}. {advice}")
            return ()
        return (node.value,)
    if node[0].__class__ is MappingStartEvent:
        problems.at(node, f"`{key}` is a mapping. Write a list, [a, b].")
        return ()
    if len(node) == 2 and node[1].__class__ is ScalarEvent and node[1].value and not is_null(node[1]):
        return (node[1].value,)
    names: dict[str, Node] = {}
    for item in islice(node, 1, None):
        if item.__class__ is not ScalarEvent:
            problems.at(item, _wrong_item(item, key, what))
        elif not item.value:
            problems.at(item, f"A {what} is missing here. Write it, or remove its place in the list.")
        elif is_null(item):
            problems.at(item, f"A {what} is {item.value} here. {_null_advice(item.value)}")
        elif item.value in names:
            line, _ = place_of(names[item.value])
            problems.at(
                item, f"The {what} {quote(item.value)} is here twice, first on line {line}. Keep one."
            )
        else:
            names[item.value] = item
    return tuple(names)


def _null_advice(written: str) -> str:
    return f'Write the text that is meant, or "{written}" in quotes.'


def null_document_message(written: str) -> str:
    """Return the message about a judgment of `null` or `~`."""
    return f"A document is {written} here. {_null_advice(written)}"


def _wrong_item(node: Node, key: str, what: str) -> str:
    """Return the message about an item of a list of ids or tags that is a list or a mapping."""
    if key == "relevant" and node[0].__class__ is MappingStartEvent:
        return (
            "A list of documents has no grades. Write a mapping, `relevant: {doc-9: 3, doc-4: 1}`; or a passage, "
            f"`{PASSAGE_EXAMPLE}`."
        )
    return f"A {what} is text, and this is {kind_of(node)}. Write `{key}: [a, b]`."


def read_boolean(node: Node, key: str, problems: NodeProblems) -> bool:
    """Read `true` or `false`; anything else is reported, and False returned."""
    if node.__class__ is ScalarEvent and not node.style and node.value in ("true", "false"):
        return bool(node.value == "true")
    problems.at(node, f"`{key}` is {shown_node(node)}. Write true or false, without quotes.")
    return False


def read_weight(node: Node, problems: NodeProblems) -> float:
    """Read the weight of a query: above 0, up to 1e9; anything else is reported, and 1 returned."""
    number = read_number(node.value) if node.__class__ is ScalarEvent and not node.style else None
    if number is not None and MIN_WEIGHT <= number <= MAX_WEIGHT:
        return float(number)
    problems.at(node, f"`weight` is {shown_node(node)}. {weight_advice(number)}")
    return 1.0


def read_level(node: Node, problems: NodeProblems) -> Grade:
    """Read a relevance level: above 0, up to 1000; anything else is reported, and 1 returned."""
    number = read_number(node.value) if node.__class__ is ScalarEvent and not node.style else None
    if number is not None and 0 < number <= MAX_GRADE:
        return number
    message = f"`relevance_level` is {shown_node(node)}. Write the lowest grade that counts, above 0 and up to {MAX_GRADE}."
    problems.at(node, message)
    return 1


def read_reason(node: Node, problems: NodeProblems) -> str | None:
    """Read the reason why a query is known to fail."""
    reason = read_text(node, "xfail", problems)
    if (
        reason is not None
        and not node.style
        and reason.lower() in ("true", "false", "null", "~", "yes", "no")
    ):
        problems.at(node, f"`xfail` is {reason}. Write why it is known to be bad, such as a ticket.")
    return reason


def read_params(node: Node, problems: NodeProblems) -> dict[str, object]:
    """Read the keyword arguments for the retriever, as JSON values."""
    if is_mapping(node):
        return {key.value: _read_param(value, problems) for key, value in pairs_of(node, problems)}
    problems.at(node, f"`params` is {shown_node(node)}. Write a mapping, such as {{lang: en}}.")
    return {}


def _read_param(node: Node, problems: NodeProblems) -> object:
    """Return the JSON value of a node; the recursion goes no deeper than nodes, which is MAX_DEPTH."""
    if node.__class__ is list:
        if node[0].__class__ is SequenceStartEvent:
            return [_read_param(item, problems) for item in islice(node, 1, None)]
        return {key.value: _read_param(value, problems) for key, value in pairs_of(node, problems)}
    text: str = node.value
    if node.style:
        return text
    if text in CONSTANTS:
        return CONSTANTS[text]
    if not text:
        problems.at(node, 'A parameter has no value. Write null, "" or another value.')
    if JSON_NUMBER.fullmatch(text) is None:
        return text
    number = read_number(text)
    if number is None:
        problems.at(
            node,
            f"The number {cut(text)} is too large. Write a smaller one, or quote it to make it text.",
        )
    return number
