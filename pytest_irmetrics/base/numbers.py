"""Print numbers so that they do not contradict the verdict, and the tolerance of every comparison."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"

TOLERANCE = 1e-9
"""What every comparison allows for floating point; numbers that differ by less may print alike."""


def score_text(value: float | None, *against: float | None, digits: int = 4) -> str:
    """`value` with `digits` decimals, or more where it would else print like a number that it differs from.

    0.79996 is `0.8000`, but beside a limit of 0.8 it is `0.79996`; the limit beside it then is `0.80000`
    (`score_text(0.8, 0.79996)`).  Differences of up to 1e-9 count as none, as in every gate.  None is `-`.
    """
    if value is None:
        return "-"
    if not math.isfinite(value):
        return str(value).replace("-", MINUS)
    others = [
        other
        for other in against
        if other is not None and math.isfinite(other) and abs(other - value) > TOLERANCE
    ]
    large = max(map(abs, (value, *others))) >= 1e9
    for places in range(max(digits, 6) if large else digits, max(digits, 17) + 1):
        shown = _rounded(value, places, large=large)
        if all(shown != _rounded(other, places, large=large) for other in others):
            break
    return shown.replace("-", MINUS, 1) if shown.startswith("-") else shown


def _rounded(value: float, places: int, *, large: bool) -> str:
    shown = f"{value:.{places}g}" if large else f"{value:.{places}f}"
    return shown.lstrip("-") if not shown.strip("-0.") else shown


def signed_text(delta: float | None, *against: float | None, digits: int = 4) -> str:
    """Print a difference with its sign, `+0.0100`, with a real minus sign, and with as many digits as `score_text` would give it.

    What is no more than floating-point noise has no sign; a small difference that prints as zeros keeps its own.
    """
    if delta is None or math.isnan(delta):
        return score_text(delta)
    sign = "" if abs(delta) <= TOLERANCE else MINUS if delta < 0 else "+"
    return sign + score_text(
        abs(delta), *(abs(other) for other in against if other is not None), digits=digits
    )
