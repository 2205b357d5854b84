"""Convert TREC files as the world has them: packed, with any suffix."""

from __future__ import annotations

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


def test_a_folder_that_is_none_of_beir_asks_for_the_format(capsys):
    Path("qrels").mkdir()
    _, (error,) = convert(capsys, "qrels", "b.yaml", status=1)
    assert error == "qrels: This folder has no queries.jsonl and qrels/, as BEIR's have. Name a file."


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
