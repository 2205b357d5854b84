"""Which tests reach which lines, as coverage.py's contexts tell; also the pytest plugin that names a context after its test."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from coverage import Coverage, CoverageData

# A process that a test starts has the test's name from PYTEST_CURRENT_TEST.
_SETTINGS = """
[run]
source = {package}
data_file = {data}
parallel = true
patch = subprocess
core = ctrace
context = ${{PYTEST_CURRENT_TEST-}}
"""

_outcomes = {}


def function_of(node_id):
    """The test function of a node id or of PYTEST_CURRENT_TEST: without parameters and phase."""
    return node_id.partition("[")[0].partition(" (")[0]


def pytest_runtest_protocol(item):
    if measured := Coverage.current():
        measured.switch_context(function_of(item.nodeid))


def pytest_runtest_logreport(report):
    test = _outcomes.setdefault(function_of(report.nodeid), {"seconds": 0.0, "passed": True})
    test["seconds"] += report.duration
    test["passed"] &= not report.failed


def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        Coverage.current().save()
    elif outcomes := session.config.getoption("--outcomes"):
        Path(outcomes).write_text(json.dumps(_outcomes), encoding="utf-8")


def pytest_addoption(parser):
    parser.addoption("--outcomes", help="the file for how each test went")


class Reach:
    """Measures in a copy of the project, and keeps what it measured until the code or a test file changes."""

    def __init__(self, copy, folder):
        self._copy, self._folder = copy, folder
        self._kept = folder / "tests.json"
        self._data = folder / "coverage"
        self.tests = {}

    def measure(self, sources, folders):
        """Run what has changed since the last time: all tests if one of the sources has, else changed test files."""
        found = {path for folder in folders for path in self._copy.glob(f"{folder}/**/test_*.py")}
        found |= {self._copy / name for name in folders if name.endswith(".py")}
        now = {
            path.relative_to(self._copy).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (*sources, *sorted(found))
        }
        told = {"hashes": {}, "tests": {}}
        if self._kept.is_file():
            told = json.loads(self._kept.read_text(encoding="utf-8"))
        changed = [name for name, value in now.items() if told["hashes"].get(name) != value]
        if any(name in told["hashes"] and name.startswith("pytest_irmetrics/") for name in changed):
            told = {"hashes": {}, "tests": {}}
            changed = list(now)
            self._data.unlink(missing_ok=True)
        test_files = [name for name in changed if name.startswith("tests/")]
        outcomes = self._run(test_files) if test_files else {}
        told["hashes"] |= now
        told["tests"] = {
            test: outcome for test, outcome in told["tests"].items() if test.partition("::")[0] not in changed
        } | outcomes
        self._kept.write_text(json.dumps(told), encoding="utf-8")
        self.tests = {
            test: outcome for test, outcome in told["tests"].items() if test.partition("::")[0] in now
        }

    def _run(self, test_files):
        print(f"Finding out which lines {len(test_files)} test files reach …", flush=True)
        settings, outcomes = self._folder / "settings.ini", self._folder / "outcomes.json"
        settings.write_text(
            _SETTINGS.format(package=self._copy / "pytest_irmetrics", data=self._data), encoding="utf-8"
        )
        coverage = [sys.executable, "-m", "coverage"]
        pytest = ["-m", "pytest", "-q", "-n", "auto", "--maxprocesses", "8", "-p", "no:cacheprovider"]
        mine = ["-p", "tests.mutants.reach", f"--outcomes={outcomes}"]
        # Byte code is written here, and never where there is a fault: a mutant's tests start twice as fast with it.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        run = [*coverage, "run", f"--rcfile={settings}", *pytest, *mine, *test_files]
        subprocess.run(run, cwd=self._copy, env=environment, check=False)
        combine = [*coverage, "combine", "-q", "--append", f"--rcfile={settings}"]
        subprocess.run(combine, cwd=self._copy, check=True)
        return json.loads(outcomes.read_text(encoding="utf-8"))

    @cache  # noqa: B019
    def by_line(self, source):
        """Line → the tests that reach it and pass; 0 → those that reach any line."""
        data = CoverageData(self._data)
        data.read()
        found = defaultdict(set)
        for line, contexts in data.contexts_by_lineno(str(source)).items():
            tests = {test for test in map(function_of, contexts) if self.tests.get(test, {}).get("passed")}
            found[line] |= tests
            found[0] |= tests
        return found
