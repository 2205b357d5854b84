"""Option `--corpus`: titles and texts of documents, from the formats that corpora have."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.cli.corpus import load_documents

WANTED = {"d1", "0123", "d3"}
ROWS = [
    {"_id": "d1", "title": "First\n one", "text": "Text of it."},
    {"_id": "0123", "title": "", "text": "More."},
    {"_id": "other", "title": "Unwanted", "text": "x"},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("corpus.jsonl", LINES, None),
        ("corpus.jsonl", "\ufeff\n" + LINES, None),
        ("corpus.ndjson.gz", gzip.compress(LINES.encode()), None),
        ("beir/corpus.jsonl", LINES, "beir"),
        ("c.json", json.dumps(ROWS), None),
        ("c.csv", "DocID, title ,text\nd1,First\n0123,,More.\nd1,Second,\nd1,,Text of it.\n", None),
        ("c.tsv", "id\ttitle\ttext\nd1\tFirst one\tText of it.\n0123\t\tMore.\nx\n", None),
        ("c.csv", '\ufeffdocid,title,text\nd1,"First\n one",Text of it.\n0123,,More.\n', None),
    ],
)
def test_titles_and_texts_of_the_documents_at_hand_are_read(capsys, name, content, given):
    write(name, content)
    found = load_documents([], given or name, WANTED)
    assert found.titles == {"d1": "First" if "Second" in str(content) else "First one"}
    assert found.texts == {"d1": "Text of it.", "0123": "More."}
    assert capsys.readouterr().err == ""


def test_a_mapping_of_id_to_title_is_enough():
    write("titles.json", json.dumps({"d1": "First", "d3": {"title": "Third", "text": "t"}, "x": 3}))
    assert load_documents([], "titles.json", WANTED) == ({"d1": "First", "d3": "Third"}, {"d3": "t"})


def test_ids_that_are_numbers_are_compared_as_text():
    write("c.jsonl", '{"id": 17, "title": "Seventeen"}\n{"id": true, "title": "none"}\n')
    assert load_documents([], "c.jsonl", {"17", "True"}).titles == {"17": "Seventeen"}


def test_a_report_s_titles_come_before_those_of_the_corpus():
    write("run.json", json.dumps({"tests": [{"titles": {"d1": "Of the report", "d9": "kept"}}]}))
    write("c.json", json.dumps({"d1": "Of the corpus", "d3": "Third"}))
    titles = load_documents(["run.json"], "c.json", WANTED).titles
    assert titles == {"d1": "Of the report", "d9": "kept", "d3": "Third"}


def test_chunks_are_found_by_their_document_and_id():
    rows = [
        {"id": 4, "source": "terms", "title": "Bills", "text": "Other."},
        {"id": 4, "source": "handbook", "title": "Returns", "text": "Within thirty days."},
        {"id": "5", "text": "Of no known document."},
        {"_id": "handbook", "title": "The handbook"},
    ]
    write("c.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = load_documents([], "c.jsonl", {"handbook (chunk 4)", "handbook (chunk 5)", "terms (chunk 6)"})
    assert found.texts == {
        "handbook (chunk 4)": "Within thirty days.",
        "handbook (chunk 5)": "Of no known document.",
    }
    assert found.title("handbook (chunk 4)") == "Returns"
    assert found.title("handbook (chunk 5)") == "The handbook"
    assert found.title("terms (chunk 6)") is None


def test_a_corpus_with_none_of_the_documents_is_noted(capsys):
    write("c.jsonl", LINES.replace("d1", "D1").replace("0123", "123"))
    load_documents([], "c.jsonl", WANTED)
    assert capsys.readouterr().err == (
        "note: c.jsonl: holds none of the 3 documents at hand. Check that it spells the ids as the rankings do.\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("c.jsonl", "{}\n[1]\n", "c.jsonl:2: This is no JSON object."),
        ("c.jsonl", "{}\n{\n", "c.jsonl:2: This is no JSON object."),
        ("c.jsonl", b'{"_id": "\xff"}\n', "c.jsonl: is not UTF-8."),
        ("c.json", '{\n"a": }', "c.json:2: This is not JSON."),
        ("c.json", "3", "c.json:1: is no JSON object of id to title"),
        ("c.json", b"\xff", "c.json: is not UTF-8."),
        ("c.csv", "title,text\na,b\n", "c.csv:1: There is no column docid."),
        ("c.csv", b"docid,title\nd1,\xff\n", "c.csv: is not UTF-8."),
        ("c.csv", "", "c.csv:1: There is no column docid."),
        ("c.jsonl.gz", b"no gzip", "c.jsonl.gz: cannot be read: "),
        ("c.jsonl.gz", gzip.compress(LINES.encode() * 99)[:-30], "c.jsonl.gz: cannot be read: "),
        ("folder/x", "", "folder/corpus.jsonl: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(name, content, words):
    write(name, content)
    with pytest.raises(CommandError) as caught:
        load_documents([], "folder" if name.startswith("folder") else name, WANTED)
    assert words in str(caught.value)


def test_a_pipe_is_not_waited_for():
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    os.mkfifo("c.jsonl")
    with pytest.raises(CommandError, match="no regular file"):
        load_documents([], "c.jsonl", WANTED)
