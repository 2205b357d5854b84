"""Golden sets made in Python, and golden sets as objects: searched, copied, sent to another process, not to be changed."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from uuid import UUID

import numpy as np
import pytest

from pytest_irmetrics import GoldenSet, GoldenSetError, Query, Run, evaluate
from tests.golden.files import FULL, content, load


def made(judgments, **options) -> dict[str, dict[str, object]]:
    return content(GoldenSet.from_judgments(judgments=judgments, **options))


def test_judgments_are_read_as_by_trec_eval():
    given = {"q1": {"d1": 2, "d2": -1}, "q2": {"d1": 0}, "q3": {}}
    golden = GoldenSet.from_judgments(given, texts={"q1": "one", "q4": "four"}, name="faq", relevance_level=2)
    assert (golden.name, golden.path, golden.relevance_level, golden.thresholds) == ("faq", None, 2, ())
    assert golden.queries == {
        "q1": Query("q1", "one", {"d1": 2, "d2": -1}),
        "q2": Query("q2", None, {"d1": 0}),
    }
    assert (golden.left_out, golden.tags) == (("q3", "q4"), frozenset())
    given["q1"]["d1"] = 3
    assert golden.queries["q1"].judgments["d1"] == 2


def test_ids_become_text_as_in_a_run():
    assert GoldenSet.from_judgments({1: {2: 3}}).queries["1"].judgments == {"2": 3}
    doc = UUID(int=7)
    golden = GoldenSet.from_judgments({doc: {doc: 1}})
    assert golden.queries[str(doc)].judgments == {str(doc): 1}
    assert evaluate(golden, Run({doc: [doc]}), ["mrr"])["mrr"] == 1


def test_numbers_of_other_libraries_become_plain_ones():
    given = {"a": np.int64(2), "b": np.float32(0.5), "c": Fraction(1, 4), np.int32(7): 1.5, "e": 1000}
    golden = GoldenSet.from_judgments({"q": given}, relevance_level=np.float32(1000))
    assert repr(golden.relevance_level) == "1000"
    read = golden.queries["q"].judgments
    assert read == {"a": 2, "b": 0.5, "c": 0.25, "7": 1.5, "e": 1000}
    assert [type(grade) for grade in read.values()] == [int, float, float, float, int]


@pytest.mark.parametrize(
    ("judgments", "options", "problem"),
    [
        ([("q", "d")], {}, "Give {query id: {document id: grade}}, and texts as {query id: text}."),
        ({"q": ["d"]}, {}, "Judgments are no mapping of mappings. Give {query"),
        ({"q": {"d": 1}}, {"texts": ["a"]}, "and texts as {query id: text}"),
        ({"q": {"d": 1}}, {"texts": {"q": 3}}, "The text of query 'q' is 3. Give the text to search for."),
        ({"q": {"d": 1}}, {"texts": {"q": " "}}, "The text of query 'q' is ' '"),
        ({"q": {}}, {}, "There is no query with a judgment"),
        ({}, {}, "There is no query with a judgment. Give {query id: {document id: grade}}."),
        ({"q": {}}, {"texts": {"q": "a", "p": "b"}}, "There is no query with a judgment"),
        ({"q": {"d": True}}, {}, "The query 'q' has the judgments {'d': True}."),
        ({"q": {"c": 1, "d": None}}, {}, "{'d': None}"),
        ({"q": {"d": "1"}}, {}, "{'d': '1'}"),
        ({"q": {"d": float("nan")}}, {}, "{'d': nan}"),
        ({"q": {"d": float("inf")}}, {}, "{'d': inf}"),
        ({"q": {"d": 10**400}}, {}, f"{{'d': 1{'0' * 52}…. Give ids"),
        ({"q": {"d": Fraction(10**400)}}, {}, "{'d': Fraction(1000"),
        (
            {"q": {"d": 1001}},
            {},
            "{'d': 1001}. Give ids as text or integers, and grades as numbers up to 1000.",
        ),
        ({"q": {"d": [1]}}, {}, "{'d': [1]}"),
        ({"": {"d": 1}}, {}, "The query '' has"),
        ({True: {"d": 1}}, {}, "The query None has"),
        ({"q": {None: 1}}, {}, "{None: 1}"),
        ({"q": {"d": 1, "": 1}}, {}, "{'': 1}"),
        ({1: {"d": 1}, "1": {"d": 1}}, {}, "The query '1' is in it twice. Give each an `id` of its own."),
        (
            {"q": {1: 1, "1": 1}},
            {},
            "The query 'q' judges one document twice, as text and as an integer. Keep one.",
        ),
    ],
)
def test_what_is_wrong_is_named(judgments, options, problem):
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.from_judgments(judgments, name="mine", **options)
    assert str(caught.value).startswith("mine: ")
    assert problem in str(caught.value)
    assert ". " in str(caught.value)


def test_two_queries_of_one_id_are_refused():
    with pytest.raises(GoldenSetError, match=r"^judgments: The query 'q' is in it twice"):
        GoldenSet([Query("q", "a", {"d": 1}), Query("q", "b", {"d": 1})])


@pytest.mark.parametrize("level", [0, -1, 1000.5, True, "1", float("nan")])
def test_a_relevance_level_that_is_no_grade_is_refused(level):
    for make in (
        lambda: GoldenSet.from_judgments({"q": {"d": 1}}, name="mine", relevance_level=level),
        lambda: GoldenSet([], name="mine", relevance_level=level),
    ):
        with pytest.raises(GoldenSetError) as caught:
            make()
        assert (
            str(caught.value)
            == "mine: relevance_level is no grade. Give the lowest that counts, above 0 and up to 1000."
        )


IDS = ("plain", "two\nlines", "a ::b", r"a\nb", "a\nb", "bi\u202edi")
FOUND = {
    r"two\nlines": "two\nlines",
    r"a :\:b": "a ::b",
    r"bi\u202edi": "bi\u202edi",
    "two lines": None,
    r"no\nsuch": None,
}


@pytest.mark.parametrize(("written", "found"), [*((name, name) for name in IDS), *FOUND.items(), ("", None)])
def test_find_takes_an_id_and_its_printed_form(written, found):
    query = GoldenSet.from_judgments({query_id: {"d": 1} for query_id in IDS}).find(written)
    assert (query and query.id) == found


def test_find_returns_none_for_a_form_that_two_ids_share():
    golden = GoldenSet.from_judgments({"a\nb ::c": {"d": 1}, "a\\nb ::c": {"d": 1}})
    assert golden.find("a\\nb :\\:c") is None


def test_a_golden_set_can_be_copied_and_sent_to_another_process():
    golden = load("faq.yaml", FULL)
    sent = pickle.loads(pickle.dumps(golden))
    assert (sent.queries, sent.path, sent.thresholds) == (golden.queries, golden.path, golden.thresholds)
    assert sent.where("refund") == "faq.yaml:14"
    query = golden.queries["refund"]
    assert pickle.loads(pickle.dumps(query)) == copy.deepcopy(query) == replace(query) == query
    assert replace(query, weight=3.0) != query


def test_a_golden_set_and_its_queries_are_frozen():
    golden = load("faq.yaml", FULL)
    for thing, name in (
        (golden, "queries"),
        (golden, "relevance_level"),
        (golden.queries["refund"], "weight"),
    ):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, 3)


def test_a_document_counts_with_its_best_passage():
    text = "queries:\n- query: a\n  relevant: [b, {doc: a, text: x}, {doc: a, text: y, grade: 3}, {doc: c, text: z, grade: 0}]\n"
    (query,) = load("faq.yaml", text).queries.values()
    assert query.documents == {"a": 3, "b": 1, "c": 0}
    assert replace(query, judgments=dict(reversed(query.judgments.items()))).documents == {
        "a": 3,
        "b": 1,
        "c": 0,
    }
    assert replace(query, judgments={**query.judgments, "b": -1}).documents["b"] == -1
    assert replace(query, passages=()).documents == query.judgments
