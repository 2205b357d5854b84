"""A run as JSON, one query a line, sorted by id: read, also out of a report, and written.

Reading trusts nothing: a file that was cut short, holds a conflict's markers or was written by a newer version is
refused with a sentence that says so.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.run.faults import CURE, NoTestsError, RunError
from pytest_irmetrics.run.json_entry import entry_line, read_entry
from pytest_irmetrics.run.json_header import KEYS, header_lines, read_header
from pytest_irmetrics.run.json_places import query_line
from pytest_irmetrics.run.json_text import DECODER, FlawError, parse, refuse
from pytest_irmetrics.run.merging import ConflictError, Part, merge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_irmetrics.run.answer import Answer, Answers, Header

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

REPORT_FORMAT = "pytest-irmetrics report"
_BLANK = b" \t\r\n"
_SOME = 5
"""How many of a report's tests an error lists."""


def lines(answers: Answers, header: Header) -> Iterator[str]:
    """Yield the parts of the text; equal runs give equal parts. Raises RunError for what JSON cannot hold."""
    yield "{\n"
    yield from header_lines(header)
    yield '"queries": ['
    separator = "\n"
    for query_id in sorted(answers):
        yield separator + entry_line(query_id, answers[query_id])
        separator = ",\n"
    yield "\n]\n}\n"


def read(text: str, where: str, test: str | None = None) -> tuple[Answers, Header]:
    """Read a run however it is laid out, or those of a report as one; `where` is how errors call the file.

    Of a report's tests `test` takes the one of this id, or else those that have it in theirs. Raises RunError.
    """
    # As a decorator this would be a frame of its own, which pytest shows with the whole text as an argument.
    with pause_gc():
        document = parse(text, where)
        tests = document.get("tests")
        if document.get("format") == REPORT_FORMAT and isinstance(tests, list):
            return _read_report(tests, text, where, test)
        refuse_test(test, where)
        return _read_run(document, text, where, 0)


def refuse_test(test: str | None, where: str) -> None:
    """Raise NoTestsError where a test is named and the file holds none."""
    if test is not None:
        raise NoTestsError(
            f"{where}:1: is one run, and no report of tests to take {quote(test, 200)} from. Leave the test out."
        )


def _read_run(document: dict[str, Any], text: str, where: str, before: int) -> tuple[Answers, Header]:
    """Read a run before which the text holds so many queries of others."""
    header = read_header(document, where)
    answers: dict[str, Answer] = {}
    for number, entry in enumerate(document["queries"], before):
        try:
            query_id, answer = read_entry(entry)
            if query_id in answers:
                first = before + list(answers).index(query_id)
                refuse(f"query {quote(query_id)} is there twice, first in line {query_line(text, first)}")
        except FlawError as flaw:
            raise RunError(f"{where}:{query_line(text, number)}: {flaw}. {CURE}") from None
        answers[query_id] = answer
    return answers, header


def _read_report(tests: list[Any], text: str, where: str, test: str | None) -> tuple[Answers, Header]:
    parts, before = [], 0
    for name, run in _chosen(tests, test, where):
        if name is not None:
            parts.append(Part(name, *_read_run(run, text, where, before)))
        queries = run.get("queries")
        before += len(queries) if isinstance(queries, list) else 0
    try:
        return merge(parts)
    except ConflictError as conflict:
        raise RunError(
            f"{where}:1: is a report of {len(parts)} runs that cannot be one: {conflict}. Say whose run is wanted: "
            "`Run.load(path, test=request.node.nodeid)` in a fixture of function scope, or a part of a test's id that "
            "only its run has; on the command line `--test`. Or write a report of one test: `pytest NODEID --ir-report=json:PATH`."
        ) from None


def _chosen(tests: list[Any], test: str | None, where: str) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the runs of a report, each with its test's id, or with None where it is not wanted."""
    found = [
        (str(one.get("nodeid")), one["run"])
        for one in tests
        if isinstance(one, dict) and isinstance(one.get("run"), dict)
    ]
    names = [name for name, _ in found]
    wanted = names if test is None else [test] if test in names else [name for name in names if test in name]
    if not names:
        raise RunError(
            f"{where}:1: is a report without a run: no test of it measured anything. See what failed, and write it anew."
        )
    if not wanted:
        some = ", ".join(quote(name, 200) for name in names[:_SOME])
        raise RunError(
            f"{where}:1: has no run of a test {quote(str(test), 200)}: there is none of that name, or its queries "
            f"failed. There are runs of {some}{', …' if len(names) > _SOME else ''}. Name one, or write the report anew."
        )
    for name, run in found:
        yield name if name in wanted else None, run


def read_line_by_line(file: Path, known: Answers) -> tuple[Answers, Header] | None:
    """Read a file that is laid out as `lines` does it, without ever holding all of its text.

    Rankings and ids that are `known` of the same query are taken from there. None for whatever is laid out otherwise or is wrong in any way: the whole is then read again with care.
    """
    answers: dict[str, Answer] = {}
    with file.open("rb") as lines, pause_gc():
        head = list(islice(lines, len(KEYS) + 1))
        opening = next(
            (at for at, line in enumerate(head, 1) if line.rstrip(_BLANK) == b'"queries": ['), None
        )
        if opening is None:
            return None
        try:
            document = DECODER.decode(b"".join([*head[:opening], b"]}"]).decode())
            header = read_header(document, "")
            separator = ""
            for line in chain(head[opening:], lines):
                if line[:1] != b"{":
                    rest = (line + lines.read()).translate(None, _BLANK)
                    return (answers, header) if rest == b"]}" and not separator else None
                text = line.decode()
                entry, end = DECODER.raw_decode(text)
                query_id, answer = read_entry(entry, known)
                if query_id in answers or (answers and separator != ","):
                    return None
                separator = text[end:].strip(" \t\r\n")
                answers[query_id] = answer
        except (ValueError, RecursionError, FlawError):  # in JSON, UTF-8, the header, an entry
            return None
    return None
