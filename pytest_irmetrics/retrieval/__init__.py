"""Ask the user's retriever every query and read its answers into a Run: call styles, accepted answers, concurrency."""

from pytest_irmetrics.retrieval.calls import QueryLike, RetrievalError, Retrieved
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.passages import document_of
from pytest_irmetrics.retrieval.retrieve import aretrieve, close_session_loop, retrieve
from pytest_irmetrics.retrieval.retriever import Batched, Retriever, batched, is_async

__all__ = [
    "Batched",
    "QueryLike",
    "RetrievalError",
    "RetrievalOptions",
    "Retrieved",
    "Retriever",
    "aretrieve",
    "batched",
    "close_session_loop",
    "document_of",
    "is_async",
    "retrieve",
]

for _public in (Batched, RetrievalError, RetrievalOptions, Retrieved):
    # Pickled results name the room rather than a file in it, and so can be read when files move.
    _public.__module__ = __name__
