"""A batched retriever answers several queries in one call."""

# ruff: noqa: ARG001, ARG005 - retrievers take what they are given

from __future__ import annotations

import time

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    batched,
    retrieve,
)
from tests.unit.retrieval.fakes import Response, hits
from tests.unit.retrieval.helpers import QUERIES, Query, failing

numpy = pytest.importorskip("numpy")


class TestBatches:
    def test_queries_with_equal_params_are_asked_together(self):
        queries = [Query(f"q{n}", f"t{n}", {"x": value}) for n, value in enumerate([1, True, 1, 1.0, 1])]
        calls = []

        def search(texts, k, x):
            calls.append((texts, k, x))
            return [[text] for text in texts]

        retrieved = retrieve(queries, batched(search, size=2))
        assert calls == [(["t0", "t2"], 10, 1), (["t4"], 10, 1), (["t1"], 10, True), (["t3"], 10, 1.0)]
        assert [type(call[2]) for call in calls] == [int, int, bool, float]
        assert list(retrieved.run) == ["q0", "q1", "q2", "q3", "q4"]
        assert retrieved.run["q3"] == ("t3",)
        assert all(len(times) == 1 for times in retrieved.latencies.values())

    def test_each_query_has_its_part_of_the_calls_milliseconds(self):
        retrieved = retrieve(
            QUERIES[:2], batched(lambda texts: time.sleep(0.02) or [[] for _ in texts], size=2)
        )
        first, second = (times for (times,) in retrieved.latencies.values())
        assert first == second
        assert 10 <= first < 10_000

    def test_a_call_has_at_most_so_many_queries(self):
        sizes = []

        def search(texts, k):
            sizes.append(len(texts))
            return [[] for _ in texts]

        queries = [Query(f"q{number}") for number in range(130)]
        retrieve(queries, batched(search))
        retrieve(queries, batched(search, 100))
        assert sizes == [64, 64, 2, 100, 30]

    def test_results_may_be_an_iterator_or_an_array_and_of_any_shape(self):
        assert len(retrieve(QUERIES, batched(lambda texts, k: ([text] for text in texts))).run) == 8
        retrieved = retrieve(QUERIES, batched(lambda texts, k: numpy.arange(len(texts) * 2).reshape(-1, 2)))
        assert retrieved.run["q1"] == ("2", "3")
        retrieved = retrieve(QUERIES, batched(lambda texts, k: [{text: 1.0} for text in texts]))
        assert retrieved.run["q1"] == ("text 1",)

    def test_one_bad_result_is_one_bad_query(self):
        def bad():
            yield "a"
            raise ValueError("midway")

        answers = [["a"], None, bad(), ["b", "b"], *[["a"]] * 4]
        retrieved = retrieve(QUERIES, batched(lambda texts: answers))
        assert list(retrieved.errors) == ["q1", "q2", "q3"]
        assert "came back: None" in retrieved.errors["q1"]
        assert "midway" in retrieved.errors["q2"]
        assert "'b' came back at rank 1" in retrieved.errors["q3"]

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (
                None,
                "came back: None. A batched retriever returns a list with one result for each of the queries (8)",
            ),
            ([["a"]], "1 result came back for 8 queries."),
            (
                {"text 0": ["a"]},
                "in their order: of a mapping by query `[found[query] for query in queries]`.",
            ),
            ([], "0 results came back for 8 queries."),
            ([["a"]] * 9, "more than 8 results came back for 8 queries."),
            (iter(lambda: ["a"], None), "more than 8 results came back"),
            ("texttext", "came back: str 'texttext'"),
            ({"text 0": ["a"]}, "came back: dict"),
            ({"a"}, "came back: set"),
            (5, "came back: int 5"),
            (Response(hits("a")), "came back: "),
        ],
    )
    def test_an_answer_without_one_result_for_each_query_is_explained(self, answer, words):
        retrieved = retrieve(QUERIES, batched(lambda texts: answer))
        assert len(retrieved.errors) == 8
        assert words in retrieved.errors["q7"]

    def test_a_batch_that_fails_fails_its_queries_and_the_first_ends_the_set(self):
        retrieved = retrieve(QUERIES, batched(failing(ValueError("down")), 6))
        assert list(retrieved.errors) == ["q0", "q1", "q2", "q3", "q4", "q5"]
        assert retrieved.errors["q0"].startswith(
            "the call for 6 queries raised ValueError: down (tests/unit/"
        )
        assert retrieved.stopped

    def test_a_query_that_failed_is_not_asked_again(self):
        calls = []

        def search(texts):
            calls.append(texts)
            return [None if text == "text 1" else [text] for text in texts]

        retrieve(QUERIES[:3], batched(search), RetrievalOptions(repeat=2))
        assert calls == [["text 0", "text 1", "text 2"], ["text 0", "text 2"]]

    def test_a_batch_without_texts_is_explained(self):
        retrieved = retrieve([Query("a"), Query("b", None)], batched(lambda texts: [[] for _ in texts]))
        assert list(retrieved.errors) == ["a", "b"]

    @pytest.mark.parametrize("size", [0, -1, True, 2.0, "8"])
    def test_a_size_that_means_nothing_is_refused(self, size):
        with pytest.raises(ValueError, match="whole number"):
            batched(len, size)

    def test_what_is_no_function_is_refused(self):
        with pytest.raises(TypeError, match="batched needs a function"):
            batched([["a"]])

    def test_a_batched_retriever_can_be_called_like_its_function(self):
        assert batched(lambda texts, k, x: (texts, k, x))(["a"], 3, x=1) == (["a"], 3, 1)
