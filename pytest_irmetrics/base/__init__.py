"""What all rooms share: the base of their errors, words, numbers and paths for messages, strict JSON, whole files, Git."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEVER = 1_000_000  # so many collections of a younger generation come first


class IRMetricsError(Exception):
    """An error that the user can mend: what is wrong with a file, a setting, a mark, a metric or an answer, and what to do.

    Whatever else is raised is a defect of ours or of the user's own code.
    """


@contextmanager
def paused_gc() -> Iterator[None]:
    """Collect only the youngest garbage while many objects are made: else all are looked through again and again.

    To pause that too is slower. For reading and scoring, which leave no cycles; not for user code.
    """
    before = gc.get_threshold()
    gc.set_threshold(before[0], _NEVER, _NEVER)
    try:
        yield
    finally:
        if before[1] != _NEVER:  # else an outer pause, or another thread's, goes on
            gc.set_threshold(*before)
