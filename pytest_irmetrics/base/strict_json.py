"""Read JSON strictly: the standard library's reader takes the last of two equal keys, and reads NaN and 1e999."""

from __future__ import annotations

import json
import math
from typing import Any


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def _number(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError(f"{written[:30]} is not a finite number")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_number, parse_float=_number)


def loads(text: str) -> Any:
    """Read one JSON value.

    Raises ValueError for a key twice, a number that is not finite, what is not JSON, and an integer of more digits than
    Python converts, and RecursionError for lists and objects nested too deeply.
    """
    return _DECODER.decode(text)
