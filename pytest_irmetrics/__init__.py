"""Gate search and RAG changes on retrieval quality, with pytest or from a notebook.

The names below are loaded when they are first used: pytest imports this package in every run, also in those
that have nothing to do with retrieval, and pays for nothing there. `__init__.pyi` has them for type checkers and editors.

PYTEST_DONT_REWRITE: a script or notebook that imports this package and then runs pytest is not warned of it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all that is needed of this package
if TYPE_CHECKING:  # what __init__.pyi declares, not imports: an editor finds here where it is implemented
    from pytest_irmetrics.comparison import Comparison, compare  # noqa: F401
    from pytest_irmetrics.evaluation import Evaluation, evaluate  # noqa: F401
    from pytest_irmetrics.plugin.fixture import IRMetrics  # noqa: F401

_MODULES = {
    "base": ("IRMetricsError",),
    "comparison": ("Comparison", "compare"),
    "comparison.metric_change": ("MetricChange",),
    "evaluation": ("Evaluation", "EvaluationError", "UnknownIdsWarning", "evaluate"),
    "golden": ("GoldenSet", "GoldenSetError", "Problem", "Query"),
    "metrics": ("Metric", "MetricError"),
    "plugin.fixture": ("IRMetrics",),
    "retrieval": ("RetrievalError",),
    "retrieval.retriever": ("Batched", "batched"),
    "retrieval.calls": ("Staged", "staged"),
    "run": ("Run", "RunError"),
    "thresholds": ("Threshold",),
}

__all__ = [name for names in _MODULES.values() for name in names]


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - a plain pytest run never comes here

    for module in [module for module, names in _MODULES.items() if name in names]:
        return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
