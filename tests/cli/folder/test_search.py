import pytest


@pytest.mark.ir_golden("golden/faq.yaml")
def test_search(irmetrics):
    irmetrics.check()
