"""Write a golden set in another format: drop what the format cannot hold, say so, and return the files' content."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import listed, quote
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query_data import as_record, limits_of, short_limits, whole
from pytest_irmetrics.golden.table_cells import guarded, param_text, tags_text
from pytest_irmetrics.golden.trec import topics_beside
from pytest_irmetrics.golden.values import QUERY_KEYS
from pytest_irmetrics.golden.write_yaml import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_irmetrics.golden.query import Query
    from pytest_irmetrics.metrics import Grade

__all__ = ["FORMATS", "Format", "UnfitError", "files_of", "fit"]

_NAMED = 5
_BLANK = re.compile(r"[ \t\n\r\x0b\x0c\x00]")
_BREAK = re.compile(r"[\n\r\x00]")


class UnfitError(IRMetricsError, ValueError):
    """What a format has no way to write; names it, and says what to do."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format by what it holds beside texts and grades by document."""

    title: str
    """As a sentence begins with it."""
    holds: frozenset[str]
    """Keys of a query; `passages` among its judgments; `set` for what is said of the whole set."""
    whole_grades: bool = False
    """Whether other readers take grades for integers."""
    unjudged: bool = True
    """Whether queries without a relevant document, and grades below 0, mean what they do to trec_eval."""


FORMATS = {
    "yaml": Format("YAML", QUERY_KEYS | {"passages", "set"}, unjudged=False),
    "jsonl": Format("JSONL", QUERY_KEYS | {"passages"}),
    "csv": Format("CSV", frozenset(("id", "tags", "weight", "params"))),
    "tsv": Format("TSV", frozenset(("id", "tags", "weight", "params"))),
    "trec": Format("TREC qrels", frozenset(("id",)), whole_grades=True),
    "beir": Format("A BEIR folder", frozenset(("id",)), whole_grades=True),
    "quepid": Format("Quepid's CSV", frozenset()),
}
"""Those that can be written."""


def fit(golden: GoldenSet, into: Format) -> tuple[GoldenSet, list[str]]:
    """Return what a format can hold of a golden set, and a sentence for each sort of thing that it cannot.

    Raises UnfitError.
    """
    said = []
    lost = list(_of_set(golden)) if "set" not in into.holds else []
    queries = list(golden.queries.values())
    without: list[Query] = []
    if "no_answer" not in into.holds:
        without = [query for query in queries if query.no_answer]
        queries = [query for query in queries if not query.no_answer]
    lost += _of_queries(queries, into)
    if "id" not in into.holds:
        counts = Counter(query.text for query in queries)
        twice = (text for text, count in counts.items() if text is not None and count > 1)
        refuse(twice, f"{into.title} holds one query of a text", "Keep one each of")
    fitted = [_reduced(query, into.holds) for query in queries]
    unjudged = [query for query in fitted if not query.judgments and not query.no_answer]
    if not into.unjudged:
        negative = sum(grade < 0 for query in fitted for grade in query.judgments.values())
        if negative:
            said.append(
                f"{into.title} holds no grades below 0 ({negative}): 0 is written, which scores the same."
            )
            fitted = [_without_negative(query) for query in fitted]
        level = golden.relevance_level
        hopeless = [
            query
            for query in fitted
            if query.judgments and max(query.judgments.values()) < level and not query.no_answer
        ]
        if hopeless:
            said.append(
                f"{into.title} holds no query without a relevant document, so {_listed(hopeless)} {_is_are(hopeless)} left "
                "out. They scored 0 and counted in every mean."
            )
            unjudged += hopeless
    if lost:
        verb = "holds" if not into.title.endswith("qrels") else "hold"
        said.insert(0, f"{into.title} {verb} no {', '.join(lost)}.")
    if without:
        said.append(
            f"Without an answer to judge, {_listed(without)} {_is_are(without)} left out (`no_answer`)."
        )
    by_passage = [query for query in unjudged if not query.judgments]
    if by_passage:
        said.append(f"Judged by passage alone, {_listed(by_passage)} {_is_are(by_passage)} left out.")
    if into.whole_grades:
        broken = sum(grade != int(grade) for query in fitted for grade in query.judgments.values())
        if broken:
            said.append(
                f"Grades that are no whole numbers ({broken}) are written as they are; other readers may cut or refuse them."
            )
    if golden.left_out:
        said.append(f"Without any judgment, {_names(golden.left_out)} {_is_are(golden.left_out)} left out.")
    gone = {query.id for query in unjudged}
    kept = GoldenSet(
        [query for query in fitted if query.id not in gone],
        path=golden.path,
        name=golden.name,
        relevance_level=golden.relevance_level if "set" in into.holds else 1,
        thresholds=golden.thresholds if "set" in into.holds else (),
    )
    return kept, said


def own_name(golden: GoldenSet) -> str | None:
    """Return the name that a golden set has beside its file's; None if it has none."""
    return (
        None
        if golden.path is not None and golden.name in (golden.path.stem, golden.path.name)
        else golden.name
    )


def refuse(names: Iterable[str], why: str, what: str) -> None:
    """Raise UnfitError if there are any names, each of which is told with what to do about it."""
    found = list(dict.fromkeys(names))
    if found:
        raise UnfitError(f"{why}. {what}: {_names(found)}.")


def _of_set(golden: GoldenSet) -> Iterable[str]:
    name = own_name(golden)
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


def _of_queries(queries: Sequence[Query], into: Format) -> Iterable[str]:
    has: dict[str, tuple[str, Callable[[Query], object]]] = {
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
    for key, (what, test) in has.items():
        count = sum(bool(test(query)) for query in queries)
        if count and key not in into.holds:
            yield f"{what} ({count} {'query' if count == 1 else 'queries'})"


def _reduced(query: Query, holds: frozenset[str]) -> Query:
    """Return a query without what the format does not hold."""
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


def _without_negative(query: Query) -> Query:
    if all(grade >= 0 for grade in query.judgments.values()):
        return query
    return replace(query, judgments={doc_id: max(grade, 0) for doc_id, grade in query.judgments.items()})


def _listed(queries: Sequence[Query]) -> str:
    return _names([query.id for query in queries])


def _names(ids: Sequence[str]) -> str:
    return listed(ids, _NAMED, quote)


def _is_are(things: Sequence[object]) -> str:
    return "is" if len(things) == 1 else "are"


# Files -----------------------------------------------------------------------------------------------------------


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
