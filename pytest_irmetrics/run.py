"""A run: what a retriever answered, by query. Written as JSON, which keeps everything, or as a TREC run.

The JSON has one query a line, sorted by id, and nothing that differs between two equal runs: it is made to be
committed, compared with ``git diff`` and merged. Reading trusts nothing: a file that was cut short, holds a
conflict's markers or was written by a newer version is refused with a sentence that says so.
"""

from __future__ import annotations

import json
import math
import operator
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain, groupby, islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, SupportsIndex, cast
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable

from pytest_irmetrics.collector import without_collection

FORMAT = "pytest-irmetrics run"
VERSION = 1
_REPORT_FORMAT = "pytest-irmetrics report"

_CURE = "Restore the file from version control, or store it anew (a baseline: `pytest --ir-baseline-update`)."
_HEADER_KEYS = ("format", "version", "golden_set", "depth", "relevance_level", "means", "queries")
_QUERY_KEYS = ("id", "text", "params", "judgments", "weight", "tags", "passages", "rankings")

_QUERY_KEY_SET = frozenset(_QUERY_KEYS)
_BLANK = b" \t\r\n"
_NOTHING: Mapping[str, Any] = MappingProxyType({})

# What would end a line for some reader, hide, reorder its neighbours, or has no UTF-8: C1 controls, soft hyphen,
# zero-width and bidi characters, separators, surrogates, byte order mark, interlinear marks, tags.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_sorted = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode

Grade = int | float
Passages = Mapping[str, tuple[str, str]]

_NO_PASSAGES: Passages = {}
"""What nearly every answer has, and none may change."""


class RunError(ValueError):
    """A run that cannot be read or written; reads ``path:line: what is wrong. What to do.``."""


def printable(text: str) -> str:
    """`text` on one line, with whatever would not print as itself escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quote(text: str, width: int = 60) -> str:
    """`text` in quotes, escaped, cut to about `width` characters."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")


def as_id(value: object) -> str | None:
    """Give the text of what can be an id (text, an integer, a UUID, a NumPy integer), None for all else."""
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, whatever a subclass prints as
    if isinstance(value, bool):
        return None
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, SupportsIndex) and "bool" not in str(getattr(value, "dtype", "")):
        try:
            return str(operator.index(value))
        except (TypeError, ValueError):  # an array of several, a NumPy boolean; over 4,300 digits
            return None
    return None


def ranked(scores: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Order ids as trec_eval does: by score, highest first; ties by id, descending."""
    return tuple([doc for _, doc in sorted([(score, doc) for doc, score in scores], reverse=True)])


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one query, and what it was asked and judged with.

    `rankings` has one ranking, best first and without duplicates, for each time that the query was asked.
    `text`, `judgments` and `weight` are None where the run does not say: a TREC run holds rankings alone.
    `passages` maps those entries of the rankings that are passages to their document and text.
    """

    rankings: tuple[tuple[str, ...], ...]
    text: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    judgments: Mapping[str, Grade] | None = None
    weight: float | None = None
    tags: tuple[str, ...] = ()
    passages: Passages = field(default_factory=lambda: _NO_PASSAGES)


class _Draft:
    """An Answer while its slots can still be set: in a third of the time that the frozen class's constructor takes."""

    __slots__ = Answer.__slots__

    def __init__(
        self,
        rankings: tuple[tuple[str, ...], ...],
        text: str | None,
        params: Mapping[str, Any],
        judgments: Mapping[str, Grade] | None = None,
        weight: float | None = None,
        tags: tuple[str, ...] = (),
        passages: Passages = _NO_PASSAGES,
    ) -> None:
        self.rankings = rankings
        self.text = text
        self.params = params
        self.judgments = judgments
        self.weight = weight
        self.tags = tags
        self.passages = passages
        self.__class__ = Answer  # type: ignore[assignment]  # equal slots, so it is one from here on


make_answer = cast("Callable[..., Answer]", _Draft)
"""Make an Answer faster than its own constructor; all fields, in its order."""


class Run:
    """What a retriever answered, by query: `run["refund"]` is a ranking, best first.

    Made of a mapping from query id to ids, best first, or to a mapping from id to score, which is then ordered
    as trec_eval orders it. Also a retriever itself, which gates without an engine.
    """

    __slots__ = ("answers", "depth", "golden_set", "means", "relevance_level")

    answers: Mapping[str, Answer]
    depth: int | None
    golden_set: str | None
    relevance_level: Grade | None
    means: Mapping[str, float]

    def __init__(self, rankings: Mapping[str, Sequence[str] | Mapping[str, float]]) -> None:
        answers: dict[str, Answer] = {}
        for given, ranking in rankings.items():
            query_id = as_id(given)
            if query_id is None:
                raise RunError(
                    f"a query's id is text, not {type(given).__name__}. Give a mapping of query id to ids."
                )
            if query_id in answers:
                raise RunError(f"query {quote(query_id)} comes twice. Give each query one ranking.")
            answers[query_id] = Answer((_ranking(query_id, ranking),))
        self._fill(answers)

    def _fill(
        self,
        answers: Mapping[str, Answer],
        depth: int | None = None,
        golden_set: str | None = None,
        relevance_level: Grade | None = None,
        means: Mapping[str, float] | None = None,
    ) -> None:
        self.answers = answers
        self.depth = depth
        self.golden_set = golden_set
        self.relevance_level = relevance_level
        self.means = dict(means or {})

    @classmethod
    def of(
        cls,
        answers: Mapping[str, Answer],
        depth: int | None = None,
        golden_set: str | None = None,
        relevance_level: Grade | None = None,
        means: Mapping[str, float] | None = None,
    ) -> Run:
        """Make a run of answers that were read with care already. `golden_set` is a path, and not absolute."""
        run = cls.__new__(cls)
        run._fill(answers, depth, golden_set, relevance_level, means)  # noqa: SLF001 - its own
        return run

    def __getitem__(self, query_id: str) -> tuple[str, ...]:
        return self.answers[query_id].rankings[0]

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.answers

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # it holds mappings

    def __repr__(self) -> str:
        depth = "" if self.depth is None else f", depth {self.depth}"
        return f"<Run: {len(self)} {'query' if len(self) == 1 else 'queries'}{depth}>"

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, like: Run | None = None) -> Run:
        """Read a stored run: JSON where the name ends in ``.json``, a TREC run otherwise.

        Rankings and ids that `like` has for the same query are taken from there, and so are in memory once.
        """
        where = printable(os.fspath(path))
        file = Path(path)
        try:
            if file.suffix.lower() != ".json":
                return _read_trec_in_columns(file) or _read_trec(file.read_bytes(), where)
            run = _read_line_by_line(file, like)
            if run is not None:
                return run
            data = file.read_bytes()
        except OSError as error:
            raise RunError(
                f"{where}: cannot be read: {error.strerror or error}. Give the path of a stored run."
            ) from None
        return cls.loads(_decode(data, where), path)

    @classmethod
    def loads(cls, text: str, path: str | os.PathLike[str] | None = None) -> Run:
        """Read the JSON that `dumps` wrote; `path` only words the errors."""
        where = "run" if path is None else printable(os.fspath(path))
        document = _stored_run(_parse(text, where), where)
        _check_header(document, where)
        answers: dict[str, Answer] = {}
        for number, entry in enumerate(document["queries"]):
            try:
                query_id, answer = _read_entry(entry)
                if query_id in answers:
                    first = list(answers).index(query_id)
                    _refuse(
                        f"query {quote(query_id)} is there twice, first in line {_query_line(text, first)}"
                    )
            except _FlawError as flaw:
                raise RunError(f"{where}:{_query_line(text, number)}: {flaw}. {_CURE}") from None
            answers[query_id] = answer
        return _under_header(document, answers)

    def dumps(self) -> str:
        """Write as JSON. Equal runs give equal text, of printable, valid UTF-8; a query is one line."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        header = {
            "format": FORMAT,
            "version": VERSION,
            "golden_set": self.golden_set,
            "depth": self.depth,
            "relevance_level": None if self.relevance_level is None else _plain_number(self.relevance_level),
            "means": {name: float(self.means[name]) for name in sorted(self.means)} or None,
        }
        yield "{\n"
        for key, value in header.items():
            if value is not None:
                yield f"{_encode(key)}: {_safe(_encode_or_refuse(value, f'the header: {key}'))},\n"
        yield '"queries": ['
        separator = "\n"
        for query_id in sorted(self.answers):
            yield separator + _safe(_entry_line(query_id, self.answers[query_id]))
            separator = ",\n"
        yield "\n]\n}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to `path`: JSON where the name ends in ``.json``; otherwise a TREC run, of the first repeat alone.

        A TREC run cannot hold ids with white space (an error), texts, params, nor that a query had an empty result.
        """
        lines = self._lines() if Path(path).suffix.lower() == ".json" else self._trec_lines()
        # As bytes by the thousand lines, and whole before the file is touched: an id may yet turn out to be unfit.
        data = bytearray()
        while some := "".join(islice(lines, 1000)):
            data += some.encode("utf-8")
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            raise RunError(
                f"{printable(os.fspath(path))}: cannot be written: {error.strerror or error}."
            ) from None

    def _trec_lines(self) -> Iterator[str]:
        for query_id in sorted(self.answers):
            ranking = self[query_id]
            # A byte order mark at the start of a line may be at the start of the file, and is none of the id then.
            bad = query_id if query_id.startswith("\ufeff") else _unfit_for_trec((query_id, *ranking))
            if bad is not None:
                raise RunError(f"{quote(bad)} cannot be an id in a TREC run. Save with the suffix .json.")
            for rank, doc in enumerate(ranking):
                # Scores that fall by one keep the order for every reader, also for those that compare floats.
                yield f"{query_id} Q0 {doc} {rank + 1} {len(ranking) - rank} pytest-irmetrics\n"


def _ranking(query_id: str, given: object) -> tuple[str, ...]:
    wrong = f"the ranking of query {quote(query_id)}"
    if isinstance(given, Mapping):
        try:
            scores = [(as_id(doc), float(score)) for doc, score in given.items()]
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
    return ranking  # type: ignore[return-value]  # the same


def first_repeat(ids: Sequence[str]) -> tuple[str, int, int] | None:
    """Find the first id that is there a second time, with its two ranks, from 1."""
    if len(set(ids)) == len(ids):
        return None
    ranks: dict[str, int] = {}
    return next(
        (doc, ranks[doc], rank) for rank, doc in enumerate(ids, 1) if ranks.setdefault(doc, rank) != rank
    )


def _plain_number(value: Grade) -> Grade:
    """Two equal numbers are one text: 2.0 is written as 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _entry_line(query_id: str, answer: Answer) -> str:
    head: dict[str, object] = {"id": query_id}
    if answer.text is not None:
        head["text"] = answer.text
    line = _encode(head)[:-1]
    wrong = f"query {quote(query_id)}"
    if answer.params:
        line += f', "params": {_encode_or_refuse(answer.params, f"{wrong}: params", _encode_sorted)}'
    if answer.judgments is not None:
        grades = {doc: _plain_number(answer.judgments[doc]) for doc in sorted(answer.judgments)}
        line += f', "judgments": {_encode_or_refuse(grades, f"{wrong}: judgments")}'
    if answer.weight is not None:
        line += f', "weight": {_encode_or_refuse(float(answer.weight), f"{wrong}: weight")}'
    if answer.tags:
        line += f', "tags": {_encode(answer.tags)}'
    if answer.passages:
        line += f', "passages": {_encode_sorted(dict(answer.passages))}'
    return f'{line}, "rankings": {_encode(answer.rankings)}}}'


def _encode_or_refuse(value: object, what: str, encode: Any = _encode) -> str:
    try:
        text: str = encode(dict(value) if isinstance(value, Mapping) else value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RunError(
            f"{what} cannot be stored: {printable(str(error))}. Use text, finite numbers, lists and mappings."
        ) from None
    return text


def _safe(line: str) -> str:
    if line.isascii() and "\x7f" not in line:
        return line
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], line)


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RunError(f"{where}:{line}: is not UTF-8. {_CURE}") from None


def _read_line_by_line(file: Path, like: Run | None) -> Run | None:
    """Read a file that is laid out as `dumps` does it, without ever holding all of its text.

    None for whatever is laid out otherwise or is wrong in any way: the whole is then read again with care.
    """
    known = {} if like is None else like.answers
    answers: dict[str, Answer] = {}
    with file.open("rb") as lines, without_collection():
        head = list(islice(lines, len(_HEADER_KEYS) + 1))
        opening = next(
            (at for at, line in enumerate(head, 1) if line.rstrip(_BLANK) == b'"queries": ['), None
        )
        if opening is None:
            return None
        try:
            document = _DECODER.decode(b"".join([*head[:opening], b"]}"]).decode())
            _check_header(document, "")
            separator = ""
            for line in chain(head[opening:], lines):
                if line[:1] != b"{":
                    rest = (line + lines.read()).translate(None, _BLANK)
                    return _under_header(document, answers) if rest == b"]}" and not separator else None
                text = line.decode()
                entry, end = _DECODER.raw_decode(text)
                query_id, answer = _read_entry(entry, known)
                if query_id in answers or (answers and separator != ","):
                    return None
                separator = text[end:].strip(" \t\r\n")
                answers[query_id] = answer
        except (ValueError, RecursionError, _FlawError):  # in JSON, UTF-8, the header, an entry
            return None
    return None


def _under_header(document: Mapping[str, Any], answers: Mapping[str, Answer]) -> Run:
    return Run.of(
        answers,
        depth=document.get("depth"),
        golden_set=document.get("golden_set"),
        relevance_level=document.get("relevance_level"),
        means=document.get("means"),
    )


class _FlawError(Exception):
    """What is wrong in a part of the file; whoever knows the place words the error."""


def _refuse(what: str) -> NoReturn:
    raise _FlawError(what)


def _parse(text: str, where: str) -> dict[str, Any]:
    """Read the JSON, with all that the standard reader lets pass refused."""
    conflict = _CONFLICT.search(text)
    if conflict:
        line = _line_at(text, conflict.start())
        raise RunError(
            f"{where}:{line}: a conflict's marker, left by a merge. Take one side whole (`git checkout --ours` or `--theirs`), "
            "or store it anew (a baseline: `pytest --ir-baseline-update`)."
        )
    body = text.rstrip()
    if not body:
        raise RunError(f"{where}:1: the file is empty. {_CURE}")
    try:
        document = _DECODER.decode(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        if error.pos >= len(body) or not body.endswith("}"):
            raise RunError(f"{where}:{_line_at(text, len(body))}: the file was cut short. {_CURE}") from None
        raise RunError(
            f"{where}:{error.lineno}: is not JSON: {error.msg}, column {error.colno}. {_CURE}"
        ) from None
    except _FlawError as flaw:
        duplicate = _survey(text)[0]
        if duplicate is None:
            # It may run into what follows, as `NaN.0` does.
            lexemes = (found for found in _LEXEME.finditer(text) if found[0].startswith(str(flaw)))
            line = _line_at(text, next(lexemes).start())
            raise RunError(f"{where}:{line}: {flaw} is not a finite number. {_CURE}") from None
        key, first, second = duplicate
        raise RunError(
            f"{where}:{second}: the key {quote(key)} is there twice, first in line {first}. {_CURE}"
        ) from None
    except RecursionError:
        raise RunError(f"{where}:1: is nested too deeply to be a run. {_CURE}") from None
    except ValueError:  # an integer of more digits than Python converts
        raise RunError(f"{where}:1: holds a number of thousands of digits. {_CURE}") from None
    if not isinstance(document, dict):
        raise RunError(f"{where}:1: is not a run: expected an object with the key `format`. {_CURE}")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse("a key is there twice")
    return found


def _constant(text: str) -> NoReturn:
    _refuse(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _refuse(text)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


@dataclass(slots=True)
class _Container:
    """An object or, without keys, a list that is open at some place of the text."""

    keys: dict[str, int] | None
    key: str = ""


def _survey(text: str) -> tuple[tuple[str, int, int] | None, list[int]]:
    """Find the first key that an object holds twice, with its two lines, and the line in which each query starts.

    Only to word an error about text that `json` has been over, however the file was reformatted since.
    """
    queries: list[int] = []
    around: list[_Container] = []
    before = ""
    for found in _LEXEME.finditer(text):
        lexeme = found[0]
        inner = around[-1] if around else None
        if inner is not None and inner.keys is not None and lexeme[0] == '"' and before in {"{", ","}:
            inner.key = _unquote(lexeme)
            if inner.key in inner.keys:
                first = _line_at(text, inner.keys[inner.key])
                return (inner.key, first, _line_at(text, found.start())), queries
            inner.keys[inner.key] = found.start()
        elif lexeme == "{" and _is_list_of_queries(around):
            queries.append(_line_at(text, found.start()))
        if lexeme in {"{", "["}:
            around.append(_Container({} if lexeme == "{" else None))
        elif lexeme in {"}", "]"} and around:
            around.pop()
        before = lexeme
    return None, queries


def _is_list_of_queries(around: list[_Container]) -> bool:
    """Say whether a place is in the list `queries` of a run, which is the document or a report's `run`."""
    if len(around) < 2 or around[-1].keys is not None or around[-2].key != "queries":
        return False
    return len(around) == 2 or around[-3].key == "run"


def _unquote(lexeme: str) -> str:
    try:
        return str(json.loads(lexeme))
    except ValueError:  # behind the place that json complained of
        return lexeme


def _query_line(text: str, number: int) -> int:
    """Find the line of the query at `number`, counted from 0."""
    lines = _survey(text)[1]
    return lines[number] if number < len(lines) else 1


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _stored_run(document: dict[str, Any], where: str) -> dict[str, Any]:
    """Give the run that a JSON report holds, or else the document itself."""
    tests = document.get("tests")
    if document.get("format") != _REPORT_FORMAT or not isinstance(tests, list):
        return document
    runs = [test["run"] for test in tests if isinstance(test, dict) and isinstance(test.get("run"), dict)]
    if len(runs) != 1:
        raise RunError(
            f"{where}:1: is a report of {len(runs) or 'no'} runs, and one is needed. Write one of a single test: "
            "`pytest NODEID --ir-report=json:PATH`."
        )
    run: dict[str, Any] = runs[0]
    return run


def _check_header(document: dict[str, Any], where: str) -> None:
    def bad(what: str, cure: str = _CURE) -> NoReturn:
        raise RunError(f"{where}:1: {what}. {cure}")

    found = document.get("format")
    if found != FORMAT:
        given = (
            "nothing" if found is None else quote(found) if isinstance(found, str) else type(found).__name__
        )
        bad(
            f"is not a stored run: `format` is {given}, not {FORMAT!r}",
            "Give a file that pytest-irmetrics wrote, or a TREC run.",
        )
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        bad("`version` is not a positive integer")
    if version > VERSION:
        bad(
            f"was written in version {quote(str(version))[1:-1]} of the format, and this pytest-irmetrics reads up to {VERSION}",
            "Upgrade pytest-irmetrics, or store it anew (a baseline: `pytest --ir-baseline-update`).",
        )
    _check_keys(document, _HEADER_KEYS, bad)
    depth = document.get("depth")
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        bad("`depth` is not a positive integer")
    golden_set = document.get("golden_set")
    if golden_set is not None and not isinstance(golden_set, str):
        bad("`golden_set` is not text")
    level = document.get("relevance_level")
    if level is not None and not _is_number(level):
        bad("`relevance_level` is not a number")
    means = document.get("means", {})
    if not isinstance(means, dict) or not all(map(_is_number, means.values())):
        bad("`means` is not an object of numbers")
    if not isinstance(document.get("queries"), list):
        bad("`queries` is not a list")


def _check_keys(found: Mapping[str, Any], known: Sequence[str], bad: Any) -> None:
    for key in found:
        if key not in known:
            near = get_close_matches(key, known, 1)
            bad(f"the key {quote(key)} is unknown" + (f" (meant: `{near[0]}`?)" if near else ""))


def _read_entry(entry: object, known: Mapping[str, Answer] = _NOTHING) -> tuple[str, Answer]:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        _refuse("a query is not an object with the text `id`")
    query_id = entry["id"]
    name = f"query {quote(query_id)}"

    def bad(what: str) -> NoReturn:
        _refuse(f"{name}: {what}")

    if not _QUERY_KEY_SET.issuperset(entry):
        _check_keys(entry, _QUERY_KEYS, bad)
    text, params, judgments = entry.get("text"), entry.get("params", {}), entry.get("judgments")
    weight, tags, rankings = entry.get("weight"), entry.get("tags", []), entry.get("rankings")
    if text is not None and not isinstance(text, str):
        bad("`text` is not text")
    if not isinstance(params, dict):
        bad("`params` is not an object")
    if judgments is not None and not (
        isinstance(judgments, dict) and all(map(_is_number, judgments.values()))
    ):
        bad("`judgments` is not an object of numbers")
    if weight is not None and not (_is_number(weight) and weight > 0):
        bad("`weight` is not a number above 0")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        bad("`tags` is not a list of texts")
    passages = _read_passages(entry.get("passages", {}), bad)
    if not isinstance(rankings, list) or not rankings:
        bad("`rankings` is not a list of one ranking or more")
    same = known[query_id].rankings if query_id in known else ()
    answer = make_answer(
        tuple([_read_ranking(ranking, same, bad) for ranking in rankings]),
        text,
        params,
        judgments,
        None if weight is None else float(weight),
        tuple(tags),
        passages,
    )
    return query_id, answer


def _read_passages(found: object, bad: Callable[[str], NoReturn]) -> dict[str, tuple[str, str]]:
    if not isinstance(found, dict):
        bad("`passages` is not an object")
    for passage in found.values():
        if not isinstance(passage, list) or list(map(type, passage)) != [str, str]:
            bad("`passages` does not lead to lists of two texts, document and passage")
    return {key: (document, text) for key, (document, text) in found.items()}


def _read_ranking(
    ranking: object, known: Sequence[tuple[str, ...]], bad: Callable[[str], NoReturn]
) -> tuple[str, ...]:
    """Check a ranking, and give it by the ids that are known already."""
    if not isinstance(ranking, list) or operator.countOf(map(type, ranking), str) != len(ranking):
        bad("a ranking is not a list of ids")
    read = tuple(ranking)
    for other in known:
        if other == read:
            return other
    repeated = first_repeat(read)
    if repeated:
        bad(f"a ranking is wrong: {quote(repeated[0])} is in it twice")
    if not known:
        return read
    ids = {doc: doc for other in known for doc in other}
    return tuple(map(ids.get, read, read))


def _unfit_for_trec(names: Sequence[str]) -> str | None:
    """Return the first name that is empty, holds white space, or cannot be written as UTF-8."""
    for name in names if not _are_words(names) else ():
        if not _are_words((name,)):
            return name
    return None


def _are_words(names: Sequence[str]) -> bool:
    try:
        data = "\n".join(names).encode("utf-8")
    except UnicodeEncodeError:
        return False
    words = data.split()
    return len(words) == len(names) and b"\n".join(words) == data


_CHUNK = 1 << 16  # so small that its parts stay in the processor's cache
_END = b"\0"
# Where `str` splits and `bytes` does not, so that an id may hold it.
_ODD = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")


class _Columns(NamedTuple):
    """The lines of a part of a TREC run."""

    queries: list[str]
    docs: list[str]
    scores: array[float]


def _read_trec_in_columns(file: Path) -> Run | None:
    """Read a TREC run part by part, in columns; None for whatever is wrong in any way, to be read again with care."""
    docs: dict[str, list[str]] = {}
    scores: dict[str, array[float]] = {}
    with file.open("rb") as data, without_collection():
        if data.read(3) != b"\xef\xbb\xbf":
            data.seek(0)
        left = b""
        while True:
            chunk = data.read(_CHUNK)
            whole, _, left = (left + chunk).rpartition(b"\n") if chunk else (left, b"", b"")
            try:
                part = _columns(whole)
            except ValueError:  # a score, UTF-8
                return None
            if part is None:
                return None
            start = 0
            for query_id, rows in groupby(part.queries):
                end = start + len(list(rows))
                docs.setdefault(query_id, []).extend(part.docs[start:end])
                scores.setdefault(query_id, array("d")).extend(part.scores[start:end])
                start = end
            if not chunk:
                break
    answers: dict[str, Answer] = {}
    for query_id, of_query in scores.items():
        ids = docs.pop(query_id)
        if len(set(ids)) != len(ids):
            return None
        values = of_query.tolist()
        # Most runs are written best first.
        falling = values == sorted(values, reverse=True) and len(set(values)) == len(values)
        ranking = tuple(ids) if falling else ranked(zip(ids, values, strict=True))
        answers[query_id] = make_answer((ranking,), None, {})
    return Run.of(answers) if answers else None


def _columns(data: bytes) -> _Columns | None:
    """Split whole lines into columns; None where a line has not six fields, or a score is not a number."""
    lines = data.replace(b"\r\n", b"\n").strip(b"\n")
    if not lines:
        return _Columns([], [], array("d"))
    if b"\r" in lines or _END in lines:
        return None
    while b"\n\n" in lines:
        lines = lines.replace(b"\n\n", b"\n")
    ends = lines.count(b"\n") + 1
    marked = lines.replace(b"\n", b" \0 ") + b" \0"
    # As many marks as lines, each seventh field one: so six fields stand before each.
    if marked.isascii() and not any(odd in marked for odd in _ODD):
        words = marked.decode().split()
        if len(words) != 7 * ends or words[6::7].count("\0") != ends:
            return None
        queries, docs, written = words[0::7], words[2::7], words[4::7]
    else:
        fields = marked.split()
        if len(fields) != 7 * ends or fields[6::7].count(_END) != ends:
            return None
        queries, docs, written = (b"\n".join(fields[at::7]).decode().split("\n") for at in (0, 2, 4))
        if not "".join(written).isascii():  # digits of another script, which a str may be made of
            return None
    scores = array("d", map(float, written))
    if (b"_" in lines and "_" in "".join(written)) or (
        math.isnan(sum(scores)) and any(map(math.isnan, scores))
    ):
        return None
    return _Columns(queries, docs, scores)


def _read_trec(data: bytes, where: str) -> Run:
    """Read lines of ``query Q0 document rank score tag``, ordered as trec_eval orders them: the rank is not read.

    Fields are split in bytes, at ASCII white space, as trec_eval does: an id may hold a no-break space.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    scores: dict[bytes, dict[bytes, float]] = {}
    number = 0
    for number, line in enumerate(data.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6:
            _refuse_line(line, len(fields), where, number)
        query_id, _, doc, _, written, _ = fields
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if math.isnan(score) or b"_" in written:
            shown = quote(written.decode("utf-8", "replace"))
            raise RunError(
                f"{where}:{number}: the score {shown} is not a number. Write `query Q0 document rank score tag`."
            )
        docs = scores.setdefault(query_id, {})
        if doc in docs:
            names = [quote(name.decode("utf-8", "replace")) for name in (doc, query_id)]
            raise RunError(
                f"{where}:{number}: the document {names[0]} comes twice for query {names[1]}. Keep one of the lines."
            )
        docs[doc] = score
    if not scores:
        raise RunError(
            f"{where}:1: the file is empty. Give a TREC run, of lines `query Q0 document rank score tag`."
        )
    _decode(data, where)
    answers = {
        query_id.decode(): Answer((ranked([(doc.decode(), score) for doc, score in docs.items()]),))
        for query_id, docs in scores.items()
    }
    return Run.of(answers)


def _refuse_line(line: bytes, fields: int, where: str, number: int) -> NoReturn:
    if _CONFLICT.match(line.decode("utf-8", "replace")):
        raise RunError(
            f"{where}:{number}: a conflict's marker, left by a merge. Take one side whole (`git checkout --ours` or `--theirs`)."
        )
    if number == 1 and line.lstrip()[:1] in {b"{", b"["}:
        raise RunError(
            f"{where}:1: looks like JSON, and a run is read as JSON only if its name ends in `.json`. Rename the file."
        )
    raise RunError(
        f"{where}:{number}: {fields} {'field' if fields == 1 else 'fields'}, not 6. Write `query Q0 document rank score tag`."
    )
