"""What all rooms share: the base of their errors, words, numbers and paths for messages, strict JSON, whole-file writing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class IRMetricsError(Exception):
    """An error that the user can mend: what is wrong with a file, a setting, a mark, a metric or an answer, and what to do.

    Whatever else is raised is a defect of ours or of the user's own code.
    """


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the search for garbage while many objects are made that all stay: it would look through them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
