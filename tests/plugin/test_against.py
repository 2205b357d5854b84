"""Compare with another retriever, run or evaluation: `check(against=…)`."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import (
    make_ranking_worse,
    printed,
)


def test_against_takes_a_retriever_a_run_or_a_path(stored):
    make_ranking_worse(stored)
    for other in (
        'lambda query, k: {"refund policy": ["doc-9"]}.get(query, [])',
        '__import__("pytest_irmetrics").Run({"refund": ["doc-9"], "reset": ["doc-12"], "hours": ["doc-1"]})',
        '"ir_baselines/test_search/test_search_quality[faq].json"',
    ):
        stored.test(
            ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'],
            f"irmetrics.check(against={other})",
        )
        result = stored.run()
        result.assert_outcomes(failed=1 if "lambda" not in other else 0, passed=1 if "lambda" in other else 0)


@pytest.mark.parametrize("test", ["def", "async def"])
def test_where_the_retriever_fails_the_one_that_it_is_compared_with_is_not_asked(project, test):
    project.retrieve("1 / 0")
    check = "irmetrics.check(against=lambda query: pytest.exit('was asked'))"
    project.test('ir_golden("golden/*.yaml")', check)
    if test == "async def":
        project.make_async()
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*raised ZeroDivisionError*"])


def test_a_run_that_is_not_there_is_named_as_a_reader_finds_it_before_anyone_is_asked(stored):
    stored.retrieve("pytest.exit('was asked')")
    stored.test('ir_golden("golden/*.yaml")', 'irmetrics.check(against="runs/none.json")')
    stored.run().stdout.fnmatch_lines(["runs/none.json: cannot be read: *"])


@pytest.mark.parametrize("given", ["3", "OLD"])
def test_what_cannot_be_compared_with_is_told_before_anyone_is_asked(stored, given):
    stored.retrieve("pytest.exit('was asked')")
    stored.test('ir_golden("golden/*.yaml")', f"irmetrics.check(against={given})")
    tests = stored.path / "test_search.py"
    old = "OLD = pytest_irmetrics.evaluate(pytest_irmetrics.GoldenSet.load('golden/faq.yaml'), lambda query: 1 / 0)"
    tests.write_text(f"import pytest_irmetrics\n{old}\n{tests.read_text()}")
    result = stored.run()
    result.assert_outcomes(failed=1)
    assert "`against`" in printed(result)


def test_the_query_asked_for_is_compared_with_itself_alone(stored):
    make_ranking_worse(stored)
    result = stored.run("--ir-baseline", "--ir-query", "hours", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["golden/faq.yaml: no mean judged, 1 query; mrr 0.5000", "  mrr *1  0.5000 *0.5000*0.0000*"]
    )
    result.stdout.no_fnmatch_line("*max_drop 0.01*on*quer*")
    result = stored.run("--ir-baseline", "--ir-query", "refund")
    result.stdout.fnmatch_lines(["golden/faq.yaml: no mean judged, 1 of 1 query worse; mrr 0.3333 (−0.6667)"])


@pytest.mark.parametrize(
    ("marks", "run", "told_with"),
    [
        (
            'ir_threshold("recall@5", max_drop=0.01)',
            'Run.of(Run({"reset": ["doc-12"], "refund": ["doc-9"], "hours": ["doc-1"]}).answers, depth=3)',
            "recall@5 needs 5 results a query, and the other run holds 3. Give a deeper one.",
        ),
        (
            'ir_threshold("mrr", max_drop=0.01)',
            'Run({"b": ["doc-9"], "c": ["doc-1"]})',
            "Only 0% of the other run's queries (by weight) are still asked in the same words: 2 removed, 0 reworded, 3 new.",
        ),
    ],
    ids=["depth", "pairing"],
)
def test_another_run_is_not_called_a_baseline_to_be_stored(project, marks, run, told_with):
    project.test(
        ['ir_golden("golden/*.yaml")', marks],
        f"from pytest_irmetrics import Run; irmetrics.check(against={run})",
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert told_with in text
    assert "--ir-baseline-update" not in text


@pytest.mark.parametrize(("gain", "outcome"), [("0.3", "passed"), ("0.4", "failed")])
def test_an_experiment_must_rise_over_what_it_is_compared_with(project, gain, outcome):
    project.test(
        ['ir_golden("golden/*.yaml")', f'ir_threshold("mrr", min_gain={gain})'],
        'irmetrics.check(against=lambda query, k: ["doc-12", "doc-1"][:k])',
    )
    result = project.run("-v")
    result.assert_outcomes(**{outcome: 1})
    said = printed(result)
    assert f"gain≥{gain}" in said
    assert ("mrr rose by 0.3333 over the other retriever" in said) == (outcome == "failed")


def test_a_rise_that_nothing_was_compared_for_is_told(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", min_gain=0.1)'])
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "mrr: min_gain 0.1 is not checked without check(against=…) or --ir-baseline." in printed(result)


def test_a_run_of_several_sets_keeps_the_relevance_level_that_it_was_judged_with(stored):
    run = json.loads(stored.baseline.read_text())
    del run["golden_set"]
    run["relevance_level"] = 2
    run["queries"].append({**run["queries"][0], "id": "of another set"})
    (stored.path / "run.json").write_text(json.dumps(run))
    stored.test('ir_golden("golden/*.yaml")', 'irmetrics.check(against="run.json")')
    text = printed(stored.run())
    assert "Changed: relevance level 2 → 1." in text
    assert "of another set" not in text
