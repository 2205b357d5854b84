"""When a session ran, how long it took, and on what: what report files say of it."""

from __future__ import annotations

import os
import platform
import time
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base.paths import nearest_repository, relative_path
from pytest_irmetrics.base.version import own_version
from pytest_irmetrics.reports.session_report import RunInfo

if TYPE_CHECKING:
    from pathlib import Path

_CI_COMMITS = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BUILD_SOURCEVERSION",
    "BITBUCKET_COMMIT",
    "CIRCLE_SHA1",
    "GIT_COMMIT",
)
"""Environment variables in which CI systems have the commit that is checked out."""
_MAX_FILE = 10_000_000
"""Bytes of a file of Git's that are read: its list of packed references is the largest."""


def run_info(config: pytest.Config, started: float) -> RunInfo:
    """Return what is known of a session that began at ``started`` (`time.time`)."""
    return RunInfo(
        started=datetime.fromtimestamp(started).astimezone().isoformat(timespec="seconds"),
        seconds=round(max(0.0, time.time() - started), 3),
        commit=_commit(config.rootpath),
        versions={
            "python": platform.python_version(),
            "pytest": pytest.__version__,
            "pytest-irmetrics": own_version(),
        },
        folder=_folder_in_repository(config.invocation_params.dir),
    )


def _folder_in_repository(folder: Path) -> str:
    """Return a folder relative to the root of its repository; empty for the root, or where there is none."""
    top = nearest_repository(folder)
    below = "." if top is None else relative_path(folder, top)
    return "" if below == "." else below


def _commit(root: Path) -> str:
    """Return the commit that is checked out, from Git's files: a report is no reason to start a process. Empty if unknown."""
    try:
        top = nearest_repository(root)
        found = "" if top is None else _head(top)
    except (OSError, ValueError):
        found = ""
    if not found:
        found = next((value for name in _CI_COMMITS if (value := os.environ.get(name, ""))), "")
    return found if len(found) in (40, 64) and set(found) <= set("0123456789abcdef") else ""


def _head(top: Path) -> str:
    """Return the commit of a repository's HEAD; empty where its branch has none."""
    git = top / ".git"
    if git.is_file():  # a worktree or a submodule
        git = top / _read(git).removeprefix("gitdir:").strip()
    head = _read(git / "HEAD").strip()
    if not head.startswith("ref:"):
        return head
    name = head.removeprefix("ref:").strip()
    common = git / _read(git / "commondir").strip() if (git / "commondir").is_file() else git
    if (common / name).is_file():
        return _read(common / name).strip()
    packed = common / "packed-refs"
    lines = _read(packed).splitlines() if packed.is_file() else []
    return next((line.partition(" ")[0] for line in lines if line.endswith(f" {name}")), "")


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MAX_FILE).decode("utf-8", "replace")
