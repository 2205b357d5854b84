"""Read queries from nodes, of whatever format: a table of keys, readers of values, and what several keys say together.

A reader is a function of a node and its key, which returns the value or raises Wrong; one place collects what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from math import inf
from typing import Any

from pytest_irmetrics.base import numbers
from pytest_irmetrics.base.wording import cut, listed, quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Passage, Query
from pytest_irmetrics.golden.source import Node, Source, Wrong, format_place
from pytest_irmetrics.metrics import Grade, Metric, MetricError, parse_metric
from pytest_irmetrics.thresholds import WORDS, Threshold, ThresholdError, read_limit

Reader = Callable[[Node, str], Any]


_CONSTANTS = {"true": True, "false": False, "null": None}
_PASSAGE = "{doc: handbook, text: thirty days after purchase, grade: 2}"


# Mappings


def read_keys(
    node: Node, readers: Mapping[str, Reader], what: str, source: Source
) -> tuple[dict[str, Any], dict[str, Node]]:
    """Read a mapping by the reader of each key; return what was read, and the nodes of the values, by key. Raises Wrong.

    What is wrong with a key, or a value, is added to the source, and None stands for such a value; keys that begin with
    `x-` are for people.
    """
    values: dict[str, Any] = {}
    nodes: dict[str, Node] = {}
    for key, value in _keys_of(node, source, what.capitalize(), "{query: refund policy, relevant: [doc-9]}"):
        name = key.value
        if name in readers:
            nodes[name] = value
            values[name] = source.attempt(readers[name], value, name)
        else:
            close = get_close_matches(name.lower(), readers)
            advice = f"Its keys are {', '.join(sorted(readers))}; one for people begins with x-."
            advice = f"Did you mean `{close[0]}`?" if close else advice
            source.add(
                key.place, f"{quote(name)} is not a key of {what}. {advice}{_comma_advice((key, value))}"
            )
    return values, nodes


def _comma_advice(*pairs: tuple[Node, Node]) -> str:
    """Return advice on quotes where a key has no colon: in `{…}` it is what follows the comma of an unquoted text."""
    ends = ((value, (key.place[0], (key.place[1] or 0) + len(key.value))) for key, value in pairs)
    has_none = any(value.plain and not value.value and value.place == end for value, end in ends)
    return " Put a text that contains a comma in quotes." if has_none else ""


def _keys_of(node: Node, source: Source, what: str = "", example: str = "") -> Iterator[tuple[Node, Node]]:
    """Yield the keys and values of a mapping as `pairs_of` does, without the keys that are for people."""
    pairs = pairs_of(node, source, what, example)
    return ((key, value) for key, value in pairs if not key.value.startswith("x-"))


def pairs_of(node: Node, source: Source, what: str = "", example: str = "") -> Iterator[tuple[Node, Node]]:
    """Yield the keys and values of a mapping; a key that is repeated or no text is reported instead.

    Raises Wrong for what is no mapping, with what it should be and an example.
    """
    if node.kind != "mapping":
        raise Wrong(node.place, f"{what} is {node}. Write a mapping, such as {example}.")
    first: dict[str, int | None] = {}
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
            first[name] = key.place[0]
            yield key, value
            continue
        source.add(key.place, message)


# Values


def read_text(node: Node, key: str) -> str:
    """Read a text that is not blank."""
    text = _read_name(node, key)
    if not text.strip():
        raise Wrong(node.place, f"`{key}` is empty. Write its text, or remove the key.")
    return text


def _read_name(node: Node, key: str) -> str:
    """Read a text that is not empty: an id, a tag."""
    if node.kind != "text":
        raise Wrong(node.place, f"`{key}` is {node} here. Write a text, or where several may stand a list.")
    if node.is_null:
        advice = f'Write the text that is meant, or "{node.value}" in quotes.'
        raise Wrong(node.place, f"`{key}` is {node.value} here. {advice}")
    if not node.value:
        raise Wrong(node.place, f"`{key}` is empty here. Write a text, or remove it.")
    return str(node.value)


def _read_boolean(node: Node, key: str) -> bool:
    if node.plain and node.value in ("true", "false"):
        return bool(node.value == "true")
    raise Wrong(node.place, f"`{key}` is {node}. Write true or false, without quotes.")


def _read_reason(node: Node, key: str) -> str:
    reason = read_text(node, key)
    if reason.lower() in ("true", "false", "yes", "no"):
        raise Wrong(node.place, f"`{key}` is {reason}. Write why it is known to be bad, such as a ticket.")
    return reason


def _read_number(node: Node, what: str, low: float, high: float) -> int | float:
    """Read a number, a grade or weight, from `low`, which is 0, above 0 or without a bound, to `high`; `what` names it in the message."""
    number = numbers.read_number(node.value) if node.kind == "text" else None
    if number is not None and node.plain and low <= number <= high:
        return number
    bounds = {0: "from 0", numbers.MIN_WEIGHT: "above 0 and up", -inf: "up"}[low]
    advice = "" if number is None or node.plain else " Take the quotes off."
    raise Wrong(node.place, f"{what} is {node}. Write a number {bounds} to {high:,.0f}.{advice}")


def read_level(node: Node, key: str) -> Grade:
    """Read a relevance level: above 0, up to 1000."""
    return _read_number(node, f"`{key}`", numbers.MIN_WEIGHT, numbers.MAX_GRADE)


# Queries


class QueryReader:
    """Reads the queries of one source into `queries`, by id; what is wrong with them is added to the source.

    With `as_trec_eval`, as its files are read, grades may be below 0, and a query need not have a relevant document.
    """

    def __init__(self, source: Source, *, as_trec_eval: bool = False) -> None:
        self.queries: dict[str, Query] = {}
        self._left_out: dict[str, None] = {}
        """Ids of the queries with neither a judgment nor an empty list of them."""
        self._source = source
        self._as_trec_eval = as_trec_eval
        self._keys: dict[str, Reader] = {
            "id": read_text,
            "query": read_text,
            "relevant": self._read_relevant,
            "forbidden": lambda node, key: tuple(self._items_by_name(node, key)),
            "tags": lambda node, key: tuple(self._items_by_name(node, key)),
            "weight": lambda node, key: float(
                _read_number(node, f"`{key}`", numbers.MIN_WEIGHT, numbers.MAX_WEIGHT)
            ),
            "params": self._read_params,
            "thresholds": lambda node, key: self.read_thresholds(node, key, of_query=True),
            "no_answer": _read_boolean,
            "xfail": _read_reason,
            "note": lambda node, _: node.value if node.kind == "text" else None,
        }
        """All but the first three are fields of `Query`; cli/golden.schema.json describes each."""

    def read(self, node: Node) -> None:
        """Read one query; one that has problems is left out."""
        query = self._source.attempt(self._read_query, node)
        if query is not None:
            self.queries[query.id] = query

    def require_texts(self) -> None:
        """Report queries without a text beside others that have one."""
        without = [query for query in self.queries.values() if query.text is None]
        for query in without if len(without) < len(self.queries) else ():
            message = f"The query {quote(query.id)} has no text, and others do. Write the text to search for."
            self._source.add((query.line, query.column), message)

    def judged_set(self, also_left_out: Iterable[str] = ()) -> GoldenSet:
        """Return the golden set of the queries that have a judgment, or an empty list of judgments; as trec_eval does, leave out the others.

        Those of the ids `also_left_out` are left out, too. Raises GoldenSetError.
        """
        source = self._source
        self.require_texts()
        judged = [query for query in self.queries.values() if query.id not in self._left_out]
        if not judged and not source.problems:
            source.add((1, 1), "There is no query with a judgment. Write one a line.")
        source.raise_any()
        left_out = (*self._left_out, *(id_ for id_ in also_left_out if id_ not in self.queries))
        return GoldenSet(judged, path=source.named, shown=source.shown, name=source.name, left_out=left_out)

    def _read_query(self, node: Node) -> Query | None:
        """Return a query; None where the value of a key is wrong. Raises Wrong for what they say together."""
        before = len(self._source.problems)
        values, nodes = read_keys(node, self._keys, "a query", self._source)
        own_id, text = values.pop("id", None), values.pop("query", None)
        query_id, no_answer = own_id or text, values.get("no_answer", False)
        if query_id in self.queries:
            message = f"The query {quote(query_id)} is on line {self.queries[query_id].line} already. Give each an `id` of its own."
            self._source.add(nodes["id" if own_id else "query"].place, message)
        if len(self._source.problems) > before:
            return None
        judgments, passages = values.pop("relevant", ({}, ()))
        if query_id is None:
            raise Wrong(node.place, "This query has no `query`. Write the text to search for.")
        if no_answer and "relevant" in nodes:
            message = "A `no_answer` query has no `relevant`. Remove one of the two."
            raise Wrong(nodes["relevant"].place, message)
        unjudged = not judgments and "relevant" in nodes and nodes["relevant"].kind == "list"
        must_answer = not (no_answer or unjudged or self._as_trec_eval)
        if must_answer and max(judgments.values(), default=0) <= 0:
            message = "This query has no relevant document. Grade one above 0; or write `no_answer: true` in place of `relevant`, or `relevant: []` where nobody has judged it yet."
            raise Wrong(nodes.get("relevant", node).place, message)
        relevant = {doc_id for doc_id, grade in judgments.items() if grade > 0}
        relevant |= {passage.doc for passage in passages}
        for doc_id in values.get("forbidden", ()):
            if doc_id in relevant:
                message = f"{quote(doc_id)} is forbidden here, and relevant. Remove it from one of the two."
                raise Wrong(nodes["forbidden"].place, message)
        if not (judgments or no_answer or unjudged):
            self._left_out[query_id] = None
        line, column = node.place
        return Query(query_id, text, judgments, passages=passages, line=line, column=column, **values)

    # Keys

    def _read_relevant(self, node: Node, key: str) -> tuple[dict[str, Grade], tuple[Passage, ...]]:
        """Read one id, a list of ids and passages, or grades by id."""
        if node.kind == "mapping":
            return self._read_grades(node, key), ()
        passages: dict[str, Passage] = {}

        def name_of(item: Node, key: str) -> str:
            if item.kind != "mapping":
                return _read_name(item, key)
            passage = self._read_passage(item)
            passages.setdefault(passage.key, passage)
            return passage.key

        items = self._items_by_name(node, key, name_of)
        for name, passage in passages.items():
            if passage.doc in items:
                how = f"judged as a whole on line {items[passage.doc].place[0]}, and here by passage"
                raise Wrong(items[name].place, f"{quote(passage.doc)} is {how}. Keep one of the two.")
        grades = {name: passages[name].grade if name in passages else 1 for name in items}
        return grades, tuple(passages.values())

    def _items_by_name(self, node: Node, key: str, name_of: Reader = _read_name) -> dict[str, Node]:
        """Return the items of a list, or a single one, by their names; one without a name, or with that of another, is reported and left out."""
        found: dict[str, Node] = {}
        for item in node.value if node.kind == "list" else [node]:
            name = self._source.attempt(name_of, item, key)
            if name is not None and found.setdefault(name, item) is not item:
                message = f"{quote(name)} is here twice, first on line {found[name].place[0]}. Keep one."
                self._source.add(item.place, message)
        return found

    def _read_grades(self, node: Node, key: str) -> dict[str, Grade]:
        grades: dict[str, Grade] = {}
        for doc, grade in pairs_of(node, self._source):
            doc_id = self._source.attempt(_read_name, doc, key) or ""
            grades[doc_id] = self._source.attempt(self._read_grade, grade, quote(doc_id)) or 0
        return grades

    def _read_passage(self, node: Node) -> Passage:
        pairs = [*_keys_of(node, self._source)]
        fields = {key.value: value for key, value in pairs}
        if not {"doc", "text"} <= fields.keys() <= {"doc", "text", "grade"}:
            advice = f"Write `{_PASSAGE}`; for grades of documents, `relevant: {{doc-9: 3, doc-4: 1}}`."
            has = listed(list(fields), 5, quote)
            said = f"An item of a list is an id or a passage; this has {has}."
            raise Wrong(node.place, f"{said} {advice}{_comma_advice(*pairs)}")
        grade = self._read_grade(fields["grade"], "the passage") if "grade" in fields else 1
        passage = Passage(_read_name(fields["doc"], "doc"), read_text(fields["text"], "text"), grade)
        if not passage.normalized:
            message = "`text` is empty, and would be found in every chunk. Write the text to find."
            raise Wrong(fields["text"].place, message)
        return passage

    def _read_grade(self, node: Node, of: str) -> Grade:
        grade = _read_number(node, f"The grade of {of}", -inf if self._as_trec_eval else 0, numbers.MAX_GRADE)
        return numbers.as_whole_number(grade)  # pandas writes 3.0 in a column with gaps

    def _read_params(self, node: Node, key: str) -> dict[str, object]:
        pairs = pairs_of(node, self._source, f"`{key}`", "{lang: en}")
        return {name.value: self._read_value(value) for name, value in pairs}

    def _read_value(self, node: Node) -> object:
        """Return the JSON value of a node; the recursion goes no deeper than nodes, which is MAX_DEPTH."""
        if node.kind == "list":
            return [self._read_value(part) for part in node.value]
        if node.kind == "mapping":
            return {key.value: self._read_value(value) for key, value in pairs_of(node, self._source)}
        if node.plain and node.value in _CONSTANTS:
            return _CONSTANTS[node.value]
        if node.plain and not node.value:
            raise Wrong(node.place, 'A parameter has no value. Write null, "" or another value.')
        if not node.plain or numbers.JSON_NUMBER.fullmatch(node.value) is None:
            return node.value
        number = numbers.read_number(node.value)
        if number is None:
            advice = "Write a smaller one, or quote it to make it text."
            raise Wrong(node.place, f"The number {cut(node.value, 30)} is too large. {advice}")
        return number

    def read_thresholds(
        self, node: Node, where: str, *, tag: str | None = None, of_query: bool = False
    ) -> tuple[Threshold, ...]:
        """Read a mapping of metrics to limits under the key `where`: of the whole set, of a slice by its tag, or of a query."""
        found: dict[Metric, Threshold] = {}
        read = partial(self._read_threshold, found, tag=tag, of_query=of_query)
        for key, value in _keys_of(node, self._source, f"`{where}`", "{ndcg@10: 0.7}"):
            self._source.attempt(read, key, value)
        return tuple(found.values())

    def _read_threshold(
        self, found: dict[Metric, Threshold], key: Node, value: Node, *, tag: str | None, of_query: bool
    ) -> None:
        """Add to those found the threshold on a metric: its limits, a mapping or a number, which is `min`."""
        at, limits = key, {}  # `at` is what an error is about
        min_alone = [(replace(value, value="min"), value)]
        try:
            metric = parse_metric(cut(key.value, 100), custom=self._source.custom)
            for name, limit in _keys_of(value, self._source) if value.kind == "mapping" else min_alone:
                word = name.value
                if limit.kind != "text":
                    raise Wrong(limit.place, f"`{word}` of {metric} is {limit}. Write a number, or off.")
                at = limit if word in WORDS else name
                limits[word] = read_limit(metric, word, limit.value, for_query=of_query)
        except (MetricError, ThresholdError) as error:
            message = str(error)
            raise Wrong(at.place, message[:1].upper() + message[1:]) from None
        if not limits:
            message = f"The threshold on {metric} has no limit. Write one, such as {{min: 0.7}}."
            raise Wrong(value.place, message)
        threshold = Threshold(metric, limits, tag, format_place(self._source.shown, *key.place))
        if found.setdefault(metric, threshold) is not threshold:
            raise Wrong(key.place, f"{metric} is here twice, first at {found[metric].origin}. Keep one.")
