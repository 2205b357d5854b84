"""Reading commits out of Git repositories, also where these are cut, broken, hostile or somebody else's."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from pytest_irmetrics.base import git_program
from pytest_irmetrics.base.git import Repository
from pytest_irmetrics.base.git_program import (
    GitError,
    LfsPointerError,
    MissingObjectError,
    NoCommonAncestorError,
    NoGitError,
    NoRepositoryError,
    OutsideRepositoryError,
    OwnerError,
    ShallowError,
    UnbornError,
    UnknownRevisionError,
)
from tests.git_repository import commit, git, isolate_git, needs_git, new_repository, write_and_commit

pytestmark = needs_git

posix = pytest.mark.skipif(sys.platform == "win32", reason="paths that Windows has not")


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository with one commit, which holds the file `a/run.json`."""
    made = new_repository(tmp_path / "work")
    write_and_commit(made, {"a/run.json": "one\n"}, "first")
    return made


# Commits ---------------------------------------------------------------------------------------------------------------


def test_the_merge_base_is_where_a_branch_left_the_other(folder: Path) -> None:
    left = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "-q", "-b", "feature")
    write_and_commit(folder, {"b": "b"})
    git(folder, "checkout", "-q", "main")
    write_and_commit(folder, {"c": "c"})
    git(folder, "checkout", "-q", "feature")
    assert Repository(folder).merge_base("main") == left


def test_a_merge_commit_of_ci_is_compared_with_the_base_branch_as_it_was_merged(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "feature")
    write_and_commit(folder, {"b": "b"})
    git(folder, "checkout", "-q", "main")
    tip = write_and_commit(folder, {"c": "c"})
    git(folder, "checkout", "-q", "--detach")
    git(folder, "merge", "-q", "--no-ff", "feature", "-m", "refs/pull/1/merge")
    git(folder, "branch", "-f", "main", "main")
    write_and_commit(new_worktree(folder, "main"), {"d": "main has moved on since"})
    assert Repository(folder).merge_base("main") == tip


def new_worktree(folder: Path, branch: str) -> Path:
    made = folder.parent / f"worktree-{branch}"
    git(folder, "worktree", "add", "-q", str(made), branch)
    return made


def test_of_several_merge_bases_the_latest_is_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(folder, "branch", "other")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-01-02T00:00:00Z")
    write_and_commit(folder, {"b": "b"})
    git(folder, "checkout", "-q", "other")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2024-01-03T00:00:00Z")
    later = write_and_commit(folder, {"c": "c"})
    git(folder, "tag", "other-1")
    git(folder, "merge", "-q", "--no-ff", "main", "-m", "criss")
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--no-ff", "other-1", "-m", "cross")
    assert Repository(folder).merge_base("other") == later


def test_a_detached_head_has_a_merge_base_too(folder: Path) -> None:
    left = git(folder, "rev-parse", "HEAD")
    git(folder, "checkout", "-q", "--detach")
    write_and_commit(folder, {"b": "b"})
    assert Repository(folder).merge_base("main") == left


def test_a_commit_has_time_parents_and_subject(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1700000000 +0000")
    before = git(folder, "rev-parse", "HEAD")
    made = commit(folder, "Drop the boost\tof titles: naïve\n\nand a body")
    described = Repository(folder).describe(made)
    assert (described.time, described.parents) == (1700000000, (before,))
    assert described.subject == "Drop the boost\tof titles: naïve"


@pytest.mark.parametrize("revision", ["nowhere", "", "--all", "-h", "main..", "a\0b", "main:a", "nowhere\n"])
def test_a_revision_that_is_none_is_an_error_that_says_what_to_type(folder: Path, revision: str) -> None:
    with pytest.raises(UnknownRevisionError, match=r"Git knows no commit .* in .*work. Fetch it: git -C "):
        Repository(folder).commit(revision)


def test_a_branch_of_a_remote_that_was_not_fetched_is_an_error_that_fetches_it(folder: Path) -> None:
    git(folder, "remote", "add", "origin", "https://example.invalid/x.git")
    with pytest.raises(UnknownRevisionError) as raised:
        Repository(folder).merge_base("origin/release/2.0")
    assert "fetch origin +release/2.0:refs/remotes/origin/release/2.0;" in str(raised.value)


@posix
def test_names_in_another_encoding_are_read(folder: Path) -> None:
    git(folder, "remote", "add", "origin", b"https://example.invalid/na\xefve.git")
    git(folder, "config", "i18n.logOutputEncoding", "ISO-8859-1")
    before = commit(folder, "naïve")
    unknown = ("-c", "i18n.commitEncoding=unknown")
    git(folder, *unknown, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", b"na\xefve")
    with Repository(folder) as repository:
        assert repository.describe(before).subject == "naïve"
        assert repository.describe(repository.commit()).subject == "na\N{REPLACEMENT CHARACTER}ve"
        with pytest.raises(UnknownRevisionError, match=r"fetch origin \+main:refs/remotes/origin/main;"):
            repository.commit("origin/main")


def test_without_any_commit_the_error_says_to_commit(tmp_path: Path) -> None:
    with pytest.raises(UnbornError, match=r"no commit yet. Commit the baselines first"):
        Repository(new_repository(tmp_path)).merge_base("main")


def test_histories_without_a_common_commit_are_an_error(folder: Path) -> None:
    git(folder, "checkout", "-q", "--orphan", "other")
    commit(folder)
    with pytest.raises(NoCommonAncestorError, match="main and HEAD have no commit in common"):
        Repository(folder).merge_base("main")


def test_a_file_may_be_called_like_a_branch(folder: Path) -> None:
    write_and_commit(folder, {"main": "a file"})
    assert Repository(folder).merge_base("main") == git(folder, "rev-parse", "HEAD")


# Clones that lack something --------------------------------------------------------------------------------------------


def clone(folder: Path, *options: str) -> Path:
    made = folder.parent / "clone"
    git(folder, "clone", "-q", *options, folder.as_uri(), str(made))
    return made


def test_a_shallow_clone_without_the_revision_is_an_error_that_names_fetch_depth(folder: Path) -> None:
    write_and_commit(folder, {"b": "b"})
    with pytest.raises(ShallowError, match=r"a shallow clone. Fetch it: .*`fetch-depth: 0`.*`GIT_DEPTH: 0`"):
        Repository(clone(folder, "--depth=1")).merge_base("v1.0")


def test_a_shallow_clone_that_hides_the_merge_base_is_an_error_that_names_fetch_depth(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "feature")
    write_and_commit(folder, {"b": "b"})
    git(folder, "checkout", "-q", "main")
    write_and_commit(folder, {"c": "c"})
    git(folder, "checkout", "-q", "feature")
    shallow = clone(folder, "--depth=1", "--no-single-branch")
    with pytest.raises(ShallowError, match=r"fetch --unshallow. .*`fetch-depth: 0`"):
        Repository(shallow).merge_base("origin/main")


def test_a_shallow_clone_that_holds_the_revision_behind_head_is_read(folder: Path) -> None:
    write_and_commit(folder, {"b": "b"})
    write_and_commit(folder, {"c": "c"})
    shallow = clone(folder, "--depth=2")
    assert Repository(shallow).merge_base("HEAD^1") == git(folder, "rev-parse", "HEAD^1")


def test_a_partial_clone_fetches_nothing_and_says_so(folder: Path) -> None:
    git(folder, "config", "uploadpack.allowFilter", "true")
    before = git(folder, "rev-parse", "HEAD")
    write_and_commit(folder, {"a/run.json": "two\n"})
    with Repository(clone(folder, "--filter=blob:none")) as repository:
        with pytest.raises(MissingObjectError, match=r"partial clone .*fetch --refetch --no-filter origin"):
            repository.read_file(before, "a/run.json")
        assert repository.read_file("HEAD", "a/run.json") == b"two\n"


def test_a_sparse_checkout_is_read_where_its_files_are_not_on_disk(folder: Path) -> None:
    write_and_commit(folder, {"b/x": "x"})
    git(folder, "sparse-checkout", "set", "b")
    assert not (folder / "a").exists()
    with Repository(folder) as repository:
        assert repository.read_file("HEAD", "a/run.json") == b"one\n"


# Places ----------------------------------------------------------------------------------------------------------------


def test_without_git_the_error_says_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(NoGitError, match=r"no program git on PATH. Install Git"):
        Repository(folder)


@posix
def test_a_program_git_in_the_current_folder_is_not_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = folder / "git"
    script.write_text("#!/bin/sh\ntouch was_run\n")
    script.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert Repository(folder).top.samefile(folder)
    assert not (folder / "was_run").exists()


def test_a_folder_in_no_repository_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NoRepositoryError, match=r"in no Git repository. Run this in a clone"):
        Repository(tmp_path)


def test_a_bare_repository_is_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare")
    with pytest.raises(NoRepositoryError):
        Repository(tmp_path)


@posix
def test_somebody_elses_repository_is_an_error_that_says_how_to_trust_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = next(
        Path(part, "git") for part in os.environ["PATH"].split(os.pathsep) if Path(part, "git").exists()
    )
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(OwnerError) as raised:
        Repository(folder)
    assert f"git config --global --add safe.directory {folder}" in str(raised.value)
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": str(folder)}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert Repository(folder).top.samefile(folder)


def test_a_worktree_is_read_like_the_repository(folder: Path) -> None:
    left = git(folder, "rev-parse", "HEAD")
    git(folder, "branch", "feature")
    made = new_worktree(folder, "feature")
    write_and_commit(made, {"b": "b"})
    with Repository(made / "a") as repository:
        assert repository.top.samefile(made)
        assert repository.merge_base("main") == left
        assert repository.read_file("main", "a/run.json") == b"one\n"


def test_a_submodule_is_found_in_the_commits_of_the_repository_around_it(
    folder: Path, tmp_path: Path
) -> None:
    outer = new_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder), "sub dir")
    commit(outer)
    inner = Repository(outer / "sub dir" / "a")
    assert inner.superproject() is not None
    assert Repository(outer).superproject() is None
    around = Repository(outer)
    found = around.submodule_of("HEAD", around.path_of(outer / "sub dir" / "a" / "run.json"))
    assert found is not None
    assert (found.path, found.oid) == ("sub dir", inner.commit())
    assert around.submodule_of("HEAD", ".gitmodules") is None
    assert around.read_file("HEAD", "sub dir") is None


def test_the_variables_of_a_hook_do_not_lead_to_another_repository(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_TRACE", "1")
    assert Repository(folder).top.samefile(folder)


def test_a_path_outside_is_an_error(folder: Path, tmp_path: Path) -> None:
    repository = Repository(folder)
    assert repository.path_of(folder / "a" / "gone.json") == "a/gone.json"
    assert repository.path_of(folder) == ""
    with pytest.raises(OutsideRepositoryError, match="is not in the Git repository"):
        repository.path_of(tmp_path / "x.json")


@posix
def test_a_folder_that_is_a_link_is_the_folder_that_it_leads_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder / "a")
    assert Repository(folder).path_of(tmp_path / "link" / "run.json") == "a/run.json"


# Files -----------------------------------------------------------------------------------------------------------------

STRANGE = [
    'with space "quote"',
    "new\nline\ttab",
    "-rf",
    ":(top)a",
    "[a]*?",
    "naïve \N{SNOWMAN}",
    "back\\slash",
]


@posix
@pytest.mark.parametrize("name", [*STRANGE, os.fsdecode(b"not utf-8 \xff")])
def test_any_path_is_read_and_its_history_followed(folder: Path, name: str) -> None:
    try:
        (folder / "a" / name).write_bytes(b"1")
    except OSError:
        pytest.skip("this file system has no such name")
    first = commit(folder)
    (folder / "a" / name).write_bytes(b"2")
    second = commit(folder)
    with Repository(folder) as repository:
        path = repository.path_of(folder / "a" / name)
        assert repository.read_file(first, path) == b"1"
        assert path in [entry.path for entry in repository.entries("HEAD", "a")]
        assert [(one.commit, one.path) for one in repository.history(path)] == [(second, path), (first, path)]


def test_what_a_commit_does_not_have_is_none(folder: Path) -> None:
    with Repository(folder) as repository:
        assert repository.read_file("HEAD", "a") is None
        assert repository.read_file("HEAD", "a/other.json") is None
        assert repository.entry("HEAD", "none/at/all") is None
        assert repository.entries("HEAD", "none") == []


def test_the_entries_of_a_folder_are_its_files(folder: Path) -> None:
    write_and_commit(folder, {"a/b/x": "1", "ab": "1"})
    with Repository(folder) as repository:
        assert [entry.path for entry in repository.entries("HEAD", "a")] == ["a/b/x", "a/run.json"]
        assert [entry.path for entry in repository.entries("HEAD", "a/", recursive=False)] == [
            "a/b",
            "a/run.json",
        ]
        assert len(repository.entries("HEAD")) == 3


@posix
def test_a_link_is_followed_within_the_commit_alone(folder: Path) -> None:
    (folder / "link").symlink_to("a/run.json")
    (folder / "a" / "up").symlink_to("../link")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "loop").symlink_to("loop")
    commit(folder)
    with Repository(folder) as repository:
        assert repository.read_file("HEAD", "a/up") == b"one\n"
        assert repository.read_file("HEAD", "out") is None
        assert repository.read_file("HEAD", "loop") is None


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 4\n"


def test_a_file_in_lfs_that_was_not_fetched_is_an_error_that_fetches_it(folder: Path) -> None:
    write_and_commit(folder, {"a/run.json": POINTER.format("0" * 64)})
    with Repository(folder) as repository, pytest.raises(LfsPointerError) as raised:
        repository.read_file("HEAD", "a/run.json")
    assert str(raised.value).startswith("a/run.json is kept in Git LFS, and this clone lacks")
    assert "lfs fetch --all origin" in str(raised.value)


def test_a_file_in_lfs_that_was_fetched_is_read_without_git_lfs(folder: Path) -> None:
    oid = hashlib.sha256(b"real").hexdigest()
    write_and_commit(folder, {"a/run.json": POINTER.format(oid)})
    file = folder / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
    file.parent.mkdir(parents=True)
    file.write_bytes(b"real")
    with Repository(folder) as repository:
        assert repository.read_file("HEAD", "a/run.json") == b"real"


@pytest.mark.parametrize("oid", ["./" * 24 + "../../../outside", "\N{SUPERSCRIPT TWO}" * 64, ""])
def test_a_pointer_of_lfs_cannot_lead_out_of_its_folder(folder: Path, oid: str) -> None:
    write_and_commit(folder, {"a/run.json": POINTER.format(oid), "outside": "secret"})
    (folder / ".git" / "lfs" / "objects").mkdir(parents=True)
    with Repository(folder) as repository, pytest.raises(LfsPointerError):
        repository.read_file("HEAD", "a/run.json")


def test_what_is_larger_than_any_run_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_program, "MAX_RUN_BYTES", 3)
    with Repository(folder) as repository:
        with pytest.raises(GitError, match="more than is read"):
            repository.read_file("HEAD", "a/run.json")
        monkeypatch.setattr(git_program, "MAX_RUN_BYTES", 4)
        assert repository.read_file("HEAD", "a/run.json") == b"one\n"


# History ---------------------------------------------------------------------------------------------------------------


def test_the_history_of_a_file_follows_its_renames(folder: Path) -> None:
    write_and_commit(folder, {"a/run.json": "line\n" * 50}, "second")
    git(folder, "mv", "a", "b")
    commit(folder, "move the folder")
    write_and_commit(folder, {"other": "x"}, "not about it")
    git(folder, "mv", "b/run.json", "b/new.json")
    write_and_commit(folder, {"b/new.json": "line\n" * 50 + "end\n"}, "rename and change")
    with Repository(folder) as repository:
        versions = list(repository.history("b/new.json"))
        assert [(one.subject, one.path) for one in versions] == [
            ("rename and change", "b/new.json"),
            ("move the folder", "b/run.json"),
            ("second", "a/run.json"),
            ("first", "a/run.json"),
        ]
        assert versions[1].oid == versions[2].oid
        assert repository.read(versions[3].oid or "") == b"one\n"


def test_a_deletion_is_a_version_without_content(folder: Path) -> None:
    git(folder, "rm", "-q", "a/run.json")
    commit(folder, "drop it")
    write_and_commit(folder, {"a/run.json": "again\n"}, "bring it back")
    versions = list(Repository(folder).history("a/run.json"))
    assert [one.subject for one in versions] == ["bring it back", "drop it", "first"]
    assert [one.oid is None for one in versions] == [False, True, False]


def test_with_first_parent_a_merged_branch_is_one_commit(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "feature")
    write_and_commit(folder, {"a/run.json": "two\n"}, "on the branch")
    write_and_commit(folder, {"a/run.json": "three\n"}, "on the branch again")
    git(folder, "checkout", "-q", "main")
    write_and_commit(folder, {"c": "c"}, "on main")
    git(folder, "merge", "-q", "--no-ff", "feature", "-m", "merge it")
    repository = Repository(folder)
    assert [one.subject for one in repository.history("a/run.json", first_parent=True)] == [
        "merge it",
        "first",
    ]
    assert [one.subject for one in repository.history("a/run.json")] == [
        "on the branch again",
        "on the branch",
        "first",
    ]


def test_files_that_were_renamed_or_deleted_since_a_commit_are_found_once_staged(folder: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(50))
    files = {"t/x/old.json": text, "t/else/old.py": text[5:], "gone.json": "", "t/gone.py": ""}
    before = write_and_commit(folder, files)
    git(folder, "mv", "t/x", "y")
    git(folder, "mv", "t/else/old.py", "t/else/new.py")
    git(folder, "rm", "-q", "gone.json", "t/gone.py")
    repository = Repository(folder)
    found = {"y/old.json": "t/x/old.json"}, ["gone.json"]
    assert repository.renamed_and_deleted(before, "**/*.json") == found
    commit(folder)
    assert repository.renamed_and_deleted(before, "**/*.json") == found
