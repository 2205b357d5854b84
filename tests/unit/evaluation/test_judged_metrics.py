"""`judged@k` beside the metrics of a report: a score is only as good as the judgments behind it."""

from __future__ import annotations

from pytest_irmetrics.evaluation import judged_metrics, read_metrics


def names(*metrics, depth=None):
    return [metric.name for metric in judged_metrics(read_metrics(metrics, {"mine": len}), depth)]


def test_what_is_judged_is_measured_at_the_cutoffs_of_ranking_metrics_alone():
    several = names("ndcg@10", "mine@7", "latency_p95", "no_answer", "recall@5", "recall@10")
    assert several == ["judged@5", "judged@10"]
    assert names("mine@7", "latency_p50") == []


def test_without_a_cutoff_it_is_measured_at_the_depth():
    assert names("mrr", "recall@30", depth=20) == ["judged@20", "judged@30"]
    assert names("mrr", "recall@30") == ["judged@30", "judged"]


def test_what_is_asked_for_anyhow_is_not_repeated():
    assert names("judged@10", "ndcg@10", "judged@3") == []
