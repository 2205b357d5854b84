"""What real frameworks return, read as chunks without any help."""

from __future__ import annotations

from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.passage import Passage
from pytest_irmetrics.retrieval import retrieve
from tests.integration.packages import need

PASSAGE = Passage("handbook", "thirty days")
HELD = "You can return it within\nthirty\u00a0days."


def asked(items):
    query = Query("q", "returns", {PASSAGE.key: 1}, passages=(PASSAGE,))
    retrieved = retrieve([query], lambda _query: items)
    assert not retrieved.errors
    return retrieved.run["q"]


def test_documents_of_langchain():
    documents = need("langchain_core.documents")
    found = documents.Document(page_content=HELD, metadata={"source": "handbook"})
    other = documents.Document(page_content="else", metadata={"source": "handbook"}, id="c2")
    assert asked([found, other]) == (PASSAGE.key, "handbook (chunk c2)")
    assert asked([(found, 0.5), (other, 0.25)]) == (PASSAGE.key, "handbook (chunk c2)")


def test_nodes_of_llama_index():
    schema = need("llama_index.core.schema")
    source = {schema.NodeRelationship.SOURCE: schema.RelatedNodeInfo(node_id="handbook")}
    nodes = [
        schema.NodeWithScore(node=schema.TextNode(text=text, id_=own, relationships=source), score=1.0)
        for own, text in (("c1", HELD), ("c2", "else"))
    ]
    assert asked(nodes) == (PASSAGE.key, "handbook (chunk c2)")


def test_documents_of_haystack():
    haystack = need("haystack")
    documents = [
        haystack.Document(id=own, content=text, meta={"source_id": "handbook"})
        for own, text in (("c1", HELD), ("c2", "else"))
    ]
    assert asked(documents) == (PASSAGE.key, "handbook (chunk c2)")
