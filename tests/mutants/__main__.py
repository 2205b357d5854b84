"""Put faults into a copy of the code, one at a time, and see whether the tests that reach them fail: `make mutants`.

The faults are made and tried by cosmic-ray.  It edits source files and runs any command; mutmut 3 instead wraps each
function and forks within one pytest.  That leaves out what is decorated or outside of functions (hooks, fixtures,
properties, the tables of words: a sixth of the statements here), sees nothing of the processes that tests start, and
mutates the plugin in the very pytest that runs the tests.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_item import TestOutcome

from tests.mutants.faults import as_lines, sample
from tests.mutants.reach import Reach
from tests.test_structure import ROOMS

ROOT = Path(__file__).parents[2]
SURVIVORS = Path(__file__).with_name("survivors.md")
LISTED = re.compile(r"^- `(?P<file>[^`:]+):\d+` `(?P<old>.*)` → `(?P<new>.*)`: ", re.MULTILINE)
ENOUGH = 95.0
TESTS_SECONDS = 60.0
"""How long the tests of one mutant took without it; what none of them noticed counts as survived."""


def synchronize(copy):
    """Make the copy hold the files of the working tree, and leave untouched those that it has."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for name in names:
        source, target = ROOT / name, copy / name
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for path in copy.glob("**/*.py"):
        if path.relative_to(copy).as_posix() not in names:
            path.unlink()


def files_of(copy, room):
    place = copy / "pytest_irmetrics" / room
    return sorted(place.rglob("*.py")) or [place.with_suffix(".py")]


def tests_of(mutation, room, reach):
    """The tests that reach the changed statement: its room's first, then the quickest."""
    line = mutation.start_pos[0]
    by_line = reach.by_line(mutation.module_path)
    found = set().union(*(by_line[each] for each in statement_lines(mutation.module_path, line)))
    order = sorted(
        found or by_line[0],  # a line that runs on import is no test's
        key=lambda test: (f"tests/unit/{room}/" not in test, reach.tests[test]["seconds"], test),
    )
    seconds = 0.0
    for test in order:
        seconds += reach.tests[test]["seconds"]
        if seconds > TESTS_SECONDS:
            break
        yield test


def statement_lines(path, line):
    """The lines of the innermost statement that holds this one; of a compound one, those of its head."""
    innermost = range(line, line + 1)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            innermost = range(node.lineno, body[0].lineno if body else node.end_lineno + 1)
    return innermost


def notice(mutation, tests, reach, arguments):
    """Whether one of the tests fails with the mutation, or does not end."""
    arguments.write_text("\n".join(tests), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"@{arguments}"]
    usual = sum(reach.tests[test]["seconds"] for test in tests)
    result = mutate_and_test([mutation], shlex.join(command), timeout=60 + 5 * usual)
    if result.test_outcome not in {TestOutcome.KILLED, TestOutcome.SURVIVED}:
        raise SystemExit(result.output)
    return result.test_outcome == TestOutcome.KILLED, result.output or ""


def try_room(room, options, copy, reach, listed):
    """Counts of what became of the room's sample: killed, survived, equivalent."""
    mutations, total = sample(files_of(copy, room), options.sample, f"{options.seed} {room}")
    counts = {"faults": total, "sampled": len(mutations), "killed": 0, "survived": 0, "equivalent": 0}
    for mutation in mutations:
        file = mutation.module_path.relative_to(copy / "pytest_irmetrics").as_posix()
        old, new = as_lines(mutation)
        tests = list(tests_of(mutation, room, reach))
        became, output = "survived", ""
        if (file, old, new) in listed:
            became = "equivalent"
        elif tests:
            killed, output = notice(mutation, tests, reach, copy.parent / "tests.txt")
            became = "killed" if killed else "survived"
        counts[became] += 1
        print(
            f"{became:10}  `{file}:{mutation.start_pos[0]}` `{old}` → `{new}`: {len(tests)} tests", flush=True
        )
        if options.verbose and became == "killed":
            print(
                *[line for line in output.splitlines() if line.startswith(("FAILED", "ERROR", "timeout"))],
                sep="\n",
            )
    return counts


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("rooms", nargs="*", help="default: all", metavar="ROOM")
    parser.add_argument("--sample", type=int, default=30, help="how many faults per room (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument("--folder", type=Path, required=True, help="where the copy of the project is kept")
    parser.add_argument(
        "--tests", action="append", help="a folder or file of tests (default: tests/unit and tests/plugin)"
    )
    parser.add_argument("--verbose", action="store_true", help="name the tests that failed")
    options = parser.parse_args()
    rooms = options.rooms or ROOMS
    if unknown := set(rooms) - set(ROOMS):
        parser.error(f"no such room: {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    folder = options.folder.resolve()
    copy = folder / "copy"
    copy.mkdir(parents=True, exist_ok=True)
    synchronize(copy)
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)  # before the working tree, which is installed
    reach = Reach(copy, folder)
    reach.measure(
        [path for room in rooms for path in files_of(copy, room)],
        options.tests or ["tests/unit", "tests/plugin"],
    )
    listed = {
        match.group("file", "old", "new") for match in LISTED.finditer(SURVIVORS.read_text(encoding="utf-8"))
    }
    table = {room: try_room(room, options, copy, reach, listed) for room in rooms}
    print(
        "",
        *(f"{head:>12}" for head in ("room", "faults", "sampled", "killed", "survived", "equivalent", "%")),
    )
    shares = []
    for room, counts in table.items():
        shares.append(100 * counts["killed"] / max(counts["sampled"] - counts["equivalent"], 1))
        print("", *(f"{cell:>12}" for cell in (room, *counts.values(), f"{shares[-1]:.1f}")))
    return min(shares) < ENOUGH


if __name__ == "__main__":
    sys.exit(main())
