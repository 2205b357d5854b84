"""Where something stands in a JSON text, however it is laid out.

Only to word an error about text that `json` has been over.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def line_at(text: str, offset: int) -> int:
    """Return the line, from 1, of a place in a text."""
    return text.count("\n", 0, offset) + 1


@dataclass(slots=True)
class _Container:
    """An object or, without keys, a list that is open at some place of the text."""

    keys: dict[str, int] | None
    key: str = ""


def survey(text: str) -> tuple[tuple[str, int, int] | None, list[int]]:
    """Find the first key that an object holds twice, with its two lines, and the line in which each query starts.

    Only to word an error about text that `json` has been over, however the file was reformatted since.
    """
    queries: list[int] = []
    around: list[_Container] = []
    before = ""
    for found in LEXEME.finditer(text):
        lexeme = found[0]
        inner = around[-1] if around else None
        if inner is not None and inner.keys is not None and lexeme[0] == '"' and before in {"{", ","}:
            inner.key = _unquote(lexeme)
            if inner.key in inner.keys:
                first = line_at(text, inner.keys[inner.key])
                return (inner.key, first, line_at(text, found.start())), queries
            inner.keys[inner.key] = found.start()
        elif lexeme == "{" and _is_list_of_queries(around):
            queries.append(line_at(text, found.start()))
        if lexeme in {"{", "["}:
            around.append(_Container({} if lexeme == "{" else None))
        elif lexeme in {"}", "]"} and around:
            around.pop()
        before = lexeme
    return None, queries


def _is_list_of_queries(around: list[_Container]) -> bool:
    """Say whether a place is in the list `queries` of a run, which is the document or a report's `run`."""
    if len(around) < 2 or around[-1].keys is not None or around[-2].key != "queries":
        return False
    return len(around) == 2 or around[-3].key == "run"


def _unquote(lexeme: str) -> str:
    try:
        return str(json.loads(lexeme))
    except ValueError:  # behind the place that json complained of
        return lexeme


def query_line(text: str, number: int) -> int:
    """Find the line of the query at `number`, counted from 0."""
    lines = survey(text)[1]
    return lines[number] if number < len(lines) else 1
