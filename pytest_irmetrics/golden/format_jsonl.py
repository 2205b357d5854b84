"""JSONL golden sets: one query a line, with the keys and messages of YAML."""

from __future__ import annotations

import json

from pytest_irmetrics.golden.formats import KEYS, Format
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import query_as_dict
from pytest_irmetrics.golden.query_reader import QueryReader
from pytest_irmetrics.golden.source import Source, read_json

FORMATS = {"jsonl": Format((".jsonl",), frozenset(KEYS))}


def read(source: Source) -> GoldenSet:
    """Read a golden set of one query a line. Raises Wrong and GoldenSetError.

    A query without a judgment is left out, and grades may be below 0, as in trec_eval.
    """
    reader = QueryReader(source, as_trec_eval=True)
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            node = source.attempt(read_json, line, (number, 1))
            if node is not None and node.kind == "mapping":
                # null is how an empty cell of a table is exported.
                node.value = [(key, item) for key, item in node.value if not item.is_null]
            if node is not None:
                reader.read(node)
    return reader.judged_set()


def render(golden: GoldenSet, path: str, _form: str) -> dict[str, str]:
    """Return the content of the file."""
    return {path: "".join(json_line(query_as_dict(query, short=True)) for query in golden.queries.values())}


def json_line(record: object) -> str:
    """Write a value as a line of JSON, in which what cannot be printed is escaped."""
    line = json.dumps(record, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line) + "\n"
