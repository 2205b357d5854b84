"""What a gating pytest process costs at size: green, red, and an update after the golden set grew.

    python benchmarks/plugin.py [--sizes 1000x10,10000x100,100000x100] [--rounds 3]

For each size, queries x results, a project is made: a golden set, a retriever that splits prepared lines into ids, and a
stored baseline. Five processes are measured, each from pytest's start to its end, in seconds of the processor and in MB at
the peak: the same test with the plugin off, whose retriever is asked by a loop (`plain`); a run equal to the baseline
(`green`); one in which a query in ten lost what it found (`red`); `--ir-baseline-update` with a hundredth more queries
(`update`); and one with thresholds alone (`min`). Goals: red and update at most 1.6 times green; green at
100000x100 at most 10 s and 800 MB. The exit status is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_241
DOCUMENTS = 1_000_000
MOST_TIMES_GREEN = 1.6
GOALS = {"100000x100": (10.0, 800.0)}
"""Size → seconds and MB of the green run."""

CONFTEST = """
import os, pathlib
import pytest

lines = pathlib.Path(__file__).with_name("answers.txt").read_text("ascii").splitlines()
answers = {f"what is asked as number {number}": line for number, line in enumerate(lines)}
lost = {f"what is asked as number {number}" for number in range(0, len(lines), 10)} if os.environ.get("RED") else ()

def search(query, k):
    return ["nothing"] if query in lost else answers[query].split()[:k]

@pytest.fixture(scope="session")
def retriever():
    return search
"""
TEST = """
import pytest

@pytest.mark.ir_golden("golden.yaml")
@pytest.mark.ir_threshold("ndcg@10", min=0.1, max_drop=0.01)
@pytest.mark.ir_threshold("mrr", min=0.1)
def test_search(irmetrics):
    irmetrics.check()
"""
PLAIN = """
import conftest

def test_search():
    assert [conftest.search(query, 1000) for query in conftest.answers]
"""


def make(folder: Path, queries: int, depth: int) -> None:
    """Write golden set, answers and tests; the golden set's last hundredth stands apart, for the update."""
    rng = random.Random(f"{SEED} {queries} {depth}")
    golden, answers = [], []
    for number in range(queries):
        first, step = rng.randrange(DOCUMENTS), 2 * rng.randrange(DOCUMENTS // 4) + 123_457
        ids = list(dict.fromkeys(f"doc-{(first + place * step) % DOCUMENTS}" for place in range(depth)))
        answers.append(" ".join(ids) + "\n")
        # Each further relevant document is a quarter as likely; of them 85 % are found, near the top.
        wanted = {
            ids[int(len(ids) ** rng.random()) - 1] if rng.random() < 0.85 else f"elsewhere-{number}-{place}"
            for place in range(rng.choices((1, 2, 3), (12, 3, 1))[0])
        }
        grades = ", ".join(f"{doc}: {rng.randint(1, 3)}" for doc in sorted(wanted))
        golden.append(
            f"  - id: q{number}\n    query: what is asked as number {number}\n    relevant: {{{grades}}}\n"
        )
    head, few = "queries:\n", queries - queries // 100
    (folder / "golden.yaml").write_text(head + "".join(golden[:few]), encoding="ascii")
    (folder / "grown.yaml").write_text(head + "".join(golden), encoding="ascii")
    (folder / "answers.txt").write_text("".join(answers), encoding="ascii")
    (folder / "conftest.py").write_text(CONFTEST, encoding="ascii")
    (folder / "test_search.py").write_text(TEST, encoding="ascii")
    (folder / "test_plain.py").write_text(PLAIN, encoding="ascii")
    (folder / "pytest.ini").write_text(f"[pytest]\nir_depth = {depth}\n", encoding="ascii")


def run(folder: Path, *options: str, status: int = 0, **environment: str) -> tuple[float, float]:
    """Seconds of the processor and MB at the peak of a pytest process that ends with a status."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    outside = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=outside)
        _, ended, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(ended) != status:
        sys.exit((folder / "output.txt").read_text(encoding="utf-8", errors="replace"))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def measure(folder: Path) -> dict[str, tuple[float, float]]:
    """Each kind of run once, in turn, so that a machine that slows down slows all of them."""
    gating = ("-p", "pytest_irmetrics.plugin", "test_search.py")
    baselines = folder / "ir_baselines"
    if not baselines.exists():
        run(folder, *gating, "--ir-baseline-update")
        shutil.copytree(baselines, folder / "kept")
    few = (folder / "golden.yaml").read_bytes()
    taken = {
        "plain": run(folder, "test_plain.py"),
        "min": run(folder, *gating),
        "green": run(folder, *gating, "--ir-baseline"),
        "red": run(folder, *gating, "--ir-baseline", status=1, RED="1"),
    }
    (folder / "golden.yaml").write_bytes((folder / "grown.yaml").read_bytes())
    taken["update"] = run(folder, *gating, "--ir-baseline-update")
    (folder / "golden.yaml").write_bytes(few)
    shutil.rmtree(baselines)
    shutil.copytree(folder / "kept", baselines)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000x10,10000x100,100000x100", help="queries x results")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind; the fastest is shown")
    options = parser.parse_args()
    missed = 0
    for size in options.sizes.split(","):
        with tempfile.TemporaryDirectory() as name:
            make(Path(name), *map(int, size.split("x")))
            rounds = [measure(Path(name)) for _ in range(options.rounds)]
        best = {kind: min(taken[kind] for taken in rounds) for kind in rounds[0]}
        seconds = {kind: used for kind, (used, _) in best.items()}
        print(
            f"{size:>12} "
            + "   ".join(f"{kind} {used:.2f} s {peak:.0f} MB" for kind, (used, peak) in best.items())
        )
        for kind in ("red", "update"):
            times = seconds[kind] / seconds["green"]
            met = times <= MOST_TIMES_GREEN
            missed += not met
            print(
                f"{'':>12} {kind}: {times:.2f} times green, at most {MOST_TIMES_GREEN}: {'met' if met else 'MISSED'}"
            )
        if size in GOALS:
            met = seconds["green"] <= GOALS[size][0] and best["green"][1] <= GOALS[size][1]
            missed += not met
            print(
                f"{'':>12} green: at most {GOALS[size][0]:.0f} s and {GOALS[size][1]:.0f} MB: {'met' if met else 'MISSED'}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
