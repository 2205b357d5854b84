"""The price of max_lost that the self-test simulates, beside changes of a real engine: other weights of the example's search."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from pytest_irmetrics.analysis.harmless_changes import harmless_changes
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.run import Answer, Run

EXAMPLE = Path(__file__).parents[2] / "example_project"
WEIGHTS = [(10, 5, 1), (1, 1, 1), (5, 3, 1), (20, 5, 1), (10, 2, 1), (10, 8, 1), (10, 5, 2), (8, 5, 1)]


@pytest.fixture
def evaluations(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import search

    golden = GoldenSet.load(EXAMPLE / "golden" / "rules.yaml")
    rules = search.load_rules()

    def evaluated(weights):
        engine = search.RuleSearch(rules, weights=weights)
        answers = {
            q.id: Answer(
                (tuple(engine.search(q.text, 10, **q.params)),), text=q.text, params=q.params, weight=q.weight
            )
            for q in golden.queries.values()
        }
        return evaluate_run(golden, Run.of(answers, depth=10), ("recall@10",), depth=10)

    return [evaluated(weights) for weights in WEIGHTS]


def test_of_harmless_changes_of_an_engine_about_as_many_lose_a_query_as_of_the_simulated_ones(evaluations):
    metric = evaluations[0].metric("recall@10")
    pairs = [
        Comparison(now, baseline).change(metric) for now, baseline in itertools.permutations(evaluations, 2)
    ]
    harmless = [change for change in pairs if abs(change.delta) <= 0.01]
    assert [len(harmless), sum(bool(change.lost) for change in harmless)] == [50, 18]
    simulated = [harmless_changes(evaluation, metric, 0.01) for evaluation in evaluations]
    price = sum(changes.failing(0) for changes in simulated) / sum(len(changes.lost) for changes in simulated)
    assert price == pytest.approx(18 / 50, abs=0.1)
