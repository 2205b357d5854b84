"""Write a golden set in another format: drop what the format cannot hold, say so, and return the files' content."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query_as_dict import query_as_written
from pytest_irmetrics.golden.read_tables import guard_formula
from pytest_irmetrics.golden.read_trec import topics_path
from pytest_irmetrics.golden.rows import read_tags, write_param
from pytest_irmetrics.golden.write_yaml import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Grade


_MAX_NAMED = 5
"""How many queries or texts a message names at most."""

_OPTIONAL: dict[str, Any] = {
    "forbidden": (),
    "tags": (),
    "weight": 1.0,
    "params": {},
    "thresholds": (),
    "no_answer": False,
    "xfail": None,
    "note": None,
    "passages": (),
}
"""What a query has besides its text and judgments, each with its value where it has none."""


class ConversionError(IRMetricsError, ValueError):
    """Something in a golden set that cannot be written in a format at all; says what to do."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of golden sets that can be written."""

    title: str
    """The name of the format, in a sentence."""
    holds: frozenset[str]
    """Of a query besides its text and judgments; and ``set``: name, relevance level and thresholds of the set."""
    render: Callable[[GoldenSet, str], dict[str, str]]
    """Returns the content of each file by its path, of a golden set and the path that was named. Raises ConversionError."""
    as_trec_eval: bool = True
    """Whether it holds grades below 0, and queries without a relevant document, as trec_eval does."""


def drop_unsupported(golden: GoldenSet, target: Format) -> tuple[GoldenSet, list[str]]:
    """Return the part of a golden set that a format can hold, and sentences on what is dropped. Raises ConversionError."""
    queries = golden.queries.values()
    dropped = [
        key
        for key, nothing in _OPTIONAL.items()
        if key not in target.holds and any(getattr(query, key) != nothing for query in queries)
    ]
    if "id" not in target.holds:
        dropped += ["id"] if any(query.text not in (None, query.id) for query in queries) else []
        texts = Counter(query.text for query in queries if query.text is not None)
        twice = (text for text, count in texts.items() if count > 1)
        _refuse(twice, f"{target.title} has one query of a text", "Keep one each of")
    own = "set" in target.holds
    if not own:
        dropped += ["name"] if _own_name(golden) else []
        dropped += ["relevance_level"] if golden.relevance_level != 1 else []
        dropped += ["thresholds of the set"] if golden.thresholds else []
    reduced = {query.id: _reduced(query, target, golden.relevance_level) for query in queries}
    left_out = [*(query_id for query_id, query in reduced.items() if query is None), *golden.left_out]
    notes = [f"{target.title} has no place for {', '.join(dropped)}."] if dropped else []
    notes += (
        [f"Left out, because {target.title} can hold no judgment of them: {_names(left_out)}."]
        if left_out
        else []
    )
    kept = GoldenSet(
        (query for query in reduced.values() if query is not None),
        path=golden.path,
        name=golden.name,
        relevance_level=golden.relevance_level if own else 1,
        thresholds=golden.thresholds if own else (),
    )
    return kept, notes


def _reduced(query: Query, target: Format, level: Grade) -> Query | None:
    """Return a query without what a format does not hold; None where it cannot hold the query at all."""
    judgments = dict(query.judgments)
    if "passages" not in target.holds:
        for passage in query.passages:
            del judgments[passage.key]
    if not target.as_trec_eval:
        judgments = {doc_id: max(grade, 0) for doc_id, grade in judgments.items()}
    if query.no_answer:
        is_held = "no_answer" in target.holds
    else:
        is_held = bool(judgments) and (target.as_trec_eval or max(judgments.values()) >= level)
    if not is_held:
        return None
    dropped = {key: nothing for key, nothing in _OPTIONAL.items() if key not in target.holds}
    query_id = query.id if "id" in target.holds else query.text or query.id
    return replace(query, id=query_id, judgments=judgments, **dropped)


def _own_name(golden: GoldenSet) -> str | None:
    """Return a golden set's name, None if it follows from the name of its file."""
    from_path = () if golden.path is None else (without_gz(golden.path).stem, golden.path.name)
    return None if golden.name in from_path else golden.name


def _refuse(names: Iterable[str], why: str, advice: str) -> None:
    """Raise ConversionError if there are any names, such as ids or texts, that the format cannot hold."""
    found = list(dict.fromkeys(names))
    if found:
        raise ConversionError(f"{why}. {advice}: {_names(found)}.")


def _names(ids: Sequence[str]) -> str:
    return listed(ids, _MAX_NAMED, quote)


# Files ------------------------------------------------------------------------------------------------------------


def _yaml(golden: GoldenSet, path: str) -> dict[str, str]:
    return {path: write_yaml(golden, _own_name(golden))}


def _jsonl(golden: GoldenSet, path: str) -> dict[str, str]:
    return {path: "".join(_json_line(query_as_written(query)) for query in golden.queries.values())}


def _json_line(record: object) -> str:
    line = json.dumps(record, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line) + "\n"


def _trec(golden: GoldenSet, path: str) -> dict[str, str]:
    queries = golden.queries.values()
    ids = (name for query in queries for name in (query.id, *query.judgments))
    _refuse(
        (name for name in ids if re.search(r"[\s\0]", name, re.ASCII) or name[0] == "\ufeff"),
        "Qrels hold no id with white space",
        "Give each of these an `id` without",
    )
    texts = {query.id: query.text for query in queries if query.text is not None}
    _refuse(
        (text for text in texts.values() if re.search("[\n\r\0]", text)),
        "Topics hold one line a query",
        "Take the line break out of",
    )
    rows = [
        f"{query.id} 0 {doc} {_grade(grade)}\n" for query in queries for doc, grade in query.judgments.items()
    ]
    files = {path: "".join(rows)}
    if texts:
        files[topics_path(path)] = "".join(f"{query_id}\t{text}\n" for query_id, text in texts.items())
    return files


def _beir(golden: GoldenSet, path: str) -> dict[str, str]:
    queries = golden.queries.values()
    if any(query.text is None for query in queries):
        raise ConversionError(
            "A BEIR folder has the queries' texts, and this golden set has none. Add them first."
        )
    rows = [[query.id, doc, _grade(grade)] for query in queries for doc, grade in query.judgments.items()]
    texts: list[dict[str, object]] = [
        {"_id": query.id, "text": query.text, "metadata": {}} for query in queries
    ]
    folder = path.rstrip("/")
    return {
        f"{folder}/queries.jsonl": "".join(map(_json_line, texts)),
        f"{folder}/qrels/test.tsv": _table([["query-id", "corpus-id", "score"], *rows], "\t"),
    }


def _csv(golden: GoldenSet, path: str) -> dict[str, str]:
    return {path: _table(_judgment_rows(golden), ",")}


def _tsv(golden: GoldenSet, path: str) -> dict[str, str]:
    return {path: _table(_judgment_rows(golden), "\t")}


def _judgment_rows(golden: GoldenSet) -> list[list[str]]:
    """Return a header and a judgment a row; tags, weight and parameters of a query are on its first row."""
    queries = list(golden.queries.values())
    params = list(dict.fromkeys(name for query in queries for name in query.params))
    _refuse(
        (name for name in params if name != name.strip()),
        "A header holds no white space at the end of a name",
        "Rename",
    )
    _refuse(
        (tag for query in queries for tag in query.tags if read_tags(tag) != (tag,)),
        "A table holds tags with commas between them",
        "Rename",
    )
    columns: dict[str, Callable[[Query], str]] = {
        "id": lambda query: "" if query.id == query.text else query.id,
        "query": lambda query: query.text or "",
        "tags": lambda query: ", ".join(query.tags),
        "weight": lambda query: "" if query.weight == 1 else _grade(query.weight),
        **{f"params.{name}": partial(_param, name) for name in params},
    }
    columns = {name: cell for name, cell in columns.items() if any(map(cell, queries))}
    if "id" in columns:
        columns["id"] = lambda query: query.id
    named = [name for name in ("id", "query") if name in columns]
    about = [name for name in columns if name not in named]
    rows = [[*named, "docid", "rating", *about]]
    for query in queries:
        cells = [guard_formula(columns[name](query)) for name in about]
        for doc_id, grade in query.judgments.items():
            names = [guard_formula(columns[name](query)) for name in named]
            rows.append([*names, guard_formula(doc_id), _grade(grade), *cells])
            cells = [""] * len(about)
    return rows


def _param(name: str, query: Query) -> str:
    return write_param(query.params[name]) if name in query.params else ""


def _table(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Write rows as CSV or TSV. Raises ConversionError for what its reader would not take, or take for something else."""
    cells = [cell for row in rows for cell in row]
    limit = csv.field_size_limit()
    odd = (cell for cell in cells if "\0" in cell or "\r\n" in cell)
    _refuse(odd, "A table holds no NUL, and reads \\r\\n as \\n", "Take it out of")
    _refuse((cell for cell in cells if len(cell) > limit), f"A cell holds {limit:,} characters", "Shorten")
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)  # the usual line end makes it quote a lone \r
    return text.getvalue().replace("\r\n", "\n")


def _grade(grade: Grade) -> str:
    return repr(as_whole_number(grade))


_OF_A_QUERY = frozenset({"id", *_OPTIONAL})
_OF_A_TABLE = frozenset({"id", "tags", "weight", "params"})

FORMATS = {
    "yaml": Format("YAML", _OF_A_QUERY | {"set"}, _yaml, as_trec_eval=False),
    "jsonl": Format("JSONL", _OF_A_QUERY, _jsonl),
    "csv": Format("CSV", _OF_A_TABLE, _csv),
    "tsv": Format("TSV", _OF_A_TABLE, _tsv),
    "trec": Format("TREC", frozenset({"id"}), _trec),
    "beir": Format("BEIR", frozenset({"id"}), _beir),
    "quepid": Format("Quepid's CSV", frozenset(), _csv),
}
"""The formats that can be written, by name."""
