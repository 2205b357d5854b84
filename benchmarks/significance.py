"""How long the statistics of a large gate take: 8 metrics, each over the whole set and 4 slices, 10,000 queries each."""

from __future__ import annotations

import math
import random
import time

from pytest_irmetrics.comparison.significance import detectable_drop, holm, interval, sign_flip_p

METRICS = 8
SLICES = 5
QUERIES = 10_000


def _ndcg_like(generator: random.Random) -> float:
    """One relevant document that moved by some ranks; two queries of three stay as they are."""
    if generator.random() < 2 / 3:
        return 0.0
    gains = [1 / math.log2(rank + 1) for rank in range(1, 11)]
    return generator.choice(gains) - generator.choice(gains)


def _many_grades(generator: random.Random) -> float:
    """Nearly every query has a difference of its own."""
    return generator.gauss(-0.001, 0.2)


def _rank_of_first(generator: random.Random) -> float:
    return 1 / generator.randint(1, 10) - 1 / generator.randint(1, 10)


def _found_or_not(generator: random.Random) -> float:
    return float(generator.choice([0, 0, 0, 1, -1]))


def main() -> None:
    print(f"{METRICS} metrics x {SLICES} slices x {QUERIES:,} queries: p, interval and detectable drop")
    for kind in (_ndcg_like, _rank_of_first, _found_or_not, _many_grades):
        generator = random.Random(7)
        columns = [[kind(generator) for _ in range(QUERIES)] for _ in range(METRICS * SLICES)]
        start = time.perf_counter()
        p_values = [sign_flip_p(column) for column in columns]
        after_p = time.perf_counter()
        for column in columns:
            interval(column)
            detectable_drop(column)
        holm(p_values)
        end = time.perf_counter()
        print(f"  {kind.__name__[1:]:14} {end - start:6.3f} s, of which p {after_p - start:6.3f} s")


if __name__ == "__main__":
    main()
