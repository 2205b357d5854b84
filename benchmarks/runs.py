"""Reading stored runs: TREC runs through our reader and its peers', side by side in one run, and runs as JSON.

    python benchmarks/runs.py [--rows 1000000] [--rounds 3] [--large]

Each reading is a process of its own, by turns; seconds are the processor's. Ours gives rankings in trec_eval's order,
checked for duplicates; pytrec_eval gives dictionaries of scores, ir_measures one tuple a row, ranx arrays. `--large`
reads 10 million rows, as a TREC run and as JSON, and holds them against the goal for memory. The exit status is 1
where a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_241
DEPTH = 1000
LARGE = 10_000_000
GOAL_MB = 2000.0
PEERS = ("pytrec_eval", "ir_measures", "ranx")


def make(path: Path, rows: int) -> None:
    """Write a run as an engine does: best first, over a corpus of the size of MS MARCO's."""
    rng = random.Random(SEED)
    with path.open("w", encoding="ascii") as file:
        for query in range(rows // DEPTH):
            first, step = rng.randrange(8_800_000), 2 * rng.randrange(4_000_000) + 1
            for rank in range(DEPTH):
                doc = (first + rank * step) % 8_800_000
                file.write(f"{query + 100_000} Q0 {doc} {rank + 1} {30 - rank * 0.013:.6f} bm25\n")


def read(reader: str, path: str) -> dict[str, float]:
    """Return the seconds of reading a file, imports not counted, and the process's peak in MB."""
    import resource

    if reader == "ours":
        from pytest_irmetrics.run import Run

        start = time.process_time()
        Run.load(path)
    elif reader == "pytrec_eval":
        import pytrec_eval

        start = time.process_time()
        with Path(path).open(encoding="ascii") as file:
            pytrec_eval.parse_run(file)
    elif reader == "ir_measures":
        import ir_measures

        start = time.process_time()
        list(ir_measures.read_trec_run(path))
    else:
        import ranx

        start = time.process_time()
        ranx.Run.from_file(path, kind="trec")
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return {"seconds": seconds, "peak": peak}


def run_isolated(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help=f"lines of the TREC run, {DEPTH} a query")
    parser.add_argument("--rounds", type=int, default=3, help="processes for each reader")
    parser.add_argument("--peers", default=",".join(PEERS), help="with commas between")
    parser.add_argument("--large", action="store_true", help=f"also {LARGE:,} rows, by ours alone")
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=2, metavar=("FILE", "ROWS"), help=argparse.SUPPRESS)
    parser.add_argument("--save", nargs=2, metavar=("FROM", "TO"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(json.dumps(read(*options.read)))
        return 0
    if options.make:
        make(Path(options.make[0]), int(options.make[1]))
        return 0
    if options.save:
        from pytest_irmetrics.run import Run

        Run.load(options.save[0]).save(options.save[1])
        return 0
    met = True
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "run.trec")
        run_isolated("--make", path, str(options.rows))
        readers = ["ours", *filter(None, options.peers.split(","))]
        found = {reader: [] for reader in readers}
        for _ in range(options.rounds):
            for reader in readers:
                found[reader].append(json.loads(run_isolated("--read", reader, path)))
        print(f"a TREC run of {options.rows:,} rows, {Path(path).stat().st_size / 1e6:.0f} MB")
        for reader in readers:
            seconds = statistics.median(one["seconds"] for one in found[reader])
            peak = max(one["peak"] for one in found[reader])
            ratio = statistics.median(
                one["seconds"] / ours["seconds"]
                for one, ours in zip(found[reader], found["ours"], strict=True)
            )
            print(f"{reader:>12} {seconds:>7.2f} s {peak:>6.0f} MB   {ratio:.1f} times as long as ours")
        if options.large:
            run_isolated("--make", path, str(LARGE))
            run_isolated("--save", path, path + ".json")
            print(f"{LARGE:,} rows, the peak of reading them held against {GOAL_MB:.0f} MB")
            for name in (path, path + ".json"):
                one = json.loads(run_isolated("--read", "ours", name))
                met = met and one["peak"] <= GOAL_MB
                verdict = "met" if one["peak"] <= GOAL_MB else "MISSED"
                size = Path(name).stat().st_size / 1e6
                print(
                    f"{Path(name).suffix[1:]:>12} {one['seconds']:>7.2f} s {one['peak']:>6.0f} MB of a file of {size:.0f} MB: {verdict}"
                )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
