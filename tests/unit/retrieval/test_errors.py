"""What a retriever raises is an error of its query, with its place and its cure."""

from __future__ import annotations

import asyncio
import functools
import os
import sqlite3
import sys
import unittest

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    aretrieve,
    retrieve,
)
from tests.unit.retrieval.helpers import ALL_OPTIONS, ONE, QUERIES, Query, failing, later, problem


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (ValueError("no\n  index"), "raised ValueError: no index (tests/unit/retrieval/helpers.py:"),
            (StopIteration(3), "raised StopIteration: 3 ("),
            (StopAsyncIteration(), "raised StopAsyncIteration ("),
            (RecursionError("deep"), "raised RecursionError: deep"),
            (MemoryError(), "raised MemoryError ("),
            (KeyError("\x1b[31m"), r"raised KeyError: '\x1b[31m' ("),
            (OSError("\u202e\ud800"), "raised OSError: \\u202e\\ud800 ("),
            (sqlite3.OperationalError("locked"), "raised sqlite3.OperationalError: locked ("),
            (AssertionError("x" * 1000), "x… ("),
        ],
    )
    def test_an_exception_is_explained_with_its_place(self, error, words):
        said = problem(failing(error))
        assert words in said
        assert said.isprintable()
        assert len(said) < 500

    def test_real_recursion_is_explained(self):
        def search(query):
            return search(query)

        assert "raised RecursionError" in problem(search)

    def test_the_place_is_the_users_innermost_line_not_a_librarys(self):
        import json

        def search(_query):
            return json.loads("{")  # here

        line = search.__code__.co_firstlineno + 1
        assert f"(tests/unit/retrieval/test_errors.py:{line})" in problem(search)

    def test_a_place_in_library_code_is_named_where_there_is_no_other(self):
        import json

        said = problem(json.loads, Query("q", "{"))
        assert "raised json.decoder.JSONDecodeError" in said
        assert "decoder.py:" in said
        said = problem(functools.partial(int, base=99), Query("q", "5"))
        assert "raised TypeError: int() " in said
        assert ".py" not in said

    def test_a_place_is_named_also_where_the_working_folder_is_gone(self, tmp_path, monkeypatch):
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        assert f"({failing.__code__.co_filename}:" in problem(failing(ValueError()))

    def test_a_client_of_another_loop_is_explained_in_the_same_words_for_each_query(self):
        clients = {}

        async def connect():
            clients["lock"] = asyncio.Lock()
            await clients["lock"].acquire()
            await asyncio.wait([asyncio.ensure_future(clients["lock"].acquire())], timeout=0.001)

        loop = asyncio.new_event_loop()
        loop.run_until_complete(connect())

        async def future(_query):
            await loop.create_future()

        async def lock(_query):
            await clients["lock"].acquire()

        async def closed(_query):
            loop.call_soon(print)

        for options in ({}, {"concurrency": 2}):
            said = retrieve(QUERIES[:2], future, RetrievalOptions(**options)).errors
            assert said["q0"] == said["q1"]
            assert said["q0"].startswith("raised RuntimeError: attached to a different loop (tests/unit/")
            assert said["q0"].endswith("with pytest-asyncio the same loop_scope.")
        assert "Its client belongs to another event loop." in problem(lock)
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        assert "raised RuntimeError: Event loop is closed" in problem(closed)
        assert "Its client belongs to another event loop." in problem(closed)

    def test_a_retriever_that_starts_a_loop_of_its_own_is_told_to_be_async_itself(self):
        def search(query):
            started = later([query])
            try:
                return asyncio.run(started)
            finally:
                started.close()

        async def test():
            return await aretrieve(ONE, search)

        assert asyncio.run(test()).errors["q0"].endswith("awaits it, and check() too.")

        def running(_query):
            return asyncio.get_running_loop()

        assert problem(running).endswith("awaits it, and check() too.")

        def in_thread(_query):
            return asyncio.get_event_loop_policy().get_event_loop()

        if sys.version_info < (3, 14):
            assert problem(in_thread, timeout=60).endswith("awaits it, and check() too.")

    def test_an_exception_whose_text_raises_is_explained(self):
        class BrokenError(Exception):
            def __str__(self):
                raise RuntimeError

        assert "BrokenError (tests" in problem(failing(BrokenError()))

    def test_a_generator_that_raises_midway_is_an_error(self):
        def search(_query):
            yield "a"
            raise ValueError("lost the connection")

        assert "raised ValueError: lost the connection" in problem(search)

    def test_pytest_exit_and_unittest_skips_pass_through(self):
        for outcome in (pytest.exit.Exception, unittest.SkipTest):
            for options in ALL_OPTIONS:
                with pytest.raises(outcome, match="as it is"):
                    retrieve(QUERIES, failing(outcome("as it is")), RetrievalOptions(**options))
                with pytest.raises(outcome, match="as it is"):
                    asyncio.run(aretrieve(QUERIES, failing(outcome("as it is")), RetrievalOptions(**options)))

    @pytest.mark.parametrize(
        "options", [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 2, "timeout": 60}]
    )
    @pytest.mark.parametrize("kind", ["sync", "async", "lambda"])
    def test_outcomes_of_pytest_and_interrupts_pass_through(self, options, kind):
        for outcome in (
            pytest.skip.Exception,
            pytest.fail.Exception,
            pytest.xfail.Exception,
            SystemExit,
            KeyboardInterrupt,
        ):
            sync = failing(outcome("as it is"))

            async def search(query, k, sync=sync):
                await asyncio.sleep(0)
                return sync(query, k)

            retriever = {
                "sync": sync,
                "async": search,
                "lambda": lambda query, k, search=search: search(query, k),
            }[kind]
            with pytest.raises(outcome, match="as it is"):
                retrieve(QUERIES, retriever, RetrievalOptions(**options))
            assert retrieve(ONE, lambda _query: later(["a"])).run["q0"] == ("a",)

    def test_one_query_that_fails_leaves_the_others(self):
        def search(query):
            if query == "text 3":
                raise ValueError("three")
            return [query]

        retrieved = retrieve(QUERIES, search)
        assert list(retrieved.errors) == ["q3"]
        assert list(retrieved.run) == ["q0", "q1", "q2", "q4", "q5", "q6", "q7"]
        assert not retrieved.stopped

    @pytest.mark.parametrize("concurrency", [1, 3, 8])
    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_five_errors_from_the_start_end_the_set(self, concurrency, kind):
        asked = []

        def search(query):
            asked.append(query)
            raise ConnectionError("refused")

        async def asearch(query):
            await asyncio.sleep(0.001)
            search(query)

        retriever = {"sync": search, "async": asearch}[kind]
        retrieved = retrieve(QUERIES, retriever, RetrievalOptions(concurrency=concurrency))
        assert retrieved.stopped
        assert list(retrieved.errors) == ["q0", "q1", "q2", "q3", "q4"]
        assert sorted(asked) == ["text 0", "text 1", "text 2", "text 3", "text 4"]

    @pytest.mark.parametrize("good", [0, 3, 4])
    def test_one_answer_among_the_first_five_and_all_are_asked(self, good):
        def search(query):
            if query == f"text {good}":
                return []
            raise ConnectionError("refused")

        retrieved = retrieve(QUERIES, search)
        assert not retrieved.stopped
        assert len(retrieved.errors) == 7

    def test_a_set_of_five_that_all_fail_was_not_stopped(self):
        retrieved = retrieve(QUERIES[:5], failing(ValueError()))
        assert len(retrieved.errors) == 5
        assert not retrieved.stopped

    def test_params_that_no_query_can_be_called_with_end_the_set_too(self):
        queries = [Query(f"q{number}", params={"x": 1}) for number in range(9)]
        retrieved = retrieve(queries, lambda _query: [])
        assert retrieved.stopped
        assert len(retrieved.errors) == 5


@pytest.mark.parametrize("installed", ["site-packages", "dist-packages"])
def test_the_place_of_an_error_is_in_the_users_code_and_not_in_an_installed_package(installed):
    code = compile(
        "def find(query):\n    raise KeyError(query)\n", f"lib{os.sep}{installed}{os.sep}client.py", "exec"
    )
    library = {}
    exec(code, library)
    text = problem(lambda query, _k: library["find"](query))
    assert "test_errors.py:" in text
    assert "client.py" not in text
