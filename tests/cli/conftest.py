"""A folder with golden sets, runs, a baseline and a JSON report, to try commands in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.warm_python import python_words

collect_ignore = ["folder"]


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder beside this file, after pytest has stored a baseline and written a report of its two tests."""
    folder = tmp_path_factory.mktemp("cli") / "folder"
    shutil.copytree(Path(__file__).with_name("folder"), folder)
    options = ["-q", "-p", "no:cacheprovider", "--ir-baseline-update", "--ir-report=report.json"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    plugin = ["-p", "pytest_irmetrics.plugin"]
    subprocess.run(
        [*python_words(), "-m", "pytest", *plugin, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    del report["run_info"]  # the machine and the time
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
    return folder


@pytest.fixture
def folder(built, tmp_path, monkeypatch):
    """A copy of the folder, which is the current one."""
    copy = tmp_path / "folder"
    shutil.copytree(built, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return copy
