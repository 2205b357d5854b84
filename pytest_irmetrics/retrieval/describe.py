"""Describe the user's values in messages: their type and a short repr, whatever that repr does."""

from __future__ import annotations

import reprlib

from pytest_irmetrics.base.wording import cut, printable


class _Shortener(reprlib.Repr):
    """A repr of at most 60 characters and three items, at most three levels deep."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxdeque = 3
        self.maxlevel = 3

    def repr_instance(self, x: object, level: int) -> str:  # noqa: ARG002 - the signature is reprlib's
        try:
            text = " ".join(repr(x)[:1000].split())
        except Exception:  # noqa: BLE001 - a repr may raise anything
            return f"<{type_name(x)}>"
        return cut(text, self.maxother)


_shorten = _Shortener().repr


def type_name(value: object) -> str:
    """Return the name of a value's type, on one line."""
    # Past a metaclass, which may have a __name__ of its own that raises.
    return printable(str(type.__dict__["__name__"].__get__(type(value))))


def describe(value: object) -> str:
    """Return a value's type and a short repr for a message, also where its own repr raises."""
    name = type_name(value)
    try:
        text = printable(_shorten(value))
    except Exception:  # noqa: BLE001 - reprlib goes by the type's name, and another type may have that name
        text = f"<{name}>"
    if value is None:
        return "None"
    return text if text.startswith((f"<{name}", f"{name}(")) else f"{name} {text}"
