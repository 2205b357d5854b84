import pytest


@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("ndcg@10", min=0.75, max_drop=0.01)
@pytest.mark.ir_threshold("mrr", 0.78)
def test_search_quality(irmetrics):
    irmetrics.check()
