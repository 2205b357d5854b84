"""How a retriever is asked and its answers are read, checked once for all queries; and what is kept of the items that come back."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import describe
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import Provenance

if TYPE_CHECKING:
    from concurrent.futures import Executor  # which most runs do not load


class AnswerError(IRMetricsError, ValueError):
    """An answer that cannot be read as ids; its text says what came back and what is accepted."""


class RetrievalOptions(NamedTuple):
    """How a retriever is asked and its answers are read; workers get it without what cannot be pickled, or is large (in_executor.py).

    A setting that is called as a field, but for its `ir_`, sets it; from Python a keyword of `evaluate` does (evaluation/evaluate.py).
    """

    depth: int
    """How many results are asked for, and at most read; 1 or more."""
    duplicates: str
    """What becomes of a ranking with a document twice: "error" refuses it, "collapse" keeps the first of each; calls.py, and passages.py of chunks, see to that."""
    doc_id: Callable[[Any], Any] | None
    """Turns one returned item into its id."""
    timeout: float | None
    """Seconds that a query may take; above 0."""
    concurrency: int
    """How many calls may be in flight at once; 1 or more."""
    repeat: int
    """How many times each query is asked; 1 or more."""
    executor: Executor | None
    """Where sync retrievers are called, if not in this thread. It then sets how many calls are in flight, unless
    `concurrency` is more than 1."""
    seen: Seen | None = None
    """What is kept of the items that come back, but for what another process reads; None: nothing."""
    provenance: Provenance | None = None
    """What the run is to say that it was made with."""
    known: Collection[str] = ()
    """The documents that the golden set judges or forbids, which tell a document's id from that of a chunk."""
    baseline: Run | None = None
    """The run that this one is compared with: where no judged id tells which of an item's fields is its document's id, its ids do."""
    progress: Callable[[int], object] | None = None
    """Called, from the thread that collects the answers, with how many queries a reply has answered."""

    def checked(self) -> RetrievalOptions:
        """Return the options themselves. Raises ValueError for a value out of range; its text begins with the option's name.

        `GatedItem.retrieval_options` puts `The fixture ir_` before that.
        """
        counts = {name: getattr(self, name) for name in ("depth", "concurrency", "repeat")}
        wrong = {key: "a whole number, 1 or more" for key, n in counts.items() if type(n) is not int or n < 1}
        if self.duplicates not in {"error", "collapse"}:
            wrong["duplicates"] = "'error' or 'collapse'"
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            wrong["timeout"] = "seconds, more than 0, or None"
        if self.doc_id is not None and not callable(self.doc_id):
            wrong["doc_id"] = "a function of one returned item"
        if self.executor is not None:
            from concurrent.futures import Executor  # noqa: PLC0415 - most runs have no executor

            if not isinstance(self.executor, Executor):
                wrong["executor"] = "a concurrent.futures.Executor; of a Dask client, client.get_executor()"
        for name, wanted in wrong.items():
            raise ValueError(f"{name} is {describe(getattr(self, name))}. Give {wanted}.")
        return self

    @property
    def is_sequential(self) -> bool:
        """Whether one call after the other, without a time limit, is enough."""
        return self.executor is None and self.timeout is None and self.concurrency == 1


class Seen:
    """What is kept of the items that come back, besides their ids."""

    def __init__(self, *, keeps_texts: bool = False) -> None:
        self.keeps_texts = keeps_texts
        self.titles: dict[str, str] = {}
        """Id → the title of the document."""
        self.almost_held: dict[tuple[str, str], str] = {}
        """Query id and key of a judged passage → what a returned chunk holds of it, as `passages._near_match` has it."""
        self.texts: dict[str, dict[str, str]] = {}
        """Query id → chunk or document in its first ranking → the text that came back, where chunks were read as such; unless `keeps_texts` its beginning alone, which reports call a chunk by."""
        self.items: list[Any] = []
        """The first items as they were, to see where an id is that none was read as."""
        self.without_id: list[Any] = []
        """The items without an id of the first answers that were refused for one."""
