"""A BEIR folder: ``queries.jsonl``, and ``qrels/test.tsv`` or another split; ``corpus.jsonl`` is not needed."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.gc_pause import pause_gc
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.beir_folder import split_of, splits_of
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, Problems, Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.json_nodes import JsonError, compose, strict_json
from pytest_irmetrics.golden.rows import MAX_BYTES, blocks, contents_of, grouped, read_grade
from pytest_irmetrics.golden.table_rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_irmetrics.golden.query import Contents
    from pytest_irmetrics.golden.rows import Judged

__all__ = ["is_split", "read_folder", "read_split"]

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

_COLUMNS = (b"query-id", b"corpus-id", b"score")


def read_folder(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> Contents:
    """Read the split `test` of a BEIR folder, or its only one. Raises GoldenSetError."""
    splits = splits_of(path)
    chosen = split_of(path)
    if chosen is None:
        base = shown.rstrip("/\\")
        if splits:
            names = ", ".join(split.stem for split in splits)
            message = f"This BEIR folder has the splits {names}, and no test. Name the file of one: {base}/qrels/{splits[0].name}."
        else:
            message = (
                "There are no qrels/*.tsv in this folder. Add the judgments of a split as qrels/test.tsv."
            )
        raise GoldenSetError([Problem(shown, 1, 1, message)])
    contents = read_split(chosen, f"{shown.rstrip('/')}/qrels/{chosen.name}", custom_metrics)
    return replace(contents, name=path.absolute().name)


def read_split(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> Contents:  # noqa: ARG001 - no thresholds here
    """Read the qrels of one split, with the texts in ``queries.jsonl`` in the folder above. Raises GoldenSetError."""
    folder = path.absolute().parent.parent
    texts_in = os.path.normpath(Path(shown).parent / ".." / "queries.jsonl").replace(os.sep, "/")
    problems, in_queries = Problems(shown), Problems(texts_in)
    contents = None
    with pause_gc():
        data = read_plain_bytes(path, shown, MAX_BYTES)
        judged: Judged | None = None
        with suppress(Stop):
            judged = _quick(data)
            if judged is None:
                _check_header(data, problems)
                drafts = read_rows(data, problems, tabs=True, for_spreadsheets=False)
                judged = (
                    {query_id: draft.judgments for query_id, draft in drafts.items() if draft.judgments},
                    {query_id: draft.line for query_id, draft in drafts.items()},
                )
        del data
        texts: dict[str, str] = {}
        queries = folder / "queries.jsonl"
        with suppress(Stop):
            if os.path.lexists(queries):
                texts = _read_texts(queries, in_queries, set(judged[0]) if judged else set())
            else:
                problems.report(1, 1, _no_texts(texts_in))
        if judged is not None and not len(problems) and not len(in_queries):
            with suppress(Stop):
                name = f"{folder.name}-{path.stem}"
                contents = contents_of(judged, texts, problems, name=name, texts_in=texts_in)
    raise_any(problems, in_queries)
    assert contents is not None  # noqa: S101 - or there was a problem
    return contents


def _no_texts(texts_in: str) -> str:
    return (
        f"These are judgments of a BEIR folder, and {texts_in}, which has its texts, is not there. Add it; or name the "
        "columns id, docid and rating, if there are no texts."
    )


def is_split(data: bytes) -> bool:
    """Say whether a table is the qrels of a BEIR folder, by its header."""
    return _header(data) == list(_COLUMNS)


def _header(data: bytes) -> list[bytes]:
    first = data[:1000].splitlines()[:1]
    return first[0].lower().split(b"\t") if first else []


def _is_judgment(cells: Sequence[bytes]) -> bool:
    return len(cells) == len(_COLUMNS) and read_grade(cells[-1].decode("utf-8", "replace")) is not None


def _check_header(data: bytes, problems: Problems) -> None:
    """Report a first line that is a judgment, which must not go as the header. Raises Stop."""
    if _is_judgment(_header(data)):
        problems.report(
            1,
            1,
            "This is a judgment, and the header is missing. Write query-id, corpus-id and score above it, with tabs between.",
        )
        raise Stop


def _quick(data: bytes) -> Judged | None:
    """Read rows without quotes, their columns in the usual order under whatever names; None for others."""
    names = _header(data)
    header, end, rest = data.partition(b"\n")
    if b'"' in data or b"\r" in header.rstrip(b"\r") or _is_judgment(names):
        return None
    if set(names) == set(_COLUMNS) and not is_split(data):  # in another order
        return None
    return grouped(_rows(rest), 2) if end else None


def _rows(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    for block in blocks(data):
        for line in block.splitlines():
            query, document, grade = line.split(b"\t")  # ValueError: not three
            if not query or not document:
                raise ValueError
            yield query, document, grade


def _read_texts(path: Path, problems: Problems, wanted: set[str]) -> dict[str, str]:
    """Read the texts of the queries that are judged in this split; the others belong to another."""
    texts: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(read_plain_bytes(path, problems.shown, MAX_BYTES).splitlines(), 1):
        if not line or line.isspace():
            continue
        query_id, text = _text(line.decode(), number, problems)
        if query_id is None or query_id not in wanted:
            continue
        if query_id in texts:
            message = f"The query {quote(query_id)} is here twice, first on line {lines[query_id]}. Keep one."
            problems.report(number, 1, message)
        elif text is None or not text.strip():
            problems.report(number, 1, f"The query {quote(query_id)} has no `text`. Write it.")
        else:
            texts[query_id] = text
            lines[query_id] = number
    return texts


def _text(line: str, number: int, problems: Problems) -> tuple[str | None, str | None]:
    record: Any
    try:
        record = strict_json(line)
    except (ValueError, RecursionError):
        try:
            compose(line, number)
        except JsonError as error:
            problems.report(error.line, error.column, error.message)
        else:  # a key that is there twice, or a number that nobody can read
            problems.report(
                number, 1, "A key is here twice, or a number is too long. Keep one key, and shorter numbers."
            )
        return None, None
    query_id = record.get("_id") if isinstance(record, dict) else None
    if type(query_id) is int:
        query_id = str(query_id)
    if not isinstance(query_id, str):
        problems.report(number, 1, 'This is no query of a BEIR folder. Write {"_id": "…", "text": "…"}.')
        return None, None
    text = record.get("text")
    return query_id, text if isinstance(text, str) else None
