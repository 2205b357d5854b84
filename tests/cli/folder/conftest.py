import pytest

FOUND = {
    "bm25": {
        "how do I reset my password": ["doc-12", "doc-40", "doc-3"],
        "refund policy": ["doc-9", "doc-8", "doc-4"],
        "opening hours": ["doc-1"],
    },
    "dense": {
        "how do I reset my password": ["doc-40", "doc-3"],
        "refund policy": ["doc-8", "doc-9", "doc-5"],
        "opening hours": ["doc-2", "doc-1"],
    },
}


@pytest.fixture(scope="session", params=FOUND)
def retriever(request):
    def search(query, k, **params):
        return FOUND[request.param].get(query, [])[: params.get("limit", k)]

    return search


@pytest.fixture(scope="session")
def ir_doc_title():
    return {"doc-8": "Money back", "doc-12": "Passwords"}
