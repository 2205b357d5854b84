"""Try the faults of faults.jsonl that still stand in the code: python -m tests.mutants.listed [--room ROOM] [--jobs N] TEST …

Each was drawn at random, and the tests noticed it. One is put into a copy of the files at a time, and
pytest runs the tests given (default: all but those of engines, pages and browsers) until one fails. Ends with 1 where a fault survives.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.jsonl")
TESTS = "unit python golden faults scenarios cli retrievers reports plugin"


def place(fault, lines):
    """The line at which a fault's old lines stand, told from others like them by the lines around; None where they are gone."""
    old = fault["old"]
    found = [i for i in range(len(lines) - len(old) + 1) if lines[i : i + len(old)] == old]

    def alike(i):
        around = zip(
            [*fault["before"], *fault["after"]],
            [*lines[max(i - 2, 0) : i], *lines[i + len(old) :][:2]],
            strict=False,
        )
        return sum(one == other for one, other in around), -abs(i + 1 - fault["line"])

    return (
        max(found, key=alike, default=None)
        if len(found) == 1 or any(alike(i)[0] >= 2 for i in found)
        else None
    )


def files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def outcome(fault, folder, tests):
    """ "gone", "survived", or the test that noticed the fault."""
    path = folder / fault["file"]
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    at = place(fault, lines)
    if at is None:
        return "gone"
    path.write_text(
        "\n".join([*lines[:at], *fault["new"], *lines[at + len(fault["old"]) :], ""]), encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
    except subprocess.TimeoutExpired:
        return "noticed: does not end"
    finally:
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    if done.returncode == 0:
        return "survived"
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return f"noticed: {failed[-1] if failed else 'pytest itself'}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--room", action="append", help="only the faults of this room; repeatable")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    faults = [json.loads(line) for line in FAULTS.read_text(encoding="utf-8").splitlines()]
    faults = [fault for fault in faults if not options.room or fault["room"] in options.room]
    tests = options.tests or [f"tests/{folder}" for folder in TESTS.split()]
    counts = Counter()
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        copies = queue.SimpleQueue()
        for number in range(options.jobs):
            for name in files():
                target = Path(work, str(number), name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)
            copies.put(Path(work, str(number)))

        def one(fault):
            folder = copies.get()
            try:
                return fault, outcome(fault, folder, tests)
            finally:
                copies.put(folder)

        for fault, became in pool.map(one, faults):
            counts[fault["room"], became.partition(":")[0]] += 1
            shown = f"{fault['file']}:{fault['line']} {' '.join(fault['old']).strip()} -> {' '.join(fault['new']).strip()}"
            print(f"{became}  {shown}", flush=True)
    for (room, became), count in sorted(counts.items()):
        print(f"{room:12} {became:9} {count}")
    return any(became == "survived" for _, became in counts)


if __name__ == "__main__":
    sys.exit(main())
