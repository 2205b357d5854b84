"""Read one query after the other from its YAML or JSON nodes, and report what is wrong with each."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.wording import cut, quote
from pytest_irmetrics.golden.nodes import (
    NULLS,
    ScalarEvent,
    SequenceStartEvent,
    is_mapping,
    is_null,
    kind_of,
    place_of,
)
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.values import (
    PASSAGE_EXAMPLE,
    PASSAGE_KEYS,
    QUERY_KEYS,
    all_known,
    check_keys,
    fields_of,
    null_document_message,
    pairs_of,
    read_boolean,
    read_names,
    read_params,
    read_reason,
    read_text,
    read_weight,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_irmetrics.golden.nodes import Node, NodeProblems
    from pytest_irmetrics.golden.read_thresholds import ThresholdReader
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold


_COMMON_KEYS = frozenset(("id", "query", "relevant", "tags"))
"""The only keys of nearly all queries."""
_RARE_DEFAULTS = (False, (), 1.0, None, (), None, None)
"""What `QueryReader._read_rare_keys` returns for a query with `_COMMON_KEYS` alone."""

# Looking a grade up takes a fraction of the time of parsing it.
_GRADES: dict[str, Grade] = {str(grade): grade for grade in range(MAX_GRADE + 1)}


_ODD_KEYS = frozenset(("", "<<", *NULLS))
"""Ids that are an error where they are not quoted."""


class QueryReader:
    """Reads the queries of one file into `queries`.

    With `require_relevant`, each query must have a relevant document or say `no_answer`, and no grade may be below 0;
    without it, trec_eval's conventions apply.
    """

    queries: dict[str, Query]
    """The queries read so far, by id."""
    textless: list[Node]
    """The first event of each query that has no text."""
    lowest_best: Grade
    """The best grade of the query whose best grade is lowest; queries without a relevant document do not count."""

    def __init__(
        self, problems: NodeProblems, thresholds: ThresholdReader, *, require_relevant: bool = True
    ) -> None:
        self._problems = problems
        self._thresholds = thresholds
        self._require_relevant = require_relevant
        self.queries = {}
        self.textless = []
        self.lowest_best = MAX_GRADE

    def read_node(self, node: Node) -> None:
        """Read a query from its node; one that is no mapping is reported."""
        if is_mapping(node):
            fields: dict[str | None, Node] = {
                key.value: value
                for key, value in zip(node[1::2], node[2::2], strict=True)
                if key.__class__ is ScalarEvent
            }
            self.read(node[0], node[1::2], fields)
        else:
            self._problems.at(
                node,
                f"A query is a mapping, and this is {kind_of(node)}. Write `query: …` and `relevant: …`.",
            )

    def read(self, event: Node, keys: Sequence[Node], fields: Mapping[str | None, Node]) -> None:
        """Read a query whose mapping begins with `event`: the nodes of its keys, and its values by key."""
        get, problems = fields.get, self._problems
        only_common = len(fields) == len(keys) and fields.keys() <= _COMMON_KEYS
        if not only_common:
            check_keys(keys, QUERY_KEYS, "a query", problems)
        value = get("query")
        text = None if value is None else read_text(value, "query", problems)
        id_node = get("id")
        query_id = text if id_node is None else read_text(id_node, "id", problems)
        if value is None and all_known(fields):
            self.textless.append(event)
            if id_node is None:
                problems.at(event, "This query has no `query`. Write the text to search for.")

        relevant = get("relevant")
        passages: list[tuple[Passage, Node]] = []
        judgments: dict[str, Grade] | None = (
            {} if relevant is None else self._read_relevant(relevant, passages)
        )
        value = get("tags")
        tags = () if value is None else read_names(value, "tags", "tag", problems)
        no_answer, forbidden, weight, params, thresholds, xfail, note = (
            _RARE_DEFAULTS if only_common else self._read_rare_keys(get, relevant, judgments, passages)
        )
        if judgments and not no_answer and (best := max(judgments.values())) > 0:
            self.lowest_best = min(self.lowest_best, best)
        else:
            self._check_without_relevant(event, fields, judgments, no_answer=no_answer)

        if query_id is None:
            return
        first = self.queries.get(query_id)
        if first is not None:
            same = (
                "has the same text. Give each an `id` of its own"
                if id_node is None
                else "has this id. Change one"
            )
            problems.at(id_node or get("query"), f"The query {quote(query_id)} on line {first.line} {same}.")
            return
        mark = event.start_mark
        self.queries[query_id] = Query(  # by position, as keywords would take a third longer
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
            tuple([passage for passage, _ in passages]) if passages else (),
        )

    def _check_without_relevant(
        self,
        event: Node,
        fields: Mapping[str | None, Node],
        judgments: Mapping[str, Grade] | None,
        *,
        no_answer: bool,
    ) -> None:
        """Report what is wrong with `relevant`, or its absence, of a query that has no relevant document.

        `judgments` is None where they could not be read, which has been reported.
        """
        relevant = fields.get("relevant")
        if no_answer:
            if relevant is not None:
                self._problems.at(relevant, "A `no_answer` query has no `relevant`. Remove one of the two.")
        elif not self._require_relevant:
            return
        elif judgments:
            advice = "Grade a relevant one, or write `no_answer: true` in place of `relevant`."
            self._problems.at(relevant, f"Every document here has grade 0. {advice}")
        elif judgments is not None and (relevant is not None or all_known(fields)):
            at = event if relevant is None else relevant
            self._problems.at(
                at, "This query has no relevant document. Add `relevant: [id]`, or `no_answer: true`."
            )

    def _read_rare_keys(
        self,
        get: Callable[[str], Node | None],
        relevant: Node | None,
        judgments: Mapping[str, Grade] | None,
        passages: Sequence[tuple[Passage, Node]],
    ) -> tuple[
        bool, tuple[str, ...], float, dict[str, object] | None, tuple[Threshold, ...], str | None, str | None
    ]:
        """Read all keys but `_COMMON_KEYS`: no_answer, forbidden, weight, params, thresholds, xfail and note."""
        problems = self._problems
        value = get("no_answer")
        no_answer = value is not None and read_boolean(value, "no_answer", problems)
        value = get("forbidden")
        forbidden = () if value is None else read_names(value, "forbidden", "document", problems)
        by_passage = {passage.doc: item for passage, item in passages}
        for doc_id in forbidden:
            if doc_id in by_passage:
                how, first = "judged by passage", by_passage[doc_id]
            elif judgments and judgments.get(doc_id, 0) > 0:
                how, first = "relevant", find_name(relevant, doc_id)
            else:
                continue
            problems.at(
                find_name(value, doc_id),
                f"{quote(doc_id)} is forbidden here, and {how} on line {place_of(first)[0]}. Remove it from one of the two.",
            )
        value = get("weight")
        weight = 1.0 if value is None else read_weight(value, problems)
        value = get("params")
        params = None if value is None else read_params(value, problems)
        value = get("thresholds")
        thresholds = () if value is None else self._thresholds.read_own(value, no_answer=no_answer)
        value = get("xfail")
        xfail = None if value is None else read_reason(value, problems)
        value = get("note")
        note = None if value is None or value.__class__ is list else value.value
        return no_answer, forbidden, weight, params, thresholds, xfail, note

    # The key `relevant` ----------------------------------------------------------------------------------------

    def _read_relevant(self, node: Node, passages: list[tuple[Passage, Node]]) -> dict[str, Grade] | None:
        """Read one id, a list of ids and passages, or grades by id. Returns None if anything is wrong with it.

        Passages are added to `passages` too, each with its node.
        """
        if node.__class__ is ScalarEvent:
            names = read_names(node, "relevant", "document", self._problems)
            return dict.fromkeys(names, 1) if names else None
        judgments: dict[str, Grade] = {}
        # Plain loops that break at anything unusual: comprehensions and zip take more than twice as long here.
        parts = iter(node)
        if next(parts).__class__ is SequenceStartEvent:
            for part in parts:
                if part.__class__ is not ScalarEvent:
                    break
                judgments[part.value] = 1
            if len(judgments) + 1 == len(node) and _ODD_KEYS.isdisjoint(judgments):
                return judgments
            if any(_is_passage(part) for part in islice(node, 1, None)):
                return self._read_names_and_passages(node, passages)
            before = len(self._problems)
            names = read_names(node, "relevant", "document", self._problems)
            return dict.fromkeys(names, 1) if len(self._problems) == before else None
        for part in parts:
            value = next(parts)
            if part.__class__ is not ScalarEvent or value.__class__ is not ScalarEvent or value.style:
                break
            grade = _GRADES.get(value.value)
            if grade is None:
                break
            judgments[part.value] = grade
        if 2 * len(judgments) + 1 == len(node) and _ODD_KEYS.isdisjoint(judgments):
            return judgments
        return self._read_grades(node)

    def _read_grades(self, node: Node) -> dict[str, Grade] | None:
        """Read grades by id, and report what is wrong with each."""
        names = {key.value for key in node[1::2] if key.__class__ is ScalarEvent}
        if {"doc", "text"} <= names <= PASSAGE_KEYS:
            self._problems.at(node, f"A passage stands in a list. Write `relevant: [{PASSAGE_EXAMPLE}]`.")
            return None
        before = len(self._problems)
        judgments: dict[str, Grade] = {}
        for key, value in pairs_of(node, self._problems):
            if is_null(key):
                self._problems.at(key, null_document_message(key.value))
            grade = self._read_grade(quote(key.value), value)
            if grade is not None:
                judgments[key.value] = grade
        return judgments if len(self._problems) == before else None

    def _read_names_and_passages(
        self, node: Node, passages: list[tuple[Passage, Node]]
    ) -> dict[str, Grade] | None:
        """Read a list of ids and passages."""
        before = len(self._problems)
        # The ids by themselves, so that the messages about them are those of a list of ids.
        ids = read_names(
            [item for item in node if not _is_passage(item)], "relevant", "document", self._problems
        )
        judgments: dict[str, Grade] = dict.fromkeys(ids, 1)
        first: dict[str, Node] = {item.value: item for item in node[1:] if item.__class__ is ScalarEvent}
        for item in node[1:]:
            passage = self._read_passage(item) if _is_passage(item) else None
            if passage is None:
                continue
            key = passage.key
            if passage.doc in judgments:
                self._problems.at(
                    item,
                    f"{quote(passage.doc)} is judged as a whole on line {place_of(first[passage.doc])[0]}, and here by "
                    "passage. Keep one of the two.",
                )
            elif key in first:
                self._problems.at(
                    item, f"This passage is here twice, first on line {place_of(first[key])[0]}. Keep one."
                )
            else:
                first[key] = item
                passages.append((passage, item))
        judgments |= {passage.key: passage.grade for passage, _ in passages}
        return judgments if len(self._problems) == before else None

    def _read_passage(self, node: Node) -> Passage | None:
        """Read one passage; what is wrong with it is reported."""
        before = len(self._problems)
        fields = fields_of(node, PASSAGE_KEYS, "a passage", self._problems)
        values: dict[str, str] = {}
        for name, what in (("doc", "the document's id"), ("text", "the text to find in it")):
            value = fields.get(name)
            if value is None:
                if all_known(fields, PASSAGE_KEYS):
                    whole = " For the whole document, write its id alone." if name == "text" else ""
                    self._problems.at(node, f"This passage has no `{name}`. Write {what}.{whole}")
            elif value.__class__ is not ScalarEvent or is_null(value):
                kind = value.value if is_null(value) else kind_of(value)
                self._problems.at(value, f"`{name}` is {kind}. Write {what}.")
            else:
                values[name] = value.value
        grade = self._read_grade("the passage", fields["grade"]) if "grade" in fields else 1
        if len(self._problems) > before or grade is None:
            return None
        passage = Passage(values["doc"], values["text"], grade)
        if not passage.doc:
            self._problems.at(fields["doc"], "`doc` is empty. Write the document's id.")
        elif not passage.normalized:
            self._problems.at(
                fields["text"], "`text` is empty, and would be found in every chunk. Write the text to find."
            )
        else:
            return passage
        return None

    def _read_grade(self, name: str, node: Node) -> Grade | None:
        """Read the grade of `name`, as messages call it; what is none is reported."""
        if node.__class__ is not ScalarEvent:
            self._problems.at(
                node, f"The grade of {name} is {kind_of(node)}. Write a number from 0 to {MAX_GRADE}."
            )
            return None
        text = node.value
        number = None if node.style else read_number(text)
        if number is not None and (number >= 0 or not self._require_relevant) and number <= MAX_GRADE:
            return number
        if number is not None and number < 0:
            message = (
                f"The grade of {name} is {cut(text)}, below 0. Write 0 for a document that is not relevant."
            )
        elif number is not None:
            message = f"The grade of {name} is {cut(text)}, above {MAX_GRADE}. Write a number from 0 to {MAX_GRADE}."
        elif node.style and read_number(text) is not None:
            message = f"The grade of {name} is text, {quote(text)}. Take the quotes off."
        elif not text:
            message = f"The grade of {name} is missing. Write a number from 0 to {MAX_GRADE}."
        else:
            message = (
                f"The grade of {name} is {quote(text)}, which is no number. Write one from 0 to {MAX_GRADE}."
            )
        self._problems.at(node, message)
        return None


def _is_passage(node: Node) -> bool:
    """Say whether a node is meant as a passage, even if keys of a passage are missing."""
    return is_mapping(node) and any(
        key.__class__ is ScalarEvent and key.value in ("doc", "text") for key in node[1::2]
    )


def find_name(node: Node, name: str) -> Node:
    """Return the part of a value (an id, a list, grades by id) that names a document or passage; else the whole value."""
    return next(
        (
            part
            for part in _names_in(node)
            if (part.value if part.__class__ is ScalarEvent else _passage_key(part)) == name
        ),
        node,
    )


def _names_in(node: Node) -> Iterable[Node]:
    """Return the nodes of the names in a value: itself, the items of a list, or the keys of a mapping."""
    if node.__class__ is not list:
        return (node,)
    return node[1:] if node[0].__class__ is SequenceStartEvent else node[1::2]


def _passage_key(node: Node) -> str | None:
    fields = {
        key.value: value.value
        for key, value in zip(node[1::2], node[2::2], strict=False)
        if key.__class__ is ScalarEvent and value.__class__ is ScalarEvent
    }
    return Passage(fields["doc"], fields["text"]).key if {"doc", "text"} <= fields.keys() else None
