"""Command `convert`: runs as JSON and as TREC runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_irmetrics.run import Answer, Run
from tests.unit.cli.console import convert


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


STORED = Run.of(
    {
        "b": Answer((("d1", "d2"), ("d2",)), "text of b", {"n": 1}, {"d1": 1}, 2.0, ("x",)),
        "a": Answer((("d3",),)),
        "c": Answer(((),), "nothing"),
    },
    depth=10,
    golden_set="faq.yaml",
    relevance_level=1,
    means={"mrr": 0.5},
)


def test_json_to_trec_and_back(capsys):
    STORED.save("run.json")
    out, notes = convert(capsys, "run.json", "bm25.run")
    assert out == "bm25.run: 2 queries\n"
    assert notes == [
        (
            "note: A TREC run holds no texts (2 queries), params (1 query), judgments (1 query), weights (1 query), tags (1 query), "
            "rankings but the first (1 query), empty results (1 query), depth, golden set, relevance level, means."
        )
    ]
    assert Path("bm25.run").read_text().startswith("a Q0 d3 1 1 pytest-irmetrics\nb Q0 d1 1 2 ")
    out, notes = convert(capsys, "bm25.run", "again.json")
    assert (out, notes) == ("again.json: 2 queries\n", [])
    again = Run.load("again.json")
    assert {query_id: again[query_id] for query_id in again} == {"a": ("d3",), "b": ("d1", "d2")}


def test_trec_to_json_loses_nothing(capsys):
    Path("results.txt").write_text("q Q0 d1 1 0.5 x\nq Q0 d2 2 0.75 x\n")
    assert convert(capsys, "results.txt", "r.json", "--from", "run") == ("r.json: 1 query\n", [])
    assert Run.load("r.json")["q"] == ("d2", "d1")


def test_never_overwrites_without_force(capsys):
    STORED.save("run.json")
    Path("a.run").write_text("mine")
    _, err = convert(capsys, "run.json", "a.run", status=1)
    assert err == ["a.run: It is there already. Write over it with --force, or name another OUT."]
    assert convert(capsys, "run.json", "a.run", "--force")[0] == "a.run: 2 queries\n"


def test_ids_that_trec_cannot_hold(capsys):
    Run({"a b": ["c"]}).save("run.json")
    _, (error,) = convert(capsys, "run.json", "a.run", status=1)
    assert error == (
        "run.json: 'a b' cannot be an id in a TREC run: it holds white space, which parts the fields. "
        "Give the query an `id` of its own, or save with the suffix .json."
    )
