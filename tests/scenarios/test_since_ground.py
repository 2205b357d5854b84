"""`--ir-since` where Git has less than one expects: what is there is read right, or an error says what to type; it never passes unsure."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from tests.git_repository import commit, git, isolate_git, needs_git, new_repository
from tests.projects import ANSWERS, text_of

pytestmark = needs_git

posix = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts, and paths that Windows has not")
WORSE = {**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]}
ACCEPTED = "mrr fell from 0.8333 to 0.6111"


@pytest.fixture
def branch(project, monkeypatch):
    """Give a project whose baseline is committed on `main`, and a fall with a baseline on the branch `feature`."""
    isolate_git(monkeypatch)
    project.write("pytest.ini", "[pytest]\n")
    project.write(".gitignore", "__pycache__\n")
    project.store()
    new_repository(project.path)
    commit(project.path)
    git(project.path, "checkout", "-q", "-b", "feature")
    project.answers(WORSE)
    project.store()
    commit(project.path, "a fall")
    return project


def since(project, ref="main", *, folder=None):
    """Run with `--ir-since`, perhaps in another folder, and return all that is said."""
    where = (
        () if folder is None else ("--rootdir", str(folder), "-c", str(folder / "pytest.ini"), str(folder))
    )
    return text_of(project.run(*where, f"--ir-since={ref}"))


def clone(project, *options):
    folder = project.path.with_suffix(".clone")
    git(project.path, "clone", "-q", *options, project.path.as_uri(), str(folder))
    return folder


def no_repository(project, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    (project.path / ".git").rename(project.path / "git")


def no_common_commit(project, _monkeypatch):
    git(project.path, "checkout", "-q", "--orphan", "other")
    commit(project.path)


def no_commit_yet(project, _monkeypatch):
    git(project.path, "checkout", "-q", "--orphan", "new")
    git(project.path, "branch", "-D", "-q", "main", "feature")


def another_owner(project, monkeypatch):
    real = next(
        Path(part, "git") for part in os.environ["PATH"].split(os.pathsep) if Path(part, "git").exists()
    )
    script = project.path.with_suffix(".bin") / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda project, patch: patch.setenv("PATH", str(project.path)), "There is no program git on PATH. Install Git"),
        (no_repository, "is in no Git repository."),
        (no_commit_yet, "has no commit yet. Commit the baselines first."),
        (no_common_commit, "main and HEAD have no commit in common"),
        pytest.param(another_owner, "git config --global --add safe.directory", marks=posix),
    ],
    ids=["no program", "no repository", "no commit", "nothing in common", "another owner"],
)  # fmt: skip
def test_where_git_cannot_tell_the_test_fails_and_says_what_to_type(branch, monkeypatch, make, message):
    make(branch, monkeypatch)
    result = branch.run("--ir-since=main")
    result.assert_outcomes(failed=1)
    assert message in text_of(result)


@pytest.mark.parametrize("ref", ["mian", "--all"])
def test_an_unknown_ref_is_named_by_every_test_and_by_where_it_was_set(branch, ref):
    branch.write("golden/second.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
    branch.store()
    result = branch.run(f"--ir-since={ref}")
    result.assert_outcomes(failed=2)
    assert text_of(result).count(f"Git knows no commit {ref} in") == 2
    assert f"the setting ir_since, {ref}: Git knows no commit" in text_of(branch.run("-o", f"ir_since={ref}"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--depth=1", "--no-single-branch"], "`fetch-depth: 0` for actions/checkout in GitHub Actions"),
        (["--single-branch"], "fetch origin +main:refs/remotes/origin/main"),
        (["--filter=blob:none"], "it is a partial clone (--filter), and nothing is fetched here"),
    ],
    ids=["shallow", "one branch", "partial"],
)
def test_a_clone_that_lacks_what_is_needed_is_an_error(branch, options, message):
    git(branch.path, "config", "uploadpack.allowFilter", "true")
    folder = clone(branch, *options)
    said = since(branch, "origin/main", folder=folder)
    assert message in said
    assert "1 failed" in said


def test_a_shallow_clone_that_is_deep_enough_is_read(branch):
    assert ACCEPTED in since(branch, "HEAD^1", folder=clone(branch, "--depth=2"))


def test_a_worktree_and_a_detached_head_are_read(branch):
    folder = branch.path.with_suffix(".worktree")
    git(branch.path, "worktree", "add", "-q", "--detach", str(folder))
    assert ACCEPTED in since(branch, folder=folder)


def test_a_sparse_checkout_is_read(branch):
    branch.write("elsewhere/file", "x")
    commit(branch.path)
    git(branch.path, "sparse-checkout", "set", "--no-cone", "/*", "!/elsewhere")
    assert ACCEPTED in since(branch)


@posix
def test_nothing_that_the_repository_configures_is_run(branch):
    script, ran = branch.path.with_suffix(".script"), branch.path.with_suffix(".ran")
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
    script.chmod(0o755)
    (branch.path / ".git/info/attributes").write_text("* diff=x filter=x\n")
    for key in (
        "diff.x.textconv",
        "diff.external",
        "filter.x.smudge",
        "filter.x.clean",
        "core.fsmonitor",
        "core.pager",
    ):
        git(branch.path, "config", key, str(script))
    ran.unlink(missing_ok=True)
    assert ACCEPTED in since(branch)
    assert not ran.exists()


def test_the_variables_of_a_hook_lead_nowhere_else(branch, monkeypatch):
    other = new_repository(branch.path.with_suffix(".other"))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert ACCEPTED in since(branch)


@posix
@pytest.mark.parametrize("name", ['a "quoted" folder', "new\nline", "naïve", os.fsdecode(b"\xff")])
def test_folders_of_any_name_are_found(branch, name):
    git(branch.path, "checkout", "-q", "main")
    folder = branch.path / name
    folder.mkdir()
    for one in ("golden", "ir_baselines", "test_search.py", "conftest.py", "answers.json"):
        (branch.path / one).rename(folder / one)
    commit(branch.path)
    git(branch.path, "checkout", "-q", "-b", "strange")
    branch.answers(WORSE)
    (branch.path / "answers.json").rename(folder / "answers.json")
    branch.store()
    assert ACCEPTED in since(branch)


JSONL = '{"id": "a", "query": "opening hours", "relevant": ["doc-1"]}\n{"id": "b", "query": "refund policy", "relevant": ["doc-9"]}\n'
FORMATS = {
    "golden/faq.qrels": {"golden/faq.qrels": "a 0 doc-1 1\nb 0 doc-9 1\n", "golden/faq.topics.tsv": "a\topening hours\nb\trefund policy\n"},
    "golden/faq": {"golden/faq/qrels/test.tsv": "query-id\tcorpus-id\tscore\na\tdoc-1\t1\nb\tdoc-9\t1\n", "golden/faq/queries.jsonl": '{"_id": "a", "text": "opening hours"}\n{"_id": "b", "text": "refund policy"}\n', "golden/faq/corpus.jsonl": "not read\n"},
    "golden/faq.csv": {"golden/faq.csv": "id,query,docid,rating\na,opening hours,doc-1,1\nb,refund policy,doc-9,1\n"},
    "golden/faq.jsonl": {"golden/faq.jsonl": JSONL},
    "golden/faq.jsonl.gz": {"golden/faq.jsonl.gz": gzip.compress(JSONL.encode())},
}  # fmt: skip


@pytest.mark.parametrize("marked", FORMATS)
def test_a_golden_set_of_then_is_read_in_any_format_out_of_the_commit_alone(
    branch, marked, monkeypatch, tmp_path
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    git(branch.path, "checkout", "-q", "main")
    (branch.path / "golden/faq.yaml").unlink()
    branch.baseline.unlink()
    files = {
        branch.path / name: text if isinstance(text, bytes) else text.encode()
        for name, text in FORMATS[marked].items()
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    branch.test(f'ir_golden("{marked}")')
    branch.store()
    commit(branch.path)
    before = set(tmp_path.iterdir())
    path, content = next(iter(files.items()))
    edited = (
        gzip.compress(JSONL.replace("doc-1", "doc-2").encode())
        if marked.endswith("gz")
        else content.replace(b"doc-1", b"doc-2")
    )
    path.write_bytes(edited)
    said = since(branch)
    assert "2 judgments changed: a: doc-1 1 → none, a: doc-2 none → 1." in said
    assert "cannot be read" not in said
    assert set(tmp_path.iterdir()) == before
    assert git(branch.path, "status", "--porcelain").split()[1:] == [path.relative_to(branch.path).as_posix()]


def test_a_run_without_it_starts_no_process(branch, monkeypatch):
    monkeypatch.setenv("PATH", "")  # of no program
    git_ran = "There is no program git"
    assert git_ran not in text_of(branch.run("--ir-baseline"))
    assert git_ran in since(branch)
