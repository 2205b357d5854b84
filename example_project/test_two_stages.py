import pytest

from pytest_irmetrics import staged

CANDIDATES = 50


@pytest.fixture(scope="session")
def retriever(engine):
    def search(query, k, **params):
        candidates = engine.search(query, CANDIDATES, **params)
        return staged(engine.rerank(query, candidates)[:k], candidates=candidates)

    return search


@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("mrr", min=0.80, max_drop=0.01)
def test_reranked_search(irmetrics):
    irmetrics.check()
