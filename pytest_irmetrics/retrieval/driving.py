"""Who asks: one generator decides what to ask next and what a reply means, and drivers do the asking.

The generator (`converse`) yields an `Ask` and is sent the replies that have come in since, none or several. It
yields None when it has enough in flight, or nothing left to ask: the driver then sends at least one reply. It does
no input or output, so a loop, an event loop, threads or an executor can drive it, each in a few lines.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import json
import queue
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, ParamSpec, TypeVar

from pytest_irmetrics.retrieval.answers import show
from pytest_irmetrics.retrieval.asking import (
    Ask,
    Caller,
    Pending,
    Question,
    Reading,
    Reply,
    RetrievalError,
    aperform,
    explain,
    is_async,
    perform,
    settle,
)
from pytest_irmetrics.run import Answer, Run, make_answer, quote

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

P = ParamSpec("P")
T = TypeVar("T")
Conversation = Generator[Ask | None, Sequence[Reply], "Retrieved"]

HOPELESS = 5
"""After this many errors in a row from the start the other queries are not asked."""

_GRACE = 1.0  # seconds that a cancelled coroutine has to clean up before it is left behind
_TICK = 1.0  # seconds after which a wait looks up, because Windows hears Ctrl-C only between waits


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How a retriever is asked, and its answers read."""

    depth: int = 10
    """How many results are asked for, and at most read."""
    duplicates: str = "error"
    """What a document that comes back twice is: "error", or "collapse" to keep the first of each."""
    doc_id: Callable[[Any], Any] | None = None
    """Turns one returned item into its id."""
    timeout: float | None = None
    """Seconds that a query may take; above 0."""
    concurrency: int = 1
    """How many calls may be in flight at once."""
    repeat: int = 1
    """How many times each query is asked."""
    executor: Executor | None = None
    """Where sync retrievers are called, if not here."""

    def __post_init__(self) -> None:
        for name in ("depth", "concurrency", "repeat"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {show(value)}. Give a whole number, 1 or more.")
        if self.duplicates not in {"error", "collapse"}:
            raise ValueError(f"duplicates is {show(self.duplicates)}. Give 'error' or 'collapse'.")
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise ValueError(f"timeout is {show(self.timeout)}. Give seconds, more than 0, or None.")
        if self.doc_id is not None and not callable(self.doc_id):
            raise ValueError(f"doc_id is {show(self.doc_id)}. Give a function of one returned item.")


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What came of asking a retriever every query of a set."""

    run: Run
    """The queries that were answered each time, in the order given."""
    errors: Mapping[str, str]
    """Query id → what went wrong, in the order given."""
    stopped: bool
    """Whether the first queries all failed, so that the others were not asked."""
    latencies: Mapping[str, tuple[float, ...]]
    """Query id → milliseconds, one for each time; of a batch, each query's share. Empty for a stored run."""


@dataclass(slots=True)
class _Ledger:
    """What is known so far."""

    rankings: list[dict[str, tuple[str, ...]]]
    """Query id → ids, best first; one for each time of asking."""
    milliseconds: list[dict[str, float]]
    """Query id → how long that took; one for each time of asking."""
    errors: dict[str, str] = field(default_factory=dict)
    answered: bool = False

    def file(self, reply: Reply) -> None:
        ask, outcomes, milliseconds = reply
        for query_id, outcome in zip(ask.ids, outcomes, strict=True):
            if isinstance(outcome, str):
                times = len(self.rankings)
                when = f"the {_ordinal(ask.repeat + 1)} of {times} times: " if times > 1 else ""
                self.errors.setdefault(query_id, when + outcome)
            else:
                self.rankings[ask.repeat][query_id] = outcome
                self.milliseconds[ask.repeat][query_id] = milliseconds
                self.answered = True

    @property
    def hopeless(self) -> bool:
        return not self.answered and len(self.errors) >= HOPELESS


def _ordinal(number: int) -> str:
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def converse(queries: Sequence[Question], caller: Caller, options: RetrievalOptions) -> Conversation:
    """Decide what to ask next, and what the replies mean; see the module's words for the protocol.

    Until a first query has been answered no more than HOPELESS queries are asked: what is asked of a retriever
    that is down does not depend on how many calls may be in flight.
    """
    ledger = _Ledger([{} for _ in range(options.repeat)], [{} for _ in range(options.repeat)])
    plan = _plan(queries, caller, options, ledger)
    asked = in_flight = 0
    exhausted = False
    while True:
        ask = None
        probing = not ledger.answered and asked >= HOPELESS
        if not exhausted and in_flight < options.concurrency and not (probing and in_flight):
            ask = next(plan, None)
            exhausted = ask is None
        if ask is None and not in_flight:
            return _conclude(queries, options, ledger)
        if ask is not None:
            in_flight += 1
            asked += len(ask.ids)
        for reply in (yield ask):
            in_flight -= 1
            ledger.file(reply)


def _plan(
    queries: Sequence[Question], caller: Caller, options: RetrievalOptions, ledger: _Ledger
) -> Iterator[Ask]:
    """Yield the calls to make, each query's first before any query's second; skip what has failed already."""
    batches = None if caller.batch_size is None else _batches(queries, caller.batch_size)
    for repeat in range(options.repeat):
        for group in ([query] for query in queries) if batches is None else batches:
            left = [query for query in group if query.id not in ledger.errors] if ledger.errors else group
            if not left:
                continue
            ask = caller.ask(left, options.depth, repeat)
            if isinstance(ask, Ask):
                yield ask
            else:
                ledger.errors.update(dict.fromkeys([query.id for query in left], ask))
            if ledger.hopeless:
                return


def _batches(queries: Sequence[Question], size: int) -> list[list[Question]]:
    alike: dict[str, list[Question]] = {}
    for query in queries:
        # 1, 1.0 and true are equal in Python, and other params to a retriever.
        alike.setdefault(json.dumps(dict(query.params), sort_keys=True, default=repr), []).append(query)
    return [group[start : start + size] for group in alike.values() for start in range(0, len(group), size)]


def _conclude(queries: Sequence[Question], options: RetrievalOptions, ledger: _Ledger) -> Retrieved:
    answers: dict[str, Answer] = {}
    latencies: dict[str, tuple[float, ...]] = {}
    ids = [query.id for query in queries]
    rankings = zip(*(map(by_query.get, ids) for by_query in ledger.rankings), strict=True)
    times = zip(*(map(by_query.get, ids) for by_query in ledger.milliseconds), strict=True)
    for query, asked, milliseconds in zip(queries, rankings, times, strict=True):
        if None not in asked:  # answered each time
            answers[query.id] = make_answer(asked, query.text, query.params)
            latencies[query.id] = milliseconds
    errors = {query.id: ledger.errors[query.id] for query in queries if query.id in ledger.errors}
    stopped = ledger.hopeless and len(errors) < len(queries)
    return Retrieved(Run.of(answers, depth=options.depth), errors, stopped, latencies)


def retrieve(
    queries: Iterable[Question], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Ask a retriever, sync or async, every query. What goes wrong with single queries is in `errors`.

    A sync retriever is called in this very thread, unless a timeout, concurrency or an executor asks for others;
    an async one runs on an event loop that is kept until `close_session_loop`. Raises RetrievalError for what is
    no retriever, and for an async one where a loop is running already.
    """
    options = options or RetrievalOptions()
    asked = _unique(queries)
    if isinstance(retriever, Run):
        return _replay(asked, retriever, options)
    caller = Caller.of(retriever)
    reading = Reading(options.depth, options.duplicates, options.doc_id)
    conversation = converse(asked, caller, options)
    _check_executor(retriever, options)
    if is_async(retriever):
        return _session_loop.run(
            partial(_adrive, conversation, partial(aperform, caller.function), reading, options)
        )
    if options.executor is not None:
        return _drive_elsewhere(conversation, caller.function, reading, options, options.executor)
    if options.timeout is not None or options.concurrency > 1:
        with _DaemonThreads() as threads:
            return _drive_elsewhere(conversation, caller.function, reading, options, threads)
    return _drive(conversation, caller.function, reading)


async def aretrieve(
    queries: Iterable[Question], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Do as `retrieve` does on the event loop that runs; the retriever may be sync or async.

    Without a timeout and concurrency that may be any loop, with them it is asyncio's.
    """
    options = options or RetrievalOptions()
    asked = _unique(queries)
    if isinstance(retriever, Run):
        return _replay(asked, retriever, options)
    caller = Caller.of(retriever)
    reading = Reading(options.depth, options.duplicates, options.doc_id)
    conversation = converse(asked, caller, options)
    _check_executor(retriever, options)
    ask_here = partial(aperform, caller.function)
    if options.executor is None and options.timeout is None and options.concurrency == 1:
        return await _adrive(conversation, ask_here, reading, options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise RetrievalError(
            "ir_timeout, ir_concurrency and ir_executor need asyncio in an async test. Leave them out here."
        ) from None
    if is_async(retriever):
        return await _adrive(conversation, ask_here, reading, options)
    with contextlib.ExitStack() as stack:
        executor = options.executor or stack.enter_context(_DaemonThreads())
        return await _adrive(conversation, partial(_aperform_in, executor, caller.function), reading, options)


def _unique(queries: Iterable[Question]) -> list[Question]:
    asked = list(queries)
    if len({query.id for query in asked}) == len(asked):
        return asked
    seen: set[str] = set()
    for query in asked:
        if query.id in seen:
            raise RetrievalError(f"there are two queries {quote(query.id)}. Give each its own id.")
        seen.add(query.id)
    return asked


def _check_executor(retriever: object, options: RetrievalOptions) -> None:
    if options.executor is not None and is_async(retriever):
        raise RetrievalError(
            "An async retriever cannot run in ir_executor. Leave the fixture out: ir_concurrency is enough."
        )


def _replay(queries: Sequence[Question], run: Run, options: RetrievalOptions) -> Retrieved:
    """Answer from a stored run, with all the times that it was asked. A query that it does not have is an empty answer."""
    depth = options.depth if run.depth is None else min(run.depth, options.depth)
    answers: dict[str, Answer] = {}
    errors: dict[str, str] = {}
    for query in queries:
        stored = run.answers.get(query.id, Answer(((),)))
        problem = _other_question(query, stored)
        if problem:
            errors[query.id] = problem
            continue
        rankings = tuple([ranking[:depth] for ranking in stored.rankings])
        answers[query.id] = make_answer(rankings, query.text, query.params)
    return Retrieved(Run.of(answers, depth=depth), errors, stopped=False, latencies={})


def _other_question(query: Question, stored: Answer) -> str | None:
    if stored.text is not None and query.text is not None and stored.text != query.text:
        return f"the stored run answers another text, {quote(stored.text)}. Store the run anew."
    if (stored.text is not None or stored.params) and stored.params != query.params:
        return f"the stored run answers other params, {show(dict(stored.params))}. Store the run anew."
    return None


# The drivers.


def _drive(conversation: Conversation, function: Callable[..., Any], reading: Reading) -> Retrieved:
    """Ask one query after the other, in the thread that this is."""
    try:
        ask = next(conversation)
        while True:
            ask = conversation.send([] if ask is None else [_done(perform(function, ask, reading), reading)])
    except StopIteration as end:
        return _result(end)


def _result(end: StopIteration) -> Retrieved:
    retrieved: Retrieved = end.value
    return retrieved


def _done(
    done: Reply | Pending, reading: Reading, timeout: float | None = None, deadline: float = 0.0
) -> Reply:
    """Await, on the session's loop, what a retriever that looked sync turned out to give."""
    if isinstance(done, Reply):
        return done
    seconds = None if timeout is None else max(deadline - monotonic(), 0.001)
    return _session_loop.run(lambda: _limited(partial(settle, done, reading), done.ask, timeout, seconds))


async def _adrive(
    conversation: Conversation,
    ask_one: Callable[[Ask, Reading], Coroutine[Any, Any, Reply]],
    reading: Reading,
    options: RetrievalOptions,
) -> Retrieved:
    """Ask on the event loop that runs; as tasks of asyncio only where more than one thing has to go on at once."""
    tasks: set[asyncio.Task[Reply]] = set()
    alone = options.timeout is None and options.concurrency == 1
    try:
        ask = next(conversation)
        while True:
            replies: list[Reply] = []
            if ask is not None and alone:
                replies = [await ask_one(ask, reading)]
            elif ask is not None:
                task = asyncio.ensure_future(_limited(partial(ask_one, ask, reading), ask, options.timeout))
                task.add_done_callback(_note_end)
                tasks.add(task)
            else:
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                replies = [task.result() for task in done]
            ask = conversation.send(replies)
    except StopIteration as end:
        return _result(end)
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_GRACE)


async def _limited(
    start: Callable[[], Coroutine[Any, Any, Reply]],
    ask: Ask,
    timeout: float | None,
    left: float | None = None,
) -> Reply:
    """Give a call its time, or what is left of it. Unlike asyncio.wait_for this ends also if its cancellation is swallowed."""
    if timeout is None:
        return await start()
    seconds = timeout * len(ask.ids) if left is None else left
    task = asyncio.ensure_future(start())
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE)
    finally:
        task.cancel()
    return _too_late(ask, timeout)


def _too_late(ask: Ask, timeout: float) -> Reply:
    several = f" a query for {len(ask.ids)} queries" if len(ask.ids) > 1 else ""
    return ask.failed(f"no answer came within {timeout:g} s{several} (ir_timeout).")


def _drive_elsewhere(
    conversation: Conversation,
    function: Callable[..., Any],
    reading: Reading,
    options: RetrievalOptions,
    executor: Executor,
) -> Retrieved:
    """Ask in an executor's threads or processes. A call that is late is given up, and what it says then is not heard."""
    running: dict[Future[Reply | Pending], tuple[Ask, float]] = {}
    limit = float("inf") if options.timeout is None else options.timeout
    try:
        ask = next(conversation)
        while True:
            replies: list[Reply] = []
            if ask is not None:
                try:
                    running[executor.submit(perform, function, ask, reading)] = (
                        ask,
                        monotonic() + limit * len(ask.ids),
                    )
                except Exception as error:  # noqa: BLE001 - an executor that is shut down or broken, no more threads
                    replies = [ask.failed(_refused(executor, error))]
            while ask is None and not replies:
                earliest = min(deadline for _, deadline in running.values())
                finished, _ = wait(running, max(0.0, min(earliest - monotonic(), _TICK)), FIRST_COMPLETED)
                for future in finished:
                    call, deadline = running.pop(future)
                    try:
                        done = future.result()
                    except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
                        replies.append(call.failed(_refused(executor, error)))
                    else:
                        replies.append(_done(done, reading, options.timeout, deadline))
                for future in [
                    future for future, (_, deadline) in running.items() if deadline <= monotonic()
                ]:
                    replies.append(_too_late(running.pop(future)[0], limit))
                    _give_up(future)
            ask = conversation.send(replies)
    except StopIteration as end:
        return _result(end)
    finally:
        for future in running:
            _give_up(future)


async def _aperform_in(executor: Executor, function: Callable[..., Any], ask: Ask, reading: Reading) -> Reply:
    """Call a sync retriever in an executor, and await that without keeping the event loop from its work."""
    try:
        future = executor.submit(perform, function, ask, reading)
    except Exception as error:  # noqa: BLE001 - as above
        return ask.failed(_refused(executor, error))
    try:
        done = await asyncio.wrap_future(future)
    except Exception as error:  # noqa: BLE001 - as above
        return ask.failed(_refused(executor, error))
    except asyncio.CancelledError:
        _give_up(future)
        raise
    return await settle(done, reading) if isinstance(done, Pending) else done


def _refused(executor: Executor, error: Exception) -> str:
    return explain(error) if isinstance(executor, _DaemonThreads) else f"ir_executor {explain(error)}"


def _give_up(future: Future[Reply | Pending]) -> None:
    future.cancel()
    future.add_done_callback(_discard)


def _discard(future: Future[Reply | Pending]) -> None:
    if not future.cancelled() and future.exception() is None:
        done = future.result()
        if isinstance(done, Pending):
            done.discard()


class _DaemonThreads(Executor):
    """Threads that keep nobody waiting: one that hangs is left behind, also when the process ends.

    There is always an idle one, so a call's time starts when it is submitted. Each sees the caller's context.
    """

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[Callable[[], None] | None]] = []
        self._all: list[queue.SimpleQueue[Callable[[], None] | None]] = []

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn` in a thread that idles, or in a new one."""
        future: Future[T] = Future()
        context = contextvars.copy_context()
        inbox = self._idle.pop() if self._idle else self._hire()

        def job() -> None:
            try:
                result = context.run(fn, *args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - pytest.skip and the like are raised where it is awaited
                self._idle.append(inbox)
                future.set_exception(error)
            else:
                self._idle.append(inbox)
                future.set_result(result)

        future.set_running_or_notify_cancel()
        inbox.put(job)
        return future

    def _hire(self) -> queue.SimpleQueue[Callable[[], None] | None]:
        inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=_work, args=(inbox,), name="irmetrics", daemon=True).start()
        self._all.append(inbox)
        return inbox

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Executor's signature
        """Let the threads end: those that idle now, those that hang if they ever come back."""
        for inbox in self._all:
            inbox.put(None)


def _work(inbox: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while True:
        job = inbox.get()
        if job is None:
            return
        job()
        del job  # or its answer would be kept until the next one


class SessionLoop:
    """The one event loop on which sync callers run async retrievers, so that a client outlives a test."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run what `start` gives until it is done. Raises RetrievalError where a loop is running already."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RetrievalError(
                "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or "
                "`await irmetrics.aevaluate()`."
            )
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            atexit.register(self.close)
        task = self._loop.create_task(start())
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            _wind_down(self._loop, task)
            raise

    def close(self) -> None:
        """Cancel what is left on the loop, and close it; the next `run` opens another."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed() or loop.is_running():
            return
        atexit.unregister(self.close)
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        with contextlib.suppress(Exception):
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=_GRACE))
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), _GRACE))
        loop.close()


def _wind_down(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Let a task that Ctrl-C or its like got in the way of clean up, for a short time."""
    stop = loop.call_later(2 * _GRACE, loop.stop)
    while not task.done():
        task.cancel()
        try:
            loop.run_until_complete(task)
        except (
            KeyboardInterrupt,
            SystemExit,
        ):  # what another call in flight raised; the first is on its way up
            continue
        except BaseException:  # noqa: BLE001 - its end, or that of its time
            break
    stop.cancel()
    _note_end(task)


def _note_end(task: asyncio.Task[Any]) -> None:
    """Look at a task's exception, or asyncio would log that nobody did."""
    if task.done() and not task.cancelled():
        task.exception()


_session_loop = SessionLoop()


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one."""
    _session_loop.close()
