"""The whole plugin at size: a real pytest process that asks, scores and compares with a stored baseline.

    python benchmarks/plugin.py [--sizes 1000x10,100000x100] [--rounds 1] [--changed 1] [--replay]

For each size, queries x results, a project is made: a golden set, a retriever that splits prepared lines into ids of
their own (as an engine's client does, and whose time is measured and taken off), a baseline in which one query in fifty
differs, or the share that `--changed` gives. It is run with `pytest --ir-baseline`, the default metrics and `ir_depth`
at the number of results. With `--replay` a stored run stands in for the retriever.

What counts for the goal is what the plugin takes for each query beside the retriever: asking and reading the answers,
scoring, comparing, gating and reporting, in seconds of the processor. Loading the two files is told apart; it is in the
total, which is what the clock says of the whole process, pytest's own start included. The rest is what no part counts,
that start for the most part: where it grows with the size, a part is missing here. The peak is that of the whole
process, with the retriever's own data in it. The exit status is 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_241
SIZES = ("1000x10", "10000x100", "100000x100")
GOAL_SIZE = "100000x100"
GOAL_MICROSECONDS = 25.0  # a query, beside the retriever
GOAL_MB = 1500.0
DOCUMENTS = 1_000_000
CHANGED = 0.02

CONFTEST = '''
import functools, json, pathlib, resource, sys, time
import pytest

HERE = pathlib.Path(__file__).parent
spent = {}

def timed(owner, name, what):
    """Add up the time inside a function under a name; what is timed inside it counts there alone."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        inside, start = sum(spent.values()), time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            own = time.process_time() - start - (sum(spent.values()) - inside)
            spent[what] = spent.get(what, 0.0) + own

    setattr(owner, name, staticmethod(wrapper) if name == "load" else wrapper)

@pytest.fixture(scope="session")
def retriever():
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.plugin import baselines, fixture, recorder

    timed(fixture, "retrieve", "asking")
    timed(baselines, "read_baseline", "baseline")
    timed(Evaluation, "column", "scoring")
    timed(fixture.IRMetrics, "_gate", "comparing")
    timed(fixture, "item_report", "reporting")
    timed(fixture.IRMetrics, "send_report", "reporting")
    timed(recorder.Recorder, "add", "reporting")
    timed(recorder.Recorder, "finish", "reporting")
    timed(recorder.Recorder, "print_summary", "reporting")
    if (HERE / "run.json").exists():
        from pytest_irmetrics import Run

        start = time.process_time()
        run = Run.load(HERE / "run.json")
        spent["retriever"] = time.process_time() - start
        return run
    lines = (HERE / "answers.txt").read_text("ascii").splitlines()
    answers = {f"what is asked as number {number}": line for number, line in enumerate(lines)}
    spent["retriever"] = 0.0

    def search(query, k):
        start = time.perf_counter()  # asking the processor's clock takes longer than what is measured here may
        ids = answers[query].split()
        del ids[k:]
        spent["retriever"] += time.perf_counter() - start
        return ids

    return search

def pytest_configure(config):
    from pytest_irmetrics.golden import GoldenSet

    timed(GoldenSet, "load", "golden set")

def pytest_unconfigure(config):
    spent["rest"] = time.process_time() - sum(spent.values())
    spent["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    (HERE / "spent.json").write_text(json.dumps(spent))
'''

TEST = """
import pytest

@pytest.mark.ir_golden("golden.yaml")
@pytest.mark.ir_threshold("ndcg@10", min=0.1, max_drop=0.01)
@pytest.mark.ir_threshold("mrr", min=0.1)
def test_search(irmetrics):
    irmetrics.check()
"""


def make(folder: Path, queries: int, depth: int, changed: float, *, replay: bool) -> None:
    """Write the project: files alone, so that nothing of this process is in what is measured."""
    from pytest_irmetrics.golden import GoldenSet
    from pytest_irmetrics.run import Answer, Run

    rng = random.Random(f"{SEED} {queries} {depth}")
    tags = ("billing", "orders", "account")
    golden = ["queries:"]
    with (folder / "answers.txt").open("w", encoding="ascii") as answers:
        for number in range(queries):
            first, step = rng.randrange(DOCUMENTS), 2 * rng.randrange(DOCUMENTS // 4) + 123_457
            ids = [f"doc-{(first + place * step) % DOCUMENTS}" for place in range(depth)]
            answers.write(" ".join(ids := list(dict.fromkeys(ids))) + "\n")
            # As in metrics.py: each further document is a quarter as likely; of them 85 % are found, near the top.
            wanted = {
                ids[int(len(ids) ** rng.random()) - 1]
                if rng.random() < 0.85
                else f"elsewhere-{number}-{place}"
                for place in range(rng.choices((1, 2, 3), (12, 3, 1))[0])
            }
            golden.append(f"  - id: q{number}")
            golden.append(f"    query: what is asked as number {number}")
            golden.append(
                "    relevant: {" + ", ".join(f"{doc}: {rng.randint(1, 3)}" for doc in sorted(wanted)) + "}"
            )
            if rng.random() < 0.2:
                golden.append(f"    tags: [{rng.choice(tags)}]")
    (folder / "golden.yaml").write_text("\n".join(golden) + "\n", encoding="ascii")
    now, stored = {}, {}
    read = GoldenSet.load(folder / "golden.yaml")
    with (folder / "answers.txt").open(encoding="ascii") as answers:
        for line, query in zip(answers, read.queries.values(), strict=True):
            ids = line.split()
            if replay:
                now[query.id] = Answer((tuple(ids),), query.text, query.params)
            if rng.random() < changed:
                place = rng.randrange(min(len(ids) - 1, 10))
                ids[place : place + 2] = ids[place + 1], ids[place]
                ids[-1] = f"gone-{len(stored)}"
            stored[query.id] = Answer(
                (tuple(ids),), query.text, query.params, query.judgments, query.weight, query.tags
            )
    baseline = folder / "ir_baselines" / "test_search" / "test_search[golden].json"
    baseline.parent.mkdir(parents=True)
    Run.of(stored, depth=depth, golden_set="golden.yaml", relevance_level=1).save(baseline)
    if replay:
        Run.of(now, depth=depth, golden_set="golden.yaml").save(folder / "run.json")
    (folder / "conftest.py").write_text(CONFTEST, encoding="ascii")
    (folder / "test_search.py").write_text(TEST, encoding="ascii")
    (folder / "pytest.ini").write_text(f"[pytest]\nir_depth = {depth}\n", encoding="ascii")


def run(folder: Path, *options: str) -> dict[str, float]:
    """Run pytest over the project; give seconds by part, the total, and the peak in MB."""
    start = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "pytest_irmetrics.plugin",
            *options,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    total = time.perf_counter() - start
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    spent = json.loads((folder / "spent.json").read_text(encoding="ascii"))
    return {**spent, "total": total}


PARTS = ("asking", "scoring", "comparing", "reporting")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default=",".join(SIZES), help="queries x results, with commas between")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each size; the fastest is shown")
    parser.add_argument(
        "--changed",
        type=float,
        default=CHANGED,
        help="share of the queries that the baseline answers otherwise; the goals are those of the default",
    )
    parser.add_argument("--replay", action="store_true", help="let a stored run stand in for the retriever")
    parser.add_argument("--make", nargs=3, metavar=("FOLDER", "QUERIES", "DEPTH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        folder, queries, depth = options.make
        sys.path.insert(0, str(ROOT))
        make(Path(folder), int(queries), int(depth), options.changed, replay=options.replay)
        return 0
    met = True
    columns = ("golden set", "baseline", "retriever", *PARTS, "rest", "total")
    print(f"{'queries x k':>12}" + "".join(f"{name:>11}" for name in columns) + "    peak")
    for size in options.sizes.split(","):
        queries, depth = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # In a process of its own: a child's peak begins with what its parent holds.
            size_options = ["--changed", str(options.changed), "--make", name, str(queries), str(depth)]
            size_options += ["--replay"] * options.replay
            subprocess.run([sys.executable, __file__, *size_options], check=True)
            runs = [run(folder, "--ir-baseline") for _ in range(options.rounds)]
        best = min(runs, key=lambda spent: sum(spent[part] for part in PARTS))
        peak = max(spent["peak"] for spent in runs)
        print(f"{size:>12}" + "".join(f"{best[name]:>9.2f} s" for name in columns) + f" {peak:>5.0f} MB")
        each = {part: best[part] / queries * 1e6 for part in PARTS}
        beside = sum(each.values())
        goals = size == GOAL_SIZE and options.changed == CHANGED
        verdict = f" of {GOAL_MICROSECONDS:.0f}: {'met' if beside <= GOAL_MICROSECONDS else 'MISSED'}"
        parts = ", ".join(f"{part} {value:.1f}" for part, value in each.items())
        share = beside / (beside + best["retriever"] / queries * 1e6)
        print(
            f"{'':>12} {beside:.1f} µs a query{verdict if goals else ''} ({parts}); with a retriever of 1 ms, {beside / (1000 + beside):.1%}; with this one {share:.0%}"
        )
        if goals:
            print(f"{'':>12} peak {peak:.0f} MB of {GOAL_MB:.0f}: {'met' if peak <= GOAL_MB else 'MISSED'}")
            met = met and beside <= GOAL_MICROSECONDS and peak <= GOAL_MB
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
