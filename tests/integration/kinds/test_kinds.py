"""A real engine, broken in known ways and changed in ordinary ones: a failure names what broke, or no cause at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from pytest_irmetrics import Run
from tests.integration.kinds.changes import FAULTS, PARAM_FAULTS, VARIANTS, ask_all
from tests.integration.kinds.golden_sets import GOLDEN_SETS, by_linter

TEST = """
import json
import pytest
from pytest_irmetrics import GoldenSet, Run

@pytest.mark.ir_threshold("ndcg@10", max_drop=0.0)
@pytest.mark.ir_threshold("recall@10", max_drop=0.0)
@pytest.mark.parametrize("case", range({count}))
def test_kind(irmetrics, case):
    golden = GoldenSet.load(f"{{case}}/golden.yaml")
    irmetrics.check(golden=golden, retriever=Run.load(f"{{case}}/now.json"), against=Run.load(f"{{case}}/before.json"))
"""


def over_sets(changes, steps):
    """Each change over two golden sets, by turns, so that all of them are used."""
    return [
        (title, name, change)
        for place, (title, change) in enumerate(changes.items())
        for name in dict.fromkeys([*GOLDEN_SETS][(place + step) % len(GOLDEN_SETS)] for step in steps)
    ]


CASES = [
    *over_sets(FAULTS, (0, 2)),
    *((title, "by linter", change) for title, change in PARAM_FAULTS.items()),
    *over_sets(VARIANTS, (0, 1)),
]


def write_case(folder, name, change):
    queries = by_linter() if name == "by linter" else GOLDEN_SETS[name]()
    before, now = ask_all(change.engine, queries), change.answers(queries)
    if change.shown_as is not None:
        before = [[change.shown_as(doc) for doc in answer] for answer in before]
        queries = [
            {**query, "relevant": {change.shown_as(doc): grade for doc, grade in query["relevant"].items()}}
            for query in queries
        ]
    folder.mkdir()
    lines = [f"- {json.dumps({key: value for key, value in query.items() if value})}\n" for query in queries]
    (folder / "golden.yaml").write_text("queries:\n" + "".join(lines), encoding="utf-8")
    for side, answers in (("before", before), ("now", now)):
        ids = [query["id"] for query in queries]
        Run(dict(zip(ids, map(list, answers), strict=True))).save(folder / f"{side}.json")


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """The sign that a failure names of each case, or an empty text: all cases in one run of pytest."""
    folder = tmp_path_factory.mktemp("kinds")
    for number, (_, name, change) in enumerate(CASES):
        write_case(folder / str(number), name, change)
    (folder / "test_kinds.py").write_text(TEST.format(count=len(CASES)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "pytest_irmetrics.plugin"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--ir-report=report.json"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    kinds = {test["nodeid"].partition("[")[2].rstrip("]"): test["kind"] for test in report["tests"]}
    assert len(kinds) == len(CASES), done.stdout
    return [kinds[str(number)] or "" for number in range(len(CASES))]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{title}, {name}" for title, name, _ in CASES])
def test_a_fault_is_named_and_an_ordinary_change_is_not(said, number):
    title, name, change = CASES[number]
    may_be_silent = change.silent or not change.says or title in VARIANTS or name.endswith(" 6")
    assert said[number] in change.says or (said[number] == "" and may_be_silent)
