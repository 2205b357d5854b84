"""A user's code as type checkers see it: `make types` reads it, and fails where what is wrong below is not an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pytest_irmetrics
from pytest_irmetrics import GoldenSet, GoldenSetError, Run, batched, compare, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_irmetrics import Comparison, Evaluation, IRMetrics, Query


@pytest.fixture(scope="session")
def retriever() -> Callable[[str, int], list[str]]:
    return lambda query, k: [query] * k


@pytest.fixture(scope="session")
def batches() -> object:
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
    score: float = now.scores["ndcg@10"]["refund"]
    worse: Sequence[str] = change["mrr"].worse
    return change["mrr"].delta + score + best + len(worse)


def wrong(irmetrics: IRMetrics, golden: GoldenSet) -> None:
    pytest_irmetrics.GoldenSett  # type: ignore[attr-defined]  # noqa: B018
    irmetrics.chek()  # type: ignore[attr-defined]
    golden.queries[1]  # type: ignore[index]
    evaluate(golden)  # type: ignore[call-arg]
