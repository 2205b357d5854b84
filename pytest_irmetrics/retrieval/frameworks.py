"""Which method of a framework's object is the retriever, and what it can be given.

No framework is imported: an object is told by its methods, LangChain's by `invoke`, LlamaIndex's by `retrieve` and
Haystack's by `run`. Where a framework would drop a keyword argument in silence, the signature given here does not have it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_irmetrics.retrieval.answers import describe, type_name
from pytest_irmetrics.retrieval.options import DEPTH_NAMES

_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
_INPUT = inspect.Parameter("input", inspect.Parameter.POSITIONAL_ONLY)
_KEYWORDS = inspect.Parameter("kwargs", _VAR_KEYWORD)
_INJECTED = frozenset(("run_manager", "config"))
"""Parameters that LangChain itself fills."""
_WRAPPERS = ("bound", "runnable", "default")
"""Where LangChain's `bind`, `with_config`, `with_retry`; `with_fallbacks`; `configurable_fields` keep what they wrap."""
_LANGCHAIN_FILLS_IN = "langchain_core.retrievers"
"""The module of the `_aget_relevant_documents` that a retriever without one of its own has: it calls the sync one in a thread."""


@dataclass(frozen=True, slots=True)
class Method:
    """What is called of a framework's object."""

    function: Callable[..., Any]
    signature: inspect.Signature | None
    """What it can be given; None: what the function's own signature says."""
    is_async: bool
    depth_advice: str
    """Where the depth is set of what cannot be handed one, a sentence."""


def find_method(retriever: object, *, prefer_async: bool) -> Method | str | None:
    """Find the method of a framework's object to call; `prefer_async` takes the async one where there are both.

    A sentence says why an object that looks like a framework's cannot be asked; None: it looks like none.
    """
    if _method(retriever, "invoke") or _method(retriever, "ainvoke"):
        return _of_langchain(retriever, prefer_async=prefer_async)
    for names, read in ((("retrieve", "aretrieve"), _of_llama_index), (("run", "run_async"), _of_haystack)):
        plain, coroutine = (_method(retriever, name) for name in names)
        function = (coroutine or plain) if prefer_async else (plain or coroutine)
        if function is not None:
            return read(retriever, function, is_async=function is coroutine)
    return None


def _method(thing: object, name: str) -> Callable[..., Any] | None:
    found = _attribute(thing, name)
    return found if callable(found) else None


def _attribute(thing: object, name: str) -> Any:
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - a __getattr__ may raise anything
        return None


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except Exception:  # noqa: BLE001 - a builtin, or a __signature__ that raises whatever it likes
        return None


def _of_langchain(retriever: object, *, prefer_async: bool) -> Method:
    inner, chained = _unwrapped(retriever)
    plain, coroutine = _hooks(inner)
    invoke, ainvoke = _method(retriever, "invoke"), _method(retriever, "ainvoke")
    if not chained and plain is not None and coroutine is None and invoke is not None:
        ainvoke = None
    if not chained and plain is None and coroutine is not None and ainvoke is not None:
        invoke = None
    function = (ainvoke or invoke) if prefer_async else (invoke or ainvoke)
    assert function is not None  # noqa: S101 - that it has one of the two is why this is LangChain's
    hook = (coroutine or plain) if function is ainvoke else (plain or coroutine)
    signature = None if hook is None else inspect.Signature([_INPUT, *_options(inner, hook, chained=chained)])
    return Method(function, signature, function is ainvoke, _langchain_advice(inner, chained=chained))


def _hooks(inner: object) -> tuple[Callable[..., Any] | None, Callable[..., Any] | None]:
    """Give the user's functions, sync and async, that `invoke` and `ainvoke` call; an async one that only calls the other is none."""
    plain, coroutine = _method(inner, "_get_relevant_documents"), _method(inner, "_aget_relevant_documents")
    if plain is None:
        return _method(inner, "func"), _method(inner, "afunc")  # of a RunnableLambda
    return plain, None if _attribute(coroutine, "__module__") == _LANGCHAIN_FILLS_IN else coroutine


def _options(inner: object, hook: Callable[..., Any], *, chained: bool) -> list[inspect.Parameter]:
    """Give what can be handed over by keyword."""
    options = _extra(hook)
    retrieves = _method(inner, "_get_relevant_documents")
    if retrieves is not None and not _extra(retrieves):
        return []  # LangChain goes by the sync one, and drops what that does not take
    if chained:
        # The depth is the whole chain's: what comes out of its first step is a pool for the others.
        return [_KEYWORDS] if options else []
    open_ended = any(option.kind is _VAR_KEYWORD for option in options)
    if open_ended and isinstance(_attribute(inner, "search_kwargs"), Mapping):  # a vector store's
        options = [option for option in options if option.name != "k"]
        return [inspect.Parameter("k", _KEYWORD_ONLY, default=None), *options]
    return options


def _unwrapped(retriever: object) -> tuple[object, bool]:
    """Give what a call's keyword arguments come to in the end, and whether that is the first step of several."""
    inner, chained = retriever, False
    for _ in range(20):
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


def _extra(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Give what a function takes by keyword besides its first parameter and what LangChain fills in."""
    parameters = _parameters(function)
    if parameters is None:
        return [_KEYWORDS]
    return [
        parameter if parameter.kind is _VAR_KEYWORD else parameter.replace(kind=_KEYWORD_ONLY)
        for parameter in parameters[1:]
        if parameter.name not in _INJECTED
        and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY}
    ]


def _langchain_advice(inner: object, *, chained: bool) -> str:
    own = next((name for name in DEPTH_NAMES if isinstance(_attribute(inner, name), int)), None)
    if own is None and isinstance(_attribute(inner, "search_kwargs"), Mapping):
        own = 'search_kwargs={"k": …}'
    where = "the chain's first step, " if chained else ""
    return _advice(inner, own, where)


def _advice(thing: object, own: str | None, where: str = "") -> str:
    how = f"set its {own}" if own else "set it where the retriever is made"
    return f"Its retriever, {where}{type_name(thing)}, has a depth of its own: {how}."


def _of_llama_index(retriever: object, function: Callable[..., Any], *, is_async: bool) -> Method:
    return Method(function, None, is_async, _advice(retriever, "similarity_top_k"))


def _of_haystack(retriever: object, function: Callable[..., Any], *, is_async: bool) -> Method | str:
    parameters = _parameters(function)
    if parameters is None:
        return Method(function, None, is_async, _advice(retriever, None))
    keywords = [parameter for parameter in parameters if parameter.kind is _VAR_KEYWORD]
    named = {
        parameter.name: parameter.replace(kind=_KEYWORD_ONLY)
        for parameter in parameters
        if parameter.kind not in {_VAR_KEYWORD, parameter.VAR_POSITIONAL}
    }
    mapping = _attribute(retriever, "input_mapping")
    if keywords and isinstance(mapping, Mapping):
        # A SuperComponent, whose run(**kwargs) drops all other names.
        named = {name: inspect.Parameter(name, _KEYWORD_ONLY, default=None) for name in mapping}
        keywords = []
    elif keywords:
        named.setdefault("query", inspect.Parameter("query", _KEYWORD_ONLY))
    if "query" not in named:
        return _no_query(retriever, list(named))
    signature = inspect.Signature([named.pop("query"), *named.values(), *keywords])
    own = next((name for name in DEPTH_NAMES if isinstance(_attribute(retriever, name), int)), None)
    return Method(function, signature, is_async, _advice(retriever, own))


def _no_query(retriever: object, names: list[str]) -> str:
    said = f"The retriever is {describe(retriever)}. Its run takes {_listed(names)}, and no `query`."
    if _method(retriever, "add_component"):
        return (
            f"{said} Of a pipeline, give a function that says where the text goes in and the documents come out: "
            'lambda query, k: pipeline.run({"retriever": {"query": query, "top_k": k}})["retriever"]["documents"].'
        )
    if "query_embedding" in names:
        return (
            f"{said} Give Haystack's TextEmbeddingRetriever of it and the embedder, or a function of (query, k) "
            "that embeds the query's text."
        )
    return f"{said} Give a function of (query, k) that calls it."


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def hint(thing: object) -> str:
    """Say what may have been meant by an object that is no retriever; nothing where that cannot be told."""
    if inspect.iscoroutine(thing) or inspect.isasyncgen(thing):
        if inspect.iscoroutine(thing):
            thing.close()
        return (
            " It was never awaited. A fixture that is async needs a plugin: with pytest-asyncio @pytest_asyncio.fixture, or "
            "its setting asyncio_mode = auto."
        )
    if isinstance(thing, str):
        return " Of a stored run give Run.load(path)."
    if _method(thing, "as_retriever"):
        return " It has as_retriever(): give what that returns."
    if _method(thing, "search"):
        return " It has a method search: give a function that calls it and returns ids."
    return ""
