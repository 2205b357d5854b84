"""Baselines, runs and reports that would end in a traceback, hang or fill memory are told in a sentence."""

from __future__ import annotations

import json
import os

import pytest

from pytest_irmetrics import Run
from pytest_irmetrics.run import RunError
from tests.plugin.conftest import store

GIANT = "1" + 400 * "0"


def no_traceback(result):
    text = result.stdout.str() + result.stderr.str()
    for word in ("INTERNALERROR", "Traceback", "OverflowError", "ValueError"):
        assert word not in text, text


def edited(project, change):
    """Edit the stored baseline's first query, or its header, as JSON text that no double can hold."""
    data = json.loads(project.baseline.read_text())
    change(data)
    text = json.dumps(data).replace('"GIANT"', GIANT).replace('"HUGE"', "1.7e308").replace('"TINY"', "5e-324")
    project.baseline.write_text(text)


def set_grade(value):
    def change(data):
        query = data["queries"][0]
        query["judgments"] = dict.fromkeys(query["judgments"], value)

    return change


def set_weight(value):
    return lambda data: data["queries"][0].update(weight=value)


def set_all_weights(value):
    return lambda data: [query.update(weight=value) for query in data["queries"]]


def set_mean(value):
    return lambda data: data["means"].update(mrr=value)


def set_level(value):
    return lambda data: data.update(relevance_level=value)


@pytest.mark.parametrize("value", ["GIANT", "HUGE", "TINY"])
@pytest.mark.parametrize("field", [set_grade, set_weight, set_all_weights, set_mean, set_level])
def test_a_number_at_the_end_of_its_range_is_no_traceback_and_can_be_replaced(project, field, value):
    store(project)
    good = project.baseline.read_bytes()
    edited(project, field(value))
    for options in (["--ir-baseline"], ["--ir-selftest"], ["--ir-baseline", "--ir-report=json:report.json"]):
        no_traceback(project.run(*options))
    result = project.run("--ir-baseline-update")
    no_traceback(result)
    result.assert_outcomes(passed=1)
    assert project.baseline.read_bytes() == good


@pytest.mark.parametrize(
    "command",
    [
        "show golden/faq.yaml refund",
        "diff {0} {0}",
        "label golden/faq.yaml --run {0}",
        "baselines list",
        "convert {0} out.trec",
        "report {0}",
    ],
)
@pytest.mark.parametrize("field", [set_grade, set_weight, set_mean, set_level])
def test_no_command_ends_in_a_traceback_over_it(project, capsys, command, field):
    from pytest_irmetrics.cli import main

    store(project)
    for value in ("GIANT", "HUGE"):
        edited(project, field(value))
        status = main(command.format("ir_baselines/test_search/test_search_quality[faq].json").split())
        assert status in (0, 1, 2)
        said = "".join(capsys.readouterr())
        assert "Traceback" not in said


def test_a_run_of_giant_scores_is_refused():
    with pytest.raises(RunError, match="d"):
        Run({"q": {"d": 10**400, "e": 1}})


@pytest.mark.parametrize(
    "name",
    [
        300 * "x" + ".yaml",
        "a\0b.yaml",
        "\ud800.yaml",
        1500 * "../" + "x.yaml",
        "/dev/zero",
        "golden/fifo",
        "",
        "golden/faq.yaml/x",
    ],
)
def test_a_golden_set_with_a_name_that_no_file_has_is_told(project, name):
    store(project)
    os.mkfifo(project.path / "golden/fifo")
    edited(project, lambda data: data.update(golden_set=name))
    result = project.run("--ir-baseline")
    no_traceback(result)
    result.assert_outcomes(passed=1, failed=1)
    result = project.run("--ir-baseline-update")
    no_traceback(result)
    result.assert_outcomes(passed=1)
    project.run("--ir-baseline").assert_outcomes(passed=1)


@pytest.mark.parametrize("pattern", [300 * "x" + ".yaml", "golden/" + 300 * "y", "a\0b", "\ud800", "["])
def test_a_pattern_that_no_file_has_is_told(project, pattern):
    project.test([f"ir_golden({pattern!r})"])
    result = project.run()
    no_traceback(result)
    result.assert_outcomes(failed=1)


def test_a_metric_of_ones_own_that_returns_the_greatest_numbers_fails_its_test(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + "\ndef pytest_irmetrics_metrics(config):\n    return {'huge': lambda query, ranking, k: 1.7e308}\n"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("huge", 0.5)'])
    result = project.run()
    no_traceback(result)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*the metric huge returned 1.7e+308 for the query 'reset'. A metric of your own returns*"]
    )


NOT_REGULAR = {
    "fifo": "no regular file",
    "device": "no regular file",
    "directory": "a folder",
    "large": "larger than 1 GB",
}


@pytest.mark.parametrize("value", ["10**400", "__import__('fractions').Fraction(10**400)"])
def test_a_metric_that_returns_what_no_float_holds_fails_its_test(project, value):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + f"\ndef pytest_irmetrics_metrics(config):\n    return {{'huge': lambda query, ranking, k: {value}}}\n"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("huge", 0.5)'])
    result = project.run()
    no_traceback(result)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the metric huge returned inf for the query 'reset'.*"])


@pytest.mark.parametrize("setting", ["ir_repeat", "ir_depth"])
def test_a_setting_that_no_memory_holds_is_refused(project, setting):
    project.write("pytest.ini", f"[pytest]\n{setting} = 99999999999999999999\n")
    result = project.run()
    no_traceback(result)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*{setting} is '99999999999999999999'; it is a whole number of at most *"])


@pytest.mark.parametrize("path", ["a\0b.json", "\ud800.run", "x" * 300 + ".json"])
def test_a_run_is_not_saved_to_a_path_that_no_file_has(path, tmp_path):
    with pytest.raises(RunError, match="cannot be written"):
        Run({"q": ["d"]}).save(tmp_path / path)


class TestNoRegularFile:
    @pytest.fixture(params=NOT_REGULAR)
    def baseline(self, project, request):
        store(project)
        project.baseline.unlink()
        if request.param == "fifo":
            os.mkfifo(project.baseline)
        elif request.param == "device":
            project.baseline.symlink_to("/dev/zero")
        elif request.param == "directory":
            project.baseline.mkdir()
        else:
            with project.baseline.open("wb") as file:
                file.truncate(2_000_000_000)  # sparse: nothing is written
        return project

    def test_is_a_baseline(self, baseline, request):
        result = baseline.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        no_traceback(result)
        assert NOT_REGULAR[request.node.callspec.params["baseline"]] in result.stdout.str()

    @pytest.mark.usefixtures("baseline")
    def test_is_a_run_or_report_that_a_command_reads(self, capsys):
        from pytest_irmetrics.cli import main

        path = "ir_baselines/test_search/test_search_quality[faq].json"
        for command in (
            ["diff", path, path],
            ["report", path],
            ["label", "golden/faq.yaml", "--run", path],
            ["baselines", "list"],
        ):
            main(command)
            assert "Traceback" not in "".join(capsys.readouterr())

    def test_is_a_run_that_python_loads(self, baseline):
        with pytest.raises(RunError):
            Run.load(baseline.baseline)
