"""An executor makes the calls; answers come back in order, and whatever is lost on the way is named."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    Retriever,
    aretrieve,
    batched,
    retrieve,
)
from pytest_irmetrics.retrieval.blocked_loop import BlockedLoopWatch
from pytest_irmetrics.retrieval.executor import DaemonThreads, ExecutorRunner
from pytest_irmetrics.retrieval.schedule import schedule_calls
from tests.unit.retrieval.clock import LIMIT
from tests.unit.retrieval.fakes import CountingExecutor
from tests.unit.retrieval.helpers import ONE, QUERIES, Query, later, problem

FORTY_QUERIES = [Query(f"q{number}", f"text {number}") for number in range(40)]


def search(query, k):
    return [query, str(k), str(os.getpid())]


def search_all(queries, k):
    return [[query, str(k)] for query in queries]


def fail_at_three(query):
    if query == "text 3":
        raise ValueError("three")
    return [query]


def hang_twice(query):
    time.sleep(3600 if query in {"text 3", "text 4"} else 0)
    return [query]


def die_at_thirty(query):
    if query == "text 30":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return [query]


def die(_query):
    os._exit(3)


def break_down():
    raise OSError("no index")


async def answered(query):
    return [query]


def answer_later_itself(query):
    return answered(query)


def answer_later(query):
    return asyncio.sleep(0, [query])


@pytest.fixture(scope="module", params=["fork", "spawn"])
def processes(request):
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip(f"processes cannot {request.param} here")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(request.param)) as executor:
        yield executor


def asked(executor, retriever=search, queries=FORTY_QUERIES, **options):
    return retrieve(queries, retriever, RetrievalOptions(executor=executor, **options))


def _in_process(query, k):
    return [query, str(k)]


class TestThreadPools:
    @pytest.mark.parametrize("repeat", [1, 2])
    def test_a_thread_pool_answers_sync_and_async_callers(self, repeat):
        with ThreadPoolExecutor(2) as executor:
            options = RetrievalOptions(executor=executor, concurrency=3, repeat=repeat, timeout=60)
            retrieved = retrieve(QUERIES, _in_process, options)
            assert retrieved.run["q7"] == ("text 7", "10")
            assert len(retrieved.run) == 8
            retrieved = asyncio.run(aretrieve(QUERIES, _in_process, options))
            assert len(retrieved.run) == 8
            assert retrieve(QUERIES, lambda query, k: later([query, str(k)]), options).run["q7"] == (
                "text 7",
                "10",
            )

    def test_an_executor_that_is_shut_down_is_explained(self):
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        assert "ir_executor raised RuntimeError" in problem(_in_process, executor=executor)
        retrieved = asyncio.run(aretrieve(ONE, _in_process, RetrievalOptions(executor=executor)))
        assert "ir_executor raised RuntimeError" in retrieved.errors["q0"]

    def test_a_late_coroutine_is_dropped_without_a_warning(self):
        release = threading.Event()

        class Awaitable:
            def __await__(self):
                raise AssertionError

        for answer in (later, lambda _answer: Awaitable()):
            release.clear()
            with ThreadPoolExecutor(1) as executor:
                said = problem(
                    lambda _query, a=answer: release.wait(60) and a(["a"]), executor=executor, timeout=0.05
                )
                release.set()
            assert "no answer came within" in said
        gc.collect()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python 3.12 on, of other tests' threads
class TestProcesses:
    def test_processes_answer_as_this_one_does(self, processes):
        retrieved = asked(processes, repeat=2, timeout=60)
        here = retrieve(FORTY_QUERIES, search, RetrievalOptions(repeat=2))
        assert list(retrieved.run) == list(here.run)
        for query_id, answer in retrieved.run.answers.items():
            theirs, ours = answer.rankings, here.run.answers[query_id].rankings
            assert [ranking[:2] for ranking in theirs] == [ranking[:2] for ranking in ours]
            assert theirs[0][2] != str(os.getpid())

    def test_processes_answer_batches(self, processes):
        retrieved = asked(processes, batched(search_all, size=7))
        assert retrieved.run["q39"] == ("text 39", "10")
        assert len(retrieved.run) == 40

    def test_the_query_that_failed_is_named(self, processes):
        retrieved = asked(processes, fail_at_three)
        assert list(retrieved.errors) == ["q3"]
        assert retrieved.errors["q3"].startswith(
            "raised ValueError: three (tests/unit/retrieval/test_executor.py:"
        )
        assert len(retrieved.run) == 39

    def test_the_query_that_is_late_is_named_and_its_worker_goes_on(self, processes):
        retrieved = asked(processes, hang_twice, timeout=2)
        late = "no answer came within 2 s (ir_timeout)."
        assert dict(retrieved.errors) == {"q3": late, "q4": late}
        # There are two workers: none would be left for these, if a late query kept one.
        assert len(retrieved.run) == 38

    def test_a_lambda_cannot_be_sent_to_a_process(self, processes):
        for retrieved in (
            asked(processes, lambda query: [query]),
            asyncio.run(
                aretrieve(FORTY_QUERIES, lambda query: [query], RetrievalOptions(executor=processes))
            ),
        ):
            assert len(retrieved.errors) == 5
            assert retrieved.stopped
            said = retrieved.errors["q0"]
            assert said.startswith("the retriever cannot be sent to the processes of ir_executor")
            assert "Let it be a function of a module" in said
        assert len(asked(processes).run) == 40

    def test_a_coroutine_cannot_be_sent_back_from_a_process(self, processes):
        said = asked(processes, answer_later).errors["q0"]
        assert "or its answer back" in said
        assert "coroutine" in said

    @pytest.mark.parametrize("options", [{}, {"timeout": 60}])
    @pytest.mark.parametrize("outcome", [pytest.skip, pytest.fail])
    def test_a_process_cannot_skip_or_fail_the_test(self, processes, outcome, options):
        retrieved = asked(processes, outcome, **options)
        assert len(retrieved.errors) == 5
        assert retrieved.errors["q0"] == (
            "pytest.skip or pytest.fail was called in a process of ir_executor, which it cannot leave. Call it in the "
            "fixture `retriever`, or raise an exception of another kind."
        )

    @pytest.mark.skipif(
        "fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot fork here"
    )
    def test_a_process_cannot_skip_where_errors_are_pickled_with_their_context(self):
        # As tblib has it, which Dask installs.
        code = (
            "import copyreg, multiprocessing, pickle, pytest\n"
            "from concurrent.futures import ProcessPoolExecutor as Pool\n"
            "from types import SimpleNamespace\n"
            "from pytest_irmetrics.retrieval import RetrievalOptions, retrieve\n"
            "def made_anew(text, context): return pickle.PicklingError(text)\n"
            "copyreg.pickle(pickle.PicklingError, lambda error: (made_anew, (str(error), error.__context__)))\n"
            "query = SimpleNamespace(id='q', text='t', params={})\n"
            "with Pool(1, mp_context=multiprocessing.get_context('fork')) as pool:\n"
            "    print(retrieve([query], pytest.skip, RetrievalOptions(executor=pool)).errors)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "pytest.skip or pytest.fail was called in a process" in done.stdout

    def test_workers_that_die_fail_the_queries_they_had(self):
        if not hasattr(signal, "SIGKILL"):
            pytest.skip("there is no SIGKILL here")
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
            retrieved = asked(executor, die_at_thirty)
            assert retrieved.errors["q30"] == (
                "a worker of ir_executor died: it was killed, ran out of memory or crashed in native code. What the "
                "workers had yet to answer is lost (BrokenProcessPool)."
            )
            assert len(set(retrieved.errors.values())) == 1
            assert len(retrieved.run) + len(retrieved.errors) == 40
            # On a slow machine the worker that has the first query may be the last to answer.
            assert all(retrieved.run[found] == (f"text {found[1:]}",) for found in retrieved.run.answers)
            assert "or an earlier test did" in asked(executor).errors["q0"]

    def test_workers_that_die_before_any_answer_are_explained(self):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
            assert asked(executor, die).errors["q0"] == (
                "the workers of ir_executor died before they answered anything: their initializer raised, they cannot "
                "import the retriever's module 'tests.unit.retrieval.test_executor', the retriever crashed them, or an "
                "earlier test did. They say why on stderr or in the log (BrokenProcessPool)."
            )


@pytest.mark.parametrize("timeout", [None, 60])
def test_threads_whose_initializer_raises_are_explained(timeout):
    with ThreadPoolExecutor(1, initializer=break_down) as executor:
        said = asked(executor, timeout=timeout).errors["q0"]
    assert "their initializer raised" in said
    assert "(BrokenThreadPool)" in said


class Broken(Executor):
    """Gives what it was told to give."""

    def __init__(self, submitted):
        self.submitted = submitted

    def submit(self, fn, /, *_args, **_kwargs):
        return self.submitted(fn)


def promise(value):
    future = Future()
    future.set_result(value)
    return future


@pytest.mark.parametrize("timeout", [None, 60])
@pytest.mark.parametrize(
    ("submitted", "words"),
    [
        (lambda _work: None, "submit returned None, which is no Future."),
        (lambda _work: [["d"]], "submit returned list [['d']], which is no Future."),
        (lambda _work: promise(None), "the work returned a list of 1, and what came back is None."),
        (lambda work: promise(work()[:0]), "a list of 1, and what came back is list []."),
        (lambda work: promise(work() * 2), "a list of 1, and what came back is list [Reply("),
        (lambda _work: promise([None]), "a list of 1, and what came back is list [None]."),
    ],
)
def test_an_executor_that_loses_replies_is_explained(submitted, words, timeout):
    retrieved = asked(Broken(submitted), timeout=timeout)
    assert not retrieved.run
    said = retrieved.errors["q0"]
    assert said.startswith(("ir_executor is <", "ir_executor is Broken <"))
    assert "and no executor that works: " in said
    assert words in said


class OneByOne(Executor):
    """Does a piece of work each time that the event loop has nothing else to do, after some time has passed."""

    def __init__(self, let_pass):
        self.let_pass = let_pass
        self.waiting = []
        self.most_waiting = 0

    def submit(self, fn, /, *_args, **_kwargs):
        future = Future()
        self.waiting.append((fn, future))
        self.most_waiting = max(self.most_waiting, len(self.waiting))
        if len(self.waiting) == 1:
            self.do_next_after_turns(20)
        return future

    def do_next_after_turns(self, turns):
        if turns:
            asyncio.get_running_loop().call_soon(self.do_next_after_turns, turns - 1)
            return
        work, future = self.waiting[0]
        self.let_pass()
        future.set_result(work())
        del self.waiting[0]
        if self.waiting:
            self.do_next_after_turns(20)


class TestTimeLimits:
    def test_a_late_query_leaves_its_worker_free(self, clock):
        release = threading.Event()

        def hang(query):
            if query in {"text 1", "text 2"}:
                clock.let_pass()
                release.wait(60)
            return [query]

        with ThreadPoolExecutor(1) as executor:
            retrieved = asked(executor, hang, timeout=LIMIT)
            assert list(retrieved.errors) == ["q1", "q2"]
            assert len(retrieved.run) == 38
        release.set()

    def test_a_batch_has_the_time_of_its_queries(self, clock):
        release = threading.Event()

        def some(queries):
            is_late = queries[0] == "text 8"
            clock.let_pass((9 if is_late else 7) * LIMIT)
            release.wait(60 if is_late else 0.05)
            return [[query] for query in queries]

        with ThreadPoolExecutor(1) as executor:
            retrieved = asked(executor, batched(some, 8), timeout=LIMIT)
        release.set()
        assert list(retrieved.errors) == [f"q{number}" for number in range(8, 16)]
        assert retrieved.errors["q8"] == "no answer came within 60 s a query for 8 queries (ir_timeout)."
        assert len(retrieved.run) == 32

    def test_an_executor_that_never_answers_is_given_up(self, monkeypatch):
        monkeypatch.setattr("pytest_irmetrics.retrieval.executor._START_SECONDS", 0.2)

        class Deaf(Executor):
            def submit(self, *_args, **_kwargs):
                return Future()

        retrieved = asked(Deaf(), timeout=0.1)
        assert retrieved.stopped
        assert retrieved.errors["q0"] == "no answer came within 0.1 s (ir_timeout)."

    def test_an_executor_may_queue_as_long_as_anything_comes_back(self, clock, monkeypatch):
        monkeypatch.setattr("pytest_irmetrics.retrieval.executor.monotonic", clock.now)
        monkeypatch.setattr("pytest_irmetrics.retrieval.schedule._CHUNK_SECONDS", 0)  # a query at a time
        executor = OneByOne(lambda: clock.let_pass(LIMIT - 1))
        retrieved = asked(executor, fail_at_three, queries=FORTY_QUERIES[:12], timeout=LIMIT)
        assert list(retrieved.errors) == ["q3"]
        assert len(retrieved.run) == 11
        # The last waited for more than its limit and the time that an executor has to start, 60 + 30 s.
        assert executor.most_waiting == 11


class TestOutcomes:
    @pytest.mark.parametrize(
        "outcome", [pytest.skip.Exception, pytest.exit.Exception, unittest.SkipTest, KeyboardInterrupt]
    )
    @pytest.mark.parametrize("timeout", [None, 60])
    def test_outcomes_pass_through(self, outcome, timeout):
        def act(_query):
            raise outcome("as it is")

        with ThreadPoolExecutor(1) as executor, pytest.raises(outcome, match="as it is"):
            asked(executor, act, timeout=timeout)

    def test_queued_calls_are_not_made_after_the_end(self):
        asked_for = []

        def act(query):
            asked_for.append(query)
            time.sleep(0.21 if query == "text 0" else 0.05)
            if query == "text 1":
                raise ConnectionError("refused")
            return [query]

        with ThreadPoolExecutor(1) as executor:
            retrieved = asked(executor, act, stop_on_error=True)
        assert list(retrieved.errors) == ["q1"]
        assert len(asked_for) < 20


def test_an_answer_that_nobody_awaits_any_more_is_dropped_without_a_warning():
    class Cancelled:
        """An event loop on which the work is cancelled between the thread's answer and its being awaited."""

        @staticmethod
        async def wait_for_future(future):
            wait([future])
            raise asyncio.CancelledError

    with DaemonThreads() as threads:
        work = ExecutorRunner(
            answer_later_itself, RetrievalOptions(), threads, Cancelled, BlockedLoopWatch(Cancelled, None)
        )
        [call] = next(
            schedule_calls(FORTY_QUERIES[:1], Retriever.of(answer_later_itself), RetrievalOptions())
        )
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(work((call,)))
    gc.collect()


def test_what_is_no_executor_is_refused():
    for value in (3, object()):
        with pytest.raises(ValueError, match=r"of a Dask client it is client\.get_executor\(\)"):
            RetrievalOptions(executor=value)


def test_an_async_retriever_is_refused():
    async def search(query):
        return [query]

    with pytest.raises(RetrievalError, match="ir_concurrency is enough"):
        asked(CountingExecutor(), search)
    with pytest.raises(RetrievalError, match="ir_concurrency is enough"):
        asyncio.run(aretrieve(FORTY_QUERIES, search, RetrievalOptions(executor=CountingExecutor())))


def test_a_job_for_a_process_is_small():
    sizes = []

    class Weighing(CountingExecutor):
        def submit(self, fn, /, *args, **kwargs):
            sizes.append(len(pickle.dumps((fn, args, kwargs))))
            return super().submit(fn, *args, **kwargs)

    asked(Weighing())
    assert sizes[0] < 1000


def test_a_thread_that_has_answered_takes_the_next_call():
    with DaemonThreads() as threads:
        asked = [threads.submit(threading.current_thread).result() for _ in range(5)]
        assert isinstance(threads.submit(int, "x").exception(), ValueError)
        asked.append(threads.submit(threading.current_thread).result())
    assert len({*asked}) == 1
    assert asked[0].daemon  # one that hangs does not keep the process
