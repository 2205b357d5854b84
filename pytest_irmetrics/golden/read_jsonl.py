"""Read a JSONL golden set: one query a line, with the keys and messages of YAML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, Problems, Wrong, raise_any
from pytest_irmetrics.golden.files import lines_in, read_text
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.nodes import MAX_DEPTH, Node
from pytest_irmetrics.golden.queries import QueryReader

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

MAX_BYTES = 500_000_000


def read_jsonl(path: Path, shown: str, custom: Collection[str] = ()) -> GoldenSet:
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
    queries = reader.queries.values()
    reader.require_texts()
    judged = [query for query in queries if query.judgments or query.no_answer]
    if not judged and not len(problems):
        message = 'There is no query. Write one a line: {"query": "…", "relevant": ["…"]}.'
        if queries:
            message = 'No query has a judgment. Write "relevant" with the documents of each.'
        problems.add(Wrong((1, 1), message))
    raise_any(problems)
    left_out = tuple(query.id for query in queries if not query.judgments and not query.no_answer)
    return GoldenSet(judged, path=path, shown=shown, name=without_gz(path).stem, left_out=left_out)


class _Number(str):
    """A number as it was written, without quotes."""

    __slots__ = ()


class _Pairs(list[tuple[str, object]]):
    """The pairs of a JSON object, with keys that may repeat."""


def read_json(line: str, number: int) -> Any:
    """Read a line of JSON: objects as lists of pairs, numbers as they were written. Raises Wrong."""
    try:
        value = json.loads(
            line, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number, parse_constant=_refuse
        )
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        message = f"This is no JSON: {error.msg}. Write one object a line."
        raise Wrong((number, error.colno), message) from None
    except UnicodeEncodeError:
        message = "An escape here is half of a character. Write the character itself."
        raise Wrong((number, 1), message) from None
    except ValueError as error:
        raise Wrong((number, 1), str(error)) from None
    except RecursionError:
        raise _too_deep(number) from None
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON. Write a finite one.")


def _too_deep(number: int) -> Wrong:
    return Wrong((number, 1), f"Lists and objects are more than {MAX_DEPTH} deep here. Write them less deep.")


def _read_line(line: str, number: int, shown: str) -> Node:
    """Return the node of a query. Raises Wrong, or GoldenSetError where no line of the file is a query."""
    message = ""
    if line.strip() in ("[", "{"):
        message = "JSON over several lines begins here. Write one query a line, without a list around them."
    value = None if message else read_json(line, number)
    if isinstance(value, _Pairs):
        if any(key == "_id" for key, _ in value):
            message = "This is a query of a BEIR folder, without its judgments. Name the folder in place of this file."
        # null is how an empty cell of a table is exported.
        value = _Pairs((key, item) for key, item in value if item is not None)
    if message:
        raise GoldenSetError([Problem(shown, number, 1, message)])
    return _as_node(value, number)


def _as_node(value: object, line: int, depth: int = 0) -> Node:
    """Return a JSON value as a node of its line. Raises Wrong."""
    if depth > MAX_DEPTH:
        raise _too_deep(line)
    if isinstance(value, _Pairs):
        pairs = [(Node(line, 1, key), _as_node(item, line, depth + 1)) for key, item in value]
        return Node(line, 1, pairs, "mapping")
    if isinstance(value, list):
        return Node(line, 1, [_as_node(item, line, depth + 1) for item in value], "list")
    if isinstance(value, str):
        return Node(line, 1, str(value), plain=isinstance(value, _Number))
    return Node(line, 1, json.dumps(value), "constant")
