"""pytest's own habits: selection, parallel runs, reruns, other plugins, verbosity, narrow and ASCII streams."""

from __future__ import annotations

import json
import re
import shlex
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.plugin.conftest import ANSWERS, RETRIEVER, TEST


@pytest.fixture
def three(project):
    """Give a project with three golden sets, one of which fails."""
    project.write("golden/a.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.write("golden/sub/b.yaml", "queries: [{query: refund policy, relevant: [doc-404, doc-5]}]\n")
    project.test(['ir_golden("golden/**/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    return project


def summary(result):
    """Return the lines about retrieval quality, without what differs between runs."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if "retrieval quality" in line)
    end = next(index for index, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("="))
    return lines[start + 1 : end]


@pytest.mark.parametrize("workers", ["0", "2", "4"])
def test_workers_change_neither_verdicts_nor_numbers_nor_bytes(three, workers):
    alone = three.run("-v", "--ir-baseline-update")
    alone.assert_outcomes(passed=2, failed=1)
    bytes_alone = {path.name: path.read_bytes() for path in three.path.glob("ir_baselines/**/*.json")}
    for path in three.path.glob("ir_baselines/**/*.json"):
        path.unlink()
    spread = three.run_apart("-v", "--ir-baseline-update", "-n", workers)
    spread.assert_outcomes(passed=2, failed=1)
    assert summary(spread) == summary(alone)
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
    result.assert_outcomes(passed=2, failed=1)
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


GROUPED = """
    def pytest_collection_modifyitems(items):
        for item in items:
            grouped = f"{item.nodeid}@one engine"
            name = {"nodeid": property(lambda self, grouped=grouped: grouped)}
            item.__class__ = type(type(item))("Grouped", (type(item),), name)
"""


def test_a_command_names_the_test_and_not_the_group_that_xdist_appends(project):
    # As its loadgroup does where it finds a mark xdist_group.
    project.write("conftest.py", RETRIEVER + GROUPED)
    project.test('ir_golden("golden/faq.yaml")')
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(["*'test_search.py::test_search_quality?faq?' --ir-baseline-update"])


def test_the_last_of_several_attempts_counts(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + """

calls = []

@pytest.fixture
def flaky(retriever):
    calls.append(1)
    return (lambda query, k: []) if len(calls) == 1 else retriever
"""
    )
    path = project.path / "test_search.py"
    path.write_text(
        path.read_text()
        .replace("(irmetrics)", "(irmetrics, flaky)")
        .replace("check()", "check(retriever=flaky)")
    )
    result = project.run("--reruns", "1", "--ir-baseline-update")
    result.stdout.fnmatch_lines(["golden/faq.yaml: passes*mrr 0.8333*", "*1 passed*1 rerun*"])
    assert project.baseline.exists()


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_command_repeats_the_options_that_set_what_the_test_is_judged_by(project, workers):
    project.write("my pytest.ini", "[pytest]\nir_baseline_dir = stored\n")
    options = [
        "-c",
        "my pytest.ini",
        "--rootdir=.",
        "-o",
        "ir_depth=3",
        "-o",
        "console_output_style=classic",
    ]
    result = project.run_apart(*options, "--ir-baseline", "-n", workers)
    command = "--ir-baseline-update -c 'my pytest.ini' -o ir_depth=3"
    line = next(line for line in result.outlines if "To store one" in line)
    assert line.endswith(command)
    pasted = shlex.split(line.partition("pytest ")[2])
    project.run(*pasted).assert_outcomes(passed=1)
    project.run(*options, "--ir-baseline").assert_outcomes(passed=1)


RETRY = """
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        if call.when == "call" and report.failed:
            item.ihook.pytest_runtest_teardown(item=item, nextitem=pytest.Class.from_parent(item.session, name="x"))
            report.outcome = "retried"
            item.ihook.pytest_runtest_logreport(report=report)
            item._initrequest()
            item.ihook.pytest_runtest_setup(item=item)
            again = pytest.CallInfo.from_call(lambda: item.ihook.pytest_runtest_call(item=item), when="call")
            last = pytest.TestReport.from_item_and_call(item, again)
            report.outcome, report.longrepr = last.outcome, last.longrepr
        return report

    @pytest.fixture
    def flaky(retriever, attempts=[]):
        attempts.append(1)
        return retriever if len(attempts) == {works} else lambda query, k: ["doc-7"]
"""


@pytest.mark.parametrize("works", [2, 3])
def test_the_last_attempt_counts_where_a_plugin_makes_it_as_pytest_retry_does(project, works):
    project.write("conftest.py", RETRIEVER + RETRY.replace("{works}", str(works)))
    project.write(
        "test_search.py",
        TEST.replace("(irmetrics)", "(irmetrics, flaky)").replace("check()", "check(retriever=flaky)"),
    )
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(**{"passed" if works == 2 else "failed": 1})
    result.stdout.fnmatch_lines([f"golden/faq.yaml: {'passes' if works == 2 else 'FAILS'}*"])
    assert project.baseline.exists() == (works == 2)


def test_a_check_in_a_teardown_is_stored_and_told_like_any(project):
    project.write(
        "test_search.py",
        """
    import pytest

    @pytest.fixture
    def gate(irmetrics):
        yield
        irmetrics.check()

    @pytest.mark.ir_golden("golden/*.yaml")
    def test_search_quality(gate):
        pass
    """,
    )
    project.run("--ir-baseline-update").stdout.fnmatch_lines(
        ["golden/faq.yaml: passes, *", "baseline *: stored"]
    )
    project.answers({**ANSWERS, "opening hours": []})
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["golden/faq.yaml: FAILS, *"])


SUBTESTS = """
    import pytest

    @pytest.mark.ir_golden("golden/*.yaml")
    @pytest.mark.ir_threshold("mrr", 0.5)
    def test_search_quality(irmetrics, subtests):
        with subtests.test("first"):
            assert {first}
        irmetrics.check()
"""


@pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="pytest's fixture subtests is of 9.0")
@pytest.mark.parametrize("first", [True, False])
def test_a_subtest_before_the_check_hides_nothing_of_it(project, first):
    project.write("test_search.py", SUBTESTS.format(first=first))
    result = project.run("--ir-baseline-update", "--ir-report=report.json")
    result.stdout.fnmatch_lines(["golden/faq.yaml: passes*mrr 0.8333*"])
    assert result.ret == (pytest.ExitCode.OK if first else pytest.ExitCode.TESTS_FAILED)
    assert project.baseline.exists() == first
    outcome = json.loads((project.path / "report.json").read_text())["tests"][0]["outcome"]
    assert outcome == "passed"


def test_a_failure_that_the_body_swallows_fails_however_the_fixture_was_asked_for(project):
    project.write(
        "test_search.py",
        """
    def test_search_quality(request):
        try:
            request.getfixturevalue("irmetrics").check(golden="golden/faq.yaml", retriever=lambda query, k: ["x"])
        except BaseException:
            pass
    """,
    )
    project.run().assert_outcomes(failed=1)


def test_a_parametrized_retriever_is_a_test_each(project):
    conftest = project.path / "conftest.py"
    text = (
        conftest.read_text()
        .replace('scope="session")', 'scope="session", params=["good", "bad"])')
        .replace("retriever():", "retriever(request):")
    )
    conftest.write_text(
        text.replace(
            "answers.get(query, [])[:k]", 'answers.get(query, [])[:k] if request.param == "good" else []'
        )
    )
    result = project.run("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "golden/faq.yaml, test_search_quality[[]*bad*]: FAILS, 3 queries; *",
            "golden/faq.yaml, test_search_quality[[]*good*]: passes, 3 queries; *",
        ]
    )
    project.run("-q").stdout.fnmatch_lines(["retrieval quality: 1 golden set, 2 tests, 1 failed"])
    project.run("--ir-baseline-update")
    assert [path.name for path in project.path.glob("ir_baselines/**/*.json")] == [
        "test_search_quality[good-faq].json"
    ] or [path.name for path in project.path.glob("ir_baselines/**/*.json")] == [
        "test_search_quality[faq-good].json"
    ]


def test_an_expected_failure_is_one(project):
    project.test(["xfail", 'ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)'])
    project.run().assert_outcomes(xfailed=1)


@pytest.mark.parametrize(
    "options",
    [
        ["-p", "no:terminal"],
        ["--no-summary"],
        ["-q"],
        ["-qq"],
        ["-p", "no:randomly"],
        ["--tb=no"],
        ["--tb=line"],
        ["-rA"],
    ],
)
def test_the_verdict_is_the_same_however_it_is_shown(project, options):
    assert project.run_apart(*options).ret == 0
    project.answers({})
    result = project.run_apart(*options)
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_quiet_is_one_line(project):
    result = project.run("-q")
    result.stdout.fnmatch_lines(["retrieval quality: 1 golden set, all pass"])
    result.stdout.no_fnmatch_line("*=== retrieval quality*")


def test_verbose_is_a_table_and_more_verbose_the_rankings(project):
    result = project.run("-v")
    result.stdout.fnmatch_lines(["  metric * now *gate*verdict", "  mrr *0.8333*≥0.5*passes"])
    result.stdout.no_fnmatch_line("*rank*grade*document*")
    result = project.run("-vv")
    result.stdout.fnmatch_lines(
        ["*golden/faq.yaml:5: refund", "*rank*grade*document", "*1*3*doc-9", "*unjudged*doc-5"]
    )


@pytest.mark.parametrize("columns", ["60", "80"])
def test_no_line_is_wider_than_the_terminal(project, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    project.write(
        "golden/faq.yaml",
        "queries:\n  - {id: 退款政策退款政策退款政策退款政策退款政策退款政策退款政策退款政策退款政策, query: refund policy, relevant: [doc-9]}\n"
        "  - {query: " + "very long text " * 30 + ", relevant: [doc-1]}\n",
    )
    result = project.run("-vv")
    from pytest_irmetrics.base.layout import display_width

    for line in summary(result):
        assert display_width(line) <= int(columns), line


def test_a_long_name_gives_way_to_the_verdict(project):
    name = f"golden/{'long' * 30}.yaml"
    (project.path / "golden" / "faq.yaml").rename(project.path / name)
    project.run().stdout.fnmatch_lines(["golden/longlong*…*long.yaml: passes, 3 queries"])
    project.answers({})
    project.run().stdout.fnmatch_lines(["golden/longlong*…*long.yaml: FAILS, 3 queries"])


def test_an_ascii_stream_gets_ascii(project, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    project.answers({"refund policy": ["é→退"]})
    for workers in ("0", "2"):
        result = project.run_apart("-vv", "-n", workers)
        result.assert_outcomes(failed=1)
        assert result.stdout.str().isascii()
        assert "INTERNALERROR" not in result.stdout.str()


def test_hostile_ids_are_inert_everywhere(project):
    evil = "\x1b[31m::error::\u202e\r<script>\ud800##[group]"
    project.write("golden/faq.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.answers({"refund policy": [evil, " ::error::x", "##vso[task.x]", "doc-9"]})
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    for workers in ("0", "2"):
        result = project.run_apart("-vv", "-n", workers, "--junitxml=out.xml", "--color=no")
        result.assert_outcomes(failed=1)
        output = result.stdout.str()
        for sign in ("\x1b", "\u202e", "\ud800"):
            assert sign not in output
        assert not re.search(r"(?m)^\s*::error|##\[|##vso\[", output)
        ET.parse(project.path / "out.xml")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_failure_is_told_once_in_ci_too(project, monkeypatch, workers):
    monkeypatch.setenv("CI", "true")  # where pytest's short summary has whole messages
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    result = project.run_apart("-n", workers, "--junitxml=out.xml")
    first = "mrr is 0.8333, 0.0667 below the threshold: at least 0.9000 is required."
    assert result.outlines.count(first) == 1
    assert result.outlines[-2].endswith(f" - Failed: {first}")
    (failure,) = ET.parse(project.path / "out.xml").iter("failure")
    assert failure.get("message") == f"Failed: {first}"
    assert failure.text.startswith(f"{first}\n")
    assert "golden/faq.yaml:9: hours" in failure.text


def test_an_unrelated_run_loads_nothing_and_leaves_nothing(pytester):
    pytester.makepyfile(
        """
        import os, sys

        def test_a():
            assert "yaml" not in sys.modules
            ours = {name for name in sys.modules if name.startswith("pytest_irmetrics.")}
            assert ours == {"pytest_irmetrics.plugin" + name for name in ("", ".hookspecs", ".defaults")}
        """
    )
    before = {path.name for path in pytester.path.iterdir()}
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
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
    code = "import pytest_irmetrics, pytest; pytest.main(['-q', '-p', 'no:cacheprovider'])"
    result = pytester.run(sys.executable, "-c", code)
    assert "pytest_irmetrics" not in result.stdout.str() + result.stderr.str()


def test_a_crashing_worker_never_turns_into_a_pass(project):
    project.write("golden/zzz.yaml", "queries: [{query: crash, relevant: [doc-9]}]\n")
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "return lambda query, k:",
            "import os\n    return lambda query, k: os._exit(3) if query == 'crash' else",
        )
    )
    result = project.run_apart("-n", "2", "--ir-baseline-update")
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)
    assert project.baseline.exists()
    result.stdout.fnmatch_lines(
        ["note: a worker crashed while running test_search.py::test_search_quality?zzz?;*"]
    )
    (project.path / "golden" / "faq.yaml").unlink()
    result = project.run_apart("-n", "1", "--ir-baseline-update", "--ir-report=report.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["note: a worker crashed while running test_search.py::test_search_quality?zzz?;*"]
    )
    result.stdout.no_fnmatch_line("*no test of this run used irmetrics*")
    assert "crashed while running" in (project.path / "report.json").read_text(encoding="utf-8")


def test_an_interrupted_run_stores_nothing_of_the_interrupted_test(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "return lambda query, k:",
            "def stop(): raise KeyboardInterrupt\n    return lambda query, k: stop() if query == 'stop' else",
        )
    )
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


def test_markers_and_options_explain_themselves(project):
    project.run("--markers").stdout.fnmatch_lines(["@pytest.mark.ir_golden(*", "@pytest.mark.ir_threshold(*"])
    project.run("--help").stdout.fnmatch_lines(["*--ir-baseline *", "*ir_depth*"])


def test_the_plugin_can_be_turned_off(pytester):
    pytester.makepyfile("def test_a(): pass")
    pytester.runpytest_subprocess("-p", "no:irmetrics").assert_outcomes(passed=1)


def test_it_works_under_strict_markers_and_config(project):
    project.write("pytest.ini", "[pytest]\naddopts = --strict-markers --strict-config\nir_depth = 10\n")
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ir_depth = many", "ir_depth is 'many'; it is a whole number*"),
        ("ir_duplicates = drop", "ir_duplicates is 'drop'*"),
        ("ir_timeout = -1", "ir_timeout is '-1'*"),
        ("ir_timeout = 1_0", "ir_timeout is '1_0'*"),
        ("ir_timeout = inf", "ir_timeout is 'inf'*"),
        ("ir_timeout = \N{ARABIC-INDIC DIGIT THREE}", "ir_timeout is '\N{ARABIC-INDIC DIGIT THREE}'*"),
        ("ir_depth = \N{ARABIC-INDIC DIGIT THREE}", "ir_depth is '\N{ARABIC-INDIC DIGIT THREE}'*"),
        ("ir_baseline_dir = ../shared", "ir_baseline_dir is '../shared'; it is a folder below *"),
        ("ir_baseline_dir = /tmp/shared", "ir_baseline_dir is '/tmp/shared'; it is a folder below *"),
        ("ir_baseline = perhaps", "ir_baseline is 'perhaps'*"),
        ("ir_max_drop = 200%", "ir_max_drop is '200%'. Write a share of the baseline *"),
        ("ir_metrics = mrr ndgc@10", "ir_metrics: *ndgc*"),
        ("ir_thresholds = mrr 2", "ir_thresholds: *"),
        ("ir_repeat = 0", "ir_repeat is '0'*"),
    ],
)
def test_a_setting_that_cannot_be_used_fails_every_test_that_gates(project, line, message):
    project.write("pytest.ini", f"[pytest]\n{line}\n")
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])


def test_settings_in_a_pyproject_table_may_be_numbers(project):
    project.write(
        "pyproject.toml", "[tool.pytest.ini_options]\nir_depth = 2\nir_repeat = 2\nir_baseline = false\n"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@2", 0.99)'])
    project.run().assert_outcomes(failed=1)


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
