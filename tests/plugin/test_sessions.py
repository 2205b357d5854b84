"""Load little, survive crashes and interrupts, and read settings in every form that pytest has."""

from __future__ import annotations

import sys

import pytest

from tests.plugin.conftest import WITHOUT_OTHERS


def test_an_unrelated_run_loads_nothing_and_leaves_nothing(pytester):
    pytester.makepyfile(
        """
        import os, sys

        def test_a():
            assert "yaml" not in sys.modules
            ours = {name for name in sys.modules if name.startswith("pytest_irmetrics.")}
            assert ours == {"pytest_irmetrics.plugin" + name for name in ("", ".config")}
        """
    )
    before = {path.name for path in pytester.path.iterdir()}
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*retrieval*")
    after = {path.name for path in pytester.path.iterdir() if not path.name.startswith(("runpytest", "std"))}
    assert after <= {*before, "__pycache__"}


def test_a_failure_without_a_line_of_the_test_does_not_point_at_the_plugin(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("def test_a(): return 5")
    result = pytester.runpytest_inprocess("-p", "pytest_irmetrics.plugin", "-W", "error")
    result.assert_outcomes(failed=1)
    assert "irmetrics" not in "\n".join(result.outlines[result.outlines.index("") :])


def test_pytest_does_not_warn_a_script_that_imported_the_package(pytester):
    code = f"import pytest_irmetrics, pytest; pytest.main(['-q', *{WITHOUT_OTHERS}])"
    result = pytester.run(sys.executable, "-c", code)
    assert "pytest_irmetrics" not in result.stdout.str() + result.stderr.str()


def test_where_every_worker_crashed_the_report_says_so(project):
    project.retrieve("__import__('os')._exit(3)")
    result = project.run_apart("-n", "1", "--ir-baseline-update", "--ir-report=report.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["worker * crashed while running 'test_search.py::test_search_quality?faq?'"])
    result.stdout.no_fnmatch_line("*no test of this run used irmetrics*")
    assert "crashed while running" in (project.path / "report.json").read_text(encoding="utf-8")


def test_an_interrupted_run_stores_nothing_of_the_interrupted_test(project):
    project.retrieve("exec('raise KeyboardInterrupt') if query == 'stop' else answers[query]")
    project.write("golden/zzz.yaml", "queries: [{query: stop, relevant: [doc-9]}]\n")
    result = project.run_apart("--ir-baseline-update")
    assert result.ret == 2
    assert [path.name for path in project.path.glob("ir_baselines/**/*") if path.is_file()] == [
        "test_search_quality[faq].json"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="no read-only folders")
def test_a_baseline_that_cannot_be_written_fails_the_run(project):
    (project.path / "ir_baselines").write_text("a file where a folder should be")
    result = project.run("--ir-baseline-update")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["error: *ir_baselines*"])


def test_the_plugin_can_be_turned_off(pytester):
    pytester.makepyfile("def test_a(): pass")
    pytester.runpytest_subprocess("-p", "no:irmetrics", *WITHOUT_OTHERS).assert_outcomes(passed=1)


@pytest.mark.skipif(int(pytest.__version__.split(".")[0]) < 9, reason="pytest 9 brought this table")
@pytest.mark.parametrize("depth", ["2", '"2"'])
def test_settings_in_pytests_native_table_may_be_numbers_quoted_or_not(project, depth):
    project.write(
        "pyproject.toml",
        f"[tool.pytest]\nir_depth = {depth}\nir_max_drop = 0.5\nir_timeout = 5.5\nir_baseline = true\nir_metrics = ['mrr']\n",
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@2", 0.5)'])
    result = project.run("--no-ir-baseline", "-v")
    result.assert_outcomes(passed=1)
    project.run().assert_outcomes(failed=1)
