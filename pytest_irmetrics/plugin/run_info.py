"""When a session ran, how long it took, and on what: what report files say of it."""

from __future__ import annotations

import os
import platform
import time
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics.base.files import nearest_repository, relative_path
from pytest_irmetrics.base.git import GitError, Repository
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


def run_info(config: pytest.Config, started: float) -> RunInfo:
    """Return what is known of a session that began at ``started`` (`time.time`)."""
    folder = config.invocation_params.dir
    top = nearest_repository(folder)
    below = "." if top is None else relative_path(folder, top)
    return RunInfo(
        started=datetime.fromtimestamp(started).astimezone().isoformat(timespec="seconds"),
        seconds=round(max(0.0, time.time() - started), 3),
        commit=_commit(config.rootpath),
        versions={
            "python": platform.python_version(),
            "pytest": pytest.__version__,
            "pytest-irmetrics": version("pytest-irmetrics"),
        },
        folder="" if below == "." else below,
    )


def _commit(root: Path) -> str:
    """Return the commit that is checked out: what CI says, where Git itself may be missing, else what Git does. Empty if unknown."""
    try:
        return next(filter(None, map(os.environ.get, _CI_COMMITS)), None) or Repository(root).commit("HEAD")
    except GitError:
        return ""
