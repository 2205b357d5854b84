"""How a retriever is asked and its answers are read: depth, time limit, concurrency, repeats, executor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.retrieval.describe import describe

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from pytest_irmetrics.run import Run


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How a retriever is asked and its answers are read. Raises ValueError for a value out of range."""

    depth: int = 10
    """How many results are asked for, and at most read; 1 or more."""
    duplicates: str = "error"
    """How a ranking with a document twice is read: "error" refuses it, "collapse" keeps the first of each."""
    doc_id: Callable[[Any], Any] | None = None
    """Turns one returned item into its id."""
    timeout: float | None = None
    """Seconds that a query may take; above 0."""
    concurrency: int = 1
    """How many calls may be in flight at once; 1 or more."""
    repeat: int = 1
    """How many times each query is asked; 1 or more."""
    executor: Executor | None = None
    """Where sync retrievers are called, if not in this thread. It then sets how many calls are in flight, unless
    `concurrency` is more than 1."""
    stored: Run | None = None
    """A run over the same queries, such as a baseline: equal rankings are read faster and share its objects."""
    titles: dict[str, str] | None = None
    """Where the titles of returned documents are kept, by id; None: they are not read. Workers of a process have none."""
    progress: Callable[[int], object] | None = None
    """Called, from the thread that collects the answers, with how many queries a reply has answered."""
    stop_on_error: bool = False
    """Whether the retrieval ends at the first query that fails (pytest's -x)."""

    def __post_init__(self) -> None:
        for name in ("depth", "concurrency", "repeat"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {describe(value)}. Give a whole number, 1 or more.")
        if self.duplicates not in {"error", "collapse"}:
            raise ValueError(f"duplicates is {describe(self.duplicates)}. Give 'error' or 'collapse'.")
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {describe(self.timeout)}. Give seconds, more than 0, or None.")
        if self.doc_id is not None and not callable(self.doc_id):
            raise ValueError(f"doc_id is {describe(self.doc_id)}. Give a function of one returned item.")
        if self.executor is not None:
            _require_executor(self.executor)

    @property
    def is_sequential(self) -> bool:
        """Whether one call after the other, without a time limit, is enough."""
        return self.executor is None and self.timeout is None and self.concurrency == 1

    def for_worker(self) -> RetrievalOptions:
        """Return what a worker of the executor needs of them: small, and possible to pickle."""
        return replace(self, executor=None, stored=None, titles=None, progress=None)


def _require_executor(executor: object) -> None:
    from concurrent.futures import Executor  # noqa: PLC0415 - most runs have no executor

    if not isinstance(executor, Executor):
        raise ValueError(  # noqa: TRY004 - as for every option
            f"executor is {describe(executor)}. Give a concurrent.futures.Executor; of a Dask client it is "
            "client.get_executor()."
        )
