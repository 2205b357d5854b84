"""Answers of every accepted shape are read as ids, and all others are explained."""

from __future__ import annotations

import gc
import sqlite3
import subprocess
import sys
from array import array
from collections import OrderedDict, UserDict, deque, namedtuple
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from unittest.mock import Mock
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    retrieve,
)
from pytest_irmetrics.retrieval.answers import AnswerError, read_ranking
from pytest_irmetrics.retrieval.describe import describe
from tests.reached import often, reached
from tests.unit.retrieval.fakes import Document, Dsl, Hostile, Response, hits
from tests.unit.retrieval.helpers import ONE, ids, later

numpy = pytest.importorskip("numpy")

Hit = namedtuple("Hit", "id score title")  # noqa: PYI024 - as user code has them


Scored = namedtuple("Scored", "doc score")  # noqa: PYI024 - as above


class Text(str):
    __slots__ = ()


class Color(str, Enum):  # noqa: UP042
    RED = "red"


class Row(Sequence):
    """A row of a database client that is no tuple."""

    def __init__(self, *values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return self.values[place]


class TestAnswers:
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
    def test_accepted_answers_are_read_as_ids(self, answer, expected):
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
            ([(Decimal("0.9"), "a")], "That looks like (score, id): put the id first."),
            (
                [(3, "a")],
                "The second of a pair is its score, a number, and this is text: return the id alone; or,",
            ),
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
            ({"ids": ["a"]}, "str 'ids' leads to list ['a']. Return the list of results that is in it."),
            ({"data": {"docs": [{"id": "a"}]}}, 'Return answer["data"]["docs"].'),
            ({"groups": [{"name": "a"}]}, "Return the list of results that is in it."),
            (Document(docs=[Document(id="a")]), "It cannot be gone through. Return answer.docs."),
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
    def test_other_answers_are_explained(self, answer, words):
        said = ids(answer)
        assert isinstance(said, str), said
        assert words in said
        assert "Accepted, best first: ids" in said
        assert said.isprintable()
        assert len(said) < 800

    def test_ascending_numbers_are_taken_for_distances(self):
        assert "Where the number is a distance, return ids alone." in ids([("a", 0.1), ("b", 0.2)])

    def test_scores_inside_documents_and_responses_are_not_read(self):
        documents = [Document(id="a", score=0.1), Document(id="b", score=float("nan"))]
        assert ids(documents) == ["a", "b"]
        body = hits("a", "b")
        body["hits"]["hits"][1]["_score"] = 99
        assert ids(body) == ["a", "b"]

    def test_rows_of_sqlite_are_read(self):
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

    def test_any_data_frame_with_a_column_id_is_read(self):
        class Frame:
            columns = ("id", "score")

            def iter_rows(self):
                raise AssertionError

            def __getitem__(self, name):
                return {"id": [3, 1]}[name]

        assert ids(Frame()) == ["3", "1"]

    def test_a_column_that_has_keys_is_gone_through_and_a_row_is_refused(self):
        column = {"keys": len, "__getitem__": len, "__iter__": lambda _: iter(["a", "b"])}
        assert ids(type("Series", (), {**column, "dtype": "object"})()) == ["a", "b"]
        assert "It is a single row: return the list of rows." in ids(type("Row", (), column)())

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

    def test_items_below_k_are_not_read(self):
        assert ids(["a", "b", None], depth=2) == ["a", "b"]

    def test_duplicates_are_an_error_that_names_the_setting(self):
        said = ids(["a", "b", "a"])
        assert "'a' came back at rank 1 and again at rank 3." in said
        assert "ir_duplicates = collapse" in said
        assert "came back at rank 1" in ids([1, "1"])
        assert "came back at rank 1" in ids({1: 2.0, "1": 1.0})

    def test_indices_of_minus_one_are_refused_and_not_collapsed(self):
        said = ids(numpy.array([3, -1, -1]))
        assert "leave it out" in said
        assert "collapse" not in said

    def test_duplicates_collapse_to_the_first_after_the_cut_at_k(self):
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

    def test_a_doc_id_that_returns_no_id_or_raises_is_explained(self):
        assert "ir_doc_id gave None for result 1, str 'a'." in ids(["a"], doc_id=lambda _item: None)
        assert "Its id is empty" in ids(["a"], doc_id=lambda _item: "")
        assert "ir_doc_id gave <coroutine object" in ids(["a"], doc_id=later)
        gc.collect()  # nor does Python warn of it
        assert "raised KeyError: 'x' (tests/unit/retrieval/test_answers.py:" in ids(
            [{}], doc_id=lambda item: item["x"]
        )

    def test_values_whose_attributes_raise_are_explained(self):
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

    @often(0.15)
    @given(
        st.lists(
            st.text(max_size=3) | st.integers() | st.tuples(st.text(min_size=1, max_size=3), st.floats()),
            max_size=3,
        )
        | st.dictionaries(st.text(max_size=3), st.floats() | st.integers(), max_size=3)
        | st.recursive(
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
    def test_any_value_is_read_or_explained(self, answer):
        said = ids(answer)
        if reached(isinstance(said, list) and said):
            assert all(isinstance(doc, str) and doc for doc in said)
            assert len(set(said)) == len(said)
        elif said:
            assert said.isprintable()

    def test_importing_retrieval_leaves_other_libraries_unloaded(self):
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
def test_plain_ids_are_read_as_they_are_among_other_items(items):
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
