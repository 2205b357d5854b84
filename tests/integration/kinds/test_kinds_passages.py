"""What is said of a search over chunks that is judged by passage: faults are named, and cutting texts anew is none."""

from __future__ import annotations

import re
import sqlite3

import pytest

from pytest_irmetrics import GoldenSet, compare, evaluate
from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.passage import Passage
from tests.integration.kinds.engine import rules
from tests.integration.kinds.table import sign_of

QUERIES = 30


class Chunks:
    """A full-text index over pieces of the rules' texts."""

    def __init__(self, words=40, *, first=0, order="score", source=str, leave_out=""):
        self.first, self.order, self.source = first, order, source
        self.index = sqlite3.connect(":memory:")
        self.index.execute(
            "CREATE VIRTUAL TABLE chunks USING fts5(id UNINDEXED, source UNINDEXED, text, tokenize = porter)"
        )
        for rule in rules()[0]:
            if leave_out and re.fullmatch(rf"{leave_out}\d+", rule.code):
                continue
            text = f"{rule.name} {rule.message} {rule.explanation}".split()
            for number, start in enumerate(range(0, len(text), words)):
                chunk = " ".join(text[start : start + words])
                self.index.execute(
                    "INSERT INTO chunks VALUES (?, ?, ?)", (f"{rule.code}#{number}", rule.code, chunk)
                )

    def __call__(self, query, k):
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query.lower()))
        rows = self.index.execute(
            f"SELECT id, source, text, bm25(chunks) AS score FROM chunks WHERE chunks MATCH ? ORDER BY {self.order}, id LIMIT ? OFFSET ?",
            (match, k, self.first),
        )
        return [{"id": i, "source": self.source(source), "text": text} for i, source, text, _ in rows]


def golden():
    queries = []
    for rule in rules()[0][:: len(rules()[0]) // QUERIES]:
        passage = Passage(rule.code, rule.message, 2)
        text = " ".join(rule.message.split()[:8])
        queries.append(Query(rule.code, text, {passage.key: 2}, passages=(passage,)))
    return GoldenSet(queries)


@pytest.fixture(scope="module")
def before():
    return evaluate(golden(), Chunks(), ["ndcg@10", "recall@10"])


@pytest.mark.filterwarnings("ignore::pytest_irmetrics.evaluation.unknown_ids.UnknownIdsWarning")
@pytest.mark.parametrize(
    ("engine", "said"),
    [
        pytest.param({"first": 1}, "", id="the index of results begins at 1"),
        pytest.param({"order": "score DESC"}, "nothing_shared", id="the sort is the wrong way round"),
        pytest.param({"leave_out": "PLR"}, "", id="a linter is not in the index"),
        pytest.param({"words": 30}, "", id="shorter chunks"),
        pytest.param({"words": 80}, "", id="longer chunks"),
        pytest.param({"words": 400}, "", id="whole texts"),
    ],
)
def test_what_is_said_of_chunks(before, engine, said):
    now = evaluate(before.golden, Chunks(**engine), ["ndcg@10", "recall@10"])
    assert sign_of(compare(now, before)) == said
