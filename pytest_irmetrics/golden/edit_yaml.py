"""Append judgments to a golden set in YAML by splicing one value of each query; every other byte stays as it is.

Where a judgment is written depends on the form of the query's `relevant`:

- a single id becomes a list, ``[doc-1, doc-2]``, or where a new grade is not 1 a mapping, ``{doc-1: 1, doc-2: 3}``;
- a list gets an item. For a grade other than 1 it is written anew as a mapping, in which the ids that were there have grade 1;
- a mapping gets a key.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import yaml

from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, Problems, Wrong, raise_any
from pytest_irmetrics.golden.files import decode
from pytest_irmetrics.golden.read_yaml import parse_yaml
from pytest_irmetrics.golden.write_yaml import write_id
from pytest_irmetrics.golden.yaml_nodes import PARSER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.query import Passage, Query
    from pytest_irmetrics.metrics import Grade


def append_judgments(
    data: bytes,
    added: Mapping[str, Mapping[str, Grade]],
    path: Path,
    shown: str,
    custom_metrics: Collection[str] = (),
    passages: Mapping[str, Sequence[Passage]] | None = None,
) -> tuple[bytes, GoldenSet]:
    """Append judgments, query id → document id → grade, to the content of a YAML golden set; return the new content.

    `passages` are judgments by passage, by query id. The queries must be in the set and must not judge these yet. The new
    content is read again before it is returned: it holds the golden set as before plus the new judgments. Raises
    GoldenSetError where that cannot be done.
    """
    passages = passages or {}
    bom = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    before = parse_yaml(decode(data), path, shown, custom_metrics)
    text = data.removeprefix(bom).decode()
    places = {(query.line, query.column): query for query in before.queries.values()}
    problems = Problems(shown)
    changes: list[tuple[int, int, str]] = []
    for node in _mappings(yaml.compose(text, Loader=PARSER), set()):
        query = places.get((node.start_mark.line + 1, node.start_mark.column + 1))
        for new in (added.get(query.id), passages.get(query.id)) if query else ():
            change = problems.attempt(_change, text, node, query, new) if new else None
            changes += [change] if change else []
    raise_any(problems)
    for start, end, written in sorted(changes, reverse=True):
        text = text[:start] + written + text[end:]
    edited = bom + text.encode()
    try:
        after = parse_yaml(decode(edited), path, shown, custom_metrics)
    except (GoldenSetError, Wrong) as error:
        said = error.message if isinstance(error, Wrong) else error.problems[0].message
        message = (
            f"With the new judgments this could not be read: {said} Nothing was written; append them by hand."
        )
        raise GoldenSetError([Problem(shown, 1, 1, message)]) from None
    for query in _changed_otherwise(before, after, added, passages):
        message = f"The new judgments would change more than they should, in {quote(query.id)}. Nothing was written; append them by hand."
        raise GoldenSetError([Problem(shown, query.line, query.column, message)])
    return edited, after


def _changed_otherwise(
    before: GoldenSet,
    after: GoldenSet,
    added: Mapping[str, Mapping[str, Grade]],
    passages: Mapping[str, Sequence[Passage]],
) -> Iterator[Query]:
    """Yield the queries that are not as before plus the new judgments."""
    for query_id, query in before.queries.items():
        new = passages.get(query_id, ())
        grades = {**query.judgments, **added.get(query_id, {}), **{one.key: one.grade for one in new}}
        wanted = replace(query, judgments=grades, passages=(*query.passages, *new))
        now = after.queries.get(query_id)
        if now is None or _content(now) != _content(wanted):
            yield query


def _content(query: Query) -> Query:
    """Return a query without its place and those of its thresholds."""
    own = tuple(threshold._replace(origin="") for threshold in query.thresholds)
    return replace(query, thresholds=own, line=None, column=None)


def _mappings(node: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the mappings in a node of PyYAML's, outermost first, each once: an alias is the node that it refers to."""
    if id(node) in seen or not isinstance(node, yaml.CollectionNode):
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        yield node
    for part in node.value:
        for one in part if isinstance(part, tuple) else (part,):
            yield from _mappings(one, seen)


def _change(
    text: str, query_node: Any, query: Query, new: Mapping[str, Grade] | Sequence[Passage]
) -> tuple[int, int, str]:
    """Return the change that adds judgments to a query's `relevant`: its start, its end and the new text. Raises Wrong."""
    place = query.line or 1, query.column or 1
    pairs: list[tuple[Any, Any]] = [pair for pair in query_node.value if pair[0].value == "relevant"]
    if not pairs:
        raise Wrong(place, f"{quote(query.id)} has no `relevant`. Write one, and label again.")
    ((key, node),) = pairs
    start, end = node.start_mark.index, _end(node)
    if start < query_node.start_mark.index or text[start] in "&*":
        raise Wrong(place, "`relevant` is shared by an anchor. Write it out here, and label again.")
    is_mapping, is_list = isinstance(node, yaml.MappingNode), isinstance(node, yaml.SequenceNode)
    graded = False
    if isinstance(new, Mapping):
        graded = is_mapping or any(grade != 1 for grade in new.values())
        entries = [_entry(doc, grade, graded=graded) for doc, grade in new.items()]
    else:
        entries = [_passage_entry(passage) for passage in new]
        if is_mapping:
            message = f"`relevant` is a mapping, which holds documents alone. Write a list, and add: {', '.join(entries)}."
            raise Wrong(place, message)
    if is_list and graded:
        start = key.end_mark.index
        if "#" in text[start:end] or not all(isinstance(item, yaml.ScalarNode) for item in node.value):
            message = f"`relevant` has passages or comments. Write it as grades by hand, and add: {', '.join(entries)}."
            raise Wrong(place, message)
        entries = [*(_entry(item.value, 1, graded=True) for item in node.value), *entries]
        return start, end, f": {{{', '.join(entries)}}}"
    if not is_mapping and not is_list:
        opening, closing = "{}" if graded else "[]"
        return start, end, f"{opening}{', '.join([_entry(node.value, 1, graded=graded), *entries])}{closing}"
    if node.flow_style:
        at = _end(_last(node)) if node.value else start + 1
        return at, at, "".join(f", {entry}" for entry in entries)[0 if node.value else 2 :]
    at = text.find("\n", end)
    at = len(text) if at < 0 else at - (text[at - 1] == "\r")
    indent = " " * node.start_mark.column + ("" if is_mapping else "- ")
    line_end = "\r\n" if "\r\n" in text else "\n"
    return at, at, "".join(f"{line_end}{indent}{entry}" for entry in entries)


def _last(node: Any) -> Any:
    """Return the last item of a list, or the last value of a mapping."""
    last = node.value[-1]
    return last[1] if isinstance(last, tuple) else last


def _end(node: Any) -> int:
    """Return where a node's text ends; the end mark of a block collection is that of what follows it."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = _last(node)
    end: int = node.end_mark.index
    return end


def _entry(doc_id: str, grade: Grade, *, graded: bool) -> str:
    return write_id(doc_id) + (f": {as_whole_number(grade)}" if graded else "")


def _passage_entry(passage: Passage) -> str:
    grade = as_whole_number(passage.grade)
    return f"{{doc: {write_id(passage.doc)}, text: {write_id(passage.text)}, grade: {grade}}}"
