"""Recall and precision over the cut-offs, against the metrics themselves."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.analysis import curves as module
from pytest_irmetrics.analysis.curves import curves

GOLDEN = GoldenSet.from_judgments({"a": {"d1": 1, "d2": 1}, "b": {"d3": 2}}, name="faq")
NOW = Run({"a": ["d1", "x", "d2"], "b": ["x", "y", "d3"]})
BEFORE = Run({"a": ["d1", "d2", "x"], "b": ["d3", "x", "y"]})


def of(run):
    return evaluate(GOLDEN, run, metrics=["mrr"], depth=3)


def test_a_curve_is_the_metric_at_each_cutoff():
    recall, precision = curves(of(NOW), compare(of(NOW), of(BEFORE)))
    names = [f"{family}@{k}" for family in ("recall", "precision") for k in (1, 2, 3)]
    for run, values in ((NOW, recall.now + precision.now), (BEFORE, recall.baseline + precision.baseline)):
        whole = evaluate(GOLDEN, run, metrics=names)
        assert values == [whole[name] for name in names]


def test_without_a_baseline_a_curve_has_one_line():
    assert [(curve.metric, curve.baseline) for curve in curves(of(NOW), None)] == [
        ("recall", []),
        ("precision", []),
    ]


def test_there_is_no_curve_where_it_would_take_long(monkeypatch):
    monkeypatch.setattr(module, "_MOST_SCORES", 5)
    assert curves(of(NOW), None) == []


def test_there_is_no_curve_where_no_query_has_an_answer(tmp_path):
    path = tmp_path / "none.yaml"
    path.write_text("queries:\n  - {query: nonsense, no_answer: true}\n", encoding="utf-8")
    golden = GoldenSet.load(path)
    assert curves(evaluate(golden, Run({"nonsense": []}), metrics=["no_answer"], depth=3), None) == []
