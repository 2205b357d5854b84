"""The schedule decides what to ask next and when to stop; here nobody asks."""

# ruff: noqa: ARG005 - retrievers take what they are given

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Executor, Future

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    Retriever,
    batched,
    retrieve,
)
from pytest_irmetrics.retrieval.call import Reply
from pytest_irmetrics.retrieval.schedule import schedule_calls
from tests.unit.retrieval.helpers import ONE, QUERIES, Query


def _sync(query, k):
    return [query, str(k)]


class TestConversation:
    """The generator alone, with nobody asking."""

    @staticmethod
    def replies(*asks):
        return [[Reply(ask, tuple((query_id,) for query_id in ask.query_ids), 1.0)] for ask in asks]

    def test_asks_until_enough_is_in_flight_then_waits(self):
        talk = schedule_calls(QUERIES, Retriever.of(_sync), RetrievalOptions(concurrency=2))
        (first,) = next(talk)
        (second,) = talk.send([])
        assert (first.query_ids, second.query_ids) == (("q0",), ("q1",))
        assert talk.send([]) is None
        (third,) = talk.send(self.replies(second))
        assert third.query_ids == ("q2",)
        assert talk.send([]) is None

    def test_replies_may_come_in_any_order_and_all_at_once(self):
        talk = schedule_calls(QUERIES[:3], Retriever.of(_sync), RetrievalOptions(concurrency=3))
        asks = [*next(talk), *talk.send([]), *talk.send([])]
        assert talk.send([]) is None
        with pytest.raises(StopIteration) as end:
            talk.send(self.replies(*reversed(asks)))
        assert list(end.value.value.run) == ["q0", "q1", "q2"]

    def test_no_more_than_five_are_asked_before_one_was_answered(self):
        talk = schedule_calls(QUERIES, Retriever.of(_sync), RetrievalOptions(concurrency=8))
        asks = [ask for chunk in [next(talk), *(talk.send([]) for _ in range(4))] for ask in chunk]
        assert len(asks) == 5
        assert talk.send([]) is None
        assert talk.send([[asks[0].failed("down")]]) is None
        (sixth,) = talk.send(self.replies(asks[1]))
        assert sixth.query_ids == ("q5",)

    def test_carries_what_to_call_with_as_plain_data(self):
        talk = schedule_calls(
            [Query("q", "t", {"lang": "no"})], Retriever.of(lambda q, k, lang: []), RetrievalOptions(depth=3)
        )
        (ask,) = next(talk)
        assert (ask.args, ask.kwargs, ask.repeat) == (("t", 3), {"lang": "no"}, 0)


class TestRepeats:
    def test_each_query_is_asked_as_often_as_wanted(self):
        asked = []

        def search(query):
            asked.append(query)
            return [str(len(asked))]

        retrieved = retrieve(QUERIES[:2], search, RetrievalOptions(repeat=3))
        assert asked == ["text 0", "text 1"] * 3
        assert retrieved.run.answers["q0"].rankings == (("1",), ("3",), ("5",))
        assert len(retrieved.latencies["q1"]) == 3

    @pytest.mark.parametrize("options", [{"concurrency": 4}, {"timeout": 60}])
    def test_repeats_are_in_order_whoever_asks(self, options):
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

    def test_what_a_generator_takes_is_counted(self):
        def search(_query):
            time.sleep(0.02)
            yield "a"

        assert retrieve(ONE, search).latencies["q0"][0] >= 20


def search(query, k):
    return [query, str(k), str(os.getpid())]


def search_all(queries, k):
    return [[query, str(k)] for query in queries]


class Counting(Executor):
    """Does the work at once, and notes how many calls came in one go."""

    def __init__(self):
        self.chunks = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        self.chunks.append(len(future.result()))
        return future


class TestChunks:
    @staticmethod
    def replies(chunk, milliseconds):
        return [Reply(ask, tuple(("d",) for _ in ask.query_ids), milliseconds) for ask in chunk]

    def talk(self, retriever=search, queries=1000, **options):
        asks = [Query(f"q{number}") for number in range(queries)]
        options = RetrievalOptions(executor=Counting(), **options)
        return schedule_calls(asks, Retriever.of(retriever), options)

    @pytest.mark.parametrize(
        ("milliseconds", "calls"), [(500, 1), (200, 1), (99, 2), (10, 20), (1, 200), (0, 995)]
    )
    def test_have_as_many_calls_as_take_a_fifth_of_a_second(self, milliseconds, calls):
        talk = self.talk()
        first = [next(talk), *(talk.send([]) for _ in range(4))]
        assert [len(chunk) for chunk in first] == [1] * 5
        assert talk.send([]) is None
        assert len(talk.send([self.replies(first[0], milliseconds)])) == calls

    def test_a_first_call_that_loads_a_model_is_forgotten_by_and_by(self):
        talk = self.talk()
        chunk = next(talk)
        assert [len(talk.send([])) for _ in range(4)] == [1] * 4
        chunk = talk.send([self.replies(chunk, 6000)])
        for _ in range(20):
            chunk = talk.send([self.replies(chunk, 10)])
        assert len(chunk) == 19

    def test_of_batches_count_their_queries(self):
        talk = self.talk(batched(search_all, size=10))
        chunk = next(talk)
        assert len(talk.send([self.replies(chunk, 5)])) == 4

    def test_that_failed_tell_nothing_about_the_pace(self):
        talk = self.talk()
        first = [next(talk), *(talk.send([]) for _ in range(4))]
        assert talk.send([[ask.failed("down") for ask in first[0]]]) is None
        assert len(talk.send([self.replies(first[1], 100)])) == 2

    def test_wait_at_the_executor_unless_concurrency_says_how_many(self):
        for options, most in (({}, 256), ({"concurrency": 7}, 7)):
            talk = self.talk(**options)
            chunk = talk.send(None)
            chunk = talk.send([self.replies(chunk, 1000)])
            count = 0
            while chunk is not None:
                count += 1
                chunk = talk.send([])
            assert count == most

    def test_are_for_executors_alone(self):
        talk = schedule_calls(QUERIES, Retriever.of(search), RetrievalOptions(concurrency=4))
        chunk = next(talk)
        assert len(talk.send([self.replies(chunk, 0.001)])) == 1

    def test_go_out_and_come_back_in_order(self):
        executor = Counting()
        queries = [Query(f"q{number}", f"text {number}") for number in range(5000)]
        retrieved = retrieve(queries, search, RetrievalOptions(executor=executor, repeat=2))
        assert list(retrieved.run) == [query.id for query in queries]
        assert retrieved.run["q4999"][:2] == ("text 4999", "10")
        assert sum(executor.chunks) == 10_000
        assert len(executor.chunks) < 100
