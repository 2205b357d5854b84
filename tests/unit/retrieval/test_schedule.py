"""The schedule decides which calls to make and when to stop; here no driver runs it."""

# ruff: noqa: ARG005 - retrievers take what they are given

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    Retriever,
    batched,
    retrieve,
)
from pytest_irmetrics.retrieval.call import Reply, call_retriever
from pytest_irmetrics.retrieval.schedule import schedule_calls
from tests.unit.retrieval.fakes import CountingExecutor
from tests.unit.retrieval.helpers import ONE, QUERIES, Query


def _sync(query, k):
    return [query, str(k)]


class TestSchedule:
    @staticmethod
    def replies(*calls):
        return [[Reply(call, tuple((query_id,) for query_id in call.query_ids), 1.0)] for call in calls]

    def test_asks_until_enough_is_in_flight_then_waits(self):
        schedule = schedule_calls(QUERIES, Retriever.of(_sync), RetrievalOptions(concurrency=2))
        (first,) = next(schedule)
        (second,) = schedule.send([])
        assert (first.query_ids, second.query_ids) == (("q0",), ("q1",))
        assert schedule.send([]) is None
        (third,) = schedule.send(self.replies(second))
        assert third.query_ids == ("q2",)
        assert schedule.send([]) is None

    def test_replies_may_come_in_any_order_and_all_at_once(self):
        schedule = schedule_calls(QUERIES[:3], Retriever.of(_sync), RetrievalOptions(concurrency=3))
        calls = [*next(schedule), *schedule.send([]), *schedule.send([])]
        assert schedule.send([]) is None
        with pytest.raises(StopIteration) as end:
            schedule.send(self.replies(*reversed(calls)))
        assert list(end.value.value.run) == ["q0", "q1", "q2"]

    def test_no_more_than_five_are_asked_before_one_was_answered(self):
        schedule = schedule_calls(QUERIES, Retriever.of(_sync), RetrievalOptions(concurrency=8))
        calls = [call for chunk in [next(schedule), *(schedule.send([]) for _ in range(4))] for call in chunk]
        assert len(calls) == 5
        assert schedule.send([]) is None
        assert schedule.send([[calls[0].failed("down")]]) is None
        (sixth,) = schedule.send(self.replies(calls[1]))
        assert sixth.query_ids == ("q5",)

    def test_a_call_is_plain_data(self):
        schedule = schedule_calls(
            [Query("q", "t", {"lang": "no"})], Retriever.of(lambda q, k, lang: []), RetrievalOptions(depth=3)
        )
        (call,) = next(schedule)
        assert (call.args, call.kwargs, call.repeat) == (("t", 3), {"lang": "no"}, 0)

    def test_the_driver_of_the_docstring_gets_the_result(self):
        options = RetrievalOptions(concurrency=2)

        def make_calls(chunk):
            return [call_retriever(_sync, call, options) for call in chunk]

        def drive(threads):
            schedule = schedule_calls(QUERIES, Retriever.of(_sync), options)
            futures = set()
            chunk = next(schedule)
            while True:
                if chunk is not None:
                    futures.add(threads.submit(make_calls, chunk))
                    done = set()
                else:
                    done, futures = wait(futures, return_when=FIRST_COMPLETED)
                chunk = schedule.send([future.result() for future in done])

        with ThreadPoolExecutor(2) as threads, pytest.raises(StopIteration) as end:
            drive(threads)
        assert end.value.value.run == retrieve(QUERIES, _sync).run


class TestRepeats:
    def test_each_query_is_asked_as_often_as_repeat_says(self):
        asked = []

        def search(query):
            asked.append(query)
            return [str(len(asked))]

        retrieved = retrieve(QUERIES[:2], search, RetrievalOptions(repeat=3))
        assert asked == ["text 0", "text 1"] * 3
        assert retrieved.run.answers["q0"].rankings == (("1",), ("3",), ("5",))
        assert len(retrieved.latencies["q1"]) == 3

    @pytest.mark.parametrize("options", [{"concurrency": 4}, {"timeout": 60}])
    def test_every_driver_keeps_all_repeats(self, options):
        lock, asked = threading.Lock(), {}

        def search(query):
            with lock:
                asked[query] = asked.get(query, 0) + 1
                return [str(asked[query])]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(repeat=3, **options))
        assert {len(answer.rankings) for answer in retrieved.run.answers.values()} == {3}

    def test_an_error_in_any_repeat_is_the_querys(self):
        asked = []

        def search(query):
            asked.append(query)
            if query == "text 1" and asked.count(query) == 2:
                raise ValueError("flaky")
            return []

        retrieved = retrieve(QUERIES[:3], search, RetrievalOptions(repeat=3))
        assert list(retrieved.errors) == ["q1"]
        assert asked.count("text 1") == 2
        assert retrieved.errors["q1"].startswith("the 2nd of 3 times: raised ValueError: flaky")
        assert "q1" not in retrieved.run
        assert "q1" not in retrieved.latencies
        assert "q0" in retrieved.run

    def test_latencies_are_milliseconds(self):
        retrieved = retrieve(ONE, lambda _query: time.sleep(0.02) or [])
        assert 20 <= retrieved.latencies["q0"][0] < 20_000

    def test_latencies_include_the_time_of_a_generator(self):
        def search(_query):
            time.sleep(0.02)
            yield "a"

        assert retrieve(ONE, search).latencies["q0"][0] >= 20


def search(query, k):
    return [query, str(k), str(os.getpid())]


def search_all(queries, k):
    return [[query, str(k)] for query in queries]


class TestChunksOfCalls:
    @staticmethod
    def replies(chunk, milliseconds):
        return [Reply(call, tuple(("d",) for _ in call.query_ids), milliseconds) for call in chunk]

    def schedule(self, retriever=search, queries=1000, **options):
        calls = [Query(f"q{number}") for number in range(queries)]
        options = RetrievalOptions(executor=CountingExecutor(), **options)
        return schedule_calls(calls, Retriever.of(retriever), options)

    @pytest.mark.parametrize(
        ("milliseconds", "calls"), [(500, 1), (200, 1), (99, 2), (10, 20), (1, 200), (0, 995)]
    )
    def test_a_chunk_has_as_many_calls_as_take_a_fifth_of_a_second(self, milliseconds, calls):
        schedule = self.schedule()
        first = [next(schedule), *(schedule.send([]) for _ in range(4))]
        assert [len(chunk) for chunk in first] == [1] * 5
        assert schedule.send([]) is None
        assert len(schedule.send([self.replies(first[0], milliseconds)])) == calls

    def test_a_slow_first_call_is_outweighed_by_later_ones(self):
        schedule = self.schedule()
        chunk = next(schedule)
        assert [len(schedule.send([])) for _ in range(4)] == [1] * 4
        chunk = schedule.send([self.replies(chunk, 6000)])
        for _ in range(20):
            chunk = schedule.send([self.replies(chunk, 10)])
        assert len(chunk) == 19

    def test_a_batch_counts_as_its_queries(self):
        schedule = self.schedule(batched(search_all, size=10))
        chunk = next(schedule)
        assert len(schedule.send([self.replies(chunk, 5)])) == 4

    def test_failed_calls_do_not_change_the_size(self):
        schedule = self.schedule()
        first = [next(schedule), *(schedule.send([]) for _ in range(4))]
        assert schedule.send([[call.failed("down") for call in first[0]]]) is None
        assert len(schedule.send([self.replies(first[1], 100)])) == 2

    def test_many_chunks_wait_at_the_executor_unless_concurrency_limits_them(self):
        for options, most in (({}, 256), ({"concurrency": 7}, 7)):
            schedule = self.schedule(**options)
            chunk = schedule.send(None)
            chunk = schedule.send([self.replies(chunk, 1000)])
            count = 0
            while chunk is not None:
                count += 1
                chunk = schedule.send([])
            assert count == most

    def test_without_an_executor_a_chunk_has_one_call(self):
        schedule = schedule_calls(QUERIES, Retriever.of(search), RetrievalOptions(concurrency=4))
        chunk = next(schedule)
        assert len(schedule.send([self.replies(chunk, 0.001)])) == 1

    def test_answers_come_back_in_the_order_of_the_queries(self):
        executor = CountingExecutor()
        queries = [Query(f"q{number}", f"text {number}") for number in range(5000)]
        retrieved = retrieve(queries, search, RetrievalOptions(executor=executor, repeat=2))
        assert list(retrieved.run) == [query.id for query in queries]
        assert retrieved.run["q4999"][:2] == ("text 4999", "10")
        assert sum(executor.chunks) == 10_000
        assert len(executor.chunks) < 100
