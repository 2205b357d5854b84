"""Read a BEIR folder: ``queries.jsonl``, and ``qrels/test.tsv`` or another split; ``corpus.jsonl`` is not needed."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.strict_json import loads
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, Problems, Stop, raise_any
from pytest_irmetrics.golden.files import read_plain_bytes
from pytest_irmetrics.golden.formats import split_of, splits_of
from pytest_irmetrics.golden.json_nodes import JsonError, compose
from pytest_irmetrics.golden.judgment_rows import MAX_BYTES, build_golden_set
from pytest_irmetrics.golden.table_rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.judgment_rows import Judged


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_HEADER = (b"query-id", b"corpus-id", b"score")


def read_folder(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:  # noqa: ARG001 - no thresholds here
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
    return _read_split(chosen, f"{shown.rstrip('/')}/qrels/{chosen.name}", path, path.absolute().name)


def read_split(path: Path, shown: str, custom_metrics: Collection[str] = ()) -> GoldenSet:  # noqa: ARG001 - no thresholds here
    """Read the qrels of one split, with the texts in ``queries.jsonl`` in the folder above. Raises GoldenSetError."""
    return _read_split(path, shown, path, f"{path.absolute().parent.parent.name}-{path.stem}")


def _read_split(path: Path, shown: str, named_by: Path, name: str) -> GoldenSet:
    """Read a split as the golden set of the path `named_by`: the split's own, or that of its folder."""
    folder = path.absolute().parent.parent
    texts_in = os.path.normpath(Path(shown).parent / ".." / "queries.jsonl").replace(os.sep, "/")
    problems, in_queries = Problems(shown), Problems(texts_in)
    golden = None
    data = read_plain_bytes(path, shown, MAX_BYTES)
    judged: Judged | None = None
    with suppress(Stop):
        queries_read = read_rows(data, problems, tabs=True, for_spreadsheets=False)
        judged = (
            {query_id: query.judgments for query_id, query in queries_read.items() if query.judgments},
            {query_id: query.line for query_id, query in queries_read.items()},
        )
    del data
    texts: dict[str, str] = {}
    queries = folder / "queries.jsonl"
    with suppress(Stop):
        if os.path.lexists(queries):
            texts = _read_texts(queries, in_queries, set(judged[0]) if judged else set())
        else:
            problems.report(1, 1, _no_texts_message(texts_in))
    if judged is not None and not len(problems) and not len(in_queries):
        with suppress(Stop):
            golden = build_golden_set(judged, texts, problems, path=named_by, name=name, texts_in=texts_in)
    raise_any(problems, in_queries)
    assert golden is not None  # noqa: S101 - or there was a problem
    return golden


def _no_texts_message(texts_in: str) -> str:
    return (
        f"These are judgments of a BEIR folder, and {texts_in}, which has its texts, is not there. Add it; or name the "
        "columns id, docid and rating, if there are no texts."
    )


def is_split(data: bytes) -> bool:
    """Say whether a table has the header of a BEIR split: query-id, corpus-id and score."""
    return _first_cells(data) == list(_HEADER)


def _first_cells(data: bytes) -> list[bytes]:
    """Return the cells of the first line, in lower case."""
    first = data[:1000].splitlines()[:1]
    return first[0].lower().split(b"\t") if first else []


def _read_texts(path: Path, problems: Problems, wanted: set[str]) -> dict[str, str]:
    """Read the texts of the queries in `wanted`, those that the split judges; what is wrong is reported."""
    texts: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(read_plain_bytes(path, problems.shown, MAX_BYTES).splitlines(), 1):
        if not line or line.isspace():
            continue
        query_id, text = _read_query(line.decode(), number, problems)
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


def _read_query(line: str, number: int, problems: Problems) -> tuple[str | None, str | None]:
    """Read the id and text of a line of ``queries.jsonl``; None where there is none."""
    record: Any
    try:
        record = loads(line)
        if "\\ud" in line or "\\uD" in line:
            json.dumps(record, ensure_ascii=False).encode()  # a ValueError for a surrogate without its pair
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
