"""GoldenSet and Query as objects: made from judgments, searched, copied, pickled."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import pytest

from pytest_irmetrics import Run, evaluate
from pytest_irmetrics.golden import GoldenSet, GoldenSetError, Query
from pytest_irmetrics.golden.passage import Passage
from tests.unit.golden.golden_files import FULL


def error_of(*args, **options) -> list[str]:
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.from_judgments(*args, **options)
    return str(caught.value).splitlines()


def test_reads_as_trec_eval_does():
    judgments = {"q1": {"d1": 2, "d2": -1}, "q2": {"d1": 0}, "q3": {}}
    golden = GoldenSet.from_judgments(
        judgments, texts={"q1": "one", "q4": "four"}, name="faq", relevance_level=2
    )
    assert golden.name == "faq"
    assert golden.path is None
    assert golden.relevance_level == 2
    assert golden.queries == {
        "q1": Query("q1", "one", {"d1": 2, "d2": -1}),
        "q2": Query("q2", None, {"d1": 0}),
    }
    assert golden.left_out == ("q3", "q4")
    assert golden.tags == frozenset()
    assert golden.thresholds == ()


def test_the_name_of_a_passage_stays_the_same_or_stored_rankings_no_longer_mean_it():
    assert Passage("doc", "a  short\ntext").key == "doc: a short text"
    assert Passage("doc", "x" * 60).key == "doc: " + "x" * 60
    assert (
        Passage("doc", "word " * 40).key
        == "doc: word word word word word word word word word wor… (53738dc1)"
    )


def test_a_document_counts_with_its_best_passage():
    passages = (Passage("a", "one"), Passage("a", "two"), Passage("b", "three"))
    judged = dict(zip([passage.key for passage in passages], [1, 3, 0], strict=True)) | {"b": 2, "c": 1}
    assert Query("q", "text", judged, passages=passages).documents == {"a": 3, "b": 2, "c": 1}
    assert Query("q", "text", dict(reversed(judged.items())), passages=passages).documents == {
        "a": 3,
        "b": 2,
        "c": 1,
    }


def test_the_highest_grade_is_1000():
    golden = GoldenSet.from_judgments({"q": {"d": 1000}}, relevance_level=1000)
    assert golden.queries["q"].judgments == {"d": 1000}


def test_integers_and_uuids_become_text_as_in_a_run():
    assert GoldenSet.from_judgments({1: {2: 3}}).queries["1"].judgments == {"2": 3}
    doc = UUID(int=7)
    golden = GoldenSet.from_judgments({doc: {doc: 1}})
    assert golden.queries[str(doc)].judgments == {str(doc): 1}
    assert evaluate(golden, Run({doc: [doc]}), ["mrr"])["mrr"] == 1


def test_numpy_and_fractions_become_plain_numbers():
    numpy = pytest.importorskip("numpy")
    judgments = {
        "q": {"a": numpy.int64(2), "b": numpy.float32(0.5), "c": Fraction(1, 4), numpy.int32(7): 1.5}
    }
    read = GoldenSet.from_judgments(judgments).queries["q"].judgments
    assert read == {"a": 2, "b": 0.5, "c": 0.25, "7": 1.5}
    assert [type(grade) for grade in read.values()] == [int, float, float, float]


@pytest.mark.parametrize("grade", [True, None, "1", float("nan"), float("inf"), 1001, [1]])
def test_refuses_what_is_no_grade(grade):
    (line,) = error_of({"q": {"d": grade}}, name="mine")
    assert line.startswith("mine: Query 'q' grades 'd' ")
    assert line.endswith("Give a number up to 1000.")


def test_refuses_what_is_no_id():
    lines = error_of({"": {"d": 1}, True: {"d": 1}, 1.5: {"d": 1}, "q": {None: 1, 10**5000: 1}})
    assert [line.split(".")[0] for line in lines[:2]] == [
        "judgments: The query id '' is no id", "judgments: The query id True is no id",
    ]  # fmt: skip
    assert len(lines) == 5


def test_refuses_the_same_id_as_text_and_integer():
    lines = error_of({1: {"d": 1}, "1": {"d": 1}, "q": {2: 1, "2": 1}})
    assert "The query '1' is here twice" in lines[0]
    assert "Query 'q' judges '2' twice" in lines[1]


LEVEL = "Give the lowest grade that counts, above 0 and up to 1000."
JUDGE = "Give {query id: {document id: grade}}."


@pytest.mark.parametrize(
    ("judgments", "options", "problem"),
    [
        (
            [("q", "d")],
            {},
            "The judgments are no mapping. Give a mapping of query id to document id to grade.",
        ),
        ({"q": ["d"]}, {}, "The judgments of query 'q' are of type list. Give {id: grade}."),
        ({"q": {"d": 1}}, {"texts": ["a"]}, "The texts are no mapping. Give a mapping of query id to text."),
        ({"q": {"d": 1}}, {"texts": {"q": 3}}, "The text of query 'q' is 3. Give the text to search for."),
        (
            {"q": {"d": 1}},
            {"texts": {"q": " "}},
            "The text of query 'q' is ' '. Give the text to search for.",
        ),
        ({"q": {"d": 1}}, {"relevance_level": 0}, f"relevance_level is 0. {LEVEL}"),
        ({"q": {"d": 1}}, {"relevance_level": True}, f"relevance_level is True. {LEVEL}"),
        ({"q": {}}, {}, f"There is no query with a judgment. {JUDGE}"),
        ({}, {}, f"There is no query with a judgment. {JUDGE}"),
    ],
)
def test_refuses_judgments_of_other_shapes(judgments, options, problem):
    assert error_of(judgments, **options) == [f"judgments: {problem}"]


IDS = ("plain", "two\nlines", "a ::b", r"a\nb", "a\nb", "bi\u202edi")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        *((query_id, query_id) for query_id in IDS),
        (r"two\nlines", "two\nlines"),
        (r"a :\:b", "a ::b"),
        (r"bi\u202edi", "bi\u202edi"),
        ("two lines", None),
        (r"no\nsuch", None),
        ("", None),
    ],
)
def test_find_takes_an_id_and_its_printed_form(written, found):
    golden = GoldenSet.from_judgments({query_id: {"d": 1} for query_id in IDS})
    query = golden.find(written)
    assert (query and query.id) == found


def test_find_returns_none_for_a_form_that_two_ids_share():
    golden = GoldenSet.from_judgments({"a\nb ::c": {"d": 1}, "a\\nb ::c": {"d": 1}})
    assert golden.find("a\\nb :\\:c") is None


def test_yaml_is_imported_for_yaml_files_alone():
    code = "import sys, pytest_irmetrics.golden as g; g.GoldenSet.from_judgments({1: {2: 3}}); assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_a_query_can_be_copied_and_pickled():
    passages = (Passage("d", "text"),)
    values = ("q", "t", {"d": 1}, ("f",), ("t",), 2.0, {"p": 1}, (), True, "why", "note", 3, 4, passages)
    made = Query(*values)
    assert tuple(getattr(made, field.name) for field in fields(Query)) == values
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == replace(made) == made


def test_a_golden_set_can_be_pickled(load_yaml):
    golden = load_yaml(FULL)
    sent = pickle.loads(pickle.dumps(golden))
    assert (sent.queries, sent.path, sent.thresholds) == (golden.queries, golden.path, golden.thresholds)
    assert sent.where("refund") == "faq.yaml:14"


def test_an_error_can_be_pickled(load_yaml):
    with pytest.raises(GoldenSetError) as caught:
        load_yaml("queries: a")
    sent = pickle.loads(pickle.dumps(caught.value))
    assert (str(sent), sent.problems) == (str(caught.value), caught.value.problems)
