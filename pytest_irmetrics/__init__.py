"""Gate search and RAG changes on retrieval quality, with pytest or from a notebook.

The names below are loaded when they are first used: pytest imports this package in every run, also in those
that have nothing to do with retrieval, and pays for nothing there.

PYTEST_DONT_REWRITE: a script or notebook that imports this package and then runs pytest is not warned of it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all that is needed of this package
if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison, compare
    from pytest_irmetrics.evaluation import Evaluation, evaluate
    from pytest_irmetrics.golden import GoldenSet, GoldenSetError, Query
    from pytest_irmetrics.plugin.fixture import IRMetrics
    from pytest_irmetrics.retrieval import RetrievalError, batched
    from pytest_irmetrics.run import Run

__all__ = [
    "Comparison",
    "Evaluation",
    "GoldenSet",
    "GoldenSetError",
    "IRMetrics",
    "Query",
    "RetrievalError",
    "Run",
    "batched",
    "compare",
    "evaluate",
]

_MODULES = {
    "comparison": ("Comparison", "compare"),
    "evaluation": ("Evaluation", "evaluate"),
    "golden": ("GoldenSet", "GoldenSetError", "Query"),
    "plugin.fixture": ("IRMetrics",),
    "retrieval": ("RetrievalError", "batched"),
    "run": ("Run",),
}


if not TYPE_CHECKING:  # a type checker that sees it takes any name for one of the package's

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - a plain pytest run never comes here

        for module in [module for module, names in _MODULES.items() if name in names]:
            return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
