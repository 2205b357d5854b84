"""What `show` and `diff` share: which metrics, over which queries, and a query's view."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from pytest_irmetrics.evaluation import DEFAULT_METRICS, read_metrics
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.metrics import MetricError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.metrics import Metric

_NAME = re.compile(r"(?:\([^()]*\)|[^\s,])+")

DEFAULT = read_metrics([*DEFAULT_METRICS, "no_answer"])
"""What is scored unless told otherwise; `no_answer` where there are such queries."""


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses metrics."""
    parser.add_argument(
        "--metrics",
        type=_metrics,
        action="extend",
        metavar="METRICS",
        help=f"what to score, such as ndcg@5,P@3 (default: {','.join(DEFAULT_METRICS)})",
    )


def _metrics(text: str) -> tuple[Metric, ...]:
    """Read names between commas or blanks, but for those between a metric's parentheses."""
    try:
        metrics = read_metrics(_NAME.findall(text))
    except MetricError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    for metric in metrics:
        if metric.kind == "latency":
            raise argparse.ArgumentTypeError(f"{metric} cannot be read off a stored run. Leave it out.")
    if not metrics:
        raise argparse.ArgumentTypeError("there is no metric in it. Write for example ndcg@10,mrr.")
    return metrics


def one_metric(text: str) -> Metric:
    """Read the name of one metric that rankings alone decide."""
    metrics = _metrics(text)
    if len(metrics) > 1 or metrics[0].kind != "ranking":
        raise argparse.ArgumentTypeError(
            f"{text!r} is not one metric over rankings. Write for example ndcg@10."
        )
    return metrics[0]


def scorable(metrics: Iterable[Metric], golden: GoldenSet) -> tuple[Metric, ...]:
    """Return the metrics, each once, that a stored run has what it takes for."""
    no_answer = any(query.no_answer for query in golden.queries.values())
    kinds = ("ranking", "no_answer") if no_answer else ("ranking",)
    return tuple(metric for metric in read_metrics(metrics) if metric.kind in kinds)


def too_deep(metrics: Iterable[Metric], depth: int | None) -> list[Metric]:
    """Return the metrics whose cut-off lies beyond what was asked for."""
    return [
        metric
        for metric in metrics
        if depth is not None and metric.cutoff is not None and metric.cutoff > depth
    ]


def part_of(golden: GoldenSet, ids: Iterable[str], shown: str) -> GoldenSet:
    """Return a golden set of some of the queries of one, in the order of `ids`."""
    return GoldenSet(
        [golden.queries[query_id] for query_id in ids],
        path=golden.path,
        shown=shown,
        name=golden.name,
        relevance_level=golden.relevance_level,
    )
