"""Running Git: nothing that a repository configures is run, and no command is waited for without end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base import git_program
from pytest_irmetrics.base.git import Repository
from pytest_irmetrics.base.git_program import GitTimeoutError, OwnerError, UnknownRevisionError
from tests.git_repository import git, isolate_git, needs_git, new_repository, write_and_commit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_git

posix = pytest.mark.skipif(sys.platform == "win32", reason="its programs are shell scripts")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with one commit, which holds the file `a/run.json`."""
    isolate_git(monkeypatch)
    made = new_repository(tmp_path / "work")
    write_and_commit(made, {"a/run.json": "one\n"}, "first")
    return made


def install_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> Path:
    """Put a program git on the PATH that runs a command of the shell."""
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\n{command}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return script


def test_git_reads_what_the_user_configured_and_no_repository_that_a_hook_names() -> None:
    given = {
        "PATH": "/bin",
        "GIT_DIR": "x",
        "git_work_tree": "x",
        "GIT_CONFIG_GLOBAL": "g",
        "GIT_CONFIG_KEY_0": "k",
    }
    assert git_program._environment(given) == {
        "PATH": "/bin",
        "GIT_CONFIG_GLOBAL": "g",
        "GIT_CONFIG_KEY_0": "k",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LANGUAGE": "",
        "LC_ALL": "C",
    }


@posix
def test_nothing_that_a_repository_configures_is_run(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {ran}\ncat\n')
    script.chmod(0o755)
    first = write_and_commit(folder, {".gitattributes": "* diff=x filter=x\n", "a/run.json": "line\n" * 50})
    git(folder, "mv", "a/run.json", "a/new.json")
    write_and_commit(folder, {"a/new.json": "line\n" * 49})
    for key in (
        "diff.x.textconv",
        "diff.x.command",
        "diff.external",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "gpg.program",
        "credential.helper",
        "alias.rev-parse",
        "pager.ls-tree",
        "trace2.eventTarget",
    ):
        git(folder, "config", key, str(script))
    git(folder, "config", "log.showSignature", "true")
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        target = folder / ".git" / "hooks" / hook
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(script.read_bytes())
        target.chmod(0o755)
    ran.unlink(missing_ok=True)
    with Repository(folder) as repository:
        assert repository.merge_base("HEAD") == repository.commit()
        assert repository.read_file(first, "a/run.json") == b"line\n" * 50
        assert len(list(repository.history("a/new.json"))) == 3
        assert repository.renamed_and_deleted(first, "**/*.json") == ({"a/new.json": "a/run.json"}, [])
        assert repository.entries("HEAD", "a")
        with pytest.raises(UnknownRevisionError):
            repository.commit("origin/none")
    assert not ran.exists(), ran.read_text()


@posix
@pytest.mark.parametrize(
    ("printed", "trusted"),
    [
        (
            "To add an exception, call:\n\tgit config --global --add safe.directory /srv/search\n",
            "/srv/search",
        ),
        ("git config --global --add safe.directory '/srv/two words'", "'/srv/two words'"),
        ("git config --global --add safe.directory /srv/two words", None),
        ("git config --global --add safe.directory '/srv/no end", None),
        ("git config --global --add safe.directory ", None),
        ("git config --global --add safe.directory \n/srv/next/line", None),
        ("", None),
    ],
)
def test_the_folder_to_trust_is_the_one_that_git_names_or_the_folder_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, trusted: str | None
) -> None:
    (tmp_path / "printed").write_text(f"fatal: detected dubious ownership in repository\n{printed}")
    install_git(tmp_path, monkeypatch, f"cat '{tmp_path}/printed' >&2; exit 128")
    with pytest.raises(OwnerError) as raised:
        Repository(tmp_path)
    assert str(raised.value).endswith(f": git config --global --add safe.directory {trusted or tmp_path}")


@posix
def test_a_git_that_hangs_is_ended(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(folder)
    oid = git(folder, "rev-parse", "HEAD:a/run.json")
    script = install_git(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(git_program, "TIME_LIMIT", 0.2)
    with pytest.raises(GitTimeoutError, match=r"git rev-parse did not end within 0.2 s"):
        Repository(folder)
    monkeypatch.setattr(repository._git, "_git", str(script))
    with pytest.raises(GitTimeoutError, match=r"git cat-file did not end within 0.2 s"):
        repository.read(oid)
