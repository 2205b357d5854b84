"""Python's collector of reference cycles, while much is made that has none."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collection() -> Iterator[None]:
    """Do without the collector for a time: every so many new objects it looks at all that there are, in vain.

    For short stretches of our own code; what the user's code does in them is not collected until they end.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                # What was made goes where the old objects are, so that no collection of the young ones looks at it either.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
