"""Mappings and lists that the user's code can read and cannot change; copies of them can be changed."""

from __future__ import annotations

import copy
from typing import Any, NoReturn, TypeVar

from pytest_irmetrics.base.errors import IRMetricsError

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ReadOnlyError(IRMetricsError, TypeError):
    """An attempt to change what is read-only."""


def refuse_change(*_: object, **__: object) -> NoReturn:
    """Raise ReadOnlyError; it stands in for each method that changes an object."""
    raise ReadOnlyError(
        "a golden set is read-only, with its queries, judgments, tags and params: every test of the run reads the same "
        "one, and a baseline stores it. Change a copy: dict(query.judgments)."
    )


# Subclasses, and no proxies: reading costs what it costs for a plain dict or list, and JSON and `isinstance` take them
# for what they are.
class ReadOnlyDict(dict[_Key, _Value]):
    """A dict that refuses to be changed. Its copies are plain dicts, also deep ones and pickled ones."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = refuse_change
    clear = pop = popitem = setdefault = update = refuse_change

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[_Key, _Value]:
        return copy.deepcopy(dict(self), memo)

    def __copy__(self) -> dict[_Key, _Value]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class ReadOnlyList(list[_Value]):
    """A list that refuses to be changed. Its copies are plain lists, also deep ones and pickled ones."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse_change
    append = clear = extend = insert = pop = remove = reverse = sort = refuse_change

    def __deepcopy__(self, memo: dict[int, Any]) -> list[_Value]:
        return copy.deepcopy(list(self), memo)

    def __copy__(self) -> list[_Value]:
        return list(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def read_only(value: Any) -> Any:
    """Return a JSON value that cannot be changed, nor what is in it."""
    if isinstance(value, dict):
        return ReadOnlyDict({key: read_only(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return ReadOnlyList(map(read_only, value))
    return value
