"""Write a run as JSON, one query a line and sorted by id; read one back, also out of a JSON report.

Reading trusts nothing: a file that was cut short, has a conflict's markers or was written by a newer version is
refused with a sentence that says so.
"""

from __future__ import annotations

import json
import operator
import re
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.ids import first_repeat
from pytest_irmetrics.base.numbers import MAX_GRADE, MAX_WEIGHT, MIN_WEIGHT, as_whole_number
from pytest_irmetrics.base.strict_json import (
    DuplicateKey,
    JsonCursor,
    NotStrictError,
    find_flaw,
    line_at,
    loads,
    offset_of,
)
from pytest_irmetrics.base.wording import cut, listed, printable, quote
from pytest_irmetrics.run.answer import (
    CONFLICT,
    CURE,
    Answer,
    Header,
    NoTestsError,
    RunError,
    reuse_ids,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import NoReturn

    from pytest_irmetrics.run.answer import Answers

    Refuse = Callable[[str], NoReturn]
    """Raises RunError with the place of the query or the header at hand, and what is wrong with it."""

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

FORMAT = "pytest-irmetrics run"
VERSION = 1
REPORT_FORMAT = "pytest-irmetrics report"
_KEYS = ("format", "version", "golden_set", "depth", "relevance_level", "means", "queries")
_QUERY_KEYS = ("id", "text", "params", "judgments", "weight", "tags", "xfail", "passages", "rankings")
_QUERY_KEY_SET = frozenset(_QUERY_KEYS)
_NO_ANSWERS: Answers = MappingProxyType({})
_MAX_DOUBLE = sys.float_info.max
_MAX_DEPTH = sys.maxsize  # what slices and iterators take
_MOST_TESTS = 5  # tests of a report that an error lists

# What would end a line for some reader, hide, reorder its neighbours, or has no UTF-8: C1 controls, soft hyphen,
# zero-width and bidi characters, separators, surrogates, byte order mark, interlinear marks, tags.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_encode_sorted = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode


# Writing.


def lines(answers: Answers, header: Header) -> Iterator[str]:
    """Yield the parts of the text; equal runs give equal parts. Raises RunError for what JSON cannot hold."""
    yield "{\n"
    yield from _header_lines(header)
    yield '"queries": ['
    separator = "\n"
    for query_id in sorted(answers):
        yield separator + _query_line(query_id, answers[query_id])
        separator = ",\n"
    yield "\n]\n}\n"


def _header_lines(header: Header) -> Iterator[str]:
    """Yield a line for each key before the queries."""
    depth, golden_set, level, means = header
    values = {
        "format": FORMAT,
        "version": VERSION,
        "golden_set": golden_set,
        "depth": depth,
        "relevance_level": None if level is None else as_whole_number(level),
        "means": {name: float(means[name]) for name in sorted(means)} if means else None,
    }
    for key, value in values.items():
        if value is not None:
            yield f"{_encode(key)}: {_escape_unsafe(_encode_or_refuse(value, f'the header: {key}'))},\n"


def _query_line(query_id: str, answer: Answer) -> str:
    """Return the line of one query. Raises RunError for what JSON cannot hold."""
    head: dict[str, object] = {"id": query_id}
    if answer.text is not None:
        head["text"] = answer.text
    line = _encode(head)[:-1]
    query = f"query {quote(query_id)}"
    if answer.params:
        line += f', "params": {_encode_or_refuse(answer.params, f"{query}: params", _encode_sorted)}'
    if answer.judgments is not None:
        grades = {doc: as_whole_number(answer.judgments[doc]) for doc in sorted(answer.judgments)}
        line += f', "judgments": {_encode_or_refuse(grades, f"{query}: judgments")}'
    if answer.weight is not None:
        line += f', "weight": {_encode_or_refuse(float(answer.weight), f"{query}: weight")}'
    if answer.tags:
        line += f', "tags": {_encode(answer.tags)}'
    if answer.xfail:
        line += ', "xfail": true'
    if answer.passages:
        line += f', "passages": {_encode_sorted(dict(answer.passages))}'
    return _escape_unsafe(f'{line}, "rankings": {_encode(answer.rankings)}}}')


def _encode_or_refuse(value: object, name: str, encode: Callable[[object], str] = _encode) -> str:
    """Encode a value that came from the user. Raises RunError for what JSON cannot hold."""
    try:
        return encode(dict(value) if isinstance(value, Mapping) else value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RunError(
            f"{name} cannot be stored: {printable(str(error))}. Use text, finite numbers, lists and mappings."
        ) from None


def _escape_unsafe(line: str) -> str:
    r"""Write as ``\u…`` what hides, breaks the line or has no UTF-8."""
    if line.isascii() and "\x7f" not in line:
        return line
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], line)


# Reading.


def read(
    text: str, shown: str, test: str | None = None, known: Answers = _NO_ANSWERS
) -> tuple[Answers, Header]:
    """Read a run, or the run of a report's test; `shown` is how errors call the file.

    Of a report's tests `test` takes the one of this id, or else the one that has it in its id. Rankings and ids that
    `known` has for the same query of a run are taken from there, to be in memory once. Raises RunError.
    """
    # As a decorator this would be a frame of its own, which pytest shows with the whole text as an argument.
    try:
        return _read(text.removeprefix("\ufeff"), shown, test, known)
    except RunError:
        raise
    except (ValueError, RecursionError):
        _refuse_text(text, shown)


def _read(text: str, shown: str, test: str | None, known: Answers) -> tuple[Answers, Header]:
    """Read a text query by query, as all of them at once would take twice the memory of the run."""
    cursor = JsonCursor(text)
    if cursor.peek() != "{":
        loads(text)  # raises what is wrong with it where it is not JSON
        raise RunError(f"{shown}:1: is not a run: expected an object with the key `format`. {CURE}")
    document: dict[str | int, Any] = {}
    answers: Answers = _NO_ANSWERS
    fault: RunError | None = None
    for key in cursor.steps():
        if key in document:
            raise NotStrictError
        if key == "queries" and cursor.peek() == "[":
            queries = (cursor.value() for _ in cursor.steps())
            try:
                answers = _read_queries(queries, known, text, shown)
            except RunError as error:
                # What is wrong with the whole file comes first, as it explains the rest.
                fault = error
                deque(queries, maxlen=0)
            document[key] = []
        else:
            document[key] = cursor.value()
    cursor.end()
    tests = document.get("tests")
    if document.get("format") == REPORT_FORMAT and isinstance(tests, list):
        return _read_report(tests, text, shown, test)
    refuse_test(test, shown)
    header = _read_header(document, shown)
    if fault is not None:
        raise fault
    return answers, header


def _refuse_text(text: str, shown: str) -> NoReturn:
    """Say what is wrong with a text that is not strict JSON."""
    conflict = CONFLICT.search(text)
    if conflict:
        line = line_at(text, conflict.start())
        raise RunError(
            f"{shown}:{line}: is in a merge conflict. Take one side whole (`git checkout --ours` or `--theirs`). The merged "
            "search may answer as neither side's did: compare a baseline (`pytest --ir-baseline`), then store it anew "
            "(`pytest --ir-baseline-update`)."
        )
    body = text.rstrip()
    if not body:
        raise RunError(f"{shown}:1: the file is empty. {CURE}")
    text = text.removeprefix("\ufeff")
    try:
        try:
            loads(text)
        except NotStrictError:
            _refuse_flaw(text, shown)
    except json.JSONDecodeError as error:
        if error.pos >= len(body) or not body.endswith("}"):
            raise RunError(f"{shown}:{line_at(text, len(body))}: the file was cut short. {CURE}") from None
        raise RunError(
            f"{shown}:{error.lineno}: is not JSON: {error.msg}, column {error.colno}. {CURE}"
        ) from None
    except RecursionError:
        raise RunError(f"{shown}:1: is nested too deeply to be a run. {CURE}") from None
    except RunError:
        raise
    except ValueError:
        raise RunError(f"{shown}:1: holds a number of thousands of digits. {CURE}") from None
    raise AssertionError("text that is strict JSON was refused")


def _refuse_flaw(text: str, shown: str) -> NoReturn:
    """Say which key is there twice, or which number is not finite."""
    flaw = find_flaw(text)
    if isinstance(flaw, DuplicateKey):
        first, second = line_at(text, flaw.first), line_at(text, flaw.second)
        raise RunError(
            f"{shown}:{second}: the key {quote(flaw.key)} is there twice, first in line {first}. {CURE}"
        ) from None
    raise RunError(
        f"{shown}:{line_at(text, flaw.offset)}: {cut(flaw.written)} is not a finite number. {CURE}"
    ) from None


def refuse_test(test: str | None, shown: str) -> None:
    """Raise NoTestsError where a test is named and the file holds none."""
    if test is not None:
        raise NoTestsError(
            f"{shown}:1: is one run, and no report of tests to take {quote(test, 200)} from. Leave the test out."
        )


def _read_header(document: Mapping[Any, Any], shown: str) -> Header:
    """Check and return all of a run but its queries; of these only that they are a list."""

    def refuse(fault: str, cure: str = CURE) -> NoReturn:
        raise RunError(f"{shown}:1: {fault}. {cure}")

    found = document.get("format")
    if found != FORMAT:
        given = (
            "nothing" if found is None else quote(found) if isinstance(found, str) else type(found).__name__
        )
        refuse(
            f"is not a stored run: `format` is {given}, not {FORMAT!r}",
            "Give a file that pytest-irmetrics wrote, or a TREC run.",
        )
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        refuse("`version` is not a positive integer")
    if version > VERSION:
        refuse(
            f"was written in version {quote(str(version))[1:-1]} of the format, and this pytest-irmetrics reads up to {VERSION}",
            "Upgrade pytest-irmetrics, or store it anew (a baseline: `pytest --ir-baseline-update`).",
        )
    _check_keys(document, _KEYS, refuse)
    depth = document.get("depth")
    if depth is not None and (
        not isinstance(depth, int) or isinstance(depth, bool) or not 1 <= depth <= _MAX_DEPTH
    ):
        refuse(f"`depth` is not a positive integer up to {_MAX_DEPTH}")
    golden_set = document.get("golden_set")
    if golden_set is not None and not isinstance(golden_set, str):
        refuse("`golden_set` is not text")
    level = document.get("relevance_level")
    if level is not None and not (_is_number(level) and 0 < level <= MAX_GRADE):
        refuse(f"`relevance_level` is not a number above 0 and up to {MAX_GRADE}")
    means = document.get("means", {})
    if not isinstance(means, dict) or not all(map(_is_finite, means.values())):
        refuse("`means` is not an object of numbers that a double can hold")
    if not isinstance(document.get("queries"), list):
        refuse("`queries` is not a list")
    return Header(depth, golden_set, level, {name: float(mean) for name, mean in means.items()})


def _read_queries(
    queries: Iterable[object], known: Answers, text: str, shown: str, run_path: tuple[str | int, ...] = ()
) -> dict[str, Answer]:
    """Read the queries of the run that is at a path in the text; the text serves to find the line of a fault."""
    answers: dict[str, Answer] = {}

    def line_of(number: int) -> int:
        return line_at(text, offset_of(text, (*run_path, "queries", number)))

    def refuse(fault: str) -> NoReturn:
        raise RunError(f"{shown}:{line_of(len(answers))}: {fault}. {CURE}")

    for query in queries:
        query_id, answer = _read_query(query, known, refuse)
        if query_id in answers:
            first = list(answers).index(query_id)
            refuse(f"query {quote(query_id)} is there twice, first in line {line_of(first)}")
        answers[query_id] = answer
    return answers


def _read_query(query: object, known: Answers, refuse_query: Refuse) -> tuple[str, Answer]:
    """Check one query; return its id and answer."""
    if not isinstance(query, dict) or not isinstance(query.get("id"), str):
        refuse_query("a query is not an object with the text `id`")
    query_id = query["id"]

    def refuse(fault: str) -> NoReturn:
        refuse_query(f"query {quote(query_id)}: {fault}")

    if not _QUERY_KEY_SET.issuperset(query):
        _check_keys(query, _QUERY_KEYS, refuse)
    text, params, judgments = query.get("text"), query.get("params", {}), query.get("judgments")
    weight, tags, rankings = query.get("weight"), query.get("tags", []), query.get("rankings")
    if text is not None and not isinstance(text, str):
        refuse("`text` is not text")
    if not isinstance(params, dict):
        refuse("`params` is not an object")
    if judgments is not None and not (
        isinstance(judgments, dict) and all(map(_is_grade, judgments.values()))
    ):
        refuse(f"`judgments` is not an object of numbers up to {MAX_GRADE}")
    if weight is not None and not (_is_number(weight) and MIN_WEIGHT <= weight <= MAX_WEIGHT):
        refuse(f"`weight` is not a number above 0, from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        refuse("`tags` is not a list of texts")
    xfail = query.get("xfail", False)
    if not isinstance(xfail, bool):
        refuse("`xfail` is not true or false")
    passages = _read_passages(query.get("passages", {}), refuse)
    if not isinstance(rankings, list) or not rankings:
        refuse("`rankings` is not a list of one ranking or more")
    known_rankings = known[query_id].rankings if query_id in known else ()
    return query_id, Answer(
        tuple([_read_ranking(ranking, known_rankings, refuse) for ranking in rankings]),
        text,
        params,
        judgments,
        None if weight is None else float(weight),
        tuple(tags),
        passages,
        xfail,
    )


def _read_passages(passages: object, refuse: Refuse) -> dict[str, tuple[str, str]]:
    if not isinstance(passages, dict):
        refuse("`passages` is not an object")
    for passage in passages.values():
        if not isinstance(passage, list) or list(map(type, passage)) != [str, str]:
            refuse("`passages` does not lead to lists of two texts, document and passage")
    return {key: (document, text) for key, (document, text) in passages.items()}


def _read_ranking(ranking: object, known: Sequence[tuple[str, ...]], refuse: Refuse) -> tuple[str, ...]:
    if not isinstance(ranking, list) or operator.countOf(map(type, ranking), str) != len(ranking):
        refuse("a ranking is not a list of ids")
    unique = set(ranking)
    if len(unique) != len(ranking):
        repeated = first_repeat(ranking)
        refuse(f"a ranking is wrong: {quote(repeated[0]) if repeated else 'an id'} is in it twice")
    if "" in unique:
        refuse("a ranking is wrong: an id in it is empty")
    return reuse_ids(tuple(ranking), known)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Compared, not converted: JSON's integers may be longer than a double can hold.


def _is_finite(value: object) -> bool:
    return _is_number(value) and -_MAX_DOUBLE <= value <= _MAX_DOUBLE  # type: ignore[operator]  # a number


def _is_grade(value: object) -> bool:
    return _is_number(value) and -_MAX_DOUBLE <= value <= MAX_GRADE  # type: ignore[operator]  # a number


def _check_keys(found: Mapping[str, Any], known: Sequence[str], refuse: Refuse) -> None:
    """Refuse the first key that is unknown, with the known one that is most like it."""
    for key in found:
        if key not in known:
            from difflib import get_close_matches  # noqa: PLC0415 - only this message needs it

            near = get_close_matches(key, known, 1)
            refuse(f"the key {quote(key)} is unknown" + (f" (meant: `{near[0]}`?)" if near else ""))


# Reports.


def _read_report(tests: list[Any], text: str, shown: str, test: str | None) -> tuple[Answers, Header]:
    """Read the run of a report's only test, or of the one that `test` names."""
    number = _choose_test(tests, test, shown)
    run = tests[number]["run"]
    header = _read_header(run, shown)
    return _read_queries(run["queries"], _NO_ANSWERS, text, shown, ("tests", number, "run")), header


def _choose_test(tests: list[Any], test: str | None, shown: str) -> int:
    """Return the position of the test whose run is wanted: `test` is its id or a part of it."""
    found = {
        str(one.get("nodeid")): number
        for number, one in enumerate(tests)
        if isinstance(one, dict) and isinstance(one.get("run"), dict)
    }
    if not found:
        raise RunError(
            f"{shown}:1: is a report without a run: no test of it measured anything. See what failed, and write it anew."
        )
    wanted = [test] if test in found else [name for name in found if test is None or test in name]
    if len(wanted) == 1:
        return found[wanted[0]]
    some = listed(list(wanted or found), _MOST_TESTS, lambda name: quote(name, 200))
    if not wanted:
        raise RunError(
            f"{shown}:1: has no run of a test {quote(str(test), 200)}: there is none of that name, or its queries "
            f"failed. There are runs of {some}. Name one, or write the report anew."
        )
    raise RunError(
        f"{shown}:1: has {len(wanted)} runs, of {some}. Say whose is wanted: `Run.load(path, test=request.node.nodeid)` "
        "in a fixture of function scope, or a part of a test's id that no other has; on the command line `--test`."
    )
