"""TREC qrels, ``query 0 document grade``, and the topics beside them, ``query<TAB>text``."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Problems, Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.rows import (
    MAX_BYTES,
    bad_grade,
    blocks,
    contents_of,
    grouped,
    judged_twice,
    read_grade,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from pytest_irmetrics.golden.query import Contents
    from pytest_irmetrics.golden.rows import Judged
    from pytest_irmetrics.metrics import Grade

__all__ = ["read_qrels", "read_topics", "topics_beside"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

_SHAPE = "query 0 document grade"
_FIELD = re.compile(rb"[^ \t\n\r\x0b\x0c]+")  # as bytes.split has it: an id may hold a no-break space


def topics_beside(qrels: str) -> str:
    """Return the path of the topics that belong to qrels: ``faq.topics.tsv`` to ``faq.qrels``."""
    folder, slash, name = qrels.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    return f"{folder}{slash}{stem if stem and dot else suffix}.topics.tsv"


def read_qrels(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> Contents:  # noqa: ARG001 - no thresholds here
    """Read qrels; the texts are in ``NAME.topics.tsv`` beside them, and a set without has none.

    As trec_eval has it, fields stand between ASCII white space and the second is not read. Raises GoldenSetError.
    """
    data = read_plain_bytes(path, shown, MAX_BYTES)
    problems = Problems(shown)
    topics = path.with_name(topics_beside(path.name))
    shown_topics = topics_beside(shown.replace("\\", "/"))
    in_topics = Problems(shown_topics)
    texts = None
    contents = None
    with pause_gc():
        if topics.exists():
            with suppress(Stop):
                texts = read_topics(topics, in_topics)
        with suppress(Stop):
            judged = _quick(data) or _careful(data, problems)
            del data
            if texts is None or not (len(problems) or len(in_topics)):
                contents = contents_of(judged, texts, problems, name=path.stem, texts_in=shown_topics)
    raise_any(problems, in_topics)
    assert contents is not None  # noqa: S101 - or there was a problem
    return contents


def read_topics(path: Path, problems: Problems) -> dict[str, str]:
    """Read texts by query, ``query<TAB>text`` a line."""
    texts: dict[str, str] = {}
    lines: dict[str, int] = {}
    data = read_plain_bytes(path, problems.shown, MAX_BYTES)
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        query_id, tab, text = line.decode().partition("\t")
        query_id = query_id.strip(" ")
        if not (tab and query_id and text.strip()):
            problems.report(number, 1, "This is no query and its text. Write `query`, a tab, and the text.")
        elif query_id in texts:
            message = f"The query {quote(query_id)} is here twice, first on line {lines[query_id]}. Keep one."
            problems.report(number, 1, message)
        else:
            texts[query_id] = text
            lines[query_id] = number
    return texts


def _quick(data: bytes) -> Judged | None:
    return grouped(_rows(data))


def _rows(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    for block in blocks(data):
        for line in block.splitlines():
            query, _, document, grade = line.split()  # ValueError: not four
            yield query, document, grade


def _careful(data: bytes, problems: Problems) -> Judged:
    """Read all that is right, and report all that is wrong."""
    judged: dict[str, dict[str, Grade]] = {}
    lines: dict[str, int] = {}
    places: dict[tuple[str, str], int] = {}
    for number, line in enumerate((line for block in blocks(data) for line in block.splitlines()), 1):
        fields = [(match.start(), match[0].decode()) for match in _FIELD.finditer(line)]
        if not fields:
            continue
        if len(fields) != 4:
            problems.report(number, 1, _wrong_shape([text for _, text in fields]))
            continue
        (_, query_id), _, (doc_at, doc_id), (grade_at, written) = fields
        grade = read_grade(written)
        if grade is None:
            problems.report(number, _column(line, grade_at), bad_grade(doc_id, written))
            continue
        documents = judged.setdefault(query_id, {})
        lines.setdefault(query_id, number)
        if doc_id in documents:
            message = judged_twice(query_id, doc_id, places[query_id, doc_id])
            problems.report(number, _column(line, doc_at), message)
            continue
        documents[doc_id] = grade
        places[query_id, doc_id] = number
    return judged, lines


def _column(line: bytes, at: int) -> int:
    return len(line[:at].decode()) + 1


def _wrong_shape(fields: Sequence[str]) -> str:
    if len(fields) == 6:
        return f"Here are 6 fields, as in a TREC run, and qrels have 4. Write `{_SHAPE}`."
    if fields[0].lower() in ("query-id", "query_id", "qid") and len(fields) == 3:
        return (
            f"This is the header of a table. Name the file .tsv, or write `{_SHAPE}` from the first line on."
        )
    count = "is 1 field" if len(fields) == 1 else f"are {len(fields)} fields"
    hint = " An id in qrels holds no white space." if len(fields) > 4 else ""
    return f"Here {count}, and qrels have 4. Write `{_SHAPE}`.{hint}"
