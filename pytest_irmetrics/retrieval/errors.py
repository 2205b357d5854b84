"""Explain what a retriever raised: type, message, the user's own line, and how to fix it where that is known."""

from __future__ import annotations

import logging
import os
import sysconfig
from pathlib import Path
from traceback import walk_tb
from typing import Any
from urllib.error import HTTPError

from pytest_irmetrics.base.files import path_below
from pytest_irmetrics.base.wording import cut, printable, type_name
from pytest_irmetrics.retrieval.options import AnswerError

_OUTCOMES = frozenset((("_pytest.outcomes", "Exit"), ("unittest.case", "SkipTest")))
"""Module and name of exceptions that decide a test's outcome, though they derive from Exception."""
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

_BODY = 300
"""Characters of a response that are shown, and bytes that are read of one that is not read yet: it may be endless."""

_ANOTHER_LOOP = "attached to a different loop"
_ON_LOOPS = "Its client belongs to another event loop. What an async fixture makes is for async tests, which `await irmetrics.acheck()`; and there fixture and test need one loop: with pytest-asyncio the same loop_scope."
_ASYNC_ITSELF = (
    "Let the retriever be the async function itself: `await irmetrics.acheck()` awaits it, and check() too."
)
_IN_A_THREAD = (
    # Without the lock, threads that share a connection may get each other's rows: since Python 3.12 two of them can be
    # given the same cached statement.
    "With ir_timeout, ir_concurrency or ir_executor the retriever runs in another thread: open a connection for each thread (threading.local()); or one for all with check_same_thread=False, and hold a threading.Lock() from the query until its rows are read; or leave these settings out."
)
_ADVICE = {
    "SQLite objects created in a thread can only be used in that same thread": _IN_A_THREAD,
    _ANOTHER_LOOP: _ON_LOOPS,
    "is bound to a different event loop": _ON_LOOPS,
    "Event loop is closed": _ON_LOOPS,
    "cannot be called from a running event loop": _ASYNC_ITSELF,
    "There is no current event loop in thread": _ASYNC_ITSELF,
    "no running event loop": _ASYNC_ITSELF,
    "'Document' object is not subscriptable": (
        'Its fields are attributes: `doc.id`, `doc.metadata["source"]`, `doc.page_content` in LangChain.'
    ),
}
"""A part of a well-known error's message → how to fix it."""


def explain(error: Exception, queries: int = 1) -> str:
    """Return what went wrong with a call for so many queries, in a sentence; for an answer that cannot be read, the message of its AnswerError.

    Raises `pytest.exit` and `unittest.SkipTest` again.
    """
    while isinstance(error, ExceptionGroup):  # of a task group: its first
        error = error.exceptions[0]
    reraise_outcome(error)
    if isinstance(error, AnswerError):
        return str(error)
    first = error.__traceback__  # our own call, but for an error of a task group
    stack = first.tb_next if first and first.tb_frame.f_code.co_filename.startswith(_PACKAGE) else first
    logging.getLogger(__name__).info("The retriever raised:", exc_info=(type(error), error, stack))
    text, place = summary(error), _place(error)
    advice = next((f" {cure}" for words, cure in _ADVICE.items() if words in text), "")
    of_all = f"the call for {queries} queries " if queries > 1 else ""
    return f"{of_all}raised {text}{place}.{advice}{_answered(error)}"


def _answered(error: Exception) -> str:
    """Return a sentence with the beginning of the response that an HTTP client's error holds; empty where there is none."""
    try:
        response: Any = getattr(error, "response", None)
        not_json = getattr(error, "doc", "")  # of a JSONDecodeError
        body = error.read(_BODY) if isinstance(error, HTTPError) else not_json or response.text
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        said = " ".join(text.split())
    except Exception:  # noqa: BLE001 - it is read, or was never read, or is another thing
        return ""
    return f" It answered: {printable(said, _BODY)}" if said.strip("{}[]") else ""


def reraise_outcome(error: Exception) -> None:
    """Raise `pytest.exit` and `unittest.SkipTest` again: they decide the test's outcome and are no query's error."""
    if (type(error).__module__, type(error).__name__) in _OUTCOMES:
        raise error


def summary(error: Exception) -> str:
    """Return an exception's type and message on one line, also if its text raises or has control characters."""
    module = printable(str(type(error).__module__))
    name = type_name(error) if module == "builtins" else f"{module}.{type_name(error)}"
    try:
        message = printable(" ".join(str(error).split()))
    except Exception:  # noqa: BLE001 - an exception's text may raise anything too
        message = ""
    if message.endswith(_ANOTHER_LOOP):
        message = _ANOTHER_LOOP  # the text before it names tasks, which differ for each query
    return f"{name}: {cut(message, 300)}" if message else name


def _place(error: BaseException) -> str:
    """Return ` (path:line)` of the innermost line of the user's own code, else of any code but ours; or nothing."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    frames = [(path, line) for path, line in frames if not path.startswith(_PACKAGE)]
    own = [(path, line) for path, line in frames if not _is_library(path)]
    return "".join(f" ({printable(path_below(path))}:{line})" for path, line in (own or frames)[-1:])


def _is_library(path: str) -> bool:
    return path.startswith(("<", *_STANDARD_LIBRARY)) or any(part in path for part in _INSTALLED)
