"""TREC golden sets: qrels, ``query 0 document grade``, and the topics beside them, ``query<TAB>text``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_irmetrics.base.files import TOPICS, without_gz
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.golden.formats import Format
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.rows import ConversionError, Row, golden_set_of, judgments_of, refuse
from pytest_irmetrics.golden.source import Source

FORMATS = {"trec": Format((".qrels",), frozenset())}


def _topics_path(qrels: str) -> str:
    """Return the path of the topics that belong to qrels: ``faq.topics.tsv`` to ``faq.qrels``."""
    stem, _ = os.path.splitext(without_gz(Path(qrels)).as_posix())  # noqa: PTH122 - a Path of no name has no suffix
    return f"{stem}{TOPICS}"


def read(source: Source) -> GoldenSet:
    """Read qrels with the texts in ``NAME.topics.tsv`` beside them; without that file, the queries have no texts.

    Raises Wrong and GoldenSetError.
    """
    topics = source.beside(Path(_topics_path(str(source.path))), _topics_path(source.shown))
    texts = {}
    if os.path.exists(topics.path):  # noqa: PTH110 - Path.exists raises where the name is too long
        texts = topics.require(_read_topics, topics)
    return golden_set_of(_rows(source), source, texts)


def _read_topics(topics: Source) -> dict[str, str]:
    """Read the texts of queries by id; what is wrong is reported."""
    texts: dict[str, str] = {}
    for number, line in enumerate(topics.lines(), 1):
        query_id, _, asked = line.partition("\t")
        query_id = query_id.strip(" ")
        if query_id in texts:
            topics.add((number, 1), f"The query {quote(query_id)} is here twice. Keep one.")
        elif query_id and asked.strip():
            texts[query_id] = asked
        elif line.strip():
            topics.add((number, 1), "This is no query and its text. Write `query`, a tab, and the text.")
    return texts


def _rows(source: Source) -> Iterator[Row]:
    """Yield the judgments, as trec_eval reads them: ASCII white space parts the fields, and the second is ignored."""
    for number, line in enumerate(source.lines(), 1):
        parts = [field.decode() for field in line.encode().split()]
        if len(parts) == 4:
            yield Row(number, parts[0], parts[2], parts[3])
        elif parts:
            like = " as in a TREC run," if len(parts) == 6 else ""
            advice = "Write `query 0 document grade`, ids without white space, and no header."
            here = f"This line has {plural(len(parts), 'field')},{like} and qrels have 4"
            source.add((number, 1), f"{here}. {advice}")


def render(golden: GoldenSet, path: str, _form: str) -> dict[str, str]:
    """Write TREC qrels and, if there are texts, the topics beside them. Raises ConversionError."""
    rows = judgments_of(golden)
    ids = (name for query_id, doc, _ in rows for name in (query_id, doc))
    odd = [name for name in ids if re.search(r"\A\ufeff|[\s\0]", name, re.ASCII)]
    refuse(odd, "Qrels hold no id with white space", "Give each of these an `id` without")
    texts = {query.id: query.text for query in golden.queries.values() if query.text is not None}
    odd = [text for text in texts.values() if re.search("[\n\r\0]", text)]
    refuse(odd, "Topics hold one line a query", "Take the line break out of")
    files = {path: "".join(f"{query_id} 0 {doc} {grade}\n" for query_id, doc, grade in rows)}
    if texts:
        files[_topics_path(path)] = "".join(f"{query_id}\t{text}\n" for query_id, text in texts.items())
    elif os.path.exists(_topics_path(path)):  # noqa: PTH110 - as above
        message = f"{_topics_path(path)} would give these queries, which have no text, its texts. Delete it."
        raise ConversionError(message)
    return files
