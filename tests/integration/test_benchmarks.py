"""Each benchmark runs, at its smallest size: what it measures counts nowhere here, since the machine does other work too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SMALLEST = [
    "asking.py --queries 20 --concurrency 4 --rounds 1",
    "comparing.py --sizes 100 --rounds 1",
    "history.py --commits 5 --queries 20 --changed 2",
    "html_report.py --sizes 1x10",
    "label_loop.py --labels 1 --variants 1",
    "loading.py --sizes 100 --rounds 1",
    "metrics.py --sizes 100x100 --peers pytrec_eval --rounds 1",
    "plugin.py --sizes 100x10 --rounds 1",
    "runs.py --rows 2000 --rounds 1 --peers pytrec_eval",
    "startup.py --samples 1",
    "verdicts.py --trials 1 likely",
]


@pytest.mark.parametrize("command", SMALLEST)
def test_a_benchmark_runs(command):
    name, *options = command.split()
    if name == "html_report.py" and not shutil.which("chromedriver"):
        pytest.skip("no chromedriver here")
    ended = subprocess.run(
        [sys.executable, str(FOLDER / name), *options],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    missed_a_goal = ended.returncode == 1 and not ended.stderr  # what cannot run says why there
    assert ended.returncode == 0 or missed_a_goal, ended.stderr


def test_no_benchmark_is_left_out():
    assert {command.split()[0] for command in SMALLEST} == {path.name for path in FOLDER.glob("*.py")}
