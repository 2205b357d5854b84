"""YAML golden sets: read query by query as the text is parsed, and written as people write them."""

from __future__ import annotations

from math import inf
from typing import Any

import yaml
from yaml.events import MappingStartEvent, ScalarEvent, SequenceStartEvent

from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.numbers import JSON_NUMBER
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.formats import KEYS, Format
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import limits_as_dict, query_as_dict
from pytest_irmetrics.golden.query_reader import QueryReader, pairs_of, read_keys, read_level, read_text
from pytest_irmetrics.golden.source import Node, Source, Wrong
from pytest_irmetrics.golden.yaml_nodes import NodeReader, place_of_mark
from pytest_irmetrics.thresholds import Threshold

FORMATS = {"yaml": Format((".yaml", ".yml"), frozenset((*KEYS, "set")), as_trec_eval=False)}

_MAX_BYTES = 100_000_000
"""Nine times the size of a YAML file of 100,000 queries."""


def read(source: Source) -> GoldenSet:
    """Read a YAML golden set. Raises Wrong and GoldenSetError."""
    return parse_yaml(source.text(_MAX_BYTES), source)


def parse_yaml(text: str, source: Source) -> GoldenSet:
    """Read a golden set from the text of a YAML file. Raises GoldenSetError."""
    queries = QueryReader(source)
    top: list[tuple[Node, Node]] = []
    # A lone \r: `decode_strictly` has made \r\n one \n.
    source.attempt(lambda: _read_document(NodeReader(text.replace("\r", "\n"), source), queries, top))
    return read_set(top, queries, source)  # what stands before a syntax error is checked, too


def read_set(pairs: list[tuple[Node, Node]], queries: QueryReader, source: Source) -> GoldenSet:
    """Read a golden set from its keys and values as nodes, in any format that holds `set`. Raises GoldenSetError.

    `queries` may have read some before, as those of YAML are while the text is parsed.
    """
    values, nodes = read_keys(
        Node((1, 1), pairs, "mapping"),
        {  # `set_as_dict` and cli/golden.schema.json have these keys, too
            "version": _read_version,
            "name": read_text,
            "relevance_level": read_level,
            "thresholds": queries.read_thresholds,
            "slices": lambda node, key: _read_slices(node, key, queries, source),
            "queries": lambda node, _: _read_queries(node, queries),
        },
        "a golden set",
        source,
    )
    source.raise_any()
    golden = GoldenSet(
        queries.queries.values(),
        path=source.named,
        shown=source.shown,
        name=values.get("name", source.name),
        relevance_level=values.get("relevance_level", 1),
        thresholds=(*values.get("thresholds", ()), *values.get("slices", ())),
    )
    if not golden.queries:
        at = nodes["queries"].place if "queries" in nodes else (1, 1)
        source.add(at, "There is no query. Write `queries:` and, below it, `- query: …` with `relevant: …`.")
    queries.require_texts()
    _check_level(golden, source)
    if "slices" in nodes:
        _check_tags(nodes["slices"], golden, source)
    source.raise_any()
    return golden


def _read_document(nodes: NodeReader, queries: QueryReader, top: list[tuple[Node, Node]]) -> None:
    """Read the whole document: each query at once, all other keys and values into `top`. Raises Wrong."""
    root = nodes.begin()
    if root is None or (isinstance(root, ScalarEvent) and not root.value):
        raise Wrong((1, 1), "The file is empty. Write `queries:` and, below it, a list of queries.")
    if not isinstance(root, MappingStartEvent):
        what = "a list" if isinstance(root, SequenceStartEvent) else "text"
        message = f"A golden set is a mapping with the key `queries`, and this is {what}."
        raise Wrong(place_of_mark(root.start_mark), f"{message} Write `queries:` above it.")
    _refuse_properties(root, "golden set as a whole")
    for key, event in nodes.pairs():
        if key.value != "queries" or not isinstance(event, SequenceStartEvent):
            top.append((key, nodes.compose(event)))
            continue
        _refuse_properties(event, "list of queries")
        top.append((key, Node(place_of_mark(event.start_mark), (), "list")))  # empty: the loop reads them
        for node in nodes.items():
            queries.read(node)
    nodes.end()


def _refuse_properties(event: Any, what: str) -> None:
    """Refuse an anchor or a tag on what is not kept as a node, so that no alias can refer to it."""
    if event.anchor is not None or event.tag is not None:
        raise Wrong(place_of_mark(event.start_mark), f"The {what} takes no anchor and no tag. Remove it.")


def _read_version(node: Node, key: str) -> None:
    """Refuse another version than 1, which cli/golden.schema.json has, too."""
    if node.kind != "text" or node.value != "1":
        raise Wrong(node.place, f"`{key}` is {node}, and this reads version 1. Write 1, or update.")


def _read_queries(node: Node, queries: QueryReader) -> None:
    """Read a list of queries that was not read as it was parsed, as an alias is."""
    if node.kind != "list":
        raise Wrong(node.place, f"`queries` is {node}. Write a list, each query after a `- `.")
    for item in node.value:
        queries.read(item)


def _read_slices(node: Node, key: str, queries: QueryReader, source: Source) -> list[Threshold]:
    found: list[Threshold] = []
    for tag, limits in pairs_of(node, source, f"`{key}`", "{billing: {mrr: 0.8}}"):
        found += queries.read_thresholds(limits, tag.value, tag=tag.value)
    return found


# What only the whole shows


def _check_tags(slices: Node, golden: GoldenSet, source: Source) -> None:
    """Report slices by a tag that no query carries."""
    for tag, _ in slices.value:
        if not golden.has_tag(tag.value):
            message = f"No query carries the tag {quote(tag.value)}. Tag some, or remove the slice."
            source.add(tag.place, message)


def _check_level(golden: GoldenSet, source: Source) -> None:
    """Report queries whose grades are all below the relevance level."""
    level = golden.relevance_level
    for query in golden.queries.values():
        if query.judgments and max(query.judgments.values()) < level:
            message = f"No document reaches the relevance level of {level}. Grade one {level} or higher, or lower `relevance_level`."
            source.add((query.line, query.column), message)


# Writing

_TEXT = "tag:yaml.org,2002:str"


class _Dumper(yaml.SafeDumper):
    """Writes each text so that it is read as that text."""

    def represent_text(self, text: str) -> yaml.Node:
        # In double quotes is what a reader takes for a number, a date, a constant, or cannot be seen.
        resolved = self.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        quoted = resolved != _TEXT or JSON_NUMBER.fullmatch(text) or not text.isprintable()
        return self.represent_scalar(_TEXT, text, style='"' if quoted else None)


_Dumper.add_representer(str, _Dumper.represent_text)


def set_as_dict(golden: GoldenSet) -> dict[str, Any]:
    """Return what a set says besides its queries, by its keys in YAML; its name only where that is another than the file's."""
    found: dict[str, Any] = {}
    from_path = () if golden.path is None else (without_gz(golden.path).stem, golden.path.name)
    if golden.name not in from_path:
        found["name"] = golden.name
    if golden.relevance_level != 1:
        found["relevance_level"] = golden.relevance_level
    for tag in dict.fromkeys(threshold.tag for threshold in golden.thresholds):
        of_tag = [threshold for threshold in golden.thresholds if threshold.tag == tag]
        if tag is None:
            found["thresholds"] = limits_as_dict(of_tag)
        else:
            found.setdefault("slices", {})[tag] = limits_as_dict(of_tag)
    return found


def render(golden: GoldenSet, path: str, _form: str) -> dict[str, str]:
    """Return the content of the file, as people write it: a text that a reader would take for something else is quoted."""
    lines = [f"{key}: {_dump(value)}" for key, value in set_as_dict(golden).items()]
    lines.append("queries:")
    for query in golden.queries.values():
        pairs = [f"{key}: {_dump(value)}" for key, value in query_as_dict(query, short=True).items()]
        lines.append("  - " + "\n    ".join(pairs))
    return {path: "\n".join([*lines, ""])}


def _dump(value: object, width: float = 100) -> str:
    """Write a value as it may stand after a key, mappings and lists in brackets; what is longer than a line is indented."""
    written: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=True, sort_keys=False, allow_unicode=True, width=width
    )
    return written.removesuffix("...\n").strip("\n").replace("\n", "\n     ")


def write_id(text: str) -> str:
    """Write an id as it may stand in a list or mapping in brackets, or as a key, on one line."""
    return _dump([text], inf)[1:-1]
