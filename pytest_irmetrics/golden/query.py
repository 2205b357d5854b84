"""Query and Passage: what to search for, and what is judged how; both as they are compared with a stored answer, and as plain data."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.metrics import Grade
from pytest_irmetrics.run.answer import Answer, document_of, params_key
from pytest_irmetrics.thresholds import Threshold, as_written

_INVISIBLE = dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\u2060\ufeff"))
_LONGEST = 60
"""Characters of a passage in its key; a longer text is cut, and a hash of it added."""
LONGEST_PASSAGE = 4000
"""Characters of a document's text that may be written as a passage; a whole document is too much for a golden set. docs/reference/json-report.md says how many."""


class Passage(NamedTuple):
    """A judged text of a document. A chunk that contains it counts as it, however the document was split into chunks."""

    doc: str
    """The document's id."""
    text: str
    """As it was written in the golden set."""
    grade: Grade

    @property
    def normalized(self) -> str:
        """The normalised text, to look for in the normalised text of a chunk."""
        return normalize_text(self.text)

    @property
    def key(self) -> str:
        """The name of the passage among a query's judgments and in rankings, also of committed baselines: ``document: text``, cut if it is long."""
        text = self.normalized
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST - 12].rstrip()}… ({digest(text)})"
        return f"{self.doc}: {text}"


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a golden set, with its judgments. Change none of it: all tests of a run read the same golden set.

    Public: docs/reference/python.md is made of the texts of its fields. A new field is a key of golden sets, which
    `QueryReader` (golden/query_reader.py) reads, and cli/golden.schema.json describes, as tests require; what is stored of it with a baseline, an `Answer` (run/answer.py) has.
    """

    id: str
    """Unique in its golden set: the file's `id`, or else the text."""
    text: str | None
    """What to search for; None where only ids are known, so that only a stored run can be evaluated."""
    judgments: Mapping[str, Grade]
    """Grade by document, with those that were judged not relevant (0); by its `key` where a passage was judged. A whole grade is an int."""
    forbidden: tuple[str, ...] = ()
    """Documents that the answer must not contain."""
    tags: tuple[str, ...] = ()
    """The slices that it belongs to."""
    weight: float = 1.0
    """The query's weight in every mean: above 0, up to 1e9."""
    params: Mapping[str, object] = field(default_factory=dict)
    """Keyword arguments for the retriever."""
    thresholds: tuple[Threshold, ...] = ()
    """This query's own: `min` and `max_drop`."""
    no_answer: bool = False
    """Whether the right answer is an empty one."""
    xfail: str | None = None
    """The reason why it is known to fail; such a query is in no mean and no gate."""
    note: str | None = None
    """What people wrote about it."""
    line: int | None = None
    """The line in its file on which it begins, counted from 1."""
    column: int | None = None
    """The column in which it begins, counted from 1."""
    passages: tuple[Passage, ...] = ()
    """The judged passages, which are among the judgments too."""

    @property
    def is_unjudged(self) -> bool:
        """Whether nobody has judged a document of it: it is asked and compared with the baseline, in `overlap` alone."""
        return not self.judgments and not self.no_answer

    @property
    def documents(self) -> Mapping[str, Grade]:
        """The best grade of each judged document; a document that is judged by passage counts with its best passage."""
        if not self.passages:
            return self.judgments
        documents: dict[str, Grade] = {}
        source = {passage.key: passage.doc for passage in self.passages}
        for judged, grade in self.judgments.items():
            doc_id = source.get(judged, judged)
            documents[doc_id] = max(grade, documents.get(doc_id, grade))
        return documents


_NO_SUCH_KEY = ("id", "text", "judgments", "passages", "line", "column")
OPTIONAL_KEYS = tuple([one.name for one in fields(Query) if one.name not in _NO_SUCH_KEY])
"""The keys of a query in a golden set that are called as its fields; the others are `id`, `query` and `relevant`."""


def known_ids(query: Query) -> tuple[str, ...]:
    """Return the ids of the documents that a query judges, as a whole or by passage, or forbids."""
    return (*query.documents, *query.forbidden)


def documents_of(query: Query, ranking: Iterable[str]) -> Iterator[str]:
    """Yield the document of each entry of a query's ranking: that of a judged passage or of a chunk, or the entry itself."""
    passages = {passage.key: passage.doc for passage in query.passages}
    return (passages.get(entry) or document_of(entry) for entry in ranking)


# Texts as they are compared


def normalize_text(text: str) -> str:
    """Normalise white space and Unicode forms, which text extraction and layout change; keep the words.

    Soft hyphens and zero-width characters go, Unicode forms become one (NFKC: ligatures, full-width letters), and a
    run of white space becomes one space, none at the ends. Case is kept. Committed baselines have names made of it.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE))
    return " ".join(text.split())


def digest(text: str) -> str:
    """Return eight characters that stand for a text, in committed baselines too."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def folded(text: str) -> str:
    """Return a query's text as it is compared with another's: without case, each run of white space as one space."""
    return normalize_text(text).casefold()


# Whether a stored answer is to a query


def is_in_the_words_of(query: Query | Answer, answer: Answer) -> bool:
    """Whether a stored answer was to this text and params, or those of another answer; a run without texts (a TREC run) pairs by id."""
    stored, text = answer.text, query.text or ""
    if stored is None:
        return True
    is_text = stored == text or folded(stored) == folded(text)
    return is_text and params_key(answer.params) == params_key(query.params)


def judges_other_passages(query: Query, answer: Answer) -> bool:
    """Say whether a query judges other passages than when an answer to it was stored, so that what it holds says nothing of these.

    Another grade of the same passage is no edit of passages.
    """
    stored, judgments = answer.judgments, query.judgments
    if stored is None or stored.keys() == judgments.keys():
        return False  # as nearly always
    edited = stored.keys() ^ judgments.keys()
    if not edited.isdisjoint({*answer.passages, *(passage.key for passage in query.passages)}):
        return True
    # A document that was judged by passage and is judged as a whole now.
    gone = stored.keys() - judgments.keys()
    return any(key.startswith(f"{doc}: ") for doc in judgments for key in gone)


# As plain data


def query_as_dict(query: Query, *, short: bool = False) -> dict[str, object]:
    """Return a query under the keys of a golden set: id, query and relevant, and those optional ones that are set.

    With `short`, as people write it: no id that is its text, and limits and judgments in brief.
    """
    keys = {passage.key for passage in query.passages}
    grades = {doc_id: grade for doc_id, grade in query.judgments.items() if doc_id not in keys}
    passages = [passage._asdict() for passage in query.passages]
    in_list = passages or (short and all(grade == 1 for grade in grades.values()))
    record: dict[str, object] = {
        "id": None if short and query.id == query.text else query.id,
        "query": query.text,
        "relevant": [*grades, *passages] if in_list else grades,
        **{name: getattr(query, name) for name in OPTIONAL_KEYS},
        "weight": None if query.weight == 1 else as_whole_number(query.weight),
        "thresholds": limits_as_dict(query.thresholds),
    }
    always = ["query", "relevant"] if not short else [] if query.no_answer else ["relevant"]
    return {key: value for key, value in record.items() if value or key in always}


def limits_as_dict(thresholds: Iterable[Threshold]) -> dict[str, object]:
    """Return the limits of thresholds as a golden set has them: metric name → word → limit, or a number, which is `min`."""
    found: dict[str, object] = {}
    for threshold in thresholds:
        words = {word: as_written(limit) for word, limit in threshold.limits.items()}
        found[threshold.metric.name] = words["min"] if words.keys() == {"min"} else words
    return found
