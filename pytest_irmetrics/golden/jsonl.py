"""Read a JSONL golden set: one query a line, with the keys and messages of YAML."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.golden.cross_checks import check_texts
from pytest_irmetrics.golden.errors import Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.json_nodes import JsonError, compose, is_constant
from pytest_irmetrics.golden.nodes import NodeProblems, is_mapping, is_sequence
from pytest_irmetrics.golden.queries import QueryReader
from pytest_irmetrics.golden.read_thresholds import ThresholdReader

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_irmetrics.golden.nodes import Node


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

MAX_BYTES = 500_000_000
MAX_LINE = 10_000_000

_TEXT_KEYS = ("id", "query", "relevant", "forbidden", "tags", "xfail")
"""Keys of a query whose values are texts."""


def read_jsonl(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set of one query a line. Raises GoldenSetError.

    A query without a judgment is left out, and grades may be below 0, as in trec_eval.
    """
    data = read_plain_bytes(path, shown, MAX_BYTES)
    problems = NodeProblems(shown)
    reader = QueryReader(problems, ThresholdReader(problems, custom_metrics), require_relevant=False)
    with suppress(Stop):
        for number, line in enumerate(data.splitlines(), 1):
            if line and not line.isspace():
                _read_line(line, number, reader, problems)
        check_texts(reader, problems)
        if not len(problems) and not reader.queries:
            problems.report(1, 1, 'There is no query. Write one a line: {"query": "…", "relevant": ["…"]}.')
    raise_any(problems)
    queries = [query for query in reader.queries.values() if query.judgments or query.no_answer]
    left_out = [query.id for query in reader.queries.values() if not query.judgments and not query.no_answer]
    if not queries:
        problems.report(1, 1, 'No query has a judgment. Write "relevant" with the documents of each.')
        raise_any(problems)
    return GoldenSet(queries, path=path, shown=shown, name=without_gz(path).stem, left_out=tuple(left_out))


def _read_line(line: bytes, number: int, reader: QueryReader, problems: NodeProblems) -> None:
    if len(line) > MAX_LINE:
        problems.report(number, 1, f"This line is longer than {MAX_LINE // 1_000_000} MB. Split the query.")
        return
    text = line.decode()
    try:
        node = compose(text, number)
    except JsonError as error:
        if text.strip() in ("[", "{"):
            message = (
                "JSON over several lines begins here. Write one query a line, without a list around them."
            )
            problems.report(number, 1, message)
            raise Stop from None
        problems.report(error.line, error.column, error.message)
        return
    if is_mapping(node):
        _remove_nulls(node)
        for key, value in zip(node[1::2], node[2::2], strict=True):
            if key.value in _TEXT_KEYS:
                _refuse_constants(key.value, value, problems)
        if any(key.value == "_id" for key in node[1::2]):
            problems.at(
                node,
                "This is a query of a BEIR folder, without its judgments. Name the folder in place of this file.",
            )
            raise Stop
    reader.read_node(node)


def _remove_nulls(node: Node) -> None:
    """Remove the keys of a query whose value is null, which is how an empty cell of a table is exported."""
    node[1:] = [
        part
        for key, value in zip(node[1::2], node[2::2], strict=True)
        if not (is_constant(value) and value.value == "null")
        for part in (key, value)
    ]


def _refuse_constants(key: str, value: Node, problems: NodeProblems) -> None:
    """Report true, false and null in place of a text: in YAML they are texts, in JSON they are not."""
    is_list = is_sequence(value)
    for part in value[1:] if is_list else [value]:
        if is_constant(part):
            problems.at(part, f"`{key}` has {part.value} here, without quotes. Write a text.")
            part.style = '"'  # it is reported, and read on as text
        elif is_list and is_mapping(part):
            for name, inner in zip(part[1::2], part[2::2], strict=True):  # of a passage
                if name.value in ("doc", "text"):
                    _refuse_constants(name.value, inner, problems)
