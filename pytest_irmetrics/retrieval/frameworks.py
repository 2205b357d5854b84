"""Find the method of a LangChain, LlamaIndex or Haystack object that retrieves, and the arguments that it takes.

No framework is imported: an object is recognised by its methods, LangChain's by `invoke`, LlamaIndex's by `retrieve`
and Haystack's by `run`. Where a framework would drop a keyword argument in silence, the signature given here leaves it
out, so that a query with such a param is an error.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_irmetrics.retrieval.call import RetrievalError
from pytest_irmetrics.retrieval.describe import describe, type_name
from pytest_irmetrics.retrieval.signatures import DEPTH_NAMES, signature_of

_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
_INPUT = inspect.Parameter("input", inspect.Parameter.POSITIONAL_ONLY)
_KEYWORDS = inspect.Parameter("kwargs", _VAR_KEYWORD)
_INJECTED = frozenset(("run_manager", "config"))
"""Parameters of the user's function that LangChain passes itself."""
_WRAPPERS = ("bound", "runnable", "default")
"""Attributes with the object that LangChain's wrappers wrap.

In order: of `bind`, `with_config` and `with_retry`; of `with_fallbacks`; of `configurable_fields`.
"""
_LANGCHAIN_DEFAULTS = "langchain_core.retrievers"
"""The module of LangChain's own `_aget_relevant_documents`, which calls the sync one in a thread."""


@dataclass(frozen=True, slots=True)
class FrameworkMethod:
    """The method of a framework's object to call, and the arguments that it takes."""

    function: Callable[..., Any]
    signature: inspect.Signature | None
    """None: the function's own signature holds."""
    is_async: bool
    depth_advice: str
    """A sentence: where the user sets the depth, if it cannot be an argument of the call."""


def find_method(retriever: object, *, prefer_async: bool) -> FrameworkMethod | None:
    """Return the method of a framework's object to call, None for an object of no framework.

    `prefer_async` takes the async method where there are both. Raises RetrievalError for an object that looks like a
    framework's and cannot be asked.
    """
    if _method(retriever, "invoke") or _method(retriever, "ainvoke"):
        return _of_langchain(retriever, prefer_async=prefer_async)
    for names, read in ((("retrieve", "aretrieve"), _of_llama_index), (("run", "run_async"), _of_haystack)):
        sync, async_ = (_method(retriever, name) for name in names)
        function = (async_ or sync) if prefer_async else (sync or async_)
        if function is not None:
            return read(retriever, function, is_async=function is async_)
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


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return a function's parameters; None where they cannot be read."""
    signature = signature_of(function)
    return None if signature is None else list(signature.parameters.values())


def _of_langchain(retriever: object, *, prefer_async: bool) -> FrameworkMethod:
    """Return how to call a runnable of LangChain, with the parameters that reach the user's own function."""
    inner, chained = _unwrap(retriever)
    sync, async_ = _hooks(inner)
    invoke, ainvoke = _method(retriever, "invoke"), _method(retriever, "ainvoke")
    if not chained and sync is not None and async_ is None and invoke is not None:
        ainvoke = None
    if not chained and sync is None and async_ is not None and ainvoke is not None:
        invoke = None
    function = (ainvoke or invoke) if prefer_async else (invoke or ainvoke)
    assert function is not None  # noqa: S101 - find_method has seen one of the two
    hook = (async_ or sync) if function is ainvoke else (sync or async_)
    signature = None if hook is None else inspect.Signature([_INPUT, *_options(inner, hook, chained=chained)])
    return FrameworkMethod(
        function, signature, function is ainvoke, _langchain_advice(inner, chained=chained)
    )


def _hooks(inner: object) -> tuple[Callable[..., Any] | None, Callable[..., Any] | None]:
    """Return the user's functions, sync and async, that `invoke` and `ainvoke` call; None for one that LangChain wrote."""
    sync, async_ = _method(inner, "_get_relevant_documents"), _method(inner, "_aget_relevant_documents")
    if sync is None:
        return _method(inner, "func"), _method(inner, "afunc")  # of a RunnableLambda
    return sync, None if _attribute(async_, "__module__") == _LANGCHAIN_DEFAULTS else async_


def _options(inner: object, hook: Callable[..., Any], *, chained: bool) -> list[inspect.Parameter]:
    """Return the parameters that a call can give by keyword."""
    options = _keyword_parameters(hook)
    retrieves = _method(inner, "_get_relevant_documents")
    if retrieves is not None and not _keyword_parameters(retrieves):
        return []  # LangChain drops what the sync function does not take, also for the async one
    if chained:
        # The depth is not for the first step: the later steps choose from what that returns (a reranker, for one).
        return [_KEYWORDS] if options else []
    open_ended = any(option.kind is _VAR_KEYWORD for option in options)
    if open_ended and isinstance(
        _attribute(inner, "search_kwargs"), Mapping
    ):  # the retriever of a vector store
        options = [option for option in options if option.name != "k"]
        return [inspect.Parameter("k", _KEYWORD_ONLY, default=None), *options]
    return options


def _unwrap(retriever: object) -> tuple[object, bool]:
    """Return the runnable that gets a call's keyword arguments in the end, and whether it is the first step of a chain."""
    inner, chained = retriever, False
    for _ in range(20):  # a limit, for wrappers in a cycle
        if _method(inner, "_get_relevant_documents"):
            break
        for name in (*_WRAPPERS, "first"):
            wrapped = _attribute(inner, name)
            if _method(wrapped, "invoke"):
                inner, chained = wrapped, chained or name == "first"
                break
        else:
            break
    return inner, chained


def _keyword_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return what a function takes by keyword besides its first parameter and what LangChain fills in."""
    parameters = _parameters(function)
    if parameters is None:
        return [_KEYWORDS]
    return [
        parameter if parameter.kind is _VAR_KEYWORD else parameter.replace(kind=_KEYWORD_ONLY)
        for parameter in parameters[1:]
        if parameter.name not in _INJECTED
        and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY}
    ]


def _own_depth(retriever: object) -> str | None:
    """Return the name of the attribute in which a retriever has a depth of its own."""
    return next((name for name in DEPTH_NAMES if isinstance(_attribute(retriever, name), int)), None)


def _langchain_advice(inner: object, *, chained: bool) -> str:
    own = _own_depth(inner)
    if own is None and isinstance(_attribute(inner, "search_kwargs"), Mapping):
        own = 'search_kwargs={"k": …}'
    where = "the chain's first step, " if chained else ""
    return _advice(inner, own, where)


def _advice(value: object, own: str | None, where: str = "") -> str:
    """Return the sentence that says where the depth is set: in the attribute `own`, if there is one."""
    how = f"set its {own}" if own else "set it where the retriever is made"
    return f"Its retriever, {where}{type_name(value)}, has a depth of its own: {how}."


def _of_llama_index(retriever: object, function: Callable[..., Any], *, is_async: bool) -> FrameworkMethod:
    """Return how to call a retriever of LlamaIndex, which has its depth itself."""
    return FrameworkMethod(function, None, is_async, _advice(retriever, "similarity_top_k"))


def _of_haystack(retriever: object, function: Callable[..., Any], *, is_async: bool) -> FrameworkMethod:
    """Return how to call a component of Haystack, whose parameters go by keyword. Raises RetrievalError without a `query`."""
    parameters = _parameters(function)
    if parameters is None:
        return FrameworkMethod(function, None, is_async, _advice(retriever, None))
    keywords = [parameter for parameter in parameters if parameter.kind is _VAR_KEYWORD]
    named = {
        parameter.name: parameter.replace(kind=_KEYWORD_ONLY)
        for parameter in parameters
        if parameter.kind not in {_VAR_KEYWORD, parameter.VAR_POSITIONAL}
    }
    mapping = _attribute(retriever, "input_mapping")
    if keywords and isinstance(mapping, Mapping):
        # A SuperComponent, whose run(**kwargs) drops all other names in silence.
        named = {name: inspect.Parameter(name, _KEYWORD_ONLY, default=None) for name in mapping}
        keywords = []
    elif keywords:
        named.setdefault("query", inspect.Parameter("query", _KEYWORD_ONLY))
    if "query" not in named:
        raise RetrievalError(_no_query(retriever, list(named)))
    signature = inspect.Signature([named.pop("query"), *named.values(), *keywords])
    return FrameworkMethod(function, signature, is_async, _advice(retriever, _own_depth(retriever)))


def _no_query(retriever: object, names: list[str]) -> str:
    """Return the message about a `run` that takes these parameters, and none for the query's text."""
    start = f"The retriever is {describe(retriever)}. Its run takes {_listed(names)}, and no `query`."
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


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


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
