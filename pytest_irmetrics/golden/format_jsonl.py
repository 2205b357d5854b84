"""JSONL golden sets: one query a line, with the keys and messages of YAML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, Problems
from pytest_irmetrics.golden.files import lines_in, read_text
from pytest_irmetrics.golden.nodes import Node, read_json
from pytest_irmetrics.golden.queries import QueryReader
from pytest_irmetrics.golden.query import query_as_dict

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_irmetrics.golden.golden_set import GoldenSet


MAX_BYTES = 500_000_000
_NOTHING = 'There is no query with a judgment. Write one a line: {"query": "…", "relevant": ["…"]}.'


def read(path: Path, shown: str, custom: Collection[str]) -> GoldenSet:
    """Read a golden set of one query a line. Raises GoldenSetError.

    A query without a judgment is left out, and grades may be below 0, as in trec_eval.
    """
    problems = Problems(shown)
    reader = QueryReader(problems, custom, as_trec_eval=True)
    for number, line in enumerate(lines_in(read_text(path, shown, MAX_BYTES)), 1):
        if line and not line.isspace():
            node = problems.attempt(_read_line, line, number, shown)
            if node is not None:
                reader.read(node)
    return reader.judged_set(path, without_gz(path).stem, _NOTHING)


def _read_line(line: str, number: int, shown: str) -> Node:
    """Return the node of a query. Raises Wrong, or GoldenSetError where no line of the file is a query."""
    message = ""
    if line.strip() in ("[", "{"):
        message = "JSON over several lines begins here. Write one query a line, without a list around them."
    node = Node(number, 1, []) if message else read_json(line, number)
    if node.kind == "mapping":
        if any(key.value == "_id" for key, _ in node.value):
            message = "This is a query of a BEIR folder, without its judgments. Name the folder in place of this file."
        # null is how an empty cell of a table is exported.
        node.value = [(key, item) for key, item in node.value if not item.is_null]
    if message:
        raise GoldenSetError([Problem(shown, number, 1, message)])
    return node


def render(golden: GoldenSet, path: str, _form: str) -> dict[str, str]:
    """Return the content of the file."""
    return {path: "".join(json_line(query_as_dict(query, short=True)) for query in golden.queries.values())}


def json_line(record: object) -> str:
    """Write a value as a line of JSON, in which what cannot be printed is escaped."""
    line = json.dumps(record, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line) + "\n"
