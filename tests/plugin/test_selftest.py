"""``--ir-selftest``: the stored baseline is degraded, and the summary tells what the thresholds would catch."""

from __future__ import annotations

import json

import pytest

FAILING_RETRIEVER = """
    import pytest

    @pytest.fixture(scope="session")
    def retriever():
        def search(query, k):
            raise RuntimeError("the retriever was asked")
        return search
"""


@pytest.fixture
def stored(project):
    """Give a project whose baseline is stored, and whose retriever must not be asked again."""
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    project.write("conftest.py", FAILING_RETRIEVER)
    return project


def test_the_advice_catches_it(stored):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", max_drop=0.5, max_lost=0)'])
    stored.run("--ir-selftest").stdout.fnmatch_lines(
        ["  broke one query of 3 *recall@10 −0.333  caught by recall@10 max_lost"]
    )


def test_no_setting_is_needed_for_the_regression_gates_to_count(stored):
    stored.write("pytest.ini", "[pytest]\nir_baseline = false\nir_max_drop = 0.02\n")
    result = stored.run("--ir-selftest", "--no-ir-baseline")
    result.stdout.fnmatch_lines(["*rankings shifted by one*caught by mrr max_drop, mrr min"])


def test_without_a_baseline_the_message_is_that_of_a_gating_run(project):
    result = project.run("--ir-selftest")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "There is no baseline for this test: ir_baselines/test_search/test_search_quality?faq?.json.",
            "To store one, and then commit it: pytest 'test_search.py::*' --ir-baseline-update",
        ]
    )


def test_verbose_says_what_was_done_and_all_deltas(stored):
    result = stored.run("--ir-selftest", "-v")
    result.stdout.fnmatch_lines(
        [
            "  rankings shifted by one: caught by mrr max_drop, mrr min",
            "    1 unjudged document of other queries is pushed in at the top of every",
            "    mrr −0.3889, map −0.*",
        ]
    )


def test_queries_that_the_baseline_lacks_are_left_out_and_named(stored):
    text = (stored.path / "golden/faq.yaml").read_text(encoding="utf-8")
    stored.write("golden/faq.yaml", text + "  - {id: fresh, query: brand new, relevant: doc-77}\n")
    result = stored.run("--ir-selftest")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["  note: 1 query left out, because the baseline does not have them in these*", "*fresh*"]
    )


def test_latency_has_no_part_in_it(stored):
    stored.test(
        ['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=50)', 'ir_threshold("mrr", 0.5)']
    )
    result = stored.run("--ir-selftest")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*latency_p95*")


@pytest.mark.parametrize(
    ("other", "told"),
    [(["--ir-baseline-update"], "--ir-baseline-update"), (["--ir-query", "reset"], "--ir-query")],
)
def test_what_it_cannot_go_with_is_refused(stored, other, told):
    before = stored.baseline.read_bytes()
    result = stored.run("--ir-selftest", *other)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"--ir-selftest asks no query and stores nothing; run {told} by itself."])
    assert stored.baseline.read_bytes() == before


def test_another_run_in_place_of_the_baseline_is_degraded(stored):
    stored.test('ir_golden("golden/*.yaml")', f"irmetrics.check(against={str(stored.baseline)!r})")
    result = stored.run("--ir-selftest")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*rankings shifted by one*caught by*max_drop*"])


def test_another_retriever_in_place_of_the_baseline_cannot_be_degraded(stored):
    stored.test('ir_golden("golden/*.yaml")', "irmetrics.check(against=lambda query, k: [])")
    result = stored.run("--ir-selftest", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*--ir-selftest needs a stored run*"])


def test_the_hook_of_evaluations_is_not_called(stored):
    stored.write(
        "conftest.py",
        """
        import pytest

        def pytest_irmetrics_evaluated(item, evaluation):
            raise RuntimeError("nothing was evaluated")

        @pytest.fixture
        def retriever():
            return None
        """,
    )
    stored.run("--ir-selftest").assert_outcomes(passed=1)


def test_where_no_test_used_it_that_is_said(project):
    project.write("test_search.py", "def test_nothing():\n    pass\n")
    project.run("--ir-selftest").stdout.fnmatch_lines(
        ["note: --ir-selftest was given, and no test of this run used irmetrics."]
    )


def test_the_json_report_has_the_table(stored):
    stored.run("--ir-selftest", "--ir-report=report.json")
    [test] = json.loads((stored.path / "report.json").read_text(encoding="utf-8"))["tests"]
    shifted = next(entry for entry in test["selftest"] if entry["name"] == "rankings shifted by one")
    assert shifted["caught_by"] == ["mrr max_drop", "mrr min"]
    assert shifted["deltas"]["mrr"] == pytest.approx(-7 / 18)
