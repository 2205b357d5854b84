"""One query after the other: from the values of its keys to a Query, among those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.keyed_places import part_named
from pytest_irmetrics.golden.keys import QUERY_KEYS, all_known
from pytest_irmetrics.golden.mappings import fields_of
from pytest_irmetrics.golden.model import MAX_GRADE, make_query
from pytest_irmetrics.golden.node import is_mapping, kind_of, place_of
from pytest_irmetrics.golden.relevant import RelevantReader
from pytest_irmetrics.golden.values import (
    read_boolean,
    read_names,
    read_params,
    read_reason,
    read_text,
    read_weight,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_irmetrics.golden.limits import ThresholdReader
    from pytest_irmetrics.golden.model import Query
    from pytest_irmetrics.golden.node import Node, NodeProblems
    from pytest_irmetrics.golden.passage import Passage
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.thresholds import Threshold

__all__ = ["QueryReader"]

_USUAL = (False, (), 1.0, None, (), None, None)  # what the other keys are where none of them is written


class QueryReader:
    """Reads the queries of one file.

    `demanding` says that each must have a relevant document or say `no_answer`, and that no grade is below 0.
    """

    queries: dict[str, Query]
    """Those that have been read, by id."""
    textless: list[Node]
    """What begins each query that has no text."""
    least: Grade
    """The best grade of the query whose best is lowest."""

    def __init__(
        self, problems: NodeProblems, thresholds: ThresholdReader, *, demanding: bool = True
    ) -> None:
        self._problems = problems
        self._thresholds = thresholds
        self._demanding = demanding
        self._read_relevant = RelevantReader(problems, demanding=demanding).read
        self.queries = {}
        self.textless = []
        self.least = MAX_GRADE

    def read_node(self, node: Node) -> None:
        """Read a query that was composed before, or is none."""
        if is_mapping(node):
            self.read(node[0], fields_of(node, QUERY_KEYS, "a query", self._problems), usual=False)
        else:
            self._problems.at(
                node,
                f"A query is a mapping, and this is {kind_of(node)}. Write `query: …` and `relevant: …`.",
            )

    def read(self, node: Node, fields: Mapping[str | None, Node], *, usual: bool) -> None:
        """Read one query from the values of its keys; `node` is the event that begins it.

        `usual` says that all of them are in `USUAL_KEYS`.
        """
        get, problems = fields.get, self._problems
        value = get("query")
        text = None if value is None else read_text(value, "query", problems)
        id_node = get("id")
        query_id = text if id_node is None else read_text(id_node, "id", problems)
        if value is None and all_known(fields):
            self.textless.append(node)
            if id_node is None:
                problems.at(node, "This query has no `query`. Write the text to search for.")

        relevant = get("relevant")
        passages: list[tuple[Passage, Node]] = []
        judgments: dict[str, Grade] | None = (
            {} if relevant is None else self._read_relevant(relevant, passages)
        )
        value = get("tags")
        tags = () if value is None else read_names(value, "tags", "tag", problems)
        no_answer, forbidden, weight, params, thresholds, xfail, note = (
            _USUAL if usual else self._unusual(get, relevant, judgments, passages)
        )
        if no_answer:
            if relevant is not None:
                problems.at(relevant, "A `no_answer` query has no `relevant`. Remove one of the two.")
        elif judgments:
            best = max(judgments.values())
            if best <= 0 and self._demanding:
                advice = "Grade a relevant one, or write `no_answer: true` in place of `relevant`."
                problems.at(relevant, f"Every document here has grade 0. {advice}")
            elif best < self.least:
                self.least = best
        elif self._demanding and judgments is not None and (relevant is not None or all_known(fields)):
            at = node if relevant is None else relevant
            problems.at(
                at, "This query has no relevant document. Add `relevant: [id]`, or `no_answer: true`."
            )

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
        mark = node.start_mark
        self.queries[query_id] = make_query(
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
                how, first = "relevant", part_named(relevant, doc_id)
            else:
                continue
            problems.at(
                part_named(value, doc_id),
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
