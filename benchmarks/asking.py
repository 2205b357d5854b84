"""Asking speed: many queries at once against one by one, and over processes and Dask workers, in one run.

    python benchmarks/asking.py [--queries 400] [--concurrency 32] [--rounds 3]

First a retriever that waits, as a client of a search server does: one by one, in threads and on asyncio. Then one that
computes, as an index in this process does: here, over processes and over a Dask cluster of one and two workers. Every
way has to give the same evaluation to the byte, or the exit status is 1, as it is where a goal is missed. How much
faster two workers are than one depends on the cores, of which some must be free; Dask's rows need `distributed`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from pytest_irmetrics import GoldenSet, evaluate

SLEEP = 0.05
GOAL = 25  # times as fast as one by one, with 32 queries in flight
METRICS = ("mrr", "map", "ndcg@10", "precision@10", "recall@10")
HASHES = 10_000  # of one query: some ten milliseconds of computing


def documents(query: str, k: int) -> list[str]:
    start = int(hashlib.sha256(query.encode()).hexdigest(), 16)
    return [f"doc-{(start + 7 * rank) % 101}" for rank in range(k)]


def wait(query: str, k: int) -> list[str]:
    time.sleep(SLEEP)
    return documents(query, k)


async def await_(query: str, k: int) -> list[str]:
    await asyncio.sleep(SLEEP)
    return documents(query, k)


def compute(query: str, k: int) -> list[str]:
    digest = query.encode()
    for _ in range(HASHES):
        digest = hashlib.sha256(digest + query.encode()).digest()
    return documents(query, k)


def golden_set(queries: int) -> GoldenSet:
    texts = {f"q{number}": f"how do I {number}" for number in range(queries)}
    return GoldenSet.from_judgments(
        {query: {f"doc-{number % 101}": 1 + number % 3} for number, query in enumerate(texts)}, texts=texts
    )


def timed(golden: GoldenSet, retriever, **options):
    """Seconds, and all that a report or a baseline would be made of."""
    start = time.perf_counter()
    evaluation = evaluate(golden, retriever, METRICS, **options)
    seconds = time.perf_counter() - start
    if evaluation.errors:
        raise SystemExit(f"a query failed: {next(iter(evaluation.errors.values()))}")
    scores = {name: dict(evaluation.scores[name]) for name in METRICS}
    return seconds, (evaluation.run.dumps(), repr(scores), repr([evaluation[name] for name in METRICS]))


class Table:
    def __init__(self, golden: GoldenSet, first: str) -> None:
        self.golden, self.first = golden, first
        self.rows: dict[str, list[float]] = {}
        self.results: set[tuple[str, str, str]] = set()

    def add(self, name: str, retriever, **options) -> None:
        seconds, result = timed(self.golden, retriever, **options)
        self.rows.setdefault(name, []).append(seconds)
        self.results.add(result)

    def ratio(self, name: str) -> float:
        """How many times as fast as the first row: the median of the rounds' own ratios."""
        return statistics.median(
            slow / fast for slow, fast in zip(self.rows[self.first], self.rows[name], strict=True)
        )

    def show(self, goals: dict[str, float]) -> bool:
        """Print the rows; return whether all goals were met and all evaluations were the same."""
        met = True
        queries = len(self.golden.queries)
        print(f"  {'':28}{'seconds':>9}{'queries/s':>11}   times as fast")
        for name, times in self.rows.items():
            seconds, ratio, goal = statistics.median(times), self.ratio(name), goals.get(name)
            verdict = "" if goal is None else f", goal {goal:g}: {'met' if ratio >= goal else 'MISSED'}"
            met = met and (goal is None or ratio >= goal)
            print(f"  {name:28}{seconds:9.2f}{queries / seconds:11.0f}   {ratio:.1f}{verdict}")
        same = len(self.results) == 1
        print(f"  the evaluations are {'the same to the byte' if same else 'NOT the same'}")
        return met and same


def waiting(golden: GoldenSet, concurrency: int, rounds: int) -> bool:
    print(
        f"a retriever that waits {SLEEP * 1000:g} ms, {len(golden.queries)} queries, {concurrency} in flight"
    )
    table = Table(golden, "one by one")
    goals = {}
    for _ in range(rounds):
        table.add("one by one", wait)
        for name, retriever, options in (
            ("threads", wait, {}),
            ("threads, ir_timeout", wait, {"timeout": 30}),
            ("asyncio", await_, {}),
            ("asyncio, ir_timeout", await_, {"timeout": 30}),
        ):
            table.add(name, retriever, concurrency=concurrency, **options)
            if concurrency == 32 and len(golden.queries) == 400:
                goals[name] = GOAL
    return table.show(goals)


def computing(golden: GoldenSet, rounds: int) -> bool:
    print(f"a retriever that computes, {len(golden.queries)} queries, {os.cpu_count()} cores")
    table = Table(golden, "one by one, here")
    try:
        import distributed
    except ImportError:
        distributed = None
        print("  (no Dask here: pip install distributed)")
    warm_up = golden_set(40)
    for _ in range(rounds):
        table.add("one by one, here", compute)
        for workers in (1, 2):
            with ProcessPoolExecutor(workers) as executor:
                timed(warm_up, compute, executor=executor)
                table.add(_named(workers, "process"), compute, executor=executor)
        for workers in (1, 2) if distributed is not None else ():
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=50,
            )
            with cluster, distributed.Client(cluster) as client:
                timed(warm_up, compute, executor=client.get_executor())
                table.add(_named(workers, "Dask worker"), compute, executor=client.get_executor())
    return table.show({})


def _named(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 'es' if what.endswith('s') else 's'}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    golden = golden_set(options.queries)
    met = waiting(golden, options.concurrency, options.rounds)
    print()
    return 0 if computing(golden, options.rounds) and met else 1


if __name__ == "__main__":
    sys.exit(main())
