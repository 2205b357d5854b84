"""What real frameworks return, read as chunks without any help."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet, evaluate
from tests.integration.packages import need

HELD = "You can return it within\nthirty\u00a0days."


@pytest.fixture
def asked(tmp_path):
    """Score a retriever that returns some items over a golden set of one passage, and give its ranking."""
    path = tmp_path / "golden.yaml"
    path.write_text(
        "queries: [{id: q, query: returns, relevant: [{doc: handbook, text: thirty days}]}]\n",
        encoding="utf-8",
    )

    def ranking(items):
        now = evaluate(GoldenSet.load(path), lambda _query: items, ["mrr"])
        assert now["mrr"] == 1.0
        return now.run["q"][1:]

    return ranking


def test_documents_of_langchain(asked):
    documents = need("langchain_core.documents")
    found = documents.Document(page_content=HELD, metadata={"source": "handbook"})
    other = documents.Document(page_content="else", metadata={"source": "handbook"}, id="c2")
    assert asked([found, other]) == ("handbook (chunk c2)",)
    assert asked([(found, 0.5), (other, 0.25)]) == ("handbook (chunk c2)",)


def test_nodes_of_llama_index(asked):
    schema = need("llama_index.core.schema")
    source = {schema.NodeRelationship.SOURCE: schema.RelatedNodeInfo(node_id="handbook")}
    nodes = [
        schema.NodeWithScore(node=schema.TextNode(text=text, id_=own, relationships=source), score=1.0)
        for own, text in (("c1", HELD), ("c2", "else"))
    ]
    assert asked(nodes) == ("handbook (chunk c2)",)


def test_documents_of_haystack(asked):
    haystack = need("haystack")
    documents = [
        haystack.Document(id=own, content=text, meta={"source_id": "handbook"})
        for own, text in (("c1", HELD), ("c2", "else"))
    ]
    assert asked(documents) == ("handbook (chunk c2)",)
