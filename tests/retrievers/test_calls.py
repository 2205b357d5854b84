"""A retriever is called as its signature asks for, and what cannot be called is explained."""

# ruff: noqa: ARG001, ARG005 - retrievers take what they are given
from __future__ import annotations

import functools
import json
import time
from pathlib import Path
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest

from pytest_irmetrics import GoldenSet, RetrievalError, batched, evaluate
from tests.retrievers.shapes import FAULTS, Document, Hostile, rows, value
from tests.retrievers.ways import WAYS, answered, as_async, ask, outcome

CALLS = [(*eval(given), eval(expected)) for given, expected in rows(Path(__file__).with_name("calls.txt"))]


@pytest.fixture
def golden(tmp_path):
    """Make a golden set with queries of these params, each with the text `text`."""

    def golden(*params):
        queries = [
            {"id": f"q{n}", "query": "text", "relevant": ["d"], "params": of} for n, of in enumerate(params)
        ]
        path = tmp_path / "golden.yaml"
        path.write_text(json.dumps({"queries": queries}), encoding="utf-8")
        return GoldenSet.load(path)

    return golden


def search_of(signature):
    """A function of this signature, and the calls that were made of it."""
    scope = {"HOSTILE": Hostile()}
    exec(f"def search({signature}): return ['d']", scope)
    calls = []

    @functools.wraps(scope["search"])
    def recorded(*args, **kwargs):
        calls.append((args, kwargs))
        return scope["search"](*args, **kwargs)

    recorded.__name__ = "\nsearch"
    return recorded, calls


@pytest.mark.parametrize(("signature", "params", "expected"), CALLS)
def test_text_depth_and_params_go_where_the_signature_says(golden, signature, params, expected):
    search, calls = search_of(signature)
    errors = evaluate(golden(params), search, ["mrr"]).errors
    if isinstance(expected, str):
        assert expected in errors["q0"]
        assert "params as keyword arguments" in errors["q0"].splitlines()[0]
        assert not calls
        return
    several = batched(functools.wraps(search)(lambda *args, **kwargs: [search(*args, **kwargs)]))
    assert not {**errors, **evaluate(golden(params), several, ["mrr"]).errors}
    args, kwargs = expected
    in_list = (["text"], *args[1:]) if args else args
    in_list = (in_list, {name: ["text"] if value == "text" else value for name, value in kwargs.items()})
    assert calls == [(args, kwargs), in_list]


def test_each_query_is_called_as_its_own_params_ask_for(golden):
    def search(query, k=0, lang="", size=0):
        return [f"{query} {k} {lang} {size}"]

    asked = [{}, {"lang": "no"}, {"k": 3}, {"lang": "no", "k": 3}, {"size": 4}, {}, {"x": 1}]
    found = evaluate(golden(*asked), search, ["mrr"])
    assert [*answered(found).values()] == [
        *(["text 10  0"], ["text 10 no 0"], ["text 3  10"]),
        *(["text 3 no 10"], ["text 10  4"], ["text 10  0"]),
    ]
    assert list(found.errors) == ["q6"]


def test_params_that_no_query_can_be_called_with_end_the_set(golden):
    found = evaluate(golden(*[{"x": 1}] * 9), lambda query: [], ["mrr"])
    assert list(found.errors) == ["q0", "q1", "q2", "q3", "q4"]


def test_a_retriever_may_change_its_params(golden):
    def search(query, k, filters):
        filters.append("b")
        return filters

    found = evaluate(golden({"filters": ["a"]}), search, ["mrr"], repeat=2).run
    assert found.answers["q0"].rankings == (("a", "b"),) * 2
    assert found.answers["q0"].params == {"filters": ["a"]}


class Engine:
    def search(self, query, k):
        return [query, str(k)]

    def __call__(self, query, top_k=3):
        return self.search(query, top_k)

    @classmethod
    def of_class(cls, query, k):
        return [query, str(k)]

    @staticmethod
    def static(query, k):
        return [query, str(k)]

    async def later(self, query, k):
        return self.search(query, k)


class AsyncEngine:
    async def __call__(self, query, k):
        return [query, str(k)]


class Unreadable:
    __signature__ = "nonsense"

    def __call__(self, query, k):
        return [query, str(k)]


class Raising(Unreadable):
    @property
    def __signature__(self):
        raise ZeroDivisionError


def with_index(index, query, k):
    return [query, str(k)]


CALLABLES = {
    "object": Engine(),
    "method": Engine().search,
    "class method": Engine.of_class,
    "static method": Engine.static,
    "partial": functools.partial(with_index, "docs"),
    "partial by name": functools.partial(with_index, index="docs"),
    "partial with a depth": functools.partial(with_index, "docs", k=3),
    "partial of an object": functools.partial(Engine()),
    "async method": Engine().later,
    "async object": AsyncEngine(),
    "async partial": functools.partial(functools.partial(Engine().later), k=3),
    "unreadable": Unreadable(),
    "raising": Raising(),
    "mock": Mock(side_effect=lambda query, k: [query, str(k)]),
    "magic mock": MagicMock(side_effect=lambda query, k: [query, str(k)]),
    "async mock": AsyncMock(side_effect=lambda query, k: [query, str(k)]),
}


@pytest.mark.parametrize("kind", CALLABLES)
def test_whatever_can_be_called_is_called_with_text_and_depth(kind):
    for options in ({}, {"timeout": 60}, {"concurrency": 3}):
        assert outcome(ask(CALLABLES[kind], **options)) == ["text 0", "10"], options


@pytest.mark.parametrize(
    ("retriever", "words"),
    [
        *(
            (value, "Give a callable of (query, k)")
            for value in (None, 5, ["a"], object(), Document(answer=len))
        ),
        (Document(as_retriever=list), "It has as_retriever(): give what that returns."),
        ("runs/best.trec", "Give a callable of (query, k)"),
        (Document(invoke=5), "Give a callable of (query, k)"),
        (Engine, "It is a class: give an object of it."),
        (type("Chain", (), {"invoke": print}), "It is a class: give an object of it."),
    ],
)
def test_what_is_no_retriever_is_refused(retriever, words):
    with pytest.raises(RetrievalError) as error:
        ask(retriever)
    for word in ("The retriever is ", words, "LangChain", "LlamaIndex", "Haystack", "batched", "a Run"):
        assert word in str(error.value)


def test_an_object_whose_attributes_raise_is_no_retriever():
    class Hostile:
        def __getattr__(self, name):
            raise ValueError(name)

    with pytest.raises(RetrievalError, match="Give a callable"):
        ask(Hostile())


def test_an_async_fixture_that_nobody_awaited_is_explained():
    async def coroutine():
        return ask

    async def generator():
        yield ask

    for made in (coroutine, generator):
        with pytest.raises(RetrievalError, match=r"It was never awaited\. .* asyncio_mode = auto"):
            ask(made())


def test_a_query_without_text_is_explained():
    golden = GoldenSet.from_judgments({"p": {"d": 1}, "q": {"d": 1}}, texts={"p": "p"})
    for way in (lambda query: [], batched(lambda queries: [[] for _ in queries])):
        assert "there is no text to ask with" in evaluate(golden, way, ["mrr"]).errors["q"]


@pytest.mark.parametrize(
    "options",
    [
        *({"depth": depth} for depth in (0, True, 2.0)),
        *({"timeout": seconds} for seconds in (0, float("nan"), float("inf"))),
        *({"concurrency": 0}, {"repeat": -1}, {"duplicates": "ignore"}, {"doc_id": "x"}, {"executor": 3}),
    ],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} is .*Give "):
        ask(lambda query: [], **options)


def test_the_order_of_the_queries_is_kept(way):
    texts = [f"text {n}" for n in range(20)]
    assert answered(way(lambda query, k: [query], texts)) == {text: [text] for text in texts}


@pytest.mark.parametrize("kind", WAYS)
def test_every_query_is_asked_as_often_as_repeat_says(kind):
    texts = [f"text {n}" for n in range(7)]
    calls = []

    def search(query, k):
        calls.append(query)
        return [query, "b"][: 1 + calls.count(query) % 2]

    found = WAYS[kind](search, texts, repeat=3).run
    assert sorted(calls) == sorted(texts * 3)
    assert {len(found.answers[text].rankings) for text in texts} == {3}


# Several queries in one call


def test_a_batch_has_queries_of_equal_params_and_at_most_so_many(golden):
    calls = []

    def search(texts, k, x):
        calls.append((len(texts), k, x))
        return [["d"] for _ in texts]

    alike = {"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}
    of_each = golden({"x": 1}, {"x": True}, {"x": 1}, {"x": 1.0}, {"x": 1}, *alike)
    evaluate(of_each, batched(search, 2), ["mrr"])
    assert [(size, k, repr(x)) for size, k, x in calls] == [
        *((2, 10, "1"), (1, 10, "1"), (1, 10, "True"), (1, 10, "1.0"), (2, 10, "{'a': 1, 'b': 2}"))
    ]
    calls.clear()
    evaluate(golden(*[{"x": 1}] * 130), batched(search), ["mrr"])
    assert [size for size, _, _ in calls] == [64, 64, 2]


def test_an_answer_that_nobody_awaits_is_closed_where_another_batch_ends_the_set(golden):
    later = as_async(list)()
    search = batched(lambda texts, x: later if x else 1 / 0)
    evaluate(golden({"x": 1}, *[{"x": 0}] * 5), search, ["mrr"], concurrency=2)
    for _ in range(1000):  # its thread may end after the set, which does not wait for it
        if later.cr_frame is not None:
            time.sleep(0.01)
    assert later.cr_frame is None


EIGHT = [f"text {n}" for n in range(8)]


@pytest.mark.parametrize("make", [lambda function: function, as_async])
@pytest.mark.parametrize(("answer", "words"), rows(FAULTS / "refused_batches.txt"))
def test_an_answer_without_one_result_for_each_query_is_explained(answer, words, make):
    found = ask(batched(make(lambda texts: value(answer))), EIGHT)
    assert list(found.errors) == EIGHT
    assert words.strip() in found.errors["text 7"]


@pytest.mark.parametrize(
    "answer",
    [
        "([n] for n in range(8))",
        "numpy.arange(8).reshape(-1, 1)",
        "[{n: 1.0} for n in range(8)]",
        "milvus(*[[n] for n in range(8)])",
        "[chroma([str(n)]) for n in range(8)]",
        "chroma(*[[str(n)] for n in range(8)])['ids']",
    ],
)
def test_results_of_a_batch_may_have_any_shape(answer):
    found = ask(batched(lambda texts: value(answer)), EIGHT)
    assert answered(found) == {text: [str(n)] for n, text in enumerate(EIGHT)}


def test_one_list_may_be_filled_for_all_queries_of_a_batch():
    def search(texts):
        found = []
        for text in texts:
            found[:] = [text]
            yield found

    assert answered(ask(batched(search), EIGHT)) == {text: [text] for text in EIGHT}


def test_one_bad_result_is_one_bad_query():
    def bad():
        yield "a"
        raise ValueError("midway")

    found = ask(batched(lambda texts: [["a"], None, bad(), ["b", "b"], *[["a"]] * 4]), EIGHT)
    assert list(found.errors) == ["text 1", "text 2", "text 3"]
    for query, words in (
        ("text 1", "came back: None"),
        ("text 2", "midway"),
        ("text 3", "'b' came back at rank 1"),
    ):
        assert words in found.errors[query]


def test_a_query_that_failed_is_not_asked_again():
    calls = []

    def search(texts):
        calls.append(texts)
        return [None if text == "text 1" else [text] for text in texts]

    found = ask(batched(search), EIGHT[:3], repeat=2)
    assert calls == [["text 0", "text 1", "text 2"], ["text 0", "text 2"]]
    assert found.errors["text 1"].startswith("time 1 of 2: came back: None")


@pytest.mark.parametrize("size", [0, -1, True, 2.0, "8"])
def test_a_size_that_means_nothing_is_refused(size):
    with pytest.raises(ValueError, match=r"batched\(size=.*\): the size is a whole number, 1 or more\."):
        batched(len, size)


def test_what_batched_is_given_is_a_function():
    with pytest.raises(TypeError, match=r"batched needs a function of \(queries, k\), not list"):
        batched([["a"]])
