"""Retrievers: how they are called, what they may return, who asks, and how each thing that goes wrong is told."""

# ruff: noqa: ARG001, ARG002, ARG005 - retrievers take what they are given

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import gc
import pickle
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from array import array
from collections import OrderedDict, UserDict, deque, namedtuple
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import ANY, AsyncMock, MagicMock, Mock
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    Retriever,
    aretrieve,
    batched,
    close_session_loop,
    is_async,
    retrieve,
)
from pytest_irmetrics.retrieval.answers import AnswerError, describe, read_ranking
from pytest_irmetrics.retrieval.asyncio_driver import SessionLoop
from pytest_irmetrics.retrieval.call import Reply
from pytest_irmetrics.retrieval.schedule import schedule_calls
from pytest_irmetrics.run import Answer, Run
from tests.unit.questions import ONE, QUERIES, Query

numpy = pytest.importorskip("numpy")


class Hostile:
    def __repr__(self):
        raise RuntimeError("no repr")

    def __getattr__(self, name):
        raise ValueError("no attribute")

    def __iter__(self):
        raise ZeroDivisionError


HOSTILE = Hostile()


@pytest.fixture(autouse=True, scope="module")
def _one_loop():
    yield
    close_session_loop()


def ids(answer, **options):
    """What an answer is read as: the ids, or the problem."""
    retrieved = retrieve(ONE, lambda _query, _k: answer, RetrievalOptions(**options))
    return retrieved.errors["q0"] if retrieved.errors else list(retrieved.run["q0"])


def problem(retriever, query=ONE[0], **options):
    retrieved = retrieve([query], retriever, RetrievalOptions(**options))
    assert list(retrieved.errors) == [query.id]
    assert not len(retrieved.run)
    return retrieved.errors[query.id]


class Document:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Dsl:
    """As the Response of elasticsearch.dsl and opensearchpy."""

    def __init__(self, body):
        self._body = body

    @property
    def hits(self):
        return [Document(meta=hit) for hit in self._body["hits"]["hits"]]

    def to_dict(self):
        return self._body

    def __iter__(self):
        return iter(self.hits)


class Response:
    """As elasticsearch's ObjectApiResponse: no mapping, and iterates as its body's keys."""

    def __init__(self, body):
        self.body = body

    def __iter__(self):
        return iter(self.body)

    def __getitem__(self, key):
        return self.body[key]


def hits(*documents, **more):
    return {
        "took": 3,
        "timed_out": False,
        "hits": {"total": 9, "hits": [{"_id": d, "_score": 1} for d in documents]},
        **more,
    }


Hit = namedtuple("Hit", "id score title")  # noqa: PYI024 - as user code has them
Scored = namedtuple("Scored", "doc score")  # noqa: PYI024 - as above


class Text(str):
    __slots__ = ()


class Color(str, Enum):
    RED = "red"


class Row(Sequence):
    """A row of a database client that is no tuple."""

    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return self.values[place]


class TestShapes:
    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ([], []),
            ((), []),
            ({}, []),
            (["b", "a"], ["b", "a"]),
            (("b", "a"), ["b", "a"]),
            (deque(["b", "a"]), ["b", "a"]),
            (dict.fromkeys(["b", "a"]).keys(), ["b", "a"]),
            ({"x": "b", "y": "a"}.values(), ["b", "a"]),
            ({"b": 2, "a": 1}.items(), ["b", "a"]),
            ([12, 7, 2**70], ["12", "7", str(2**70)]),
            (range(3), ["0", "1", "2"]),
            (array("q", [3, 1]), ["3", "1"]),
            ([UUID(int=1)], [str(UUID(int=1))]),
            ([Color.RED], ["red"]),
            (["a", 1, UUID(int=1)], ["a", "1", str(UUID(int=1))]),
            ([("b",), ("a",)], ["b", "a"]),
            ([("b", 0.9), ("a", 0.9), ("c", 0.1)], ["b", "a", "c"]),
            ([(12, 7), (7, 3)], ["12", "7"]),
            ([("a", Decimal("0.9")), ("b", Fraction(1, 2)), ("c", numpy.float32(0.25))], ["a", "b", "c"]),
            ([("a", float("inf")), ("b", float("-inf"))], ["a", "b"]),
            ([Row("b", 2), Row("a", 1)], ["b", "a"]),
            ([Scored("b", 2), Scored("a", 1)], ["b", "a"]),
            ([Hit("b", 1, "x"), Hit("a", 2, "y")], ["b", "a"]),
            ([{"id": "b"}, {"_id": 7}], ["b", "7"]),
            ([{"id": None, "_id": "b"}, {"id": "a", "_id": "x"}], ["b", "a"]),
            ([UserDict(id="b"), OrderedDict(_id="a")], ["b", "a"]),
            ([Document(id="b", score=1), Document(_id=5, score=9)], ["b", "5"]),
            ([Document(id=None, metadata={"_id": "m"}), {"metadata": {"_id": "n"}}], ["m", "n"]),
            ([(Document(id="b"), 0.9), ({"id": "a"}, 0.5)], ["b", "a"]),
            ([(Document(id=None, metadata={"_id": "m"}), 0.5)], ["m"]),
            ([(Document(id="b"),)], ["b"]),
            ({"a": 1, "b": 3.5, "c": 1}, ["b", "c", "a"]),
            ({7: 1, 8: 2}, ["8", "7"]),
            (hits("b", "a"), ["b", "a"]),
            (Response(hits("b", "a")), ["b", "a"]),
            (Response(hits()), []),
            (hits("a", _shards={"total": 5, "successful": 5, "failed": 0}), ["a"]),
            (hits("a", _clusters={"total": 2, "successful": 2, "skipped": 0, "failed": 0}), ["a"]),
            (hits("b", "a")["hits"]["hits"], ["b", "a"]),
            (Dsl(hits("b", "a")), ["b", "a"]),
            (
                [Document(id="x", meta=Document(id="b", index="i")), Document(id="a", meta={"id": 1})],
                ["b", "a"],
            ),
            ([Document(id="b", meta=Document(id="x")), Document(id="a", meta="text")], ["b", "a"]),
            ({"documents": [Document(id="b"), Document(id="a")], "query": "text"}, ["b", "a"]),
            ({"documents": []}, []),
            ({"documents": 2.0, "a": 1.0}, ["documents", "a"]),
            ([Document(node_id="b"), {"corpus_id": 7, "score": 0.5}], ["b", "7"]),
            (iter(["b", "a"]), ["b", "a"]),
            ((doc for doc in "ba"), ["b", "a"]),
            (map(str, [2, 1]), ["2", "1"]),
            (zip(["b", "a"], [2, 1], strict=True), ["b", "a"]),
            (numpy.array(["b", "a"]), ["b", "a"]),
            (numpy.array([12, 7], dtype=numpy.uint8), ["12", "7"]),
            ([numpy.int64(12), numpy.str_("a")], ["12", "a"]),
            ([" a ", "0123", "\ud800"], [" a ", "0123", "\ud800"]),
        ],
    )
    def test_are_read(self, answer, expected):
        assert ids(answer) == expected

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (None, "came back: None. Return an empty list where nothing was found."),
            ("doc-1", "came back: str 'doc-1'. Its letters are no ids"),
            ("", "came back: str ''. Its letters"),
            (b"doc", "came back: bytes b'doc'. Decode it"),
            (bytearray(b"doc"), "Decode it"),
            ({"a"}, "came back: set {'a'}. A set has no order."),
            (frozenset(), "A set has no order."),
            ({"a": 1}.items() ^ set(), "A set has no order."),
            (5, "came back: int 5. It cannot be gone through."),
            (True, "came back: bool True. It cannot"),
            (object(), "came back: <object object"),
            (ValueError("x"), "Raise it"),
            (Document(id="a"), "It cannot be gone through."),
            ([None], "result 1 is None. That is no id."),
            (["a", True], "result 2 is bool True. That is no id."),
            ([numpy.bool_(True)], "result 1 is"),  # noqa: FBT003 - the value is the case
            ([1.0], "result 1 is float 1.0. That is no id."),
            ([numpy.float64(1)], "That is no id."),
            ([numpy.float32(1)], "No id can be read from it."),
            ([Decimal(1)], "That is no id."),
            ([b"a"], "result 1 is bytes b'a'. That is no id: decode it."),
            ([""], "result 1 is str ''. Its id is empty."),
            ([{"id": ""}], "Its id is empty."),
            ([{"id": True}], "Its id would be bool True"),
            ([{"id": 1.5}], "Its id would be float 1.5"),
            ([{"id": ["a"]}], "Its id would be list ['a']"),
            ([{"doc": "a"}], "result 1 is dict {'doc': 'a'}. No id can be read from it."),
            ([Document(id=None, metadata={})], "No id can be read from it."),
            ([object()], "No id can be read from it."),
            ([10**5000], "result 1 is"),
            ([["a", "b"]], "result 1 is list ['a', 'b']. Results within a result"),
            ([[("a", 1)]], "Results within a result"),
            ([{"a"}], "Results within a result"),
            ([()], "No id can be read from it."),
            ([("a", 1, 2)], "No id can be read from it."),
            ([(0.9, "a")], "result 1 is tuple (0.9, 'a'). That looks like (score, id): put the id first."),
            ([(3, "a")], "That looks like (score, id)"),
            ([("a", "b")], "The second of a pair is its score, a number."),
            ([("a", None)], "The second of a pair is its score"),
            ([("a", True)], "The second of a pair is its score"),
            ([("a", "0.9")], "The second of a pair is its score"),
            ([(0.9, 0.5)], "Its id would be float 0.9"),
            ([(None, 0.5)], "Its id would be None"),
            (
                [("a", 0.1), ("b", 0.4)],
                "result 2 is tuple ('b', 0.4). Its score is above that of the result before it (0.1)",
            ),
            ([("a", float("nan"))], "Its score is NaN."),
            ([("a", 10**400)], "The second of a pair is its score"),
            (("doc-1", 0.9), "result 2 is float 0.9. That is no id."),
            ((["a"], [0.9]), "Results within a result"),
            ({"a": "b"}, "It is not a mapping of id to score: str 'a' leads to str 'b'."),
            ({"a": True}, "str 'a' leads to bool True"),
            ({None: 1.0}, "None leads to float 1.0"),
            ({"a": float("nan")}, "The score of str 'a' is NaN."),
            (
                {"ids": [["a"]], "distances": [[0.1]]},
                "str 'ids' leads to list [['a']]. Return the list of results that is in it.",
            ),
            ({"response": {"docs": []}}, "Return the list of results that is in it."),
            (iter([("points", [Document(id="a")])]), "That is a field and what it holds"),
            ([(0.28, object())], "That looks like (score, id): put the id first."),
            ({"a": 1, "b": 2}.items(), "Its score is above that of the result before it"),
            (type("Table", (), {"to_pylist": len, "__iter__": iter})(), "return its .to_pylist()."),
            ({"hits": ["a"]}, "It is not a mapping of id to score"),
            ({"hits": {"hits": "abc"}}, "It is not a mapping of id to score"),
            (hits("a", timed_out=True), "`timed_out` is true: it is a part of the results."),
            (Response(hits("a", timed_out=True)), "`timed_out` is true"),
            (hits("a", _shards={"total": 5, "failed": 2}), "2 shards failed: it is a part of the results."),
            (
                hits("a", _clusters={"total": 3, "successful": 2, "skipped": 1}),
                "not all of them answered in full: it is a part of the results.",
            ),
            (
                hits("a", _clusters={"total": 2, "successful": 2, "partial": 1}),
                "it is a part of the results.",
            ),
            (hits("a", _clusters={"total": 2, "successful": 1, "failed": 1}), "it is a part of the results."),
            (Dsl(hits("a", timed_out=True)), "`timed_out` is true"),
            (Dsl(hits("a", _shards={"failed": 1})), "1 shard failed: it is a part"),
            ({"ids": [["a"]], "documents": [["text"]]}, "It is not a mapping of id to score"),
            (
                type("Search", (), {"execute": len, "to_dict": len, "__iter__": iter})(),
                "return its .execute()",
            ),
            (
                type("LazyFrame", (), {"collect": len, "__getitem__": len})(),
                "It is lazy: return its .collect().",
            ),
            (Response({"error": {}, "status": 400}), "It is a response without `hits.hits`."),
            (numpy.array([[1, 2], [3, 4]]), "result 1 is"),
            (numpy.array([0.1]), "That is no id."),
            (numpy.array("a"), "It cannot be gone through."),
            (Mock(), "It cannot be gone through."),
            ([Mock()], "Its id would be"),
        ],
    )
    def test_that_cannot_be_read_are_told(self, answer, words):
        said = ids(answer)
        assert isinstance(said, str), said
        assert words in said
        assert "Accepted, best first: ids" in said
        assert said.isprintable()
        assert len(said) < 800

    def test_a_distance_is_told_from_a_score(self):
        assert "Where the number is a distance, return ids alone." in ids([("a", 0.1), ("b", 0.2)])

    def test_scores_inside_documents_and_responses_are_not_read(self):
        documents = [Document(id="a", score=0.1), Document(id="b", score=float("nan"))]
        assert ids(documents) == ["a", "b"]
        body = hits("a", "b")
        body["hits"]["hits"][1]["_score"] = 99
        assert ids(body) == ["a", "b"]

    def test_rows_of_sqlite(self):
        connection = sqlite3.connect(":memory:")
        connection.execute("create table docs (id text, name text, score real)")
        connection.execute("insert into docs values ('b', 'B', 0.9), ('a', 'A', 0.1)")

        def select(columns, row=None):
            connection.row_factory = row
            return connection.execute(f"select {columns} from docs order by score desc")

        assert ids(select("id")) == ["b", "a"]
        assert ids(select("name, score")) == ["B", "A"]
        assert ids(select("id, name, score", sqlite3.Row)) == ["b", "a"]
        assert ids(select("name as _id, score", sqlite3.Row)) == ["B", "A"]
        assert ids(select("name, score", sqlite3.Row)) == ["B", "A"]
        assert ids(select("name", sqlite3.Row).fetchall()) == ["B", "A"]
        assert "It is a single row" in ids(select("id, name", sqlite3.Row).fetchone())
        assert "No id can be read" in ids(select("name, name, score"))
        assert "That looks like (score, id)" in ids(select("score, name"))
        connection.close()

    def test_a_frame_of_another_library(self):
        class Frame:
            columns = ("id", "score")

            def iter_rows(self):
                raise AssertionError

            def __getitem__(self, name):
                return {"id": [3, 1]}[name]

        assert ids(Frame()) == ["3", "1"]

    def test_at_most_k_are_drawn_of_an_endless_generator(self):
        drawn, closed = [], []

        def endless(_query):
            number = 0
            try:
                while True:
                    drawn.append(number)
                    yield number
                    number += 1
            finally:
                closed.append(True)

        generator = endless("text")
        retrieved = retrieve(ONE, lambda _query: generator, RetrievalOptions(depth=5))
        assert retrieved.run["q0"] == ("0", "1", "2", "3", "4")
        assert drawn == [0, 1, 2, 3, 4]
        assert closed

    def test_more_than_k_are_cut(self):
        answers = [
            [f"d{number}" for number in range(100)],
            {f"d{number}": -number for number in range(100)},
            hits(*[f"d{number}" for number in range(100)]),
            numpy.array([f"d{number}" for number in range(100)]),
        ]
        assert [ids(answer, depth=3) for answer in answers] == [["d0", "d1", "d2"]] * 4

    def test_what_lies_below_k_is_not_looked_at(self):
        assert ids(["a", "b", None], depth=2) == ["a", "b"]

    def test_duplicates_are_an_error_that_names_the_setting(self):
        said = ids(["a", "b", "a"])
        assert "'a' came back at rank 1 and again at rank 3." in said
        assert "ir_duplicates = collapse" in said
        assert "came back at rank 1" in ids([1, "1"])
        assert "came back at rank 1" in ids({1: 2.0, "1": 1.0})

    def test_places_of_minus_one_are_no_duplicates_to_collapse(self):
        said = ids(numpy.array([3, -1, -1]))
        assert "leave it out" in said
        assert "collapse" not in said

    def test_duplicates_collapse_to_the_first_and_count_before(self):
        assert ids(["a", "a", "b", "a", "c"], duplicates="collapse", depth=4) == ["a", "b"]

    def test_doc_id_turns_an_item_into_its_id(self):
        chunks = ["faq#1", "faq#2", "terms#1"]
        assert ids(chunks, doc_id=lambda chunk: chunk.split("#")[0], duplicates="collapse") == [
            "faq",
            "terms",
        ]
        rows = [("faq#1", "faq", "text"), ("terms#1", "terms", "text")]
        assert ids(rows, doc_id=lambda row: row[1]) == ["faq", "terms"]
        assert ids([{"id": 1, "doc": 7}], doc_id=lambda item: item["doc"]) == ["7"]
        assert ids(hits("a"), doc_id=lambda hit: hit["_id"].upper()) == ["A"]
        assert ids({"a": 1, "b": 2}, doc_id=str.upper) == ["B", "A"]

    def test_a_doc_id_that_gives_no_id_or_raises_is_told(self):
        assert "ir_doc_id gave None for result 1, str 'a'." in ids(["a"], doc_id=lambda _item: None)
        assert "Its id is empty" in ids(["a"], doc_id=lambda _item: "")
        assert "ir_doc_id gave <coroutine object" in ids(["a"], doc_id=_async)
        gc.collect()  # nor does Python warn of it
        assert "raised KeyError: 'x' (tests/unit/test_retrieval.py:" in ids(
            [{}], doc_id=lambda item: item["x"]
        )

    def test_hostile_values_break_nothing(self):
        class Meta(type):
            @property
            def __name__(cls):
                raise ValueError

        class Anonymous(metaclass=Meta):
            pass

        class Loud:
            def __repr__(self):
                return "\x1b[31m\n::error::\u202e" * 1000

        class Liar:
            @property
            def __class__(self):
                raise ValueError("no class")

        Fake = type("list", (), {"__iter__": lambda _self: 1 / 0, "__len__": lambda _self: 5})  # noqa: N806 - a class
        for hostile in (
            Hostile(),
            Anonymous(),
            Loud(),
            Liar(),
            Fake(),
            type,
            Ellipsis,
            NotImplemented,
            lambda: 0,
        ):
            for answer in (
                hostile,
                [hostile],
                [(hostile, 1)],
                [("a", hostile)],
                {"a": hostile},
                {"id": hostile},
                [{"id": hostile}],
            ):
                said = ids(answer)
                assert isinstance(said, str)
                assert said.isprintable()
                assert len(said) < 900
            assert describe(hostile).isprintable()

    @given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text(max_size=3)
            | st.binary(max_size=3)
            | st.uuids(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.tuples(inner, inner)
                | st.dictionaries(
                    st.sampled_from(["id", "_id", "hits", "body", "metadata", "a", "b"]), inner, max_size=3
                )
            ),
            max_leaves=8,
        )
    )
    @settings(max_examples=400, deadline=None)
    def test_any_value_is_read_or_told(self, answer):
        said = ids(answer)
        if isinstance(said, list):
            assert all(isinstance(doc, str) and doc for doc in said)
            assert len(set(said)) == len(said)
        else:
            assert said.isprintable()

    def test_numpy_is_not_imported(self):
        code = (
            "import sys, pytest_irmetrics.retrieval\n"
            "assert not {'numpy', 'pandas', 'pytest', 'yaml', 'trio', 'anyio'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


@given(
    st.lists(
        st.sampled_from([*"abcd", "", "a" * 99, Text("a"), 1, UUID(int=1), ("a", 1.0), None]), max_size=6
    )
)
def test_plain_ids_read_the_short_way_as_by_one_by_one(items):
    def outcome(items):
        try:
            return read_ranking(items)
        except AnswerError as error:
            return str(error)

    # A list that ends in a row is read one by one.
    longer = outcome([*items, ("last",)])
    expected = longer[:-1] if isinstance(longer, tuple) else longer
    assert outcome(items) == expected
    assert {type(doc) for doc in outcome(items)} <= {str}


STORED = Run({"q0": ["first", "second", "third"], "q1": ["first"]})


def anew(ids):
    """Make text of its own of each id, as an engine's client does."""
    return ids.split()


class TestStored:
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
                return retrieve(QUERIES, lambda query, k: _async(answer), options).run
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
    def test_a_part_of_it_is_not_the_same(self, run, answer):
        assert list(run(answer)["q0"]) == answer

    def test_what_only_claims_to_be_equal_is_not_the_same(self):
        options = RetrievalOptions(stored=STORED)
        answer = [ANY, ANY, ANY]
        assert "No id can be read from it" in retrieve(ONE, lambda q: answer, options).errors["q0"]

    def test_duplicates_and_empty_ids_are_found_as_ever(self):
        options = RetrievalOptions(stored=STORED)
        for answer, words in ((["first", "first"], "again at rank 2"), (["first", ""], "Its id is empty")):
            assert words in retrieve(ONE, lambda q, a=answer: a, options).errors["q0"]

    def test_it_is_not_sent_to_processes(self):
        pickled = []

        class Executor(ThreadPoolExecutor):
            def submit(self, work):
                pickled.append(pickle.dumps(work))
                return super().submit(work)

        for stored in (None, STORED):
            with Executor(1) as executor:
                retrieve(ONE, _in_process, RetrievalOptions(executor=executor, stored=stored))
        assert len(pickled[0]) == len(pickled[1])


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

    def test_callables_of_every_kind(self):
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

    def test_partials(self):
        seen = []

        def search(index, query, k):
            seen.append((index, query, k))
            return []

        self.call(functools.partial(search, "docs"))
        self.call(functools.partial(search, index="docs"))
        self.call(functools.partial(search, "docs", k=3))
        assert seen == [("docs", "text", 10)] * 3

    def test_mocks(self):
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

    def test_params_are_the_retrievers_to_change(self):
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
    def test_what_cannot_be_called_so_is_told_without_calling(self, retriever, params, words):
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

    def test_a_query_without_text_is_told(self):
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
    def test_options_that_mean_nothing_are_refused(self, options):
        with pytest.raises(ValueError, match="Give "):
            RetrievalOptions(**options)


def failing(error):
    def search(_query, _k):
        raise error

    return search


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (ValueError("no\n  index"), "raised ValueError: no index (tests/unit/test_retrieval.py:"),
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
    def test_an_exception_is_told_with_its_place(self, error, words):
        said = problem(failing(error))
        assert words in said
        assert said.isprintable()
        assert len(said) < 500

    def test_real_recursion_is_told(self):
        def search(query):
            return search(query)

        assert "raised RecursionError" in problem(search)

    def test_the_place_is_the_users_innermost_line_not_a_librarys(self):
        import json

        def search(_query):
            return json.loads("{")  # here

        line = search.__code__.co_firstlineno + 1
        assert f"(tests/unit/test_retrieval.py:{line})" in problem(search)

    def test_a_place_in_nobodys_code_is_told_all_the_same(self):
        import json

        said = problem(json.loads, Query("q", "{"))
        assert "raised json.decoder.JSONDecodeError" in said
        assert "decoder.py:" in said
        said = problem(functools.partial(int, base=99), Query("q", "5"))
        assert "raised TypeError: int() " in said
        assert ".py" not in said

    def test_a_place_is_told_also_where_the_working_folder_is_gone(self, tmp_path, monkeypatch):
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        assert f"({__file__}:" in problem(failing(ValueError()))

    def test_a_client_of_another_loop_is_told_in_words_that_are_the_same_for_each_query(self):
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

    def test_a_loop_of_the_retrievers_own_where_one_runs_is_told_to_be_left_out(self):
        def search(query):
            started = _async([query])
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

    def test_an_exception_that_breaks_when_shown_is_told(self):
        class BrokenError(Exception):
            def __str__(self):
                raise RuntimeError

        assert "BrokenError (tests" in problem(failing(BrokenError()))

    def test_a_generator_that_raises_midway_is_an_error_not_a_short_result(self):
        def search(_query):
            yield "a"
            raise ValueError("lost the connection")

        assert "raised ValueError: lost the connection" in problem(search)

    def test_outcomes_that_are_exceptions_pass_through_as_well(self):
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
            assert retrieve(ONE, lambda _query: _async(["a"])).run["q0"] == ("a",)

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

    def test_sizes(self):
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
    def test_what_is_not_one_result_a_query_is_told(self, answer, words):
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

    def test_async_batches(self):
        async def search(texts, k):
            await asyncio.sleep(0)
            return [[text, str(k)] for text in texts]

        async def stream(texts):
            for text in texts:
                yield [text]

        assert retrieve(QUERIES, batched(search, 3), RetrievalOptions(concurrency=2)).run["q7"] == (
            "text 7",
            "10",
        )
        assert retrieve(QUERIES, batched(stream)).run["q7"] == ("text 7",)

    def test_a_generator_may_fill_one_list_for_all(self):
        found = []

        def search(texts):
            for text in texts:
                found[:] = [text]
                yield found

        async def asearch(texts):
            for results in search(texts):
                yield results

        for function in (search, asearch):
            run = retrieve(QUERIES, batched(function)).run
            assert [run[query.id] for query in QUERIES] == [(query.text,) for query in QUERIES]

    def test_a_batch_without_texts_is_told(self):
        retrieved = retrieve([Query("a"), Query("b", None)], batched(lambda texts: [[] for _ in texts]))
        assert list(retrieved.errors) == ["a", "b"]

    @pytest.mark.parametrize("size", [0, -1, True, 2.0, "8"])
    def test_a_size_that_means_nothing_is_refused(self, size):
        with pytest.raises(ValueError, match="whole number"):
            batched(len, size)

    def test_what_is_no_function_is_refused(self):
        with pytest.raises(TypeError, match="batched needs a function"):
            batched([["a"]])

    def test_can_be_called_as_what_it_is_made_of(self):
        assert batched(lambda texts, k, x: (texts, k, x))(["a"], 3, x=1) == (["a"], 3, 1)


async def _async(answer):
    await asyncio.sleep(0)
    return answer


class AsyncEngine:
    async def __call__(self, query, k):
        return await self.search(query, k)

    async def search(self, query, k):
        await asyncio.sleep(0)
        return [query, str(k)]

    async def stream(self, query, k):
        try:
            number = 0
            while True:
                yield f"{query} {number}"
                number += 1
        finally:
            self.closed = True


def _sync(query, k):
    return [query, str(k)]


ASYNC_KINDS = {
    "function": AsyncEngine().search,
    "callable": AsyncEngine(),
    "partial": functools.partial(functools.partial(AsyncEngine().search), k=3),
    "lambda": lambda query, k: AsyncEngine().search(query, k),
    "wrapped": functools.wraps(_sync)(lambda query, k: AsyncEngine().search(query, k)),
}
ALL_OPTIONS = [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]


class TestAsync:
    @pytest.mark.parametrize("options", ALL_OPTIONS)
    @pytest.mark.parametrize("kind", ASYNC_KINDS)
    def test_retrievers_of_every_kind_from_sync_code(self, kind, options):
        retrieved = retrieve(QUERIES, ASYNC_KINDS[kind], RetrievalOptions(**options))
        assert dict(retrieved.errors) == {}
        assert retrieved.run["q7"] == ("text 7", "10")

    @pytest.mark.parametrize("options", ALL_OPTIONS)
    @pytest.mark.parametrize("kind", [*ASYNC_KINDS, "sync"])
    def test_retrievers_of_every_kind_from_async_code(self, kind, options):
        retriever = {**ASYNC_KINDS, "sync": _sync}[kind]
        retrieved = asyncio.run(aretrieve(QUERIES, retriever, RetrievalOptions(**options)))
        assert dict(retrieved.errors) == {}
        assert retrieved.run["q7"] == ("text 7", "10")
        assert list(retrieved.run) == [query.id for query in QUERIES]

    @pytest.mark.parametrize("options", ALL_OPTIONS)
    def test_asynchronous_generators_are_drawn_to_k_and_closed(self, options):
        engine = AsyncEngine()
        retrieved = retrieve(ONE, engine.stream, RetrievalOptions(depth=2, **options))
        assert retrieved.run["q0"] == ("text 0 0", "text 0 1")
        assert engine.closed

    def test_an_asynchronous_iterator_that_ends(self):
        class Cursor:
            left = 2

            def __aiter__(self):
                return self

            async def __anext__(self):
                if not self.left:
                    raise StopAsyncIteration
                self.left -= 1
                return self.left

        assert retrieve(ONE, lambda _query: Cursor()).run["q0"] == ("1", "0")
        assert retrieve(ONE, lambda _query: _async(Cursor())).run["q0"] == ("1", "0")

    def test_what_is_awaited_and_has_to_be_awaited_again_is_told(self):
        async def search(_query):
            return _async(["a"])

        assert "Await it in the retriever." in problem(search)

        class Awaitable:
            def __await__(self):
                yield from ()
                return self

        assert "came back: Awaitable <" in problem(lambda _query: Awaitable())

    def test_exceptions_and_bad_answers_are_told_as_of_sync_ones(self):
        async def search(_query):
            await asyncio.sleep(0)
            raise ValueError("no index")

        assert "raised ValueError: no index (tests/unit/test_retrieval.py:" in problem(search)
        assert "came back: None" in problem(lambda _query: _async(None))

    def test_is_async_tells_without_calling(self):
        assert is_async(AsyncEngine())
        assert is_async(AsyncEngine().search)
        assert is_async(AsyncEngine().stream)
        assert is_async(functools.partial(AsyncEngine()))
        assert is_async(batched(AsyncEngine().search))
        assert not is_async(_sync)
        assert not is_async(Mock())
        assert not is_async(Run({}))
        assert not is_async(None)

    def test_one_loop_serves_the_whole_session(self):
        loops = []

        async def search(_query):
            loops.append(asyncio.get_running_loop())
            return []

        retrieve(QUERIES, search)
        retrieve(QUERIES, search, RetrievalOptions(timeout=60))
        retrieve(QUERIES, lambda query: search(query))  # noqa: PLW0108 - that is the case
        assert len(set(loops)) == 1
        close_session_loop()
        close_session_loop()
        assert loops[0].is_closed()
        retrieve(ONE, search)
        assert len(set(loops)) == 2

    def test_closing_ends_what_is_left_on_the_loop(self):
        loop, seen = SessionLoop(), []

        async def linger():
            try:
                await asyncio.sleep(3600)
            finally:
                seen.append("cancelled")

        async def start():
            seen.append(asyncio.ensure_future(linger()))
            await asyncio.sleep(0)

        loop.run(start)
        loop.close()
        assert seen[1] == "cancelled"
        assert seen[0].cancelled()

    def test_a_loop_that_runs_already_is_an_error_with_the_cure(self):
        async def search(_query):
            return []

        async def test():
            retrieve(ONE, search)

        with pytest.raises(RetrievalError, match=r"Use `await irmetrics\.acheck\(\)`"):
            asyncio.run(test())

    def test_a_notebook_may_ask_in_another_thread_as_it_is_told(self):
        async def search(query):
            await asyncio.sleep(0)
            return [query]

        async def cell():
            with pytest.raises(RetrievalError, match=r"`await asyncio\.to_thread\(evaluate, golden"):
                retrieve(ONE, search)
            return await asyncio.to_thread(retrieve, ONE, search)

        close_session_loop()
        assert asyncio.run(cell()).run["q0"] == ("text 0",)
        close_session_loop()

    def test_a_sync_retriever_needs_no_loop_and_minds_none(self):
        async def test():
            return retrieve(ONE, _sync)

        assert asyncio.run(test()).run["q0"] == ("text 0", "10")

    def test_any_event_loop_will_do_where_nothing_goes_on_at_once(self):
        trio = pytest.importorskip("trio")

        async def search(query):
            await trio.sleep(0)
            return [query]

        assert trio.run(aretrieve, QUERIES, search).run["q0"] == ("text 0",)
        assert trio.run(aretrieve, QUERIES, _sync).run["q0"] == ("text 0", "10")

    def test_as_many_as_wanted_are_in_flight_and_no_more(self):
        flying, most = 0, 0

        async def search(_query):
            nonlocal flying, most
            flying += 1
            most = max(most, flying)
            await asyncio.sleep(0.002)
            flying -= 1
            return []

        queries = [Query(f"q{number}") for number in range(30)]
        retrieve(queries, search, RetrievalOptions(concurrency=4))
        assert most == 4

    def test_the_loop_goes_on_while_a_sync_retriever_works_elsewhere(self):
        async def test():
            told = threading.Event()

            def search(_query):
                return ["told"] if told.wait(30) else []

            asyncio.get_running_loop().call_later(0.01, told.set)
            return await aretrieve(ONE, search, RetrievalOptions(timeout=60))

        assert asyncio.run(test()).run["q0"] == ("told",)

    def test_cancelling_from_outside_cancels_the_retriever(self):
        cancelled = []

        async def search(_query):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        async def test(**options):
            task = asyncio.ensure_future(aretrieve(ONE, search, RetrievalOptions(**options)))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)

        for number, options in enumerate(ALL_OPTIONS, start=1):
            asyncio.run(test(**options))
            assert len(cancelled) == number


class TestTimeouts:
    def test_a_thread_that_hangs_is_left_behind(self):
        release = threading.Event()

        def search(query):
            if query == "text 1":
                release.wait(60)
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(timeout=0.2))
        release.set()
        assert dict(retrieved.errors) == {"q1": "no answer came within 0.2 s (ir_timeout)."}
        assert len(retrieved.run) == 7

    def test_hanging_threads_keep_no_process_alive(self):
        code = (
            "import time\nfrom types import SimpleNamespace as Query\n"
            "from pytest_irmetrics.retrieval import RetrievalOptions, retrieve\n"
            "queries = [Query(id=str(n), text='x', params={}) for n in range(9)]\n"
            "found = retrieve(queries, lambda query: time.sleep(3600), RetrievalOptions(timeout=0.05, concurrency=2))\n"
            "assert found.stopped and len(found.errors) == 5, found\n"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)

    def test_what_comes_late_is_not_heard(self):
        release = threading.Event()
        answered = threading.Event()

        def search(query):
            if query == "text 0":
                release.wait(60)
                answered.set()
                return ["late"]
            if query == "text 1":
                release.set()
                answered.wait(60)
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(timeout=0.5))
        assert list(retrieved.errors) == ["q0"]
        assert retrieved.run["q1"] == ("text 1",)

    def test_a_generator_that_hangs_midway_is_timed_too(self):
        release = threading.Event()

        def search(_query):
            yield "a"
            release.wait(60)

        assert "no answer came within 0.1 s" in problem(search, timeout=0.1)
        release.set()

    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_a_coroutine_is_cancelled(self, concurrency):
        cancelled = []

        async def search(query):
            if query == "text 1":
                try:
                    await asyncio.sleep(3600)
                finally:
                    cancelled.append(query)
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(timeout=0.2, concurrency=concurrency))
        assert dict(retrieved.errors) == {"q1": "no answer came within 0.2 s (ir_timeout)."}
        assert cancelled == ["text 1"]

    def test_a_coroutine_that_swallows_its_cancellation_hangs_nobody(self, monkeypatch):
        monkeypatch.setattr("pytest_irmetrics.retrieval.asyncio_driver.CLEANUP_SECONDS", 0.05)
        stop = []

        async def search(_query):
            while not stop:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.02)

        assert "no answer came within 0.1 s" in problem(search, timeout=0.1)
        stop.append(True)
        retrieve(ONE, lambda _query: asyncio.sleep(0.1, []))

    def test_what_looked_sync_and_hangs_when_awaited_is_timed(self):
        async def search():
            await asyncio.sleep(3600)

        assert "no answer came within 0.1 s" in problem(lambda _query: search(), timeout=0.1)

    def test_a_sync_retriever_in_async_code_is_timed(self):
        release = threading.Event()

        async def test():
            return await aretrieve(ONE, lambda _query: release.wait(60), RetrievalOptions(timeout=0.1))

        assert "no answer came within 0.1 s" in asyncio.run(test()).errors["q0"]
        release.set()

    def test_a_batch_has_the_time_of_its_queries(self):
        def search(texts):
            time.sleep(0.15)
            return [[] for _ in texts]

        async def asearch(texts):
            await asyncio.sleep(0.15)
            return [[] for _ in texts]

        assert len(retrieve(QUERIES, batched(search), RetrievalOptions(timeout=0.1)).run) == 8
        assert len(retrieve(QUERIES, batched(asearch), RetrievalOptions(timeout=0.1)).run) == 8
        release = threading.Event()
        retrieved = retrieve(
            QUERIES, batched(lambda _texts: release.wait(60)), RetrievalOptions(timeout=0.02)
        )
        release.set()
        assert retrieved.errors["q0"] == "no answer came within 0.02 s a query for 8 queries (ir_timeout)."


class TestThreads:
    def test_without_timeout_and_concurrency_it_is_this_thread(self):
        threads = set()
        retrieve(QUERIES, lambda _query: threads.add(threading.current_thread()) or [])
        assert threads == {threading.current_thread()}

    def test_sqlite_works_here_and_elsewhere_says_the_cure(self):
        connection = sqlite3.connect(":memory:")
        connection.execute("create table docs (id text)")
        connection.execute("insert into docs values ('a')")

        def search(_query):
            return connection.execute("select id from docs")

        assert retrieve(ONE, search).run["q0"] == ("a",)
        said = problem(search, timeout=60)
        assert "raised sqlite3.ProgrammingError" in said
        assert "check_same_thread=False, and hold a threading.Lock() from the query until" in said
        connection.close()

    def test_as_many_as_wanted_work_at_once(self):
        together = threading.Barrier(3, timeout=30)

        def search(query):
            together.wait()
            return [query]

        queries = [Query(f"q{number}", f"text {number}") for number in range(9)]
        retrieved = retrieve(queries[:3], search, RetrievalOptions(concurrency=3))
        assert len(retrieved.run) == 3

    def test_answers_go_to_their_queries_and_keep_the_order(self):
        def search(query):
            time.sleep(0.003 * (int(query[-1]) % 3))
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(concurrency=4))
        assert [*retrieved.run.answers] == [query.id for query in QUERIES]
        assert all(retrieved.run[query.id] == (query.text,) for query in QUERIES)

    def test_context_variables_are_seen(self):
        tenant = contextvars.ContextVar("tenant")
        tenant.set("acme")
        for options in ALL_OPTIONS:
            assert retrieve(ONE, lambda _query: [tenant.get()], RetrievalOptions(**options)).run["q0"] == (
                "acme",
            )

    def test_threads_end_with_their_work(self):
        retrieve(QUERIES, lambda query: [query], RetrievalOptions(concurrency=4))
        asyncio.run(aretrieve(QUERIES, lambda query: [query], RetrievalOptions(concurrency=4)))
        for thread in threading.enumerate():
            if thread.name == "irmetrics":
                thread.join(10)
                assert not thread.is_alive()


def _in_process(query, k):
    return [query, str(k)]


class TestExecutors:
    @pytest.mark.parametrize("repeat", [1, 2])
    def test_threads(self, repeat):
        with ThreadPoolExecutor(2) as executor:
            options = RetrievalOptions(executor=executor, concurrency=3, repeat=repeat, timeout=60)
            retrieved = retrieve(QUERIES, _in_process, options)
            assert retrieved.run["q7"] == ("text 7", "10")
            assert len(retrieved.run) == 8
            retrieved = asyncio.run(aretrieve(QUERIES, _in_process, options))
            assert len(retrieved.run) == 8
            assert retrieve(QUERIES, lambda query, k: _async([query, str(k)]), options).run["q7"] == (
                "text 7",
                "10",
            )

    def test_an_executor_that_is_shut_down_is_told(self):
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        assert "ir_executor raised RuntimeError" in problem(_in_process, executor=executor)
        retrieved = asyncio.run(aretrieve(ONE, _in_process, RetrievalOptions(executor=executor)))
        assert "ir_executor raised RuntimeError" in retrieved.errors["q0"]

    def test_what_looked_sync_and_comes_late_is_given_up_without_a_warning(self):
        release = threading.Event()

        class Awaitable:
            def __await__(self):
                raise AssertionError

        for answer in (_async, lambda _answer: Awaitable()):
            release.clear()
            with ThreadPoolExecutor(1) as executor:
                said = problem(
                    lambda _query, a=answer: release.wait(60) and a(["a"]), executor=executor, timeout=0.05
                )
                release.set()
            assert "no answer came within" in said
        gc.collect()


class TestRunAsRetriever:
    def test_answers_from_the_store_and_an_unknown_query_is_an_empty_answer(self):
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

    def test_a_run_that_was_recorded_holds_all_that_it_was_asked(self):
        run = Run.of({"q0": Answer((("a",),)), "q9": Answer((("b",),))}, depth=10)
        retrieved = retrieve(QUERIES[:2], run)
        assert retrieved.errors == {"q1": "the stored run was not asked this query. Store the run anew."}
        assert list(retrieved.run) == ["q0"]
        assert retrieved.missing == ()

    @pytest.mark.parametrize("depth", [None, 10])
    def test_a_run_of_other_queries_is_told_from_one_with_empty_answers(self, depth):
        run = Run.of({f"x{n}": Answer((("a",),)) for n in range(4)}, depth=depth)
        wrong = r"no query that is asked here: it has 'x0', 'x1', 'x2', …, and asked is 'q0', 'q1'\."
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

    def test_gives_all_its_repeats(self):
        run = Run.of({"q0": Answer((("a",), ("b",)))})
        assert retrieve(ONE, run).run.answers["q0"].rankings == (("a",), ("b",))

    def test_needs_no_texts_and_takes_params(self):
        queries = [Query("q0", None, {"lang": "no"})]
        answer = retrieve(queries, Run({"q0": ["a"]})).run.answers["q0"]
        assert answer == Answer((("a",),), text=None, params={"lang": "no"})
        assert asyncio.run(aretrieve(queries, Run({"q0": ["a"]}))).run["q0"] == ("a",)

    def test_does_not_answer_another_question(self):
        run = Run.of({"q0": Answer((("a",),), text="text 0", params={"lang": "no"})})
        assert "answers another text, 'text 0'" in problem(run, Query("q0", "reworded", {"lang": "no"}))
        assert "answers other params, dict {'lang': 'no'}" in problem(run, Query("q0", "text 0"))
        assert retrieve([Query("q0", "text 0", {"lang": "no"})], run).run["q0"] == ("a",)


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


def test_an_error_names_its_query():
    assert str(RetrievalError("down", "q\n1")) == r"query 'q\n1': down"
    assert RetrievalError("down").query_id is None
    assert RetrievalError("down", "q").problem == "down"


def test_simple_namespaces_will_do_as_queries():
    assert retrieve([SimpleNamespace(id="q", text="t", params={})], _sync).run["q"] == ("t", "10")
