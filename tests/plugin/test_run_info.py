"""What a report says of its session: when it ran, how long it took, which commit was checked out, which versions ran."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.git_repository import git, needs_git


def info(project, *options):
    project.run("--ir-report=report.json", *options).assert_outcomes(passed=1)
    return json.loads((project.path / "report.json").read_text(encoding="utf-8"))["run_info"]


def test_the_json_report_has_time_duration_and_versions(project):
    found = info(project)
    started = datetime.fromisoformat(found["started"])
    assert timedelta(0) <= datetime.now(UTC) - started < timedelta(minutes=5)
    assert started.microsecond == 0
    assert 0 < found["seconds"] < 300
    assert set(found["versions"]) == {"python", "pytest", "pytest-irmetrics"}


@needs_git
@pytest.mark.parametrize("state", ["a branch", "a detached head", "packed references"])
def test_the_commit_is_the_one_that_is_checked_out(committed, state):
    if state == "a detached head":
        git(committed.path, "checkout", "-q", "--detach")
    if state == "packed references":
        git(committed.path, "pack-refs", "--all")
    assert info(committed)["commit"] == git(committed.path, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "BITBUCKET_COMMIT", "CIRCLE_SHA1"])
def test_the_commit_is_what_ci_says_where_git_is_missing(project, monkeypatch, name):
    monkeypatch.setenv(name, "1a2b3c4")
    assert info(project)["commit"] == "1a2b3c4"


@pytest.mark.parametrize(
    "text", ["", "ref: refs/heads/none", "ref: ../../etc/passwd", "\x00\xff", "gitdir: nowhere"]
)
def test_a_damaged_repository_has_no_commit(project, text):
    (project.path / ".git").mkdir()
    (project.path / ".git" / "HEAD").write_text(text, encoding="utf-8")
    assert info(project)["commit"] == ""
