"""Read a YAML golden set: queries one by one as they are parsed, then the keys at the top of the file."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, cast

import yaml

from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.golden.cross_checks import check_level, check_slices, check_texts, check_thresholds
from pytest_irmetrics.golden.errors import Stop, raise_any
from pytest_irmetrics.golden.files import read_text_bytes
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.nodes import (
    MappingEndEvent,
    MappingStartEvent,
    NodeProblems,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    is_mapping,
    is_sequence,
    shown_node,
)
from pytest_irmetrics.golden.queries import QueryReader
from pytest_irmetrics.golden.read_thresholds import ThresholdReader
from pytest_irmetrics.golden.values import (
    SET_KEYS,
    fields_of,
    pairs_of,
    read_level,
    read_text,
)
from pytest_irmetrics.golden.yaml_nodes import NodeReader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.nodes import Node
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


def read_yaml(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a YAML golden set; `shown` is the path in messages. Raises GoldenSetError."""
    return parse_yaml(read_text_bytes(path, shown), path, shown, custom_metrics)


def parse_yaml(data: bytes, path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:
    """Read a golden set from the content of a YAML file, without a byte order mark. Raises GoldenSetError."""
    return _SetReader(path, shown, custom_metrics).read(data)


class _SetReader:
    """Reads one file and collects its problems."""

    def __init__(self, path: Path, shown: str, custom_metrics: Collection[str]) -> None:
        self._path = path
        self._problems = NodeProblems(shown)
        self._threshold_reader = ThresholdReader(self._problems, custom_metrics)
        self._query_reader = QueryReader(self._problems, self._threshold_reader)
        self._has_queries = False  # also if none of them can be read
        self._top: list[Node] = []
        """The node of the whole document, as far as it has been read; the list of queries stays empty in it."""
        self._set_thresholds: list[tuple[Node, Threshold]] = []
        """Those of the set and its slices, each with the node of its metric."""
        self._slices: dict[str, Node] = {}
        """Tag → its node."""

    def read(self, data: bytes) -> GoldenSet:
        """Return the golden set. Raises GoldenSetError with all problems that were found."""
        golden = None
        with suppress(Stop):
            golden = self._read(data)
        raise_any(self._problems)
        return cast("GoldenSet", golden)  # a Stop has been reported

    def _read(self, data: bytes) -> GoldenSet:
        nodes = NodeReader(data, self._problems)
        complete = False  # what stands before a syntax error is checked, too
        try:
            self._read_document(nodes)
            complete = True
        except yaml.YAMLError as error:
            nodes.explain(error)
        if not self._top:
            raise Stop
        if len(self._top) % 2 == 0:  # a syntax error between a key and its value
            self._top.pop()
        fields = fields_of(self._top, SET_KEYS, "a golden set", self._problems)
        golden = self._read_set(fields)
        if complete:
            self._check_whole(fields.get("queries"), golden)
        return golden

    # The document, as it is parsed ---------------------------------------------------------------------------------

    def _read_document(self, nodes: NodeReader) -> None:
        """Read the whole document: each query into a Query at once, all other keys and values into `_top`."""
        self._begin(nodes.begin())
        top = self._top
        while (event := nodes.next()).__class__ is not MappingEndEvent:
            key = nodes.compose(event)
            top.append(key)
            event = nodes.next()
            if event.__class__ is not SequenceStartEvent or key.__class__ is list or key.value != "queries":
                top.append(nodes.compose(event))
                continue
            self._refuse_properties(event, "list of queries")
            top.append([event])
            self._read_queries(nodes)
        nodes.end()

    def _begin(self, root: Node | None) -> None:
        """Report a document that is no mapping, else start `_top` with the event of the mapping. Raises Stop."""
        if root is None or (root.__class__ is ScalarEvent and not root.value):
            self._problems.report(
                1, 1, "The file is empty. Write `queries:` and, below it, a list of queries."
            )
            raise Stop
        if root.__class__ is not MappingStartEvent:
            what = "a list" if root.__class__ is SequenceStartEvent else "text"
            advice = "Write `queries:` above the list of queries."
            self._problems.at(
                root, f"A golden set is a mapping with the key `queries`, and this is {what}. {advice}"
            )
            raise Stop
        self._refuse_properties(root, "golden set as a whole")
        self._top.append(root)

    def _read_queries(self, nodes: NodeReader) -> None:
        """Read the list of queries to its end."""
        following, compose_mapping, read = nodes.next, nodes.compose_mapping, self._query_reader.read
        while (event := following()).__class__ is not SequenceEndEvent:
            self._has_queries = True
            if event.__class__ is not MappingStartEvent:
                self._query_reader.read_node(nodes.compose(event))
                continue
            fields, keys = compose_mapping(event)
            read(event, keys, fields)

    def _refuse_properties(self, event: Node, what: str) -> None:
        """Report an anchor or a tag on what is not kept as a node, so that no alias can refer to it."""
        if event.anchor is not None or event.tag is not None:
            self._problems.at(event, f"The {what} takes no anchor and no tag. Remove it.")

    # The set, from the keys at the top -------------------------------------------------------------------------

    def _read_set(self, fields: Mapping[str | None, Node]) -> GoldenSet:
        version = fields.get("version")
        if version is not None and not (version.__class__ is ScalarEvent and version.value == "1"):
            self._problems.at(
                version,
                f"`version` is {shown_node(version)}, and this reads version 1. Write 1, or update.",
            )
        name = read_text(fields["name"], "name", self._problems) if "name" in fields else None
        level: Grade = (
            read_level(fields["relevance_level"], self._problems) if "relevance_level" in fields else 1
        )
        if "thresholds" in fields:
            self._set_thresholds += self._threshold_reader.read(fields["thresholds"], "thresholds")
        if "slices" in fields:
            self._read_slices(fields["slices"])
        queries = fields.get("queries")
        if queries is not None:
            if is_sequence(queries):
                for node in islice(queries, 1, None):  # empty, unless the list was an alias
                    self._has_queries = True
                    self._query_reader.read_node(node)
            else:
                self._problems.at(
                    queries, f"`queries` is {shown_node(queries)}. Write a list, each query after a `- `."
                )
        return GoldenSet(
            self._query_reader.queries.values(),
            path=self._path,
            shown=self._problems.shown,
            name=without_gz(self._path).stem if name is None else name,
            relevance_level=level,
            thresholds=tuple(threshold for _, threshold in self._set_thresholds),
        )

    def _read_slices(self, node: Node) -> None:
        if not is_mapping(node):
            self._problems.at(
                node,
                f"`slices` is {shown_node(node)}. Write thresholds by tag, such as {{billing: {{mrr: 0.8}}}}.",
            )
            return
        for key, value in pairs_of(node, self._problems):
            self._slices[key.value] = key
            self._set_thresholds += self._threshold_reader.read(value, key.value, tag=key.value)

    def _check_whole(self, queries: Node | None, golden: GoldenSet) -> None:
        """Report what can only be checked once all queries are read; `queries` is the node of their list."""
        if queries is None:
            message = "There are no `queries`. Write the key and, below it, a list of queries."
            self._problems.report(1, 1, message)
        elif not self._has_queries and is_sequence(queries):
            self._problems.at(queries, "There is no query. Write `- query: …` with `relevant: …`.")
        check_texts(self._query_reader, self._problems)
        if golden.relevance_level > self._query_reader.lowest_best:
            check_level(golden, self._problems)
        check_slices(self._slices, golden, self._problems)
        check_thresholds(self._set_thresholds, golden, self._problems)
