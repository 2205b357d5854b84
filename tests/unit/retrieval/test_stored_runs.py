"""A stored run answers in place of a retriever, and shares memory with what is answered anew."""

# ruff: noqa: ARG005 - retrievers take what they are given

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest.mock import ANY

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    aretrieve,
    retrieve,
)
from pytest_irmetrics.run import Answer, Run
from tests.unit.retrieval.helpers import ONE, QUERIES, Query, later, problem

STORED = Run({"q0": ["first", "second", "third"], "q1": ["first"]})


def anew(ids):
    """Make text of its own of each id, as an engine's client does."""
    return ids.split()


def _in_process(query, k):
    return [query, str(k)]


class TestStoredRankings:
    """A run over the same queries, such as a baseline: what is the same again is taken from it."""

    @pytest.fixture(params=["one by one", "threads", "an executor", "async one by one", "async", "twice"])
    def run(self, request):
        """Ask all queries of a retriever that always gives this answer, in one of the ways of asking."""

        def run(answer):
            options = RetrievalOptions(depth=3, stored=STORED)
            search = lambda query, k: answer  # noqa: E731
            if request.param == "threads":
                return retrieve(QUERIES, search, replace(options, concurrency=3)).run
            if request.param == "an executor":
                with ThreadPoolExecutor(2) as executor:
                    return retrieve(QUERIES, search, replace(options, executor=executor)).run
            if request.param == "async one by one":
                return retrieve(QUERIES, lambda query, k: later(answer), options).run
            if request.param == "async":
                return asyncio.run(aretrieve(QUERIES, search, replace(options, concurrency=3))).run
            if request.param == "twice":
                return retrieve(QUERIES, search, replace(options, repeat=2)).run
            return retrieve(QUERIES, search, options).run

        return run

    def test_the_same_ranking_is_in_memory_once(self, run):
        asked = run(anew("first second third"))
        assert all(ranking is STORED["q0"] for ranking in asked.answers["q0"].rankings)
        assert asked["q1"] == asked["q7"] == STORED["q0"]

    def test_another_ranking_has_its_ids_in_memory_once(self, run):
        asked = run(anew("third first new"))
        assert asked["q0"] == asked["q7"] == ("third", "first", "new")
        assert asked["q0"][0] is STORED["q0"][2]
        assert asked["q0"][1] is asked["q1"][1] is STORED["q0"][0]

    @pytest.mark.parametrize("answer", [["first", "second"], ["first", "second", "third", "fourth"][:2], []])
    def test_a_part_of_a_ranking_is_another_ranking(self, run, answer):
        assert list(run(answer)["q0"]) == answer

    def test_an_object_that_equals_anything_is_not_the_same(self):
        options = RetrievalOptions(stored=STORED)
        answer = [ANY, ANY, ANY]
        assert "No id can be read from it" in retrieve(ONE, lambda q: answer, options).errors["q0"]

    def test_duplicates_and_empty_ids_are_still_found(self):
        options = RetrievalOptions(stored=STORED)
        for answer, words in ((["first", "first"], "again at rank 2"), (["first", ""], "Its id is empty")):
            assert words in retrieve(ONE, lambda q, a=answer: a, options).errors["q0"]

    def test_a_stored_run_is_not_sent_to_processes(self):
        pickled = []

        class Executor(ThreadPoolExecutor):
            def submit(self, work):
                pickled.append(pickle.dumps(work))
                return super().submit(work)

        for stored in (None, STORED):
            with Executor(1) as executor:
                retrieve(ONE, _in_process, RetrievalOptions(executor=executor, stored=stored))
        assert len(pickled[0]) == len(pickled[1])


class TestReplay:
    def test_an_unknown_query_has_an_empty_answer(self):
        retrieved = retrieve(
            QUERIES[:2], Run({"q0": ["a", "b", "c"], "q9": ["x"]}), RetrievalOptions(depth=2)
        )
        assert retrieved.run["q0"] == ("a", "b")
        assert retrieved.run["q1"] == ()
        assert "q9" not in retrieved.run
        assert retrieved.run.depth == 2
        assert not retrieved.latencies
        assert not retrieved.errors
        assert retrieved.missing == ("q1",)

    def test_an_unknown_query_of_a_recorded_run_is_an_error(self):
        run = Run.of({"q0": Answer((("a",),)), "q9": Answer((("b",),))}, depth=10)
        retrieved = retrieve(QUERIES[:2], run)
        assert retrieved.errors == {"q1": "the stored run was not asked this query. Store the run anew."}
        assert list(retrieved.run) == ["q0"]
        assert retrieved.missing == ()

    @pytest.mark.parametrize("depth", [None, 10])
    def test_a_run_of_other_queries_is_refused(self, depth):
        run = Run.of({f"x{n}": Answer((("a",),)) for n in range(4)}, depth=depth)
        wrong = (
            r"no query that is asked here: it has 'x0', 'x1', 'x2' and \d+ more, and asked is 'q0', 'q1'\."
        )
        with pytest.raises(RetrievalError, match=wrong):
            retrieve(QUERIES[:2], run)
        assert retrieve([], run).run.answers == {}

    def test_one_query_alone_may_have_had_an_empty_answer(self):
        assert retrieve(ONE, Run({"q9": ["a"]})).run["q0"] == ()
        with pytest.raises(RetrievalError, match="it has no query, and asked is 'q0'"):
            retrieve(ONE, Run.of({}, depth=10))

    def test_a_run_that_is_not_as_deep_as_asked_for_is_refused(self):
        run = Run.of({"q0": Answer((("a", "b"),))}, depth=5)
        wrong = r"asked for 5 results a query, and 10 are asked for here .* or ask for 5\."
        with pytest.raises(RetrievalError, match=wrong):
            retrieve(ONE, run, RetrievalOptions(depth=10))
        assert retrieve(ONE, run, RetrievalOptions(depth=1)).run["q0"] == ("a",)

    def test_all_repeats_are_answered(self):
        run = Run.of({"q0": Answer((("a",), ("b",)))})
        assert retrieve(ONE, run).run.answers["q0"].rankings == (("a",), ("b",))

    def test_queries_need_no_texts(self):
        queries = [Query("q0", None, {"lang": "no"})]
        answer = retrieve(queries, Run({"q0": ["a"]})).run.answers["q0"]
        assert answer == Answer((("a",),), text=None, params={"lang": "no"})
        assert asyncio.run(aretrieve(queries, Run({"q0": ["a"]}))).run["q0"] == ("a",)

    def test_another_text_or_other_params_are_an_error(self):
        run = Run.of({"q0": Answer((("a",),), text="text 0", params={"lang": "no"})})
        assert "answers another text, 'text 0'" in problem(run, Query("q0", "reworded", {"lang": "no"}))
        assert "answers other params, dict {'lang': 'no'}" in problem(run, Query("q0", "text 0"))
        assert retrieve([Query("q0", "text 0", {"lang": "no"})], run).run["q0"] == ("a",)
