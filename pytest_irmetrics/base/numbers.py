"""Numbers: how close two are equal, how large grades and weights may be; read a user's; write scores so that their side of a limit shows."""

from __future__ import annotations

import math
import re
from itertools import count
from numbers import Integral, Real

MINUS = "\N{MINUS SIGN}"

TOLERANCE = 1e-9
"""Numbers that differ by no more than this are equal wherever scores are compared, with a limit or another run's, and may print alike."""

LATENCY_DIGITS = 1
"""Decimals of milliseconds: further ones differ from run to run."""

MIN_WEIGHT = 1e-300  # of a query: products of smaller ones would lose digits
MAX_WEIGHT = 1e9  # of a query: sums of greater ones would lose the weights of other queries
MAX_GRADE = 1000  # of a document: the gain 2^grade - 1 of a greater one would overflow in a sum of doubles; "up to 1000" in docstrings, cli/golden.schema.json and docs/ is this

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A number as JSON writes it."""

NUMBER = re.compile(rf"{JSON_NUMBER.pattern}|-?\.[0-9]+(?:[eE][+-]?[0-9]+)?")
"""The same, or without the zero before its point (.5). Not octal, hexadecimal, 1_000 or the digits of other scripts: YAML, JSON
and Python disagree on these."""


def read_number(text: str) -> int | float | None:
    """Read a number as JSON writes it, or ``.5``; None if it is not one, or beyond a double."""
    if NUMBER.fullmatch(text) is None:
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if text.removeprefix("-").isdigit() else number


def finite_number(value: object) -> int | float | None:
    """Return a finite number, also of NumPy or a Fraction, as int or float; None for all else, also a boolean."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = int(value) if isinstance(value, Integral) else float(value)
        return number if math.isfinite(number) else None
    except OverflowError:
        return None


def as_float(value: object) -> float | None:
    """Return a number of any type as a float, which may be NaN or infinite; None for what is no number."""
    if isinstance(value, (bool, str, bytes, bytearray)):
        return None
    try:
        return float(value)  # type: ignore[arg-type]  # it may be of any type
    except Exception:  # noqa: BLE001 - of an array of several, of a missing value, of an integer beyond floats
        return None


def as_whole_number(number: float) -> int | float:
    """Return a whole number as an int, so that 2.0 is written, and compared as text, like 2; any other as it is."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def score_text(value: float | None, *against: float | None, digits: int = 4) -> str:
    """Return `value` with `digits` decimals, or more where it would else print like a number that it differs from.

    0.79996 is `0.8000`, but beside a limit of 0.8 it is `0.79996`; the limit beside it then is `0.80000`
    (`score_text(0.8, 0.79996)`).  Differences of up to 1e-9 count as none, as in every gate.  None is `-`.
    """
    if value is None:
        return "-"
    others = [other for other in against if other is not None and abs(other - value) > TOLERANCE]
    large = max(map(abs, (value, *others))) >= 1e9
    for places in count(6 if large else digits):
        shown = _rounded(value, places, large=large)
        if all(shown != _rounded(other, places, large=large) for other in others):
            break
    return shown.replace("-", MINUS)


def _rounded(value: float, places: int, *, large: bool) -> str:
    """Return a number with some decimals, or significant digits if it is large; a zero never has a sign."""
    shown = f"{value:.{places}g}" if large else f"{value:.{places}f}"
    return shown.lstrip("-") if not shown.strip("-0.") else shown


def change_text(before: float | None, now: float | None) -> str:
    """Return a score before and now, `0.8000 → 0.7900`, with as many digits as it takes to tell them apart."""
    return f"{score_text(before, now)} → {score_text(now, before)}"


def signed_text(delta: float, *against: float | None, digits: int = 4) -> str:
    """Return a difference with its sign, such as `+0.0100`, and with as many digits as `score_text` would give it beside others without a sign.

    The minus sign is U+2212.  A difference within `TOLERANCE` has no sign; a small difference that prints as zeros keeps its own.
    """
    sign = "" if abs(delta) <= TOLERANCE else MINUS if delta < 0 else "+"
    return sign + score_text(abs(delta), *against, digits=digits)


def interval_ends_text(interval: tuple[float, float]) -> str:
    """Return the ends of an interval of a difference: `−0.045 to −0.008`."""
    return " to ".join(signed_text(end, digits=3) for end in interval)
