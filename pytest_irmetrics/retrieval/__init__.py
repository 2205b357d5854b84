"""The user's retriever → a Run: how it is called, what its answers may look like, and who does the asking."""

from pytest_irmetrics.retrieval.call import Batched, Question, RetrievalError, batched, is_async
from pytest_irmetrics.retrieval.ledger import Retrieved
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.retrieve import aretrieve, close_session_loop, retrieve

__all__ = [
    "Batched",
    "Question",
    "RetrievalError",
    "RetrievalOptions",
    "Retrieved",
    "aretrieve",
    "batched",
    "close_session_loop",
    "is_async",
    "retrieve",
]
