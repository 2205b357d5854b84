"""Command `convert` of golden sets and runs; tests/golden holds that each format is written and read back."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, Run
from tests.cli.console import run


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def convert(*arguments, status=0):
    done = run("convert", *arguments)
    assert done.status == status, done.err
    return done


def contents(path):
    """The queries of a golden set, with their judgments."""
    queries = GoldenSet.load(path).queries.values()
    return [(query.id, query.text, dict(query.judgments)) for query in queries]


def test_yaml_of_long_lists_and_of_a_whole_set_is_as_people_write_it():
    ids = [f"a-rather-long-document-id-{n}" for n in range(5)]
    query = {
        "query": "a",
        "relevant": dict.fromkeys(ids, 2),
        "forbidden": [f"not-{name}" for name in ids],
        "params": {"k" * 1100: "v" * 50},
    }
    Path("a.jsonl").write_text(json.dumps(query))
    convert("a.jsonl", "a.yaml")
    assert max(map(len, Path("a.yaml").read_text().split())) > 1000
    assert contents("a.yaml") == contents("a.jsonl")
    whole = """\
name: the faq
relevance_level: 2
thresholds: {ndcg@10: 0.7, precision@5: {min: 0.5, max_drop: 5%, max_lost: 3}, mrr: "off"}
slices: {billing: {recall@10: {max_drop: auto}}}
queries:
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-5: 2.5}
    forbidden: [doc-0000, doc-0001, doc-0002, doc-0003, doc-0004, doc-0005, doc-0006, doc-0007, doc-0008, doc-00009,
       doc-0010, doc-0011, doc-0012, doc-0013, doc-0014, doc-0015, doc-0016, doc-0017, doc-0018, doc-019, doc-020]
    tags: [billing]
    weight: 2
    params: {lang: "no", max_price: 500}
    thresholds: {mrr: {min: 1, max_drop: "off"}}
    note: anything, for people
  - query: asdf qwerty
    no_answer: true
  - id: bad
    query: known to be bad
    relevant: {doc-3: 2}
    xfail: TICKET-7
"""
    Path("whole.yaml").write_text(whole)
    convert("whole.yaml", "-", "--to", "yaml")
    assert convert("whole.yaml", "-", "--to", "yaml").out == whole


def test_a_metric_of_ones_own_is_named():
    Path("a.yaml").write_text("queries:\n- {query: a, relevant: b, thresholds: {freshness: 0.5}}\n")
    assert "freshness" in convert("a.yaml", "a.jsonl", status=1).err
    convert("a.yaml", "a.jsonl", "--metric", "freshness")


RUN = Run({"b": ["d1", "d2"], "a": ["d3"]})


@pytest.mark.parametrize(
    "names", list(itertools.permutations(["a.run", "a.json", "a.run.gz", "a.json.gz", "a.trec"], 2))
)
def test_runs_become_one_another_packed_as_they_are_named(names):
    first, second = names
    RUN.save("in.json")
    convert("in.json", first)
    convert(first, second)
    assert Run.load(second) == RUN
    for name in names:
        assert name.endswith(".gz") == (Path(name).read_bytes()[:2] == b"\x1f\x8b")


def test_golden_sets_are_packed_as_they_are_named():
    Path("a.jsonl").write_text('{"query": "a", "relevant": ["d"]}')
    convert("a.jsonl", "a.yaml.gz")
    assert Path("a.yaml.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert contents("a.yaml.gz") == contents("a.jsonl")


def test_that_a_trec_run_does_not_hold_all_is_told():
    answers = [{"id": "a", "tags": ["t"], "rankings": [["d"]]}, {"id": "b", "rankings": [[]]}]
    head = {"format": "pytest-irmetrics run", "version": 1}
    Path("a.json").write_text(json.dumps({**head, "queries": answers}))
    done = convert("a.json", "a.run")
    assert done.err == (
        "note: A TREC run holds the ids of one ranking a query, and no empty one: all else is left out.\n"
    )
    assert done.out == "a.run: 1 query\n"
    assert "--force" in convert("a.json", "a.run", status=1).err
    assert not convert("a.run", "a.trec").err
    Path("b.RUN").symlink_to("nowhere")
    assert "b.RUN: It is there already." in convert("a.json", "b.RUN", status=1).err


def test_one_of_two_files_that_is_there_is_not_written_over():
    Path("a.jsonl").write_text('{"id": "q", "query": "a b", "relevant": ["d"]}')
    Path("a.topics.tsv").write_text("mine\n")
    assert "a.topics.tsv: It is there already." in convert("a.jsonl", "a.qrels", status=1).err
    assert not Path("a.qrels").exists()
    convert("a.jsonl", "a.qrels", "--force")
    alone = "note: Standard output holds the judgments alone: the texts are left out."
    Path("-").write_text("a file of this name")
    assert convert("a.jsonl", "-", "--to", "trec").err.splitlines()[0] == alone
    Path("d.yaml").mkdir()
    advice = "d.yaml: is not a file. Move it out of the way, and convert again.\n"
    assert convert("a.jsonl", "d.yaml", "--force", status=1).err == advice
    assert Path("a.topics.tsv").read_text() == "q\ta b\n"
