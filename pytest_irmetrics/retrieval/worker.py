"""Make a call in a worker of the user's executor, and explain what goes wrong on the way there and back."""

from __future__ import annotations

import os
from concurrent.futures import BrokenExecutor, wait
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.calls import PendingAnswer, Reply, call_retriever
from pytest_irmetrics.retrieval.describe import describe
from pytest_irmetrics.retrieval.errors import raise_outcome, summary
from pytest_irmetrics.retrieval.threads import DaemonThreads, drop

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from pytest_irmetrics.retrieval.calls import Call
    from pytest_irmetrics.retrieval.options import RetrievalOptions

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_OUTCOME = (
    "pytest.skip or pytest.fail was called in a process of ir_executor, which it cannot leave. Call it in the fixture "
    "`retriever`, or raise an exception of another kind."
)


class NoExecutorError(Exception):
    """What an executor returned is not what every executor returns."""


def ask_in_time(
    function: Callable[..., Any], call: Call, options: RetrievalOptions, parent_pid: int
) -> Reply | PendingAnswer:
    """Make one call, which has its time from now on, not from when it was queued.

    If it is late, it goes on in a thread that nobody waits for, so that the worker is free again.
    """
    try:
        if options.timeout is None:
            return call_retriever(function, call, options)
        with DaemonThreads() as threads:
            future = threads.submit(call_retriever, function, call, options)
            wait([future], options.timeout * len(call.query_ids))
            if future.done():
                return future.result()
            drop(future)
            return call.timed_out(options.timeout)
    except BaseException as error:
        if isinstance(error, (Exception, KeyboardInterrupt, SystemExit)) or os.getpid() == parent_pid:
            raise
        return call.failed(_OUTCOME)


def require_future(submitted: Any) -> Future[Any]:
    """Return what an executor's `submit` returned. Raises NoExecutorError where that is no Future."""
    if callable(getattr(submitted, "add_done_callback", None)):
        future: Future[Any] = submitted
        return future
    raise NoExecutorError(f"submit returned {describe(submitted)}, which is no Future")


def require_reply(call: Call, done: Any) -> Reply | PendingAnswer:
    """Return the reply to a call. Raises NoExecutorError where it is something else."""
    if isinstance(done, (Reply, PendingAnswer)) and done.call.query_ids == call.query_ids:
        return done
    raise NoExecutorError(f"the work returned a reply, and what came back is {describe(done)}")


def explain_executor(error: Exception, executor: Any, function: Any, *, has_answered: bool) -> str:
    """Return what went wrong between this process and a worker, in a sentence."""
    raise_outcome(error)
    text = summary(error)
    if isinstance(error, NoExecutorError):
        return f"ir_executor is {describe(executor)}, and no executor that works: {error}."
    if isinstance(error, BrokenExecutor) and has_answered:
        return (
            "a worker of ir_executor died: it was killed, ran out of memory or crashed in native code. What the "
            f"workers had yet to answer is lost ({type(error).__name__})."
        )
    if isinstance(error, BrokenExecutor):
        module = getattr(function, "__module__", None) or type(function).__module__
        return (
            "the workers of ir_executor died before they answered anything: their initializer raised, they cannot "
            f"import the retriever's module {quote(str(module))}, the retriever crashed them, or an earlier test did. They say why "
            f"on stderr or in the log ({type(error).__name__})."
        )
    if "pickle" in text.lower() or "local object" in text:
        return (
            f"the retriever cannot be sent to the processes of ir_executor, or its answer back: {text}. Let it be a "
            "function of a module, or an object of a module's class, that opens its index there and returns ids."
        )
    return f"ir_executor raised {text}."
