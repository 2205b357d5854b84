"""Judgments to append to a golden set: those that it lacks, and what contradicts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.base.numbers import MAX_GRADE, read_number
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.metrics import Grade


class Judgment(NamedTuple):
    """A judgment to append to the golden set."""

    where: str
    """The place in the CSV file, or the option, that it comes from."""
    query_id: str
    doc_id: str
    grade: Grade
    text: str | None = None
    """What is judged of the document; None for all of it."""

    @property
    def passage(self) -> Passage | None:
        """What is judged, where it is a part of a document's text."""
        return None if self.text is None else Passage(self.doc_id, self.text, self.grade)

    @property
    def key(self) -> str:
        """The name of the document or passage among the judgments of its query."""
        return self.doc_id if self.passage is None else self.passage.key

    def by_text(self, text: str) -> Judgment:
        """Return this judgment of a chunk, as a ranking calls it, as one of its document's text."""
        return self._replace(doc_id=document_of(self.doc_id), text=" ".join(text.split()))


class NewJudgments(NamedTuple):
    """The judgments that a golden set lacks."""

    documents: dict[str, dict[str, Grade]]
    """By query and document."""
    passages: dict[str, list[Passage]]
    """By query."""
    known: int
    """How many others it has already."""

    @property
    def total(self) -> int:
        """How many there are."""
        return len(list(self.written()))

    def written(self) -> Iterator[tuple[str, str, Grade]]:
        """Yield query id, name among the query's judgments, and grade of each."""
        for query_id, documents in self.documents.items():
            for doc_id, grade in documents.items():
                yield query_id, doc_id, grade
        for query_id, passages in self.passages.items():
            for passage in passages:
                yield query_id, passage.key, passage.grade


def parse_grade(text: str) -> Grade | None:
    """Read a grade, a number from 0 to MAX_GRADE; None if the text is none."""
    number = read_number(text)
    return number if number is not None and 0 <= number <= MAX_GRADE else None


def new_judgments(judgments: Iterable[Judgment], golden: GoldenSet) -> NewJudgments:
    """Return the judgments that the golden set lacks. Raises CommandError where one contradicts it or another judgment."""
    problems: list[str] = []
    new: dict[str, dict[str, Grade]] = {}
    documents: dict[str, dict[str, Grade]] = {}
    passages: dict[str, list[Passage]] = {}
    known = 0
    for judgment in judgments:
        query_id, key = judgment.query_id, judgment.key
        query = golden.queries[query_id]
        grades: Mapping[str, Grade] = {**query.judgments, **new.get(query_id, {})}
        in_part = {passage.doc: passage.key for passage in (*query.passages, *passages.get(query_id, ()))}
        problem = _contradiction(judgment, golden, grades, in_part)
        if problem is not None:
            problems.append(f"{judgment.where}: {problem}")
        elif key in grades:
            known += 1
        else:
            new.setdefault(query_id, {})[key] = judgment.grade
            if judgment.passage is None:
                documents.setdefault(query_id, {})[key] = judgment.grade
            else:
                passages.setdefault(query_id, []).append(judgment.passage)
    if problems:
        raise CommandError("\n".join(problems))
    return NewJudgments(documents, passages, known)


def _contradiction(
    judgment: Judgment, golden: GoldenSet, grades: Mapping[str, Grade], in_part: Mapping[str, str]
) -> str | None:
    """Return why a judgment cannot stand beside those of its query, and what to do; None where it can.

    `grades` are all of these by document and passage, and `in_part` a passage of each document that is judged by passage.
    """
    query_id, key, grade = judgment.query_id, judgment.key, judgment.grade
    query, doc_id = golden.queries[query_id], judgment.doc_id
    shown = quote(query_id)
    if query.no_answer:
        return (
            f"{shown} is a `no_answer` query ({golden.where(query_id)}), which has no judgments. If this answers it, take "
            "`no_answer` away and write `relevant`."
        )
    if doc_id in query.forbidden and grade > 0:
        return (
            f"{quote(doc_id)} is forbidden for {shown} ({golden.where_judged(query_id, doc_id)}), so that it cannot be "
            "relevant. Remove it there first."
        )
    if grades.get(key, grade) != grade:
        return (
            f"{shown} grades {quote(key)} {grades[key]:g} already ({golden.where_judged(query_id, key)}), and here it is "
            f"{grade:g}. Change it there, or leave it out here."
        )
    if judgment.passage is None and doc_id in in_part:
        where = golden.where_judged(query_id, in_part[doc_id])
        return (
            f"{shown} judges {quote(doc_id)} by passage ({where}), and here as a whole. Keep one of the two."
        )
    if judgment.passage is not None and doc_id in grades:
        where = golden.where_judged(query_id, doc_id)
        return (
            f"{shown} judges {quote(doc_id)} as a whole ({where}), and here by passage. Keep one of the two."
        )
    return None
