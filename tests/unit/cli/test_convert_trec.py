"""Convert TREC files as the world has them: packed, in parts, with any suffix."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.unit.cli.console import convert


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_reads_qrels_of_any_suffix(capsys):
    Path("qrels.robust2004.txt").write_text("301 0 FBIS3-10082 1\n")
    out, _ = convert(capsys, "qrels.robust2004.txt", "a.jsonl", "--from", "trec")
    assert out == "a.jsonl: 1 query, 1 judgment\n"
    out, _ = convert(capsys, "qrels.robust2004.txt", "a.qrels", "--from", "trec")
    assert out == "a.qrels: 1 query, 1 judgment\n"


def test_reads_a_folder_of_parts(capsys):
    Path("qrels").mkdir()
    Path("qrels/part1").write_text("# disk 1\nq1 0 a 1\nq2 0 a 0\n")
    Path("qrels/part2.gz").write_bytes(gzip.compress(b"q1 0 b 2\nq3 0 a 1\n"))
    out, _ = convert(capsys, "qrels", "all.qrels", "--from", "trec")
    assert out == "all.qrels: 3 queries, 4 judgments\n"
    assert Path("all.qrels").read_text() == "q1 0 a 1\nq1 0 b 2\nq2 0 a 0\nq3 0 a 1\n"
    Path("qrels/part3").write_text("q3 0 a 1\nq3 0 b\n")
    _, err = convert(capsys, "qrels", "b.qrels", "--from", "trec", status=1)
    assert err == [
        "qrels/part3:1:6: The query 'q3' judges 'a' in an earlier part, too. Keep one.",
        "qrels/part3:2:1: Here are 3 fields, and qrels have 4. Write `query 0 document grade`.",
    ]


def test_a_folder_of_parts_has_texts_beside_it(capsys):
    Path("qrels").mkdir()
    Path("qrels/part1").write_text("q1 0 a 1\n")
    Path("qrels.topics.tsv").write_text("q1\tone\n")
    convert(capsys, "qrels", "a.yaml", "--from", "trec")
    assert "query: one\n" in Path("a.yaml").read_text()
    Path("qrels/part2").write_text("q2 0 a 1\n")
    _, err = convert(capsys, "qrels", "b.yaml", "--from", "trec", status=1)
    assert err == [
        "qrels:1:1: The query 'q2' has no text in qrels.topics.tsv. Add it, or remove its judgments."
    ]


@pytest.mark.parametrize("make", [lambda folder: folder.mkdir(), lambda _: None])
def test_a_folder_that_says_nothing(capsys, make):
    make(Path("qrels"))
    _, (error,) = convert(capsys, "qrels", "b.yaml", "--from", "trec", status=1)
    assert error.startswith("qrels:1:1: There is no ")


def test_a_folder_that_is_none_of_beir_asks_for_the_format(capsys):
    Path("qrels").mkdir()
    _, (error,) = convert(capsys, "qrels", "b.yaml", status=1)
    assert error == (
        "qrels: This folder has no queries.jsonl and qrels/, as BEIR's have. Where its files are the parts of TREC "
        "qrels, say so: --from trec; of a run: --from run."
    )


@pytest.mark.parametrize("name", ["a.qrels.gz", "a.yaml.gz", "a.jsonl.gz", "a.csv.gz", "a.TSV.GZ"])
def test_packs_and_unpacks_by_the_suffix(capsys, name):
    Path("in.csv").write_text("id,query,docid,rating\nq1,one,d1,1\n")
    out, _ = convert(capsys, "in.csv", name)
    assert Path(name).read_bytes()[:2] == b"\x1f\x8b"
    assert out.endswith(": 1 query, 1 judgment\n")
    convert(capsys, name, "out.csv")
    assert Path("out.csv").read_text() == Path("in.csv").read_text()


@pytest.mark.parametrize("name", ["b.run.gz", "b.json.gz"])
def test_packed_runs_are_runs(capsys, name):
    Path("a.run").write_text("q Q0 a 1 1 x\n")
    assert convert(capsys, "a.run", name) == (f"{name}: 1 query\n", [])
    assert convert(capsys, name, "back.run") == ("back.run: 1 query\n", [])
    assert Path("back.run").read_text() == "q Q0 a 1 1 pytest-irmetrics\n"
