"""Command `baselines`: list and prune."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from pytest_irmetrics.run.baseline import baseline_path
from tests.unit.cli.console import HOSTILE, assert_escaped, run_script, usage_error


def store(file, test, golden_set="golden/faq.yaml", means=None, repeats=1):
    path = baseline_path(Path(file), test, "ir_baselines")
    path.parent.mkdir(parents=True, exist_ok=True)
    answers = {"a": Answer((("d",),) * repeats, "a", {}, {"d": 1}, 1.0)}
    Run.of(answers, depth=10, golden_set=golden_set, relevance_level=1, means=means).save(path)
    return path.as_posix()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A project with two baselines that belong, one without its test file and one without its golden set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("tests/golden").mkdir(parents=True)
    Path("tests/golden/faq.yaml").write_text("")
    Path("tests/test_search.py").write_text("")
    store("tests/test_search.py", "TestIt.test_that[faq-a.b]", means={"mrr": 0.5, "ndcg@10": 0.25}, repeats=3)
    store("tests/test_search.py", "test_by_hand", golden_set="judgments")
    store("tests/test_gone.py", "test_it[faq]")
    store("tests/test_search.py", "test_it[help]", golden_set="golden/help.yaml")
    return tmp_path


def run(capsys, *arguments, status=0):
    assert cli.main(["baselines", *arguments]) == status
    return capsys.readouterr()


def left():
    return sorted(path.as_posix() for path in Path("tests").glob("ir_baselines/*/*.json"))


class TestList:
    def test_prints_test_golden_set_and_means(self, capsys):
        out, err = run(capsys, "list")
        assert err == ""
        assert out.splitlines() == [
            "tests/ir_baselines/test_gone/test_it[faq].json",
            "  test        test_it[faq], in a file that is gone: tests/test_gone.py",
            "  golden set  tests/golden/faq.yaml",
            "  holds       1 query, depth 10",
            "",
            "tests/ir_baselines/test_search/TestIt.test_that[faq-a.b].json",
            "  test        tests/test_search.py::TestIt::test_that[faq-a.b]",
            "  golden set  tests/golden/faq.yaml",
            "  holds       1 query, depth 10, asked 3 times",
            "  means       mrr 0.5000, ndcg@10 0.2500",
            "",
            "tests/ir_baselines/test_search/test_by_hand.json",
            "  test        tests/test_search.py::test_by_hand",
            "  golden set  judgments, made in Python",
            "  holds       1 query, depth 10",
            "",
            "tests/ir_baselines/test_search/test_it[help].json",
            "  test        tests/test_search.py::test_it[help]",
            "  golden set  tests/golden/help.yaml is gone",
            "  holds       1 query, depth 10",
        ]

    def test_names_a_test_whose_file_name_is_hashed(self, capsys):
        Path("tests/test-é.py").write_text("")
        stored = store("tests/test-é.py", "test_it[faq]")
        out, _ = run(capsys, "list", "tests")
        assert f"{stored}\n  test        tests/test-é.py::test_it[faq]\n" in out

    @pytest.mark.parametrize("where", ["tests", "tests/ir_baselines", "tests/ir_baselines/"])
    def test_searches_the_given_folder(self, capsys, where):
        everywhere, _ = run(capsys, "list")
        assert run(capsys, "list", where)[0] == everywhere

    def test_searches_from_within_the_folder_of_baselines(self, capsys, folder, monkeypatch):
        monkeypatch.chdir(folder / "tests" / "ir_baselines")
        assert "../test_search.py::test_by_hand" in run(capsys, "list")[0]

    def test_skips_environments_and_hidden_folders(self, capsys):
        for place in (".tox", "node_modules", "venv"):
            store(f"{place}/sub/test_x.py", "test_x")
        Path("venv/pyvenv.cfg").write_text("")
        out, _ = run(capsys, "list")
        assert out.count("holds") == 4

    def test_no_baseline_found(self, capsys, folder):
        (folder / "empty").mkdir()
        for action in ("list", "prune"):
            out, err = run(capsys, action, "empty")
            assert out == "There is no folder ir_baselines with a baseline in empty or below it.\n"
            assert err == ""

    def test_an_unreadable_baseline_exits_with_1(self, capsys):
        Path("tests/ir_baselines/test_gone/test_it[faq].json").write_text("{")
        out, err = run(capsys, "list", status=1)
        assert out.count("holds") == 3
        assert err.startswith("tests/ir_baselines/test_gone/test_it[faq].json:1: the file was cut short. ")

    def test_not_a_folder(self, capsys):
        for place, told in (("missing", "is not there"), ("tests/test_search.py", "is not a folder")):
            _, err = run(capsys, "list", place, status=1)
            assert err == f"{place}: {told}. Name a folder that tests are in or below.\n"

    def test_usage_errors(self, capsys):
        for arguments, told in (([], "required: ACTION"), (["lst"], "invalid choice: 'lst'")):
            assert told in usage_error(capsys, "baselines", *arguments)


class TestPrune:
    def test_without_yes_only_prints(self, capsys):
        before = left()
        out, err = run(capsys, "prune", status=1)
        assert out.splitlines() == [
            "tests/ir_baselines/test_gone/test_it[faq].json: its test file is gone, and would be deleted",
            "tests/ir_baselines/test_search/test_it[help].json: its golden set tests/golden/help.yaml is gone, and would be deleted",
            "2 baselines would be deleted. To delete, add --yes.",
        ]
        assert err == ""
        assert left() == before

    def test_with_yes_deletes(self, capsys, folder):
        out, _ = run(capsys, "prune", "--yes")
        assert [line.rpartition(";")[2] for line in out.splitlines()] == [" deleted", " deleted"]
        assert left() == [
            "tests/ir_baselines/test_search/TestIt.test_that[faq-a.b].json",
            "tests/ir_baselines/test_search/test_by_hand.json",
        ]
        assert not (folder / "tests" / "ir_baselines" / "test_gone").exists()
        assert run(capsys, "prune", "--yes") == (
            "Nothing to delete: of 2 baselines, no test file or golden set is gone.\n",
            "",
        )
        assert run(capsys, "prune", "--yes", "--quiet") == ("", "")
        assert run(capsys, "prune", "--quiet") == ("", "")

    def test_removes_empty_folders(self, capsys):
        Path("tests/test_search.py").unlink()
        run(capsys, "prune", "tests", "--yes")
        assert not Path("tests/ir_baselines").exists()

    def test_keeps_files_that_are_no_baselines(self, capsys):
        Path("data/ir_baselines/other").mkdir(parents=True)
        Path("data/ir_baselines/other/package.json").write_text("{}")
        out, err = run(capsys, "prune", "data", "--yes", status=1)
        assert out == ""
        assert err.startswith("data/ir_baselines/other/package.json:1: is not a stored run")
        assert Path("data/ir_baselines/other/package.json").exists()

    def test_an_unreadable_folder_does_not_count_as_gone(self, capsys, monkeypatch):
        real = Path.stat

        def stat(path, **options):
            if path.name == "help.yaml":
                raise PermissionError(13, "Permission denied")
            return real(path, **options)

        monkeypatch.setattr(Path, "stat", stat)
        out, _ = run(capsys, "prune", status=1)
        assert "help" not in out

    def test_reports_what_cannot_be_deleted(self, capsys, monkeypatch):
        def unlink(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "unlink", unlink)
        out, err = run(capsys, "prune", "--yes", status=1)
        assert out == ""
        assert err.splitlines()[0] == (
            "tests/ir_baselines/test_gone/test_it[faq].json: cannot be deleted: Permission denied. Mend that."
        )


@pytest.mark.parametrize("action", ["list", "prune"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_control_characters_are_escaped_in_any_encoding(action, encoding):
    hostile = HOSTILE + "\ud800\x00"
    store("tests/test_search.py", "test_it[x]", golden_set=f"a/{hostile}", means={hostile: 0.5})
    done = run_script("baselines", action, encoding=encoding)
    assert (done.returncode, done.stderr) == (int(action == "prune"), b"")
    assert_escaped(done.stdout.decode(encoding))
