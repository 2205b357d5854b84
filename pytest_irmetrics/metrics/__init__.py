"""Metrics: judgments and a ranking in, a score out.

`parse_metric("ndcg(gain=exp)@10")` reads a name, and a `Scorer` computes several metrics over many queries at once.

Without parameters each is what trec_eval computes with `-c`, bit for bit for a single query where trec_eval has the
metric; a parameter in parentheses names another formula.
"""

from pytest_irmetrics.metrics.formulas import FAMILIES, Grade, MetricError, mean, mean_of_scored
from pytest_irmetrics.metrics.names import Metric, parse_metric
from pytest_irmetrics.metrics.scorer import Scorer

__all__ = ["FAMILIES", "Grade", "Metric", "MetricError", "Scorer", "mean", "mean_of_scored", "parse_metric"]
