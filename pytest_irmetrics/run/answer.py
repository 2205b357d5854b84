"""The parts of a run: ids, the answer to one query, the header (depth, golden set, means), the errors of stored runs."""

from __future__ import annotations

import json
import operator
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.metrics import Grade


class RunError(IRMetricsError, ValueError):
    """A run that cannot be read or written; reads ``path:line: what is wrong. What to do.``."""


StoredLimits = Sequence[Mapping[str, str | float]]
"""Limits as a run stores them: a metric's name, a tag where there is one, and by each word its limit."""

Provenance = Mapping[str, str | float]
"""What a run was made with: a model's name, how many documents the index held."""

_EMPTY: dict[str, Any] = {}  # shared by all answers, so never to be changed


class PackedRanking(Sequence[str]):
    """A ranking as one text, an id a line: that takes a sixth of the memory of its ids, and is compared in a tenth of the time.

    It has at least one id, and none with a line end.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = f"\n{text}\n"

    @property
    def text(self) -> str:
        """The ids of the ranking, one a line."""
        return self._text[1:-1]

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.split("\n"))

    def __len__(self) -> int:
        return self._text.count("\n") - 1

    def __bool__(self) -> bool:
        return True  # its ids need not be counted for that

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and "\n" not in value and "\n" + value + "\n" in self._text

    def index(self, value: Any, *between: int) -> int:
        """Return the place of an id, as a tuple does: it is sought in the text, since to make all ids takes ten times as long."""
        at = -1 if between or not isinstance(value, str) or "\n" in value else self._text.find(f"\n{value}\n")
        return tuple(self).index(value, *between) if at < 0 else self._text.count("\n", 0, at)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedRanking):
            return self._text == other._text
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def pack(ids: Sequence[str]) -> Sequence[str]:
    """Return a ranking as it takes the least memory: packed, or as a tuple where that cannot be. Raises TypeError where an id is no text."""
    text = "\n".join(ids)
    return PackedRanking(text) if text.count("\n") == len(ids) - 1 else tuple(map(str.__str__, ids))


def pack_if_valid(items: Any) -> Sequence[str] | None:
    """Return a list of ids as a packed ranking; None where it is no list, or an item is no text, is empty or comes twice."""
    try:  # to join them is the quickest way to see whether all are text
        ranking = pack(items) if isinstance(items, list) else None
    except TypeError:
        return None
    return None if ranking is None or ranking_fault(items) else ranking


@dataclass(slots=True)
class Answer:
    """The rankings that a retriever returned for one query, with the query's text, params, judgments, weight and tags.

    What it was judged with is filled in where it is to be stored (`_run_to_store` of plugin/build_report.py), and taken back
    by stored_runs.py. A test refuses a field that has no key in `_QUERY_KEYS` of run_json.py. Not frozen
    because a large run has many and a frozen one takes four times as long to make; treat it as if it were.
    """

    rankings: tuple[Sequence[str], ...]
    """One ranking of document ids, best first and without duplicates, for each time that the query was asked."""
    text: str | None = None
    """The query's text; None where the run does not say, as a TREC run, which holds rankings alone."""
    params: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    """What else the retriever was called with, by name."""
    judgments: Mapping[str, Grade] | None = None
    """The grades of documents when the run was stored, by document id; None where the run does not say."""
    weight: float | None = None
    """The query's weight in a mean, above 0; None where the run does not say."""
    tags: tuple[str, ...] = ()
    passages: Mapping[str, tuple[str, str]] = field(default_factory=lambda: _EMPTY)
    """Of the ids in `rankings` those that stand for passages: id → document and text."""
    xfail: bool = False
    """Whether the query was known to be bad when the run was stored, so that it is in none of the run's means."""
    unjudged: bool = False
    """Whether nobody had judged a document of it; where `judgments` are empty and this is false, it has no answer."""
    limits: StoredLimits = ()
    """The limits on this query alone that judged the run when it was stored."""
    agreeing: int | None = field(default=None, compare=False)
    """Of a TREC run: down to which result its ranks and its scores tell the same order; None where to the last."""


EMPTY_ANSWER = Answer(((),))
"""Of a query that is not in the run: one empty ranking."""

Answers = Mapping[str, Answer]
"""By query id."""


class Header(NamedTuple):
    """What a stored run says besides its answers: each an attribute of Run, and a key of `_HEADER_KEYS` in run_json.py."""

    depth: int | None = None
    golden_set: str | None = None
    """A name, or a path that is not absolute."""
    relevance_level: Grade | None = None
    means: Mapping[str, float] = {}
    provenance: Provenance | None = None
    limits: StoredLimits | None = None


def params_key(params: Mapping[str, Any]) -> str:
    """Return params as a text to compare them by: 1, 1.0 and true are equal in Python, and other params to a retriever.

    If a query is ever asked with more than a text and params, that has to be compared at each use of this.
    """
    try:
        return json.dumps(dict(params), sort_keys=True, default=repr) if params else ""
    except TypeError:  # keys of several types, as only Python has them
        return repr(params)


# Ids of queries and documents

CHUNK = " (chunk "
"""What parts a document's id from a chunk's own, in the entry of a chunk that stands for no judged passage: also in committed baselines."""


def as_id(value: Any) -> str | None:
    """Return an id as text: of text, an integer, a UUID or a NumPy integer; None for all else."""
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, whatever a subclass prints as
    if isinstance(value, UUID):
        return str(value)
    try:
        return None if isinstance(value, bool) else str(operator.index(value))
    except (TypeError, ValueError):  # no integer, an array of several, a NumPy boolean; over 4,300 digits
        return None


def is_uuid(doc_id: str | None) -> bool:
    """Say whether an id is a UUID, which tells nothing of what it names: many stores draw one anew whenever they are filled."""
    return doc_id is not None and (len(doc_id), doc_id.count("-")) == (36, 4)


def first_repeat(ids: Sequence[str]) -> tuple[str, int, int] | None:
    """Return the first id that comes a second time, with its two ranks, from 1; None where all are different."""
    ranks: dict[str, int] = {}
    found = (
        (doc, ranks[doc], rank) for rank, doc in enumerate(ids, 1) if ranks.setdefault(doc, rank) != rank
    )
    return next(found, None)


def ranked(scores: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Order ids as trec_eval does: by score, highest first; ties by id, descending."""
    return tuple([doc for _, doc in sorted([(score, doc) for doc, score in scores], reverse=True)])


def document_of(entry: str) -> str:
    """Return the document that an entry of a ranking, unless a judged passage, is of: what a chunk was cut from, else the entry itself."""
    return entry.rpartition(CHUNK)[0] or entry


def is_further_chunk(entry: str, ranking: Sequence[str]) -> bool:
    """Tell whether an entry of a ranking is a chunk, and the document that it was cut from is an entry too."""
    document = document_of(entry)
    return document != entry and document in ranking


def ranking_fault(ids: Sequence[str]) -> str:
    """Return what is wrong with a ranking's ids; empty where nothing is."""
    different = set(ids)
    if len(different) == len(ids) and "" not in different:
        return ""  # as nearly always
    repeated = first_repeat(ids)
    return f"{quote(repeated[0])} is in it twice" if repeated else "an id is empty"


def how_to_restore(shown: str) -> str:
    """Return the advice on a file that was damaged, edited or badly merged, also if that is committed; `shown` is its path."""
    return f"Restore it from the branch that yours goes into, such as main: `git checkout main -- {shlex.quote(shown)}`."


def decode(data: bytes, shown: str, cure: str = "") -> str:
    """Decode UTF-8. Raises RunError with the line of the first byte that is not, and the cure: unless one is given, to restore the file."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RunError(f"{shown}:{line}: is not UTF-8. {cure or how_to_restore(shown)}") from None
