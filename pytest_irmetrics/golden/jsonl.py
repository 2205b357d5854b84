"""JSONL, one query a line: the keys of YAML, and whatever is said of them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.golden.cross_checks import check_texts
from pytest_irmetrics.golden.errors import Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.json_nodes import JsonError, compose, is_plain, strict_json
from pytest_irmetrics.golden.nodes import NodeProblems, is_mapping, is_sequence
from pytest_irmetrics.golden.queries import QueryReader
from pytest_irmetrics.golden.query import MAX_GRADE, Query
from pytest_irmetrics.golden.read_thresholds import ThresholdReader
from pytest_irmetrics.golden.values import USUAL_KEYS

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from pytest_irmetrics.golden.nodes import Node
    from pytest_irmetrics.metrics import Grade

__all__ = ["read_jsonl"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

MAX_BYTES = 500_000_000
MAX_LINE = 10_000_000

_NAMES = ("id", "query", "relevant", "forbidden", "tags", "xfail")


def read_jsonl(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set of one query a line. Raises GoldenSetError."""
    data = read_plain_bytes(path, shown, MAX_BYTES)
    with pause_gc():
        return _LineReader(path, shown, custom_metrics).read(data)


class _LineReader:
    """Reads the usual query with little work; whatever is not usual, or wrong, as one of a YAML file."""

    def __init__(self, path: Path, shown: str, custom_metrics: Collection[str]) -> None:
        self._path = path
        self._problems = NodeProblems(shown)
        thresholds = ThresholdReader(self._problems, custom_metrics)
        self._reader = QueryReader(self._problems, thresholds, demanding=False)
        self._queries = self._reader.queries

    def read(self, data: bytes) -> GoldenSet:
        with suppress(Stop):
            for number, line in enumerate(data.splitlines(), 1):
                if line and not line.isspace():
                    self._read_line(line, number)
            check_texts(self._reader, self._problems)
        if not len(self._problems) and not self._queries:
            with suppress(Stop):
                self._problems.report(
                    1, 1, 'There is no query. Write one a line: {"query": "…", "relevant": ["…"]}.'
                )
        raise_any(self._problems)
        queries = self._queries
        left_out = [query.id for query in queries.values() if not query.judgments and not query.no_answer]
        for query_id in left_out:
            del queries[query_id]
        if not queries:
            with suppress(Stop):
                self._problems.report(
                    1, 1, 'No query has a judgment. Write "relevant" with the documents of each.'
                )
            raise_any(self._problems)
        return GoldenSet(
            queries.values(),
            path=self._path,
            shown=self._problems.shown,
            name=self._path.stem,
            left_out=left_out,
        )

    def _read_line(self, line: bytes, number: int) -> None:
        if len(line) > MAX_LINE:
            self._problems.report(
                number, 1, f"This line is longer than {MAX_LINE // 1_000_000} MB. Split the query."
            )
            return
        text = line.decode()
        try:
            record = strict_json(text)
        except (ValueError, RecursionError):
            record = None
        query = _usual(record, number)
        if query is not None and query.id not in self._queries:
            self._queries[query.id] = query
        else:
            self._read_unusual(text, number)

    def _read_unusual(self, text: str, number: int) -> None:
        try:
            node = compose(text, number)
        except JsonError as error:
            if text.strip() in ("[", "{"):
                message = (
                    "JSON over several lines begins here. Write one query a line, without a list around them."
                )
                self._problems.report(number, 1, message)
                raise Stop from None
            self._problems.report(error.line, error.column, error.message)
            return
        if is_mapping(node):
            self._without_nulls(node)
            for key, value in zip(node[1::2], node[2::2], strict=True):
                if key.value in _NAMES:
                    self._check_names(key.value, value)
            if any(key.value == "_id" for key in node[1::2]):
                self._problems.at(
                    node,
                    "This is a query of a BEIR folder, without its judgments. Name the folder in place of this file.",
                )
                raise Stop
        self._reader.read_node(node)

    def _without_nulls(self, node: Node) -> None:
        """Take out the keys of a query that are null: so a table's empty cell is written."""
        kept = [
            part
            for key, value in zip(node[1::2], node[2::2], strict=True)
            if not (is_plain(value) and value.value == "null")
            for part in (key, value)
        ]
        node[1:] = kept

    def _check_names(self, key: str, value: Node) -> None:
        """Report what JSON has and YAML's texts have not: true, false and null."""
        is_list = is_sequence(value)
        for part in value[1:] if is_list else [value]:
            if is_plain(part):
                self._problems.at(part, f"`{key}` has {part.value} here, without quotes. Write a text.")
            elif is_list and is_mapping(part):
                for name, inner in zip(part[1::2], part[2::2], strict=True):  # of a passage
                    if name.value in ("doc", "text"):
                        self._check_names(name.value, inner)


def _usual(record: Any, line: int) -> Query | None:
    """Make a query of what nearly all lines are; None for anything else, right or wrong."""
    if record.__class__ is not dict or not record.keys() <= USUAL_KEYS:
        return None
    text = record.get("query")
    query_id = record.get("id", text)
    relevant = record.get("relevant")
    tags = record.get("tags", ())
    if text.__class__ is not str or query_id.__class__ is not str or text.isspace() or query_id.isspace():
        return None
    judgments: dict[str, Grade]
    if relevant.__class__ is list:
        if {*map(type, relevant)} != {str}:
            return None
        judgments = dict.fromkeys(relevant, 1)
        if len(judgments) != len(relevant):
            return None
    elif relevant.__class__ is dict:
        if {*map(type, relevant.values())} != {int} or not 0 <= min(relevant.values()) <= max(
            relevant.values()
        ) <= MAX_GRADE:
            return None
        judgments = relevant
    else:
        return None
    if tags and (
        tags.__class__ is not list or {*map(type, tags)} != {str} or len({*tags}) != len(tags) or "" in tags
    ):
        return None
    if not text or not query_id or "" in judgments:
        return None
    return Query(query_id, text, judgments, tags=tuple(tags), params=_NO_PARAMS, line=line, column=1)


_NO_PARAMS: dict[str, object] = {}  # one for all, as nothing changes a query
