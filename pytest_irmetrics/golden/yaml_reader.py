"""Nodes → Contents: what the keys of a YAML file mean, and every complaint about them."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, cast

import yaml

from pytest_irmetrics.golden.files import nothing_is_garbage, read_text_bytes
from pytest_irmetrics.golden.model import (
    MAX_GRADE,
    MAX_WEIGHT,
    Contents,
    Query,
    make_query,
)
from pytest_irmetrics.golden.nodes import (
    CONSTANTS,
    JSON_NUMBER,
    MappingEndEvent,
    MappingStartEvent,
    Node,
    NodeReader,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    place_of,
)
from pytest_irmetrics.golden.problems import Problems, Stop, place, raise_any
from pytest_irmetrics.metrics import MetricError, parse_metric
from pytest_irmetrics.passages import Passage
from pytest_irmetrics.thresholds import (
    Limit,
    Threshold,
    ThresholdError,
    check_word,
    quoted,
    read_limit,
    read_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_irmetrics.metrics import Grade, Metric

__all__ = ["USUAL_KEYS", "SetReader", "line_of", "parse_yaml", "read_yaml"]


_SET_KEYS = frozenset(("version", "name", "relevance_level", "thresholds", "slices", "queries"))
_QUERY_KEYS = frozenset(
    (
        "id",
        "query",
        "relevant",
        "forbidden",
        "tags",
        "weight",
        "params",
        "thresholds",
        "no_answer",
        "xfail",
        "note",
    )
)
USUAL_KEYS = frozenset(("id", "query", "relevant", "tags"))
_USUAL = (False, (), 1.0, None, (), None, None)  # what the other keys are where none of them is written
_PASSAGE_KEYS = frozenset(("doc", "text", "grade"))
_OTHER_NAMES = {
    "text": "query",
    "question": "query",
    "documents": "relevant",
    "docs": "relevant",
    "expected": "relevant",
    "judgments": "relevant",
    "qrels": "relevant",
    "label": "tags",
    "labels": "tags",
    "comment": "note",
}
_GRADES: dict[str, Grade] = {str(grade): grade for grade in range(MAX_GRADE + 1)}


def read_yaml(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> Contents:
    """Read a golden set; messages call the file `shown`. Raises GoldenSetError."""
    return parse_yaml(read_text_bytes(path, shown), path, shown, custom_metrics)


def parse_yaml(data: bytes, path: Path, shown: str, custom_metrics: Collection[str] = ()) -> Contents:
    """Read a golden set from a file's content, without a BOM. Raises GoldenSetError."""
    with nothing_is_garbage():
        return SetReader(path, shown, custom_metrics).read(data)


class SetReader:
    """Reads one file, and collects what is wrong with it."""

    _demanding = True
    """Whether each query must have a relevant document or say `no_answer`, and no grade is below 0."""

    def __init__(self, path: Path, shown: str, custom_metrics: Collection[str]) -> None:
        self._path = path
        self._shown = shown
        self._custom = custom_metrics
        self._problems = Problems(shown)
        self._report = self._problems.report
        self._queries: dict[str, Query] = {}
        self._some = False  # whether the list of queries holds any, good or bad
        self._least: Grade = MAX_GRADE  # the best grade of the query whose best is lowest
        self._textless: list[Node] = []
        self._metrics: dict[str, Metric] = {}
        self._limited: list[
            tuple[Node, Threshold]
        ] = []  # of the set and its slices, each with its metric's key
        self._slices: dict[str, Node] = {}
        self._top: list[Node] = []  # the file's keys and values so far, after the event that begins them

    def read(self, data: bytes) -> Contents:
        """Return what the file holds. Raises GoldenSetError."""
        contents = None
        with suppress(Stop):
            contents = self._read(data)
        raise_any(self._problems)
        return cast("Contents", contents)  # whatever stops the reading is reported

    def _read(self, data: bytes) -> Contents:
        nodes = NodeReader(data, self._report)
        complete = False
        try:
            self._read_document(nodes)
            complete = True
        except yaml.YAMLError as error:
            nodes.explain(error)
        if not self._top:
            raise Stop
        if len(self._top) % 2 == 0:  # broken off between a key and its value
            self._top.pop()
        fields = self._fields(self._top, _SET_KEYS, "a golden set")
        contents = self._read_set(fields)
        if complete:
            self._check_whole(fields, contents)
        return contents

    # Problems --------------------------------------------------------------------------------------------------

    def _problem(self, node: Node, message: str) -> None:
        line, column = place_of(node)
        self._report(line, column, message)

    # Structure -------------------------------------------------------------------------------------------------

    def _read_document(self, nodes: NodeReader) -> None:
        """Read all nodes: queries at once, what else stands at the top into `_top`."""
        root = nodes.begin()
        if root is None or (root.__class__ is ScalarEvent and not root.value):
            self._report(1, 1, "The file is empty. Write `queries:` and, below it, a list of queries.")
            raise Stop
        if root.__class__ is not MappingStartEvent:
            what = "a list" if root.__class__ is SequenceStartEvent else "text"
            advice = "Write `queries:` above the list of queries."
            self._problem(
                root, f"A golden set is a mapping with the key `queries`, and this is {what}. {advice}"
            )
            raise Stop
        self._refuse_properties(root, "golden set as a whole")
        top = self._top
        top.append(root)
        while (event := nodes.next()).__class__ is not MappingEndEvent:
            key = nodes.compose(event)
            top.append(key)
            event = nodes.next()
            if event.__class__ is not SequenceStartEvent or key.__class__ is list or key.value != "queries":
                top.append(nodes.compose(event))
                continue
            self._refuse_properties(event, "list of queries")
            top.append([event])
            compose_mapping, read_query = nodes.compose_mapping, self._read_query
            while (event := nodes.next()).__class__ is not SequenceEndEvent:
                self._some = True
                if event.__class__ is not MappingStartEvent:
                    self._read_query_node(nodes.compose(event))
                    continue
                fields, keys = compose_mapping(event)
                usual = len(fields) == len(keys) and fields.keys() <= USUAL_KEYS
                if not usual:
                    self._report_keys(keys, _QUERY_KEYS, "a query")
                read_query(event, fields, usual=usual)
        nodes.end()

    def _refuse_properties(self, event: Node, what: str) -> None:
        """Report the anchor or tag of what is read as it comes, so that no alias could stand for it."""
        if event.anchor is not None or event.tag is not None:
            self._problem(event, f"The {what} takes no anchor and no tag. Remove it.")

    def _fields(self, node: Node, known: frozenset[str], what: str) -> dict[str | None, Node]:
        """Return the values of a mapping by key, and report the keys that are not `known`."""
        keys = node[1::2]
        self._report_keys(keys, known, what)
        return {
            key.value: value
            for key, value in zip(keys, node[2::2], strict=True)
            if key.__class__ is ScalarEvent
        }

    def _report_keys(self, keys: Iterable[Node], known: frozenset[str], what: str) -> None:
        first: dict[str, Node] = {}
        for key in keys:
            if self._is_new(key, first) and key.value not in known and not key.value.startswith("x-"):
                self._problem(key, _unknown_key(key.value, known, what))

    def _pairs(self, node: Node) -> Iterator[tuple[Node, Node]]:
        """Yield the keys and values of a mapping, each key once and all of them text; what is not, is reported."""
        first: dict[str, Node] = {}
        for key, value in zip(node[1::2], node[2::2], strict=True):
            if self._is_new(key, first):
                yield key, value

    def _is_new(self, key: Node, first: dict[str, Node]) -> bool:
        """Report a key that is no text, or among those before; else add it to them."""
        if key.__class__ is not ScalarEvent:
            self._problem(key, f"A key is text, and this is {_kind(key)}. Write `key: value`.")
        elif key.value == "<<" and not key.style:
            self._problem(
                key, "Merge keys (`<<`) are not read. Write the keys out, or quote a text that is `<<`."
            )
        elif key.value in first:
            line, _ = place_of(first[key.value])
            self._problem(key, f"{quoted(key.value)} is here twice, first on line {line}. Keep one.")
        elif not key.value:
            self._problem(key, "A key is missing before the `:`. Write it.")
        else:
            first[key.value] = key
            return True
        return False

    # Queries ---------------------------------------------------------------------------------------------------

    def _read_query_node(self, node: Node) -> None:
        """Read a query that was composed before, or is none."""
        if node.__class__ is list and node[0].__class__ is MappingStartEvent:
            self._read_query(node[0], self._fields(node, _QUERY_KEYS, "a query"), usual=False)
        else:
            self._problem(
                node, f"A query is a mapping, and this is {_kind(node)}. Write `query: …` and `relevant: …`."
            )

    def _read_query(self, node: Node, fields: Mapping[str | None, Node], *, usual: bool) -> None:
        """Read one query from the values of its keys; `node` is the event that begins it.

        `usual` says that all of them are in `USUAL_KEYS`.
        """
        get = fields.get
        value = get("query")
        text = None if value is None else self._text(value, "query")
        id_node = get("id")
        query_id = text if id_node is None else self._text(id_node, "id")
        if value is None and _all_known(fields):
            self._textless.append(node)
            if id_node is None:
                self._problem(node, "This query has no `query`. Write the text to search for.")

        relevant = get("relevant")
        passages: list[tuple[Passage, Node]] = []
        judgments: dict[str, Grade] | None = {} if relevant is None else self._judgments(relevant, passages)
        value = get("tags")
        tags = () if value is None else self._names(value, "tags", "tag")
        no_answer, forbidden, weight, params, thresholds, xfail, note = (
            _USUAL if usual else self._unusual(get, relevant, judgments, passages)
        )
        if no_answer:
            if relevant is not None:
                self._problem(relevant, "A `no_answer` query has no `relevant`. Remove one of the two.")
        elif judgments:
            best = max(judgments.values())
            if best <= 0 and self._demanding:
                advice = "Grade a relevant one, or write `no_answer: true` in place of `relevant`."
                self._problem(relevant, f"Every document here has grade 0. {advice}")
            elif best < self._least:
                self._least = best
        elif self._demanding and judgments is not None and (relevant is not None or _all_known(fields)):
            at = node if relevant is None else relevant
            self._problem(
                at, "This query has no relevant document. Add `relevant: [id]`, or `no_answer: true`."
            )

        if query_id is None:
            return
        first = self._queries.get(query_id)
        if first is not None:
            same = (
                "has the same text. Give each an `id` of its own"
                if id_node is None
                else "has this id. Change one"
            )
            self._problem(
                id_node or get("query"), f"The query {quoted(query_id)} on line {first.line} {same}."
            )
            return
        mark = node.start_mark
        self._queries[query_id] = make_query(
            query_id,
            text,
            {} if judgments is None else judgments,
            forbidden,
            tags,
            weight,
            {} if params is None else params,
            thresholds,
            no_answer,
            xfail,
            note,
            mark.line + 1,
            mark.column + 1,
            tuple([passage for passage, _ in passages]),
        )

    def _unusual(
        self,
        get: Callable[[str], Node | None],
        relevant: Node | None,
        judgments: Mapping[str, Grade] | None,
        passages: Sequence[tuple[Passage, Node]],
    ) -> tuple[
        bool, tuple[str, ...], float, dict[str, object] | None, tuple[Threshold, ...], str | None, str | None
    ]:
        """Read the keys that few queries have; as in `_USUAL`, where none of them is there."""
        value = get("no_answer")
        no_answer = value is not None and self._boolean(value, "no_answer")
        value = get("forbidden")
        forbidden = () if value is None else self._names(value, "forbidden", "document")
        by_passage = {passage.doc: item for passage, item in passages}
        for doc_id in forbidden:
            if doc_id in by_passage:
                how, first = "judged by passage", by_passage[doc_id]
            elif judgments and judgments.get(doc_id, 0) > 0:
                how, first = "relevant", _find(relevant, doc_id)
            else:
                continue
            self._problem(
                _find(value, doc_id),
                f"{quoted(doc_id)} is forbidden here, and {how} on line {place_of(first)[0]}. Remove it from one of the two.",
            )
        value = get("weight")
        weight = 1.0 if value is None else self._weight(value)
        value = get("params")
        params = None if value is None else self._params(value)
        value = get("thresholds")
        thresholds = () if value is None else self._query_thresholds(value, no_answer=no_answer)
        value = get("xfail")
        xfail = None if value is None else self._reason(value)
        value = get("note")
        note = None if value is None or value.__class__ is list else value.value
        return no_answer, forbidden, weight, params, thresholds, xfail, note

    def _judgments(self, node: Node, passages: list[tuple[Passage, Node]]) -> dict[str, Grade] | None:
        """Read `relevant`: one id, a list of ids and passages, or grades by id. None if anything is wrong with it.

        Passages are added to `passages` too, each with its node.
        """
        if node.__class__ is ScalarEvent:
            names = self._names(node, "relevant", "document")
            return dict.fromkeys(names, 1) if names else None
        judgments: dict[str, Grade] = {}
        # Plain loops that leave at what is unusual: comprehensions and zip take more than twice as long here.
        parts = iter(node)
        if next(parts).__class__ is SequenceStartEvent:
            for part in parts:
                if part.__class__ is not ScalarEvent:
                    break
                judgments[part.value] = 1
            if len(judgments) + 1 == len(node) and "" not in judgments:
                return judgments
            if any(_is_passage(part) for part in islice(node, 1, None)):
                return self._with_passages(node, passages)
            self._names(node, "relevant", "document")
            return {} if len(node) == 1 else None
        for part in parts:
            value = next(parts)
            if part.__class__ is not ScalarEvent or value.__class__ is not ScalarEvent or value.style:
                break
            grade = _GRADES.get(value.value)
            if grade is None:
                break
            judgments[part.value] = grade
        if 2 * len(judgments) + 1 == len(node) and "" not in judgments and "<<" not in judgments:
            return judgments
        return self._graded(node)

    def _graded(self, node: Node) -> dict[str, Grade] | None:
        """Read grades by id, with every complaint."""
        if (
            {"doc", "text"}
            <= {key.value for key in node[1::2] if key.__class__ is ScalarEvent}
            <= _PASSAGE_KEYS
        ):
            self._problem(node, f"A passage stands in a list. Write `relevant: [{_PASSAGE}]`.")
            return None
        before = len(self._problems)
        judgments: dict[str, Grade] = {}
        for key, value in self._pairs(node):
            grade = self._grade(quoted(key.value), value)
            if grade is not None:
                judgments[key.value] = grade
        return judgments if len(self._problems) == before else None

    def _with_passages(self, node: Node, passages: list[tuple[Passage, Node]]) -> dict[str, Grade] | None:
        """Read a list of ids and passages."""
        before = len(self._problems)
        # The ids apart, so that what is wrong with them is said as it is of a list of ids alone.
        ids = self._names([item for item in node if not _is_passage(item)], "relevant", "document")
        judgments: dict[str, Grade] = dict.fromkeys(ids, 1)
        first: dict[str, Node] = {item.value: item for item in node[1:] if item.__class__ is ScalarEvent}
        for item in node[1:]:
            passage = self._passage(item) if _is_passage(item) else None
            if passage is None:
                continue
            key = passage.key
            if passage.doc in judgments:
                self._problem(
                    item,
                    f"{quoted(passage.doc)} is judged as a whole on line {place_of(first[passage.doc])[0]}, and here by "
                    "passage. Keep one of the two.",
                )
            elif key in first:
                self._problem(
                    item, f"This passage is here twice, first on line {place_of(first[key])[0]}. Keep one."
                )
            else:
                first[key] = item
                passages.append((passage, item))
        judgments |= {passage.key: passage.grade for passage, _ in passages}
        return judgments if len(self._problems) == before else None

    def _passage(self, node: Node) -> Passage | None:
        """Read one passage; what is wrong with it is reported."""
        before = len(self._problems)
        fields = self._fields(node, _PASSAGE_KEYS, "a passage")
        values: dict[str, str] = {}
        for name, what in (("doc", "the document's id"), ("text", "the text to find in it")):
            value = fields.get(name)
            if value is None:
                if _all_known(fields, _PASSAGE_KEYS):
                    self._problem(node, f"This passage has no `{name}`. Write {what}.")
            elif value.__class__ is not ScalarEvent:
                self._problem(value, f"`{name}` is {_kind(value)}. Write {what}.")
            else:
                values[name] = value.value
        grade = self._grade("the passage", fields["grade"]) if "grade" in fields else 1
        if len(self._problems) > before or grade is None:
            return None
        passage = Passage(values["doc"], values["text"], grade)
        if not passage.doc:
            self._problem(fields["doc"], "`doc` is empty. Write the document's id.")
        elif not passage.folded:
            self._problem(
                fields["text"], "`text` is empty, and would be found in every chunk. Write the text to find."
            )
        else:
            return passage
        return None

    def _grade(self, name: str, node: Node) -> Grade | None:
        if node.__class__ is not ScalarEvent:
            self._problem(
                node, f"The grade of {name} is {_kind(node)}. Write a number from 0 to {MAX_GRADE}."
            )
            return None
        text = node.value
        number = None if node.style else read_number(text)
        if number is not None and (number >= 0 or not self._demanding) and number <= MAX_GRADE:
            return number
        if number is not None and number < 0:
            message = (
                f"The grade of {name} is {_cut(text)}, below 0. Write 0 for a document that is not relevant."
            )
        elif number is not None:
            message = f"The grade of {name} is {_cut(text)}, above {MAX_GRADE}. Write a number from 0 to {MAX_GRADE}."
        elif node.style and read_number(text) is not None:
            message = f"The grade of {name} is text, {quoted(text)}. Take the quotes off."
        elif not text:
            message = f"The grade of {name} is missing. Write a number from 0 to {MAX_GRADE}."
        else:
            message = (
                f"The grade of {name} is {quoted(text)}, which is no number. Write one from 0 to {MAX_GRADE}."
            )
        self._problem(node, message)
        return None

    # Values ----------------------------------------------------------------------------------------------------

    def _text(self, node: Node, key: str) -> str | None:
        if node.__class__ is ScalarEvent:
            text: str = node.value
            if text.strip():
                return text
            self._problem(node, f"`{key}` is empty. Write its text, or remove the key.")
        else:
            self._problem(node, f"`{key}` is {_kind(node)}. Write one text.")
        return None

    def _names(self, node: Node, key: str, what: str) -> tuple[str, ...]:
        """Read a list of ids or tags, or one of them; what is wrong with one of them is reported."""
        if node.__class__ is ScalarEvent:
            if not node.value:
                self._problem(node, f"`{key}` is empty. Name a {what}, or remove the key.")
                return ()
            if ", " in node.value and not node.style:
                advice = "Write a list, [a, b]; or quote it, if the comma is part of it."
                self._problem(node, f"`{key}` is one {what} here, {quoted(node.value)}. {advice}")
                return ()
            return (node.value,)
        if node[0].__class__ is MappingStartEvent:
            self._problem(node, f"`{key}` is a mapping. Write a list, [a, b].")
            return ()
        if len(node) == 2 and node[1].__class__ is ScalarEvent and node[1].value:
            return (node[1].value,)
        names: dict[str, Node] = {}
        for item in islice(node, 1, None):
            if item.__class__ is not ScalarEvent:
                self._problem(item, _not_a_name(item, key, what))
            elif not item.value:
                self._problem(item, f"A {what} is missing here. Write it, or remove its place in the list.")
            elif item.value in names:
                line, _ = place_of(names[item.value])
                self._problem(
                    item, f"The {what} {quoted(item.value)} is here twice, first on line {line}. Keep one."
                )
            else:
                names[item.value] = item
        return tuple(names)

    def _boolean(self, node: Node, key: str) -> bool:
        if node.__class__ is ScalarEvent and not node.style and node.value in ("true", "false"):
            return bool(node.value == "true")
        self._problem(node, f"`{key}` is {_shown_value(node)}. Write true or false, without quotes.")
        return False

    def _weight(self, node: Node) -> float:
        number = read_number(node.value) if node.__class__ is ScalarEvent and not node.style else None
        if number is not None and 0 < number <= MAX_WEIGHT:
            return float(number)
        self._problem(
            node, f"`weight` is {_shown_value(node)}. Write a number above 0 and up to {MAX_WEIGHT:,.0f}."
        )
        return 1.0

    def _reason(self, node: Node) -> str | None:
        reason = self._text(node, "xfail")
        if (
            reason is not None
            and not node.style
            and reason.lower() in ("true", "false", "null", "~", "yes", "no")
        ):
            self._problem(node, f"`xfail` is {reason}. Write why it is known to be bad, such as a ticket.")
        return reason

    def _params(self, node: Node) -> dict[str, object]:
        if node.__class__ is list and node[0].__class__ is MappingStartEvent:
            return {key.value: self._param(value) for key, value in self._pairs(node)}
        self._problem(node, f"`params` is {_shown_value(node)}. Write a mapping, such as {{lang: en}}.")
        return {}

    def _param(self, node: Node) -> object:
        """Return a JSON value; recurses no deeper than nodes are read."""
        if node.__class__ is list:
            if node[0].__class__ is SequenceStartEvent:
                return [self._param(item) for item in islice(node, 1, None)]
            return {key.value: self._param(value) for key, value in self._pairs(node)}
        text: str = node.value
        if node.style:
            return text
        if text in CONSTANTS:
            return CONSTANTS[text]
        if not text:
            self._problem(node, 'A parameter has no value. Write null, "" or another value.')
        if JSON_NUMBER.fullmatch(text) is None:
            return text
        number = read_number(text)
        if number is None:
            self._problem(
                node,
                f"The number {_cut(text)} is too large. Write a smaller one, or quote it to make it text.",
            )
        return number

    # Thresholds ------------------------------------------------------------------------------------------------

    def _query_thresholds(self, node: Node, *, no_answer: bool) -> tuple[Threshold, ...]:
        thresholds = self._thresholds(node, "thresholds", for_query=True)
        for key, threshold in thresholds:
            if no_answer and threshold.metric.kind != "no_answer":
                self._problem(
                    key, f"{threshold.metric} is not computed for a `no_answer` query. Use `no_answer`."
                )
            elif not no_answer and threshold.metric.kind == "no_answer":
                self._problem(
                    key, "This query has answers, and `no_answer` is about those that have none. Remove it."
                )
        return tuple(threshold for _, threshold in thresholds)

    def _thresholds(
        self, node: Node, where: str, *, tag: str | None = None, for_query: bool = False
    ) -> list[tuple[Node, Threshold]]:
        """Read a mapping of metrics to limits; each threshold comes with its metric's key."""
        if node.__class__ is not list or node[0].__class__ is not MappingStartEvent:
            self._problem(
                node,
                f"`{where}` is {_shown_value(node)}. Write metrics and limits, such as {{ndcg@10: 0.7}}.",
            )
            return []
        thresholds: list[tuple[Node, Threshold]] = []
        first: dict[str, Node] = {}
        for key, value in self._pairs(node):
            if key.value.startswith("x-"):
                continue
            metric = self._metric(key)
            if metric is None:
                continue
            if metric.name in first:
                line, _ = place_of(first[metric.name])
                written = quoted(first[metric.name].value)
                self._problem(key, f"{metric} is already on line {line}, as {written}. Keep one.")
                continue
            first[metric.name] = key
            limits = self._limits(metric, value, for_query=for_query)
            if limits:
                line, column = place_of(key)
                thresholds.append((key, Threshold(metric, limits, tag, place(self._shown, line, column))))
        return thresholds

    def _metric(self, key: Node) -> Metric | None:
        text = key.value
        metric = self._metrics.get(text)
        if metric is not None:
            return metric
        if len(text) > 200:
            self._problem(key, f"{quoted(text)} names no metric. Write for example ndcg@10.")
            return None
        try:
            metric = self._metrics[text] = parse_metric(text, custom=self._custom)
        except MetricError as error:
            message = str(error)
            self._problem(key, message[:1].upper() + message[1:])
        return metric

    def _limits(self, metric: Metric, node: Node, *, for_query: bool) -> dict[str, Limit | None]:
        words: Iterable[tuple[Node, str, Node]]
        if node.__class__ is ScalarEvent:
            words = [(node, "min", node)]
        elif node[0].__class__ is MappingStartEvent:
            words = [
                (key, key.value, value) for key, value in self._pairs(node) if not key.value.startswith("x-")
            ]
            if len(node) == 1:
                self._problem(
                    node, f"The threshold on {metric} has no limit. Write one, such as {{min: 0.7}}."
                )
        else:
            self._problem(
                node, f"The threshold on {metric} is a list. Write a number, or {{min: 0.7, max_drop: 0.01}}."
            )
            return {}
        limits: dict[str, Limit | None] = {}
        for key, word, value in words:
            try:
                check_word(word, for_query=for_query)
            except ThresholdError as error:
                hint = " For the queries with a tag, use `slices`." if word == "tag" else ""
                self._problem(key, f"{error}{hint}")
                continue
            if value.__class__ is not ScalarEvent:
                self._problem(value, f"`{word}` of {metric} is {_kind(value)}. Write a number, or off.")
                continue
            try:
                limits[word] = read_limit(metric, word, value.value)
            except ThresholdError as error:
                self._problem(value, str(error))
        return limits

    # The set ---------------------------------------------------------------------------------------------------

    def _read_set(self, fields: Mapping[str | None, Node]) -> Contents:
        version = fields.get("version")
        if version is not None and not (version.__class__ is ScalarEvent and version.value == "1"):
            self._problem(
                version,
                f"`version` is {_shown_value(version)}, and this reads version 1. Write 1, or update.",
            )
        name = self._text(fields["name"], "name") if "name" in fields else None
        level: Grade = self._level(fields["relevance_level"]) if "relevance_level" in fields else 1
        if "thresholds" in fields:
            self._limited += self._thresholds(fields["thresholds"], "thresholds")
        if "slices" in fields:
            self._read_slices(fields["slices"])
        queries = fields.get("queries")
        if queries is not None:
            if queries.__class__ is list and queries[0].__class__ is SequenceStartEvent:
                for node in islice(queries, 1, None):  # none, unless the list came from an alias
                    self._some = True
                    self._read_query_node(node)
            else:
                self._problem(
                    queries, f"`queries` is {_shown_value(queries)}. Write a list, each query after a `- `."
                )
        return Contents(
            self._queries,
            self._shown,
            self._path.stem if name is None else name,
            level,
            tuple(threshold for _, threshold in self._limited),
        )

    def _level(self, node: Node) -> Grade:
        number = read_number(node.value) if node.__class__ is ScalarEvent and not node.style else None
        if number is not None and 0 < number <= MAX_GRADE:
            return number
        message = f"`relevance_level` is {_shown_value(node)}. Write the lowest grade that counts, above 0 and up to {MAX_GRADE}."
        self._problem(node, message)
        return 1

    def _read_slices(self, node: Node) -> None:
        if node.__class__ is not list or node[0].__class__ is not MappingStartEvent:
            self._problem(
                node,
                f"`slices` is {_shown_value(node)}. Write thresholds by tag, such as {{billing: {{mrr: 0.8}}}}.",
            )
            return
        for key, value in self._pairs(node):
            self._slices[key.value] = key
            self._limited += self._thresholds(value, key.value, tag=key.value)

    def _check_whole(self, fields: Mapping[str | None, Node], contents: Contents) -> None:
        """Report what shows only once every query is known."""
        queries = fields.get("queries")
        if queries is None:
            self._report(1, 1, "There are no `queries`. Write the key and, below it, a list of queries.")
        elif not self._some and queries.__class__ is list and queries[0].__class__ is SequenceStartEvent:
            self._problem(queries, "There is no query. Write `- query: …` with `relevant: …`.")
        if self._textless and any(query.text is not None for query in contents.queries.values()):
            for node in self._textless:
                self._problem(node, "This query has no `query`, and others do. Write the text to search for.")
        if contents.relevance_level > self._least:
            self._check_level(contents)
        tags = {tag for query in contents.queries.values() for tag in query.tags} if self._slices else set()
        for tag, key in self._slices.items():
            if tag not in tags:
                close = get_close_matches(tag, tags, n=1) if len(tag) <= 60 and len(tags) <= 200 else []
                advice = f"Did you mean {quoted(close[0])}?" if close else "Tag some, or remove the slice."
                self._problem(key, f"No query carries the tag {quoted(tag)}. {advice}")
        self._check_gates(contents)

    def _check_level(self, contents: Contents) -> None:
        level = contents.relevance_level
        for query in contents.queries.values():
            best = max(query.judgments.values(), default=0)
            if 0 < best < level and query.line is not None and query.column is not None:
                advice = f"Grade one {level} or higher, or lower `relevance_level`."
                message = (
                    f"No document reaches the relevance level of {level}; the best grade is {best}. {advice}"
                )
                self._report(query.line, query.column, message)

    def _check_gates(self, contents: Contents) -> None:
        """Report thresholds on metrics that are computed for none of their queries."""
        if not self._limited or not contents.queries:
            return
        with_metric: dict[bool, set[str | None]] = {
            False: set(),
            True: set(),
        }  # tags, by whether a query has no answer
        for query in contents.queries.values():
            with_metric[query.no_answer].add(None)
            with_metric[query.no_answer].update(query.tags)
        for key, threshold in self._limited:
            metric, tag = threshold.metric, threshold.tag
            wanted = metric.kind == "no_answer"
            if metric.kind == "latency" or tag in with_metric[wanted] or tag not in with_metric[not wanted]:
                continue
            whose = "" if tag is None else f" with the tag {quoted(tag)}"
            if wanted:
                message = (
                    f"No query{whose} is a `no_answer` one, so this gates nothing. Remove it, or add one."
                )
            else:
                message = (
                    f"Every query{whose} is a `no_answer` one, so {metric} gates nothing. Use `no_answer`."
                )
            self._problem(key, message)


_PASSAGE = "{doc: handbook, text: thirty days after purchase, grade: 2}"


def _cut(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"


def _kind(node: Node) -> str:
    """Name what a node is, where one of another kind is wanted."""
    if node.__class__ is not list:
        return "text" if node.value or node.style else "empty"
    return "a list" if node[0].__class__ is SequenceStartEvent else "a mapping"


def _shown_value(node: Node) -> str:
    """Show a node, where another value or kind is wanted."""
    if node.__class__ is list or not (node.value or node.style):
        return _kind(node)
    return f"the text {quoted(node.value)}" if node.style else quoted(node.value)


def _unknown_key(name: str, known: frozenset[str], what: str) -> str:
    close = get_close_matches(name.lower(), known, n=1) if len(name) <= 40 else []
    other = _OTHER_NAMES.get(name.lower())
    if close:
        advice = f"Did you mean `{close[0]}`?"
    elif other in known:
        advice = f"Did you mean `{other}`?"
    else:
        advice = f"Its keys are {', '.join(sorted(known))}; one for people begins with x-."
    return f"{quoted(name)} is no key of {what}. {advice}"


def _all_known(fields: Mapping[str | None, Node], known: frozenset[str] = _QUERY_KEYS) -> bool:
    """Whether no key is misspelt, so that what seems to be missing is not there under another name."""
    return all(name is not None and (name in known or name.startswith("x-")) for name in fields)


def _is_passage(node: Node) -> bool:
    """Whether a node is meant as a passage, with all of its keys or without some."""
    return (
        node.__class__ is list
        and node[0].__class__ is MappingStartEvent
        and any(key.__class__ is ScalarEvent and key.value in ("doc", "text") for key in node[1::2])
    )


def _not_a_name(node: Node, key: str, what: str) -> str:
    if key == "relevant" and node[0].__class__ is MappingStartEvent:
        return (
            "A list of documents has no grades. Write a mapping, `relevant: {doc-9: 3, doc-4: 1}`; or a passage, "
            f"`{_PASSAGE}`."
        )
    return f"A {what} is text, and this is {_kind(node)}. Write `{key}: [a, b]`."


def _scalars(node: Node) -> Iterable[Node]:
    """Return a value that is one name, a list of names or a mapping by name as the scalars that are the names."""
    if node.__class__ is not list:
        return (node,)
    return node[1:] if node[0].__class__ is SequenceStartEvent else node[1::2]


def _find(node: Node, name: str) -> Node:
    """Return the part of a value that is this name, or the passage of this key; or else the value itself."""
    return next(
        (
            part
            for part in _scalars(node)
            if (part.value if part.__class__ is ScalarEvent else _passage_key(part)) == name
        ),
        node,
    )


def _passage_key(node: Node) -> str | None:
    fields = {
        key.value: value.value
        for key, value in zip(node[1::2], node[2::2], strict=False)
        if key.__class__ is ScalarEvent and value.__class__ is ScalarEvent
    }
    return Passage(fields["doc"], fields["text"]).key if {"doc", "text"} <= fields.keys() else None


def line_of(doc_id: str, query: Query, lines: Sequence[str]) -> int | None:
    """Find the line that judges or forbids a document in a query, of which `lines` begin with the first; or None."""
    if not lines or query.line is None or query.column is None:
        return None
    before = query.column - 1
    first = " " * before + lines[0][before:]  # so that the columns of what follows still fit
    try:
        nodes = NodeReader("\n".join([first, *lines[1:]]).encode(), lambda *_: None)
        event = nodes.begin()
        if event.__class__ is not MappingStartEvent:
            return None
        root = nodes.compose(event)
    except (yaml.YAMLError, Stop):
        return None
    for key, value in zip(root[1::2], root[2::2], strict=True):
        if key.__class__ is ScalarEvent and key.value in ("relevant", "forbidden"):
            found = _find(value, doc_id)
            if found is not value or (found.__class__ is ScalarEvent and found.value == doc_id):
                return place_of(found)[0] + query.line - 1
    return None
