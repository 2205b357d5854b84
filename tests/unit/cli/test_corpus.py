"""Option `--corpus`: titles and texts of documents, from the formats that corpora have."""

from __future__ import annotations

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


def test_a_corpus_with_none_of_the_documents_is_noted(capsys):
    write("c.jsonl", LINES.replace("d1", "D1").replace("0123", "123"))
    load_documents([], "c.jsonl", WANTED)
    assert capsys.readouterr().err == (
        "note: c.jsonl: holds none of the 3 documents at hand. Check that it spells the ids as the rankings do.\n"
    )


def test_a_pipe_is_not_waited_for():
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names")
    os.mkfifo("c.jsonl")
    with pytest.raises(CommandError, match="no regular file"):
        load_documents([], "c.jsonl", WANTED)
