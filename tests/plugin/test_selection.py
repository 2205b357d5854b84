"""Select tests, run them in parallel workers, and run some of them again."""

from __future__ import annotations

import re

import pytest

from tests.plugin.conftest import summary_lines
from tests.projects import ANSWERS, RETRIEVER


@pytest.fixture
def three(project):
    """Give a project with three golden sets, one of which fails."""
    project.write("golden/a.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.write("golden/sub/b.yaml", "queries: [{query: refund policy, relevant: [doc-404, doc-5]}]\n")
    project.test(['ir_golden("golden/**/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    return project


@pytest.mark.parametrize("workers", ["0", "2"])
def test_workers_change_neither_verdicts_nor_numbers_nor_bytes(three, workers):
    alone = three.run("-v", "--ir-baseline-update")
    alone.assert_outcomes(passed=2, failed=1)
    bytes_alone = {path.name: path.read_bytes() for path in three.path.glob("ir_baselines/**/*.json")}
    for path in three.path.glob("ir_baselines/**/*.json"):
        path.unlink()
    spread = three.run_apart("-v", "--ir-baseline-update", "-n", workers)
    spread.assert_outcomes(passed=2, failed=1)
    assert summary_lines(spread) == summary_lines(alone)
    assert {path.name: path.read_bytes() for path in three.path.glob("ir_baselines/**/*.json")} == bytes_alone
    assert len(bytes_alone) == 2


def test_ids_are_paths_below_the_fixed_folder(three):
    result = three.run("--co", "-q")
    assert [line for line in result.outlines if "::" in line] == [
        "test_search.py::test_search_quality[a]",
        "test_search.py::test_search_quality[faq]",
        "test_search.py::test_search_quality[sub-b]",
    ]


def test_two_sets_with_one_id_are_a_failing_item(three):
    three.write("golden/sub-b.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    result = three.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["Two golden sets have the id 'sub-b': golden/sub-b.yaml and golden/sub/b.yaml*"]
    )


def test_selection_by_keyword_and_first_failure(three):
    three.run("-k", "faq").assert_outcomes(passed=1, deselected=2)
    three.run("-x").assert_outcomes(passed=2, failed=1)


def test_an_update_of_some_tests_leaves_the_others_files_alone(three):
    three.run("--ir-baseline-update")
    path = three.path / "ir_baselines/test_search/test_search_quality[a].json"
    before = path.read_bytes()
    three.answers({**ANSWERS, "refund policy": ["doc-9"]})
    three.run("--ir-baseline-update", "-k", "faq").assert_outcomes(passed=1, deselected=2)
    assert path.read_bytes() == before


def test_last_failed_runs_the_failed_set_alone(three):
    options = ["-p", "pytest_irmetrics.plugin"]
    three.pytester.runpytest_inprocess(*options)
    three.pytester.runpytest_inprocess(*options, "--lf").assert_outcomes(failed=1)


def test_last_failed_blames_nothing_for_the_tests_that_it_leaves_out(three):
    three.write(
        "test_search.py",
        """
    import pathlib, pytest

    pytestmark = [pytest.mark.ir_golden("golden/*.yaml"), pytest.mark.ir_threshold("mrr", 0)]

    def test_search_quality(irmetrics):
        irmetrics.check()

    def test_other():
        assert pathlib.Path("mended").exists()
    """,
    )

    def run(*options):
        return three.pytester.runpytest_inprocess("-p", "pytest_irmetrics.plugin", *options)

    run("--ir-baseline-update").assert_outcomes(passed=2, failed=1)
    three.answers({**ANSWERS, "opening hours": []})
    run("--ir-baseline").assert_outcomes(passed=1, failed=2)
    three.answers(ANSWERS)
    again = run("--ir-baseline", "--lf")
    again.assert_outcomes(passed=1, failed=1)
    assert "ir_baselines" not in again.stdout.str()
    (three.path / "mended").touch()
    run("--ir-baseline", "--lf").assert_outcomes(passed=1)


def test_what_another_hook_deselects_first_was_collected_all_the_same(three):
    three.write(
        "conftest.py",
        RETRIEVER
        + """
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(items):
        items[:] = [item for item in items if item.name == "test_other"]
    """,
    )
    three.write(
        "test_search.py",
        """
    import pytest

    @pytest.mark.ir_threshold("mrr", 0)
    class TestSearch:
        @pytest.mark.ir_golden("golden/faq.yaml")
        def test_quality(self, irmetrics):
            irmetrics.check()

        def test_other(self):
            pass
    """,
    )
    three.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "option", ["--fixtures", "--fixtures-per-test", "--cache-show", "--setup-plan", "--setup-only"]
)
def test_a_run_that_calls_no_test_writes_nothing_and_says_nothing(project, option):
    project.write("report.json", "the last run's")
    options = ["-p", "pytest_irmetrics.plugin", "--ir-baseline", "--ir-report=report.json", option]
    result = project.pytester.runpytest_inprocess(*options)
    assert "retrieval quality ===" not in result.stdout.str()
    assert (project.path / "report.json").read_text() == "the last run's"


COMMANDS = ["##vso[task.setvariable variable=x]y", "##[error]bad", "::error::bad", "a\n::warning::b"]


@pytest.mark.skipif("os.name == 'nt'", reason="no file can have such a name there")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_golden_files_name_is_no_command_for_a_ci_log(project, name):
    (project.path / "golden" / "faq.yaml").rename(project.path / "golden" / f"{name}.yaml")
    project.write("more/broken.yaml", "queries: [{query: a, relevnt: b}]\n").rename(
        project.path / "more" / f"{name}x.yaml"
    )
    project.write("other/a.yaml", "queries: [{query: a, relevant: b}]\n").rename(
        project.path / "other" / f"{name}.yaml"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    tests = project.path / "test_search.py"
    tests.write_text(
        tests.read_text()
        + """
@pytest.mark.ir_golden("golden/*.yaml", "more/*.yaml", "other/*.yaml")
def test_more(irmetrics):
    irmetrics.check()
"""
    )
    project.run("--ir-baseline-update", "-q", "-k", "quality").assert_outcomes(passed=1, deselected=1)
    results = [
        project.run(*options)
        for options in (["-v", "-rA"], ["--ir-query=hours", "-rA"], ["--co", "-q"], ["--ir-baseline", "-rA"])
    ]
    (project.path / "golden" / f"{name}.yaml").unlink()
    results.append(project.run("--ir-baseline", "-rA"))
    for result in results:
        for line in result.outlines:
            assert not re.search(r"##(vso|\[)|^\s*::", line), line


def test_a_test_of_such_a_golden_file_can_be_selected_by_its_node_id(project):
    (project.path / "golden" / "faq.yaml").rename(project.path / "golden" / "##[error]faq.yaml")
    project.run("test_search.py::test_search_quality[#_#[error]faq]").assert_outcomes(passed=1)
