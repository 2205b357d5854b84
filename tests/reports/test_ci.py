"""What a CI system reads of a session: annotations of GitHub's log, and properties in JUnit's file."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest


@pytest.fixture
def github(worse, monkeypatch):
    """Give a project whose search got worse, in a job of GitHub Actions."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_SHA", "0" * 40)
    (worse.path / ".git").mkdir()
    return worse


def annotations(result):
    return [line for line in result.outlines if line.startswith("::")]


@pytest.mark.parametrize(
    "options", [[], ["-q"], ["-qq"], ["-v"], ["--tb=no"], ["--color=yes"], ["--reruns", "2"]], ids=str
)
def test_a_failed_gate_is_one_error_at_the_line_of_the_query(github, options):
    (line,) = annotations(github.run("--ir-baseline", *options))
    assert line.startswith("::error file=golden/faq.yaml,line=5,title=Search quality%3A FAILS::mrr fell by")
    assert "%0AHere: refund, mrr 1.0000 → 0.3333." in line
    assert "%0ATo look closer: pytest 'test_search.py::" in line
    assert line.count("%0A") == 3


def test_workers_annotate_once(github):
    assert len(annotations(github.run_apart("--ir-baseline", "-n", "2"))) == 1


BEGINS = {
    # how the project is edited: how the annotations begin
    "a baseline is missing": ["::error file=test_search.py,title=Search quality%3A nothing was measured::"],
    "keys are misspelt": [
        "::error file=golden/faq.yaml,line=8,col=5,title",
        "::error file=golden/faq.yaml,line=11,col=5,title",
    ],
    "a mean is below its limit in the golden set": ["::error file=golden/faq.yaml,line=6,title"],
    "a mean should have risen by the golden set": ["::error file=golden/faq.yaml,line=1,col=14,title=Search"],
    "a query cannot be retrieved": [
        "::error file=golden/faq.yaml,line=2,title=Search quality%3A FAILS%2C 3 of 3 queries not retrieved"
    ],
    "the repository is above": ["::error file=PROJECT/golden/faq.yaml,line=5,title"],
    "a test below the root folder measures nothing": ["::error file=PROJECT/sub/test_it.py,title=Search"],
    "nothing fails": [],
}


@pytest.mark.parametrize("case", BEGINS)
def test_where_an_annotation_stands(github, monkeypatch, case):
    above = github.path.parent / ".git"
    if case == "a baseline is missing":
        github.baseline.unlink()
    elif case == "keys are misspelt":
        github.edit("golden/faq.yaml", "relevant: doc-1", "relevent: doc-1")
        github.edit("golden/faq.yaml", "tags: [billing]", "tag: [billing]")
    elif case == "a mean is below its limit in the golden set":
        github.edit("golden/faq.yaml", "queries:", "thresholds: {mrr: {min: 0.9, max_drop: off}}\nqueries:")
    elif case == "a mean should have risen by the golden set":
        github.run("--ir-baseline-update")
        github.edit("golden/faq.yaml", "queries:", "thresholds: {mrr: {min_gain: 0.1}}\nqueries:")
    elif case == "a query cannot be retrieved":
        github.retrieve("1 / ('refund' in query)")
    elif case == "the repository is above":
        (github.path / ".git").rmdir()
        above.mkdir()
    elif case == "a test below the root folder measures nothing":
        (github.path / ".git").rmdir()
        above.mkdir()
        github.write("sub/test_it.py", "def test_it(irmetrics):\n    1 / 0\n")
        monkeypatch.chdir(github.path / "sub")
    elif case == "nothing fails":
        github.run("--ir-baseline-update")
    try:
        lines = annotations(github.run("--ir-baseline"))
    finally:
        if above.exists():
            above.rmdir()
    assert len(lines) == len(BEGINS[case])
    for line, begin in zip(lines, BEGINS[case], strict=True):
        assert line.startswith(begin.replace("PROJECT", github.path.name))


def test_elsewhere_there_are_none(github, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert annotations(github.run("--ir-baseline")) == []


@pytest.mark.parametrize("tests", [10, 12])
def test_of_many_failures_the_worst_have_an_error_and_the_others_are_counted(github, tests):
    github.test(
        ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)', f'parametrize("n", range({tests}))']
    )
    github.edit("test_search.py", "(irmetrics)", "(irmetrics, n)")
    lines = annotations(github.run())
    assert len(lines) == 10
    more = "::error title=Search quality%3A 3 more failures::See the end of this step's log."
    assert lines[-1] == more if tests == 12 else lines[-1].startswith("::error file=golden/faq.yaml,")


@pytest.mark.parametrize(
    ("gates", "more"), [(3, ""), (4, "And 1 more gate.%0A"), (5, "And 2 more gates.%0A")]
)
def test_an_error_names_three_gates_and_says_how_many_more_fail(github, gates, more):
    metrics = ["mrr", "hit@1", "ndcg@1", "precision@1", "map"][:gates]
    github.test(['ir_golden("golden/*.yaml")', *(f'ir_threshold("{name}", min_each=1)' for name in metrics)])
    line, *_ = annotations(github.run())
    assert line.count("below 1") == 3
    assert f"must reach it.%0A{more}Here: " in line


def test_a_line_of_an_error_has_a_thousand_characters(github):
    github.retrieve("(_ for _ in ()).throw(ValueError('x' * 2000)) if query else 1")
    github.test('ir_golden("golden/*.yaml")', "raise ValueError('x' * 2000)")
    for line in annotations(github.run()):
        assert "x" * 980 in line
        assert max(map(len, line.partition("::")[2].partition("::")[2].split("%0A"))) <= 1100


def test_a_baseline_that_gates_nothing_has_a_warning(github):
    text = github.baseline.read_text(encoding="utf-8")
    (github.baseline.parent / "test_it[gone].json").write_text(text, encoding="utf-8")
    *_, line = annotations(github.run("--ir-baseline"))
    assert line.startswith(
        "::warning title=Search quality%3A a baseline that gates nothing::the baseline ir_base"
    )


def test_the_commit_is_what_ci_says_or_git_and_else_unknown(github, monkeypatch):
    def commit():
        github.run("--ir-report=r.json")
        return json.loads((github.path / "r.json").read_text(encoding="utf-8"))["run_info"]["commit"]

    assert commit() == "0" * 40
    monkeypatch.delenv("GITHUB_SHA")
    assert commit() == ""  # the folder .git is empty


def properties(project, *options):
    """The properties of each test case in JUnit's file, in order."""
    project.run_apart("--junitxml=junit.xml", *options)
    cases = ET.parse(project.path / "junit.xml").iter("testcase")
    return [[(one.get("name"), one.get("value")) for one in case.iter("property")] for case in cases]


@pytest.mark.parametrize("options", [[], ["-n", "1"], ["-o", "junit_family=xunit1"]], ids=str)
def test_a_test_has_its_scores_in_junit_s_file(project, options):
    (found,) = properties(project, *options)
    assert found[:3] == [("ir.mrr", "0.833333"), ("ir.mrr.verdict", "passed"), ("ir.map", "0.777778")]


def test_a_mean_is_over_all_of_today_s_queries_and_what_is_compared_over_those_of_both(stored):
    stored.edit("golden/faq.yaml", "relevant: doc-1", "relevant: doc-1\n  - {query: new, relevant: doc-1}")
    found = dict(properties(stored, "--ir-baseline")[0])
    assert (found["ir.mrr"], found["ir.mrr.baseline"], found["ir.mrr.delta"]) == ("0.625", "0.833333", "0.0")


def test_a_rerun_replaces_the_scores_and_leaves_what_the_test_records(worse):
    worse.test(
        'ir_golden("golden/*.yaml")',
        'request.node.user_properties.append(("ir.model", "small")); irmetrics.evaluate(); irmetrics.check()',
    )
    worse.edit("test_search.py", "(irmetrics)", "(irmetrics, request)")
    names = [name for name, _ in properties(worse, "--ir-baseline", "--reruns", "1")[-1]]
    assert names.count("ir.mrr") == 1
    assert names.count("ir.model") == 1


def test_what_only_evaluates_has_scores_and_what_fails_before_that_has_none(project):
    project.test('ir_golden("golden/*.yaml")', "irmetrics.evaluate()")
    assert ("ir.mrr", "0.833333") in properties(project)[0]
    project.retrieve("1 / 0")
    assert properties(project) == [[]]
