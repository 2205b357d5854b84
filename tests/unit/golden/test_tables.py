"""CSV and TSV files with a header."""

from __future__ import annotations

import csv
import json
import random
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.table_cells import (
    guard_formula,
    read_param,
    unguard_formula,
    write_param,
)
from tests.reached import often
from tests.unit.golden.golden_files import (
    FUZZ,
    damaged,
    json_values,
    judgments,
    load,
    problems,
    survives,
    texts,
    write,
)

CSV = """\
id,query,docid,rating,tags,weight,params.lang,params.max_price,x-why
refund,refund policy,doc-9,3,"billing, money",2,no,500,because
refund,,doc-4,1,,,,,
reset,"how do I ""reset""
my password",doc-12,1,,,,,
refund,refund policy,doc-7,0,"billing, money",2,no,500,
"""


def test_reads_every_column():
    golden = load("faq.csv", CSV)
    refund, reset = golden.queries.values()
    assert refund == Query(
        "refund",
        "refund policy",
        {"doc-9": 3, "doc-4": 1, "doc-7": 0},
        tags=("billing", "money"),
        weight=2.0,
        params={"lang": "no", "max_price": 500},
        line=2,
        column=1,
    )
    assert reset == Query("reset", 'how do I "reset"\nmy password', {"doc-12": 1}, line=4, column=1)
    assert (golden.name, golden.left_out) == ("faq", ())


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_reads_any_delimiter(name, delimiter):
    if name == "a.tsv" and delimiter != "\t":
        return
    text = delimiter.join(["Query", "DocId", " Rating"]) + "\r\n" + delimiter.join(['"a, b; c"', "d", "2"])
    golden = load(name, b"\xef\xbb\xbf" + text.encode())
    assert judgments(golden) == {"a, b; c": {"d": 2}}


def test_skips_blanks_after_commas_if_the_header_has_them():
    assert judgments(load("a.csv", 'query, docid, rating\n"a, b", d, 1\n')) == {"a, b": {"d": 1}}
    assert judgments(load("a.csv", "query,docid,rating\na, d,1\n")) == {"a": {" d": 1}}


def test_leaves_out_queries_without_a_rating():
    golden = load("a.csv", "query,docid,rating\na,d,1\na,e,\nb,f,\nc\n,,\n")
    assert judgments(golden) == {"a": {"d": 1}}
    assert golden.left_out == ("b", "c")


def test_reads_ratings_as_pandas_writes_them():
    assert judgments(load("a.csv", "query,docid,rating\na,d,1.0\na,e,-1.0\na,f,0.5\n")) == {
        "a": {"d": 1, "e": -1, "f": 0.5}
    }


def test_reads_sets_without_texts():
    assert texts(load("a.csv", "id,docid,rating\nq1,d,1\n")) == {"q1": None}


SEEDS = [
    b"query,docid,rating\na,d1,1\na,d2,0\nb,d1,2.5\n",
    b'id;query;docid;rating;tags\r\n1;"a, b";d1;1;x\r\n2;"c ""d""";d1;3;"y,z"\r\n',
    b"docid\tquery\trating\tweight\tparams.k\nd1\ta\t1\t2\t5\n",
]


@often(0.05)
@FUZZ
@given(
    data=st.binary(max_size=8)
    | damaged(SEEDS, 'query,docid;rating\n\r"\t1')
    | damaged(SEEDS, 'query,docid;rating\n\r"\t1')
)
def test_arbitrary_bytes_never_end_in_a_traceback(data):
    survives(write("fuzz.csv", data))


@FUZZ
@given(text=st.text() | st.text(" =+-@\t\r1."))
def test_a_guard_against_formulas_is_removed(text):
    assert unguard_formula(guard_formula(text)) == text
    if text[:1] in "=+@" and text:
        assert guard_formula(text)[0] == " "


@FUZZ
@given(
    value=st.text()
    | st.sampled_from(
        ["true", "null", "1", "1.0", "-1", '"a"', "[1", "[1]", "NaN", "{}", "", "01", "1e5", "5 "]
    )
    | json_values(8)
)
def test_a_cell_holds_any_parameter(value):
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return
    read = read_param(write_param(value))
    assert read == value
    assert type(read) is type(value)


def test_reads_what_the_csv_module_writes():
    rng = random.Random(7)
    rows = [
        ["".join(rng.choices(string.printable[:95] + "\n", k=8)).strip() or "x", f"d{n}", "1"]
        for n in range(50)
    ]
    with Path("a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["query", "docid", "rating"], *rows])
    golden = GoldenSet.load("a.csv")
    assert [unguard_formula(query) for query, _, _ in rows] == list(golden.queries)


def test_a_text_of_several_lines_is_the_same_after_a_checkout_with_other_line_ends():
    text = 'query,docid,rating\n"how do I\nreset ""it""",d1,2\n"how do I\nreset ""it""",d2,x\n'
    right = text.replace("d2,x", "d2,0")
    golden, other = load("a.csv", right), load("b.csv", right.replace("\n", "\r\n"))
    assert texts(golden) == texts(other) == {'how do I\nreset "it"': 'how do I\nreset "it"'}
    assert [q.line for q in golden.queries.values()] == [q.line for q in other.queries.values()] == [2]
    places = [
        problems(name, data)[0].partition(":")[2]
        for name, data in (("a.csv", text), ("b.csv", text.replace("\n", "\r\n")))
    ]
    assert places[0] == places[1]


@pytest.mark.parametrize("header", ["query, docid, rating", "query, docid,rating", "query,docid, rating"])
def test_one_blank_after_a_comma_of_the_header_is_enough(header):
    assert judgments(load("a.csv", f'{header}\na, "d, 1",1\n')) == {"a": {"d, 1": 1}}
