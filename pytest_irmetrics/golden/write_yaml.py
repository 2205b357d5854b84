"""Write a golden set as YAML the way people do, quoting every text that a YAML reader would take for something else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

from pytest_irmetrics.base.numbers import JSON_NUMBER, as_whole_number
from pytest_irmetrics.golden.nodes import CONSTANTS
from pytest_irmetrics.golden.query_as_dict import (
    limits_as_dict,
    query_as_dict,
    shorten_limits,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.thresholds import Threshold


_WIDTH = 100
"""Characters of a line, from which on a list or mapping is written an entry a line."""
_MAX_KEY_LENGTH = 1000
"""Characters; YAML parsers need a `?` before a longer key."""
_PLAIN = re.compile(r"(?!\.\.\.|---)[\w/.$(][^\n]*")
_NOT_PLAIN = re.compile(r": | #|[: ]\Z")
_FLOW_SIGNS = re.compile(r"[,\[\]{}]")


class _Unquoted(str):
    """A text that is written without quotes: a keyword of the format, such as `off`, or a percentage."""

    __slots__ = ()


def write_yaml(golden: GoldenSet, name: str | None) -> Iterator[str]:
    """Yield the YAML of a golden set in parts, with `name` as the set's name, if given."""
    if name is not None:
        yield f"name: {scalar(name)}\n"
    if golden.relevance_level != 1:
        yield f"relevance_level: {as_whole_number(golden.relevance_level)}\n"
    slices: dict[str, list[Threshold]] = {}
    own: list[Threshold] = []
    for threshold in golden.thresholds:
        (own if threshold.tag is None else slices.setdefault(threshold.tag, [])).append(threshold)
    if own:
        yield f"thresholds:\n{_limits(limits_as_dict(own), 2)}"
    if slices:
        yield "slices:\n"
        for tag, thresholds in slices.items():
            yield f"  {_key(tag)}\n{_limits(limits_as_dict(thresholds), 4)}"
    yield "queries:\n"
    for query in golden.queries.values():
        yield "".join(_query_lines(query))


def scalar(text: str, *, flow: bool = False) -> str:
    """Write a text so that every reader reads it as that text; `flow` is for a place within brackets."""
    if (
        _PLAIN.fullmatch(text)
        and text.isprintable()
        and not _NOT_PLAIN.search(text)
        and not (flow and _FLOW_SIGNS.search(text))
        and not is_ambiguous(text)
    ):
        return text
    if text.isprintable() and ('"' in text or "\\" in text):
        return "'" + text.replace("'", "''") + "'"
    return double_quoted(text)


def is_ambiguous(text: str) -> bool:
    """Say whether YAML readers take an unquoted text for a number, a boolean, a date or null."""
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], [])
    return (
        any(pattern.match(text) for _, pattern in resolvers)
        or text in CONSTANTS
        or JSON_NUMBER.fullmatch(text) is not None
    )


def double_quoted(text: str) -> str:
    """Write a text in double quotes, with escapes for characters that are not printable."""
    escaped = json.dumps(text, ensure_ascii=False)
    return escaped if escaped.isprintable() else "".join(map(_escaped, escaped))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _query_lines(query: Query) -> Iterator[str]:
    """Yield the lines of one item of `queries`; a field may have several."""
    record = query_as_dict(query)
    text, query_id = query.text, query.id
    fields: list[str] = [] if query_id == text else [_field("id", scalar(query_id))]
    if text is not None:
        fields.append(_field("query", scalar(text)))
    for key, value in record.items():
        if key == "relevant":
            fields += [] if query.no_answer else [_relevant(value)]
        elif key == "thresholds":
            fields.append(_collection(key, _unquoted_limits(limits_as_dict(query.thresholds))))
        elif key in ("xfail", "note"):
            fields.append(_field(key, scalar(str(value))))
        elif key not in ("id", "query"):
            fields.append(
                _collection(key, value) if isinstance(value, (list, dict)) else _field(key, _value(value))
            )
    yield f"  - {fields[0]}"
    for field in fields[1:]:
        yield f"    {field}"


def _relevant(value: Any) -> str:
    """Write the key `relevant` of a query."""
    if isinstance(value, dict) and all(
        grade == 1 and not isinstance(grade, float) for grade in value.values()
    ):
        value = list(value)  # a list of documents is the usual form where all have grade 1
    return _collection("relevant", value)


def _field(key: str, written: str) -> str:
    return f"{key}: {written}\n"


def _collection(key: str, value: Any) -> str:
    """Write a list or mapping of a query on one line if it fits, else an entry a line."""
    line = f"{key}: {_value(value)}\n"
    if len(line) <= _WIDTH or not value:
        return line
    entries: Iterable[str]
    if isinstance(value, list):
        entries = [f"- {_value(item)}" for item in value]
    else:
        entries = [f"{_key(name)} {_value(item)}" for name, item in value.items()]
    return f"{key}:\n" + "".join(f"      {_indented(entry, 6)}\n" for entry in entries)


def _limits(limits: Mapping[str, Any], indent: int) -> str:
    """Write thresholds, a metric a line."""
    return "".join(
        f"{' ' * indent}{_indented(_key(metric), indent)} {_value(words)}\n"
        for metric, words in _unquoted_limits(limits).items()
    )


def _unquoted_limits(limits: Mapping[str, Any]) -> dict[str, Any]:
    """Return limits in their short form, with `off` and percentages marked as unquoted."""
    return {
        metric: {word: _Unquoted(value) if isinstance(value, str) else value for word, value in words.items()}
        if isinstance(words, dict)
        else _Unquoted(words)
        if isinstance(words, str)
        else words
        for metric, words in shorten_limits(limits).items()
    }


def _key(text: str) -> str:
    written = scalar(text)
    return f"{written}:" if len(written) <= _MAX_KEY_LENGTH else f"? {written}\n:"


def _indented(entry: str, indent: int) -> str:
    return entry.replace("\n", f"\n{' ' * indent}")


def _value(value: Any) -> str:
    """Write a value on one line; readers limit how deep values are nested, so recursion is safe."""
    if isinstance(value, str):
        return value if isinstance(value, _Unquoted) else scalar(value, flow=True)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = [(scalar(key, flow=True), _value(item)) for key, item in value.items()]
        return "{" + ", ".join(f"{_flow_key(key)}: {item}" for key, item in pairs) + "}"
    return json.dumps(value)


def _flow_key(written: str) -> str:
    return written if len(written) <= _MAX_KEY_LENGTH else f"? {written} "
