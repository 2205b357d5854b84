"""Append judgments to a golden set in YAML without changing anything else: comments and layout are kept byte for byte.

Where a judgment is written depends on the form of the query's `relevant`:

- a single id becomes a list, ``[doc-1, doc-2]``, or where a new grade is not 1 a mapping, ``{doc-1: 1, doc-2: 3}``;
- a list gets an item. For a grade other than 1 it becomes a mapping, in which the ids that were there have grade 1;
- a mapping gets a key.

Lists and mappings on one line stay on one line, those with a line per entry get another line, and comments stay with the
entries that they follow.
"""

from __future__ import annotations

import re
import shlex
from codecs import BOM_UTF8
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem
from pytest_irmetrics.golden.nodes import NULLS
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.write_yaml import double_quoted, is_ambiguous
from pytest_irmetrics.golden.yaml import parse_yaml
from pytest_irmetrics.golden.yaml_nodes import PARSER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.metrics import Grade


_LINE_BREAK = re.compile(r"\r\n?|\n")
_REST_OF_LINE = re.compile(r"[ \t]*(,?)(?:[ \t]+#[^\r\n]*|[ \t]*)(?=[\r\n]|\Z)")
"""A comma and a comment that may follow the last entry of a flow list or mapping on its line."""
_PLAIN = re.compile(r"[\w/.$(][\w./+~$()@^;=:-]*")
_FLOW_SIGNS = re.compile(r"[,\[\]{}]")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


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
    bom = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    before = parse_yaml(data.removeprefix(BOM_UTF8), path, shown, custom_metrics)
    edited = _Editor(data.removeprefix(bom).decode("utf-8"), shown).edited(
        [(before.queries[query_id], documents) for query_id, documents in added.items() if documents],
        [
            (before.queries[query_id], tuple(of_query))
            for query_id, of_query in (passages or {}).items()
            if of_query
        ],
    )
    try:
        after = parse_yaml(edited.encode("utf-8"), path, shown, custom_metrics)
    except GoldenSetError as error:
        problem = error.problems[0]
        message = f"With the new judgments this could not be read: {problem.message} Nothing was written; append them by hand."
        raise GoldenSetError([Problem(shown, problem.line, problem.column, message)]) from None
    changed = next(_unintended_changes(before, after, added, passages or {}), None)
    if changed is not None:
        query = before.queries.get(changed)
        message = (
            f"The new judgments would change more than they should, first {quote(changed)}. Nothing was written; append "
            "them by hand."
        )
        raise GoldenSetError([Problem(shown, *((query.line, query.column) if query else (1, 1)), message)])
    return bom + edited.encode("utf-8"), after


def _unintended_changes(
    before: GoldenSet,
    after: GoldenSet,
    added: Mapping[str, Mapping[str, Grade]],
    passages: Mapping[str, Sequence[Passage]],
) -> Iterator[str]:
    """Yield what differs besides the added judgments: the ids of queries, or names of attributes of the set."""
    for name in ("name", "relevance_level", "left_out"):
        if getattr(before, name) != getattr(after, name):
            yield name
    if _limit_values(before.thresholds) != _limit_values(after.thresholds):
        yield "thresholds"
    if list(before.queries) != list(after.queries):
        yield "queries"
    for query_id, query in before.queries.items():
        now = after.queries.get(query_id)
        new = passages.get(query_id, ())
        grades = {passage.key: passage.grade for passage in new}
        if (
            now is None
            or now.judgments != {**query.judgments, **added.get(query_id, {}), **grades}
            or now.passages != (*query.passages, *new)
            or any(getattr(query, name) != getattr(now, name) for name in _COMPARED_FIELDS)
            or _limit_values(query.thresholds) != _limit_values(now.thresholds)
        ):
            yield query_id


_COMPARED_FIELDS = [
    field.name
    for field in fields(Query)
    if field.name not in ("judgments", "passages", "thresholds", "line", "column")
]


def _limit_values(thresholds: Iterable[Any]) -> list[tuple[object, ...]]:
    """Return the metrics, limits and tags of thresholds, without their places."""
    return [(threshold.metric, threshold.limits, threshold.tag) for threshold in thresholds]


@dataclass(slots=True)
class _Node:
    """A scalar, list or mapping of the YAML, with its extent in the text."""

    start: int
    end: int
    column: int
    """The column of its start, counted from 0."""
    line: int
    """The line of its start, counted from 0."""
    last_line: int
    value: str = ""
    style: str | None = None
    """The quote of a scalar, or `|` or `>` of a block scalar; None for plain text."""
    flow: bool = False
    """Whether a list or mapping is written in brackets."""
    anchored: bool = False
    """Whether it has an anchor or is an alias, so that an edit would change other places, too."""
    mapping: bool = False
    items: list[_Node] | None = None
    """The items of a list, or the keys and values of a mapping by turns; None for a scalar."""

    @property
    def entries(self) -> list[_Node]:
        """The items of a list, or the keys of a mapping."""
        items = self.items or []
        return items[::2] if self.mapping else items


class _Editor:
    """Collects changes to a text as (start, end, new text), and applies them all at once."""

    def __init__(self, text: str, shown: str) -> None:
        self._text = text
        self._shown = shown
        breaks = list(_LINE_BREAK.finditer(text))
        self._breaks = [found[0] for found in breaks]
        self._starts = [0, *(found.end() for found in breaks)]
        self._changes: list[tuple[int, int, str]] = []
        self._problems: list[Problem] = []

    def edited(
        self,
        added: Sequence[tuple[Query, Mapping[str, Grade]]],
        passages: Sequence[tuple[Query, tuple[Passage, ...]]] = (),
    ) -> str:
        """Return the text with judgments appended to these of its queries. Raises GoldenSetError."""
        everything: list[tuple[Query, Mapping[str, Grade] | tuple[Passage, ...]]] = [*added, *passages]
        nodes = self._find({(query.line, query.column) for query, _ in everything})
        for query, new in everything:
            if query.no_answer:
                self._problem(
                    query,
                    f"{quote(query.id)} is a `no_answer` query, which has no judgments. Take `no_answer` away first, "
                    "and write `relevant`.",
                )
                continue
            node = nodes.get((query.line, query.column))
            relevant = None if node is None else _value(node, "relevant")
            if relevant is None:
                self._problem(query, f"{quote(query.id)} has no `relevant` of its own. Write it out.")
            elif isinstance(new, tuple):
                self._append_passages(query, relevant, new)
            else:
                self._append(query, relevant, new)
        if self._problems:
            raise GoldenSetError(self._problems)
        parts, done = [], 0
        # At one place insertions come before replacements, in the order in which they were made.
        for start, end, replacement in sorted(self._changes, key=lambda change: change[:2]):
            parts += [self._text[done:start], replacement]
            done = end
        return "".join([*parts, self._text[done:]])

    def _problem(self, query: Query, message: str, node: _Node | None = None) -> None:
        line, column = (query.line, query.column) if node is None else (node.line + 1, node.column + 1)
        self._problems.append(Problem(self._shown, line, column, message))

    # Nodes ----------------------------------------------------------------------------------------------------

    def _find(
        self, wanted: Collection[tuple[int | None, int | None]]
    ) -> dict[tuple[int | None, int | None], _Node]:
        """Return the mappings that begin at these lines and columns, both counted from 1."""
        found: dict[tuple[int | None, int | None], _Node] = {}
        outer: list[_Node | None] = []
        events: Any = yaml.parse(self._text, Loader=PARSER)
        for event in events:
            if isinstance(event, (MappingEndEvent, SequenceEndEvent)):
                node = outer.pop()
                if (
                    node is not None and node.flow
                ):  # the end mark of a block collection is that of what follows it
                    mark: Any = event.end_mark
                    node.end, node.last_line = self._offset(mark), mark.line
                continue
            if not isinstance(event, (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent)):
                continue
            mark = event.start_mark
            where = mark.line + 1, mark.column + 1
            around = outer[-1] if outer else None
            is_wanted = isinstance(event, MappingStartEvent) and where in wanted
            node = None
            if around is not None or is_wanted:
                node = self._node(event)
                if around is not None and around.items is not None:
                    around.items.append(node)
                if is_wanted:
                    found[where] = node
            if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                outer.append(node)
        return found

    def _offset(self, mark: Any) -> int:
        """Return the offset of a parser's mark in the text."""
        line: int = mark.line
        column: int = mark.column
        return self._starts[line] + column

    def _node(self, event: Any) -> _Node:
        collection = isinstance(event, (MappingStartEvent, SequenceStartEvent))
        scalar = isinstance(event, ScalarEvent)
        return _Node(
            start=self._offset(event.start_mark),
            end=self._offset(event.end_mark),
            column=event.start_mark.column,
            line=event.start_mark.line,
            last_line=event.end_mark.line,
            value=event.value if scalar else "",
            style=(event.style or None) if scalar else None,
            flow=bool(event.flow_style) if collection else False,
            anchored=event.anchor is not None,
            mapping=isinstance(event, MappingStartEvent),
            items=[] if collection else None,
        )

    # Changes ---------------------------------------------------------------------------------------------------

    def _append_passages(self, query: Query, node: _Node, passages: Sequence[Passage]) -> None:
        """Add passages to the value of a `relevant`, which is a list or becomes one."""
        entries = [
            f"{{doc: {_write_id(passage.doc, ())}, text: {double_quoted(passage.text)}, grade: {_number(passage.grade)}}}"
            for passage in passages
        ]
        if node.anchored:
            self._problem(
                query, "`relevant` is shared by an anchor. Write it out here, and label again.", node
            )
        elif node.mapping:
            self._problem(
                query,
                "`relevant` is a mapping, which holds documents alone. Write it as a list, of passages and of documents that "
                "have grade 1, and label again.",
                node,
            )
        elif node.style in ("|", ">") or (node.items is not None and not node.items):
            self._problem(query, "`relevant` is no list with an entry. Write one, and label again.", node)
        elif node.items is None:
            first = self._key_in_flow(node)
            self._changes.append((node.start, node.end, f"[{', '.join([first, *entries])}]"))
        else:
            dash = "" if node.flow else "- "
            self._insert(node, [dash + entry for entry in entries], node.column)

    def _append(self, query: Query, node: _Node, documents: Mapping[str, Grade]) -> None:
        """Add judgments to the value of a `relevant`."""
        graded = node.mapping or any(grade != 1 for grade in documents.values())
        if node.anchored:
            self._problem(
                query, "`relevant` is shared by an anchor. Write it out here, and label again.", node
            )
        elif any(part.style in ("|", ">") for part in _scalar_entries(node)):
            self._problem(
                query, "`relevant` has a block of text in it. Write the ids on one line each.", node
            )
        elif node.items is None:
            self._wrap_id(node, documents, graded=graded)
        elif not node.mapping and graded:
            if any(item.items is not None for item in node.items):
                self._problem(query, self._no_grade_in_list(query, documents), node)
            elif self._list_to_mapping(query, node):
                column = node.column if node.flow else node.column + 2
                self._insert(node, self._entries(documents, node.items, graded=True), column)
        else:
            entries = self._entries(documents, node.entries, graded=graded)
            dash = "- " if not node.flow and not node.mapping else ""
            self._insert(node, [dash + entry for entry in entries], node.column)

    def _no_grade_in_list(self, query: Query, documents: Mapping[str, Grade]) -> str:
        doc_id, grade = next((doc_id, grade) for doc_id, grade in documents.items() if grade != 1)
        command = shlex.join(["label", self._shown, "--passage", query.id, doc_id, "TEXT", _number(grade)])
        return (
            f"This list holds passages, and a whole document in it has grade 1. Judge a text of {quote(doc_id)} instead: "
            f"`pytest-irmetrics {command}`."
        )

    def _entries(self, documents: Mapping[str, Grade], beside: Sequence[_Node], *, graded: bool) -> list[str]:
        return [
            _write_id(doc_id, beside) + (f": {_number(grade)}" if graded else "")
            for doc_id, grade in documents.items()
        ]

    def _wrap_id(self, node: _Node, documents: Mapping[str, Grade], *, graded: bool) -> None:
        """Turn a single id into a list, or a mapping."""
        first = self._key_in_flow(node)
        begin, end, one = ("{", "}", ": 1") if graded else ("[", "]", "")
        entries = [first + one, *self._entries(documents, [node], graded=graded)]
        self._changes.append((node.start, node.end, begin + ", ".join(entries) + end))

    def _key(self, node: _Node) -> str:
        """Return an id as it is written in the text; quoted anew if it could not be a key that way."""
        if node.line != node.last_line or (node.style is None and node.value == "<<"):
            return double_quoted(node.value)
        return self._text[node.start : node.end]

    def _key_in_flow(self, node: _Node) -> str:
        """Return an id as it is written in the text; quoted anew if it could not stand between brackets that way."""
        if node.style is None and _FLOW_SIGNS.search(node.value):
            return double_quoted(node.value)
        return self._key(node)

    def _list_to_mapping(self, query: Query, node: _Node) -> bool:
        """Turn a list into a mapping in which each id has grade 1; False if it cannot be done, which is reported."""
        items = node.items or []
        if node.flow:
            self._changes += [(node.start, node.start + 1, "{"), (node.end - 1, node.end, "}")]
        for item in items:
            if not node.flow:
                dash = self._starts[item.line] + node.column
                if self._text[dash : item.start].rstrip(" ") != "-":
                    self._problem(query, "An id is not on the line of its `-`. Write it there.", item)
                    return False
                self._changes.append((dash, item.start, "  "))
            self._changes.append((item.start, item.end, f"{self._key(item)}: 1"))
        return True

    def _insert(self, node: _Node, entries: Sequence[str], column: int) -> None:
        """Insert entries after the last one of a list or mapping; `column` is that of block entries."""
        last = _last_node(node)
        if node.flow:
            at = last.end
            begins = node.entries
            above = begins[-2].line if len(begins) > 1 else node.line
            rest = _REST_OF_LINE.match(self._text, at) if begins[-1].line > above else None
            if rest is None or rest.end() == len(self._text):
                self._changes.append((at, at, "".join(f", {entry}" for entry in entries)))
                return
            if not rest[1]:
                self._changes.append((at, at, ","))
            lines = f",{self._line_ending(rest.end())}{' ' * begins[-1].column}".join(entries)
            self._add_line(rest.end(), begins[-1].column, lines + rest[1])
            return
        end = _LINE_BREAK.search(self._text, last.end)
        for entry in entries:
            self._add_line(end.start() if end else len(self._text), column, entry)

    def _add_line(self, at: int, column: int, text: str) -> None:
        self._changes.append((at, at, f"{self._line_ending(at)}{' ' * column}{text}"))

    def _line_ending(self, at: int) -> str:
        """Return the line ending at an offset; at the end of the text, that of the line before."""
        found = _LINE_BREAK.match(self._text, at)
        return found[0] if found else self._breaks[-1] if self._breaks else "\n"


def _value(node: _Node, key: str) -> _Node | None:
    """Return the value of a key of a mapping."""
    items = node.items or []
    return next(
        (value for name, value in zip(items[::2], items[1::2], strict=True) if name.value == key), None
    )


def _scalar_entries(node: _Node) -> Iterator[_Node]:
    """Yield the scalars among the entries of a list or mapping, or the node itself if it is one."""
    yield from (part for part in (node.entries or [node]) if part.items is None)


def _last_node(node: _Node) -> _Node:
    """Return the innermost node at the end of a list or mapping: a scalar, or a collection in brackets."""
    while node.items:
        inner = node.items[-1]
        if inner.items is None or inner.flow:
            return inner
        node = inner
    return node


def _number(grade: Grade) -> str:
    return repr(as_whole_number(grade))


def _write_id(doc_id: str, beside: Sequence[_Node]) -> str:
    """Write an id in the style of those beside it; quoted where YAML needs it or readers would not take it for text."""
    styles = {node.style for node in beside if node.items is None}
    if (
        styles == {"'"}
        and not _UNPRINTABLE.search(doc_id)
        and not _LINE_BREAK.search(doc_id)
        and doc_id.isprintable()
    ):
        return "'" + doc_id.replace("'", "''") + "'"
    plain = (
        _PLAIN.fullmatch(doc_id)
        and not doc_id.endswith(":")
        and not doc_id.startswith("...")
        and not (styles and None not in styles)
    )
    if not plain or doc_id in NULLS:
        return double_quoted(doc_id)
    usual = any(node.style is None and is_ambiguous(node.value) for node in beside if node.items is None)
    return doc_id if usual or not is_ambiguous(doc_id) else double_quoted(doc_id)
