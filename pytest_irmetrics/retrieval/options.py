"""How a retriever is asked, and its answers read."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.retrieval.showing import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_irmetrics.run import Run


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How a retriever is asked, and its answers read."""

    depth: int = 10
    """How many results are asked for, and at most read."""
    duplicates: str = "error"
    """What a document that comes back twice is: "error", or "collapse" to keep the first of each."""
    doc_id: Callable[[Any], Any] | None = None
    """Turns one returned item into its id."""
    timeout: float | None = None
    """Seconds that a query may take; above 0."""
    concurrency: int = 1
    """How many calls may be in flight at once."""
    repeat: int = 1
    """How many times each query is asked."""
    executor: Executor | None = None
    """Where sync retrievers are called, if not here. As many calls are then in flight as it likes, unless
    `concurrency` is more than 1."""
    stored: Run | None = None
    """A run over the same queries, such as a baseline: what is the same again is in memory once, and read faster."""
    stop_on_error: bool = False
    """Whether the first query that fails ends it all (pytest's -x)."""

    def __post_init__(self) -> None:
        for name in ("depth", "concurrency", "repeat"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {show(value)}. Give a whole number, 1 or more.")
        if self.duplicates not in {"error", "collapse"}:
            raise ValueError(f"duplicates is {show(self.duplicates)}. Give 'error' or 'collapse'.")
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {show(self.timeout)}. Give seconds, more than 0, or None.")
        if self.doc_id is not None and not callable(self.doc_id):
            raise ValueError(f"doc_id is {show(self.doc_id)}. Give a function of one returned item.")
        if self.executor is not None and not isinstance(self.executor, Executor):
            raise ValueError(
                f"executor is {show(self.executor)}. Give a concurrent.futures.Executor; of a Dask client it is "
                "client.get_executor()."
            )
