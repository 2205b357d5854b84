"""The line of a query, and of a judgment in it."""

from __future__ import annotations

import pytest

from pytest_irmetrics.golden import GoldenSet
from tests.unit.golden.golden_files import FULL, jsonl, load, one_query, write


def test_where_names_the_line_of_a_query(load_yaml):
    golden = load_yaml(FULL)
    assert golden.where("refund") == "faq.yaml:14"
    assert golden.where("asdf qwerty") == "faq.yaml:24"
    with pytest.raises(KeyError):
        golden.where("nobody")


@pytest.mark.parametrize(
    ("query_id", "doc_id", "line"),
    [
        ("how do I reset my password", "doc-12", 13),
        ("refund", "doc-9", 16),
        ("refund", "doc-99", 17),
        ("refund", "nowhere", None),
        ("known to be bad", "doc-3", 27),
        ("known to be bad", "doc-9", None),
    ],
)
@pytest.mark.usefixtures("parser")
def test_locate_finds_the_line_of_a_judgment(load_yaml, query_id, doc_id, line):
    golden = load_yaml(FULL)
    assert golden.locate(query_id, doc_id) == line
    assert golden.locate(query_id, doc_id) == line


@pytest.mark.usefixtures("parser")
def test_locate_in_flow_style(load_yaml):
    golden = load_yaml(
        "queries: [{query: a, relevant: [b,\n c]}, {query: d, relevant: e}, {\n query: f,\n relevant: {\n g: 1}}]\n"
        "x-more: [\n".replace("x-more: [\n", "x-more: 1\n")
    )
    assert [golden.locate("a", "b"), golden.locate("a", "c")] == [1, 2]
    assert golden.locate("d", "e") == 2
    assert golden.locate("f", "g") == 5


@pytest.mark.usefixtures("parser")
def test_locate_in_block_style(load_yaml):
    golden = load_yaml(
        "queries:\n- query: a\n  relevant:\n  - b\n  - c\n  - 'd'\n-\n  query: e\n  relevant:\n    f: 1\n    ? g\n    : 2\n"
    )
    assert [golden.locate("a", doc) for doc in "bcd"] == [4, 5, 6]
    assert [golden.locate("e", doc) for doc in "fg"] == [10, 11]


def test_locate_finds_a_passage(load_yaml):
    golden = load_yaml(
        one_query("""
        relevant:
        - b
        - {doc: c, text: d e}
        - doc: c
          text: |
            f
            g
        """)
    )
    assert [golden.locate("a", doc_id) for doc_id in ("b", "c: d e", "c: f g", "c")] == [4, 5, 6, None]


def test_locate_is_none_once_the_file_has_changed_or_gone(load_yaml, tmp_path):
    text = one_query("relevant: b")
    for change in (
        b"",
        b"\xff\n\n\n",
        b"queries:\n- query: a\n  relevant: [x\n",
        b"\n\n- c\n\n",
        b"a\nb: 'c\nd\n",
    ):
        golden = load_yaml(text)
        (tmp_path / "faq.yaml").write_bytes(change)
        assert golden.locate("a", "b") is None
    golden = load_yaml(text)
    (tmp_path / "faq.yaml").unlink()
    assert golden.locate("a", "b") is None


def test_locate_is_none_for_what_an_alias_stands_for(load_yaml):
    golden = load_yaml("x-d: &d [b]\n" + one_query("relevant: *d"))
    assert golden.locate("a", "b") is None


def test_locate_is_none_without_a_file():
    golden = GoldenSet.from_judgments({"q": {"d": 1}}, name="mine")
    assert golden.locate("q", "d") is None
    assert golden.where("q") == "mine"


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.qrels", "q 0 x 1\np 0 d 1\nq 0 d 1\n", 3),
        ("a.csv", "query,docid,rating\nq,x,1\np,d,1\nq,d,1\n", 4),
        ("a.csv", 'id;query;docid;rating\nq;"a, b";d;1\n', 2),
        ("a.tsv", "query\tdocid\trating\nq\tx\t1\nq\td\t1\n", 3),
        ("a.jsonl", jsonl({"query": "q", "relevant": ["x", "d"]}), 1),
    ],
)
def test_locate_in_other_formats(name, text, line):
    golden = load(name, text)
    assert golden.locate("q", "d") == line
    assert golden.locate("q", "nowhere") is None
    write(name, "\n")
    assert same_set_with_its_file_unread(golden).locate("q", "d") is None


def test_a_row_that_is_no_row_any_more_is_passed_over():
    golden = load("a.csv", "query,docid,rating\nq,d,1\n")
    write("a.csv", f"query,docid,rating\n{'x' * 200_000},d,1\n")
    assert same_set_with_its_file_unread(golden).locate("q", "d") is None


def same_set_with_its_file_unread(golden: GoldenSet) -> GoldenSet:
    return GoldenSet(golden.queries.values(), path=golden.path)
