"""Command `label` where passages are judged: chunks with their texts, and the passages that are written."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet
from pytest_irmetrics.golden.passage import Passage
from tests.unit.cli.typed_keys import type_keys

FILE = "faq.yaml"
YAML = """\
# by hand
queries:
  - id: back
    query: can I send it back
    relevant:
      - {doc: handbook, text: thirty days, grade: 2}   # the rule
"""
TEXT = 'You pay.  The way back\ncosts "nothing." Ask us! 送料は無料です。返品できます。'
RUN = {
    "format": "pytest-irmetrics run",
    "version": 1,
    "queries": [
        {
            "id": "back",
            "text": "can I send it back",
            "rankings": [["handbook: thirty days", "handbook (chunk c4)", "terms", "handbook (chunk 2)"]],
        }
    ],
}
CORPUS = [
    {"_id": "c4", "source": "handbook", "title": "Returns", "text": TEXT},
    {"_id": "terms", "title": "Terms", "text": "A bill."},
]
CHUNKS = ["--run", "run.json", "--corpus", "chunks.jsonl"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    Path(FILE).write_text(YAML)
    Path("run.json").write_text(json.dumps(RUN))
    Path("chunks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CORPUS))


@pytest.fixture
def label(capsys):
    def label(*arguments, status=0):
        assert cli.main(["label", FILE, *arguments]) == status
        return capsys.readouterr()

    return label


@pytest.fixture
def loop(label, monkeypatch):
    def loop(*typed):
        type_keys(monkeypatch, *typed)
        return label("-i", *CHUNKS).out

    return loop


def passages():
    return list(GoldenSet.load(FILE).queries["back"].passages)[1:]


def test_chunks_are_listed_with_a_column_for_the_text(label):
    out = label("--run", "run.json", "--out", "-").out
    assert [row["docid"] for row in csv.DictReader(io.StringIO(out.removeprefix("\ufeff")))] == [
        "handbook (chunk c4)",
        "terms",
        "handbook (chunk 2)",
    ]
    assert "influence,text" in out


def test_the_passage_of_a_chunk_is_asked_for(loop):
    loop("2", "Ask us!\n", "q")
    assert passages() == [Passage("handbook", "Ask us!", 2)]


def test_the_text_of_a_long_document_is_not_put_into_the_golden_set(loop):
    row = {"_id": "terms", "text": "A bill. " * 600}
    Path("chunks.jsonl").write_text(json.dumps(row) + "\n")
    assert "--passage back terms TEXT 0`." in loop("s", "0", "q")
    assert Path(FILE).read_text() == YAML
