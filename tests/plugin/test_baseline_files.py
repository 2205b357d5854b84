"""Name the baselines whose test, test file or golden set is gone, and the gating that nothing used."""

from __future__ import annotations

import os

import pytest

from pytest_irmetrics import cli
from tests.plugin.conftest import printed


@pytest.mark.parametrize("how", ["delete", "drop from the glob"])
def test_a_golden_set_that_is_gone_fails(project, how):
    project.write("golden/other.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.run("--ir-baseline-update").assert_outcomes(passed=2)
    if how == "delete":
        (project.path / "golden/other.yaml").unlink()
    else:
        project.test(['ir_golden("golden/faq.yaml")', 'ir_threshold("mrr", 0.5)'])
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["The golden set golden/other.yaml *", "FAILED test_search.py::test_search_quality?other?*"]
    )


RETRIEVERS = """
    import pytest

    @pytest.fixture(params=["bm25", "dense"])
    def retriever(request):
        return lambda query, k: ["doc-9", "doc-12"]
"""


def moves_offered(result):
    """The commands that a run offers to move baselines with."""
    return {line.partition(": ")[2] for line in result.outlines if "pytest-irmetrics baselines move" in line}


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_renamed_golden_set_of_several_retrievers_is_mended_by_the_command_that_is_offered(
    project, by_hand
):
    project.write("conftest.py", RETRIEVERS)
    project.test('ir_golden("golden/*.yaml")')
    project.run("--ir-baseline-update").assert_outcomes(passed=2)
    (project.path / "golden/faq.yaml").rename(project.path / "golden/questions.yaml")
    if by_hand:
        for path in (project.path / "ir_baselines/test_search").iterdir():
            path.rename(path.with_name(path.name.replace("faq", "questions")))
    result = project.run("--ir-baseline")
    assert result.ret == 1
    assert "its 2 baselines are still there" in result.stdout.str()
    (command,) = moves_offered(result)
    assert command == "pytest-irmetrics baselines move golden/faq.yaml golden/questions.yaml"
    assert cli.main(command.split()[1:]) == 0
    project.run("--ir-baseline").assert_outcomes(passed=2)


def test_the_first_failure_after_a_golden_set_was_renamed_offers_to_keep_its_baseline(stored):
    (stored.path / "golden/faq.yaml").rename(stored.path / "golden/questions.yaml")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    result = stored.run("--ir-baseline", "-x")
    result.assert_outcomes(failed=1)
    assert [line.partition(": ")[0] for line in result.outlines if ": pytest" in line] == [
        "Where its golden set was renamed",
        "To store one, and then commit it",
    ]
    (command,) = moves_offered(result)
    assert cli.main(command.split()[1:]) == 0
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_a_golden_set_in_another_format_beside_itself_is_mended_likewise(project):
    project.test('ir_golden("golden/*.yaml")')
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    assert cli.main(["convert", "golden/faq.yaml", "golden/faq.jsonl"]) == 0
    project.test('ir_golden("golden/*.jsonl")')
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "? and" not in result.stdout.str()
    (command,) = moves_offered(result)
    assert command == "pytest-irmetrics baselines move golden/faq.yaml golden/faq.jsonl"
    assert cli.main(command.split()[1:]) == 0
    project.run("--ir-baseline").assert_outcomes(passed=1)


def test_two_golden_sets_of_one_id_are_both_named(stored):
    assert cli.main(["convert", "golden/faq.yaml", "golden/faq.jsonl"]) == 0
    stored.test('ir_golden("golden/*")')
    for options in ((), ("--ir-baseline",)):
        stored.run(*options).stdout.fnmatch_lines(
            ["Two golden sets have the id 'faq': golden/faq.jsonl and golden/faq.yaml. *"]
        )


def test_a_split_golden_set_is_mended_likewise(project):
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    project.write(
        "golden/billing.yaml",
        "queries: [{id: refund, query: refund policy, relevant: {doc-9: 3, doc-4: 1, doc-7: 0}, tags: [billing]}]\n",
    )
    text = (project.path / "golden/faq.yaml").read_text()
    project.write(
        "golden/rest.yaml", text[: text.index("  - id: refund")] + text[text.index("  - id: hours") :]
    )
    (project.path / "golden/faq.yaml").unlink()
    assert project.run("--ir-baseline").ret == 1
    assert cli.main(["baselines", "move", "golden/faq.yaml", "golden/billing.yaml", "golden/rest.yaml"]) == 0
    project.run("--ir-baseline").assert_outcomes(passed=2)


def test_a_baseline_whose_test_is_gone_is_named(stored):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_renamed")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    joined = printed(result)
    assert (
        "the baseline ir_baselines/test_search/test_search_quality[faq].json belongs to no test any more"
        in joined
    )


@pytest.mark.parametrize(
    "options", [["--ir-baseline"], ["--ir-baseline-update", "-q"], ["-p", "no:irmetrics"], []]
)
def test_baselines_are_named_where_every_test_file_is_gone(stored, options):
    """Nothing is left that could fail, nor any item whose report could carry a word about it."""
    (stored.path / "test_search.py").unlink()
    stored.write("test_other.py", "def test_other(): pass\n")
    if not options:
        stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    result = stored.run(*options)
    result.assert_outcomes(passed=1)
    told = any("belongs to no test" in line or "any more; delete" in line for line in result.outlines)
    assert told == ("no:irmetrics" not in options)


def test_folders_that_pytest_does_not_enter_are_not_searched(stored):
    (stored.path / "data").mkdir()
    for name in ("ir_baselines", "test_search.py", "golden"):
        (stored.path / name).rename(stored.path / "data" / name)
    (stored.path / "data" / "test_search.py").unlink()
    stored.write("test_other.py", "def test_other(): pass\n")
    assert "belongs to no test" in stored.run("--ir-baseline").stdout.str()
    assert "belongs to no test" not in stored.run("--ir-baseline", "-o", "norecursedirs=dat*").stdout.str()


def test_paths_are_those_of_where_pytest_was_called(stored, monkeypatch):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_renamed")
    (stored.path / "ir_baselines" / "test_gone").mkdir()
    stored.baseline.rename(stored.path / "ir_baselines" / "test_gone" / "test_it.json")
    monkeypatch.chdir(stored.path.parent)
    result = stored.run(stored.path.name, "--rootdir", str(stored.path), "--ir-baseline-update")
    told = printed(result)
    assert f"baseline {stored.path.name}/ir_baselines/test_search/test_renamed[faq].json: stored" in told
    assert f"note: the baseline {stored.path.name}/ir_baselines/test_gone/test_it.json belongs to no" in told


def test_a_test_that_leaves_for_a_folder_that_it_deletes_is_stored_all_the_same(project):
    body = "import os, tempfile; irmetrics.check(); gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone)"
    project.test('ir_golden("golden/*.yaml")', body)
    try:
        assert project.run_apart("--ir-baseline-update").ret == 0
    finally:
        os.chdir(project.path)
    assert project.baseline.exists()


@pytest.mark.parametrize(
    ("setting", "told"),
    [("ir_baseline = true", "ir_baseline is true"), ("ir_since = main", "ir_since is set")],
)
def test_a_setting_that_gates_nothing_is_told_where_baselines_are(stored, setting, told):
    stored.write("pytest.ini", f"[pytest]\n{setting}\n")
    stored.write("test_search.py", "def test_other(): pass\n")
    stored.write("elsewhere/test_other.py", "def test_elsewhere(): pass\n")
    stored.run().stdout.fnmatch_lines([f"note: the setting {told}, and no test of this run used irmetrics."])
    for options in (
        ["elsewhere"],
        ["-k", "other"],
        ["--no-ir-baseline"],
        ["test_search.py::test_other"],
        ["--co"],
    ):
        assert "used irmetrics" not in stored.run(*options).stdout.str(), options


def test_the_last_test_of_a_file_that_has_a_baseline_is_missed(stored):
    stored.write("test_more.py", (stored.path / "test_search.py").read_text())
    stored.write("test_search.py", "def test_other(): pass\n")
    stored.run("--ir-baseline-update").stdout.fnmatch_lines(["note: the baseline ir_baselines/test_search/*"])


def test_collecting_says_nothing_of_what_did_not_run(stored):
    assert "used irmetrics" not in stored.run("--co", "--ir-baseline").stdout.str()
    (stored.path / "test_search.py").unlink()
    assert "belongs to no test" not in stored.run("--co", "-q", "--ir-baseline").stdout.str()


@pytest.mark.parametrize("option", ["--ir-baseline", "--ir-since=main", "--ir-baseline-update"])
def test_an_option_that_no_test_obeys_is_named(project, option):
    project.write("test_search.py", "def test_a(): pass\n")
    name = option.partition("=")[0]
    project.run(option).stdout.fnmatch_lines(
        [f"note: {name} was given, and no test of this run used irmetrics."]
    )


@pytest.mark.parametrize("how", ["--ir-baseline", "--ir-baseline-update", "the setting"])
def test_a_run_that_was_interrupted_says_nothing_of_tests_that_it_did_not_come_to(stored, how):
    conftest = stored.path / "conftest.py"
    interrupt = "def interrupt():\n    raise KeyboardInterrupt\n"
    conftest.write_text(interrupt + conftest.read_text().replace("answers.get(query, [])[:k]", "interrupt()"))
    if how == "the setting":
        stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    result = stored.run_apart(*([how] if how != "the setting" else []))
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "used irmetrics" not in result.stdout.str()


def test_what_a_killed_run_left_behind_is_removed_by_an_update_that_changes_nothing(stored):
    left = stored.baseline.with_name(".ir-writing-0123456789abcdef.tmp")
    left.write_text("half a baseline")
    stored.run("--ir-baseline-update").stdout.fnmatch_lines(["baseline *: unchanged"])
    assert not left.exists()


def test_a_baseline_that_cannot_be_read_is_named_from_where_pytest_was_called(stored, monkeypatch):
    stored.baseline.write_text("{")
    monkeypatch.chdir(stored.path.parent)
    result = stored.run(stored.path.name, "--rootdir", str(stored.path), "--ir-baseline")
    where = f"{stored.path.name}/ir_baselines/test_search/test_search_quality[faq].json:1:"
    assert any(line.startswith(where) for line in result.outlines), result.outlines


def test_commands_name_the_file_of_settings_that_was_given(stored):
    stored.write("search.ini", "[pytest]\nir_metrics = mrr\n")
    stored.answers({})
    told = printed(stored.run("-c", "search.ini", "--ir-baseline"))
    assert "-c search.ini" in told
    assert "-c " not in printed(stored.run("--ir-baseline"))
