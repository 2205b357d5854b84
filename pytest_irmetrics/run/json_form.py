"""A run as JSON, one query a line, sorted by id: read, also out of a report, and written.

Reading trusts nothing: a file that was cut short, holds a conflict's markers or was written by a newer version is
refused with a sentence that says so.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.garbage import without_collection
from pytest_irmetrics.run.faults import CURE, RunError
from pytest_irmetrics.run.json_entry import entry_line, read_entry
from pytest_irmetrics.run.json_header import KEYS, header_lines, read_header
from pytest_irmetrics.run.json_places import query_line
from pytest_irmetrics.run.json_text import DECODER, FlawError, parse, refuse
from pytest_irmetrics.words import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_irmetrics.run.answer import Answer, Answers, Header

_REPORT_FORMAT = "pytest-irmetrics report"
_BLANK = b" \t\r\n"


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


def read(text: str, where: str) -> tuple[Answers, Header]:
    """Read a run however it is laid out; `where` is how errors call the file. Raises RunError."""
    document = _stored_run(parse(text, where), where)
    header = read_header(document, where)
    answers: dict[str, Answer] = {}
    for number, entry in enumerate(document["queries"]):
        try:
            query_id, answer = read_entry(entry)
            if query_id in answers:
                first = list(answers).index(query_id)
                refuse(f"query {quote(query_id)} is there twice, first in line {query_line(text, first)}")
        except FlawError as flaw:
            raise RunError(f"{where}:{query_line(text, number)}: {flaw}. {CURE}") from None
        answers[query_id] = answer
    return answers, header


def read_line_by_line(file: Path, known: Answers) -> tuple[Answers, Header] | None:
    """Read a file that is laid out as `lines` does it, without ever holding all of its text.

    Rankings and ids that are `known` of the same query are taken from there. None for whatever is laid out otherwise or is wrong in any way: the whole is then read again with care.
    """
    answers: dict[str, Answer] = {}
    with file.open("rb") as lines, without_collection():
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
