"""Every snippet of docs/engines.md, run as it stands: the gate passes, a worse search turns it red, and the order is stable."""

from __future__ import annotations

import json
import random
import re
from typing import NamedTuple

import pytest

from tests.integration.engines.pages import GOLDEN, SNIPPETS
from tests.integration.packages import need_there


class Case(NamedTuple):
    engine: str
    needs: tuple[str, ...]  # modules
    before: str  # in conftest.py
    after: str  # what makes the search worse
    at_least: float  # what ndcg@10 is, less some room


CASES = [
    Case("sqlite", (), "10, 1)", "0, 1)", 0.76),
    Case("postgresql", ("psycopg", "psycopg_pool"), "query, 1) DESC", "query, 1)", 0.60),
    Case("qdrant", ("numpy", "qdrant_client"), "-point.score", "point.score", 0.67),
    Case("faiss", ("numpy", "faiss"), "ids[place] for", "ids[place - 1] for", 0.67),
    Case("opensearch", ("opensearchpy",), '["title^4", "body"]', '["body"]', 0.69),
]


# Nothing but their ids tells them apart.
TIES = [
    {"id": f"tie-{number:02}", "title": "zebra crossing quagga", "body": "A zebra crosses."}
    for number in range(15)
]
TIED = {"id": "tied", "query": "zebra quagga", "relevant": ["tie-00"]}


def test_every_snippet_is_run():
    assert [case.engine for case in CASES] == list(SNIPPETS)


@pytest.mark.parametrize("case", CASES, ids=[case.engine for case in CASES])
def test_it_gates_real_queries_in_a_stable_order_and_a_worse_search_turns_it_red(engine, documents, case):
    need_there(*case.needs)
    project = engine(case.engine)
    project.ask(TIED)
    documents = [*documents, *TIES]
    random.Random(4).shuffle(documents)
    project.documents(documents)
    project.index()
    status, output = project.gate("-v", "--ir-baseline-update")
    assert status == 0, output
    ndcg = float(re.search(r"^ +ndcg@10 +\d+ +([\d.]+)", output, re.MULTILINE)[1])
    assert case.at_least <= ndcg < case.at_least + 0.05
    assert project.ranking("tied") == [tie["id"] for tie in TIES[:10]]
    stored = project.baseline

    # The same answers, whatever the order in which the documents came, and however many queries are under way.
    project.documents(documents[::-1])
    project.index()
    status, output = project.gate("--ir-baseline-update", "-o", "ir_concurrency=4")
    assert status == 0, output
    assert project.baseline == stored

    project.change(case.before, case.after)
    status, output = project.gate("--ir-baseline")
    assert status == 1, output
    assert re.search(r"^ndcg@10 fell by 0\.\d+ from the baseline", output, re.MULTILINE)
    named = re.findall(r"^golden/rules\.yaml:\d+: (\S+?)(?:: .*)?$", output, re.MULTILINE)
    assert 1 <= len(named) <= 5
    assert all(f"id: {name}\n" in GOLDEN.read_text(encoding="utf-8") for name in named)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("qdrant", "limit=2 * k", "limit=2 * k, score_threshold=0.3"),
        ("opensearch", '"size": k', '"min_score": 0.1, "size": k'),
    ],
)
def test_a_threshold_leaves_nothing_where_nothing_is_near(engine, documents, name, before, after):
    need_there(*next(case.needs for case in CASES if case.engine == name))
    project = engine(name)
    project.documents(documents[::20])
    absent = {"id": "css", "query": "css flexbox", "no_answer": True}
    present = {"id": "first", "query": documents[0]["title"], "relevant": [documents[0]["id"]]}
    project.write("golden/rules.yaml", json.dumps({"queries": [present, absent]}))
    project.index()
    if name == "qdrant":
        status, output = project.gate()
        assert status == 1, output
        assert "css" in output
    project.change(before, after)
    status, output = project.gate()
    assert status == 0, output
