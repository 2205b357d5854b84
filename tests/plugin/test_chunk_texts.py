"""A JSON report has the texts of chunks in which no judged passage was found, and the titles of their documents."""

from __future__ import annotations

import json

import pytest

GOLDEN = """
    queries:
      - query: return a product
        relevant: [{doc: handbook, text: thirty days}]
      - query: gift cards
        relevant: [{doc: handbook, text: never expire}]
"""
CHUNKS = [
    {"id": "c1", "doc_id": "handbook", "text": "Within \u00adthirty\n days.", "title": "The handbook"},
    {"id": "c2", "doc_id": "handbook", "text": "Gift  cards never expire."},
    {"id": "t1", "doc_id": "terms", "text": "A bill is due."},
]


@pytest.fixture
def test_of(project):
    """Run, and return what the report says of the only test."""

    def test_of(golden=GOLDEN, returned=CHUNKS):
        project.write("golden/faq.yaml", golden)
        project.retrieve(str(returned))
        project.test(['ir_golden("golden/*.yaml")'])
        project.run("--ir-report=run.json")
        (test,) = json.loads((project.path / "run.json").read_text(encoding="utf-8"))["tests"]
        return test

    return test_of


def test_the_texts_of_chunks_without_a_judged_passage_are_in_the_report(test_of):
    test = test_of()
    assert test["chunk_texts"] == {
        "handbook (chunk c1)": "Within thirty days.",
        "handbook (chunk c2)": "Gift cards never expire.",
        "t1": "A bill is due.",
    }
    assert test["run"]["queries"][0]["rankings"] == [["handbook (chunk c1)", "handbook: never expire", "t1"]]


def test_chunks_and_passages_have_the_title_of_their_document(test_of):
    assert test_of()["titles"] == {
        "handbook (chunk c1)": "The handbook",
        "handbook (chunk c2)": "The handbook",
        "handbook: never expire": "The handbook",
        "handbook: thirty days": "The handbook",
    }


def test_an_id_that_two_chunks_have_has_no_text(test_of):
    test = test_of(returned="[{'id': 'c', 'doc_id': 'handbook', 'text': query}]")
    assert [answer["rankings"] for answer in test["run"]["queries"]] == [[["handbook (chunk c)"]]] * 2
    assert test["chunk_texts"] == {}


def test_the_texts_are_those_of_today_s_retriever_not_of_another(project):
    project.write("golden/faq.yaml", GOLDEN)
    project.retrieve(str(CHUNKS))
    project.write(
        "test_search.py",
        f"""
        import pytest

        @pytest.mark.ir_golden("golden/*.yaml")
        def test_search_quality(irmetrics):
            irmetrics.check(against=lambda query, k: {[{**chunk, "text": "Another text."} for chunk in CHUNKS]})
        """,
    )
    project.run("--ir-report=run.json")
    (test,) = json.loads((project.path / "run.json").read_text(encoding="utf-8"))["tests"]
    assert test["chunk_texts"]["t1"] == "A bill is due."


def test_where_no_passages_are_judged_no_texts_are_kept(test_of):
    assert test_of("queries: [{query: a, relevant: handbook}]\n")["chunk_texts"] == {}
