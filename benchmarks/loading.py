"""Reading speed: golden sets through our reader and through PyYAML's CSafeLoader, side by side in one run.

    python benchmarks/loading.py [--sizes 100,10000] [--rounds 5]

Each reading is a process of its own, by turns. Ours gives a checked GoldenSet, every query with its place; CSafeLoader
gives plain dictionaries and lists, nothing checked. `events` is the C parser's share alone, below which a reader that
is built on it cannot come. Seconds of the processor, and MB at the peak of our process; the goals are ours: 1 s at 10,000
queries, 10 s at 100,000, and at most 250 MB. The exit status is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_241
SIZES = (100, 10_000, 100_000)
GOALS = {10_000: 1.0, 100_000: 10.0}
"""Queries → at most so many seconds of the processor."""
MOST_MB = 250
READERS = ("ours", "csafe", "events")
WORDS = (
    "account address billing cancel card change contract country data date delete delivery do email export from how "
    "I in invoice is language late limit login lost my name not old open order password pay phone price refund reset "
    "return send size stock that the to update where why with"
)


def golden_set(queries: int) -> str:
    """Write a golden set such as people keep: short texts, one to three documents, one query in five with a tag."""
    rng = random.Random(SEED)
    words = WORDS.split()
    lines = [
        "relevance_level: 1",
        "thresholds:",
        "  ndcg@10: 0.70",
        "  mrr: {min: 0.80, max_drop: 0.01}",
        "queries:",
    ]
    for number in range(queries):
        documents = [f"doc-{rng.randrange(100_000)}-{place}" for place in range(rng.choice((1, 1, 2, 3)))]
        lines.append(f"  - id: q{number}")
        lines.append(f"    query: {' '.join(rng.choices(words, k=rng.randint(3, 8)))}")
        if rng.random() < 0.5:
            lines.append(f"    relevant: [{', '.join(documents)}]")
        else:
            lines.append(
                "    relevant: {" + ", ".join(f"{doc}: {rng.randint(1, 3)}" for doc in documents) + "}"
            )
        if rng.random() < 0.2:
            lines.append(f"    tags: [{rng.choice(('billing', 'orders', 'account'))}]")
    return "\n".join(lines) + "\n"


def read(reader: str, path: str, times: int) -> tuple[float, float]:
    """Return the fewest seconds of reading a file, imports not counted, and MB at the process's peak, all counted."""
    import yaml

    from pytest_irmetrics.golden import (
        GoldenSet,
        format_yaml,  # noqa: F401 - loaded before the clock runs
    )

    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        if reader == "ours":
            GoldenSet.load(path)
        elif reader == "csafe":
            yaml.load(Path(path).read_bytes(), Loader=yaml.CSafeLoader)
        else:
            parser = yaml.CBaseLoader(Path(path).read_bytes())
            while parser.get_event() is not None:
                pass
        best = min(best, time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return best, peak / (1e6 if sys.platform == "darwin" else 1e3)


def in_own_process(reader: str, path: str, times: int) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--read", reader, path, str(times)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), help="numbers of queries, with commas between"
    )
    parser.add_argument("--rounds", type=int, default=5, help="processes for each reader and size")
    parser.add_argument("--read", nargs=3, metavar=("READER", "FILE", "TIMES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        reader, path, times = options.read
        print(*read(reader, path, int(times)))
        return 0
    met = True
    print(
        f"{'queries':>8} {'MB':>6} "
        + "".join(f"{reader:>11}" for reader in READERS)
        + "   times as fast as csafe; our peak"
    )
    with tempfile.TemporaryDirectory() as folder:
        for queries in map(int, options.sizes.split(",")):
            path = Path(folder) / f"{queries}.yaml"
            path.write_text(golden_set(queries), encoding="utf-8")
            seconds: dict[str, list[float]] = {reader: [] for reader in READERS}
            peaks: dict[str, float] = {}
            for _ in range(options.rounds):
                for reader in READERS:
                    taken, peaks[reader] = in_own_process(reader, str(path), 20 if queries < 1000 else 1)
                    seconds[reader].append(taken)
            medians = {reader: statistics.median(times) for reader, times in seconds.items()}
            # Of the rounds' own ratios: whatever else this machine does slows both readers of one round.
            ratio = statistics.median(
                csafe / ours for csafe, ours in zip(seconds["csafe"], seconds["ours"], strict=True)
            )
            verdict = ""
            if queries in GOALS:
                kept = medians["ours"] <= GOALS[queries] and peaks["ours"] <= MOST_MB
                met = met and kept
                verdict = f"   at most {GOALS[queries]:g} s and {MOST_MB} MB: {'met' if kept else 'MISSED'}"
            size = path.stat().st_size / 1e6
            times = "".join(f"{medians[reader] * 1e3:>8.1f} ms" for reader in READERS)
            print(f"{queries:>8} {size:>6.2f} {times}   {ratio:.1f}; {peaks['ours']:.0f} MB{verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
