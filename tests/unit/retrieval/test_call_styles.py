"""A retriever is called as its signature asks for; what cannot be called is explained."""

# ruff: noqa: ARG001, ARG005 - retrievers take what they are given

from __future__ import annotations

import functools
from types import SimpleNamespace
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    retrieve,
)
from pytest_irmetrics.run import Answer
from tests.test_structure import fresh
from tests.unit.retrieval.fakes import HOSTILE, Document
from tests.unit.retrieval.helpers import ONE, QUERIES, Query, problem


class TestCalls:
    """How a retriever is called, by its signature."""

    @staticmethod
    def call(retriever, params=None, depth=10):
        retrieve([Query("q", "text", params or {})], retriever, RetrievalOptions(depth=depth))

    @pytest.mark.parametrize(
        ("signature", "params", "expected"),
        [
            ("query", {}, (("text",), {})),
            ("query, k", {}, (("text", 10), {})),
            ("query, depth", {}, (("text", 10), {})),
            ("query, depth, size=3", {}, (("text", 10), {})),
            ("query, k, /", {}, (("text", 10), {})),
            ("query, k=3", {}, (("text",), {"k": 10})),
            ("query, k=3, /", {}, (("text", 10), {})),
            ("query, lang='en', k=3, /", {}, (("text",), {})),
            ("query, *, k", {}, (("text",), {"k": 10})),
            ("query, lang='en', top_k=3", {}, (("text",), {"top_k": 10})),
            ("query, *, top_n=3", {}, (("text",), {"top_n": 10})),
            ("query, limit=3", {}, (("text",), {"limit": 10})),
            ("query, size=3", {}, (("text",), {"size": 10})),
            ("query, n=3", {}, (("text",), {"n": 10})),
            ("query, n_results=3", {}, (("text",), {"n_results": 10})),
            ("query, num_results=3", {}, (("text",), {"num_results": 10})),
            ("query, lang='en'", {}, (("text",), {})),
            ("query, depth=3", {}, (("text",), {})),
            ("*, query, k", {}, ((), {"query": "text", "k": 10})),
            ("*, text", {}, ((), {"text": "text"})),
            ("*args", {}, (("text", 10), {})),
            ("*args, **kwargs", {"lang": "no"}, (("text", 10), {"lang": "no"})),
            ("query, *args", {}, (("text", 10), {})),
            ("query, *args, k=3", {}, (("text",), {"k": 10})),
            ("*args, k=3", {}, (("text",), {"k": 10})),
            ("query, **kwargs", {"lang": "no"}, (("text",), {"lang": "no"})),
            ("query, k, lang", {"lang": "no"}, (("text", 10), {"lang": "no"})),
            ("query, lang, k=3", {"lang": "no"}, (("text",), {"lang": "no", "k": 10})),
            ("query, lang, k", {"lang": "no"}, (("text",), {"lang": "no", "k": 10})),
            ("query, k=3", {"k": 7}, (("text",), {"k": 7})),
            ("query, k", {"k": 7}, (("text",), {"k": 7})),
            ("k, n", {}, (("text", 10), {})),
        ],
    )
    def test_the_depth_goes_where_it_belongs(self, signature, params, expected):
        names = [
            name for name in signature.replace("/", "").replace(" ", "").split(",") if name and name != "*"
        ]
        names = [name.split("=")[0] for name in names]
        bare = [name.lstrip("*") for name in names]
        scope = {}
        exec(f"def search({signature}): seen.update(locals()); return []", {"seen": (seen := {})}, scope)
        calls = []

        @functools.wraps(scope["search"])
        def recorded(*args, **kwargs):
            calls.append((args, kwargs))
            return scope["search"](*args, **kwargs)

        self.call(recorded, params)
        assert calls == [expected]
        assert set(bare) == set(seen)

    def test_an_unreadable_signature_is_called_with_query_and_k(self):
        class Unreadable:
            __signature__ = "nonsense"

            def __call__(self, *args, **kwargs):
                self.seen = args, kwargs
                return []

        class Raising(Unreadable):
            @property
            def __signature__(self):
                raise ZeroDivisionError

        for unreadable in (Unreadable(), Raising()):
            self.call(unreadable, {"lang": "no"})
            assert unreadable.seen == (("text", 10), {"lang": "no"})

    def test_every_kind_of_callable_is_called(self):
        class Engine:
            def __init__(self):
                self.seen = []

            def search(self, query, k):
                self.seen.append((query, k))
                return []

            def __call__(self, query, top_k=3):
                return self.search(query, top_k)

            @classmethod
            def of_class(cls, query, k):
                return [query, str(k)]

            @staticmethod
            def static(query, k):
                return [query, str(k)]

        engine = Engine()
        for retriever in (engine, engine.search, functools.partial(engine.search), functools.partial(engine)):
            self.call(retriever)
        assert engine.seen == [("text", 10)] * 4
        assert retrieve(ONE, engine.of_class).run["q0"] == ("text 0", "10")
        assert retrieve(ONE, Engine.static).run["q0"] == ("text 0", "10")

    def test_partials_are_called_with_what_they_leave_open(self):
        seen = []

        def search(index, query, k):
            seen.append((index, query, k))
            return []

        self.call(functools.partial(search, "docs"))
        self.call(functools.partial(search, index="docs"))
        self.call(functools.partial(search, "docs", k=3))
        assert seen == [("docs", "text", 10)] * 3

    def test_mocks_are_called_with_query_and_k(self):
        mock = Mock(return_value=["a"])
        self.call(mock)
        mock.assert_called_once_with("text", 10)
        assert retrieve(ONE, AsyncMock(return_value=["a"])).run["q0"] == ("a",)
        assert retrieve(ONE, MagicMock(return_value=["a"])).run["q0"] == ("a",)

    def test_each_query_is_called_as_its_own_params_ask_for(self):
        def search(query, k=0, lang="", size=0):
            return [f"{query} {k} {lang} {size}"]

        asked = [
            {},
            {"lang": "no"},
            {"k": 3},
            {"lang": "no", "k": 3},
            {"size": 4},
            {},
            {"lang": "da"},
            {"x": 1},
        ]
        queries = [Query(f"q{number}", "text", params) for number, params in enumerate(asked)]
        together = retrieve(queries, search)
        for query in queries:
            alone = retrieve([query], search)
            assert together.run.answers.get(query.id) == alone.run.answers.get(query.id)
            assert together.errors.get(query.id) == alone.errors.get(query.id)
        assert list(together.errors) == ["q7"]

    def test_a_retriever_may_change_its_params(self):
        query = Query("q", "text", {"filters": ["a"]})

        def search(_query, k, filters):
            filters.append("b")
            return filters

        retrieved = retrieve([query], search, RetrievalOptions(repeat=2))
        assert retrieved.run.answers["q"] == Answer((("a", "b"),) * 2, text="text", params={"filters": ["a"]})

    @pytest.mark.parametrize(
        ("retriever", "params", "words"),
        [
            (
                lambda query, k: [],
                {"lang": "no"},
                "<lambda>(query, k) cannot be called: got an unexpected keyword argument 'lang'",
            ),
            (
                lambda query, k, lang: [],
                {},
                "<lambda>(query, k, lang) cannot be called: missing a required argument: 'lang'",
            ),
            (lambda: None, {}, "<lambda>() cannot be called: too many positional arguments"),
            (lambda query=HOSTILE: [], {"x": 1}, "<lambda>(query) cannot be called"),
            (lambda **kw: [], {}, "(**kw) cannot be called"),
        ],
    )
    def test_a_signature_that_does_not_fit_is_explained_without_a_call(self, retriever, params, words):
        said = problem(retriever, Query("q", "text", params))
        assert words in said
        assert "params as keyword arguments" in said

    @pytest.mark.parametrize("retriever", [None, 5, "search", ["a"], object(), Document(answer=len)])
    def test_what_is_no_retriever_is_refused(self, retriever):
        with pytest.raises(RetrievalError, match=r"The retriever is .*Give a callable of"):
            retrieve(ONE, retriever)

    def test_a_class_is_refused(self):
        with pytest.raises(RetrievalError, match="a class"):
            retrieve(ONE, Document)

    def test_a_query_without_text_is_explained(self):
        assert "there is no text to ask with" in problem(lambda _query: [], Query("q", None))

    def test_two_queries_of_one_id_are_refused(self):
        with pytest.raises(RetrievalError, match="two queries 'q0'"):
            retrieve([*ONE, *ONE], lambda _query: [])

    def test_the_order_of_the_queries_is_kept(self):
        assert list(retrieve(iter(QUERIES), lambda query: [query]).run) == [query.id for query in QUERIES]
        assert list(retrieve([], lambda query: [query]).run) == []

    @pytest.mark.parametrize(
        "options",
        [
            {"depth": 0},
            {"depth": True},
            {"depth": 2.0},
            {"concurrency": 0},
            {"repeat": -1},
            {"timeout": 0},
            {"timeout": float("nan")},
            {"timeout": float("inf")},
            {"duplicates": "ignore"},
            {"doc_id": "x"},
        ],
    )
    def test_options_out_of_range_are_refused(self, options):
        with pytest.raises(ValueError, match="Give "):
            RetrievalOptions(**options)


def test_an_error_names_its_query():
    assert str(RetrievalError("down", "q\n1")) == r"query 'q\n1': down"
    assert RetrievalError("down").query_id is None
    assert RetrievalError("down", "q").problem == "down"


def _sync(query, k):
    return [query, str(k)]


def test_any_object_with_id_text_and_params_is_a_query():
    assert retrieve([SimpleNamespace(id="q", text="t", params={})], _sync).run["q"] == ("t", "10")


def test_a_sync_callable_loads_no_driver_and_no_framework():
    loaded = fresh(
        "from types import SimpleNamespace as Query\n"
        "from pytest_irmetrics.retrieval import retrieve\n"
        "queries = [Query(id='q', text='t', params={})]\n"
        "assert retrieve(queries, lambda query, k: ['d']).run['q'] == ('d',)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    room = {name.rpartition(".")[2] for name in loaded if name.startswith("pytest_irmetrics.retrieval.")}
    assert not room & {
        "asyncio_driver",
        "chunks",
        "errors",
        "executor",
        "frameworks",
        "replay",
        "trio_driver",
    }
    assert not {"asyncio", "concurrent.futures", "trio"} & set(loaded)
