"""Read the JSON that Quepid exports: a case, or its ratings."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.json_nodes import JsonError, compose, is_constant
from pytest_irmetrics.golden.judgment_rows import bad_grade_message, duplicate_judgment_message, read_grade
from pytest_irmetrics.golden.nodes import NodeProblems, ScalarEvent, is_mapping, is_sequence, place_of
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from pytest_irmetrics.golden.nodes import Node
    from pytest_irmetrics.metrics import Grade


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_MAX_BYTES = 50_000_000


def read_quepid(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read queries with their ratings as Quepid exports them: JSON, or in a file with another suffix CSV.

    Raises GoldenSetError.
    """
    if without_gz(path).suffix.lower() != ".json":
        return read_table(path, shown, custom_metrics)
    data = read_plain_bytes(path, shown, _MAX_BYTES)
    problems = NodeProblems(shown)
    golden = None
    with suppress(Stop):
        golden = _read(data.decode(), path, problems)
    raise_any(problems)
    assert golden is not None  # noqa: S101 - or there was a problem
    return golden


def _read(text: str, path: Path, problems: NodeProblems) -> GoldenSet:
    """Read the JSON of an export. Raises Stop where there is no golden set in it."""
    try:
        root = compose(text)
    except JsonError as error:
        problems.report(error.line, error.column, error.message)
        raise Stop from None
    fields = _fields(root)
    kind = fields.get("format")
    if kind is not None and kind.__class__ is ScalarEvent and kind.value.startswith("pytest-irmetrics"):
        problems.report(
            1,
            1,
            f"This is a {kind.value.removeprefix('pytest-irmetrics ')} of pytest-irmetrics, not a golden set. Name the golden set.",
        )
        raise Stop
    listed = fields.get("queries")
    if listed is None or not is_sequence(listed):
        problems.report(
            1,
            1,
            'This is no export of Quepid, which has a list of "queries". Write a golden set as YAML or JSONL.',
        )
        raise Stop
    queries: dict[str, Query] = {}
    left_out: dict[str, None] = {}
    for node in listed[1:]:
        query = _read_query(node, problems)
        if query is None:
            continue
        if query.id in queries or query.id in left_out:
            problems.report(
                query.line or 1, query.column or 1, f"The query {quote(query.id)} is here twice. Keep one."
            )
        elif query.judgments:
            queries[query.id] = query
        else:
            left_out[query.id] = None
    if not queries and not len(problems):
        problems.report(
            1, 1, "No query has a rating. Rate some results in Quepid, and export the case again."
        )
    name = fields.get("case_name")
    return GoldenSet(
        queries.values(),
        path=path,
        shown=problems.shown,
        name=name.value if name.__class__ is ScalarEvent and name.value else without_gz(path).stem,
        left_out=left_out,
    )


def _fields(node: Node) -> dict[str, Node]:
    """Return the values of an object by key; none if the node is no object."""
    if not is_mapping(node):
        return {}
    return {key.value: value for key, value in zip(node[1::2], node[2::2], strict=True)}


def _read_query(node: Node, problems: NodeProblems) -> Query | None:
    """Read a query with its ratings; None if it is none, which is reported."""
    fields = _fields(node)
    text = _text(fields.get("query_text") or fields.get("query"))
    if text is None or "ratings" not in fields:
        if "relevant" in fields:
            advice = "Name a golden set with these keys .yaml, which JSON is, too."
        else:
            advice = 'An export has "query_text" or "query", and "ratings".'
        problems.at(node, f"This is no query of an export of Quepid. {advice}")
        return None
    note = _text(fields.get("notes")) or _text(fields.get("information_need"))
    judgments = _read_ratings(text, fields["ratings"], problems)
    line, column = place_of(node)
    return Query(text, text, judgments, note=note, line=line, column=column)


def _text(node: Node | None) -> str | None:
    """Return the text of a node; None if it is no text, or blank."""
    if node.__class__ is not ScalarEvent or is_constant(node) or not node.value.strip():
        return None
    return str(node.value)


def _read_ratings(query_id: str, node: Node, problems: NodeProblems) -> dict[str, Grade]:
    """Read ratings by document; what is wrong with them is reported."""
    judgments: dict[str, Grade] = {}
    lines: dict[str, int] = {}
    if is_mapping(node):
        pairs = list(zip(node[1::2], node[2::2], strict=True))
    elif is_sequence(node):
        pairs = list(_listed_ratings(node, problems))
    else:
        if not is_constant(node):
            problems.at(node, 'The "ratings" are neither an object nor a list. Write {"document": rating}.')
        return judgments
    for key, value in pairs:
        if _is_null(value):  # unrated documents are not judged
            continue
        grade = read_grade(value.value) if value.__class__ is ScalarEvent else None
        doc_id = key.value
        if not doc_id:
            problems.at(key, "Here is a rating without a document. Write its id.")
        elif grade is None:
            problems.at(
                value, bad_grade_message(doc_id, value.value if value.__class__ is ScalarEvent else "…")
            )
        elif doc_id not in judgments:
            judgments[doc_id] = grade
            lines[doc_id], _ = place_of(key)
        elif is_mapping(node):
            problems.at(key, duplicate_judgment_message(query_id, doc_id, lines[doc_id]))
        elif judgments[doc_id] != grade:  # several people may rate a document alike
            message = (
                f"The query {quote(query_id)} rates {quote(doc_id)} {grade:g} here and {judgments[doc_id]:g} on line "
                f"{lines[doc_id]}. Keep one of these ratings."
            )
            problems.at(key, message)
    return judgments


def _listed_ratings(node: Node, problems: NodeProblems) -> Iterator[tuple[ScalarEvent, Node]]:
    """Yield document and rating of each item of a list ``[{"doc_id": …, "rating": …}]``, as a case's export has it."""
    for item in node[1:]:
        fields = _fields(item)
        doc_id, rating = fields.get("doc_id"), fields.get("rating")
        if doc_id.__class__ is not ScalarEvent or is_constant(doc_id) or rating is None:
            problems.at(item, 'This is no rating. Write {"doc_id": "document", "rating": 3}.')
        else:
            yield doc_id, rating


def _is_null(node: Node) -> bool:
    return node.__class__ is ScalarEvent and is_constant(node) and node.value == "null"
