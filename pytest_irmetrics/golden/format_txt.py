"""Golden sets as plain text: a list of queries, one a line, of which none is judged yet."""

from __future__ import annotations

import re

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.golden.formats import Format
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.rows import refuse
from pytest_irmetrics.golden.source import Source, Wrong

_OF_TREC = re.compile(r"\S+\s+Q?0\s+\S+\s+(?:-?\d+|\d+\s+[-+.\deE]+\s+\S+)")
"""A line of qrels, or of a TREC run: a query, `0` or `Q0`, a document, and a grade, or a rank, a score and a tag."""

FORMATS = {"txt": Format((".txt",), frozenset(("unjudged",)))}


def read(source: Source) -> GoldenSet:
    """Read a list of queries; blank lines are skipped. Raises Wrong and GoldenSetError."""
    golden, repeated = read_each_once(source)
    for number, text in repeated:
        message = f"{quote(text)} is on line {golden.queries[text].line} already. Remove one of the two."
        source.add((number, 1), message)
    source.raise_any()
    return golden


def read_each_once(source: Source) -> tuple[GoldenSet, list[tuple[int, str]]]:
    """Return the queries of a list, and the lines that repeat one, number and text, which `init --queries` leaves out. Raises Wrong."""
    queries: dict[str, Query] = {}
    repeated = []
    for number, line in enumerate(source.lines(), 1):
        text = line.strip()
        if text in queries:
            repeated.append((number, text))
        elif text:
            queries[text] = Query(text, text, {}, line=number)
    if not queries:
        raise Wrong((1, 1), "There is no query. Write one a line.")
    if all(map(_OF_TREC.fullmatch, queries)):
        raise Wrong((1, 1), "These are lines of qrels or of a run, not queries. Name qrels FILE.qrels.")
    if all("\t" in text for text in queries):
        raise Wrong((1, 1), "Tabs part these lines into columns. Keep that of the texts: `cut -f2 FILE`.")
    return GoldenSet(queries.values(), path=source.named, shown=source.shown, name=source.name), repeated


def render(golden: GoldenSet, path: str, _form: str) -> dict[str, str]:
    """Return the content of the file. Raises ConversionError."""
    queries = golden.queries.values()
    judged = [query.id for query in queries if not query.is_unjudged]
    refuse(judged, "A list of queries holds no judgments", "Choose YAML or JSONL, for the judgments of")
    odd = [query.id for query in queries if re.search(r"\A\s|[\n\r\0]|\s\Z|\A\Z", query.text or "")]
    refuse(odd, "A list holds texts of one line, without white space at the ends", "Change")
    return {path: "".join(f"{query.text}\n" for query in queries)}
