"""Find the method of a LangChain, LlamaIndex or Haystack object that retrieves, and read signatures.

No framework is imported: an object is known by its methods. It is handed the query's text, its params, and the depth where
the method has a parameter for it; where it has none, the depth is set where the object is made.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pytest_irmetrics.retrieval.answers import describe, type_name
from pytest_irmetrics.retrieval.calls import RetrievalError
from pytest_irmetrics.retrieval.responses import value_of

DEPTH_NAMES = ("k", "top_k", "top_n", "limit", "size", "n", "n_results", "num_results")
"""A parameter of one of these names is given the depth."""
_METHODS = (("invoke", "ainvoke"), ("retrieve", "aretrieve"), ("run", "run_async"))
"""The sync and the async method by which an object of LangChain, LlamaIndex and Haystack is known, in this order."""
_LANGCHAIN = "langchain_core.retrievers"


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return a function's signature; None where it cannot be read."""
    try:
        return inspect.signature(function)
    except Exception:  # noqa: BLE001 - a builtin, or a __signature__ that raises whatever it likes
        return None


def find_method(
    retriever: object, *, prefer_async: bool
) -> tuple[Callable[..., Any], inspect.Signature | None, bool] | None:
    """Return the method of a framework's object to call, its signature, and whether it is async; None for any other object.

    `prefer_async` takes the async method where there are both. Raises RetrievalError for an object that looks like a
    framework's and cannot be asked.
    """
    for names in _METHODS:
        sync, async_ = (_method(retriever, name) for name in names)
        if sync and value_of(value_of(retriever, "_aget_relevant_documents"), "__module__") == _LANGCHAIN:
            async_ = None  # LangChain's own, which calls the sync one in a thread, and without params
        function = (async_ or sync) if prefer_async else (sync or async_)
        if function is not None:
            signature = signature_of(function)
            if names[0] == "run" and signature is not None:
                signature = _by_keyword(retriever, signature)
            return function, signature, function is async_
    return None


def _method(value: object, name: str) -> Callable[..., Any] | None:
    """Return a method by name; None where there is none, or it cannot be had."""
    found = value_of(value, name)
    return found if callable(found) else None


def _by_keyword(retriever: object, signature: inspect.Signature) -> inspect.Signature:
    """Return the signature of a component's `run`, all of which goes by keyword, the query's text first.

    Raises RetrievalError where there is no parameter for the text.
    """
    kinds = inspect.Parameter
    named = [of for of in signature.parameters.values() if of.kind not in {of.VAR_POSITIONAL, of.VAR_KEYWORD}]
    others = [of for of in signature.parameters.values() if of.kind is of.VAR_KEYWORD]
    if "query" not in signature.parameters and not others:
        raise RetrievalError(_no_query(retriever, [of.name for of in named]))
    text = kinds("query", kinds.KEYWORD_ONLY)
    named = [of.replace(kind=kinds.KEYWORD_ONLY) for of in named if of.name != "query"]
    return inspect.Signature([text, *named, *others])


def depth_advice(retriever: object) -> str:
    """Return a sentence that says where the depth is set of an object that is not handed one."""
    names = (*DEPTH_NAMES, "similarity_top_k")
    own = next((name for name in names if isinstance(value_of(retriever, name), int)), None)
    if own is None and isinstance(value_of(retriever, "search_kwargs"), Mapping):
        own = 'search_kwargs={"k": …}'
    how = f"set its {own}" if own else "set it where the retriever is made"
    return f"Its retriever, {type_name(retriever)}, has a depth of its own: {how}."


def _no_query(retriever: object, names: list[str]) -> str:
    """Return the message about a `run` that takes these parameters, and none for the query's text."""
    cure = "Give a function of (query, k) that calls it."
    if _method(retriever, "add_component"):
        cure = (
            "Of a pipeline, give a function that says where the text goes in and the documents come out: "
            'lambda query, k: pipeline.run({"retriever": {"query": query, "top_k": k}})["retriever"]["documents"].'
        )
    elif "query_embedding" in names:
        cure = (
            "Give Haystack's TextEmbeddingRetriever of it and the embedder, or a function of (query, k) that embeds the "
            "query's text."
        )
    listed = ", ".join(f"`{name}`" for name in names) or "nothing"
    return f"The retriever is {describe(retriever)}. Its run takes {listed}, and no `query`. {cure}"


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
