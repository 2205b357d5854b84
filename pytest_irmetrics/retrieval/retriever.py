"""The user's retriever: which function is called, with which arguments, and whether the call has to be awaited.

No framework is imported: an object of LangChain, LlamaIndex or Haystack is known by its methods. It is handed the query's text,
its params, and the depth where the method has a parameter for it; where it has none, the depth is set where the object is made.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_irmetrics.base.wording import describe, printable, type_name, value_of
from pytest_irmetrics.golden import Query
from pytest_irmetrics.retrieval.calls import Call, RetrievalError

_HOW_CALLED = "It is called with the query's text, the depth if it takes one, and the query's params as keyword arguments: give a function that takes them"
_RETRIEVERS = "Give a callable of (query, k) that returns ids, best first; a retriever of LangChain (with `invoke`), LlamaIndex (`retrieve`) or Haystack (`run`); what `batched` returns; or a Run."
_DEPTH_NAMES = ("k", "top_k", "top_n", "limit", "size", "n", "n_results", "num_results")
"""A parameter of one of these names is given the depth; docs/retriever.md lists them."""
_METHODS = (("invoke", "ainvoke"), ("retrieve", "aretrieve"), ("run", "run_async"))
"""The sync and the async method by which an object of LangChain, LlamaIndex and Haystack is known, in this order."""
_LANGCHAIN = "langchain_core.retrievers"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Batched:
    """A retriever that answers several queries in one call; made by `batched`."""

    function: Callable[..., Any]
    size: int


def batched(f: Callable[..., Any], size: int = 64) -> Batched:
    """Make a retriever of `f(queries, k, **params)`, sync or async, which answers up to `size` queries at once.

    The queries of one call have equal params; `f` returns one result for each, in their order.
    """
    if not callable(f):
        raise TypeError(f"batched needs a function of (queries, k), not {describe(f)}.")
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"batched(size={describe(size)}): the size is a whole number, 1 or more.")
    return Batched(f, size)


class _CallStyle(NamedTuple):
    """Where a query's text and the depth go among the arguments of a call."""

    positional: int
    """How many of text and depth, in this order, go by position."""
    text_name: str | None = None
    """The keyword of the text, if it goes by keyword."""
    depth_name: str | None = None
    """The keyword of the depth, if it goes by keyword."""
    problem: str = ""
    """Why the signature forbids such a call, a sentence; empty where it does not."""


class Retriever(NamedTuple):
    """A retriever's function, its signature and how to call it."""

    function: Callable[..., Any]
    signature: inspect.Signature | None
    """None: unreadable, so the function is called with (query, k)."""
    is_async: bool
    """Whether a call has to be awaited, as far as can be known without calling."""
    styles: dict[tuple[str, ...], _CallStyle]
    """Names of a query's params → how to call with them; filled as queries come."""
    batch_size: int | None = None
    """How many queries one call takes at most; None: one query, given as text rather than as a list."""
    depth_advice: str | None = None
    """Where the depth is set of a framework's object that cannot be handed one, a sentence; None: it is handed over."""

    @classmethod
    def of(cls, retriever: Any, *, prefer_async: bool = False) -> Retriever:
        """Find out how to call what the user gave as the retriever. Raises RetrievalError for what is none.

        A framework's object may have a sync and an async method: `prefer_async` takes the async one. What can be
        called is called, whatever methods it has.
        """
        function, size = retriever, None
        if isinstance(retriever, Batched):
            function, size = retriever.function, retriever.size
        if callable(function) and not inspect.isclass(function):
            call = getattr(type(function), "__call__", None)  # noqa: B004 - looked at, not asked for
            is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
            return cls(function, _signature_of(function), is_async, {}, size)
        for names in _METHODS:
            sync, awaited = (_method(retriever, name) for name in names)
            if value_of(value_of(retriever, "_aget_relevant_documents"), "__module__") == _LANGCHAIN:
                awaited = None  # LangChain's own `ainvoke`, which calls the sync one in a thread, and without params
            method = (awaited or sync) if prefer_async else (sync or awaited)
            if method is None or inspect.isclass(retriever):
                continue
            signature = _signature_of(method)
            if names[0] == "run" and signature is not None:
                signature = _by_keyword(retriever, signature)
            found = cls(method, signature, method is awaited, {})
            style = found._style_for({})
            if style.positional == 2 or style.depth_name is not None:
                return found
            where = f"Its retriever, {type_name(retriever)}, has a depth of its own"
            return found._replace(depth_advice=f"{where}: set it where the retriever is made.")
        raise RetrievalError(f"The retriever is {describe(retriever)}.{_hint(retriever)} {_RETRIEVERS}")

    def call_for(self, queries: Sequence[Query], depth: int, repeat: int) -> Call | str:
        """Return the call for one query, or for a batch with equal params; a sentence where they cannot be asked."""
        texts = [query.text for query in queries]
        if None in texts:
            return "there is no text to ask with. A golden set without texts can only be scored with a Run in place of the retriever."
        params = queries[0].params
        names = tuple(params)
        if names not in self.styles:
            self.styles[names] = self._style_for(params)
        style = self.styles[names]
        if style.problem:
            return style.problem
        is_batch = self.batch_size is not None
        text = texts if is_batch else texts[0]
        # Copied, because a retriever may change what it is given, and be asked again.
        kwargs: dict[str, Any] = copy.deepcopy(dict(params)) if params else {}
        if style.text_name is not None:
            kwargs[style.text_name] = text
        if style.depth_name is not None:
            kwargs[style.depth_name] = depth
        return Call(tuple(queries), (text, depth)[: style.positional], kwargs, is_batch, repeat)

    def _style_for(self, params: Mapping[str, Any]) -> _CallStyle:
        """Return how to pass the query's text and the depth, by the parameters that the query's params leave free: the text as the first, the depth as the second or by a name of `_DEPTH_NAMES`."""
        if self.signature is None:
            return _CallStyle(2)
        parameters = list(self.signature.parameters.values())
        if isinstance(self.function, functools.partial):
            given = set(self.function.keywords) - set(_DEPTH_NAMES)
            parameters = [parameter for parameter in parameters if parameter.name not in given]
        named = [parameter for parameter in parameters if parameter.kind not in _VARIABLE]
        positional = [parameter for parameter in named if parameter.kind in _POSITIONAL]
        has_args = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
        by_keyword = bool(named) and not positional and not has_args  # (*, query, k)
        text_name, text_by_place = (named[0].name, 0) if by_keyword else (None, 1)
        second = positional[1] if len(positional) > 1 else None
        depths = [
            parameter
            for parameter in named[1 if by_keyword or positional else 0 :]
            if parameter.name in _DEPTH_NAMES and parameter.name not in params
            if parameter is second or parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
        ]
        if second is not None and second.default is second.empty and second.name not in params:
            style = _CallStyle(2)  # (query, depth)
        elif depths and depths[0].kind is inspect.Parameter.POSITIONAL_ONLY:
            style = _CallStyle(2)  # (query, k=10, /)
        elif depths:
            style = _CallStyle(text_by_place, text_name, depths[0].name)  # (query, k=10), (query, *, k)
        else:  # (query, *args), (*args), (query), (**params)
            style = _CallStyle(2 if has_args and second is None else text_by_place, text_name)
        return self._checked(style, params, self.signature)

    def _checked(
        self, style: _CallStyle, params: Mapping[str, Any], signature: inspect.Signature
    ) -> _CallStyle:
        """Return a style of call; where the signature forbids it with these params, with the reason."""
        problem = ""
        if style.text_name in params:
            problem = f"{style.text_name!r} is the query's text, and one of its params too"
        keywords = [name for name in (style.text_name, *params, style.depth_name) if name is not None]
        try:
            signature.bind(*range(style.positional), **dict.fromkeys(keywords))
        except TypeError as error:
            problem = str(error)
        if not problem:
            return style
        name = printable(str(getattr(self.function, "__name__", type_name(self.function))))
        return style._replace(problem=f"the retriever {name} cannot be called: {problem}. {_HOW_CALLED}.")


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return a function's signature; None where it cannot be read."""
    try:
        return inspect.signature(function)
    except Exception:  # noqa: BLE001 - a builtin, or a __signature__ that raises whatever it likes
        return None


def _method(value: object, name: str) -> Callable[..., Any] | None:
    """Return a method by name; None where there is none, or it cannot be had."""
    found = value_of(value, name)
    return found if callable(found) else None


def _by_keyword(retriever: object, signature: inspect.Signature) -> inspect.Signature:
    """Return the signature of a component's `run`, all of which goes by keyword, the query's text first.

    Raises RetrievalError where there is no parameter for the text.
    """
    rest = [p for p in signature.parameters.values() if p.kind is not p.VAR_POSITIONAL and p.name != "query"]
    if "query" not in signature.parameters and all(p.kind is not p.VAR_KEYWORD for p in rest):
        how = "Give a function of (query, k) that calls it and returns the documents."
        raise RetrievalError(f"The retriever is {describe(retriever)}. Its run takes no `query`. {how}")
    rest = [p if p.kind is p.VAR_KEYWORD else p.replace(kind=p.KEYWORD_ONLY) for p in rest]
    query = inspect.Parameter("query", inspect.Parameter.KEYWORD_ONLY)
    return inspect.Signature([query, *rest])


def _hint(value: Any) -> str:
    """Return advice on an object that is no retriever: what to give in its place; empty where nothing is known."""
    if inspect.isclass(value):
        return " It is a class: give an object of it."
    if inspect.iscoroutine(value) or inspect.isasyncgen(value):
        if inspect.iscoroutine(value):
            value.close()
        return " It was never awaited. A fixture that is async needs a plugin: with pytest-asyncio @pytest_asyncio.fixture, or its setting asyncio_mode = auto."
    return " It has as_retriever(): give what that returns." if _method(value, "as_retriever") else ""
