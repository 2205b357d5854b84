"""What is asked: a retriever's function and how it is called; each call, and the reply to it, as plain data."""

from __future__ import annotations

import copy
import functools
import inspect
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import printable, quote
from pytest_irmetrics.retrieval.frameworks import DEPTH_NAMES, hint, method_of
from pytest_irmetrics.retrieval.passages import Known
from pytest_irmetrics.retrieval.showing import show, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_irmetrics.golden.passage import Passage


__tracebackhide__ = True  # what passes through shows the user's lines, not ours

_HOW_CALLED = (
    "It is called with the query's text, the depth if it takes one, and the query's params as keyword arguments: "
    "give a function that takes them"
)
_RETRIEVERS = (
    "Give a callable of (query, k) that returns ids, best first; a retriever of LangChain (with `invoke`), LlamaIndex "
    "(`retrieve`) or Haystack (`run`); what `batched` returns; or a Run."
)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Question(Protocol):
    """What retrieval needs to know of a golden set's query."""

    @property
    def id(self) -> str:
        """The query's id, unique in its set."""

    @property
    def text(self) -> str | None:
        """What to ask; None in a set without texts."""

    @property
    def params(self) -> Mapping[str, Any]:
        """Keyword arguments for the retriever."""


def passages_of(query: Question) -> tuple[Passage, ...]:
    """Return the passages that a query judges; a query that is only a question has none."""
    passages: tuple[Passage, ...] = getattr(query, "passages", ())
    return passages


def _known(query: Any) -> Known | None:
    passages = passages_of(query)
    return Known(passages, frozenset((*query.documents, *query.forbidden))) if passages else None


class RetrievalError(IRMetricsError):
    """Retrieval that cannot start, or a query that could not be retrieved (`query_id`); `problem` says why."""

    def __init__(self, problem: str, query_id: str | None = None) -> None:
        super().__init__(problem if query_id is None else f"query {quote(query_id)}: {problem}")
        self.problem = problem
        self.query_id = query_id


@dataclass(frozen=True, slots=True)
class Batched:
    """A retriever that is asked several queries at once; made by `batched`."""

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
        raise TypeError(f"batched needs a function of (queries, k), not {show(f)}.")
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"batched(size={show(size)}): the size is a whole number, 1 or more.")
    return Batched(f, size)


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except Exception:  # noqa: BLE001 - a builtin, or a __signature__ that raises whatever it likes
        return None


def is_async(retriever: object) -> bool:
    """Say whether a call of the retriever has to be awaited, as far as can be told without calling it."""
    function = retriever.function if isinstance(retriever, Batched) else retriever
    while isinstance(function, functools.partial):
        function = function.func
    return any(
        inspect.iscoroutinefunction(candidate) or inspect.isasyncgenfunction(candidate)
        for candidate in (function, getattr(type(function), "__call__", None))  # noqa: B004 - looked at, not asked for
    )


class Ask(NamedTuple):
    """One call to make: of one query, or of as many as a batch has."""

    ids: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    batch: bool
    repeat: int
    """Which time, from 0, it is that the queries are asked."""
    known: tuple[Known | None, ...] = ()
    """What each query that judges passages says of documents; empty where none does."""
    formerly: tuple[Known | None, ...] = ()
    """The same of each query that judged other passages when the stored run was made; empty where none did."""

    def failed(self, problem: str) -> Reply:
        """Give the reply that says that the whole call failed."""
        return Reply(self, (problem,) * len(self.ids), 0.0)


@dataclass(frozen=True, slots=True)
class TwiceRead:
    """An answer read by the passages that are judged, and by those that were judged when the stored run was made."""

    ids: tuple[str, ...]
    formerly: tuple[str, ...]


class Reply(NamedTuple):
    """What a call came to: for each of its queries the ids, or a sentence that says why there are none."""

    ask: Ask
    outcomes: tuple[tuple[str, ...] | TwiceRead | str, ...]
    milliseconds: float
    """How long the call took, divided by its queries."""


class _Form(NamedTuple):
    """Where text and depth go among the arguments of a call; None for what is not given by name."""

    by_place: int
    """How many of text and depth go by place."""
    text_name: str | None = None
    depth_name: str | None = None

    def fill(
        self, subject: object, depth: int, params: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Put the arguments of one call together."""
        args = (subject, depth)[: self.by_place]
        if self.text_name is not None:
            params = {self.text_name: subject, **params}
        return args, params if self.depth_name is None else {**params, self.depth_name: depth}


@dataclass(frozen=True, slots=True)
class Caller:
    """A retriever's function and what is known of its signature."""

    function: Callable[..., Any]
    batch_size: int | None
    signature: inspect.Signature | None
    """None: unreadable, so it is called with (query, k)."""
    awaited: bool
    """Whether a call has to be awaited, as far as can be told without calling."""
    depth_advice: str | None = None
    """Where the depth is set of a framework's object that cannot be handed one, a sentence; None: it is handed over."""
    _forms: dict[tuple[str, ...], _Form | str] = field(default_factory=dict, compare=False, repr=False)
    """How it is called with params of these names, or why it cannot be."""

    @classmethod
    def of(cls, retriever: object, *, awaited: bool = False) -> Caller:
        """Read a retriever once. Raises RetrievalError for what is none.

        A framework's object may have two methods that retrieve: with `awaited` it is asked by the async one. What can
        be called is called, whatever methods it has.
        """
        if isinstance(retriever, Batched):
            return cls(
                retriever.function, retriever.size, _signature(retriever.function), is_async(retriever)
            )
        if inspect.isclass(retriever):
            raise RetrievalError(f"The retriever is {show(retriever)}, a class. {_RETRIEVERS}")
        if callable(retriever):
            return cls(retriever, None, _signature(retriever), is_async(retriever))
        method = method_of(retriever, awaited=awaited)
        if isinstance(method, str):
            raise RetrievalError(method)
        if method is None:
            raise RetrievalError(f"The retriever is {show(retriever)}.{hint(retriever)} {_RETRIEVERS}")
        caller = cls(method.function, None, method.signature or _signature(method.function), method.awaited)
        return caller if caller.takes_depth else replace(caller, depth_advice=method.depth_advice)

    @property
    def takes_depth(self) -> bool:
        """Say whether a call hands the depth over."""
        form = self._places({})
        return form.by_place == 2 or form.depth_name is not None

    def ask(self, queries: Sequence[Question], depth: int, repeat: int) -> Ask | str:
        """Put together the call for queries with equal params, or say why they cannot be asked."""
        first = queries[0]
        batch = self.batch_size is not None
        text: object = [query.text for query in queries] if batch else first.text
        if text is None or (isinstance(text, list) and None in text):
            return (
                "there is no text to ask with. A golden set without texts can only be checked against a Run."
            )
        given = first.params
        names = tuple(given)
        form = self._forms.get(names)
        if form is None:
            form = self._forms[names] = self._form(given)
        if isinstance(form, str):
            return form
        args, kwargs = form.fill(text, depth, copy.deepcopy(dict(given)) if given else {})
        if not batch:
            known = _known(first)
            return Ask((first.id,), args, kwargs, batch, repeat, () if known is None else (known,))
        all_known = tuple([_known(query) for query in queries])
        ids = tuple([query.id for query in queries])
        return Ask(ids, args, kwargs, batch, repeat, all_known if any(all_known) else ())

    def _form(self, params: Mapping[str, Any]) -> _Form | str:
        """Find how to call with params of these names, or say why that cannot be done."""
        form = self._places(params)
        if self.signature is not None:
            args, kwargs = form.fill("", 1, params)
            try:
                self.signature.bind(*args, **kwargs)
            except TypeError as error:
                names = ", ".join(map(_parameter_name, self.signature.parameters.values()))
                return (
                    f"the retriever {_name(self.function)}({names}) cannot be called: {error}. {_HOW_CALLED}."
                )
        return form

    def _places(self, params: Mapping[str, Any]) -> _Form:
        if self.signature is None:
            return _Form(2)
        parameters = list(self.signature.parameters.values())
        if isinstance(self.function, functools.partial):
            given = set(self.function.keywords) - set(DEPTH_NAMES)
            parameters = [parameter for parameter in parameters if parameter.name not in given]
        named = [parameter for parameter in parameters if parameter.kind not in _VARIABLE]
        by_place = [parameter for parameter in named if parameter.kind in _POSITIONAL]
        open_ended = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
        if not named:
            return _Form(2 if open_ended else 1)
        if not by_place and not open_ended:
            places, text_name, named = 0, named[0].name, named[1:]
        else:
            places, text_name, named = 1, None, named[1:] if by_place else named
        second = by_place[1] if len(by_place) > 1 else None
        if second is not None and second.default is second.empty and second.name not in params:
            return _Form(2)
        for parameter in named:
            if parameter.name in DEPTH_NAMES and parameter.name not in params:
                if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY:
                    return _Form(places, text_name, parameter.name)
                if parameter is second:
                    return _Form(2)
        return _Form(2 if open_ended and second is None else places, text_name)


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _parameter_name(parameter: inspect.Parameter) -> str:
    return str(parameter.replace(annotation=parameter.empty, default=parameter.empty))


def _name(function: object) -> str:
    name = getattr(function, "__qualname__", None)
    return printable(name) if isinstance(name, str) else type_name(function)
