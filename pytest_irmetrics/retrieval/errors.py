"""Explain what a retriever raised: type, message, the user's own line, and how to fix it where that is known."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from traceback import walk_tb

from pytest_irmetrics.base.paths import path_below
from pytest_irmetrics.base.wording import cut, printable
from pytest_irmetrics.retrieval.answers import AnswerError
from pytest_irmetrics.retrieval.describe import type_name

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_OUTCOMES = frozenset((("_pytest.outcomes", "Exit"), ("unittest.case", "SkipTest")))
"""Module and name of exceptions that decide a test's outcome, though they derive from Exception."""
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def explain(error: Exception) -> str:
    """Return what went wrong, in a sentence; for an answer that cannot be read, the message of its AnswerError.

    Raises `pytest.exit` and `unittest.SkipTest` again.
    """
    error, others = _first_of_group(error)
    raise_outcome(error)
    if isinstance(error, AnswerError):
        return str(error)
    text, place = summary(error), _place(error)
    problem = f"raised {text}{f' ({place})' if place else ''}"
    if others:
        problem += f", the first of {others + 1} at once"
    advice = next(
        (cure for kind, words, cure in _ADVICE if isinstance(error, kind) and words in text),
        None,
    )
    return f"{problem}. {advice}" if advice else f"{problem}."


_ANOTHER_LOOP = "attached to a different loop"
_OF_ANOTHER_LOOP = (
    "Its client belongs to another event loop. What an async fixture makes is for async tests, which "
    "`await irmetrics.acheck()`; and there fixture and test need one loop: with pytest-asyncio the same loop_scope."
)
_ASYNC_ITSELF = (
    "Let the retriever be the async function itself: `await irmetrics.acheck()` awaits it, and check() too."
)
_IN_A_THREAD = (
    # Without the lock, threads that share a connection may get each other's rows: since Python 3.12 two of them can be
    # given the same cached statement.
    "With ir_timeout, ir_concurrency or ir_executor the retriever runs in another thread: open a connection for each "
    "thread (threading.local()); or one for all with check_same_thread=False, and hold a threading.Lock() from the "
    "query until its rows are read; or leave these settings out."
)
_ADVICE: tuple[tuple[type[Exception], str, str], ...] = (
    (
        Exception,  # sqlite3's own, or what a library makes of it
        "SQLite objects created in a thread can only be used in that same thread",
        _IN_A_THREAD,
    ),
    (RuntimeError, _ANOTHER_LOOP, _OF_ANOTHER_LOOP),
    (RuntimeError, "is bound to a different event loop", _OF_ANOTHER_LOOP),
    (RuntimeError, "Event loop is closed", _OF_ANOTHER_LOOP),
    (RuntimeError, "cannot be called from a running event loop", _ASYNC_ITSELF),
    (RuntimeError, "There is no current event loop in thread", _ASYNC_ITSELF),
    (RuntimeError, "no running event loop", _ASYNC_ITSELF),
)
"""Well-known errors: type, a part of the message, and how to fix it."""


def raise_outcome(error: Exception) -> None:
    """Raise `pytest.exit` and `unittest.SkipTest` again: they decide the test's outcome and are no query's error."""
    if (type(error).__module__, type(error).__name__) in _OUTCOMES:
        raise error


def summary(error: Exception) -> str:
    """Return an exception's type and message on one line, also if its text raises or has control characters."""
    kind = type(error)
    name = (
        type_name(error)
        if kind.__module__ == "builtins"
        else f"{printable(str(kind.__module__))}.{type_name(error)}"
    )
    try:
        message = printable(" ".join(str(error).split()))
        if kind is RuntimeError and message.endswith(_ANOTHER_LOOP):
            message = _ANOTHER_LOOP  # the text before it names tasks, which differ for each query
    except Exception:  # noqa: BLE001 - an exception's text may raise anything too
        message = ""
    message = cut(message, 300)
    return f"{name}{': ' if message else ''}{message}"


def _first_of_group(error: Exception) -> tuple[Exception, int]:
    """Return the first exception of a group, as task groups and nurseries raise, and how many others it has."""
    others = 0
    while type(error).__name__ == "ExceptionGroup":  # its module is exceptiongroup before Python 3.11
        inner = getattr(error, "exceptions", ())
        if not inner or not isinstance(inner[0], Exception):
            break
        error, others = inner[0], others + len(inner) - 1
    return error, others


def _place(error: BaseException) -> str | None:
    """Return `path:line` of the innermost line of the user's own code, else of any code but ours."""
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(_PACKAGE)
    ]
    own = [(path, line) for path, line in frames if not _is_library(path)]
    if not frames:
        return None
    path, line = (own or frames)[-1]
    return f"{printable(path_below(path))}:{line}"


def _is_library(path: str) -> bool:
    return path.startswith(("<", *_STANDARD_LIBRARY)) or any(part in path for part in _INSTALLED)
