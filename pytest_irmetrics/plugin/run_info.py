"""When a session ran, how long it took, and on what: what report files say of it."""

from __future__ import annotations

import os
import platform
import subprocess
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
_PATIENCE = 10.0
"""Seconds that Git has to answer."""


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
    """Return the commit that is checked out: what CI says, else what Git does. Empty if unknown."""
    told = (os.environ.get(name, "") for name in _CI_COMMITS)
    found = next(filter(None, told), "") or _head(root)
    return found if len(found) in (40, 64) and set(found) <= set("0123456789abcdef") else ""


def _head(root: Path) -> str:
    try:
        git = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - whichever Git is on the path
            cwd=root,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return git.stdout.strip()
