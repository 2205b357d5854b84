"""What the setting ir_max_drop gates, and tests that gate nothing although something should have been."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import ANSWERS, GOLDEN_MARK, WITHOUT_RESET, edit_golden_set, printed, store


class TestDefaultGate:
    """The setting ir_max_drop gates ndcg@10 unless a ranking metric over the whole set has a threshold."""

    @pytest.mark.parametrize(
        "mark",
        [
            'ir_threshold("latency_p95", max=10_000)',
            'ir_threshold("mrr", 0.2, tag="billing")',
            'ir_threshold("no_answer", 1.0)',
            'ir_threshold("judged@10", 0)',
            'ir_threshold("mrr", "off")',
        ],
        ids=["latency", "slice", "no_answer", "judged", "off"],
    )
    def test_stays_beside_a_threshold_on_something_else(self, project, mark):
        if "no_answer" in mark:
            golden = (project.path / "golden" / "faq.yaml").read_text()
            project.write("golden/faq.yaml", golden + "  - query: asdf\n    no_answer: true\n")
        project.test([GOLDEN_MARK, mark])
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["ndcg@10 fell by *"])

    def test_is_on_ndcg_at_10_alone_where_no_threshold_is(self, project):
        project.test([GOLDEN_MARK])
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        fell = [
            line.split()[0]
            for line in result.outlines
            # Where CI is set, pytest repeats the whole first line of a failure in its short summary.
            if " fell by " in line and "allowed" in line and not line.startswith((" ", "FAILED"))
        ]
        assert fell == ["ndcg@10"]

    def test_is_on_the_first_reported_metric_where_ndcg_at_10_is_not_reported(self, project):
        project.test([GOLDEN_MARK])
        metrics = "latency_p50 judged@5 recall@5 mrr"
        project.write("pytest.ini", f"[pytest]\nir_metrics = {metrics}\n")
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["recall@5 fell by *"])
        result.stdout.no_fnmatch_line("mrr fell by *")

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("queries:", "slices: {billing: {mrr: 0.1}}\nqueries:"),
            ("relevant: doc-1\n", "relevant: doc-1\n    thresholds: {mrr: 0.1}\n"),
        ],
        ids=["slice", "query"],
    )
    def test_stays_beside_a_threshold_of_the_golden_set_on_some_queries(self, project, old, new):
        project.test([GOLDEN_MARK])
        edit_golden_set(project, old, new)
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["ndcg@10 fell by *"])

    def test_stays_beside_a_slice_of_the_settings(self, project):
        project.test([GOLDEN_MARK])
        project.write("pytest.ini", "[pytest]\nir_thresholds = mrr 0.1 tag=billing\n")
        store(project)
        project.answers(WITHOUT_RESET)
        project.run("--ir-baseline").assert_outcomes(failed=1)

    def test_is_on_the_first_metric_of_a_depth_that_ndcg_at_10_does_not_fit(self, project):
        project.test(['ir_golden("golden/*.yaml", depth=5)'])
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["mrr fell by *"])

    @pytest.mark.parametrize("reported", ["latency_p50", "no_answer", "judged@5"])
    @pytest.mark.parametrize(("depth", "gated"), [(10, "ndcg@10"), (5, "ndcg")])
    def test_is_on_ndcg_where_no_metric_is_reported_that_rates_rankings(
        self, project, reported, depth, gated
    ):
        project.test([f'ir_golden("golden/*.yaml", depth={depth})'])
        project.write("pytest.ini", f"[pytest]\nir_metrics = {reported}\n")
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([f"{gated} fell by *"])
        project.run("-v").stdout.no_re_match_line(r"\s+ndcg")

    def test_is_on_the_metrics_with_a_threshold_over_the_whole_set_alone(self, project):
        project.test(
            [GOLDEN_MARK, 'ir_threshold("recall@10", 0.1)', 'ir_threshold("mrr", 0.1, tag="billing")']
        )
        store(project)
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["recall@10 fell by *"])
        result.stdout.no_fnmatch_line("ndcg@10 fell by *")
        result.stdout.no_fnmatch_line("mrr fell by *")

    def test_of_no_answer_stays_where_it_has_a_threshold(self, project):
        project.test([GOLDEN_MARK, 'ir_threshold("no_answer", 0)'])
        edit_golden_set(project, "queries:", "queries:\n  - {query: asdf, no_answer: true}")
        store(project)
        project.answers({**ANSWERS, "asdf": ["doc-1"]})
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["no_answer fell by *"])

    def test_is_off_where_the_setting_is(self, project):
        project.test([GOLDEN_MARK])
        project.write("pytest.ini", "[pytest]\nir_max_drop = off\n")
        store(project)
        project.answers(WITHOUT_RESET)
        project.run("--ir-baseline").assert_outcomes(passed=1)


class TestUncheckedTests:
    """A test that requests irmetrics and never checks does not pass where something would have been gated."""

    def test_fail_with_thresholds_of_the_settings(self, project):
        project.test([GOLDEN_MARK], body="pass")
        project.write("pytest.ini", "[pytest]\nir_thresholds =\n    mrr 0.5\n")
        result = project.run()
        result.assert_outcomes(failed=1)
        assert "never called irmetrics.check()" in printed(result)

    def test_fail_under_a_gate_on_the_baseline(self, project):
        project.test([GOLDEN_MARK])
        store(project)
        project.test([GOLDEN_MARK], body="pass")
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        assert "irmetrics.check()" in printed(result)

    def test_fail_under_a_gate_on_the_baseline_that_is_not_there(self, project):
        project.test([GOLDEN_MARK], body="pass")
        project.run("--ir-baseline").assert_outcomes(failed=1)

    @pytest.mark.parametrize("body", ["pass", "irmetrics.evaluate()", "assert irmetrics.golden"])
    def test_fail_under_the_setting_of_the_baseline(self, project, body):
        project.test([GOLDEN_MARK])
        store(project)
        project.test([GOLDEN_MARK], body=body)
        project.write("pytest.ini", "[pytest]\nir_baseline = true\n")
        result = project.run()
        result.assert_outcomes(failed=1)
        assert "gates on the stored baselines" in printed(result)
        project.run("--no-ir-baseline").assert_outcomes(passed=1)

    def test_fail_where_another_fixture_requests_irmetrics(self, project):
        conftest = (project.path / "conftest.py").read_text()
        project.write(
            "conftest.py", f"{conftest}\n@pytest.fixture\ndef quality(irmetrics):\n    return irmetrics\n"
        )
        project.write("test_search.py", "def test_search_quality(quality):\n    pass\n")
        project.run("--ir-baseline").assert_outcomes(failed=1)
        project.run().assert_outcomes(passed=1)
        project.write("test_search.py", "def test_search_quality(quality):\n    assert 0\n")
        project.run("--ir-baseline").assert_outcomes(failed=1)

    def test_fail_with_thresholds_of_the_settings_where_they_bring_their_golden_set(self, project):
        project.test([], body='irmetrics.evaluate(golden="golden/faq.yaml")')
        project.write("pytest.ini", "[pytest]\nir_thresholds = mrr 0.5\n")
        project.run().assert_outcomes(failed=1)

    def test_pass_where_the_thresholds_of_the_settings_do_not_bind(self, project):
        project.test([GOLDEN_MARK], body="irmetrics.evaluate()")
        project.write("pytest.ini", "[pytest]\nir_thresholds = mrr 0.5 tag=elsewhere\n")
        project.run().assert_outcomes(passed=1)

    def test_pass_where_they_skip(self, project):
        project.test([GOLDEN_MARK], body="pytest.skip('not today')")
        project.run("--ir-baseline").assert_outcomes(skipped=1)

    def test_pass_where_nothing_gates(self, project):
        project.test([GOLDEN_MARK], body="irmetrics.evaluate()")
        project.run().assert_outcomes(passed=1)


class TestConflictingOptions:
    def test_gating_and_updating_at_once_are_an_error(self, project):
        result = project.run("--ir-baseline", "--ir-baseline-update")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "--ir-baseline-update" in result.stderr.str() + result.stdout.str()
        assert not project.baseline.exists()

    def test_also_where_the_update_stands_in_addopts(self, project):
        project.write("pytest.ini", "[pytest]\naddopts = --ir-baseline-update\n")
        assert project.run("--ir-baseline").ret == pytest.ExitCode.USAGE_ERROR

    @pytest.mark.parametrize("variable", ["--ir-baseline", "--ir-baseline-update"])
    def test_also_where_one_stands_in_the_environment(self, project, variable, monkeypatch):
        monkeypatch.setenv("PYTEST_ADDOPTS", variable)
        other = {"--ir-baseline": "--ir-baseline-update"}.get(variable, "--ir-baseline")
        assert project.run(other).ret == pytest.ExitCode.USAGE_ERROR

    def test_an_update_after_no_baseline_is_none(self, project):
        project.write("pytest.ini", "[pytest]\naddopts = --ir-baseline\n")
        project.run("--no-ir-baseline", "--ir-baseline-update").assert_outcomes(passed=1)

    def test_the_setting_and_an_update_are_none(self, project):
        project.write("pytest.ini", "[pytest]\nir_baseline = true\n")
        project.run("--ir-baseline-update").assert_outcomes(passed=1)
