"""Command `label` where passages are judged: chunks with their texts, and the passages that are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet
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


def test_a_report_has_the_texts_itself(label):
    texts = {"handbook (chunk c4)": TEXT, "handbook (chunk 2)": "Of one report."}
    test = {"nodeid": "t", "run": RUN, "titles": {"handbook (chunk c4)": "Returns"}, "chunk_texts": texts}
    Path("report.json").write_text(json.dumps({"format": "pytest-irmetrics report", "tests": [test]}))
    listed = json.loads(label("--run", "report.json", "--json").out)
    assert [(one["docid"], one.get("title"), one.get("text")) for one in listed] == [
        ("handbook (chunk c4)", "Returns", TEXT),
        ("terms", None, None),
        ("handbook (chunk 2)", None, "Of one report."),
    ]
    test["chunk_texts"]["handbook (chunk 2)"] = "Of another, which cuts otherwise."
    Path("other.json").write_text(json.dumps({"format": "pytest-irmetrics report", "tests": [test]}))
    listed = json.loads(label("--run", "report.json", "--run", "other.json", "--json").out)
    assert [one["docid"] for one in listed] == ["handbook (chunk c4)", "terms"]


def test_without_texts_no_chunk_is_listed(label):
    out, err = label("--run", "run.json")
    assert "chunk" not in out
    assert "note: 2 chunks left out, " in err


def test_the_text_of_a_long_document_is_not_put_into_the_golden_set(loop):
    row = {"_id": "terms", "text": "A bill. " * 600}
    Path("chunks.jsonl").write_text(json.dumps(row) + "\n")
    assert "--passage back terms TEXT 0`." in loop("0", "q")
    assert Path(FILE).read_text() == YAML
