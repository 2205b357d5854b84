"""Write a run as JSON, one query a line and sorted by id; read one back, also out of a JSON report.

Reading trusts nothing: a file that was cut short, has a conflict's markers or was written by a newer version is
refused with a sentence that says so.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base import strict_json
from pytest_irmetrics.base.ids import first_repeat
from pytest_irmetrics.base.numbers import MAX_GRADE, MAX_WEIGHT, MIN_WEIGHT, as_whole_number
from pytest_irmetrics.base.wording import cut, listed, printable, quote
from pytest_irmetrics.run.answer import CONFLICT, CURE, Answer, Header, NoTestsError, RunError, take_one_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import NoReturn

    from pytest_irmetrics.run.answer import Answers

    Keys = Mapping[str, tuple[str, Callable[[Any], bool]]]
    """Key → what its value must be, in words, and a test of it."""

    Refuse = Callable[[str], NoReturn]
    """Raises RunError for what is wrong with the query or the header at hand."""

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

FORMAT, VERSION = "pytest-irmetrics run", 1
REPORT_FORMAT = "pytest-irmetrics report"
_MAX_DOUBLE = sys.float_info.max
_MOST_TESTS = 5  # tests of a report that an error lists

# What would end a line for some reader, hide, reorder its neighbours, or has no UTF-8: C1 controls, soft hyphen,
# zero-width and bidi characters, separators, surrogates, byte order mark, interlinear marks, tags.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode


# Writing.


def dumps(answers: Answers, header: Header) -> str:
    """Return the text; equal runs give equal texts. Raises RunError for what JSON cannot hold."""
    level, means = header.relevance_level, header.means or {}
    top = {
        "format": FORMAT,
        "version": VERSION,
        "golden_set": header.golden_set,
        "depth": header.depth,
        "relevance_level": None if level is None else as_whole_number(level),
        "means": {name: float(mean) for name, mean in means.items()} or None,
        "limits": header.limits,
    }
    head = "".join(f"{field},\n" for field in _fields(top, "the header"))
    queries = ",".join(f"\n{{{', '.join(_query_fields(one, answers[one]))}}}" for one in sorted(answers))
    return f'{{\n{head}"queries": [{queries}\n]\n}}\n'


def _query_fields(query_id: str, answer: Answer) -> list[str]:
    grades = answer.judgments
    values = {
        "id": query_id,
        "text": answer.text,
        "params": dict(answer.params) or None,
        "judgments": None if grades is None else {doc: as_whole_number(grades[doc]) for doc in grades},
        "weight": None if answer.weight is None else float(answer.weight),
        "tags": answer.tags or None,
        "xfail": answer.xfail or None,
        "limits": answer.limits or None,
        "passages": dict(answer.passages) or None,
        "rankings": answer.rankings,
    }
    return _fields(values, f"query {quote(query_id)}")


def _fields(values: Mapping[str, object], name: str) -> list[str]:
    r"""Return `"key": value` of each value but None, with ``\u…`` for what hides, breaks the line or has no UTF-8."""
    fields = []
    for key, value in values.items():
        if value is not None:
            try:
                text = f'"{key}": {_encode(value) if key != "limits" else _encode_limits(value)}'
            except (TypeError, ValueError, RecursionError) as error:
                raise RunError(
                    f"{name}: {key} cannot be stored: {printable(str(error))}. Use text, finite numbers, lists and mappings."
                ) from None
            fields.append(_UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text))
    return fields


def _encode_limits(limits: Any) -> str:
    """Encode limits with what each is on, metric and tag, before its words."""
    ordered = [
        sorted(one.items(), key=lambda pair: (pair[0] not in ("metric", "tag"), pair)) for one in limits
    ]
    return json.dumps([*map(dict, ordered)], ensure_ascii=False, allow_nan=False)


# Reading.


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: Any, low: float = -_MAX_DOUBLE, high: float = _MAX_DOUBLE) -> bool:
    # Compared, not converted: JSON's integers may be longer than a double can hold.
    return type(value) in (int, float) and low <= value <= high


def _is_count(value: object, high: float = math.inf) -> bool:
    return type(value) is int and 1 <= value <= high


def _is_list(value: object, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(of, value))


def _is_object(value: object, of: Callable[[Any], bool] = lambda _: True) -> bool:
    return isinstance(value, dict) and all(map(of, value.values()))


def _is_limit(value: Any) -> bool:
    return _is_object(value, lambda one: _is_text(one) or _is_number(one)) and _is_text(value.get("metric"))


_LIMITS = ("a list of objects with a `metric` and its limits", lambda value: _is_list(value, _is_limit))

_QUERY_KEYS: Keys = {
    "id": ("text", _is_text),
    "text": ("text", _is_text),
    "params": ("an object", _is_object),
    "judgments": (
        f"an object of numbers up to {MAX_GRADE}",
        lambda value: _is_object(value, lambda grade: _is_number(grade, high=MAX_GRADE)),
    ),
    "weight": (
        f"a number above 0, from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}",
        lambda value: _is_number(value, MIN_WEIGHT, MAX_WEIGHT),
    ),
    "tags": ("a list of texts", lambda value: _is_list(value, _is_text)),
    "xfail": ("true or false", lambda value: isinstance(value, bool)),
    "limits": _LIMITS,
    "passages": (
        "an object of lists of two texts, document and passage",
        lambda value: _is_object(value, lambda one: _is_list(one, _is_text) and len(one) == 2),
    ),
    "rankings": ("a list of one ranking or more", lambda value: isinstance(value, list) and bool(value)),
}
_HEADER_KEYS: Keys = {
    "format": (repr(FORMAT), lambda value: value == FORMAT),
    "version": ("a positive integer", _is_count),
    "golden_set": ("text", _is_text),
    "depth": (f"a positive integer up to {sys.maxsize}", lambda value: _is_count(value, sys.maxsize)),
    "relevance_level": (
        f"a number above 0 and up to {MAX_GRADE}",
        lambda value: _is_number(value, 5e-324, MAX_GRADE),
    ),
    "means": ("an object of numbers that a double can hold", lambda value: _is_object(value, _is_number)),
    "limits": _LIMITS,
    "queries": ("a list", lambda value: isinstance(value, list)),
}


def loads(text: str, shown: str, test: str | None = None) -> tuple[dict[str, Answer], Header]:
    """Read a run, or the run of a report's test; `shown` is how errors call the file.

    Of a report's tests `test` takes the one of this id, or else the one that has it in its id. Raises RunError.
    """
    text = text.removeprefix("\ufeff")
    document = _parse(text, shown)
    if not isinstance(document, dict):
        raise RunError(f"{shown}:1: is not a run: expected an object with the key `format`. {CURE}")
    if document.get("format") == REPORT_FORMAT and isinstance(document.get("tests"), list):
        document, text = _run_of_test(document["tests"], shown, test), ""
    else:
        refuse_test(test, shown)
    return _read_run(document, text, shown)


def _parse(text: str, shown: str) -> Any:
    """Read JSON strictly, or say what is wrong with a text that is not."""
    try:
        return strict_json.loads(text)
    except RecursionError:
        raise RunError(f"{shown}:1: is nested too deeply to be a run. {CURE}") from None
    except ValueError as error:
        conflict = CONFLICT.search(text)
        body = text.rstrip()
        if conflict:
            line = text.count("\n", 0, conflict.start()) + 1
            raise RunError(
                f"{shown}:{line}: is in a merge conflict. {take_one_side(shown)} The "
                "merged search may answer as neither side's did: compare a baseline (`pytest --ir-baseline`), then store it "
                "anew (`pytest --ir-baseline-update`)."
            ) from None
        if not body:
            raise RunError(f"{shown}:1: the file is empty. {CURE}") from None
        if isinstance(error, json.JSONDecodeError):
            if error.pos >= len(body) or not body.endswith("}"):
                raise RunError(f"{shown}:{body.count(chr(10)) + 1}: the file was cut short. {CURE}") from None
            fault = f"{error.lineno}: is not JSON: {error.msg}, column {error.colno}"
        elif isinstance(error, strict_json.NotStrictError):
            fault = f"1: {cut(str(error), 200)}"
        else:
            fault = "1: holds a number of thousands of digits"
        raise RunError(f"{shown}:{fault}. {CURE}") from None


def refuse_test(test: str | None, shown: str) -> None:
    """Raise NoTestsError where a test is named and the file holds none."""
    if test is not None:
        raise NoTestsError(
            f"{shown}:1: is one run, and no report of tests to take {quote(test, 200)} from. Leave the test out."
        )


def _read_run(document: Mapping[str, Any], text: str, shown: str) -> tuple[dict[str, Answer], Header]:
    """Check and return a run; `text` is where it stands with one query a line, empty where it does not."""

    def refuse(fault: str, cure: str = CURE) -> NoReturn:
        raise RunError(f"{shown}:1: {fault}. {cure}")

    found, version = document.get("format"), document.get("version")
    if found != FORMAT:
        given = (
            "nothing" if found is None else quote(found) if isinstance(found, str) else type(found).__name__
        )
        refuse(
            f"is not a stored run: `format` is {given}, not {FORMAT!r}",
            "Give a file that pytest-irmetrics wrote, or a TREC run.",
        )
    if type(version) is int and version > VERSION:
        refuse(
            f"was written in version {quote(str(version))[1:-1]} of the format, and this pytest-irmetrics reads up to {VERSION}",
            "Upgrade pytest-irmetrics, or store it anew (a baseline: `pytest --ir-baseline-update`).",
        )
    _check_values(document, _HEADER_KEYS, ("version", "queries"), refuse)
    means = {name: float(mean) for name, mean in document.get("means", {}).items()}
    limits = tuple(document["limits"]) if "limits" in document else None
    header = Header(
        document.get("depth"), document.get("golden_set"), document.get("relevance_level"), means, limits
    )
    return _read_queries(document["queries"], text, shown), header


def _read_queries(queries: Iterable[Any], text: str, shown: str) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    name = ""

    def refuse(fault: str) -> NoReturn:
        first = text.count("\n", 0, text.find('"queries"')) + 2
        raise RunError(f"{shown}:{first + len(answers) if text else 1}: {name}{fault}. {CURE}")

    for query in queries:
        name = ""
        if not isinstance(query, dict) or not isinstance(query.get("id"), str):
            refuse("a query is not an object with the text `id`")
        name = f"query {quote(query['id'])}: "
        if query["id"] in answers:
            refuse("it is there twice")
        _check_values(query, _QUERY_KEYS, ("rankings",), refuse)
        answers[query["id"]] = Answer(
            tuple([_read_ranking(ranking, refuse) for ranking in query["rankings"]]),
            query.get("text"),
            query.get("params", {}),
            query.get("judgments"),
            float(query["weight"]) if "weight" in query else None,
            tuple(query.get("tags", ())),
            {key: (document, passage) for key, (document, passage) in query.get("passages", {}).items()},
            query.get("xfail", False),
            tuple(query.get("limits", ())),
        )
    return answers


def _check_values(found: Mapping[str, Any], keys: Keys, needed: Iterable[str], refuse: Refuse) -> None:
    """Refuse the first key that is unknown, with the known one that is most like it, and the first value that is wrong."""
    for key in found:
        if key not in keys:
            from difflib import get_close_matches  # noqa: PLC0415 - only this message needs it

            near = get_close_matches(key, keys, 1)
            refuse(f"the key {quote(key)} is unknown" + (f" (meant: `{near[0]}`?)" if near else ""))
    for key in needed:
        if key not in found:
            refuse(f"`{key}` is not {keys[key][0]}")
    for key, value in found.items():
        words, is_right = keys[key]
        if not is_right(value):
            refuse(f"`{key}` is not {words}")


def _read_ranking(ranking: Any, refuse: Refuse) -> tuple[str, ...]:
    if not isinstance(ranking, list) or {*map(type, ranking)} - {str}:
        refuse("a ranking is not a list of ids")
    if len({*ranking}) != len(ranking):
        repeated = first_repeat(ranking)
        refuse(f"a ranking is wrong: {quote(repeated[0]) if repeated else 'an id'} is in it twice")
    if "" in ranking:
        refuse("a ranking is wrong: an id in it is empty")
    return tuple(ranking)


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
    some = listed(wanted or list(found), _MOST_TESTS, lambda name: quote(name, 200))
    if not found:
        fault = (
            "is a report without a run: no test of it measured anything. See what failed, and write it anew."
        )
    elif not wanted:
        fault = (
            f"has no run of a test {quote(str(test), 200)}: there is none of that name, or its queries "
            f"failed. There are runs of {some}. Name one, or write the report anew."
        )
    else:
        fault = (
            f"has {len(wanted)} runs, of {some}. Say whose is wanted: `Run.load(path, test=request.node.nodeid)` "
            "in a fixture of function scope, or a part of a test's id that no other has; on the command line `--test`."
        )
    raise RunError(f"{shown}:1: {fault}")
