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


def test_a_chunk_whose_text_is_known_is_listed(label):
    out, err = label(*CHUNKS)
    assert [line.split()[2:5] for line in out.splitlines() if line.startswith("     0.")] == [
        ["handbook", "(chunk", "c4)"],
        ["terms", "Terms", "back:"],
    ]
    assert (
        "note: 1 chunk left out, of documents that are judged by passage: the text is unknown. Name a JSON report of the "
        "run (--run REPORT.json), or a corpus of chunks (--corpus FILE).\n"
    ) in err


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


def test_the_loop_shows_the_text_by_sentences(loop):
    lines = loop("q").splitlines()
    at = lines.index("  document  handbook (chunk c4)")
    assert lines[at + 1 : at + 8] == [
        "  title     Returns",
        "  text    1 You pay.",
        '          2 The way back costs "nothing."',
        "          3 Ask us!",
        "          4 送料は無料です。",
        "          5 返品できます。",
        "0-2, s skip, u undo, q quit: q",
    ]


@pytest.mark.parametrize(
    ("answer", "written"),
    [
        ("2", 'The way back costs "nothing."'),
        ("2-3", 'The way back costs "nothing." Ask us!'),
        ("4 - 5", "送料は無料です。返品できます。"),
        ("\n", " ".join(TEXT.split())),
        ("the way  back", None),
        ("way  back", "way  back"),
        ("6", None),
        ("3-2", None),
        ("0", None),
    ],
)
def test_a_grade_writes_the_passage_that_is_chosen(loop, answer, written):
    out = loop("2", answer, "u", "q")
    if written is None:
        assert passages() == []
        assert "There are 5 sentences." in out or "These words are not in the text." in out
    else:
        assert "1 judgment written" in out or "taken out" in out
        loop("2", answer, "q")
        assert passages() == [Passage("handbook", written, 2)]
        assert Path(FILE).read_text().startswith(YAML)


def test_a_chunk_that_is_not_relevant_is_written_whole(loop):
    out = loop("0", "q")
    assert passages() == [Passage("handbook", " ".join(TEXT.split()), 0)]
    assert "which sentences" not in out


def test_a_passage_that_is_judged_already_is_not_written_again(loop):
    Path(FILE).write_text(YAML.replace("# the rule", "# the rule\n      - {doc: handbook, text: Ask us!}"))
    out = loop("2", "3", "q")
    assert "  handbook: Ask us!: this passage is judged already.\n" in out
    assert len(passages()) == 1


def test_a_document_among_passages_is_judged_as_a_whole(loop):
    loop("s", "1", "q", "q")
    assert GoldenSet.load(FILE).queries["back"].judgments == {"handbook: thirty days": 2, "terms": 1}


def test_a_document_among_passages_is_judged_by_its_text_where_the_list_has_no_place_for_its_grade(
    loop, label
):
    out = loop("s", "0", "u", "2", "\n", "q", "q")
    assert "which sentences" not in out
    assert passages() == [Passage("terms", "A bill.", 2)]
    Path(FILE).write_text(YAML)
    label(*CHUNKS, "--append", "0")
    assert passages()[1] == Passage("terms", "A bill.", 0)
    Path(FILE).write_text(YAML)
    label(*CHUNKS, "--judge", "back", "terms", "0")
    assert passages() == [Passage("terms", "A bill.", 0)]
    Path(FILE).write_text(YAML)
    assert (
        "This list holds passages, and a whole document in it has grade 1. Judge a text of 'terms' instead: "
        "`pytest-irmetrics label faq.yaml --passage back terms TEXT 0`."
        in label("--run", "run.json", "--judge", "back", "terms", "0", status=1).err
    )


def test_the_text_of_a_long_document_is_not_put_into_the_golden_set(loop):
    row = {"_id": "terms", "text": "A bill. " * 600}
    Path("chunks.jsonl").write_text(json.dumps(row) + "\n")
    assert "--passage back terms TEXT 0`." in loop("0", "q")
    assert Path(FILE).read_text() == YAML


def test_json_and_csv_have_the_texts_and_csv_is_read_back(label):
    listed = json.loads(label(*CHUNKS, "--json").out)
    assert [(one["docid"], one["text"]) for one in listed] == [
        ("handbook (chunk c4)", TEXT),
        ("terms", "A bill."),
    ]
    rows = list(csv.DictReader(io.StringIO(label(*CHUNKS, "--out", "-").out)))
    assert [row["text"] for row in rows] == [TEXT, "A bill."]
    rows[0] |= {"rating": "2", "text": "Ask us!"}
    with Path("list.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    out = label("--from", "list.csv").out
    assert out == "faq.yaml:7: back: handbook: Ask us! 2\nfaq.yaml: 1 judgment appended.\n"
    assert passages() == [Passage("handbook", "Ask us!", 2)]
    assert label("--from", "list.csv").out == "faq.yaml: 0 judgments appended, 1 there already.\n"
    Path("list.csv").write_text("id,docid,rating\nback,handbook (chunk c4),1\n")
    assert (
        "list.csv:2: 'handbook (chunk c4)' is a chunk, which is judged by its text. Write what is judged of it into a column text."
        in label("--from", "list.csv", status=1).err
    )


def test_option_append_writes_whole_chunks(label):
    label(*CHUNKS, "--query", "back", "--append", "0", "--limit", "1")
    assert passages() == [Passage("handbook", " ".join(TEXT.split()), 0)]


def test_option_judge_takes_a_chunk_whose_text_is_known(label):
    label(*CHUNKS, "--judge", "back", "handbook (chunk c4)", "1")
    assert passages() == [Passage("handbook", " ".join(TEXT.split()), 1)]
    err = label("--run", "run.json", "--judge", "back", "handbook (chunk 2)", "1", status=1).err
    assert (
        "'handbook (chunk 2)' is a chunk, which is judged by its text. Name what has it (--run REPORT.json, --corpus FILE), "
        in err
    )
