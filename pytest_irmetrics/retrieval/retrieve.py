"""Ask a retriever every query: one by one in this thread, on an event loop, or in threads or an executor."""

from __future__ import annotations

import json
import os
import sys
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.retrieval.calls import (
    CANCELLED,
    MAX_INITIAL_FAILURES,
    PendingAnswer,
    Reply,
    ReplyCollector,
    RetrievalError,
    await_answer,
    call_retriever,
)
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.retriever import Retriever
from pytest_irmetrics.run import Run

# asyncio, threads and errors are imported where they are used: one by one, a sync retriever needs none of them.
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future

    from pytest_irmetrics.retrieval.calls import Call, QueryLike, Retrieved

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_MAX_QUEUED = 256
"""How many calls may wait at an executor of the user's; it decides how many of them to work on at once."""
_START_SECONDS = 30.0
"""How long, beyond a time limit, nothing may come back from an executor of the user's."""
_CLEANUP_SECONDS = 1.0
"""How long a cancelled coroutine has to clean up before it is no longer waited for."""
_LOOP_IS_RUNNING = (
    "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or "
    "`await irmetrics.aevaluate()`; in a notebook `await asyncio.to_thread(evaluate, golden, retriever)`."
)


def retrieve(
    queries: Iterable[QueryLike], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Ask a retriever, sync or async, every query. What goes wrong with single queries is in `errors`.

    A sync retriever is called in this very thread, unless a timeout, concurrency or an executor asks for others;
    an async one runs on an event loop that is kept until `close_session_loop`. Raises RetrievalError for what is
    no retriever, and for an async one where a loop is running already.
    """
    options = options or RetrievalOptions()
    if isinstance(retriever, Run):
        return _replay(queries, retriever, options)
    session = _Session(queries, retriever, options)
    if session.target.is_async:
        run_on_session_loop(session.ask_on_loop)
    elif options.is_sequential:
        session.ask_one_by_one()
    else:
        session.ask_in_executor()
        if session.pending:  # it looked sync: lambda query, k: client.search(query)
            run_on_session_loop(session.ask_on_loop, *session.pending)
    return session.result()


async def aretrieve(
    queries: Iterable[QueryLike], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Do as `retrieve` does, on the event loop that runs: asyncio's; one by one, without a time limit, on any other too."""
    options = options or RetrievalOptions()
    if isinstance(retriever, Run):
        return _replay(queries, retriever, options)
    session = _Session(queries, retriever, options, prefer_async=options.executor is None)
    if not options.is_sequential and not _is_asyncio_running():
        raise RetrievalError(
            "ir_timeout, ir_concurrency and ir_executor need asyncio in an async test. Leave them out here."
        )
    if not session.target.is_async and not options.is_sequential:
        await session.ask_in_executor_aside()
    await session.ask_on_loop()
    return session.result()


def _replay(queries: Iterable[QueryLike], run: Run, options: RetrievalOptions) -> Retrieved:
    from pytest_irmetrics.retrieval.replay import replay  # noqa: PLC0415 - a retriever that is asked does without it

    return replay(list(queries), run, options)


def _iterate_calls(
    queries: Sequence[QueryLike], retriever: Retriever, options: RetrievalOptions, collector: ReplyCollector
) -> Iterator[Call]:
    """Yield the calls to make, each query once before any query twice; skip queries that have failed."""
    groups: Sequence[Sequence[QueryLike]] | None = None
    if retriever.batch_size is not None:
        groups = _batches(queries, retriever.batch_size)
    errors = collector.errors
    for repeat in range(options.repeat):
        for group in zip(queries) if groups is None else groups:
            left = [query for query in group if query.id not in errors] if errors else group
            if not left:
                continue
            call = retriever.call_for(left, options.depth, repeat)
            if isinstance(call, str):
                errors.update(dict.fromkeys([query.id for query in left], call))
            else:
                yield call
            if errors and collector.should_stop:
                return


def _batches(queries: Sequence[QueryLike], size: int) -> list[list[QueryLike]]:
    """Group queries with equal params, at most `size` in a group."""
    by_params: dict[str, list[QueryLike]] = {}
    for query in queries:
        # By JSON, because 1, 1.0 and true are equal in Python, and other params to a retriever.
        key = json.dumps(dict(query.params), sort_keys=True, default=repr)
        by_params.setdefault(key, []).append(query)
    return [
        alike[start : start + size] for alike in by_params.values() for start in range(0, len(alike), size)
    ]


class _Session:
    """One retriever that is asked all queries: the calls to make, and what has come back."""

    def __init__(
        self,
        queries: Iterable[QueryLike],
        retriever: Any,
        options: RetrievalOptions,
        *,
        prefer_async: bool = False,
    ) -> None:
        self.options = options
        self.target = Retriever.of(retriever, prefer_async=prefer_async)
        if options.executor is not None and self.target.is_async:
            raise RetrievalError(
                "An async retriever cannot run in ir_executor. Leave the fixture out: ir_concurrency is enough."
            )
        asked = list(queries)
        self.collector = ReplyCollector(asked, options)
        self.pending: list[PendingAnswer] = []
        """Answers that have yet to be awaited, of a retriever that looked sync."""
        self._calls = _iterate_calls(asked, self.target, options, self.collector)
        self._asked = 0
        self._is_given_up = False

    def result(self) -> Retrieved:
        return self.collector.result(self.target.depth_advice)

    def _next_call(self, in_flight: int, most: int) -> Call | None:
        """Return the next call to make; None where enough are in flight, or nothing is left to ask.

        Until a query has been answered, no more than MAX_INITIAL_FAILURES are asked: what is asked of a retriever that is
        down does not depend on how many calls may be in flight.
        """
        waits = not self.collector.has_answer and self._asked >= MAX_INITIAL_FAILURES
        if in_flight >= most or (waits and in_flight) or self.collector.should_stop:
            return None
        call = next(self._calls, None)
        if call is not None:
            self._asked += len(call.query_ids)
        return call

    # One by one

    def ask_one_by_one(self) -> None:
        """Make one call after the other, in this thread."""
        function, options = self.target.function, self.options
        for call in self._calls:
            reply = call_retriever(function, call, options)
            if isinstance(reply, PendingAnswer):
                pending = reply
                reply = run_on_session_loop(lambda: self._await_alone(pending), pending)  # noqa: B023 - done before the next
            self.collector.add(reply)

    # On an event loop

    async def ask_on_loop(self) -> None:
        """Make as many calls at once as wanted, each in a task of its own; cancel what is left, however it ends."""
        if not _is_asyncio_running():  # trio's, or another: one by one
            for call in self._calls:
                reply = call_retriever(self.target.function, call, self.options)
                if isinstance(reply, PendingAnswer):
                    reply = await await_answer(reply, self.options)
                self.collector.add(reply)
            return
        import asyncio  # noqa: PLC0415

        tasks: dict[asyncio.Task[Reply | _Exit], Call] = {}
        try:
            while True:
                while self.pending and len(tasks) < self.options.concurrency:
                    pending = self.pending.pop()
                    tasks[_start_task(self._await(pending))] = pending.call
                while (following := self._next_call(len(tasks), self.options.concurrency)) is not None:
                    tasks[_start_task(self._ask(following))] = following
                if not tasks or self.collector.should_stop:
                    return
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self.collector.add(_reply_of(task, tasks.pop(task)))
        finally:
            await _cancel(tasks)
            for pending in self.pending:
                pending.close()

    async def _ask(self, call: Call) -> Reply:
        reply = call_retriever(self.target.function, call, self.options)
        return await self._await(reply) if isinstance(reply, PendingAnswer) else self._unless_late(reply)

    async def _await(self, pending: PendingAnswer) -> Reply:
        """Await an answer for as long as its call has time left.

        Unlike asyncio.wait_for this ends also where the coroutine swallows its cancellation.
        """
        timeout, call = self.options.timeout, pending.call
        if timeout is None:
            return await await_answer(pending, self.options)
        left = max(timeout * len(call.query_ids) - (perf_counter() - pending.started), 0.001)
        task = _start_task(await_answer(pending, self.options))
        reply = await _wait_for(task, call, left)
        return call.timed_out(timeout) if reply is None else self._unless_late(reply)

    async def _await_alone(self, pending: PendingAnswer) -> Reply | None:
        return await _wait_for(_start_task(self._await(pending)), pending.call, None)

    def _unless_late(self, reply: Reply) -> Reply:
        """Return a reply; one that says that the call timed out where it came too late."""
        timeout = self.options.timeout
        late = timeout is not None and reply.milliseconds > timeout * 1000
        return reply.call.timed_out(timeout) if late and timeout is not None else reply

    # In threads or an executor

    async def ask_in_executor_aside(self) -> None:
        """Do as `ask_in_executor` does in a thread, so that the event loop goes on; end it where this is cancelled."""
        import asyncio  # noqa: PLC0415

        from pytest_irmetrics.retrieval.threads import DaemonThreads  # noqa: PLC0415

        with DaemonThreads() as threads:
            try:
                await asyncio.wrap_future(threads.submit(self.ask_in_executor))
            finally:
                self._is_given_up = True

    def ask_in_executor(self) -> None:
        """Have as many calls in flight as wanted, in daemon threads or in the user's executor."""
        from concurrent.futures import FIRST_COMPLETED, wait  # noqa: PLC0415

        from pytest_irmetrics.retrieval.threads import DaemonThreads, drop  # noqa: PLC0415

        options = self.options
        own = options.executor is None
        executor = DaemonThreads() if options.executor is None else options.executor
        most = options.concurrency if own or options.concurrency > 1 else _MAX_QUEUED
        in_flight: dict[Future[Any], tuple[Call, float]] = {}
        try:
            while not self._is_given_up:
                while not self.pending and (call := self._next_call(len(in_flight), most)) is not None:
                    try:
                        in_flight[self._submit(executor, call)] = call, monotonic()
                    except Exception as error:  # noqa: BLE001 - it is shut down or broken, or there are no more threads
                        self.collector.add(call.failed(self._explain(error)))
                if not in_flight or self.collector.should_stop:
                    return
                # In one go for a second at most: Windows handles Ctrl-C only between waits.
                late = min(self._deadline(*each) for each in in_flight.values()) - monotonic()
                done = wait(in_flight, min(max(late, 0), 1.0), FIRST_COMPLETED).done
                if (
                    done and not own
                ):  # how long a call is queued is the executor's business, while anything comes back
                    in_flight = {future: (call, monotonic()) for future, (call, _) in in_flight.items()}
                for future, (call, since) in list(in_flight.items()):
                    if future in done or monotonic() >= self._deadline(call, since):
                        del in_flight[future]
                        self._take(future, call)
        finally:
            for future in in_flight:
                drop(future)
            if own:
                executor.shutdown()

    def _submit(self, executor: Executor, call: Call) -> Future[Any]:
        function, options = self.target.function, self.options
        if options.executor is None:
            return executor.submit(call_retriever, function, call, options)
        from pytest_irmetrics.retrieval.worker import ask_in_time, require_future  # noqa: PLC0415

        submitted = executor.submit(ask_in_time, function, call, options.for_worker(), os.getpid())
        return require_future(submitted)

    def _deadline(self, call: Call, since: float) -> float:
        """Return when a call is given up; the worker of an executor of the user's minds the time itself."""
        timeout = self.options.timeout
        if timeout is None:
            return float("inf")
        return since + timeout * len(call.query_ids) + (_START_SECONDS if self.options.executor else 0)

    def _take(self, future: Future[Any], call: Call) -> None:
        """Take the reply of a call that is done; one that is not is late."""
        if not future.done():
            from pytest_irmetrics.retrieval.threads import drop  # noqa: PLC0415

            drop(future)
            self.collector.add(call.timed_out(self.options.timeout or 0))
            return
        try:
            reply = future.result()
            if self.options.executor is not None:
                from pytest_irmetrics.retrieval.worker import require_reply  # noqa: PLC0415

                reply = require_reply(call, reply)
        except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
            self.collector.add(call.failed(self._explain(error)))
            return
        if isinstance(reply, PendingAnswer):
            self.pending.append(reply)
        else:
            self.collector.add(self._unless_late(reply))

    def _explain(self, error: Exception) -> str:
        if self.options.executor is None:
            from pytest_irmetrics.retrieval.errors import explain  # noqa: PLC0415

            return explain(error)
        from pytest_irmetrics.retrieval.worker import explain_executor  # noqa: PLC0415

        return explain_executor(
            error, self.options.executor, self.target.function, has_answered=self.collector.has_answer
        )


# Tasks of asyncio


class _Exit(NamedTuple):
    """A KeyboardInterrupt or SystemExit of a task, to be raised where the task is awaited.

    Raised in the task itself, it would stop the whole event loop at once.
    """

    error: BaseException


def _start_task(asked: Coroutine[Any, Any, Reply]) -> asyncio.Task[Reply | _Exit]:
    import asyncio  # noqa: PLC0415

    async def run() -> Reply | _Exit:
        try:
            return await asked
        except (KeyboardInterrupt, SystemExit) as error:
            return _Exit(error)

    task = asyncio.ensure_future(run())
    # A task that is cancelled before it begins never awaits this, and an exception that nobody reads is logged.
    task.add_done_callback(lambda done: (asked.close(), done.cancelled() or done.exception()))
    return task


def _reply_of(task: asyncio.Task[Reply | _Exit], call: Call) -> Reply:
    """Return the reply of a task that is done; a failed one where the retriever cancelled it. Raises Ctrl-C."""
    if task.cancelled():
        return call.failed(CANCELLED)
    done = task.result()
    if isinstance(done, _Exit):
        raise done.error
    return done


async def _wait_for(task: asyncio.Task[Reply | _Exit], call: Call, seconds: float | None) -> Reply | None:
    """Return the reply of a task; None where it takes longer, and then it is cancelled."""
    import asyncio  # noqa: PLC0415

    try:
        await asyncio.wait({task}, timeout=seconds)
        return _reply_of(task, call) if task.done() else None
    finally:
        await _cancel([task])


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel what is not done, and give it a short time to clean up."""
    import asyncio  # noqa: PLC0415

    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=_CLEANUP_SECONDS)


def _is_asyncio_running() -> bool:
    """Say whether the caller runs on an event loop of asyncio, without importing asyncio where nobody else has."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None  # noqa: SLF001 - the public one raises


# The event loop of sync callers

_runner: asyncio.Runner | None = None


def run_on_session_loop(start: Callable[[], Coroutine[Any, Any, Any]], *pending: PendingAnswer) -> Any:
    """Run what `start` returns on one event loop for the whole session, so that a client outlives a test.

    Raises RetrievalError where a loop is running already; the `pending` answers are then dropped.
    """
    global _runner  # noqa: PLW0603 - one for the process
    if _is_asyncio_running():
        for answer in pending:
            answer.close()
        raise RetrievalError(_LOOP_IS_RUNNING)
    import asyncio  # noqa: PLC0415
    import contextvars  # noqa: PLC0415

    if _runner is None:
        import atexit  # noqa: PLC0415

        _runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        atexit.register(close_session_loop)
    result = _runner.run(_exit_caught(start()), context=contextvars.copy_context())
    if isinstance(result, _Exit):
        raise result.error
    return result


async def _exit_caught(asked: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await asked
    except (KeyboardInterrupt, SystemExit) as error:
        return _Exit(error)


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one; give what is left a time to end."""
    global _runner
    runner, _runner = _runner, None
    if runner is None or _is_asyncio_running():
        return
    import asyncio  # noqa: PLC0415
    import atexit  # noqa: PLC0415

    async def end() -> bool:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await _cancel(left)
        return all(task.done() for task in left)

    atexit.unregister(close_session_loop)
    if runner.run(end()):
        runner.close()
    else:  # a coroutine that swallows its cancellation would be waited for
        runner.get_loop().close()
