"""What `relevant` says: one id, a list of ids and passages, or grades by id."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.keys import PASSAGE_KEYS, all_known
from pytest_irmetrics.golden.mappings import fields_of, pairs_of
from pytest_irmetrics.golden.model import MAX_GRADE
from pytest_irmetrics.golden.node import (
    ScalarEvent,
    SequenceStartEvent,
    cut,
    is_mapping,
    kind_of,
    place_of,
)
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.golden.values import PASSAGE, read_names
from pytest_irmetrics.thresholds import read_number

if TYPE_CHECKING:
    from pytest_irmetrics.golden.node import Node, NodeProblems
    from pytest_irmetrics.metrics import Grade

__all__ = ["RelevantReader"]

_GRADES: dict[str, Grade] = {str(grade): grade for grade in range(MAX_GRADE + 1)}


class RelevantReader:
    """Reads the judgments of queries; `demanding` says that no grade is below 0."""

    def __init__(self, problems: NodeProblems, *, demanding: bool) -> None:
        self._problems = problems
        self._demanding = demanding

    def read(self, node: Node, passages: list[tuple[Passage, Node]]) -> dict[str, Grade] | None:
        """Read `relevant`: one id, a list of ids and passages, or grades by id. None if anything is wrong with it.

        Passages are added to `passages` too, each with its node.
        """
        if node.__class__ is ScalarEvent:
            names = read_names(node, "relevant", "document", self._problems)
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
            read_names(node, "relevant", "document", self._problems)
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
            <= PASSAGE_KEYS
        ):
            self._problems.at(node, f"A passage stands in a list. Write `relevant: [{PASSAGE}]`.")
            return None
        before = len(self._problems)
        judgments: dict[str, Grade] = {}
        for key, value in pairs_of(node, self._problems):
            grade = self._grade(quote(key.value), value)
            if grade is not None:
                judgments[key.value] = grade
        return judgments if len(self._problems) == before else None

    def _with_passages(self, node: Node, passages: list[tuple[Passage, Node]]) -> dict[str, Grade] | None:
        """Read a list of ids and passages."""
        before = len(self._problems)
        # The ids apart, so that what is wrong with them is said as it is of a list of ids alone.
        ids = read_names(
            [item for item in node if not _is_passage(item)], "relevant", "document", self._problems
        )
        judgments: dict[str, Grade] = dict.fromkeys(ids, 1)
        first: dict[str, Node] = {item.value: item for item in node[1:] if item.__class__ is ScalarEvent}
        for item in node[1:]:
            passage = self._passage(item) if _is_passage(item) else None
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

    def _passage(self, node: Node) -> Passage | None:
        """Read one passage; what is wrong with it is reported."""
        before = len(self._problems)
        fields = fields_of(node, PASSAGE_KEYS, "a passage", self._problems)
        values: dict[str, str] = {}
        for name, what in (("doc", "the document's id"), ("text", "the text to find in it")):
            value = fields.get(name)
            if value is None:
                if all_known(fields, PASSAGE_KEYS):
                    self._problems.at(node, f"This passage has no `{name}`. Write {what}.")
            elif value.__class__ is not ScalarEvent:
                self._problems.at(value, f"`{name}` is {kind_of(value)}. Write {what}.")
            else:
                values[name] = value.value
        grade = self._grade("the passage", fields["grade"]) if "grade" in fields else 1
        if len(self._problems) > before or grade is None:
            return None
        passage = Passage(values["doc"], values["text"], grade)
        if not passage.doc:
            self._problems.at(fields["doc"], "`doc` is empty. Write the document's id.")
        elif not passage.folded:
            self._problems.at(
                fields["text"], "`text` is empty, and would be found in every chunk. Write the text to find."
            )
        else:
            return passage
        return None

    def _grade(self, name: str, node: Node) -> Grade | None:
        if node.__class__ is not ScalarEvent:
            self._problems.at(
                node, f"The grade of {name} is {kind_of(node)}. Write a number from 0 to {MAX_GRADE}."
            )
            return None
        text = node.value
        number = None if node.style else read_number(text)
        if number is not None and (number >= 0 or not self._demanding) and number <= MAX_GRADE:
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
    """Whether a node is meant as a passage, with all of its keys or without some."""
    return is_mapping(node) and any(
        key.__class__ is ScalarEvent and key.value in ("doc", "text") for key in node[1::2]
    )
