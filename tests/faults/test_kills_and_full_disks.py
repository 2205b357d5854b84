"""kill -9 at random moments, and disks that fill at random bytes: every file is what it was, or what it was to become.

A few of each command in the suite; as many as IRMETRICS_KILLS says elsewhere. IRMETRICS_DISK is the folder of a small file
system of its own (`mount -t tmpfs -o size=2m`), which then fills up; without it, no file may grow beyond some length.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, Run

COUNT = int(os.environ.get("IRMETRICS_KILLS", "2"))
DISK = os.environ.get("IRMETRICS_DISK")
QUERIES = 40

SERVER = """
import json, os, resource, signal, sys, time
import pytest, _pytest.assertion.rewrite, pytest_irmetrics.plugin.recorder, pytest_irmetrics.plugin.fixture
import pytest_irmetrics.cli.label, pytest_irmetrics.cli.convert, pytest_irmetrics.cli.report, pytest_irmetrics.reports.output
from pytest_irmetrics.cli import main

sys.dont_write_bytecode = True
for line in sys.stdin:
    words, version, kill_after, limit = json.loads(line)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os.environ["VERSION"] = version
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            status = int(pytest.main(words[1:]) if words[0] == "pytest" else main(words))
        except SystemExit as end:
            status = end.code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    os.close(writer)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    with open(reader, "rb") as output:
        said = output.read()
    print(json.dumps([os.waitpid(child, 0)[1], said.decode()]), flush=True)
"""
"""Forks a command for each line: all that it imports is there already."""

CONFTEST = """
import os, pytest

@pytest.fixture
def retriever():
    version = os.environ["VERSION"]
    return lambda query, k: [f"d{query}", *(f"{version}{query}-{rank}" for rank in range(k - 1))]
"""
TEST = """
import pytest

@pytest.mark.ir_golden("faq.yaml")
@pytest.mark.ir_threshold("mrr", 0.5)
def test_search(irmetrics):
    irmetrics.check()
"""
QUIET = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "irmetrics", "--capture=sys"]
BASELINE = "ir_baselines/test_search/test_search[faq].json"
REPORTS = ["r.html", "r.json", "r.md"]
BEGINNINGS = {".html": "<!doctype html>", ".json": '{\n"format": "pytest-irmetrics report"', ".md": "## Retrieval quality: "}  # fmt: skip
"""Suffix of a report → how each begins: none is written over another file."""

COMMANDS = {
    "update": ([*QUIET, "--ir-baseline-update"], [BASELINE]),
    "reports": ([*QUIET, *(f"--ir-report={name}" for name in REPORTS)], REPORTS),
    "label": (["label", "faq.yaml", "--judge", "q7", "x7", "2", "--judge", "q9", "x9", "0"], ["faq.yaml"]),
    "report": (["report", "kept.json", "-o", "kept.html", "-o", "kept.md"], ["kept.html", "kept.md"]),
    "convert": (["convert", "faq.yaml", "faq.jsonl", "--force"], ["faq.jsonl"]),
    "convert a run": (["convert", BASELINE, "faq.run", "--force"], ["faq.run"]),
}
"""Command → its words, and the files that it writes."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork and no SIGKILL here")


class Commands:
    """Runs commands in a folder, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._server = subprocess.Popen([sys.executable, "-c", SERVER], cwd=folder, env=env, **pipes)

    def run(self, words, version, kill_after=None, limit=None):
        """Return how a command ended, as `os.waitpid` has it, and what it printed."""
        self._server.stdin.write(json.dumps([words, version, kill_after, limit]) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())

    def close(self):
        self._server.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = Path(DISK or tmp_path_factory.mktemp("kills")) / "project"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_search.py").write_text(TEST)
    (folder / "pytest.ini").touch()
    queries = "".join(f"- {{id: q{n}, query: '{n}', relevant: d{n}}}  # kept\n" for n in range(QUERIES))
    (folder / "faq.yaml").write_text(f"queries:\n{queries}")
    return folder


@pytest.fixture(scope="module")
def commands(folder):
    commands = Commands(folder)
    status, said = commands.run([*QUIET, "--ir-baseline-update", "--ir-report=kept.json"], "old")
    assert status == 0, said
    yield commands
    commands.close()


def is_report(name, data, like):
    """Whether a file is a report from its first byte to its last, `like` another that differs in times alone."""
    if name.endswith(".json"):
        assert json.loads(data)
    return data[:10] == like[:10] and data[-10:] == like[-10:] and abs(len(data) - len(like)) < 20


@pytest.mark.parametrize("ending", ["kill", "full disk"])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_lost_and_nothing_is_half(folder, commands, name, ending):
    words, files = COMMANDS[name]
    chance = random.Random(f"{name} {ending}")
    before = {}
    for path in (folder / name for name in files):
        if not path.exists():
            path.write_text(f"{BEGINNINGS.get(path.suffix, '')}what was there before")
        before[path] = path.read_bytes()
    began = time.monotonic()
    status, said = commands.run(words, "new")
    seconds = time.monotonic() - began
    assert status == 0, said
    after = {path: path.read_bytes() for path in before}
    longest = max(map(len, after.values()))
    seen = Counter()
    for _ in range(COUNT):
        for path, data in before.items():
            path.write_bytes(data)
        if ending == "kill":
            status, said = commands.run(words, "new", kill_after=chance.uniform(0, seconds))
        else:
            status, said = fill_disk(commands, words, chance.randrange(longest))
        temporary = sorted(folder.rglob(".ir-writing-*"))
        assert ending == "kill" or not temporary
        for path, data in before.items():
            now = path.read_bytes()
            seen["old" if now == data else "new"] += 1
            if now == data:
                assert status, f"{path} is not written, and nothing fails: {said}"
            else:
                whole = is_report(path.name, now, after[path]) if name == "reports" else now == after[path]
                assert whole, f"{path} is half: {said}"
        assert "Traceback" not in said
        assert "INTERNALERROR" not in said
        seen["temporary"] += len(temporary)
        seen["failed"] += bool(status)
        for path in temporary:
            path.unlink()
        assert len(GoldenSet.load(folder / "faq.yaml").queries) == QUERIES
        assert len(Run.load(folder / BASELINE)) == QUERIES
    for path, data in before.items():
        path.write_bytes(data)
    print(f"{name}, {ending}: {dict(seen)} of {COUNT}")  # noqa: T201 - shown by -rP


def fill_disk(commands, words, free):
    """Run a command while there is place for so many bytes: on the disk, if it is a small one, else in each file."""
    if not DISK:
        return commands.run(words, "new", limit=free)
    filler = Path(DISK) / "filler"
    usage = os.statvfs(DISK)
    filler.write_bytes(b"x" * max(0, usage.f_bavail * usage.f_frsize - free))
    try:
        return commands.run(words, "new")
    finally:
        filler.unlink()
