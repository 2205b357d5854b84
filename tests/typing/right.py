"""A user's code that is right, as mypy and pyright see it: `make types`."""

# pyright: strict

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics import EvaluationError, GoldenSet, GoldenSetError, Run, batched, compare, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_irmetrics import Batched, Comparison, Evaluation, IRMetrics, MetricChange, Query


@pytest.fixture(scope="session")
def retriever() -> Callable[[str, int], list[str]]:
    return lambda query, k: [query] * k


@pytest.fixture(scope="session")
def batches() -> Batched:
    def search(queries: Sequence[str], k: int) -> list[list[str]]:
        return [[query] * k for query in queries]

    return batched(search, size=8)


@pytest.mark.ir_golden("golden/*.yaml")
def test_search(irmetrics: IRMetrics) -> None:
    evaluation: Evaluation = irmetrics.check()
    assert evaluation["ndcg@10"] > 0.5


async def test_asynchronous_search(irmetrics: IRMetrics) -> None:
    assert (await irmetrics.acheck())["mrr"] > 0.5


def notebook(folder: Path) -> float:
    try:
        golden = GoldenSet.load(folder / "faq.yaml")
    except GoldenSetError as error:
        raise SystemExit(str(error)) from error
    query: Query = golden.queries["refund"]
    best: float = max(query.judgments.values())
    now = evaluate(golden, Run({"refund": ["d1", "d2"]}), metrics=["mrr", "ndcg@10"])
    change: Comparison = compare(now, evaluate(golden, Run.load(folder / "run.json"), metrics=["mrr"]))
    moved: MetricChange = change["mrr"]
    try:
        score = now.scores["ndcg@10"]["refund"]
    except EvaluationError:
        score = 0.0
    return moved.delta + score + best + len(moved.worse)


def pytest_irmetrics_evaluated(item: pytest.Item, evaluation: Evaluation) -> None:
    print(item.name, evaluation["mrr"], evaluation.run["refund"])  # noqa: T201
