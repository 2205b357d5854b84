"""Write a golden set in another format: drop what the format cannot hold, say so, and return the files' content."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.gzipped import without_gz
from pytest_irmetrics.base.numbers import as_whole_number
from pytest_irmetrics.base.wording import listed, plural, quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query_as_dict import (
    limits_as_dict,
    query_as_dict,
    shorten_limits,
)
from pytest_irmetrics.golden.table_cells import guard_formula, read_tags, write_param
from pytest_irmetrics.golden.trec import topics_path
from pytest_irmetrics.golden.values import QUERY_KEYS
from pytest_irmetrics.golden.write_yaml import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Grade


_MAX_NAMED = 5
"""How many queries or texts a message names at most."""
_WHITE_SPACE = re.compile(r"[ \t\n\r\x0b\x0c\x00]")
_LINE_BREAK = re.compile(r"[\n\r\x00]")


class ConversionError(IRMetricsError, ValueError):
    """Something in a golden set that cannot be written in a format at all; says what to do."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of golden sets: what it can hold besides the queries' texts and the grades of documents."""

    title: str
    """The name of the format, at the start of a sentence."""
    holds: frozenset[str]
    """Keys of a query, `passages` for judgments by passage, `set` for its name, relevance level and thresholds."""
    verb: str = "holds"
    """The verb after the title in a message: `hold` where the title is a plural."""
    whole_grades: bool = False
    """Whether other tools read grades as integers."""
    any_grades: bool = True
    """Whether it allows grades below 0, and queries without a relevant document, as trec_eval does."""


FORMATS = {
    "yaml": Format("YAML", QUERY_KEYS | {"passages", "set"}, any_grades=False),
    "jsonl": Format("JSONL", QUERY_KEYS | {"passages"}),
    "csv": Format("CSV", frozenset(("id", "tags", "weight", "params"))),
    "tsv": Format("TSV", frozenset(("id", "tags", "weight", "params"))),
    "trec": Format("TREC qrels", frozenset(("id",)), "hold", whole_grades=True),
    "beir": Format("A BEIR folder", frozenset(("id",)), whole_grades=True),
    "quepid": Format("Quepid's CSV", frozenset()),
}
"""The formats that can be written, by name."""


def drop_unsupported(golden: GoldenSet, target: Format) -> tuple[GoldenSet, list[str]]:
    """Return the part of a golden set that a format can hold, and a sentence for each kind of thing that is dropped.

    Raises ConversionError.
    """
    dropped = list(_describe_set(golden)) if "set" not in target.holds else []
    queries = list(golden.queries.values())
    no_answer: list[Query] = []
    if "no_answer" not in target.holds:
        no_answer = [query for query in queries if query.no_answer]
        queries = [query for query in queries if not query.no_answer]
    dropped += _describe_queries(queries, target)
    if "id" not in target.holds:
        counts = Counter(query.text for query in queries)
        twice = (text for text, count in counts.items() if text is not None and count > 1)
        _refuse(twice, f"{target.title} holds one query of a text", "Keep one each of")
    reduced = [_reduce_query(query, target.holds) for query in queries]
    by_passage = [query for query in reduced if not query.judgments and not query.no_answer]
    reduced = [query for query in reduced if query.judgments or query.no_answer]
    notes = [f"{target.title} {target.verb} no {', '.join(dropped)}."] if dropped else []
    if not target.any_grades:
        reduced, changes = _fit_grades(reduced, golden.relevance_level, target)
        notes += changes
    if no_answer:
        notes.append(
            f"Without an answer to judge, {_listed(no_answer)} {_is_or_are(no_answer)} left out (`no_answer`)."
        )
    if by_passage:
        notes.append(f"Judged by passage alone, {_listed(by_passage)} {_is_or_are(by_passage)} left out.")
    if target.whole_grades:
        fractional = sum(grade != int(grade) for query in reduced for grade in query.judgments.values())
        if fractional:
            notes.append(
                f"Grades that are no whole numbers ({fractional}) are written as they are; other readers may cut or refuse them."
            )
    if golden.left_out:
        notes.append(
            f"Without any judgment, {_names(golden.left_out)} {_is_or_are(golden.left_out)} left out."
        )
    kept = GoldenSet(
        reduced,
        path=golden.path,
        name=golden.name,
        relevance_level=golden.relevance_level if "set" in target.holds else 1,
        thresholds=golden.thresholds if "set" in target.holds else (),
    )
    return kept, notes


def _explicit_name(golden: GoldenSet) -> str | None:
    """Return a golden set's name, None if it follows from the name of its file."""
    return (
        None
        if golden.path is not None and golden.name in (without_gz(golden.path).stem, golden.path.name)
        else golden.name
    )


def _refuse(names: Iterable[str], why: str, advice: str) -> None:
    """Raise ConversionError if there are any names, such as ids or texts, that the format cannot hold."""
    found = list(dict.fromkeys(names))
    if found:
        raise ConversionError(f"{why}. {advice}: {_names(found)}.")


def _describe_set(golden: GoldenSet) -> Iterable[str]:
    """Name what the golden set has for the whole set (name, relevance level, thresholds), with counts."""
    name = _explicit_name(golden)
    if name is not None:
        yield f"name ({quote(name)})"
    if golden.relevance_level != 1:
        yield f"relevance level ({golden.relevance_level:g})"
    own = [threshold for threshold in golden.thresholds if threshold.tag is None]
    if own:
        yield f"thresholds ({len(own)})"
    slices = {threshold.tag for threshold in golden.thresholds} - {None}
    if slices:
        yield f"slices ({len(slices)})"


def _describe_queries(queries: Sequence[Query], target: Format) -> Iterable[str]:
    """Name what queries have that a format does not hold, with counts."""
    kinds: dict[str, tuple[str, Callable[[Query], object]]] = {
        "id": ("ids beside the texts", lambda query: query.text is not None and query.id != query.text),
        "forbidden": ("forbidden documents", lambda query: query.forbidden),
        "tags": ("tags", lambda query: query.tags),
        "weight": ("weights", lambda query: query.weight != 1),
        "params": ("params", lambda query: query.params),
        "thresholds": ("thresholds of single queries", lambda query: query.thresholds),
        "xfail": ("xfail", lambda query: query.xfail),
        "note": ("notes", lambda query: query.note),
        "passages": ("passages", lambda query: query.passages),
    }
    for key, (what, test) in kinds.items():
        count = sum(bool(test(query)) for query in queries)
        if count and key not in target.holds:
            yield f"{what} ({plural(count, 'query', 'queries')})"


def _reduce_query(query: Query, holds: frozenset[str]) -> Query:
    """Return a query without what a format does not hold."""
    judgments = query.judgments
    if query.passages and "passages" not in holds:
        keys = {passage.key for passage in query.passages}
        judgments = {doc_id: grade for doc_id, grade in judgments.items() if doc_id not in keys}
        query = replace(query, passages=())
    return replace(
        query,
        id=query.id if "id" in holds or query.text is None else query.text,
        judgments=judgments,
        forbidden=query.forbidden if "forbidden" in holds else (),
        tags=query.tags if "tags" in holds else (),
        weight=query.weight if "weight" in holds else 1.0,
        params=query.params if "params" in holds else {},
        thresholds=query.thresholds if "thresholds" in holds else (),
        xfail=query.xfail if "xfail" in holds else None,
        note=query.note if "note" in holds else None,
    )


def _fit_grades(queries: Sequence[Query], level: Grade, target: Format) -> tuple[list[Query], list[str]]:
    """Return the queries as a format takes them that refuses grades below 0 and queries without a relevant document.

    With a sentence for each of the two that there were.
    """
    notes = []
    negative = sum(grade < 0 for query in queries for grade in query.judgments.values())
    if negative:
        notes.append(
            f"{target.title} holds no grades below 0 ({negative}): 0 is written, which scores the same."
        )
    fitted = [_without_negative(query) for query in queries]
    irrelevant = [query for query in fitted if not query.no_answer and max(query.judgments.values()) < level]
    if irrelevant:
        notes.append(
            f"{target.title} holds no query without a relevant document, so {_listed(irrelevant)} {_is_or_are(irrelevant)} left "
            "out. They scored 0 and counted in every mean."
        )
    left_out = {query.id for query in irrelevant}
    return [query for query in fitted if query.id not in left_out], notes


def _without_negative(query: Query) -> Query:
    if all(grade >= 0 for grade in query.judgments.values()):
        return query
    return replace(query, judgments={doc_id: max(grade, 0) for doc_id, grade in query.judgments.items()})


def _listed(queries: Sequence[Query]) -> str:
    return _names([query.id for query in queries])


def _names(ids: Sequence[str]) -> str:
    return listed(ids, _MAX_NAMED, quote)


def _is_or_are(things: Sequence[object]) -> str:
    return "is" if len(things) == 1 else "are"


# Files -----------------------------------------------------------------------------------------------------------


def render_files(golden: GoldenSet, form: str, path: str) -> dict[str, str]:
    """Return the content of each file by its path, of a golden set from `drop_unsupported`. Raises ConversionError.

    `form` is a name in FORMATS, `path` that of the file or, for BEIR, the folder.
    """
    if form == "yaml":
        return {path: "".join(write_yaml(golden, _explicit_name(golden)))}
    if form == "jsonl":
        return {path: "".join(map(_json_line, golden.queries.values()))}
    queries = list(golden.queries.values())
    if form == "trec":
        return _render_trec(queries, path)
    if form == "beir":
        return _render_beir(queries, path.rstrip("/"))
    if form == "quepid":
        _require_texts(queries, "Quepid asks with the queries' texts")
    return {path: _render_table(queries, "\t" if form == "tsv" else ",")}


def _json_line(query: Query) -> str:
    record = query_as_dict(query)
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
        record["thresholds"] = shorten_limits(limits_as_dict(query.thresholds))
    return _escape_unprintable(json.dumps(record, ensure_ascii=False)) + "\n"


def _escape_unprintable(line: str) -> str:
    """Escape what is not printable, in JSON."""
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line)


def _grade(grade: Grade) -> str:
    return repr(as_whole_number(grade))


def _render_trec(queries: list[Query], path: str) -> dict[str, str]:
    ids = (name for query in queries for name in (query.id, *query.judgments))
    _refuse(
        (name for name in ids if _WHITE_SPACE.search(name) or name[0] == "\ufeff"),
        "Qrels hold no id with white space",
        "Give each of these an `id` without",
    )
    texts = {query.id: query.text for query in queries if query.text is not None}
    _refuse(
        (text for text in texts.values() if _LINE_BREAK.search(text)),
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
        files[topics_path(path)] = "".join(f"{query_id}\t{text}\n" for query_id, text in texts.items())
    return files


def _render_beir(queries: list[Query], path: str) -> dict[str, str]:
    _require_texts(queries, "A BEIR folder has the queries' texts")
    rows = [
        [query.id, doc_id, _grade(grade)] for query in queries for doc_id, grade in query.judgments.items()
    ]
    _refuse_unreadable(cell for row in rows for cell in row)
    records: Iterator[dict[str, object]] = (
        {"_id": query.id, "text": query.text, "metadata": {}} for query in queries
    )
    return {
        f"{path}/queries.jsonl": "".join(
            _escape_unprintable(json.dumps(record, ensure_ascii=False)) + "\n" for record in records
        ),
        f"{path}/qrels/test.tsv": _render_csv([["query-id", "corpus-id", "score"], *rows], "\t"),
    }


def _render_table(queries: list[Query], delimiter: str) -> str:
    """Write a table with a judgment a row; tags, weight and parameters of a query are on its first row."""
    has_texts = any(query.text is not None for query in queries)
    has_ids = any(query.id != query.text for query in queries)
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
        described = [
            *([", ".join(query.tags)] if tags else []),
            *([_grade(query.weight) if query.weight != 1 else ""] if weights else []),
            *(write_param(query.params[name]) if name in query.params else "" for name in params),
        ]
        for doc_id, grade in query.judgments.items():
            named = [*([query.id] if has_ids else []), *([query.text or ""] if has_texts else [])]
            rows.append(
                [*map(guard_formula, (*named, doc_id)), _grade(grade), *map(guard_formula, described)]
            )
            described = [""] * len(described)
    _refuse_unreadable(cell for row in rows for cell in row)
    limit = csv.field_size_limit()
    _refuse(
        (cell for row in rows for cell in row if len(cell) > limit),
        f"A cell holds {limit:,} characters",
        "Shorten",
    )
    return _render_csv(rows, delimiter)


def _render_csv(rows: Iterable[list[str]], delimiter: str) -> str:
    """Write rows as CSV. The csv module leaves a lone CR unquoted, which other readers take for a line end."""
    special = re.compile(f'[{delimiter}"\n\r]')

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if special.search(text) else text

    return "".join(f"{delimiter.join(map(cell, row))}\n" for row in rows)


def _require_texts(queries: list[Query], why: str) -> None:
    if any(query.text is None for query in queries):
        raise ConversionError(f"{why}, and this golden set has none. Add them first.")


def _refuse_unreadable(cells: Iterable[str]) -> None:
    """Refuse what the reader of tables does not take, or takes for something else."""
    cells = list(cells)
    _refuse((cell for cell in cells if "\x00" in cell), "A table holds no NUL", "Take it out of")
    _refuse(
        (cell for cell in cells if "\r\n" in cell),
        "Line ends within a cell of a table are read as \\n, however they are written",
        "Write \\n for \\r\\n in",
    )
