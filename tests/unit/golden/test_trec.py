"""TREC qrels and topics."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics.golden import trec
from pytest_irmetrics.golden.errors import MAX_PROBLEMS
from tests.reached import often
from tests.unit.golden.golden_files import FUZZ, damaged, judgments, load, problems, survives, texts, write

QRELS = """\
q1 0 d1 1
q1 0 d2 0
q2 0 d1 -1

q3\tQ0\td\u00a07\t2
q1 0 d9 3
"""


def test_reads_as_trec_eval_does():
    golden = load("a.qrels", QRELS)
    assert judgments(golden) == {
        "q1": {"d1": 1, "d2": 0, "d9": 3},
        "q2": {"d1": -1},
        "q3": {"d\u00a07": 2},
    }
    assert texts(golden) == {"q1": None, "q2": None, "q3": None}
    assert (golden.name, golden.left_out) == ("a", ())
    assert [golden.where(query_id) for query_id in golden.queries] == [
        "a.qrels:1",
        "a.qrels:3",
        "a.qrels:5",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_reads_every_line_ending_and_a_byte_order_mark(end, last):
    rows = ["q1 0 d1 1", "q2 0 d2 2"]
    golden = load("a.qrels", b"\xef\xbb\xbf" + (end.join(rows) + end * last).encode())
    assert judgments(golden) == {"q1": {"d1": 1}, "q2": {"d2": 2}}


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_other_readers(seed):
    rng = random.Random(seed)
    separators = [" ", "\t", "   ", " \t"]
    seen = {(f"q{rng.randrange(20)}", f"d{rng.randrange(50)}") for _ in range(300)}
    rows = [
        rng.choice(separators).join([query, rng.choice("0123Q"), doc, str(rng.randint(-2, 4))])
        for query, doc in seen
    ]
    golden = load("a.qrels", "\n".join(rows) + "\n")
    ours = judgments(golden)
    with Path("a.qrels").open() as file:
        assert ours == pytrec_eval.parse_qrel(file)
    theirs: dict[str, dict[str, int]] = {}
    for row in ir_measures.read_trec_qrels("a.qrels"):
        theirs.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    assert ours == theirs


def test_rows_of_a_query_may_stand_apart():
    golden = load("a.qrels", "\nq1 0 d1 1\nq2 0 d1 1\n \nq1 0 d2 2.0\n")
    assert judgments(golden) == {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}
    assert [query.line for query in golden.queries.values()] == [2, 3]


def test_large_files_are_read_in_blocks_of_rows(monkeypatch):
    from pytest_irmetrics.golden import judgment_rows

    text = "".join(f"q{n // 3} 0 d{n} {n % 4}\n" for n in range(60))
    whole = load("a.qrels", text)
    monkeypatch.setattr(judgment_rows, "_BLOCK", 7)
    assert load("a.qrels", text).queries == whole.queries


def test_reads_the_texts_from_the_topics_beside():
    write("golden/a.topics.tsv", "q1\thow do I\treset\r\nq9\tunjudged\n\nq2\trefund \n")
    golden = load("golden/a.qrels", "q1 0 d1 1\nq2 0 d2 1\n")
    assert texts(golden) == {"q1": "how do I\treset", "q2": "refund "}
    assert golden.left_out == ("q9",)


def test_reports_problems_of_both_files_at_once():
    write("golden/a.topics.tsv", "q1\tone\nq2 two\nq1\tagain\n\tnone\nq3\t \n")
    assert problems("golden/a.qrels", "q1 0 d1\nq2 0 d2 1\n") == [
        "golden/a.qrels:1:1: Here are 3 fields, and qrels have 4. Write `query 0 document grade`.",
        "golden/a.topics.tsv:2:1: This is no query and its text. Write `query`, a tab, and the text.",
        "golden/a.topics.tsv:3:1: The query 'q1' is here twice, first on line 1. Keep one.",
        "golden/a.topics.tsv:4:1: This is no query and its text. Write `query`, a tab, and the text.",
        "golden/a.topics.tsv:5:1: This is no query and its text. Write `query`, a tab, and the text.",
    ]


def test_a_judged_query_needs_a_text():
    write("a.topics.tsv", "q1\tone\n")
    assert problems("a.qrels", "q1 0 d1 1\nq2 0 d2 1\nq2 0 d3 1\n") == [
        "a.qrels:2:1: The query 'q2' has no text in a.topics.tsv. Add it, or remove its judgments."
    ]


def test_two_lines_are_never_read_as_one_row():
    assert len(problems("a.qrels", "1 0 5\n2 0 6 1 1\n")) == 2


def test_reads_fractions():
    assert judgments(load("a.qrels", "q 0 a 0.5\nq 0 b 2.0\n")) == {"q": {"a": 0.5, "b": 2}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a.qrels:1:1: There is no judgment. Write one a line."),
        (" \n\n", "a.qrels:1:1: There is no judgment. Write one a line."),
        ("q 0 d 1\nq 0 \0 1\n", "a.qrels:2:5: Here is a NUL, which no text has. Save the file as UTF-8, or name another."),
        ("<<<<<<< HEAD\nq 0 d 1\n", "a.qrels:1:1: A marker of an unresolved merge. Keep one side and remove the markers."),
        ("q 0 d 1\n".encode("utf-16"), "a.qrels:1:1: The file is in UTF-16 or UTF-32. Save it as UTF-8."),
        (b"q 0 caf\xe9 1\n", "a.qrels:1:8: The byte 0xE9 is not UTF-8. In Latin-1 it would be 'é'. Save the file as UTF-8."),
        ("query-id\tcorpus-id\tscore\n", "a.qrels:1:1: This is the header of a table. Name the file .tsv, or write `query 0 document grade` from the first line on."),
    ],
)  # fmt: skip
def test_recognises_other_formats(text, problem):
    assert problems("a.qrels", text) == [problem]


def test_problems_are_capped():
    found = problems("a.qrels", "x\n" * 5000)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].endswith("the rest is not read. Solve these first.")


@often(0.05)
@FUZZ
@given(
    data=st.binary(max_size=8)
    | damaged(
        [
            b"q1 0 d1 1\nq1 0 d2 0\n",
            b"q1\t0\td1\t2\r\nq2\t0\td1\t-1",
            b"# why\nq1 0 d1 1 # sure\n\nq2 Q0 d2 3\n",
        ],
        "q01 \t\nd.-#",
    )
    | damaged(
        [
            b"q1 0 d1 1\nq1 0 d2 0\n",
            b"q1\t0\td1\t2\r\nq2\t0\td1\t-1",
            b"# why\nq1 0 d1 1 # sure\n\nq2 Q0 d2 3\n",
        ],
        "q01 \t\nd.-#",
    )
)
def test_arbitrary_bytes_never_end_in_a_traceback(data):
    survives(write("fuzz.qrels", data))


def test_a_query_whose_id_begins_with_a_number_sign_is_judged():
    assert judgments(load("a.qrels", "#1 0 d1 1\n")) == {"#1": {"d1": 1}}


def test_comments_in_topics():
    write("a.topics.tsv", "# topics of 2004\n# id\ttext\n#\tx\nq1\tone\n")
    golden = load("a.qrels", "q1 0 d1 1\n")
    assert (texts(golden), golden.left_out) == ({"q1": "one"}, ())


def test_reads_packed_judgments_whatever_their_line_ends():
    write("golden/a.topics.tsv", "q1\tone\n")
    golden = load("golden/a.qrels.gz", gzip.compress(b"q1 0 d1 1\r\nq1 0 d2 0\r\n"))
    assert (golden.name, judgments(golden), texts(golden)) == ("a", {"q1": {"d1": 1, "d2": 0}}, {"q1": "one"})
    assert golden.where_judged("q1", "d2") == "golden/a.qrels.gz:2"


def test_reads_packed_tables():
    golden = load("a.csv.gz", gzip.compress(b"query,docid,rating\none,d1,1\n"))
    assert judgments(golden) == {"one": {"d1": 1}}


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:9] + b"x" * 9, lambda data: data[:2]]
)
def test_says_that_packed_judgments_are_damaged(damage):
    packed = gzip.compress(b"q1 0 d1 1\n" * 100)
    assert problems("a.qrels.gz", damage(packed)) == [
        "a.qrels.gz:1:1: The file cannot be read: its gzip data is cut short or damaged. Pack it again, or name the unpacked file."
    ]


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(trec, "MAX_BYTES", 1_000_000)
    (problem,) = problems("a.qrels.gz", gzip.compress(b"\n" * 3_000_000))
    assert "it is larger than 1 MB, once it is unpacked" in problem
