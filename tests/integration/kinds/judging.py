"""Judge changes as a user would, all in one run of pytest, and count what was said of their causes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import NamedTuple

from pytest_irmetrics import Run
from tests.integration.kinds.changes import Change, ask_all
from tests.integration.kinds.golden_sets import GOLDEN_SETS, by_linter
from tests.pages import DOCS
from tests.warm_python import python_words

PLUGINS = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]

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


class Case(NamedTuple):
    """A change over a golden set."""

    title: str
    golden_set: str
    change: Change

    def __str__(self):
        return f"{self.title}, {self.golden_set}"


def over_sets(changes, steps):
    """Each change over some golden sets, by turns, so that all of them are used."""
    return [
        Case(title, name, change)
        for place, (title, change) in enumerate(changes.items())
        for name in dict.fromkeys([*GOLDEN_SETS][(place + step) % len(GOLDEN_SETS)] for step in steps)
    ]


def write_case(folder, case):
    change, name = case.change, case.golden_set
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


def judged(folder, cases):
    """The sign that is named of each case, an empty text for none; None where the gate passes."""
    for number, case in enumerate(cases):
        write_case(folder / str(number), case)
    (folder / "test_kinds.py").write_text(TEST.format(count=len(cases)), encoding="utf-8")
    tests = reported(folder, len(cases))
    return [(test["kind"] or "") if test["outcome"] == "failed" else None for test in tests]


def reported(folder, cases):
    """Run pytest in a folder, of whose cases some fail; return each one's test in the JSON report, by its number."""
    done = subprocess.run(
        [*python_words(), "-m", "pytest", "-q", "--tb=no", *PLUGINS, "--ir-report=report.json"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    tests = json.loads((folder / "report.json").read_text(encoding="utf-8"))["tests"]
    by_case = {int(test["nodeid"].partition("[")[2].rstrip("]")): test for test in tests}
    assert sorted(by_case) == list(range(cases)), done.stdout
    return [by_case[number] for number in range(cases)]


def assert_counted_in_the_documentation(title, cases, said, *, but_for=0):
    """What a failure says of the causes of changes, as docs/statistics.md has it: named, none named, a wrong one.

    Of so many the numbers of another machine may make it another case.
    """
    red = [(case, kind) for case, kind in zip(cases, said, strict=True) if kind is not None]
    right = sum(kind in case.change.says if kind else not case.change.says for case, kind in red)
    wrong = sum(bool(kind) and kind not in case.change.says for case, kind in red)
    found = [len(red), right, len(red) - right - wrong, wrong]
    page = (DOCS / "statistics.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {title} |"))
    told = [int(cell) for cell in row.split("|")[2:-1]]
    assert all(abs(one - other) <= but_for for one, other in zip(found, told, strict=True)), found
