"""GoldenSet → YAML as people write it, in which every text is read as the text that it is, by other readers too."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

from pytest_irmetrics.base.numbers import JSON_NUMBER
from pytest_irmetrics.golden.nodes import CONSTANTS
from pytest_irmetrics.golden.query_data import as_record, limits_of, short_limits, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.thresholds import Threshold

__all__ = ["double_quoted", "is_ambiguous", "scalar", "write_yaml"]

_WIDTH = 100
_LONGEST_KEY = 1000
"""Characters; the parser takes no longer key without the `?` that announces one."""
_PLAIN = re.compile(r"(?!\.\.\.|---)[\w/.$(][^\n]*")
_NOT_PLAIN = re.compile(r": | #|[: ]\Z")
_FLOW_SIGNS = re.compile(r"[,\[\]{}]")


class _Word(str):
    """A text that is written as it is."""

    __slots__ = ()


def write_yaml(golden: GoldenSet, name: str | None = None) -> Iterator[str]:
    """Write a golden set, piece by piece; `name` is the one that it gets."""
    if name is not None:
        yield f"name: {scalar(name)}\n"
    if golden.relevance_level != 1:
        yield f"relevance_level: {whole(golden.relevance_level)}\n"
    slices: dict[str, list[Threshold]] = {}
    own: list[Threshold] = []
    for threshold in golden.thresholds:
        (own if threshold.tag is None else slices.setdefault(threshold.tag, [])).append(threshold)
    if own:
        yield f"thresholds:\n{_limits(limits_of(own), 2)}"
    if slices:
        yield "slices:\n"
        for tag, thresholds in slices.items():
            yield f"  {_key(tag)}\n{_limits(limits_of(thresholds), 4)}"
    yield "queries:\n"
    for query in golden.queries.values():
        yield "".join(_query(query))


def scalar(text: str, *, flow: bool = False) -> str:
    """Write a text so that it stays that text; `flow` says that it stands within brackets."""
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
    """Say whether readers in general take a plain text for a number, a truth value, a date or nothing at all."""
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], [])
    return (
        any(pattern.match(text) for _, pattern in resolvers)
        or text in CONSTANTS
        or JSON_NUMBER.fullmatch(text) is not None
    )


def double_quoted(text: str) -> str:
    """Write a text in double quotes; what does not print as itself is escaped."""
    escaped = json.dumps(text, ensure_ascii=False)
    return escaped if escaped.isprintable() else "".join(map(_escaped, escaped))


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _query(query: Query) -> Iterator[str]:
    record = as_record(query)
    text, query_id = query.text, query.id
    fields: list[str] = [] if query_id == text else [_field("id", scalar(query_id))]
    if text is not None:
        fields.append(_field("query", scalar(text)))
    for key, value in record.items():
        if key == "relevant":
            fields += [] if query.no_answer else [_relevant(value)]
        elif key == "thresholds":
            fields.append(_collection(key, _as_words(limits_of(query.thresholds))))
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
    if isinstance(value, dict) and all(
        grade == 1 and not isinstance(grade, float) for grade in value.values()
    ):
        value = list(value)  # as most are written: each has grade 1
    return _collection("relevant", value)


def _field(key: str, written: str) -> str:
    return f"{key}: {written}\n"


def _collection(key: str, value: Any) -> str:
    """Write a list or mapping of a query on one line if it fits there, else an entry a line."""
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
    return "".join(
        f"{' ' * indent}{_indented(_key(metric), indent)} {_value(words)}\n"
        for metric, words in _as_words(limits).items()
    )


def _as_words(limits: Mapping[str, Any]) -> dict[str, Any]:
    """Shorten limits, and mark their `off` and per cent as words, which nobody puts in quotes."""
    return {
        metric: {word: _Word(value) if isinstance(value, str) else value for word, value in words.items()}
        if isinstance(words, dict)
        else _Word(words)
        if isinstance(words, str)
        else words
        for metric, words in short_limits(limits).items()
    }


def _key(text: str) -> str:
    written = scalar(text)
    return f"{written}:" if len(written) <= _LONGEST_KEY else f"? {written}\n:"


def _indented(entry: str, indent: int) -> str:
    return entry.replace("\n", f"\n{' ' * indent}")


def _value(value: Any) -> str:
    """Write a value on one line; recurses no deeper than values are read."""
    if isinstance(value, str):
        return value if isinstance(value, _Word) else scalar(value, flow=True)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = [(scalar(key, flow=True), _value(item)) for key, item in value.items()]
        return "{" + ", ".join(f"{_flow_key(key)}: {item}" for key, item in pairs) + "}"
    return json.dumps(value)


def _flow_key(written: str) -> str:
    return written if len(written) <= _LONGEST_KEY else f"? {written} "
