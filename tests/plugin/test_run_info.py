"""What a report says of its session: when it ran, how long it took, which commit was checked out, which versions ran."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError

import pytest

from pytest_irmetrics.base import version
from pytest_irmetrics.plugin import run_info
from pytest_irmetrics.plugin.run_info import _CI_COMMITS
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch):
    for name in _CI_COMMITS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    isolate_git(monkeypatch)
    folder = new_repository(tmp_path / "repository")
    commit(folder, "first")
    return folder


@needs_git
def test_the_commit_is_that_of_the_branch_that_is_checked_out(repository):
    below = repository / "a" / "b"
    below.mkdir(parents=True)
    assert run_info._commit(below) == git(repository, "rev-parse", "HEAD")


@needs_git
def test_the_commit_of_a_detached_head_is_known(repository):
    git(repository, "checkout", "-q", "--detach")
    assert run_info._commit(repository) == git(repository, "rev-parse", "HEAD")


@needs_git
def test_the_commit_is_known_where_references_are_packed(repository):
    git(repository, "pack-refs", "--all")
    assert run_info._commit(repository) == git(repository, "rev-parse", "HEAD")


@needs_git
def test_the_commit_of_a_worktree_is_its_own(repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    second = commit(tmp_path / "other", "second")
    assert run_info._commit(tmp_path / "other") == second
    assert run_info._commit(repository) != second


def test_without_a_repository_ci_says_the_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(run_info, "nearest_repository", lambda _root: None)
    assert run_info._commit(tmp_path) == ""
    monkeypatch.setenv("CI_COMMIT_SHA", COMMIT)
    assert run_info._commit(tmp_path) == COMMIT
    monkeypatch.setenv("CI_COMMIT_SHA", "<script>")
    assert run_info._commit(tmp_path) == ""


@pytest.mark.parametrize(
    "text", ["", "ref: refs/heads/none", "ref: ../../etc/passwd", "\x00\xff", "gitdir: nowhere"]
)
def test_a_damaged_repository_has_no_commit(tmp_path, text):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(text, encoding="utf-8")
    assert run_info._commit(tmp_path) == ""


def test_a_worktree_of_a_folder_that_no_system_names_has_no_commit(tmp_path):
    (tmp_path / ".git").write_text("gitdir: a\0b", encoding="utf-8")
    assert run_info._commit(tmp_path) == ""


def test_the_json_report_has_time_commit_and_versions(project):
    project.write(
        "conftest.py", "import time\n\ntime.sleep(0.2)\n" + (project.path / "conftest.py").read_text()
    )
    project.retrieve("time.sleep(0.1) or answers.get(query, [])[:k]")
    project.run("--ir-report=report.json").assert_outcomes(passed=1)
    info = json.loads((project.path / "report.json").read_text(encoding="utf-8"))["run_info"]
    started = datetime.fromisoformat(info["started"])
    assert timedelta(0) <= datetime.now(UTC) - started < timedelta(minutes=5)
    assert info["seconds"] >= 0.3
    assert set(info["versions"]) == {"python", "pytest", "pytest-irmetrics"}


def test_a_report_is_written_where_the_package_is_not_installed(project, monkeypatch):
    def not_installed(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(version, "version", not_installed)
    project.run("--ir-report=json:report.json").assert_outcomes(passed=1)
    report = json.loads((project.path / "report.json").read_text(encoding="utf-8"))
    assert report["run_info"]["versions"]["pytest-irmetrics"] == "unknown"
