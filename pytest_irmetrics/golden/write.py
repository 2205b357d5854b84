"""Write a golden set in another format: drop what the format cannot hold, say so, and return the files' content."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.files import without_gz
from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.formats import OPTIONAL
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query, query_as_dict
from pytest_irmetrics.golden.read_tables import guard_formula
from pytest_irmetrics.golden.read_trec import topics_path
from pytest_irmetrics.golden.rows import read_tags, write_param
from pytest_irmetrics.golden.write_yaml import write_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.golden.formats import Format
    from pytest_irmetrics.metrics import Grade


_MAX_NAMED = 5
"""How many queries or texts a message names at most."""
_NOTHING: dict[str, Any] = {each.name: each.default for each in fields(Query) if each.name in OPTIONAL} | {
    "params": {}
}
"""What a query may have besides its text and judgments, each with its value where it has none."""


class ConversionError(IRMetricsError, ValueError):
    """Something in a golden set that cannot be written in a format at all; says what to do."""


def drop_unsupported(golden: GoldenSet, target: Format) -> tuple[GoldenSet, list[str]]:
    """Return the part of a golden set that a format can hold, and sentences on what is dropped. Raises ConversionError."""
    queries = golden.queries.values()
    without = {key: nothing for key, nothing in _NOTHING.items() if key not in target.holds}
    lost = {key: any(getattr(query, key) != without[key] for query in queries) for key in without}
    if "id" not in target.holds:
        lost["id"] = any(query.text not in (None, query.id) for query in queries)
        count_of = Counter(query.text for query in queries if query.text is not None)
        twice = (text for text, count in count_of.items() if count > 1)
        _refuse(twice, f"{target.title} has one query of a text", "Keep one each of")
    own = "set" in target.holds
    if not own:
        lost["name"] = _own_name(golden) is not None
        lost["relevance_level"] = golden.relevance_level != 1
        lost["thresholds of the set"] = bool(golden.thresholds)
    kept, left_out = [], []
    for query in queries:
        reduced = _reduced(query, target, without, golden.relevance_level)
        kept += [reduced] if reduced else []
        left_out += [] if reduced else [query.id]
    dropped = ", ".join(key for key, is_lost in lost.items() if is_lost)
    notes = [f"{target.title} has no place for {dropped}."] if dropped else []
    if left_out or golden.left_out:
        names = _names([*left_out, *golden.left_out])
        notes.append(f"Left out, because {target.title} can hold no judgment of them: {names}.")
    level, thresholds = (golden.relevance_level, golden.thresholds) if own else (1, ())
    return GoldenSet(
        kept, path=golden.path, name=golden.name, relevance_level=level, thresholds=thresholds
    ), notes


def _reduced(query: Query, target: Format, without: dict[str, Any], level: Grade) -> Query | None:
    """Return a query without what a format does not hold; None where it cannot hold the query at all."""
    judgments = dict(query.judgments)
    if "passages" in without:
        for passage in query.passages:
            del judgments[passage.key]
    if not target.as_trec_eval:
        judgments = {doc_id: max(grade, 0) for doc_id, grade in judgments.items()}
    is_held = bool(judgments) and (target.as_trec_eval or max(judgments.values()) >= level)
    if not ("no_answer" in target.holds if query.no_answer else is_held):
        return None
    query_id = query.id if "id" in target.holds else query.text or query.id
    return replace(query, id=query_id, judgments=judgments, **without)


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


# The content of files, by path


def render_yaml(golden: GoldenSet, path: str) -> dict[str, str]:
    """Write YAML."""
    return {path: write_yaml(golden, _own_name(golden))}


def render_jsonl(golden: GoldenSet, path: str) -> dict[str, str]:
    """Write one query a line."""
    return {path: "".join(_json_line(query_as_dict(query, short=True)) for query in golden.queries.values())}


def _json_line(record: object) -> str:
    line = json.dumps(record, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line) + "\n"


def render_qrels(golden: GoldenSet, path: str) -> dict[str, str]:
    """Write TREC qrels and, if there are texts, the topics beside them. Raises ConversionError."""
    rows = _judgments(golden)
    odd = (
        name
        for query_id, doc, _ in rows
        for name in (query_id, doc)
        if re.search(r"\A\ufeff|[\s\0]", name, re.ASCII)
    )
    _refuse(odd, "Qrels hold no id with white space", "Give each of these an `id` without")
    texts = {query.id: query.text for query in golden.queries.values() if query.text is not None}
    odd = (text for text in texts.values() if re.search("[\n\r\0]", text))
    _refuse(odd, "Topics hold one line a query", "Take the line break out of")
    files = {path: "".join(f"{query_id} 0 {doc} {grade}\n" for query_id, doc, grade in rows)}
    if texts:
        files[topics_path(path)] = "".join(f"{query_id}\t{text}\n" for query_id, text in texts.items())
    return files


def render_beir(golden: GoldenSet, path: str) -> dict[str, str]:
    """Write the folder of a BEIR data set, its split `test`. Raises ConversionError."""
    queries = golden.queries.values()
    if any(query.text is None for query in queries):
        message = "A BEIR folder has the queries' texts, and this golden set has none. Add them first."
        raise ConversionError(message)
    folder = path.rstrip("/")
    texts: Iterable[dict[str, object]] = (
        {"_id": query.id, "text": query.text, "metadata": {}} for query in queries
    )
    return {
        f"{folder}/queries.jsonl": "".join(map(_json_line, texts)),
        f"{folder}/qrels/test.tsv": _table([["query-id", "corpus-id", "score"], *_judgments(golden)], "\t"),
    }


def render_csv(golden: GoldenSet, path: str) -> dict[str, str]:
    """Write CSV. Raises ConversionError."""
    return {path: _table(_rows(golden), ",")}


def render_tsv(golden: GoldenSet, path: str) -> dict[str, str]:
    """Write TSV. Raises ConversionError."""
    return {path: _table(_rows(golden), "\t")}


def _judgments(golden: GoldenSet) -> list[list[str]]:
    """Return query id, document id and grade of each judgment."""
    return [
        [query.id, doc, _grade(grade)]
        for query in golden.queries.values()
        for doc, grade in query.judgments.items()
    ]


def _rows(golden: GoldenSet) -> list[list[str]]:
    """Return a header and a judgment a row; tags, weight and parameters of a query are on its first row."""
    queries = list(golden.queries.values())
    odd = (name for query in queries for name in query.params if name != name.strip())
    _refuse(odd, "A header holds no white space at the end of a name", "Rename")
    odd = (tag for query in queries for tag in query.tags if read_tags(tag) != (tag,))
    _refuse(odd, "A table holds tags with commas between them", "Rename")
    has_ids = any(query.id != query.text for query in queries)
    columns = dict.fromkeys(["id", "query", "docid", "rating", "tags", "weight"], False)
    records = []
    for query in queries:
        about = {"tags": ", ".join(query.tags), "weight": "" if query.weight == 1 else _grade(query.weight)}
        about |= {f"params.{name}": write_param(value) for name, value in query.params.items()}
        for doc_id, grade in query.judgments.items():
            record = {"id": query.id if has_ids else "", "query": query.text or "", "docid": doc_id, **about}
            records.append(
                {name: guard_formula(cell) for name, cell in record.items()} | {"rating": _grade(grade)}
            )
            about = {}
    for record in records:
        columns |= {name: columns.get(name) or bool(cell) for name, cell in record.items()}
    header = [name for name, is_held in columns.items() if is_held]
    return [header, *([record.get(name, "") for name in header] for record in records)]


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
