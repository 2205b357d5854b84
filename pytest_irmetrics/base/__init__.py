"""What all rooms share: the base of their errors, words, numbers and paths for messages, strict JSON, whole files, Git."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class IRMetricsError(Exception):
    """An error that the user can mend: what is wrong with a file, a setting, a mark, a metric or an answer, and what to do.

    Whatever else is raised is a defect of ours or of the user's own code.
    """


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause Python's garbage collector while many objects are made: it would look through all that there are time and again.

    For reading and scoring, which leave no cycles, while our idle threads may still be there; not for user code.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
