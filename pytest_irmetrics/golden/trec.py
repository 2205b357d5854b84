"""Read TREC qrels, ``query 0 document grade``, and the topics beside them, ``query<TAB>text``."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import Problems, Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.judgment_rows import (
    MAX_BYTES,
    bad_grade_message,
    build_golden_set,
    duplicate_judgment_message,
    iter_lines,
    read_grade,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.judgment_rows import Judged
    from pytest_irmetrics.metrics import Grade


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_SHAPE = "query 0 document grade"


def topics_path(qrels: str) -> str:
    """Return the path of the topics that belong to qrels: ``faq.topics.tsv`` to ``faq.qrels``."""
    folder, slash, name = qrels.rpartition("/")
    stem, dot, suffix = without_gz(Path(name)).name.rpartition(".")
    return f"{folder}{slash}{stem if stem and dot else suffix}.topics.tsv"


def read_qrels(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:  # noqa: ARG001 - no thresholds here
    """Read qrels with the texts in ``NAME.topics.tsv`` beside them; without that file, the queries have no texts.

    As in trec_eval, fields are separated by ASCII white space and the second is ignored. Raises GoldenSetError.
    """
    problems = Problems(shown)
    topics = path.with_name(topics_path(path.name))
    in_topics = Problems(topics_path(shown.replace("\\", "/")))
    texts = None
    golden = None
    if os.path.exists(topics):  # noqa: PTH110 - Path.exists raises where the name is too long
        with suppress(Stop):
            texts = read_topics(topics, in_topics)
    with suppress(Stop):
        judged = _read_judgments(read_plain_bytes(path, shown, MAX_BYTES), problems)
        if texts is None or not (len(problems) or len(in_topics)):
            golden = build_golden_set(
                judged, texts, problems, path=path, name=without_gz(path).stem, texts_in=in_topics.shown
            )
    raise_any(problems, in_topics)
    assert golden is not None  # noqa: S101 - or there was a problem
    return golden


def read_topics(path: Path, problems: Problems) -> dict[str, str]:
    """Read the texts of queries by id, ``query<TAB>text`` a line; what is wrong is reported."""
    texts: dict[str, str] = {}
    lines: dict[str, int] = {}
    data = read_plain_bytes(path, problems.shown, MAX_BYTES)
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        query_id, tab, text = line.decode().partition("\t")
        query_id = query_id.strip(" ")
        if query_id.startswith("#") and (not tab or " " in query_id or query_id == "#"):
            continue  # a comment: no id in qrels holds white space
        if not (tab and query_id and text.strip()):
            problems.report(number, 1, "This is no query and its text. Write `query`, a tab, and the text.")
        elif query_id in texts:
            message = f"The query {quote(query_id)} is here twice, first on line {lines[query_id]}. Keep one."
            problems.report(number, 1, message)
        else:
            texts[query_id] = text
            lines[query_id] = number
    return texts


def _read_judgments(data: bytes, problems: Problems) -> Judged:
    """Read all rows that are right, and report all that are wrong."""
    judged: dict[str, dict[str, Grade]] = {}
    lines: dict[str, int] = {}
    current: bytes | None = None
    documents: dict[str, Grade] = {}
    for number, line in enumerate(iter_lines(data), 1):
        fields = line.split()
        if line[:1] == b"#" and _is_comment(fields):
            continue
        if len(fields) != 4:
            if len(fields) > 4 and fields[4].startswith(b"#"):
                fields = fields[:4]  # a comment after the judgment
            elif not fields:
                continue
            else:
                problems.report(number, 1, _wrong_fields_message([field.decode() for field in fields]))
                continue
        query, _, document, written = fields
        grade = read_grade(written.decode())
        if grade is None:
            problems.report(number, 1, bad_grade_message(document.decode(), written.decode()))
            continue
        if query != current:  # rows of one query nearly always stand together
            current = query
            query_id = query.decode()
            documents = judged.setdefault(query_id, {})
            lines.setdefault(query_id, number)
        doc_id = document.decode()
        if doc_id in documents:
            problems.report(number, 1, duplicate_judgment_message(query_id, doc_id))
            continue
        documents[doc_id] = grade
    return judged, lines


def _is_comment(fields: Sequence[bytes]) -> bool:
    """Say whether a line that begins with ``#`` is a comment; a judgment of a query such as ``#9`` is none."""
    return fields[0] == b"#" or len(fields) != 4 or read_grade(fields[3].decode()) is None


def _wrong_fields_message(fields: Sequence[str]) -> str:
    """Return the message about a row that has not four fields."""
    if len(fields) == 6:
        return f"Here are 6 fields, as in a TREC run, and qrels have 4. Write `{_SHAPE}`."
    if fields[0].lower() in ("query-id", "query_id", "qid") and len(fields) == 3:
        return (
            f"This is the header of a table. Name the file .tsv, or write `{_SHAPE}` from the first line on."
        )
    count = "is 1 field" if len(fields) == 1 else f"are {len(fields)} fields"
    hint = " An id in qrels holds no white space." if len(fields) > 4 else ""
    return f"Here {count}, and qrels have 4. Write `{_SHAPE}`.{hint}"
