"""Errors, time limits, Ctrl-C and what decides the test, in every way of asking; no query in flight is ever lost."""

# ruff: noqa: ARG001, ARG005 - retrievers take what they are given

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
import unittest
import urllib.error
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_irmetrics import GoldenSet, RetrievalError, Run, batched, evaluate
from tests.retrievers.ways import (
    BY_QUERY,
    LONG,
    WAYS,
    answered,
    as_async,
    ask,
    golden_of,
    in_batches,
    looking_sync,
    outcome,
)

TWENTY = [f"text {n}" for n in range(20)]
AT_ONCE = [{}, {"timeout": LONG}, {"concurrency": 3}, {"concurrency": 3, "timeout": LONG}]


def failing(error):
    def search(query, k):
        raise error

    return search


def test_the_run_is_the_same_to_the_byte_however_it_was_asked():
    def search(query, k):
        number = int(query.split()[1])
        return [f"doc-{number + n}" for n in range(number % 7)][:k]

    stored = {way(search, TWENTY, repeat=2).run.dumps() for way in WAYS.values()}
    assert len(stored) == 1


# What a retriever raises


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no\n  index"), "raised ValueError: no index (tests/retrievers/test_asking.py:"),
        (StopIteration(3), "raised "),
        (StopAsyncIteration(), "raised "),
        (RecursionError("deep"), "raised RecursionError: deep"),
        (MemoryError(), "raised MemoryError ("),
        (KeyError("\x1b[31m"), r"raised KeyError: '\x1b[31m' ("),
        (OSError("\u202e\ud800"), "raised OSError: \\u202e\\ud800 ("),
        (sqlite3.OperationalError("locked"), "raised sqlite3.OperationalError: locked ("),
        (AssertionError("x" * 1000), "x… ("),
    ],
)
def test_an_exception_is_the_querys_error_with_its_place(error, words):
    def search(query, k):
        return [query] if query != "text 1" else failing(error)(query, k)

    for name, way in BY_QUERY.items():
        found = way(search, TWENTY[:3])
        assert list(found.errors) == ["text 1"], name
        said = found.errors["text 1"]
        assert said.startswith(words[:7]) if words.startswith("raised") else True
        assert words in said, name
        assert said.isprintable()
        assert len(said) < 500
    found = ask(in_batches(search), TWENTY[:6])
    assert list(found.errors) == TWENTY[:3]
    assert found.errors["text 0"].startswith("the call for 3 queries raised ")


def test_the_place_is_the_users_innermost_line(monkeypatch, tmp_path):
    def search(query):
        return json.loads("{")  # here

    line = search.__code__.co_firstlineno + 1
    assert f"(tests/retrievers/test_asking.py:{line})" in outcome(ask(search))
    for installed in ("site-packages", "dist-packages"):
        library = {}
        path = f"lib{os.sep}{installed}{os.sep}client.py"
        exec(compile("def find(query):\n    raise KeyError(query)\n", path, "exec"), library)
        said = outcome(ask(lambda query, library=library: library["find"](query)))
        assert "test_asking.py:" in said
        assert "client.py" not in said
    said = outcome(ask(json.loads, ["{"]), "{")
    assert "raised json.decoder.JSONDecodeError" in said
    assert "decoder.py:" in said
    said = outcome(ask(functools.partial(int, base=99), ["5"]), "5")
    assert "raised TypeError: int() " in said
    assert ".py" not in said
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert f"({failing.__code__.co_filename}:" in outcome(ask(failing(ValueError())))


def test_an_exception_whose_text_raises_and_a_group_are_explained():
    class BrokenError(Exception):
        def __str__(self):
            raise RuntimeError

    assert "BrokenError (tests" in outcome(ask(failing(BrokenError())))
    group = ExceptionGroup("several", [ExceptionGroup("inner", [ValueError("one")]), KeyError("two")])
    assert "raised ValueError: one." in outcome(ask(failing(group)))


def test_awaitables_of_awaitables_are_explained():
    async def search(query):
        return as_async(lambda: ["a"])()

    assert "Await it in the retriever." in outcome(ask(search))

    class Awaitable:
        def __await__(self):
            yield from ()
            return self

    assert "came back: Awaitable <" in outcome(ask(lambda query: Awaitable()))


def test_a_document_that_is_indexed_like_a_mapping_and_the_body_of_a_response_are_told():
    class Document:
        pass

    def indexed(query):
        return [Document()["source"]]

    body = io.BytesIO(b'{"error":\n  "no such index [docs]"}' + b" " * 10_000)
    not_found = urllib.error.HTTPError("http://h/docs", 404, "Not Found", {}, body)

    def refused(query):
        raise not_found

    def refused_by_a_client(query):
        error = ValueError("404 Client Error")
        error.response = type("Response", (), {"text": "no such index [docs]" * 1000})()
        raise error

    def of_a_login_page(query):
        json.loads("<html>Sign in</html>")

    assert "It answered: <html>Sign in</html>" in outcome(ask(of_a_login_page))
    assert "Its fields are attributes: `doc.id`, `doc.metadata" in outcome(ask(indexed))
    assert 'It answered: {"error": "no such index [docs]"}' in outcome(ask(refused))
    not_found.close()
    told = outcome(ask(refused_by_a_client))
    assert "It answered: no such index [docs]no such" in told
    assert len(told.partition("It answered: ")[2]) == 300
    assert "It answered" not in outcome(
        ask(failing(urllib.error.HTTPError("", 404, "", {}, io.BytesIO(b"{}"))))
    )


def test_a_client_of_another_loop_is_explained_in_the_same_words_for_each_query():
    loop = asyncio.new_event_loop()

    async def future(query):
        await loop.create_future()

    async def closed(query):
        loop.call_soon(print)

    for options in ({}, {"concurrency": 2}):
        errors = ask(future, TWENTY[:2], **options).errors
        assert errors["text 0"] == errors["text 1"]
        assert errors["text 0"].startswith(
            "raised RuntimeError: attached to a different loop (tests/retrievers"
        )
        assert errors["text 0"].endswith("with pytest-asyncio the same loop_scope.")
    loop.close()
    assert "raised RuntimeError: Event loop is closed" in outcome(ask(closed))
    for error in (closed, failing(RuntimeError("<Lock> is bound to a different event loop"))):
        assert "Its client belongs to another event loop." in outcome(ask(error))


def test_a_retriever_that_starts_or_wants_a_loop_of_its_own_is_told_to_be_async_itself():
    def nested(query):
        started = as_async(lambda: [query])()
        try:
            return asyncio.run(started)
        finally:
            started.close()

    def running(query):
        return asyncio.get_running_loop()

    async def cell():
        return ask(nested)

    def current(query):
        return asyncio.get_event_loop()

    assert outcome(asyncio.run(cell())).endswith("awaits it, and check() too.")
    assert outcome(ask(current, concurrency=2)).endswith("awaits it, and check() too.")
    assert outcome(ask(running)).endswith("awaits it, and check() too.")


def test_a_connection_of_sqlite_in_another_thread_is_explained_with_its_cure():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table docs (id text)")
    connection.execute("insert into docs values ('a')")

    def search(query):
        return connection.execute("select id from docs")

    assert outcome(ask(search)) == ["a"]
    for options in ({"timeout": LONG}, {"concurrency": 2}):
        said = outcome(ask(search, **options))
        assert "raised sqlite3.ProgrammingError" in said
        assert said.endswith(
            " With ir_timeout, ir_concurrency or ir_executor the retriever runs in another thread: open a connection for each "
            "thread (threading.local()); or one for all with check_same_thread=False, and hold a threading.Lock() from the "
            "query until its rows are read; or leave these settings out."
        )
    connection.close()


# How it ends


def test_five_errors_in_a_row_from_the_start_end_the_set(way):
    asked = []

    def search(query, k):
        asked.append(query)
        raise ConnectionError("refused")

    found = way(search, TWENTY)
    assert len(answered(found)) == 0
    # A batch counts as its queries, and those of the last one were asked together.
    assert list(found.errors) == TWENTY[: len(found.errors)]
    assert 5 <= len(found.errors) <= 6
    assert len(set(asked)) <= 6


@pytest.mark.parametrize("good", [0, 3, 4])
def test_one_answer_among_the_first_five_and_all_are_asked(good):
    def search(query, k):
        if query == f"text {good}":
            return []
        raise ConnectionError("refused")

    for options in AT_ONCE:
        found = ask(search, TWENTY, **options)
        assert set(found.errors) == {*TWENTY} - {f"text {good}"}


@pytest.mark.parametrize("name", BY_QUERY)
def test_no_query_is_lost_where_some_fail_while_others_are_in_flight(name):
    def search(query, k):
        if int(query.split()[1]) % 3 == 1:
            raise ConnectionError(query)
        return [query]

    found = BY_QUERY[name](search, TWENTY, repeat=2)
    failed = [text for n, text in enumerate(TWENTY) if n % 3 == 1]
    assert list(found.errors) == failed
    assert answered(found) == {text: [text] for text in TWENTY if text not in failed}


@pytest.mark.parametrize(
    "error",
    [
        *(pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception, pytest.exit.Exception),
        *(unittest.SkipTest, SystemExit, KeyboardInterrupt),
    ],
)
def test_what_decides_the_test_and_ctrl_c_pass_through(error):
    for name, way in WAYS.items():
        with pytest.raises(error, match="as it is"):
            way(
                lambda query, k: [query] if query == "text 0" else failing(error("as it is"))(query, k),
                TWENTY,
            )
        assert outcome(ask(looking_sync(lambda query, k: ["a"]))) == ["a"], name  # the loop lives on


def test_a_retriever_that_cancels_itself_is_an_error_of_its_query():
    def search(query, k):
        if query == "text 1":
            raise asyncio.CancelledError
        return [query]

    for name, way in BY_QUERY.items():
        found = way(search, TWENTY[:4])
        assert list(found.errors) == ["text 1"], name
        assert len(answered(found)) == 3


# Time limits


@contextlib.contextmanager
def hanging():
    """A function that hangs until the end of the block."""
    release = threading.Event()
    try:
        yield lambda *_args: release.wait(LONG) and None
    finally:
        release.set()


def _never(name):
    async def never(query, k):
        await asyncio.sleep(LONG)

    return never if name == "async" else lambda query, k: never(query, k)  # noqa: PLW0108 - no coroutine function


LIMITED = [{}, {"concurrency": 3}, {"repeat": 2}]


@pytest.mark.parametrize("options", LIMITED)
@pytest.mark.parametrize("kind", ["sync", "async", "looking sync", "generator", "batched", "executor"])
def test_what_hangs_ends_with_the_time_limit(kind, options):
    from concurrent.futures import ThreadPoolExecutor

    def generator(query, k):
        yield "a"
        hang()

    with hanging() as hang, ThreadPoolExecutor(2) as executor:
        retriever = {
            "sync": lambda query, k: hang(),
            "generator": generator,
            "batched": batched(lambda queries, k: hang(), 2),
            "executor": lambda query, k: hang(),
        }.get(kind) or _never(kind)
        more = {"executor": executor} if kind == "executor" else {}
        found = ask(retriever, TWENTY[:4], timeout=0.05, **options, **more)
    several = " a query for 2 queries" if kind == "batched" else ""
    when = "time 1 of 2: " if "repeat" in options else ""
    assert dict(found.errors) == dict.fromkeys(
        TWENTY[:4], f"{when}no answer came within 0.05 s{several} (ir_timeout)."
    )


def test_a_coroutine_that_comes_too_late_is_closed():
    late = threading.Event()
    made = []

    async def never():
        """Never awaited."""

    def search(query, k):
        late.wait(LONG)
        made.append(never())
        return made[0]

    before = {*threading.enumerate()}
    assert "no answer came within 0.05 s" in outcome(ask(search, timeout=0.05))
    workers = {*threading.enumerate()} - before
    late.set()
    for worker in workers:
        worker.join(LONG)
    assert inspect.getcoroutinestate(made[0]) == inspect.CORO_CLOSED


def test_what_hangs_fails_by_name_and_the_others_go_on():
    with hanging() as hang:

        def search(query, k):
            return hang() if query in ("text 3", "text 12") else [query]

        for options in LIMITED:
            found = ask(search, TWENTY, timeout=0.2, **options)
            assert {"text 3", "text 12"} <= {*found.errors}
            assert {*found.errors, *answered(found)} == {*TWENTY}
            assert all("no answer came within 0.2 s (ir_timeout)." in said for said in found.errors.values())


def test_a_late_coroutine_is_cancelled_and_may_clean_up():
    ended = []

    async def search(query, k):
        try:
            await asyncio.sleep(LONG)
        finally:
            ended.append(query)

    for options in ({}, {"concurrency": 3}):
        ended.clear()
        assert len(ask(search, TWENTY[:3], timeout=0.05, **options).errors) == 3
        ask(search, TWENTY[:1], timeout=0.05)  # whatever was cancelled has had its turn by then
        assert {*TWENTY[:3]} <= {*ended}


def test_a_coroutine_that_swallows_its_cancellation_is_left_behind():
    stop = []

    async def search(query, k):
        while not stop:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    assert "no answer came within 0.05 s" in outcome(ask(search, timeout=0.05))
    stop.append(True)
    ask(lambda query: asyncio.sleep(0.05, []))  # in which what is left ends


def test_an_async_retriever_that_blocks_its_loop_fails_once_it_comes_back():
    async def search(query, k):
        threading.Event().wait(0.1)
        return [query]

    assert "no answer came within 0.05 s" in outcome(ask(search, timeout=0.05))


def test_threads_that_hang_keep_no_process_alive():
    code = (
        "import time\nfrom pytest_irmetrics import GoldenSet, evaluate\n"
        "queries = {str(n): {'d': 1} for n in range(9)}\n"
        "golden = GoldenSet.from_judgments(queries, texts={q: q for q in queries})\n"
        "found = evaluate(golden, lambda query: time.sleep(3600), timeout=0.05, concurrency=2)\n"
        "assert len(found.errors) == 5, found.errors\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_each_query_has_its_part_of_a_calls_milliseconds():
    code = (
        "import itertools, time\nclock = itertools.count(1000)\ntime.perf_counter = lambda: float(next(clock))\n"
        "from pytest_irmetrics import GoldenSet, batched, evaluate\n"
        "golden = GoldenSet.from_judgments({q: {'d': 1} for q in 'abcd'}, texts={q: q for q in 'abcd'})\n"
        "for search, expected in (lambda query: [], 1000), (batched(lambda queries: [[] for _ in queries]), 250):\n"
        "    found = evaluate(golden, search, ['latency_p50', 'latency_p95'])\n"
        "    assert found['latency_p50'] == found['latency_p95'] == expected, found\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_of_a_query_that_is_asked_several_times_the_slowest_counts(project):
    took = "0.005 if query[0] != 'r' else 0.009 if time.now < 0.02 else 0.001"
    search = f"(setattr(time := __import__('time'), 'now', time.now + ({took})), ['doc-1'])[1]"
    project.retrieve(search)
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p50", max=0.5)'])
    clock = "import sys, time, pytest\ntime.now = 0.0\ntime.perf_counter = lambda: time.now\nsys.exit(pytest.main(sys.argv[1:]))"
    options = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider", "-vv", "--ir-repeat=2"]
    done = subprocess.run(
        [sys.executable, "-c", clock, *options], cwd=project.path, capture_output=True, check=False
    )
    said = " ".join(done.stdout.decode().split())
    assert "latency_p50 is 5.0 ms, 4.5 ms above the threshold: at most 0.5 ms is allowed." in said
    assert "the worst first: golden/faq.yaml:5: refund: refund policy took 9.0 ms" in said


# Where calls are made


def test_without_options_calls_are_made_in_this_thread_and_else_not():
    def search(query, k):
        return [str(threading.get_ident())]

    assert outcome(ask(search)) == [str(threading.get_ident())]
    for options in AT_ONCE[1:]:
        assert outcome(ask(search, **options)) != [str(threading.get_ident())]


@pytest.mark.parametrize("kind", ["sync", "async", "batched", "executor"])
def test_as_many_calls_as_concurrency_says_are_in_flight_and_no_more(kind):
    """The first is answered at once; the others wait until four are there, or for ever. A task that is done is let go."""
    together, lock, flying, most = threading.Barrier(4), threading.Lock(), [], []
    tasks, alive = weakref.WeakSet(), [0]

    def search(query, k):
        with lock:
            flying.append(query)
            most.append(len(flying))
        if query != "text 0":
            together.wait(LONG)
        with lock:
            flying.remove(query)
        return [query]

    async def asearch(query, k):
        tasks.add(asyncio.current_task())
        alive.append(len(tasks))
        return await asyncio.to_thread(search, query, k)

    retriever = {"async": asearch, "batched": in_batches(search, 1)}.get(kind, search)
    executor = ThreadPoolExecutor(17) if kind == "executor" else None
    assert len(answered(ask(retriever, TWENTY[:17], concurrency=4, executor=executor))) == 17
    assert max(most) <= 4
    assert max(alive) <= 8


def test_no_more_than_five_are_asked_before_one_was_answered():
    """Five calls wait for each other; a sixth before their answers would be seen."""
    together, asked = threading.Barrier(5), []

    def search(query, k):
        asked.append(query)
        if len(asked) <= 5:
            together.wait(LONG)
            assert len(asked) == 5
            together.wait(LONG)
        return [query]

    assert len(answered(ask(search, TWENTY, concurrency=12))) == 20


def test_context_variables_are_seen():
    tenant = contextvars.ContextVar("tenant")
    tenant.set("acme")
    for options in AT_ONCE:
        for search in (lambda query, k: [tenant.get()], as_async(lambda query, k: [tenant.get()])):
            assert outcome(ask(search, **options)) == ["acme"], options


def test_threads_end_with_their_work():
    before = {*threading.enumerate()}
    ask(lambda query, k: [query], TWENTY, concurrency=4, timeout=LONG)
    in_turn = answered(ask(lambda query, k: [str(threading.get_ident())], TWENTY, timeout=LONG))
    assert len({thread for (thread,) in in_turn.values()}) == 1
    for thread in {*threading.enumerate()} - before:
        thread.join(60)
        assert not thread.is_alive()


def test_one_loop_serves_all_async_retrievers_of_a_session():
    loops = set()

    async def search(query, k):
        loops.add(asyncio.get_running_loop())
        return []

    for options in AT_ONCE:
        ask(search, **options)
    ask(looking_sync(lambda query, k: []))
    ask(lambda query, k: search(query, k))  # noqa: PLW0108 - no coroutine function
    assert len(loops) == 1


def test_what_a_client_leaves_on_the_loop_is_cancelled_and_cleans_up_in_the_end():
    code = (
        "import asyncio\nfrom pytest_irmetrics import GoldenSet, evaluate\n"
        "asyncio.set_event_loop(own := asyncio.new_event_loop())\n"
        "async def keep_alive():\n"
        "    try: await asyncio.sleep(3600)\n"
        "    finally: print(await asyncio.sleep(0, 'closed'))\n"
        "async def search(query):\n"
        "    search.left = asyncio.create_task(keep_alive())\n"
        "    return await asyncio.sleep(0, ['d'])\n"
        "golden = GoldenSet.from_judgments({'q': {'d': 1}}, texts={'q': 'q'})\n"
        "print(evaluate(golden, search, ['mrr'])['mrr'])\n"
        "assert asyncio.get_event_loop() is own\nown.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True)
    assert (done.stdout.split(), done.stderr) == ([b"1.0", b"closed"], b"")


def test_a_running_loop_is_an_error_that_names_what_to_await():
    async def search(query, k):
        return [query]

    async def cell(retriever, **options):
        with pytest.raises(
            RetrievalError, match=r"Use `await irmetrics\.acheck\(\)`.*`await asyncio\.to_thread\("
        ):
            ask(retriever, **options)

    for options in AT_ONCE:
        asyncio.run(cell(search, **options))
        asyncio.run(cell(lambda query, k: search(query, k), **options))  # noqa: PLW0108 - as above


# A stored run in place of a retriever


def recorded(golden, answers, depth=10):
    return evaluate(golden, lambda query: answers[query], ["mrr"], depth=depth).run


def test_a_recorded_run_is_scored_as_deep_as_it_is():
    run = recorded(golden_of(TWENTY[:2]), {"text 0": ["a", "judged"], "text 1": ["b"]})
    found = evaluate(golden_of(TWENTY[:2]), run, ["mrr"], depth=1)
    assert found.scores["mrr"] == {"text 0": 0.0, "text 1": 0.0}
    assert evaluate(golden_of(TWENTY[:2]), run, ["mrr"])["mrr"] == 0.25
    assert evaluate(golden_of(TWENTY[:3]), Run({"text 0": ["judged"]}), ["mrr"])["mrr"] == pytest.approx(
        1 / 3
    )


def test_importing_the_package_and_asking_one_by_one_load_no_driver():
    code = (
        "import sys\nfrom pytest_irmetrics import GoldenSet, evaluate\n"
        "golden = GoldenSet.from_judgments({'q': {'d': 1}}, texts={'q': 'q'})\n"
        "assert evaluate(golden, lambda query, k: ['d'])['mrr'] == 1\n"
        "assert not {'asyncio', 'numpy', 'pandas', 'pytest', 'anyio'} & set(sys.modules), sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert isinstance(GoldenSet, type)
