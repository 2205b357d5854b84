"""Which tests reach which lines, as coverage.py's contexts tell; also the pytest plugin that names a context after its test."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from coverage import Coverage, CoverageData

# A process that a test starts has the test's name from the variable.
_SETTINGS = """
[run]
source = {package}
data_file = {data}
parallel = true
patch = subprocess
core = ctrace
context = ${{IRMETRICS_TEST-}}
"""

_outcomes = {}


def function_of(node_id):
    """The test function of a node id: without parameters."""
    return node_id.partition("[")[0]


def pytest_runtest_protocol(item):
    if measured := Coverage.current():
        os.environ["IRMETRICS_TEST"] = function_of(item.nodeid)
        # What coverage.py hands on to processes by itself has the context already, which was empty at its start.
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
        os.environ["COVERAGE_PROCESS_START"] = os.environ["IRMETRICS_COVERAGE"]
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
    """Measures in a copy of the project.

    What it measured is kept when the code changes, and read through the difference: a line that is the same has its tests,
    a changed one those of the lines that it replaces and of their neighbours.  Test files that changed are measured again.
    """

    def __init__(self, copy, folder):
        self._copy, self._folder = copy, folder
        self._kept = folder / "tests.json"
        self.hashes, self.tests = {}, {}

    def measure(self, folders):
        """Run the test files that are new or have changed since the last time."""
        found = {path for folder in folders for path in self._copy.glob(f"{folder}/**/test_*.py")}
        found |= {self._copy / name for name in folders if name.endswith(".py")}
        now = {
            path.relative_to(self._copy).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(found)
        }
        told = {"hashes": {}, "tests": {}}
        if self._kept.is_file():
            told = json.loads(self._kept.read_text(encoding="utf-8"))
        changed = [name for name, value in now.items() if told["hashes"].get(name) != value]
        outcomes = self._run(changed) if changed else {}
        told["hashes"] |= now
        told["tests"] = {
            test: outcome for test, outcome in told["tests"].items() if test.partition("::")[0] not in changed
        } | outcomes
        self._kept.write_text(json.dumps(told), encoding="utf-8")
        self.hashes = now
        self.tests = {
            test: outcome for test, outcome in told["tests"].items() if test.partition("::")[0] in now
        }

    def _run(self, test_files):
        print(f"Finding out which lines {len(test_files)} test files reach …", flush=True)
        number = 1 + max((int(path.name) for path in self._measured()), default=0)
        place = self._folder / "measured" / str(number)
        shutil.copytree(self._copy / "pytest_irmetrics", place / "pytest_irmetrics")
        settings, outcomes = self._folder / "settings.ini", self._folder / "outcomes.json"
        settings.write_text(
            _SETTINGS.format(package=self._copy / "pytest_irmetrics", data=place / "coverage"),
            encoding="utf-8",
        )
        coverage = [sys.executable, "-m", "coverage"]
        pytest = ["-m", "pytest", "-q", "-n", "auto", "--maxprocesses", "8", "-p", "no:cacheprovider"]
        mine = ["-p", "tests.mutants.reach", f"--outcomes={outcomes}"]
        # Byte code is written here, and never where there is a fault: a mutant's tests start twice as fast with it.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["IRMETRICS_COVERAGE"] = str(settings)
        run = [*coverage, "run", f"--rcfile={settings}", *pytest, *mine, *test_files]
        subprocess.run(run, cwd=self._copy, env=environment, check=False)
        subprocess.run([*coverage, "combine", "-q", f"--rcfile={settings}"], cwd=self._copy, check=True)
        measured = json.loads(outcomes.read_text(encoding="utf-8"))
        return {test: {**outcome, "measured": number} for test, outcome in measured.items()}

    def _measured(self):
        return sorted(self._folder.glob("measured/*"))

    @cache  # noqa: B019
    def by_line(self, source):
        """Line → the tests that reach it and pass; 0 → those that reach any line."""
        name = source.relative_to(self._copy)
        text = source.read_text(encoding="utf-8")
        found = defaultdict(set)
        for place in self._measured():
            if not (place / name).is_file():
                continue
            data = CoverageData(place / "coverage")
            data.read()
            number = int(place.name)
            new_lines = lines_now((place / name).read_text(encoding="utf-8"), text)
            for line, contexts in data.contexts_by_lineno(str(source)).items():
                tests = {
                    test
                    for test in map(function_of, contexts)
                    if (told := self.tests.get(test)) and told["passed"] and told["measured"] == number
                }
                for new in (0, *new_lines[line]):
                    found[new] |= tests
        return found


def lines_now(before, now):
    """Line of a text of before → the lines of now that stand for it."""
    lines = defaultdict(list)
    old, new = before.splitlines(), now.splitlines()
    for kind, i, i_end, j, j_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            for k in range(i_end - i):
                lines[i + k + 1].append(j + k + 1)
        else:
            for line in range(i, i_end + 2):  # with the line before and the one behind
                lines[line] += range(j + 1, j_end + 1)
    return lines
