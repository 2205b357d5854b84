"""`Run`: the rankings that a retriever returned, by query id; it is loaded from, and saved as, JSON or a TREC run."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from operator import countOf
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import GZIP_MAGIC, GzipError, gunzip, is_packed, pack, without_gz
from pytest_irmetrics.base.ids import as_id, first_repeat, ranked
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES, read_regular
from pytest_irmetrics.base.wording import plural, printable, quote
from pytest_irmetrics.run import json as run_json
from pytest_irmetrics.run.answer import Answer, Header, RunError, decode

if TYPE_CHECKING:
    from pytest_irmetrics.metrics import Grade
    from pytest_irmetrics.run.answer import Answers

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


class Run:
    """The rankings that a retriever returned, by query id: `run["refund"]` is a tuple of document ids, best first.

    Made of a mapping from query id to document ids, best first, or to a mapping from document id to score, which is then
    ordered as trec_eval orders it: by score, highest first, and ties by id, descending. Ids are text, or integers and
    UUIDs, which become text; scores are any numbers but NaN. Raises RunError for what is none of these, and for a document
    that is twice in a ranking. A run can itself stand in for a retriever.
    """

    __slots__ = ("_answers", "depth", "golden_set", "means", "relevance_level", "single_rankings")

    single_rankings: Mapping[str, tuple[str, ...]] | None
    """Of a run that was made of rankings alone, one for each query, these by query id; None of any other run."""
    depth: int | None
    """How many results were asked for at each query, 1 or more; None where that is not known."""
    golden_set: str | None
    """The golden set's path, relative to the test's folder, or its name if it was made in Python."""
    relevance_level: Grade | None
    """The lowest grade that counted as relevant when the run was stored, above 0; None where that is not known."""
    means: Mapping[str, float]
    """The mean of each metric when the run was stored, by the metric's name; empty where none was."""

    def __init__(self, rankings: Mapping[str, Sequence[str] | Mapping[str, float]]) -> None:
        if not hasattr(rankings, "items"):
            raise RunError(
                f"the rankings are of type {type(rankings).__name__}. Give a mapping of query id to ids, best first."
            )
        known = _bulk_checked(rankings)
        self._fill(None, Header(), _checked_one_by_one(rankings) if known is None else known)

    def _fill(
        self,
        answers: Answers | None,
        header: Header,
        single_rankings: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._answers = answers
        self.single_rankings = single_rankings
        self.depth, self.golden_set, self.relevance_level, means = header
        self.means = dict(means or {})

    @property
    def answers(self) -> Answers:
        """By query id: the rankings, and what the query was asked and judged with."""
        if self._answers is None:
            # Made when asked for: scoring rankings does without, and making them takes longer than checking those.
            rankings = self.single_rankings or {}
            self._answers = {query_id: Answer((ranking,)) for query_id, ranking in rankings.items()}
        return self._answers

    @classmethod
    def of(
        cls,
        answers: Answers,
        depth: int | None = None,
        golden_set: str | None = None,
        relevance_level: Grade | None = None,
        means: Mapping[str, float] | None = None,
    ) -> Run:
        """Make a run of answers, without checking these. `golden_set` is a name, or a path that is not absolute."""
        run = cls.__new__(cls)
        run._fill(answers, Header(depth, golden_set, relevance_level, means))  # noqa: SLF001 - its own
        return run

    @property
    def _by_query(self) -> Mapping[str, object]:
        """A mapping whose keys are the ids of the queries, without making answers for that."""
        return self.answers if self.single_rankings is None else self.single_rankings

    def __getitem__(self, query_id: str) -> tuple[str, ...]:
        if self.single_rankings is not None:
            return self.single_rankings[query_id]
        return self.answers[query_id].rankings[0]

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._by_query

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def __len__(self) -> int:
        return len(self._by_query)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        names = ("answers", "depth", "golden_set", "means", "relevance_level")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]  # it holds mappings

    def __repr__(self) -> str:
        depth = "" if self.depth is None else f", depth {self.depth}"
        return f"<Run: {plural(len(self), 'query', 'queries')}{depth}>"

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        test: str | None = None,
        like: Run | None = None,
        shown: str | None = None,
    ) -> Run:
        """Read a stored run: JSON where the name ends in ``.json``, a TREC run otherwise.

        Also packed with gzip, as ``.json.gz`` and ``.run.gz``.

        Of a JSON report of several tests, `test` says whose run is wanted: a test's id, or a part of it.
        A JSON run shares with the run `like` the objects of equal rankings and ids of the same query, which halves the
        memory of the two. `shown` is how errors call the file, if not by its path. Raises RunError.
        """
        where = printable(os.fspath(path) if shown is None else shown)
        file = Path(path)
        try:
            if without_gz(file).suffix.lower() != ".json":
                run_json.refuse_test(test, where)
                from pytest_irmetrics.run import trec  # noqa: PLC0415 - baselines are JSON

                return cls.of(trec.read(file, where))
            data = read_regular(file, MAX_RUN_BYTES)
            if data.startswith(GZIP_MAGIC):
                data = gunzip(data, MAX_RUN_BYTES)
            text = decode(data, where)
        except GzipError as error:
            raise RunError(f"{where}: cannot be read: {error}. Pack it again.") from None
        except OSError as error:
            raise RunError(
                f"{where}: cannot be read: {error.strerror or error}. Give the path of a stored run."
            ) from None
        answers, header = run_json.read(text, where, test, {} if like is None else like.answers)
        return cls.of(answers, *header)

    @classmethod
    def loads(cls, text: str, path: str | os.PathLike[str] | None = None) -> Run:
        """Read the JSON that `dumps` wrote; `path` is how errors call it. Raises RunError."""
        answers, header = run_json.read(text, "run" if path is None else printable(os.fspath(path)))
        return cls.of(answers, *header)

    def dumps(self) -> str:
        """Return the run as JSON, one query a line; equal runs give equal text. Raises RunError for what JSON cannot hold."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        return run_json.lines(
            self.answers, Header(self.depth, self.golden_set, self.relevance_level, self.means)
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to `path`: JSON where the name ends in ``.json``; otherwise a TREC run, of the first repeat alone.

        A TREC run cannot hold texts, params, nor that a query had an empty result. Raises RunError, also for ids with white
        space in a TREC run.
        """
        if without_gz(Path(path)).suffix.lower() == ".json":
            lines = self._lines()
        else:
            from pytest_irmetrics.run import trec  # noqa: PLC0415 - baselines are JSON

            lines = trec.lines(self.answers)
        # Encoded a thousand lines at a time, and all of it before the file is opened: an id that the format cannot hold
        # may come in any line.
        data = bytearray()
        while some := "".join(islice(lines, 1000)):
            data += some.encode("utf-8")
        try:
            Path(path).write_bytes(pack(bytes(data)) if is_packed(Path(path)) else data)
        except ValueError:  # a NUL or a lone surrogate
            where = printable(os.fspath(path))
            raise RunError(f"{where}: cannot be written: no file can have this path.") from None
        except OSError as error:
            raise RunError(
                f"{printable(os.fspath(path))}: cannot be written: {error.strerror or error}."
            ) from None


def _bulk_checked(rankings: Mapping[str, object]) -> dict[str, tuple[str, ...]] | None:
    """Return copies of the rankings if they are all what they nearly always are, proven in few calls for all queries.

    That is: a dict of text to lists or tuples of text, none of it empty and none twice in a ranking. None for all else.
    """
    if not isinstance(rankings, dict) or set(map(type, rankings)) - {str}:
        return None
    if set(map(type, rankings.values())) - {list, tuple}:
        return None
    copies = list(map(tuple, rankings.values()))
    count = sum(map(len, copies))
    if (
        countOf(map(type, chain.from_iterable(copies)), str) != count
    ):  # not of a subclass either, nor an integer
        return None
    # The union of a ranking with "" has one id more than the ranking, unless one is twice in it or is "".
    if sum(map(len, map({""}.union, copies))) != count + len(copies):
        return None
    return dict(zip(rankings, copies, strict=True))


def _checked_one_by_one(rankings: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return the rankings in any accepted form, or raise RunError that names the first query at fault."""
    checked: dict[str, tuple[str, ...]] = {}
    for given, ranking in rankings.items():
        query_id = _query_id(given)
        if query_id in checked:
            raise RunError(f"query {quote(query_id)} comes twice. Give each query one ranking.")
        checked[query_id] = _checked_ranking(query_id, ranking)
    return checked


def _query_id(given: object) -> str:
    """Return a query's id as text. Raises RunError for what cannot be an id."""
    query_id = as_id(given)
    if query_id is None:
        raise RunError(
            f"a query's id is text, not {type(given).__name__}. Give a mapping of query id to ids."
        )
    return query_id


def _checked_ranking(query_id: str, given: object) -> tuple[str, ...]:
    """Return a ranking's ids in any accepted form, or raise RunError that says what is wrong with them."""
    wrong = f"the ranking of query {quote(query_id)}"
    if isinstance(given, Mapping):
        try:
            scores = [(as_id(doc), float(score)) for doc, score in given.items()]
        except OverflowError:
            raise RunError(
                f"{wrong}: a score is an integer that no double holds. Give ids, best first, or smaller scores."
            ) from None
        except (TypeError, ValueError):
            raise RunError(
                f"{wrong}: a score is not a number. Give ids, best first, or a mapping of id to score."
            ) from None
        if any(math.isnan(score) for _, score in scores):
            raise RunError(f"{wrong}: a score is NaN. Give ids, best first, or a mapping of id to score.")
        ids: Iterable[object] = ranked([(doc, score) for doc, score in scores if doc is not None])
        if len(given) != sum(doc is not None for doc, _ in scores):
            raise RunError(f"{wrong}: an id is text. Give ids, best first, or a mapping of id to score.")
    elif isinstance(given, (str, bytes, AbstractSet)) or not isinstance(given, Iterable):
        raise RunError(f"{wrong} is a {type(given).__name__}. Give a list of ids, best first.")
    else:
        ids = given
    ranking = tuple(ids)
    if set(map(type, ranking)) - {str}:
        texts = tuple(as_id(doc) for doc in ranking)
        for doc, text in zip(ranking, texts, strict=True):
            if text is None:
                raise RunError(
                    f"{wrong}: an id is text, not {type(doc).__name__}. Give a list of ids, best first."
                )
        ranking = texts
    repeated = first_repeat(ranking)  # type: ignore[arg-type]  # what is not text has just been turned away
    if repeated:
        raise RunError(f"{wrong}: {quote(repeated[0])} is in it twice. Give each document once.")
    if "" in ranking:
        raise RunError(f"{wrong}: an id is empty. Leave out what has none.")
    return ranking  # type: ignore[return-value]  # the same
