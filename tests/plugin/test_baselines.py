"""Store a baseline, replace it, and say what is wrong with one."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import (
    make_ranking_worse,
    printed,
)


def test_an_update_stores_the_run_and_the_same_run_gives_the_same_bytes(stored):
    first = stored.baseline.read_bytes()
    data = json.loads(first)
    assert data["golden_set"] == "golden/faq.yaml"
    assert [query["id"] for query in data["queries"]] == ["hours", "refund", "reset"]
    assert data["queries"][1]["rankings"] == [["doc-9", "doc-4", "doc-5"]]
    result = stored.run("--ir-baseline-update")
    assert stored.baseline.read_bytes() == first
    result.stdout.fnmatch_lines(["baseline ir_baselines/test_search/*.json: unchanged"])


def test_nothing_is_created_unasked(project):
    project.run().assert_outcomes(passed=1)
    project.run("--ir-baseline").assert_outcomes(failed=1)
    assert not (project.path / "ir_baselines").exists()


def test_without_a_baseline_the_test_fails_and_names_the_command_that_makes_one(project):
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "There is no baseline for this test: ir_baselines/test_search/test_search_quality?faq?.json.",
            "To store one, and then commit it: pytest 'test_search.py::*' --ir-baseline-update",
        ]
    )


@pytest.mark.parametrize("test", ["def", "async def"])
def test_without_a_baseline_nobody_is_asked(project, test):
    project.retrieve("pytest.exit('was asked')")
    project.test(['ir_golden("golden/*.yaml")'])
    if test == "async def":
        project.make_async()
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["There is no baseline for this test: *"])


def test_an_updating_run_prints_what_it_lowers_and_then_the_drop_is_accepted(stored):
    make_ranking_worse(stored)
    result = stored.run("--ir-baseline-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*lowered: mrr 0.8333 → 0.6111 (−0.2222)", "baseline *: stored"])
    stored.run("--ir-baseline").assert_outcomes(passed=1)


@pytest.mark.parametrize("why", ["failed", "failed in teardown", "xfailed"])
def test_what_is_not_stored_lowers_nothing(stored, why):
    make_ranking_worse(stored)
    before = stored.baseline.read_bytes()
    mark = ['ir_threshold("mrr", 0.9)'] if why in ("failed", "xfailed") else []
    stored.test(['ir_golden("golden/*.yaml")', *mark, *(["xfail"] if why == "xfailed" else [])])
    if why == "failed in teardown":
        conftest = (stored.path / "conftest.py").read_text(encoding="utf-8")
        ends = "@pytest.fixture(autouse=True)\ndef ends():\n    yield\n    raise OSError\n"
        stored.write("conftest.py", f"{conftest}\n{ends}")
    result = stored.run("--ir-baseline-update", "--ir-report=report.md")
    assert stored.baseline.read_bytes() == before
    assert "lowered" not in result.stdout.str()
    assert "lowers" not in (stored.path / "report.md").read_text(encoding="utf-8")
    name = "test_search.py::test_search_quality[faq]"
    unstored = f"note: No baseline was stored for 1 test that failed: {name}."
    assert (unstored in printed(result)) == why.startswith("failed")


def test_what_a_new_baseline_would_not_mend_is_not_to_be_accepted(stored):
    make_ranking_worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'])
    assert "To accept it:" in printed(stored.run("--ir-baseline"))
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9, max_drop=0.01)'])
    assert "To accept it:" not in printed(stored.run("--ir-baseline"))


def test_a_quiet_updating_run_prints_what_it_lowers_too(stored):
    make_ranking_worse(stored)
    stored.run("--ir-baseline-update", "-q").stdout.fnmatch_lines(
        [
            "retrieval quality: 1 golden set, all pass",
            "golden/faq.yaml: lowered: mrr 0.8333 → 0.6111 (−0.2222)",
        ]
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "<<<<<<< ours\n" + text + "=======\n" + text + ">>>>>>> theirs\n",
        lambda text: text.replace('"version": 1', '"version": 99').replace('"version":1', '"version":99'),
        lambda _: "",
        lambda _: "[]",
        lambda text: text.replace('"weight": 1', '"weight": NaN').replace('"weight":1', '"weight":NaN'),
    ],
)
def test_a_damaged_baseline_fails_in_words_and_an_update_replaces_it(stored, damage):
    good = stored.baseline.read_text()
    bad = damage(good)
    assert bad != good
    stored.baseline.write_text(bad)
    conftest = stored.path / "conftest.py"
    asks = conftest.read_text()
    stored.retrieve("pytest.exit('was asked')")
    result = stored.run("--ir-baseline")  # nobody waits for answers to learn that
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ir_baselines/test_search/test_search_quality?faq?.json*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    conftest.write_text(asks)
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    assert stored.baseline.read_text() == good


@pytest.mark.parametrize("mark", ['@pytest.mark.xfail(reason="known")', "@pytest.mark.xfail(strict=False)"])
def test_an_xfailed_test_stores_nothing(project, mark):
    path = project.path / "test_search.py"
    path.write_text(path.read_text().replace("@pytest.mark.ir_golden", f"{mark}\n@pytest.mark.ir_golden", 1))
    project.run("--ir-baseline-update")
    assert not project.baseline.exists()


def test_a_test_that_fails_in_its_teardown_stores_nothing(project):
    path = project.path / "test_search.py"
    path.write_text(
        path.read_text().replace("(irmetrics)", "(irmetrics, bad)")
        + "\n\n@pytest.fixture\ndef bad():\n    yield\n    raise RuntimeError('late')\n"
    )
    project.run("--ir-baseline-update").assert_outcomes(passed=1, errors=1)
    assert not project.baseline.exists()


def test_a_test_that_fails_stores_nothing(stored):
    before = stored.baseline.read_bytes()
    stored.answers({})
    stored.run("--ir-baseline-update").assert_outcomes(failed=1)
    assert stored.baseline.read_bytes() == before


def test_a_broken_baseline_is_replaced_by_a_pass_alone_and_that_is_what_is_said(stored):
    stored.baseline.write_text("{")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    result = stored.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert "Nothing was compared with the baseline that is there, and only a pass replaces it." in printed(
        result
    )
    assert stored.baseline.read_text() == "{"
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    assert stored.baseline.read_text() != "{"


@pytest.mark.parametrize(
    ("body", "missed"),
    [("irmetrics.check(retriever=lambda query, k: 1 / 0)", True), ("irmetrics.evaluate(); assert 0", False)],
)
def test_a_baseline_that_was_not_stored_is_missed_only_where_the_test_would_store_one(project, body, missed):
    project.test('ir_golden("golden/*.yaml")', body)
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert ("No baseline was stored for 1 test that failed" in printed(result)) == missed
