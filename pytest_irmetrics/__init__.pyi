# The public names as type checkers and editors see them: of classes what docs/reference/python.md lists.

from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, Final

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.comparison.metric_change import MetricChange
from pytest_irmetrics.evaluation import EvaluationError, UnknownIdsWarning
from pytest_irmetrics.evaluation.evaluation import CustomMetrics
from pytest_irmetrics.golden import GoldenSet, GoldenSetError, Problem, Query
from pytest_irmetrics.metrics import Metric, MetricError
from pytest_irmetrics.retrieval import RetrievalError
from pytest_irmetrics.retrieval.calls import Staged, staged
from pytest_irmetrics.retrieval.retriever import Batched, batched
from pytest_irmetrics.run import Run, RunError
from pytest_irmetrics.thresholds import Threshold

__all__ = [
    "Batched",
    "Comparison",
    "Evaluation",
    "EvaluationError",
    "GoldenSet",
    "GoldenSetError",
    "IRMetrics",
    "IRMetricsError",
    "Metric",
    "MetricChange",
    "MetricError",
    "Problem",
    "Query",
    "RetrievalError",
    "Run",
    "RunError",
    "Staged",
    "Threshold",
    "UnknownIdsWarning",
    "batched",
    "compare",
    "evaluate",
    "staged",
]

def evaluate(
    golden: GoldenSet,
    source: Any,
    metrics: Iterable[str | Metric] = ...,
    *,
    depth: int | None = None,
    duplicates: str = "error",
    doc_id: Callable[[Any], Any] | None = None,
    timeout: float | None = None,
    concurrency: int = 1,
    repeat: int = 1,
    executor: Executor | None = None,
    custom_metrics: CustomMetrics = ...,
) -> Evaluation: ...
def compare(now: Evaluation, baseline: Evaluation) -> Comparison: ...

class Evaluation:
    def __getitem__(self, metric: str | Metric) -> float: ...
    def mean(self, metric: str | Metric, tag: str | None = None) -> float: ...
    @property
    def scores(self) -> Mapping[str, Mapping[str, float]]: ...
    def score(self, metric: str | Metric, query_id: str) -> float | None: ...
    @property
    def errors(self) -> Mapping[str, str]: ...
    golden: Final[GoldenSet]
    @property
    def run(self) -> Run: ...
    metrics: Final[tuple[Metric, ...]]
    depth: Final[int | None]

class Comparison:
    def __getitem__(self, metric: str | Metric) -> MetricChange: ...
    def change(self, metric: str | Metric, tag: str | None = None) -> MetricChange: ...
    paired: Final[tuple[str, ...]]
    new: Final[tuple[str, ...]]
    removed: Final[tuple[str, ...]]
    reworded: Final[tuple[str, ...]]
    now: Final[Evaluation]
    baseline: Final[Evaluation]
    depth: Final[int | None]

class IRMetrics:
    def check(self, *, retriever: Any = None, golden: Any = None, against: Any = None) -> Evaluation: ...
    def acheck(
        self, *, retriever: Any = None, golden: Any = None, against: Any = None
    ) -> Coroutine[Any, Any, Evaluation]: ...
    def evaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation: ...
    async def aevaluate(self, *, retriever: Any = None, golden: Any = None) -> Evaluation: ...
