"""The user's retriever → a Run: how it is called, what its answers may look like, and who does the asking."""

from pytest_irmetrics.retrieval.asking import Batched, Question, RetrievalError, batched, is_async
from pytest_irmetrics.retrieval.conversation import RetrievalOptions, Retrieved
from pytest_irmetrics.retrieval.driving import aretrieve, close_session_loop, retrieve

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
