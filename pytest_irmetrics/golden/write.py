"""GoldenSet → the files of another format, as text; whether they may be written is for others to say."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

from pytest_irmetrics.golden.as_data import as_record, limits_of, short_limits, whole
from pytest_irmetrics.golden.cells import guarded, param_text, tags_text
from pytest_irmetrics.golden.fitting import UnfitError, own_name, refuse
from pytest_irmetrics.golden.trec import topics_beside
from pytest_irmetrics.golden.write_yaml import write_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_irmetrics.golden.golden_set import GoldenSet
    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Grade

__all__ = ["files_of"]

_BLANK = re.compile(r"[ \t\n\r\x0b\x0c\x00]")
_BREAK = re.compile(r"[\n\r\x00]")


def files_of(golden: GoldenSet, form: str, path: str) -> dict[str, str]:
    """Return the content of each file by its path, of what `fitting.fit` has left of a golden set. Raises UnfitError."""
    if form == "yaml":
        return {path: "".join(write_yaml(golden, own_name(golden)))}
    if form == "jsonl":
        return {path: "".join(map(_json_line, golden.queries.values()))}
    queries = list(golden.queries.values())
    if form == "trec":
        return _trec(queries, path)
    if form == "beir":
        return _beir(queries, path.rstrip("/"))
    if form == "quepid":
        _require_texts(queries, "Quepid asks with the queries' texts")
    return {path: _table(queries, "\t" if form == "tsv" else ",")}


def _json_line(query: Query) -> str:
    record = as_record(query)
    if query.id == query.text:
        del record["id"]
    if query.text is None:
        del record["query"]
    if query.no_answer:
        del record["relevant"]
    relevant = record.get("relevant")
    if isinstance(relevant, dict) and all(type(grade) is int and grade == 1 for grade in relevant.values()):
        record["relevant"] = list(relevant)
    if "thresholds" in record:
        record["thresholds"] = short_limits(limits_of(query.thresholds))
    return _safe(json.dumps(record, ensure_ascii=False)) + "\n"


def _safe(line: str) -> str:
    """Escape what does not print as itself."""
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line)


def _grade(grade: Grade) -> str:
    return repr(whole(grade))


def _trec(queries: list[Query], path: str) -> dict[str, str]:
    ids = (name for query in queries for name in (query.id, *query.judgments))
    refuse(
        (name for name in ids if _BLANK.search(name) or name[0] == "\ufeff"),
        "Qrels hold no id with white space",
        "Give each of these an `id` without",
    )
    texts = {query.id: query.text for query in queries if query.text is not None}
    refuse(
        (text for text in texts.values() if _BREAK.search(text)),
        "Topics hold one line a query",
        "Take the line break out of",
    )
    rows = (
        f"{query.id} 0 {doc_id} {_grade(grade)}\n"
        for query in queries
        for doc_id, grade in query.judgments.items()
    )
    files = {path: "".join(rows)}
    if texts:
        files[topics_beside(path)] = "".join(f"{query_id}\t{text}\n" for query_id, text in texts.items())
    return files


def _beir(queries: list[Query], path: str) -> dict[str, str]:
    _require_texts(queries, "A BEIR folder has the queries' texts")
    rows = [
        [query.id, doc_id, _grade(grade)] for query in queries for doc_id, grade in query.judgments.items()
    ]
    _refuse_nul(cell for row in rows for cell in row)
    records: Iterator[dict[str, object]] = (
        {"_id": query.id, "text": query.text, "metadata": {}} for query in queries
    )
    return {
        f"{path}/queries.jsonl": "".join(
            _safe(json.dumps(record, ensure_ascii=False)) + "\n" for record in records
        ),
        f"{path}/qrels/test.tsv": _csv([["query-id", "corpus-id", "score"], *rows], "\t"),
    }


def _table(queries: list[Query], delimiter: str) -> str:
    """Write a judgment a row; what is said of a query is on its first."""
    has_texts = any(query.text is not None for query in queries)
    has_ids = any(query.id != query.text for query in queries)
    params = list(dict.fromkeys(name for query in queries for name in query.params))
    refuse(
        (name for name in params if name != name.strip()),
        "A header holds no white space at the end of a name",
        "Rename",
    )
    tags, weights = any(query.tags for query in queries), any(query.weight != 1 for query in queries)
    header = [
        *(["id"] if has_ids else []),
        *(["query"] if has_texts else []),
        "docid",
        "rating",
        *(["tags"] if tags else []),
        *(["weight"] if weights else []),
        *(f"params.{name}" for name in params),
    ]
    rows = [header]
    for query in queries:
        said = [
            *([tags_text(query.tags)] if tags else []),
            *([_grade(query.weight) if query.weight != 1 else ""] if weights else []),
            *(param_text(query.params[name]) if name in query.params else "" for name in params),
        ]
        for doc_id, grade in query.judgments.items():
            named = [*([query.id] if has_ids else []), *([query.text or ""] if has_texts else [])]
            rows.append([*map(guarded, (*named, doc_id)), _grade(grade), *map(guarded, said)])
            said = [""] * len(said)
    _refuse_nul(cell for row in rows for cell in row)
    limit = csv.field_size_limit()
    refuse(
        (cell for row in rows for cell in row if len(cell) > limit),
        f"A cell holds {limit:,} characters",
        "Shorten",
    )
    return _csv(rows, delimiter)


def _csv(rows: Iterable[list[str]], delimiter: str) -> str:
    """Write rows as `csv.writer` does, which leaves a lone CR without quotes, as no reader takes it."""
    special = re.compile(f'[{delimiter}"\n\r]')

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    return "".join(f"{delimiter.join(map(cell, row))}\n" for row in rows)


def _require_texts(queries: list[Query], why: str) -> None:
    if any(query.text is None for query in queries):
        raise UnfitError(f"{why}, and this golden set has none. Add them first.")


def _refuse_nul(cells: Iterable[str]) -> None:
    refuse((cell for cell in cells if "\x00" in cell), "A table holds no NUL", "Take it out of")
