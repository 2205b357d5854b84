"""Metrics: their names and parameters, their formulas, and the scorer that computes them."""

from pytest_irmetrics.metrics.formulas import (
    FAMILIES,
    Family,
    Grade,
    Hits,
    Metric,
    MetricError,
    Parameter,
    Profile,
    Scorer,
    dcg,
    mean,
    parse_metric,
    score,
)

__all__ = [
    "FAMILIES",
    "Family",
    "Grade",
    "Hits",
    "Metric",
    "MetricError",
    "Parameter",
    "Profile",
    "Scorer",
    "dcg",
    "mean",
    "parse_metric",
    "score",
]

# Pickles and tracebacks name what is public, wherever it is made.
for _public in (Metric, MetricError):
    _public.__module__ = __name__
