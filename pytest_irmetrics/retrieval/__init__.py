"""Ask the user's retriever every query and read its answers into a Run: call styles, accepted answers, concurrency."""

from pytest_irmetrics.retrieval.asking import Retrieved
from pytest_irmetrics.retrieval.calls import RetrievalError
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.retrieve import aretrieve, replay, retrieve
from pytest_irmetrics.retrieval.retriever import Retriever

__all__ = ["RetrievalError", "RetrievalOptions", "Retrieved", "Retriever", "aretrieve", "replay", "retrieve"]
