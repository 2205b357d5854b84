"""The table of docs/engines/README.md: each engine's answer is read as it says, and its line gives the other ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.retrievers.shapes import (
    Document,
    Hits,
    PineconeHit,
    Response,
    Solr,
    chroma,
    documents,
    objects,
    vespa,
)
from tests.retrievers.ways import ask, outcome

README = Path(__file__).parents[2] / "docs" / "engines" / "README.md"
FIELDS = [{"doc": "doc-9"}, {"doc": "doc-12"}]


def with_doc(items, name):
    for item, fields in zip(items, FIELDS, strict=True):
        setattr(item, name, fields)
    return items


def elasticsearch():
    hits = [{"_id": doc, "_source": fields} for doc, fields in zip("ba", FIELDS, strict=True)]
    return Response({"hits": {"hits": hits}})


def vespas():
    answer = vespa("b", "a")
    for hit, fields in zip(answer["root"]["children"], FIELDS, strict=True):
        hit["fields"] = fields
    return Document(json=answer, hits=answer["root"]["children"])


def rows(key):
    return [{key: doc, **fields} for doc, fields in zip("ba", FIELDS, strict=True)]


ANSWERS = {
    "Azure AI Search": lambda: iter(rows("id")),
    "Chroma": lambda: chroma(["b", "a"], metadatas=[FIELDS]),
    "Elasticsearch, OpenSearch": elasticsearch,
    "Milvus": lambda: Hits(
        [
            Hits(
                {"id": doc, "distance": 0.5, "entity": fields}
                for doc, fields in zip("ba", FIELDS, strict=True)
            )
        ]
    ),
    "MongoDB": lambda: iter(rows("_id")),
    "Pinecone query": lambda: Document(matches=with_doc(documents("b", "a"), "metadata"), namespace=""),
    "Pinecone search": lambda: Document(
        result=Document(hits=with_doc([PineconeHit("b"), PineconeHit("a")], "fields")), usage=Document()
    ),
    "Qdrant": lambda: Document(points=with_doc(documents("b", "a", score=1), "payload")),
    "Redis": lambda: Document(total=2, docs=[Document(id="b", doc="doc-9"), Document(id="a", doc="doc-12")]),
    "Solr": lambda: Solr(raw_response={"response": {"docs": rows("id")}}),
    "Vespa": vespas,
    "Weaviate": lambda: Document(objects=with_doc(objects("b", "a"), "properties")),
}


def table():
    """Engine (and method, where it has two) → the line for other ids."""
    for line in README.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if len(cells) == 4 and cells[3].startswith("`["):
            method = re.search(r"index\.(\w+)", cells[1])
            yield f"{cells[0]} {method[1]}" if method else cells[0], cells[3].strip("`")


LINES = dict(table())


def test_every_engine_of_the_table_has_an_answer_here():
    assert set(LINES) == set(ANSWERS)


@pytest.mark.parametrize("engine", ANSWERS)
def test_the_answer_is_read_whole_and_the_line_gives_the_other_ids(engine):
    assert outcome(ask(lambda _query: ANSWERS[engine]())) == ["b", "a"]
    assert eval(LINES[engine], {"answer": ANSWERS[engine]()}) == ["doc-9", "doc-12"]
