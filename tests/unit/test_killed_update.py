"""kill -9 at random moments of writing: every baseline is the old one or the new one, and nothing stays behind.

A few times in the suite; as often as IRMETRICS_KILLS says elsewhere.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from pytest_irmetrics import Run
from pytest_irmetrics.base.atomic_write import write_whole

KILLS = int(os.environ.get("IRMETRICS_KILLS", "12"))
QUERIES = 200

WRITER = """
import sys
from pathlib import Path
from pytest_irmetrics.base.atomic_write import write_whole

folder, first, second = Path(sys.argv[1]), *(Path(path).read_bytes() for path in sys.argv[2:])
print("ready", flush=True)
while True:
    for data in (second, first):
        for name in ("a", "b", "c"):
            write_whole(folder / f"{name}.json", data)
"""

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")


def run_of(prefix):
    return Run(
        {f"q{number}": [f"{prefix}{number}-{rank}" for rank in range(10)] for number in range(QUERIES)}
    )


def test_a_killed_update_loses_nothing(tmp_path):
    runs = [run_of("old"), run_of("new")]
    sources = [tmp_path / "old", tmp_path / "new"]
    for run, source in zip(runs, sources, strict=True):
        source.write_text(run.dumps())
    folder = tmp_path / "ir_baselines"
    baselines = [folder / f"{name}.json" for name in "abc"]
    for path in baselines:
        write_whole(path, runs[0].dumps().encode())
    chance = random.Random(20)
    caught_writing = 0
    for kill in range(KILLS):
        # Every other time a second writer goes on beside the one that is killed, and must lose nothing by it.
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, folder, *sources], stdout=subprocess.PIPE)
            for _ in range(1 + kill % 2)
        ]
        try:
            for writer in writers:
                assert writer.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0, 0.02))
            writers[0].kill()
            writers[0].wait()
            for path in baselines:
                assert Run.load(path) in runs
            if len(writers) > 1:
                assert writers[1].poll() is None
        finally:
            for writer in writers:
                writer.kill()
                writer.communicate()
        caught_writing += len(list(folder.iterdir())) > len(baselines)
        for path in baselines:
            assert Run.load(path) in runs
        for path in folder.glob(".ir-writing-*.tmp"):
            os.utime(path, (1, 1))
        write_whole(baselines[0], f"{runs[kill % 2].dumps()} ".encode())
        assert sorted(folder.iterdir()) == baselines
    print(f"{caught_writing} of {KILLS} kills left a temporary file")  # noqa: T201 - shown by -rP
    if KILLS >= 100:
        assert caught_writing
