"""Read one query after the other from nodes of YAML or JSON: a table of keys, and what several keys say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Wrong, format_place
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.values import (
    pairs_of,
    read_boolean,
    read_grade,
    read_keys,
    read_names,
    read_note,
    read_reason,
    read_tags,
    read_text,
    read_value,
    read_weight,
)
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.thresholds import Threshold, ThresholdError, check_word, read_limit

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.golden.nodes import Node
    from pytest_irmetrics.golden.values import Reader
    from pytest_irmetrics.metrics import Grade, Metric
    from pytest_irmetrics.thresholds import Limit


_PASSAGE = "{doc: handbook, text: thirty days after purchase, grade: 2}"
_NO_JUDGMENTS: tuple[dict[str, Grade], tuple[Passage, ...]] = ({}, ())


class QueryReader:
    """Reads the queries of one file into `queries`, by id; what is wrong with them goes to `problems`.

    `custom` are the names of the user's own metrics. With `as_trec_eval`, as its files are read, grades may be below 0, and
    a query need not have a relevant document.
    """

    def __init__(
        self, problems: Problems, custom: Collection[str] = (), *, as_trec_eval: bool = False
    ) -> None:
        self.queries: dict[str, Query] = {}
        self._problems = problems
        self._custom = custom
        self._as_trec_eval = as_trec_eval
        self._metrics: dict[str, Metric] = {}
        self.keys: dict[str, Reader] = {
            "id": read_text,
            "query": read_text,
            "relevant": self._read_relevant,
            "forbidden": read_names,
            "tags": read_tags,
            "weight": read_weight,
            "params": self._read_params,
            "thresholds": self._read_own_thresholds,
            "no_answer": read_boolean,
            "xfail": read_reason,
            "note": read_note,
        }
        self._passage_keys: dict[str, Reader] = {
            "doc": _read_part,
            "text": _read_part,
            "grade": lambda node, _: read_grade(node, "the passage", negative=as_trec_eval),
        }

    def read(self, node: Node) -> None:
        """Read one query; one that has problems is left out."""
        before = len(self._problems)
        if node.kind != "mapping":
            kind = "text" if node.kind == "text" and node.value else node
            message = f"A query is a mapping, and this is {kind}. Write `query: …` and `relevant: …`."
            self._problems.add(Wrong(node, message))
            return
        values, nodes = read_keys(node, self.keys, "a query", self._problems)
        if len(self._problems) == before:
            self._problems.attempt(self._add, node, nodes, **values)

    # What several keys say together ------------------------------------------------------------------------------

    def _add(
        self,
        node: Node,
        nodes: dict[str, Node],
        *,
        id: str | None = None,  # noqa: A002 - the key's name
        query: str | None = None,
        relevant: tuple[dict[str, Grade], tuple[Passage, ...]] = _NO_JUDGMENTS,
        thresholds: list[tuple[Node, Threshold]] | tuple[()] = (),
        **others: Any,
    ) -> None:
        """Add a query of the values of its keys. Raises Wrong."""
        judgments, passages = relevant
        query_id = id or query
        if query_id is None:
            raise Wrong(node, "This query has no `query`. Write the text to search for.")
        self._check_relevant(node, nodes, judgments, no_answer=others.get("no_answer", False))
        for doc_id in others.get("forbidden", ()):
            by_passage = any(passage.doc == doc_id for passage in passages)
            if by_passage or judgments.get(doc_id, 0) > 0:
                how = "judged by passage" if by_passage else "relevant"
                line = _part(nodes["relevant"], doc_id).line
                message = f"{quote(doc_id)} is forbidden here, and {how} on line {line}. Remove it from one of the two."
                raise Wrong(_part(nodes["forbidden"], doc_id), message)
        for key, threshold in thresholds:
            if others.get("no_answer") and threshold.metric.kind != "no_answer":
                message = f"{threshold.metric} is not computed for a `no_answer` query. Use `no_answer`."
                raise Wrong(key, message)
            if not others.get("no_answer") and threshold.metric.kind == "no_answer":
                message = "This query has answers, and `no_answer` is about those that have none. Remove it."
                raise Wrong(key, message)
        if query_id in self.queries:
            same = "has this id. Change one" if id else "has the same text. Give each an `id` of its own"
            message = f"The query {quote(query_id)} on line {self.queries[query_id].line} {same}."
            raise Wrong(nodes["id" if id else "query"], message)
        own = tuple(threshold for _, threshold in thresholds)
        self.queries[query_id] = Query(
            query_id,
            query,
            judgments,
            thresholds=own,
            passages=passages,
            line=node.line,
            column=node.column,
            **others,
        )

    def _check_relevant(
        self, node: Node, nodes: dict[str, Node], judgments: dict[str, Grade], *, no_answer: bool
    ) -> None:
        relevant = nodes.get("relevant")
        if no_answer:
            if relevant is not None:
                raise Wrong(relevant, "A `no_answer` query has no `relevant`. Remove one of the two.")
        elif self._as_trec_eval or any(grade > 0 for grade in judgments.values()):
            return
        elif judgments:
            advice = "Grade a relevant one, or write `no_answer: true` in place of `relevant`."
            raise Wrong(relevant or node, f"Every document here has grade 0. {advice}")
        else:
            advice = "Add `relevant: [id]`, or `no_answer: true`."
            raise Wrong(relevant or node, f"This query has no relevant document. {advice}")

    # The key `relevant` ------------------------------------------------------------------------------------------

    def _read_relevant(self, node: Node, key: str) -> tuple[dict[str, Grade], tuple[Passage, ...]]:
        """Read one id, a list of ids and passages, or grades by id."""
        if node.kind == "mapping":
            return self._read_grades(node), ()
        items = node.value if node.kind == "list" else ()
        if not any(item.kind == "mapping" for item in items):
            return dict.fromkeys(read_names(node, key), 1), ()
        judgments: dict[str, Grade] = {}
        passages: list[Passage] = []
        first: dict[str, int] = {}
        for item in items:
            passage = self._read_passage(item) if item.kind == "mapping" else None
            (name,) = read_names(item, key) if passage is None else (passage.key,)
            if passage is not None and passage.doc in judgments:
                how = f"{quote(passage.doc)} is judged as a whole on line {first[passage.doc]}, and here by passage"
                raise Wrong(item, f"{how}. Keep one of the two.")
            if name in judgments:
                what = "This passage" if passage is not None else f"The document {quote(name)}"
                raise Wrong(item, f"{what} is here twice, first on line {first[name]}. Keep one.")
            first[name] = item.line
            judgments[name] = 1 if passage is None else passage.grade
            passages += [] if passage is None else [passage]
        whole = next((passage for passage in passages if passage.doc in judgments), None)
        if whole is not None:
            message = f"{quote(whole.doc)} is judged as a whole on line {first[whole.doc]}, and by passage. Keep one of the two."
            raise Wrong(node, message)
        return judgments, tuple(passages)

    def _read_grades(self, node: Node) -> dict[str, Grade]:
        grades: dict[str, Grade] = {}
        names = {key.value for key, _ in node.value if key.kind == "text"}
        if {"doc", "text"} <= names <= self._passage_keys.keys() and any(
            value.kind == "text" and not value.value.isdecimal() for _, value in node.value
        ):
            raise Wrong(node, f"A passage stands in a list. Write `relevant: [{_PASSAGE}]`.")
        for key, value in pairs_of(node, self._problems):
            if key.is_null:
                message = f'A document is {key.value} here. Write the text that is meant, or "{key.value}" in quotes.'
                raise Wrong(key, message)
            grades[key.value] = read_grade(value, quote(key.value), negative=self._as_trec_eval)
        return grades

    def _read_passage(self, node: Node) -> Passage:
        names = [key.value for key, _ in node.value if key.kind == "text"]
        if not {"doc", "text"} & {*names}:
            advice = f"Write a mapping, `relevant: {{doc-9: 3, doc-4: 1}}`; or a passage, `{_PASSAGE}`."
            raise Wrong(node, f"A list of documents has no grades. {advice}")
        before = len(self._problems)
        values, _ = read_keys(node, self._passage_keys, "a passage", self._problems)
        if len(self._problems) > before:
            return Passage("", "")  # the query is left out
        for name, what in (("doc", "the document's id"), ("text", "the text to find in it")):
            if name not in values:
                whole = " For the whole document, write its id alone." if name == "text" else ""
                raise Wrong(node, f"This passage has no `{name}`. Write {what}.{whole}")
        passage = Passage(**values)
        if not passage.normalized:
            text = next(value for key, value in node.value if key.value == "text")
            raise Wrong(text, "`text` is empty, and would be found in every chunk. Write the text to find.")
        return passage

    # Other keys --------------------------------------------------------------------------------------------------

    def _read_params(self, node: Node, key: str) -> object:
        if node.kind != "mapping":
            raise Wrong(node, f"`{key}` is {node}. Write a mapping, such as {{lang: en}}.")
        return read_value(node, self._problems)

    def _read_own_thresholds(self, node: Node, key: str) -> list[tuple[Node, Threshold]]:
        return self.read_thresholds(node, key, for_query=True)

    def read_thresholds(
        self, node: Node, where: str, *, tag: str | None = None, for_query: bool = False
    ) -> list[tuple[Node, Threshold]]:
        """Read a mapping of metrics to limits under the key `where`; each threshold comes with the node of its metric.

        `tag` is that of the slice that they apply to, None for the whole set.
        """
        if node.kind != "mapping":
            raise Wrong(node, f"`{where}` is {node}. Write metrics and limits, such as {{ndcg@10: 0.7}}.")
        found: dict[Metric, tuple[Node, Threshold]] = {}
        for key, value in pairs_of(node, self._problems):
            if not key.value.startswith("x-"):
                self._problems.attempt(self._read_threshold, key, value, tag, found, for_query=for_query)
        return list(found.values())

    def _read_threshold(
        self,
        key: Node,
        value: Node,
        tag: str | None,
        found: dict[Metric, tuple[Node, Threshold]],
        *,
        for_query: bool,
    ) -> None:
        """Add the threshold on one metric to those that were found. Raises Wrong."""
        metric = self._read_metric(key)
        if metric in found:
            first, _ = found[metric]
            message = f"{metric} is already on line {first.line}, as {quote(first.value)}. Keep one."
            raise Wrong(key, message)
        if value.kind == "list":
            message = f"The threshold on {metric} is a list. Write a number, or {{min: 0.7, max_drop: 0.01}}."
            raise Wrong(value, message)
        limits: dict[str, Limit | None] = {}
        words = pairs_of(value, self._problems) if value.kind == "mapping" else [(None, value)]
        for at, limit in words:
            word = "min" if at is None else at.value
            if word.startswith("x-"):
                continue
            try:
                check_word(word, for_query=for_query)
            except ThresholdError as error:
                hint = " For the queries with a tag, use `slices`." if word == "tag" else ""
                raise Wrong(at or limit, f"{error}{hint}") from None
            if limit.kind not in ("text", "constant"):
                raise Wrong(limit, f"`{word}` of {metric} is {limit}. Write a number, or off.")
            try:
                limits[word] = read_limit(metric, word, limit.value, for_query=for_query)
            except ThresholdError as error:
                raise Wrong(limit, str(error)) from None
        if not limits:
            message = f"The threshold on {metric} has no limit. Write one, such as {{min: 0.7}}."
            raise Wrong(value, message)
        origin = format_place(self._problems.shown, key.line, key.column)
        found[metric] = key, Threshold(metric, limits, tag, origin)

    def _read_metric(self, key: Node) -> Metric:
        text = key.value
        if text not in self._metrics:
            if len(text) > 200:
                raise Wrong(key, f"{quote(text)} names no metric. Write for example ndcg@10.")
            try:
                self._metrics[text] = parse_metric(text, custom=self._custom)
            except MetricError as error:
                message = str(error)
                raise Wrong(key, message[:1].upper() + message[1:]) from None
        return self._metrics[text]


def _read_part(node: Node, key: str) -> str:
    """Read the document or the text of a passage."""
    what = "the document's id" if key == "doc" else "the text to find in it"
    if node.kind != "text" or node.is_null or not node.value:
        shown = node.value if node.kind == "text" and node.value else "empty" if node.kind == "text" else node
        raise Wrong(node, f"`{key}` is {shown}. Write {what}.")
    return str(node.value)


def _part(node: Node, name: str) -> Node:
    """Return the part of a value (an id, a list, grades by id) that names a document; else the whole value."""
    parts: Any = [node] if node.kind == "text" else node.value
    for part in parts:
        one: Any = part[0] if node.kind == "mapping" else part
        doc = (
            next((value for key, value in one.value if key.value == "doc"), one)
            if one.kind == "mapping"
            else one
        )
        if doc.value == name:
            return one  # type: ignore[no-any-return]  # a node
    return node
