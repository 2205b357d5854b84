"""An error of the Python interface is shown at the user's own line, without a frame of this package."""

from __future__ import annotations

import re

import pytest

USES = {
    "a metric's name": "parse_metric('ndgc')",
    "a golden set's file": "GoldenSet.load('broken.yaml')",
    "a golden set's rows": "GoldenSet.load('broken.csv')",
    "a golden set's lines": "GoldenSet.load('broken.jsonl')",
    "judgments as TREC has them": "GoldenSet.load('broken.qrels')",
    "a golden set that is not there": "GoldenSet.load('gone.yaml')",
    "judgments": "GoldenSet.from_judgments({'q': {'d': 'x'}})",
    "a run": "Run({'q': 'abc'})",
    "a stored run": "Run.load('broken.json')",
    "a TREC run": "Run.load('broken.run')",
    "a run that cannot be stored": "Run({'a b': ['d']}).save('x.run')",
    "an evaluation": "evaluate(GOLDEN, RUN, 'mrr')",
    "a cut-off": "evaluate(GOLDEN, RUN, ['recall@50'], depth=10)",
    "a metric of one's own": "evaluate(GOLDEN, RUN, ['mine'], custom_metrics={'mine': lambda *_: 'x'})['mine']",
    "a comparison": "compare(RUN, RUN)",
    "a retriever": "evaluate(GOLDEN, lambda a, b, c: [], ['mrr'])['mrr']",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_the_last_line_of_a_traceback_is_the_users(pytester, monkeypatch, use):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, text in {
        "broken.yaml": "queries: 3\n",
        "broken.csv": "query\n",
        "broken.jsonl": "{\n",
        "broken.qrels": "q\n",
        "broken.json": "{",
        "broken.run": "q\n",
    }.items():
        (pytester.path / name).write_text(text)
    pytester.makepyfile(f"""
        from pytest_irmetrics import GoldenSet, Run, compare, evaluate
        from pytest_irmetrics.metrics import parse_metric

        GOLDEN, RUN = GoldenSet.from_judgments({{"q": {{"d": 1}}}}), Run({{"q": ["d"]}})

        def test_it():
            {use}
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    places = [line for line in result.outlines if re.match(r"\S+\.py:\d+: ", line)]
    assert len(places) == 1, places
    assert places[0].startswith("test_the_last_line_of_a_traceback_is_the_users.py:7: ")
