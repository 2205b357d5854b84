"""Quepid's exports."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reached import often
from tests.unit.golden.golden_files import FUZZ, damaged, judgments, load, problems, survives, write


def test_reads_the_export_of_a_case():
    export = {
        "case_name": "Movies",
        "owner_email": "someone@example.com",
        "options": {},
        "scorer": {"name": "nDCG@10", "scale": [0, 1, 2, 3]},
        "queries": [
            {"arranged_at": 1, "query_text": "star wars", "options": {}, "notes": None, "information_need": "the films", "ratings": {"11": 3, "1893": 2, "140607": None}},
            {"arranged_at": 2, "query_text": "rambo", "options": None, "notes": "the first", "ratings": {"7555": 3.0, "1368": "2"}},
            {"arranged_at": 3, "query_text": "no idea", "ratings": {}},
            {"arranged_at": 4, "query_text": "nothing", "ratings": None},
        ],
        "try": {"query_params": "q=#$query##"},
    }  # fmt: skip
    golden = load("case.json", json.dumps(export, indent=2))
    assert judgments(golden) == {"star wars": {"11": 3, "1893": 2}, "rambo": {"7555": 3, "1368": 2}}
    assert [query.note for query in golden.queries.values()] == ["the films", "the first"]
    assert (golden.name, golden.left_out) == ("Movies", ("no idea", "nothing"))
    lines = json.dumps(export, indent=2).splitlines()
    assert '"arranged_at": 2' in lines[golden.queries["rambo"].line]


def test_reads_ratings_that_are_a_list():
    def rated(*ratings):
        return [
            {"doc_id": doc_id, "rating": grade, "user_email": "a@example.com"} for doc_id, grade in ratings
        ]

    export = {
        "case_name": "Rating party",
        "owner_email": "someone@example.com",
        "options": {},
        "scorer": {"scorer_id": 5, "name": "NDCG@10", "scale": [0, 1, 2, 3], "scale_with_labels": {"0": "Poor"}},
        "queries": [
            {"arranged_at": 1, "query_text": "projector", "options": {}, "notes": None, "ratings": rated(("p-1", 3.0), ("p-2", 0.0), ("p-3", None))},
            {"arranged_at": 2, "query_text": "canvas", "notes": "", "ratings": rated(("p-1", 1), ("p-1", 1.0))},
            {"arranged_at": 3, "query_text": "no idea", "ratings": []},
        ],
        "try": {"query_params": {"q": "#$query##"}, "search_endpoint": {"name": "shop"}},
    }  # fmt: skip
    golden = load("case.json", json.dumps(export, indent=2))
    assert judgments(golden) == {"projector": {"p-1": 3, "p-2": 0}, "canvas": {"p-1": 1}}
    assert golden.left_out == ("no idea",)
    line = golden.locate("projector", "p-2")
    assert '"p-2"' in json.dumps(export, indent=2).splitlines()[line - 1]


@pytest.mark.parametrize(
    ("ratings", "problem"),
    [
        ("[1]", '1:41: This is no rating. Write {"doc_id": "document", "rating": 3}.'),
        ('[{"doc_id": "b"}]', '1:41: This is no rating. Write {"doc_id": "document", "rating": 3}.'),
        ('[{"doc_id": null, "rating": 1}]', '1:41: This is no rating. Write {"doc_id": "document", "rating": 3}.'),
        ('[{"doc_id": "", "rating": 1}]', "1:52: Here is a rating without a document. Write its id."),
        ('[{"doc_id": "b", "rating": "x"}]', "1:67: The grade of 'b' is 'x'. Write a number up to 1000."),
        ('[{"doc_id": "b", "rating": [1]}]', "1:67: The grade of 'b' is '…'. Write a number up to 1000."),
        ('[{"doc_id": "b", "rating": 1},\n{"doc_id": "b", "rating": 2}]', "2:12: The query 'a' rates 'b' 2 here and 1 on line 1. Keep one of these ratings."),
    ],
)  # fmt: skip
def test_every_problem_of_a_listed_rating_has_its_place(ratings, problem):
    text = f'{{"queries": [{{"query": "a", "ratings": {ratings}}}]}}'
    assert problems("a.json", text)[0] == f"a.json:{problem}"


@pytest.mark.parametrize(
    "ratings",
    ['{"a": 1, "b": null, "c": 2}', '[{"doc_id": "a", "rating": 1}, {"doc_id": "b", "rating": null}, {"doc_id": "c", "rating": 2}]'],
)  # fmt: skip
def test_a_document_without_a_rating_is_not_judged_and_those_behind_it_are(ratings):
    golden = load("case.json", f'{{"queries": [{{"query": "q", "ratings": {ratings}}}]}}')
    assert judgments(golden) == {"q": {"a": 1, "c": 2}}


def test_reads_the_export_of_ratings():
    golden = load("ratings.json", json.dumps({"queries": [{"query": "star wars", "ratings": {"11": 3}}]}))
    assert judgments(golden) == {"star wars": {"11": 3}}


def test_reads_rated_queries():
    text = 'query,docid,rating\n" -wars, star",11,3\nrambo,7555,3\nrambo,1368,\nno idea\n'
    golden = load("case_basic.csv", text)
    assert judgments(golden) == {"-wars, star": {"11": 3}, "rambo": {"7555": 3}}
    assert golden.left_out == ("no idea",)


def test_reads_the_detailed_export():
    text = (
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating,overview,vote_average\r\n"
        'OSC,Movies,6,star wars,11,Star Wars,3,"Princess Leia, captured",8.1\r\n'
        "OSC,Movies,6,star wars,1893,Episode I,,,6.5\r\n"
    )
    assert judgments(load("general.csv", text)) == {"star wars": {"11": 3}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", '1:1: This is no export of Quepid, which has a list of "queries". Write a golden set as YAML or JSONL.'),
        ('{"queries": []}', "1:1: No query has a rating. Rate some results in Quepid, and export the case again."),
        ('{"format": "pytest-irmetrics run"}', "1:1: This is a run of pytest-irmetrics, not a golden set. Name the golden set."),
        ('{"queries": [{"query": "a",\n "relevant": ["b"]}]}', "1:14: This is no query of an export of Quepid. Name a golden set with these keys .yaml, which JSON is, too."),
        ('{"queries": [\n 5]}', '2:2: This is no query of an export of Quepid. An export has "query_text" or "query", and "ratings".'),
        ('{"queries": [{"query": "a", "ratings": {"b": "x"}}]}', "1:46: The grade of 'b' is 'x'. Write a number up to 1000."),
        ('{"queries": [{"query": "a", "ratings": {"b": 1, "b": 1}}]}', "1:49: The query 'a' judges 'b' twice, first on line 1. Keep one."),
        ('{"queries": [{"query": "a", "ratings": {"": 1}}]}', "1:41: Here is a rating without a document. Write its id."),
        ('{"queries": [{"query": "a", "ratings": "x"}]}', '1:40: The "ratings" are neither an object nor a list. Write {"document": rating}.'),
        ('{"queries": [{"query": "a", "ratings": {"b": 1}}, {"query": "a", "ratings": {}}]}', "1:51: The query 'a' is here twice. Keep one."),
        ('{"queries": [', "1:14: The JSON ends here, too early. Close what it opened."),
    ],
)  # fmt: skip
def test_every_problem_has_its_place(text, problem):
    assert problems("a.json", text)[0] == f"a.json:{problem}"


SEEDS = [
    b'{"queries": [{"query": "a", "ratings": {"d1": 1, "d2": 0}}, {"query_text": "b", "ratings": {"d": 3}}]}',
    b'{"case_name": "c", "queries": [{"query_text": "a", "ratings": {"d": 2}}]}\n',
]


@often(0.05)
@FUZZ
@given(
    data=st.binary(max_size=8)
    | damaged(SEEDS, '{}[]:,"queriesratings1')
    | damaged(SEEDS, '{}[]:,"queriesratings1')
)
def test_arbitrary_bytes_never_end_in_a_traceback(data):
    survives(write("fuzz.json", data))
