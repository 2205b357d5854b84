"""Read the signatures of the user's functions, and tell which parameter takes the depth."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH_NAMES = ("k", "top_k", "top_n", "limit", "size", "n", "n_results", "num_results")
"""A parameter of one of these names is given the depth."""


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return a function's signature; None where it cannot be read."""
    try:
        return inspect.signature(function)
    except Exception:  # noqa: BLE001 - a builtin, or a __signature__ that raises whatever it likes
        return None
