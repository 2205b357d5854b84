"""How long two runs take to evaluate and compare, six metrics: evaluate(), evaluate(), compare() with p and intervals.

    python benchmarks/comparing.py [--sizes 1000,10000,100000] [--rounds 3]

Three kinds of change: `few` moves one query in fifty, `many` every third, and `all` each of them by a score of its own,
which is what p-values take longest for. Seconds of the processor, the fastest of the rounds; the goals are 0.3 s at 10,000
queries and 3 s at 100,000 where every third moved. The exit status is 1 where one is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from pytest_irmetrics import GoldenSet, Run, compare, evaluate

METRICS = ["mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10"]
DEPTH = 10
GOALS = {10_000: 0.3, 100_000: 3.0}
KINDS = {"few": 1 / 50, "many": 1 / 3, "all": 1.0}


def runs(queries: int, share: float) -> tuple[GoldenSet, Run, Run]:
    generator = random.Random(f"{queries} {share}")
    judgments, before, now = {}, {}, {}
    for number in range(queries):
        name = f"q{number}"
        before[name] = [f"d{number}-{rank}" for rank in range(DEPTH)]
        judgments[name] = {
            doc: generator.randint(1, 3)
            for doc in generator.sample(before[name], generator.choice((1, 1, 2, 4)))
        }
        moved = generator.random() < share
        now[name] = generator.sample(before[name], DEPTH) if moved else before[name]
    return GoldenSet.from_judgments(judgments, name="benchmark"), Run(before), Run(now)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of queries")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    missed = False
    for size in map(int, options.sizes.split(",")):
        for kind, share in KINDS.items():
            golden, before, now = runs(size, share)
            taken = []
            for _ in range(options.rounds):
                start = time.process_time()
                comparison = compare(
                    evaluate(golden, now, metrics=METRICS), evaluate(golden, before, metrics=METRICS)
                )
                for metric in METRICS:
                    change = comparison[metric]
                    _ = change.delta, change.p_value, change.interval, change.detectable
                taken.append(time.process_time() - start)
            goal = GOALS.get(size) if kind == "many" else None
            missed |= goal is not None and min(taken) > goal
            verdict = f"   at most {goal} s: {'met' if min(taken) <= goal else 'MISSED'}" if goal else ""
            print(f"{size:>9,} queries, {kind:4} changed: {min(taken):6.2f} s{verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
