"""Write a run as JSON, one query a line and sorted by id; read one back, also out of a JSON report.

Reading trusts nothing: a file that was cut short, has a conflict's markers or was written by a newer version is
refused with a sentence that says so.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from pytest_irmetrics.base import paused_gc
from pytest_irmetrics.base.files import CONFLICT, read_json_strictly, strict_object
from pytest_irmetrics.base.numbers import MAX_GRADE, MAX_WEIGHT, MIN_WEIGHT, as_whole_number
from pytest_irmetrics.base.wording import cut, listed, printable, quote
from pytest_irmetrics.run.answer import (
    Answer,
    Answers,
    Header,
    PackedRanking,
    RunError,
    how_to_restore,
    pack_if_valid,
    ranking_fault,
)

_Refuse = Callable[[str], NoReturn]
"""Raises RunError for what is wrong with the query or the header at hand."""


FORMAT, VERSION = "pytest-irmetrics run", 1
"""After a release a new key raises it, so that older ones say to upgrade."""
REPORT_FORMAT = "pytest-irmetrics report"
_MAX_DOUBLE = sys.float_info.max
_MOST_TESTS = 5  # tests of a report that an error lists

# What would end a line for some reader, hide, reorder its neighbours, or has no UTF-8: C1 controls, soft hyphen,
# zero-width and bidi characters, separators, surrogates, byte order mark, interlinear marks, tags. As text,
# compiled only for a run beyond ASCII.
_UNSAFE = "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode
_encode_as_made = json.JSONEncoder(ensure_ascii=False).encode


# The keys.


class _Key(NamedTuple):
    """A key of a query or of the header; all but `id`, `format`, `version` and `queries` are attributes of Answer and Header."""

    words: str
    """What its value must be."""
    is_right: Callable[[Any], bool]
    read: Callable[[Any], Any] = lambda value: value
    """Make the attribute of a value that is right."""
    write: Callable[[Any], str] = _encode
    """Make the JSON of an attribute."""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: Any, low: float = -_MAX_DOUBLE, high: float = _MAX_DOUBLE) -> bool:
    # Compared, not converted: JSON's integers may be longer than a double can hold.
    return type(value) in (int, float) and low <= value <= high


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and {*map(type, value)} <= {str}


def _is_object(value: object, of: Callable[[Any], bool] = lambda _: True) -> bool:
    return isinstance(value, dict) and all(map(of, value.values()))


def _is_limit(value: Any) -> bool:
    return _is_object(value, lambda one: _is_text(one) or _is_number(one)) and _is_text(value.get("metric"))


def _ranking_text(ranking: Sequence[str]) -> str:
    """Return a ranking as JSON; of a packed one its text is written at once, which takes a tenth of the time."""
    if not isinstance(ranking, PackedRanking) or "\\" in ranking.text:
        return _encode(tuple(ranking))
    ids = _encode(ranking.text).replace("\\n", '", "')
    return f"[{ids}]"


def _ordered(limit: Mapping[str, Any]) -> dict[str, Any]:
    """Return a limit with what it is on, metric and tag, before the words."""
    return dict(sorted(limit.items(), key=lambda pair: (pair[0] not in ("metric", "tag"), pair[0])))


_LIMITS = _Key(
    "a list of objects with a `metric` and its limits",
    lambda value: isinstance(value, list) and all(map(_is_limit, value)),
    tuple,
    lambda limits: _encode_as_made([*map(_ordered, limits)]),
)
_QUERY_KEYS = {
    "id": _Key("text", _is_text),
    "text": _Key("text", _is_text),
    "params": _Key("an object", _is_object, write=lambda params: _encode(dict(params))),
    "judgments": _Key(
        f"an object of numbers up to {MAX_GRADE}",
        lambda value: _is_object(value, lambda grade: _is_number(grade, high=MAX_GRADE)),
        write=lambda grades: _encode({doc: as_whole_number(grades[doc]) for doc in grades}),
    ),
    "weight": _Key(
        f"a number above 0, from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}",
        lambda value: _is_number(value, MIN_WEIGHT, MAX_WEIGHT),
        float,
        lambda weight: _encode(float(weight)),
    ),
    "tags": _Key("a list of texts", _is_list_of_texts, tuple),
    "xfail": _Key("true or false", lambda value: isinstance(value, bool)),
    "unjudged": _Key("true or false", lambda value: isinstance(value, bool)),
    "limits": _LIMITS,
    "passages": _Key(
        "an object of lists of two texts, document and passage",
        lambda value: _is_object(value, lambda one: _is_list_of_texts(one) and len(one) == 2),
        lambda passages: {key: tuple(passage) for key, passage in passages.items()},
    ),
    "rankings": _Key(
        "a list of one ranking or more",
        lambda value: isinstance(value, list) and bool(value),
        tuple,
        lambda rankings: f"[{', '.join(map(_ranking_text, rankings))}]",
    ),
}
_HEADER_KEYS = {
    "format": _Key(repr(FORMAT), lambda value: value == FORMAT),
    "version": _Key("a positive integer", _is_count),
    "golden_set": _Key("text", _is_text),
    "depth": _Key("a positive integer", _is_count),
    "relevance_level": _Key(
        f"a number above 0 and up to {MAX_GRADE}",
        lambda value: _is_number(value, 5e-324, MAX_GRADE),
        write=lambda level: _encode(as_whole_number(level)),
    ),
    "means": _Key(
        "an object of numbers that a double can hold",
        lambda value: _is_object(value, _is_number),
        lambda means: {name: float(mean) for name, mean in means.items()},
        lambda means: _encode({name: float(mean) for name, mean in means.items()}),
    ),
    "provenance": _Key(
        "an object of texts and numbers",
        lambda value: _is_object(value, lambda one: _is_text(one) or _is_number(one)),
    ),
    "limits": _LIMITS,
    "queries": _Key("a list", lambda value: isinstance(value, list)),
}
"""In the order in which they are written."""


# Writing.


def dumps(answers: Answers, header: Header) -> str:
    """Return the text, a line for each query, as analysis/history.py reads it; equal runs give equal texts. Raises RunError for what JSON cannot hold."""
    head = [f'"format": {_encode(FORMAT)}', f'"version": {VERSION}']
    head += _fields(header, Header(), _HEADER_KEYS, "the header")
    queries = []
    for query_id in sorted(answers):
        fields = _fields(answers[query_id], Answer(()), _QUERY_KEYS, f"query {quote(query_id)}")
        queries.append(f'\n{{"id": {_encode(query_id)}, {", ".join(fields)}}}')
    text = "{\n" + "".join([f"{field},\n" for field in head]) + f'"queries": [{",".join(queries)}\n]\n}}\n'
    # What hides, breaks the line or has no UTF-8 is written as \u….
    is_safe = text.isascii() and "\x7f" not in text
    return text if is_safe else re.sub(_UNSAFE, lambda found: json.dumps(found[0])[1:-1], text)


def _fields(values: object, plain: object, keys: Mapping[str, _Key], of: str) -> list[str]:
    """Return `"key": value` of each attribute that is another than in `plain`; messages say what they are `of`."""
    fields = []
    for key, kind in keys.items():
        value = getattr(values, key, None)
        if value == getattr(plain, key, None):
            continue
        try:
            fields.append(f'"{key}": {kind.write(value)}')
        except (TypeError, ValueError, RecursionError) as error:
            text = f"{of}: {key} cannot be stored: {printable(str(error))}. Use text, finite numbers, lists and mappings."
            raise RunError(text) from None
    return fields


# Reading.


def loads(text: str, shown: str, test: str | None = None) -> tuple[dict[str, Answer], Header]:
    """Read a run, or the run of a report's test; `shown` is how errors call the file.

    Of a report's tests `test` takes the one of this id, or else the one that has it in its id. Raises RunError.
    """
    with paused_gc():
        text = text.removeprefix("\ufeff")
        try:
            document = read_json_strictly(text, _make_object)
        except ValueError as error:
            line, fault, cure = _why_unreadable(text, error, shown)
            raise RunError(f"{shown}:{line}: {fault}. {cure}") from None
        document = document if isinstance(document, dict) else {}
        if document.get("format") == REPORT_FORMAT and isinstance(document.get("tests"), list):
            document, text = _run_of_test(document["tests"], shown, test), ""
        header = _read_header(document, shown)
        # With one query a line, as they are written; a report's are not.
        first_line = text[: text.find('"queries"')].count("\n") + 2 if text else None
        return _read_queries(document["queries"], first_line, shown), header


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object, a query's right rankings packed at once: kept as lists to the end, they are a large run's peak of memory."""
    found = strict_object(pairs)
    if isinstance(found.get("id"), str) and isinstance(rankings := found.get("rankings"), list):
        found["rankings"] = [one if (packed := pack_if_valid(one)) is None else packed for one in rankings]
    return found


def _why_unreadable(text: str, error: Exception, shown: str) -> tuple[int, str, str]:
    """Return the line, what is wrong and what to do of a text that is no JSON, or none that is strict."""
    cure = how_to_restore(shown)
    if conflict := CONFLICT.search(text):
        cure = f"{cure} Of a baseline `pytest --ir-baseline` then says what the merged search changes, and `pytest --ir-baseline-update` accepts that."
        return text[: conflict.start()].count("\n") + 1, "is in a merge conflict", cure
    body = text.rstrip()
    if not body:
        return 1, "the file is empty", cure
    if not isinstance(error, json.JSONDecodeError):
        return 1, cut(str(error), 200), cure  # not strict, nested too deeply, a number of thousands of digits
    if error.pos >= len(body) or not body.endswith("}"):
        return body.count("\n") + 1, "the file was cut short", cure
    return error.lineno, f"is not JSON: {error.msg}, column {error.colno}", cure


def _read_header(document: Mapping[str, Any], shown: str) -> Header:
    """Return what a stored run says of itself as a whole. Raises RunError for a value that is out of its range."""

    def refuse(fault: str, cure: str = "") -> NoReturn:
        raise RunError(f"{shown}:1: {fault}. {cure or how_to_restore(shown)}")

    version = document.get("version")
    if document.get("format") != FORMAT:
        refuse(
            f"is not a stored run, whose `format` is {FORMAT!r}",
            f"Give a file that pytest-irmetrics wrote, or a TREC run. Of a baseline: {how_to_restore(shown)}",
        )
    if type(version) is int and version > VERSION:
        refuse(
            f"was written in version {quote(str(version))[1:-1]} of the format, and this pytest-irmetrics reads up to {VERSION}",
            "Upgrade pytest-irmetrics.",
        )
    values = _read(document, _HEADER_KEYS, ("version", "queries"), refuse)
    return Header(**{key: values[key] for key in Header._fields if key in values})


def _read_queries(queries: Iterable[Any], first_line: int | None, shown: str) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    query: Any = None

    def refuse(fault: str) -> NoReturn:
        line = 1 if first_line is None else first_line + len(answers)
        has_id = isinstance(query, dict) and isinstance(query.get("id"), str)
        name = f"query {quote(query['id'])}: " if has_id else ""
        raise RunError(f"{shown}:{line}: {name}{fault}. {how_to_restore(shown)}")

    for query in queries:
        if not isinstance(query, dict) or not isinstance(query.get("id"), str):
            refuse("a query is not an object with the text `id`")
        values = _read(query, _QUERY_KEYS, ("rankings",), refuse)
        query_id = values.pop("id")
        if query_id in answers:
            refuse("it is there twice")
        for ranking in values["rankings"]:
            if not isinstance(ranking, (tuple, PackedRanking)):
                fault = _is_list_of_texts(ranking) and ranking_fault(ranking)
                refuse(f"a ranking is wrong: {fault}" if fault else "a ranking is not a list of ids")
        answers[query_id] = Answer(**values)
    return answers


def _read(
    found: Mapping[str, Any], keys: Mapping[str, _Key], needed: Iterable[str], refuse: _Refuse
) -> dict[str, Any]:
    """Return what each key holds. Refuses the first that is unknown, missing or wrong."""
    for key in found:
        if key not in keys:
            refuse(f"the key {quote(key)} is unknown")
    for key in (*needed, *found):
        if key not in found or not keys[key].is_right(found[key]):
            refuse(f"`{key}` is not {keys[key].words}")
    return {key: keys[key].read(value) for key, value in found.items()}


def _run_of_test(tests: list[Any], shown: str, test: str | None) -> Mapping[str, Any]:
    """Return the run of a report's only test, or of the one that `test` names by its id or a part of it."""
    found: dict[str, Mapping[str, Any]] = {
        str(one.get("nodeid")): one["run"]
        for one in tests
        if isinstance(one, dict) and isinstance(one.get("run"), dict)
    }
    wanted = [test] if test in found else [name for name in found if test is None or test in name]
    if len(wanted) == 1:
        return found[wanted[0]]
    if not found:
        raise RunError(f"{shown}:1: is a report without a run: no test measured anything. Write it anew.")
    some = listed(wanted or list(found), _MOST_TESTS, lambda name: quote(name, 200))
    has = f"{len(wanted)} runs," if wanted else f"no run of a test {quote(str(test), 200)}, but runs"
    text = f"{shown}:1: has {has} of {some}. Say whose is wanted: `--test` and a part of its id that no other has; in a fixture of function scope `Run.load(path, test=request.node.nodeid)`."
    raise RunError(text)
