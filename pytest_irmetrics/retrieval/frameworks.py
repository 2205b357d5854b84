"""Find the method of a LangChain, LlamaIndex or Haystack object that retrieves.

No framework is imported: an object is known by its methods. It is handed the query's text, its params, and the depth where
the method has a parameter for it; where it has none, the depth is set where the object is made.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_irmetrics.retrieval.calls import RetrievalError
from pytest_irmetrics.retrieval.describe import describe, type_name
from pytest_irmetrics.retrieval.signatures import DEPTH_NAMES, signature_of

_METHODS = (("invoke", "ainvoke"), ("retrieve", "aretrieve"), ("run", "run_async"))
"""The sync and the async method by which an object of LangChain, LlamaIndex and Haystack is known, in this order."""

_LANGCHAIN = "langchain_core.retrievers"


@dataclass(frozen=True, slots=True)
class FrameworkMethod:
    """The method of a framework's object to call."""

    function: Callable[..., Any]
    signature: inspect.Signature | None
    is_async: bool
    depth_advice: str
    """A sentence: where the user sets the depth, if it cannot be an argument of the call."""


def find_method(retriever: object, *, prefer_async: bool) -> FrameworkMethod | None:
    """Return the method of a framework's object to call, None for an object of no framework.

    `prefer_async` takes the async method where there are both. Raises RetrievalError for an object that looks like a
    framework's and cannot be asked.
    """
    for names in _METHODS:
        sync, async_ = (_method(retriever, name) for name in names)
        if sync and _attribute(_attribute(retriever, "_aget_relevant_documents"), "__module__") == _LANGCHAIN:
            async_ = None  # LangChain's own, which calls the sync one in a thread, and without params
        function = (async_ or sync) if prefer_async else (sync or async_)
        if function is not None:
            signature = signature_of(function)
            if names[0] == "run" and signature is not None:
                signature = _by_keyword(retriever, signature)
            return FrameworkMethod(function, signature, function is async_, _depth_advice(retriever))
    return None


def _method(value: object, name: str) -> Callable[..., Any] | None:
    """Return a method by name; None where there is none, or it cannot be had."""
    found = _attribute(value, name)
    return found if callable(found) else None


def _attribute(value: object, name: str) -> Any:
    """Return an attribute by name; None where there is none, or it raises."""
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - a __getattr__ may raise anything
        return None


def _by_keyword(retriever: object, signature: inspect.Signature) -> inspect.Signature:
    """Return the signature of a component's `run`, all of which goes by keyword, the query's text first.

    Raises RetrievalError where there is no parameter for the text.
    """
    parameters = [
        parameter
        if parameter.kind is parameter.VAR_KEYWORD
        else parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_POSITIONAL
    ]
    if (
        parameters
        and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
        and "query" not in signature.parameters
    ):
        parameters.insert(0, inspect.Parameter("query", inspect.Parameter.KEYWORD_ONLY))
    text = [parameter for parameter in parameters if parameter.name == "query"]
    if not text:
        raise RetrievalError(_no_query(retriever, [parameter.name for parameter in parameters]))
    return inspect.Signature([*text, *(parameter for parameter in parameters if parameter.name != "query")])


def _depth_advice(retriever: object) -> str:
    names = (*DEPTH_NAMES, "similarity_top_k")
    own = next((name for name in names if isinstance(_attribute(retriever, name), int)), None)
    if own is None and isinstance(_attribute(retriever, "search_kwargs"), Mapping):
        own = 'search_kwargs={"k": …}'
    how = f"set its {own}" if own else "set it where the retriever is made"
    return f"Its retriever, {type_name(retriever)}, has a depth of its own: {how}."


def _no_query(retriever: object, names: list[str]) -> str:
    """Return the message about a `run` that takes these parameters, and none for the query's text."""
    listed = ", ".join(f"`{name}`" for name in names) or "nothing"
    start = f"The retriever is {describe(retriever)}. Its run takes {listed}, and no `query`."
    if _method(retriever, "add_component"):
        return (
            f"{start} Of a pipeline, give a function that says where the text goes in and the documents come out: "
            'lambda query, k: pipeline.run({"retriever": {"query": query, "top_k": k}})["retriever"]["documents"].'
        )
    if "query_embedding" in names:
        return (
            f"{start} Give Haystack's TextEmbeddingRetriever of it and the embedder, or a function of (query, k) "
            "that embeds the query's text."
        )
    return f"{start} Give a function of (query, k) that calls it."


def hint(value: object) -> str:
    """Return advice on an object that is no retriever: what to give in its place; empty where nothing is known."""
    if inspect.iscoroutine(value) or inspect.isasyncgen(value):
        if inspect.iscoroutine(value):
            value.close()
        return (
            " It was never awaited. A fixture that is async needs a plugin: with pytest-asyncio @pytest_asyncio.fixture, or "
            "its setting asyncio_mode = auto."
        )
    if isinstance(value, str):
        return " Of a stored run give Run.load(path)."
    if _method(value, "as_retriever"):
        return " It has as_retriever(): give what that returns."
    if _method(value, "search"):
        return " It has a method search: give a function that calls it and returns ids."
    return ""
