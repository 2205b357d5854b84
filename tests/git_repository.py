"""A Git repository for a test, shielded from the machine's configuration of Git."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def isolate_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no configuration of the machine, and no hook that the tests run in, change what git does."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        # A process more for each commit.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "maintenance.auto",
        "GIT_CONFIG_VALUE_0": "false",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }.items():
        monkeypatch.setenv(name, value)


def git(folder: Path, *words: str | bytes, status: int = 0) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    assert done.returncode == status, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "replace").strip()


def new_repository(folder: Path) -> Path:
    """Make an empty repository, whose branch is `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", "--template=")
    return folder


def commit(folder: Path, subject: str = "change") -> None:
    """Commit all that is in a folder."""
    git(folder, "add", "--all", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", subject)


def write_and_commit(folder: Path, files: dict[str, str], subject: str = "change") -> None:
    """Write files and commit them."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    commit(folder, subject)
