"""The user's retriever: which function is called, with which arguments, and whether the call has to be awaited."""

from __future__ import annotations

import copy
import functools
import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.wording import printable
from pytest_irmetrics.retrieval.answers import describe, type_name
from pytest_irmetrics.retrieval.calls import Call, RetrievalError
from pytest_irmetrics.retrieval.frameworks import DEPTH_NAMES, depth_advice, find_method, hint, signature_of
from pytest_irmetrics.retrieval.passages import JudgedPassages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_irmetrics.golden import Query


_HOW_CALLED = (
    "It is called with the query's text, the depth if it takes one, and the query's params as keyword arguments: "
    "give a function that takes them"
)
_RETRIEVERS = (
    "Give a callable of (query, k) that returns ids, best first; a retriever of LangChain (with `invoke`), LlamaIndex "
    "(`retrieve`) or Haystack (`run`); what `batched` returns; or a Run."
)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _judged_passages(query: Query) -> JudgedPassages | None:
    """Return the passages and documents that a query judges; None where it judges no passage."""
    documents = frozenset((*query.documents, *query.forbidden)) if query.passages else None
    return None if documents is None else JudgedPassages(query.passages, documents)


@dataclass(frozen=True, slots=True)
class Batched:
    """A retriever that answers several queries in one call; made by `batched`."""

    function: Callable[..., Any]
    size: int

    def __call__(self, queries: Sequence[str], *args: Any, **params: Any) -> Any:
        """Call the function itself."""
        return self.function(queries, *args, **params)


def batched(f: Callable[..., Any], size: int = 64) -> Batched:
    """Make a retriever of `f(queries, k, **params)`, sync or async, which answers up to `size` queries at once.

    The queries of one call have equal params; `f` returns one result for each, in their order.
    """
    if not callable(f):
        raise TypeError(f"batched needs a function of (queries, k), not {describe(f)}.")
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"batched(size={describe(size)}): the size is a whole number, 1 or more.")
    return Batched(f, size)


def is_async(retriever: object) -> bool:
    """Say whether a call of the retriever has to be awaited, as far as can be known without calling it."""
    function = retriever.function if isinstance(retriever, Batched) else retriever
    while isinstance(function, functools.partial):
        function = function.func
    return any(
        inspect.iscoroutinefunction(candidate)
        for candidate in (function, getattr(type(function), "__call__", None))  # noqa: B004 - looked at, not asked for
    )


class _CallStyle(NamedTuple):
    """Where a query's text and the depth go among the arguments of a call."""

    positional: int
    """How many of text and depth, in this order, go by position."""
    text_name: str | None = None
    """The keyword of the text, if it goes by keyword."""
    depth_name: str | None = None
    """The keyword of the depth, if it goes by keyword."""

    def arguments(
        self, text: object, depth: int, params: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Return the positional and the keyword arguments of one call."""
        args = (text, depth)[: self.positional]
        if self.text_name is not None:
            params = {self.text_name: text, **params}
        return args, params if self.depth_name is None else {**params, self.depth_name: depth}


@dataclass(frozen=True, slots=True)
class Retriever:
    """A retriever's function, its signature and how to call it."""

    function: Callable[..., Any]
    batch_size: int | None
    """How many queries one call takes at most; None: one query, given as text rather than as a list."""
    signature: inspect.Signature | None
    """None: unreadable, so the function is called with (query, k)."""
    is_async: bool
    """Whether a call has to be awaited, as far as can be known without calling."""
    depth_advice: str | None = None
    """Where the depth is set of a framework's object that cannot be handed one, a sentence; None: it is handed over."""
    _styles: dict[tuple[str, ...], _CallStyle | str] = field(default_factory=dict, compare=False, repr=False)
    """Names of a query's params → how to call with them, or why that is impossible."""

    @classmethod
    def of(cls, retriever: object, *, prefer_async: bool = False) -> Retriever:
        """Find out how to call what the user gave as the retriever. Raises RetrievalError for what is none.

        A framework's object may have a sync and an async method: `prefer_async` takes the async one. What can be
        called is called, whatever methods it has.
        """
        if isinstance(retriever, Batched):
            function = retriever.function
            return cls(function, retriever.size, signature_of(function), is_async(retriever))
        if inspect.isclass(retriever):
            raise RetrievalError(f"The retriever is {describe(retriever)}, a class. {_RETRIEVERS}")
        if callable(retriever):
            return cls(retriever, None, signature_of(retriever), is_async(retriever))
        method = find_method(retriever, prefer_async=prefer_async)
        if method is None:
            raise RetrievalError(f"The retriever is {describe(retriever)}.{hint(retriever)} {_RETRIEVERS}")
        function, signature, needs_await = method
        found = cls(function, None, signature, needs_await)
        style = found._style_for({})
        takes_depth = style.positional == 2 or style.depth_name is not None
        return found if takes_depth else replace(found, depth_advice=depth_advice(retriever))

    def call_for(self, queries: Sequence[Query], depth: int, repeat: int) -> Call | str:
        """Return the call for one query, or for a batch with equal params; a sentence where they cannot be asked."""
        first = queries[0]
        is_batch = self.batch_size is not None
        text: object = [query.text for query in queries] if is_batch else first.text
        if text is None or (isinstance(text, list) and None in text):
            return "there is no text to ask with. A golden set without texts can only be scored with a Run in place of the retriever."
        params = first.params
        names = tuple(params)
        style = self._styles.get(names)
        if style is None:
            style = self._styles[names] = self._checked_style(params)
        if isinstance(style, str):
            return style
        # Copied, because a retriever may change what it is given, and be asked again.
        args, kwargs = style.arguments(text, depth, copy.deepcopy(dict(params)) if params else {})
        ids = tuple([query.id for query in queries])
        return Call(ids, tuple(map(_judged_passages, queries)), args, kwargs, is_batch, repeat)

    def _checked_style(self, params: Mapping[str, Any]) -> _CallStyle | str:
        """Return how to call with params of these names, or a sentence that says why the signature forbids it."""
        style = self._style_for(params)
        if self.signature is not None:
            args, kwargs = style.arguments("", 1, params)
            try:
                self.signature.bind(*args, **kwargs)
            except TypeError as error:
                parameters = ", ".join(map(_bare_parameter, self.signature.parameters.values()))
                name = _name(self.function)
                return f"the retriever {name}({parameters}) cannot be called: {error}. {_HOW_CALLED}."
        return style

    def _style_for(self, params: Mapping[str, Any]) -> _CallStyle:
        """Return where text and depth go, by the signature's parameters that the query's params leave free."""
        if self.signature is None:
            return _CallStyle(2)
        parameters = list(self.signature.parameters.values())
        if isinstance(self.function, functools.partial):
            given = set(self.function.keywords) - set(DEPTH_NAMES)
            parameters = [parameter for parameter in parameters if parameter.name not in given]
        named = [parameter for parameter in parameters if parameter.kind not in _VARIABLE]
        positional = [parameter for parameter in named if parameter.kind in _POSITIONAL]
        has_args = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
        if not named:  # (*args), (), (**params)
            return _CallStyle(2 if has_args else 1)
        by_keyword = not positional and not has_args  # (*, query, k)
        text_name, first = (named[0].name, 0) if by_keyword else (None, 1)
        second = positional[1] if len(positional) > 1 else None
        if second is not None and second.default is second.empty and second.name not in params:
            return _CallStyle(2)  # (query, depth)
        for parameter in named[1 if by_keyword or positional else 0 :]:
            if parameter.name in DEPTH_NAMES and parameter.name not in params:
                if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY:
                    return _CallStyle(first, text_name, parameter.name)  # (query, k=10), (query, *, k)
                if parameter is second:
                    return _CallStyle(2)  # (query, k=10, /)
        return _CallStyle(2 if has_args and second is None else first, text_name)  # (query, *args), (query)


def _bare_parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter without annotation and default, which may be long or raise when shown."""
    return str(parameter.replace(annotation=parameter.empty, default=parameter.empty))


def _name(function: object) -> str:
    """Return what a function is called in messages."""
    name = getattr(function, "__qualname__", None)
    return printable(name) if isinstance(name, str) else type_name(function)
