"""Pause garbage collection while building many objects."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the garbage collector in a `with` block: it would traverse objects again and again that are all kept.

    For short stretches of our own code; what the user's code does in them is not collected until they end.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                # Freezing and thawing moves what was made to the oldest generation, which is seldom looked at.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
