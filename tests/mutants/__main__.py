"""Faults in the code that the tests should notice: `make mutants`, by cosmic-ray with the operators of operators.py.

    python -m tests.mutants init tests/mutants/cosmic-ray.toml SESSION     every fault there is
    python -m tests.mutants sample SESSION [ROOM …] --size 20 --seed 1     all but so many a room are skipped
    python -m tests.mutants exec tests/mutants/cosmic-ray.toml SESSION     tried, one at a time, in the files as they lie here

Then `cr-report SESSION` and `cr-rate SESSION` say what survived. All but `sample` are cosmic-ray's own commands.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections import defaultdict
from itertools import zip_longest
from pathlib import Path

from cosmic_ray.cli import main as cosmic_ray
from cosmic_ray.tools.filters.filter_app import FilterApp
from cosmic_ray.work_item import WorkerOutcome, WorkResult

from tests.mutants.operators import KINDS, left_out


class Sample(FilterApp):
    """Skips all faults but a sample, in which each kind of fault and each room has its turn."""

    def add_args(self, parser):
        parser.add_argument("--size", type=int, default=20, help="how many faults a room")
        parser.add_argument("--seed", default="1", help="which ones")
        parser.add_argument("rooms", nargs="*", help="default: all", metavar="ROOM")

    def filter(self, work_db, args):
        kinds = {operator: kind for kind, operators in KINDS.items() for operator in operators}
        found, texts, ranges = defaultdict(lambda: defaultdict(list)), {}, {}
        for item in work_db.pending_work_items:
            (mutation,) = item.mutations
            room = Path(mutation.module_path).parts[1].removesuffix(".py")
            path = mutation.module_path
            if path not in ranges:
                texts[path] = Path(path).read_text(encoding="utf-8")
                # ast counts a line's columns in bytes, cosmic-ray in characters: the same where each character is a byte.
                ranges[path] = tuple(left_out(ast.parse(texts[path].encode("ascii", "replace"))))
            kind = kinds.get(mutation.operator_name)
            if kind and (room in args.rooms or not args.rooms) and not within(mutation, ranges[path]):
                line = texts[path].splitlines()[mutation.start_pos[0] - 1]
                found[room][kind].append((digest(args.seed, mutation, line), item.job_id))
        kept = set()
        for by_kind in found.values():
            turns = zip_longest(*map(sorted, by_kind.values()))
            drawn = [job for turn in turns for job in turn if job]
            kept |= {job_id for _, job_id in drawn[: args.size]}
        skipped = WorkResult(output="not in the sample", worker_outcome=WorkerOutcome.SKIPPED)
        work_db.set_multiple_results(
            [item.job_id for item in work_db.pending_work_items if item.job_id not in kept], skipped
        )
        print(f"{len(kept)} faults to try")


def within(mutation, nodes):
    """Whether a fault stands in one of these nodes."""
    return any(
        (node.lineno, node.col_offset) <= mutation.start_pos
        and mutation.end_pos <= (node.end_lineno, node.end_col_offset)
        for node in nodes
        if node is not None
    )


def digest(seed, mutation, line):
    """A place in the draw that a seed and the fault give, whatever else the files hold."""
    drawn = f"{seed} {mutation.module_path} {mutation.operator_name} {line.strip()} {mutation.start_pos[1]}"
    return hashlib.sha256(drawn.encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(Sample().main(sys.argv[2:]) if sys.argv[1:2] == ["sample"] else cosmic_ray())
