"""Put faults into a copy of the code, one at a time, and see whether the tests that reach them fail: `make mutants`.

The faults are made and tried by cosmic-ray.  It edits source files and runs any command; mutmut 3 instead wraps each
function and forks within one pytest.  That leaves out what is decorated or outside of functions (hooks, fixtures,
properties, the tables of words: a sixth of the statements here), sees nothing of the processes that tests start, and
mutates the plugin in the very pytest that runs the tests.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_item import MutationSpec, TestOutcome

from tests.mutants.faults import as_lines, sample
from tests.mutants.reach import Reach
from tests.test_structure import ROOMS

ROOT = Path(__file__).parents[2]
SURVIVORS = Path(__file__).with_name("survivors.md")
LISTED = re.compile(r"^- `(?P<file>[^`:]+):\d+` `(?P<old>.*)` → `(?P<new>.*)`: ", re.MULTILINE)
FAILED = re.compile(r"^(?:FAILED|ERROR) ([^ \[\n]+)", re.MULTILINE)
ENOUGH = 95.0
LIKELY = 10
"""How many tests are asked in a run of their own, because collecting the files of all takes longer than most mutants live."""


def project_files():
    """The files of the working tree, below its root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def synchronize(copy, original, names):
    """Make a copy hold these files of a folder, and leave untouched those that it has."""
    copy.mkdir(parents=True, exist_ok=True)
    for name in names:
        source, target = original / name, copy / name
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for path in copy.glob("**/*.py"):
        if path.relative_to(copy).as_posix() not in names:
            path.unlink()


def files_of(copy, room):
    place = copy / "pytest_irmetrics" / room
    return sorted(place.rglob("*.py")) or [place.with_suffix(".py")]


def tests_of(mutation, room, reach, first, limit):
    """The tests that reach the changed statement, in the order in which they are asked, until they take too long.

    Those known to notice it are the first, then those of its room; of these, the quick ones that reach what few others
    do of this file.
    """
    by_line = reach.by_line(mutation.module_path)
    found = set().union(*(by_line[line] for line in lines_to_reach(mutation)))
    own = ("tests/plugin/", "tests/unit/plugin/") if room == "plugin" else f"tests/unit/{room}"
    rarity = Counter()
    for line, tests in by_line.items():
        rarity.update(dict.fromkeys(tests if line else (), 1 / max(len(tests), 1)))
    order = sorted(
        (found or by_line[0]) | (first & reach.tests.keys()),
        key=lambda test: (
            test not in first,
            not test.startswith(own),
            -rarity[test] / (reach.tests[test]["seconds"] + 0.1),
            test,
        ),
    )
    seconds = 0.0
    for test in order:
        seconds += reach.tests[test]["seconds"]
        if seconds > limit:
            break
        yield test


def lines_to_reach(mutation):
    """The lines of the innermost statement that is changed; of a compound one, those of its head.

    Of a function's head and decorators, those of its body. None of what runs on import, which is no test's.
    """
    line = mutation.start_pos[0]
    lines, within = range(0), False
    for node in ast.walk(ast.parse(mutation.module_path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.stmt):
            continue
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        if not start <= line <= node.end_lineno:
            continue
        body = getattr(node, "body", None)
        lines = range(start, body[0].lineno if body else node.end_lineno + 1)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            within = True
            if line in lines:
                lines = range(body[0].lineno, node.end_lineno + 1)
    return lines if within else range(0)


class Outcomes:
    """What became of the mutants that were tried: kept, so that a run that was stopped goes on where it was."""

    def __init__(self, path):
        self._path = path
        self._told = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def find(self, mutant):
        """The killer of a mutant, "" where it survived; None where code or tests have changed since, or it is new."""
        told = self._told.get(mutant.name, {})
        killer = told.get("killer")
        same = told.get("code") == mutant.code and told.get("tests") == mutant.tests_asked(killer)
        return killer if same else None

    def killers(self, name):
        """The test that noticed the same fault before the code or the tests changed."""
        return {self._told.get(name, {}).get("killer", "")}

    def add(self, mutant, killer):
        self._told[mutant.name] = {"code": mutant.code, "tests": mutant.tests_asked(killer), "killer": killer}
        written = self._path.with_suffix(".new")
        written.write_text(json.dumps(self._told, indent=0), encoding="utf-8")
        written.replace(self._path)


class Mutant:
    """One fault of a room's sample, and the tests that should notice it."""

    def __init__(self, mutation, copy, room, reach, outcomes, limit):
        self.mutation, self.room = mutation, room
        file = mutation.module_path.relative_to(copy / "pytest_irmetrics").as_posix()
        self.lines = (file, *as_lines(mutation))
        self.shown = f"`{file}:{mutation.start_pos[0]}` `{self.lines[1]}` → `{self.lines[2]}`"
        self.name = f"{file} {self.lines[1]} → {self.lines[2]}"
        self.tests = list(tests_of(mutation, room, reach, outcomes.killers(self.name), limit))
        self.seconds = sum(reach.tests[test]["seconds"] for test in self.tests)
        self.code = _digest(mutation.module_path.read_text(encoding="utf-8"), str(mutation.start_pos))
        self._hashes = reach.hashes

    def tests_asked(self, killer):
        """The test file that notices the mutant as it is now; where none does, all that were asked."""
        asked = [killer] if killer else self.tests
        files = sorted({test.partition("::")[0] for test in asked})
        return _digest(*(self._hashes.get(file, "") for file in files), *([] if killer else self.tests))


def _digest(*texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def start_worker(copies):
    """Give this process a copy of its own, whose code is run before that of the working tree, which is installed."""
    copy = copies.get()
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)


def notice(task):
    """Return the test that fails with a mutation, "" if none does; a mutant that does not end is noticed, too."""
    number, mutation, tests, seconds = task
    here = placed(mutation, Path.cwd() / mutation.module_path)
    arguments = Path.cwd().parent / f"{Path.cwd().name}.txt"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"@{arguments}"]
    for part in (tests[:LIKELY], tests[LIKELY:]):
        if not part:
            break
        arguments.write_text("\n".join(part), encoding="utf-8")
        result = mutate_and_test([here], shlex.join(command), timeout=60 + 5 * seconds)
        if result.test_outcome == TestOutcome.SURVIVED:
            continue
        output = result.output or ""
        failed = FAILED.findall(output)
        if failed:
            return number, failed[-1]  # what runs within a test printed comes before
        if "INTERNALERROR" in output or "no tests ran" not in output:
            return number, "pytest itself"  # which broke, or took too long
        raise RuntimeError(f"{shlex.join(command)}\n{output}")  # such as a test that is gone
    return number, ""


def placed(mutation, path):
    """The same mutation of another copy's file."""
    return MutationSpec(
        path, mutation.operator_name, mutation.occurrence, mutation.start_pos, mutation.end_pos
    )


def try_all(mutants, options, folder, names, outcomes):
    """Yield each mutant that is to be tried with the test that noticed it, or "", as they become known."""
    waiting = []
    for number, mutant in enumerate(mutants):
        killer = outcomes.find(mutant)
        if killer is None or options.again:
            path = mutant.mutation.module_path.relative_to(folder / "copy")
            waiting.append((number, placed(mutant.mutation, path), mutant.tests, mutant.seconds))
        else:
            yield mutant, killer
    if not waiting:
        return
    context = get_context("fork")
    copies = context.SimpleQueue()
    for number in range(options.jobs):
        copy = folder / f"copy-{number}"
        synchronize(copy, folder / "copy", names)  # not of the tree, which may be worked in
        copies.put(copy)
    with context.Pool(options.jobs, start_worker, (copies,)) as pool:
        for number, killer in pool.imap_unordered(notice, waiting):
            mutant = mutants[number]
            outcomes.add(mutant, killer)
            yield mutant, killer


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("rooms", nargs="*", help="default: all", metavar="ROOM")
    parser.add_argument("--sample", type=int, default=30, help="how many faults per room (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where copies and what was found out are kept"
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=120,
        help="of tests for one fault, as they took without it; what none of them noticed has survived (default: 120)",
    )
    parser.add_argument(
        "--tests", action="append", help="a folder or file of tests (default: tests/unit and tests/plugin)"
    )
    parser.add_argument("--again", action="store_true", help="try also those whose outcome is known")
    parser.add_argument("--list", action="store_true", help="only show the sample")
    parser.add_argument("--verbose", action="store_true", help="name the test that failed")
    options = parser.parse_args()
    rooms = options.rooms or ROOMS
    if unknown := set(rooms) - set(ROOMS):
        parser.error(f"no such room: {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    folder = options.folder.resolve()
    copy = folder / "copy"
    names = project_files()
    synchronize(copy, ROOT, names)
    drawn = {room: sample(files_of(copy, room), options.sample, f"{options.seed} {room}") for room in rooms}
    if options.list:
        for mutations, _ in drawn.values():
            for mutation in mutations:
                print(
                    mutation.module_path.relative_to(copy),
                    mutation.start_pos[0],
                    *as_lines(mutation),
                    sep="\n    ",
                )
        return False
    os.environ["PYTHONPATH"] = str(copy)
    reach = Reach(copy, folder)
    reach.measure(options.tests or ["tests/unit", "tests/plugin"])
    listed = {
        match.group("file", "old", "new") for match in LISTED.finditer(SURVIVORS.read_text(encoding="utf-8"))
    }
    outcomes = Outcomes(folder / "tried.json")
    table = {
        room: {"faults": total, "sampled": len(mutations), "killed": 0, "survived": 0, "equivalent": 0}
        for room, (mutations, total) in drawn.items()
    }
    mutants = []
    for room, (mutations, _) in drawn.items():
        for mutation in mutations:
            mutant = Mutant(mutation, copy, room, reach, outcomes, options.seconds)
            if mutant.lines in listed:
                table[room]["equivalent"] += 1
            else:
                mutants.append(mutant)
    survived = []
    for done, (mutant, killer) in enumerate(try_all(mutants, options, folder, names, outcomes), 1):
        became = "killed" if killer else "survived"
        table[mutant.room][became] += 1
        survived += [] if killer else [mutant]
        print(
            f"{done:>4} of {len(mutants)}  {became:8}  {mutant.shown}: {len(mutant.tests)} tests", flush=True
        )
        if options.verbose and killer:
            print(f"    {killer}")
    if survived:
        print("\nSurvived:", *(f"- {mutant.shown}: " for mutant in survived), sep="\n")
    return show(table)


def show(table):
    """Print the counts of each room; whether one has too few killed."""
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
