"""`Run`: the rankings that a retriever returned, by query id; it is loaded from, and saved as, JSON or a TREC run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from operator import countOf
from pathlib import Path
from typing import Any

from pytest_irmetrics.base import paused_gc
from pytest_irmetrics.base.files import FileError, packed_as_named, read_bytes, without_gz
from pytest_irmetrics.base.wording import plural, printable, quote
from pytest_irmetrics.metrics import Grade
from pytest_irmetrics.run import run_json
from pytest_irmetrics.run.answer import (
    Answer,
    Answers,
    Header,
    Provenance,
    RunError,
    StoredLimits,
    as_id,
    decode,
    ranked,
    ranking_fault,
)

_UNKNOWN = Header()


@dataclass(slots=True)
class Run:
    """The rankings that a retriever returned, by query id: `run["refund"]` is a tuple of document ids, best first.

    Made of a mapping from query id to document ids, best first, or to a mapping from document id to score, which is then
    ordered as trec_eval orders it: by score, highest first, and ties by id, descending. Ids are text, or integers and
    UUIDs, which become text; scores are any numbers but NaN. Raises RunError for what is none of these, and for a document
    that is twice in a ranking. A run can itself stand in for a retriever.
    """

    # All but `answers` and `source` are the fields of `Header`, which say what is stored.
    answers: Answers
    """By query id: the rankings, and what the query was asked and judged with."""
    depth: int | None
    """How many results were asked for at each query, 1 or more; None where that is not known."""
    golden_set: str | None
    """The golden set's path, relative to the test's folder, or its name if it was made in Python."""
    relevance_level: Grade | None
    """The lowest grade that counted as relevant when the run was stored, above 0; None where that is not known."""
    means: Mapping[str, float]
    """The mean of each metric when the run was stored, by the metric's name; empty where none was."""
    provenance: Provenance | None
    """What the run was made with, by the fixture `ir_provenance`; None where that is not known."""
    limits: StoredLimits | None
    """The limits that judged the run when it was stored; None where that is not known."""
    source: tuple[str, str | None] | None = field(compare=False)
    """The real path of the file that it was loaded from, and the `test` that was asked for; None where it was made otherwise."""

    def __init__(self, rankings: Mapping[str, Sequence[str] | Mapping[str, float]]) -> None:
        if not hasattr(rankings, "items"):
            text = f"the rankings are of type {type(rankings).__name__}. Give a mapping of query id to ids, best first."
            raise RunError(text)
        with paused_gc():
            self._fill(_checked_answers(rankings), _UNKNOWN)

    def _fill(self, answers: Answers, header: Header) -> None:
        self.answers, self.source = answers, None
        for name, value in header._asdict().items():
            setattr(self, name, value)

    @classmethod
    def of(cls, answers: Answers, header: Header = _UNKNOWN) -> Run:
        """Make a run of answers and its header, without checking these."""
        run = cls.__new__(cls)
        run._fill(answers, header)  # noqa: SLF001 - its own
        return run

    @property
    def header(self) -> Header:
        """What the run says of itself, beside the answers."""
        return Header(*(getattr(self, name) for name in Header._fields))

    def __getitem__(self, query_id: str) -> tuple[str, ...]:
        return tuple(self.answers[query_id].rankings[0])

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.answers

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        depth = "" if self.depth is None else f", depth {self.depth}"
        return f"<Run: {plural(len(self), 'query')}{depth}>"

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, test: str | None = None, shown: str | None = None) -> Run:
        """Read a stored run: JSON where the name ends in ``.json``, a TREC run otherwise.

        Also packed with gzip, as ``.json.gz`` and ``.run.gz``.

        Of a JSON report of several tests, `test` says whose run is wanted: a test's id, or a part of it; any other file is one
        run. `shown` is how errors call the file, if not by its path. Raises RunError.
        """
        where = printable(os.fspath(path) if shown is None else shown)
        file = Path(path)
        try:
            data = read_bytes(file)
        except FileError as error:
            raise RunError(f"{where}: {error}") from None
        if without_gz(file).suffix.lower() == ".json":
            run = cls.of(*run_json.loads(decode(data, where), where, test))
        else:
            from pytest_irmetrics.run import trec  # noqa: PLC0415 - baselines are JSON

            run = cls.of(trec.read(data, where))
        run.source = os.path.realpath(path), test
        return run

    @classmethod
    def loads(cls, text: str, path: str | os.PathLike[str] | None = None) -> Run:
        """Read the JSON that `dumps` wrote; `path` is how errors call it. Raises RunError."""
        return cls.of(*run_json.loads(text, "run" if path is None else printable(os.fspath(path))))

    def dumps(self) -> str:
        """Return the run as JSON, one query a line; equal runs give equal text. Raises RunError for what JSON cannot hold."""
        return run_json.dumps(self.answers, self.header)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to `path`, whole or not at all: JSON where the name ends in ``.json``; otherwise a TREC run, of the first repeat alone.

        A TREC run cannot hold texts, params, nor that a query had an empty result. Raises RunError, also for ids with white
        space in a TREC run.
        """
        file, where = Path(path), printable(os.fspath(path))
        if without_gz(file).suffix.lower() == ".json":
            data = self.dumps().encode("utf-8")
        else:
            from pytest_irmetrics.run import trec  # noqa: PLC0415 - baselines are JSON

            data = "".join(trec.lines(self.answers)).encode("utf-8")
        from pytest_irmetrics.base.atomic_write import write_output  # noqa: PLC0415 - few runs write one

        try:
            file.parent.stat()  # a folder that is not there may be misspelt
            write_output(file, packed_as_named(file, data))
        except (OSError, ValueError) as error:  # ValueError: no file can have such a path
            text = f"{where}: cannot be written: {getattr(error, 'strerror', None) or error}."
            raise RunError(text) from None


def _checked_answers(rankings: Mapping[str, Sequence[str] | Mapping[str, float]]) -> dict[str, Answer]:
    """Return an answer of each ranking, in any accepted form. Raises RunError that says what is wrong with one."""
    answers: dict[str, Answer] = {}
    for given, ranking in rankings.items():
        query_id = given if type(given) is str else as_id(given)
        if query_id is None:
            raise RunError(f"a query's id is text, not {type(given).__name__}. Map query ids to ids.")
        if query_id in answers:
            raise RunError(f"query {quote(query_id)} comes twice. Give each query one ranking.")
        ids = tuple(ranking if isinstance(ranking, (list, tuple)) else _best_first(query_id, ranking))
        if countOf(map(type, ids), str) != len(ids):
            ids = _as_texts(query_id, ids)
        if fault := ranking_fault(ids):
            raise _refusal(query_id, f": {fault}. Give each document once, by its id.")
        answers[query_id] = Answer((ids,))
    return answers


def _as_texts(query_id: str, ids: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return ids as text. Raises RunError for what is no id."""
    texts = tuple(map(as_id, ids))
    if None in texts:
        kind = type(ids[texts.index(None)]).__name__
        raise _refusal(query_id, f": an id is text, not {kind}. Give a list of ids, best first.")
    return texts


def _best_first(query_id: str, given: object) -> Iterable[Any]:
    """Return the documents, best first, of a ranking that is neither a list nor a tuple."""
    if isinstance(given, Mapping):
        try:
            scores = [(as_id(doc) or "", float(score)) for doc, score in given.items()]
        except (TypeError, ValueError, OverflowError):
            scores = [("", math.nan)]  # is refused below
        if any(not doc or math.isnan(score) for doc, score in scores):
            raise _refusal(
                query_id,
                " is a mapping, and not of id to score. Give ids, best first, or a mapping of id to a number.",
            )
        return ranked(scores)
    if isinstance(given, (str, bytes, AbstractSet)) or not isinstance(given, Iterable):
        raise _refusal(query_id, f" is a {type(given).__name__}. Give a list of ids, best first.")
    return given


def _refusal(query_id: str, fault: str) -> RunError:
    return RunError(f"the ranking of query {quote(query_id)}{fault}")
