"""Read queries from nodes of YAML or JSON: a table of keys, readers of values, and what several keys say together.

A reader is a function of a node and its key, which returns the value or raises Wrong; one place collects what is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_irmetrics.base.numbers import (
    JSON_NUMBER,
    MAX_GRADE,
    MAX_WEIGHT,
    MIN_WEIGHT,
    as_whole_number,
    read_number,
)
from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.errors import Wrong, format_place, raise_any
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Passage, Query
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.thresholds import WORDS, Threshold, ThresholdError, read_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_irmetrics.golden.errors import Problems
    from pytest_irmetrics.golden.nodes import Node
    from pytest_irmetrics.metrics import Grade, Metric
    from pytest_irmetrics.thresholds import Limit

    Reader = Callable[[Node, str], Any]
    Judged = tuple[dict[str, Grade], tuple[Passage, ...]]
    PlacedThresholds = list[tuple[Node, Threshold]]
    """Each with the node of its metric."""

T = TypeVar("T")

_CONSTANTS = {"true": True, "false": False, "null": None}
_SYNONYMS = {
    **dict.fromkeys(("text", "question"), "query"),
    **dict.fromkeys(("documents", "docs", "expected", "judgments", "qrels"), "relevant"),
    **dict.fromkeys(("label", "labels"), "tags"),
    "comment": "note",
}
_LONGEST_METRIC = 200
_PASSAGE = "{doc: handbook, text: thirty days after purchase, grade: 2}"


# Mappings


def read_keys(
    node: Node, readers: Mapping[str, Reader], what: str, problems: Problems
) -> tuple[dict[str, Any], dict[str, Node]]:
    """Read a mapping by the reader of each key; return what was read, and the nodes of the values, by key.

    What is wrong with a key, or a value, goes to `problems`, and None stands for such a value; keys that begin with `x-` are
    for people.
    """
    values: dict[str, Any] = {}
    nodes: dict[str, Node] = {}
    for key, value in pairs_of(node, problems):
        name = key.value
        if name in readers:
            nodes[name] = value
            values[name] = problems.attempt(readers[name], value, name)
        elif not name.startswith("x-"):
            close = get_close_matches(name.lower()[:40], readers, n=1) or [_SYNONYMS.get(name.lower(), "")]
            advice = f"Its keys are {', '.join(sorted(readers))}; one for people begins with x-."
            advice = f"Did you mean `{close[0]}`?" if close[0] in readers else advice
            problems.add(Wrong(key, f"{quote(name)} is no key of {what}. {advice}"))
    return values, nodes


def pairs_of(node: Node, problems: Problems) -> Iterator[tuple[Node, Node]]:
    """Yield the keys and values of a mapping; a key that is repeated or no text is reported instead."""
    first: dict[str, int] = {}
    for key, value in node.value:
        name = key.value
        if key.kind != "text":
            message = f"A key is text, and this is {key}. Write `key: value`."
        elif name == "<<" and key.plain:
            message = "Merge keys (`<<`) are not read. Write the keys out, or quote a text that is `<<`."
        elif not name:
            message = "A key is missing before the `:`. Write it."
        elif name in first:
            message = f"{quote(name)} is here twice, first on line {first[name]}. Keep one."
        else:
            first[name] = key.line
            yield key, value
            continue
        problems.add(Wrong(key, message))


# Values


def read_text(node: Node, key: str, *, may_be_blank: bool = False) -> str:
    """Read a text that is not empty."""
    if node.kind != "text":
        raise Wrong(node, f"`{key}` is {node}. Write one text.")
    _refuse_null(node, f"`{key}` is {node.value}")
    text: str = node.value
    if not text or not (may_be_blank or text.strip()):
        raise Wrong(node, f"`{key}` is empty. Write its text, or remove the key.")
    return text


def _read_name(node: Node, key: str) -> str:
    if node.kind != "text":
        raise Wrong(node, f"`{key}` holds texts, and this is {node}. Write `{key}: [a, b]`.")
    if not node.value:
        raise Wrong(node, f"A text of `{key}` is missing here. Write it, or remove its place in the list.")
    _refuse_null(node, f"An item of `{key}` is {node.value} here")
    name: str = node.value
    return name


def _refuse_null(node: Node, said: str) -> None:
    if node.is_null:
        raise Wrong(node, f'{said}. Write the text that is meant, or "{node.value}" in quotes.')


def _items_by_name(node: Node, key: str, name_of: Reader = _read_name) -> dict[str, Node]:
    """Return the items of a list, or a single one, by their names, which are different."""
    if node.kind == "mapping":
        raise Wrong(node, f"`{key}` is a mapping. Write a list, [a, b].")
    if node.kind == "text" and not node.value:
        raise Wrong(node, f"`{key}` is empty. Name one, or remove the key.")
    found: dict[str, Node] = {}
    for item in node.value if node.kind == "list" else [node]:
        name = name_of(item, key)
        if name in found:
            raise Wrong(item, f"{quote(name)} is here twice, first on line {found[name].line}. Keep one.")
        found[name] = item
    return found


def _read_names(node: Node, key: str) -> tuple[str, ...]:
    return tuple(_items_by_name(node, key))


def _read_tags(node: Node, key: str) -> tuple[str, ...]:
    if node.kind == "text" and node.plain and ", " in node.value:  # several in one text are likely a mistake
        advice = "Write a list, [a, b]; or quote it, if the comma is part of it."
        raise Wrong(node, f"`{key}` is one tag here, {node}. {advice}")
    return _read_names(node, key)


def _read_boolean(node: Node, key: str) -> bool:
    if node.plain and node.value in ("true", "false"):
        return bool(node.value == "true")
    raise Wrong(node, f"`{key}` is {node}. Write true or false, without quotes.")


def _read_reason(node: Node, key: str) -> str:
    reason = read_text(node, key)
    if node.plain and reason.lower() in ("true", "false", "yes", "no"):
        raise Wrong(node, f"`{key}` is {reason}. Write why it is known to be bad, such as a ticket.")
    return reason


def _read_note(node: Node, key: str) -> str | None:  # noqa: ARG001 - as every reader
    return node.value if node.kind == "text" else None  # anything else is for people alone


def _read_number(node: Node, what: str, low: float, high: float, advice: str) -> Grade:
    """Read a number from `low` to `high`; `what` it is and the advice are for the message."""
    number = read_number(node.value) if node.kind == "text" else None
    if number is not None and not node.plain:
        advice = "Take the quotes off."
    elif number is not None and low <= number <= high:
        return number
    raise Wrong(node, f"{what} is {node}. {advice}")


def _read_weight(node: Node, key: str) -> float:
    advice = f"Write a number above 0 and up to {MAX_WEIGHT:,.0f}."
    return float(_read_number(node, f"`{key}`", MIN_WEIGHT, MAX_WEIGHT, advice))


def read_level(node: Node, key: str) -> Grade:
    """Read a relevance level: above 0, up to 1000."""
    advice = f"Write the lowest grade that counts, above 0 and up to {MAX_GRADE}."
    return _read_number(node, f"`{key}`", MIN_WEIGHT, MAX_GRADE, advice)


# Queries


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
        self.keys: dict[str, Reader] = {
            "id": read_text,
            "query": read_text,
            "relevant": self._read_relevant,
            "forbidden": _items_by_name,
            "tags": _read_tags,
            "weight": _read_weight,
            "params": self._read_params,
            "thresholds": lambda node, key: self.read_thresholds(node, key, for_query=True),
            "no_answer": _read_boolean,
            "xfail": _read_reason,
            "note": _read_note,
        }
        self._passage_keys: dict[str, Reader] = {
            "doc": lambda node, key: read_text(node, key, may_be_blank=True),
            "text": read_text,
            "grade": lambda node, _: self._read_grade(node, "the passage"),
        }

    def read(self, node: Node) -> None:
        """Read one query; one that has problems is left out."""
        if node.kind != "mapping":
            kind = "text" if node.kind == "text" and node.value else node
            message = f"A query is a mapping, and this is {kind}. Write `query: …` and `relevant: …`."
            self._problems.add(Wrong(node, message))
            return
        before = len(self._problems)
        values, nodes = read_keys(node, self.keys, "a query", self._problems)
        if len(self._problems) == before:
            query = self._problems.attempt(self._query, node, nodes, **values)
            if query is not None:
                self.queries[query.id] = query

    def require_texts(self) -> None:
        """Report queries without a text beside others that have one."""
        with_text = any(query.text is not None for query in self.queries.values())
        for query in self.queries.values():
            if with_text and query.text is None:
                message = "This query has no `query`, and others do. Write the text to search for."
                self._problems.add(Wrong((query.line or 1, query.column or 1), message))

    def judged_set(self, path: Path, name: str, nothing: str, *, others: Iterable[str] = ()) -> GoldenSet:
        """Return the golden set of the queries with a judgment, as trec_eval has it. Raises GoldenSetError.

        All other queries, and those of the ids `others`, are left out; `nothing` is the problem of a file where all are.
        """
        if not len(self._problems):
            self.require_texts()
        judged = [query for query in self.queries.values() if query.judgments or query.no_answer]
        if not judged and not len(self._problems):
            self._problems.add(Wrong((1, 1), nothing))
        raise_any(self._problems)
        kept = {query.id for query in judged}
        left_out = tuple(
            query_id for query_id in {**self.queries, **dict.fromkeys(others)} if query_id not in kept
        )
        return GoldenSet(judged, path=path, shown=self._problems.shown, name=name, left_out=left_out)

    def _query(
        self,
        node: Node,
        nodes: dict[str, Node],
        *,
        id: str | None = None,  # noqa: A002 - the key's name
        query: str | None = None,
        relevant: Judged = ({}, ()),
        forbidden: Mapping[str, Node] | tuple[()] = (),
        thresholds: PlacedThresholds | tuple[()] = (),
        **others: Any,
    ) -> Query:
        """Return the query of the values of its keys. Raises Wrong for what they say together."""
        judgments, passages = relevant
        no_answer = others.get("no_answer", False)
        query_id = id or query
        if query_id is None:
            raise Wrong(node, "This query has no `query`. Write the text to search for.")
        if no_answer and "relevant" in nodes:
            raise Wrong(nodes["relevant"], "A `no_answer` query has no `relevant`. Remove one of the two.")
        if not no_answer and not self._as_trec_eval and max(judgments.values(), default=0) <= 0:
            message = "This query has no relevant document. Grade one above 0, or write `no_answer: true` in place of `relevant`."
            raise Wrong(nodes.get("relevant", node), message)
        relevant_ids = {passage.doc for passage in passages}
        relevant_ids |= {doc_id for doc_id, grade in judgments.items() if grade > 0}
        for doc_id, item in dict(forbidden).items():
            if doc_id in relevant_ids:
                message = f"{quote(doc_id)} is forbidden here, and relevant. Remove it from one of the two."
                raise Wrong(item, message)
        for key, threshold in thresholds:
            check_reach(key, threshold.metric, {no_answer}, "here")
        if query_id in self.queries:
            same = "has this id. Change one" if id else "has the same text. Give each an `id` of its own"
            message = f"The query {quote(query_id)} on line {self.queries[query_id].line} {same}."
            raise Wrong(nodes["id" if id else "query"], message)
        own = tuple(threshold for _, threshold in thresholds)
        others |= {"thresholds": own, "passages": passages, "line": node.line, "column": node.column}
        return Query(query_id, query, judgments, tuple(forbidden), **others)

    # Keys

    def _read_relevant(self, node: Node, key: str) -> Judged:
        """Read one id, a list of ids and passages, or grades by id."""
        if node.kind == "mapping":
            return self._read_grades(node), ()
        passages: dict[str, Passage] = {}

        def name_of(item: Node, key: str) -> str:
            if item.kind != "mapping":
                return _read_name(item, key)
            passage = self._read_passage(item)
            passages.setdefault(passage.key, passage)
            return passage.key

        items = _items_by_name(node, key, name_of)
        for name, passage in passages.items():
            if passage.doc in items:
                how = f"judged as a whole on line {items[passage.doc].line}, and here by passage"
                raise Wrong(items[name], f"{quote(passage.doc)} is {how}. Keep one of the two.")
        grades = {name: passages[name].grade if name in passages else 1 for name in items}
        return grades, tuple(passages.values())

    def _read_grades(self, node: Node) -> dict[str, Grade]:
        names = {key.value: value for key, value in node.value if key.kind == "text"}
        if {"doc", "text"} <= names.keys() <= self._passage_keys.keys() and any(
            value.kind == "text" and not value.value.isdecimal() for value in names.values()
        ):
            raise Wrong(node, f"A passage stands in a list. Write `relevant: [{_PASSAGE}]`.")
        grades: dict[str, Grade] = {}
        for key, value in pairs_of(node, self._problems):
            _refuse_null(key, f"A document is {key.value} here")
            grades[key.value] = self._problems.attempt(self._read_grade, value, quote(key.value)) or 0
        return grades

    def _read_grade(self, node: Node, of: str) -> Grade:
        low, words = (-inf, "up") if self._as_trec_eval else (0, "from 0")
        advice = f"Write a number {words} to {MAX_GRADE}."
        grade = _read_number(node, f"The grade of {of}", low, MAX_GRADE, advice)
        return as_whole_number(grade)  # pandas writes 3.0 in a column with gaps

    def _read_passage(self, node: Node) -> Passage:
        if not {"doc", "text"} & {key.value for key, _ in node.value if key.kind == "text"}:
            advice = f"Write a mapping, `relevant: {{doc-9: 3, doc-4: 1}}`; or a passage, `{_PASSAGE}`."
            raise Wrong(node, f"A list of documents has no grades. {advice}")
        before = len(self._problems)
        values, nodes = read_keys(node, self._passage_keys, "a passage", self._problems)
        if len(self._problems) > before:
            return Passage("", "")  # the query is left out
        if "doc" not in nodes:
            raise Wrong(node, "This passage has no `doc`. Write the document's id.")
        if "text" not in nodes:
            advice = "Write the text to find in it. For the whole document, write its id alone."
            raise Wrong(node, f"This passage has no `text`. {advice}")
        passage = Passage(**values)
        if not passage.normalized:
            message = "`text` is empty, and would be found in every chunk. Write the text to find."
            raise Wrong(nodes["text"], message)
        return passage

    def _read_params(self, node: Node, key: str) -> object:
        if node.kind != "mapping":
            raise Wrong(node, f"`{key}` is {node}. Write a mapping, such as {{lang: en}}.")
        return self._read_value(node)

    def _read_value(self, node: Node) -> object:
        """Return the JSON value of a node; the recursion goes no deeper than nodes, which is MAX_DEPTH."""
        if node.kind == "list":
            return [self._read_value(part) for part in node.value]
        if node.kind == "mapping":
            return {key.value: self._read_value(value) for key, value in pairs_of(node, self._problems)}
        if node.plain and node.value in _CONSTANTS:
            return _CONSTANTS[node.value]
        if node.plain and not node.value:
            raise Wrong(node, 'A parameter has no value. Write null, "" or another value.')
        if not node.plain or JSON_NUMBER.fullmatch(node.value) is None:
            return node.value
        number = read_number(node.value)
        if number is None:
            advice = "Write a smaller one, or quote it to make it text."
            raise Wrong(node, f"The number {cut(node.value)} is too large. {advice}")
        return number

    def read_thresholds(
        self, node: Node, where: str, *, tag: str | None = None, for_query: bool = False
    ) -> PlacedThresholds:
        """Read a mapping of metrics to limits under the key `where`.

        `tag` is that of the slice that they apply to, None for the whole set.
        """
        if node.kind != "mapping":
            raise Wrong(node, f"`{where}` is {node}. Write metrics and limits, such as {{ndcg@10: 0.7}}.")
        found: dict[Metric, tuple[Node, Threshold]] = {}
        for key, value in pairs_of(node, self._problems):
            if key.value.startswith("x-"):
                continue
            threshold = self._problems.attempt(self._read_threshold, key, value, tag, for_query=for_query)
            if threshold is None:
                continue
            first, _ = found.setdefault(threshold.metric, (key, threshold))
            if first is not key:
                said = f"{threshold.metric} is already on line {first.line}, as {quote(first.value)}"
                self._problems.add(Wrong(key, f"{said}. Keep one."))
        return list(found.values())

    def _read_threshold(self, key: Node, value: Node, tag: str | None, *, for_query: bool) -> Threshold:
        if len(key.value) > _LONGEST_METRIC:
            raise Wrong(key, f"{quote(key.value)} names no metric. Write for example ndcg@10.")
        metric = _at(key, parse_metric, key.value, custom=self._custom)
        limits: dict[str, Limit | None] = {}
        by_word = value.kind == "mapping"
        pairs = pairs_of(value, self._problems) if by_word else [(replace(value, value="min"), value)]
        for name, limit in pairs:
            word = name.value
            if word == "tag":
                raise Wrong(name, "`tag` is no word here. For the queries with a tag, use `slices`.")
            if not word.startswith("x-"):
                if limit.kind != "text":
                    raise Wrong(limit, f"`{word}` of {metric} is {limit}. Write a number, or off.")
                limits[word] = _at(
                    limit if word in WORDS else name,
                    read_limit,
                    metric,
                    word,
                    limit.value,
                    for_query=for_query,
                )
        if not limits:
            raise Wrong(value, f"The threshold on {metric} has no limit. Write one, such as {{min: 0.7}}.")
        return Threshold(metric, limits, tag, format_place(self._problems.shown, key.line, key.column))


def _at(node: Node, read: Callable[..., T], *args: Any, **options: Any) -> T:
    """Return what a function of metrics or thresholds returns; what it refuses is wrong at the node."""
    try:
        return read(*args, **options)
    except (MetricError, ThresholdError) as error:
        message = str(error)
        raise Wrong(node, message[:1].upper() + message[1:]) from None


def check_reach(key: Node, metric: Metric, no_answer: Collection[bool], where: str) -> None:
    """Raise Wrong for a threshold, at its key, on a metric that none of its queries has.

    `no_answer` says of these queries whether some have no answer, and whether some have one; `where` they are is for the message.
    """
    about = "without" if metric.kind == "no_answer" else "with"
    if metric.kind != "latency" and no_answer and (about == "without") not in no_answer:
        advice = "Remove it." if about == "without" else "Use `no_answer`."
        raise Wrong(key, f"{metric} is about queries {about} an answer, and there is none {where}. {advice}")
