"""The same verdicts from a real pytest process: the gate without a threshold, and `--ir-repeat`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from verdict_tables.common import compared, failed, golden_set, rankings, seeded, show
from verdict_tables.noise import BY_RANK, QUERIES, replica

from pytest_irmetrics import GoldenSet

ITEMS = 60
ASKED = 5
CONFTEST = """
import json, os, pathlib, pytest
RUNS = json.loads(pathlib.Path(__file__).with_name(os.environ["RUNS"]).read_text(encoding="utf-8"))

@pytest.fixture(scope="session", params=range(len(RUNS)))
def retriever(request):
    run, asked = RUNS[request.param], {}

    def search(query, k):
        turn = asked[query] = asked.get(query, -1) + 1
        return run[query][turn % len(run[query])][:k]

    return search
"""
TEST = """
import pytest

@pytest.mark.ir_golden("golden.jsonl")
def test_search(irmetrics):
    irmetrics.check()
"""


def run_pytest(golden, before, now, *options):
    """Gate each pair of runs in one test item; return for each whether it failed, and which metrics gated."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        lines = [
            json.dumps({"id": query.id, "query": query.id, "relevant": dict(query.judgments)})
            for query in golden.queries.values()
        ]
        (project / "golden.jsonl").write_text("\n".join(lines), encoding="utf-8")
        (project / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (project / "test_search.py").write_text(TEST, encoding="utf-8")
        (project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        for name, runs, given in (
            ("before.json", before, ["--ir-baseline-update"]),
            ("now.json", now, ["--ir-baseline", "--ir-report=report.json"]),
        ):
            (project / name).write_text(json.dumps(runs), encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-q", "--tb=no", *given, *options]
            ended = subprocess.run(
                command,
                check=False,
                cwd=project,
                env={**os.environ, "RUNS": name},
                capture_output=True,
                text=True,
            )
            if ended.returncode not in (0, 1):
                raise SystemExit(f"{' '.join(command)}:\n{ended.stdout}{ended.stderr}")
        return json.loads((project / "report.json").read_text(encoding="utf-8"))


def end_to_end(trials):
    rows, missed = [], []
    items = max(int(ITEMS * trials), 12)

    chance, golden = seeded("end to end, default"), golden_set()
    before, now = [], []
    for _ in range(items):
        one, other = {}, {}
        for query_id, ranking in rankings().items():
            sides = [list(ranking), list(rankings("no stemming")[query_id])]
            chance.shuffle(sides)
            one[query_id], other[query_id] = [sides[0]], [sides[1]]
        before.append(one)
        now.append(other)
    ours = [failed(compared(golden, *_tuples(a, b)), ["ndcg@10"]) for a, b in zip(before, now, strict=True)]
    rows.append(
        ["no threshold, harmless change", *_agree(run_pytest(golden, before, now), ours, "default", missed)]
    )

    golden = GoldenSet.from_judgments({f"q{query}": {"d": 1} for query in range(QUERIES)})
    chance = seeded("end to end, noise")

    def passes():
        drawn = [replica(chance) for _ in range(ASKED)]
        return {f"q{q}": [list(BY_RANK[each[q]]) for each in drawn] for q in range(QUERIES)}

    before, now = ([passes() for _ in range(items)] for _ in range(2))
    pairs = [compared(golden, *_tuples(a, b), ["ndcg@10"]) for a, b in zip(before, now, strict=True)]
    ours = [failed(pair, ["ndcg@10"], 0.0) for pair in pairs]
    report = run_pytest(golden, before, now, f"--ir-repeat={ASKED}", "-o", "ir_max_drop=0")
    rows.append([f"asked {ASKED} times, only noise, max_drop 0", *_agree(report, ours, "noise", missed)])
    show(
        f"Through pytest, {items} test items a row",
        ["what", "gates", "failed", "failed without pytest"],
        rows,
    )
    return missed


def _tuples(*runs):
    return [{query_id: tuple(map(tuple, asked)) for query_id, asked in run.items()} for run in runs]


def _agree(report, ours, name, missed):
    """Compare the verdicts of pytest's items with ours; return the gates, and how many failed by each."""
    tests = report["tests"]
    gates = sorted({f"{gate['metric']} {gate['word']}" for test in tests for gate in test["gates"]})
    by_item = {
        int(re.search(r"\[\D*(\d+)", test["nodeid"])[1]): test["outcome"] == "failed" for test in tests
    }
    theirs = [by_item[item] for item in range(len(ours))]
    if theirs != ours or gates != ["ndcg@10 max_drop"]:
        missed.append(f"end_to_end: {name}: pytest's verdicts differ, or other gates: {gates}")
    return ", ".join(gates), sum(theirs), sum(ours)
