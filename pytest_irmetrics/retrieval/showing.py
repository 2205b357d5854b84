"""Any value of the user's in a message: its type and a short repr, whatever it is."""

from __future__ import annotations

import reprlib

from pytest_irmetrics.base.wording import printable


class _Shortener(reprlib.Repr):
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
        return text if len(text) <= self.maxother else text[: self.maxother - 1] + "…"


_shorten = _Shortener().repr


def type_name(value: object) -> str:
    """Give the name of a value's type, on one line."""
    # Past a metaclass, which may have a __name__ of its own that raises.
    return printable(str(type.__dict__["__name__"].__get__(type(value))))


def show(value: object) -> str:
    """Word a value for a message: its type and a short repr that no hostile value can break."""
    name = type_name(value)
    try:
        text = printable(_shorten(value))
    except Exception:  # noqa: BLE001 - as above; reprlib goes by a type's name and may meet a stranger of that name
        text = f"<{name}>"
    if value is None:
        return "None"
    return text if text.startswith((f"<{name}", f"{name}(")) else f"{name} {text}"
