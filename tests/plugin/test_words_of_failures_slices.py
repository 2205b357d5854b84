"""Tables of slices say no more of a slice than its queries can tell."""

from __future__ import annotations

import json
import re

import pytest

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from tests.plugin.conftest import make_ranking_worse, printed

SIZES = {"large": 12, "steady": 6, "few": 8, "tiny": 2, "pair": 2}


def project_with_slices(project):
    """Lose 8 of 12 queries tagged large, 2 of 8 tagged few, one tagged tiny; none tagged steady moves."""
    queries = [
        {"query": f"{tag} {n}", "relevant": f"d-{tag}-{n}", "tags": [tag]}
        for tag, size in SIZES.items()
        for n in range(size)
    ]
    project.write("golden/faq.yaml", json.dumps({"queries": queries}))
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'])
    answers = {query["query"]: [query["relevant"]] for query in queries}
    project.answers(answers)
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    lost = [*(f"large {n}" for n in range(8)), "few 0", "few 1", "tiny 0"]
    project.answers(answers | {text: ["x"] for text in lost})


def test_slices_that_can_say_nothing_do_not_fill_the_table(project):
    project_with_slices(project)
    result = project.run("-v", "--ir-baseline", "--ir-report=report.md")
    result.assert_outcomes(failed=1)
    lines = result.outlines
    table = lines[next(index for index, line in enumerate(lines) if "mrr by tag" in line) :]
    rows = [line.split() for line in table[1:3]]
    assert [row[0] for row in rows] == ["few", "large"]
    assert rows[0][-2:] == ["too", "few"]
    assert " to " not in table[1]
    assert table[2].endswith("fell")
    text = printed(result)
    assert "3 tags more: 2 of fewer than 5 queries, 1 in which no query changed (-vv shows all)" in text, text
    report = (project.path / "report.md").read_text(encoding="utf-8")
    assert "*3 tags more: 2 of fewer than 5 queries, 1 in which no query changed.*" in report
    assert "| `tiny` |" not in report


def test_the_whole_table_says_which_slices_are_too_small_or_did_not_change(project):
    project_with_slices(project)
    result = project.run("--ir-baseline", "-vv")
    for tag, trend in {
        "steady": "up to 40 % may +unchanged",
        "tiny": "too few",
        "pair": "too few",
    }.items():
        result.stdout.re_match_lines([rf"  {tag} .*{trend}"])
    for line in result.outlines:
        if re.match("  (steady|tiny|pair|few) ", line):
            assert not re.search(r"\d to [−+]", line)


def test_where_all_slices_are_too_small_one_line_says_so(stored):
    make_ranking_worse(stored)
    text = printed(stored.run("-v", "--ir-baseline"))
    assert "mrr by tag: 1 of fewer than 5 queries (-vv shows all)" in text


@pytest.mark.parametrize("queries", [2, 3])
def test_an_interval_is_within_what_the_metric_allows(queries):
    golden = GoldenSet.from_judgments({f"q{n}": {f"d{n}": 1} for n in range(queries)})
    before = Run({f"q{n}": [f"d{n}"] for n in range(queries)})
    now = Run({f"q{n}": ["x"] if n else ["d0"] for n in range(queries)})
    change = compare(evaluate(golden, now, ["mrr"]), evaluate(golden, before, ["mrr"]))["mrr"]
    assert change.interval[0] == -1.0
    assert change.interval[1] <= 1.0
    assert change.detectable is None or change.detectable <= 1.0
