"""Whatever a retriever returns is read as ids or explained, in every way of asking."""

# ruff: noqa: ARG001, ARG005 - retrievers take what they are given
from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import batched
from tests.reached import often, reached
from tests.retrievers import shapes
from tests.retrievers.ways import answered, ask, outcome

ACCEPTED = shapes.rows(Path(__file__).with_name("accepted_answers.txt"))
BATCHES = shapes.rows(shapes.FAULTS / "refused_batches.txt")


def read(answer, **options):
    return outcome(ask(lambda _query: answer, **options))


def test_answers_are_read_as_ids_or_explained(way):
    expressions = [expression for expression, _ in (*ACCEPTED, *shapes.REFUSED)]
    evaluation = way(lambda expression, k: shapes.value(expression), texts=expressions)
    found = answered(evaluation)
    for expression, expected in ACCEPTED:
        ids = shapes.value(expected) if expected.startswith("[") else expected.split()
        assert found.get(expression, evaluation.errors.get(expression)) == ids, expression
    for expression, key in shapes.REFUSED:
        said = evaluation.errors.get(expression, f"{found.get(expression)}")
        assert key.strip() in said, f"{expression}: {said}"
        assert said.isprintable()
        assert len(said) < 900
        assert any(part in said for part in ("Accepted, best", "at rank", "a response, and", "like an error"))


@pytest.mark.parametrize(("expression", "key"), BATCHES)
def test_a_batch_that_is_none_is_explained(expression, key):
    answer = shapes.value(expression)
    said = outcome(ask(batched(lambda _queries: answer), [f"text {n}" for n in range(8)]))
    assert key.strip() in said
    assert len(said) < 500


def test_at_most_k_are_drawn_and_a_generator_is_closed(way):
    drawn, closed = [], []

    def endless(query, k):
        try:
            for number in count():
                drawn.append(number)
                yield number
        finally:
            closed.append(query)

    assert outcome(way(endless, depth=12)) == [str(n) for n in range(12)]
    assert drawn == list(range(12))
    assert closed


def test_a_generator_that_raises_midway_is_an_error_of_its_query(way):
    def search(query, k):
        yield "a"
        raise ValueError("lost the connection")

    assert "raised ValueError: lost the connection" in outcome(way(search))


def test_collapsing_keeps_the_first_of_each_id_and_counts_what_was_drawn(way):
    assert "`ir_depth = 60`, so that enough are left" in read([*"abcdefghijka"], depth=12)
    options = {"duplicates": "collapse", "depth": 10}
    assert outcome(way(lambda query, k: ["a", "a", "b", *"acdefghi"], **options)) == [*"abcdefgh"]


@pytest.mark.parametrize(
    ("answer", "doc_id", "expected"),
    [
        (["faq#1", "faq#2", "terms#1"], lambda chunk: chunk.split("#")[0], ["faq", "terms"]),
        ([("faq#1", "faq", "text")], lambda row: row[1], ["faq"]),
        ([{"id": 1, "doc": 7}], lambda item: item["doc"], ["7"]),
        (shapes.hits("a"), lambda hit: hit["_id"].upper(), ["A"]),
        ({"a": 1, "b": 2}, str.upper, ["B", "A"]),
        (shapes.chroma(["a#1"], metadatas=[[{"doc": "a"}]]), lambda item: item["metadata"]["doc"], ["a"]),
        (shapes.chroma(["a#1"], documents=[["text"]]), lambda item: item["text"], ["text"]),
        (["a"], lambda item: None, "ir_doc_id gave None for result 1, str 'a'. It returns an id"),
        (["a"], lambda item: "", "Its id is empty"),
        (["a"], lambda item: 1.5, "ir_doc_id gave float 1.5"),
        ([{}], lambda item: item["x"], "raised KeyError: 'x' (tests/retrievers/test_answers.py:"),
    ],
)
def test_doc_id_turns_an_item_into_its_id(answer, doc_id, expected):
    found = read(answer, doc_id=doc_id, duplicates="collapse")
    assert found == expected if isinstance(expected, list) else expected in found


@pytest.mark.parametrize(
    "hostile",
    [
        *("Hostile()", "HostileMapping()", "Loud()", "Liar()", "type", "Ellipsis", "NotImplemented", "len"),
        "made('list', __iter__=lambda _self: 1 / 0, __len__=lambda _self: 5)",
    ],
)
def test_values_whose_attributes_raise_are_explained(hostile):
    value = shapes.value(hostile)
    around = [[value], [(value, 1)], [("a", value)], {"a": value}, {"id": value}, [{"id": value}]]
    for answer in (value, *around):
        said = read(answer)
        assert isinstance(said, str)
        assert said.isprintable()
        assert len(said) < 900


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3)
)
PAIRS = st.tuples(st.text(min_size=1, max_size=3), st.floats())
NAMES = st.sampled_from(["id", "_id", "hits", "body", "metadata", "a", "b"])


@often(0.15)
@given(
    st.lists(st.text(max_size=3) | st.integers() | PAIRS, max_size=3)
    | st.dictionaries(st.text(max_size=3), st.floats() | st.integers(), max_size=3)
    | st.recursive(
        SCALARS | st.uuids(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(NAMES, inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_any_value_is_read_or_explained(answer):
    found = read(answer)
    if reached(isinstance(found, list) and found):
        assert all(isinstance(doc, str) and doc for doc in found)
        assert len(set(found)) == len(found)
    elif found:
        assert found.isprintable()
