"""`--ir-repeat`: false alarms where only noise differs, and the falls that fail all the same."""

from __future__ import annotations

import math
import statistics

from verdict_tables.common import compared, failed, seeded, show

from pytest_irmetrics import GoldenSet

QUERIES = 100
TRIALS = 600
NOMINAL = 0.05


def ranking(rank):
    """A ranking with its one relevant document at this rank."""
    return (*(f"x{place}" for place in range(1, rank)), "d")


BY_RANK = {rank: ranking(rank) for rank in range(1, 11)}
VOLATILE = range(40)


def independent(chance):
    """Each of 40 queries answers otherwise from pass to pass, on its own."""
    return [
        chance.choice((1, 1, 1, 2, 3)) if query in VOLATILE else 1 + query % 3 for query in range(QUERIES)
    ]


def replica(chance):
    """The replica that a pass meets decides how many of 40 queries slip by a rank, and each slips a little on its own."""
    quality = chance.random()
    return [
        1 + (quality + chance.uniform(-0.2, 0.2) > (query + 0.5) / 40) if query in VOLATILE else 1 + query % 3
        for query in range(QUERIES)
    ]


def bad_build(chance):
    """One pass in ten meets an index in which 15 queries are far down; 25 others vary on their own."""
    bad = chance.random() < 0.1
    return [
        (4 if bad else 1) if query < 15 else chance.choice((1, 1, 2)) if query in VOLATILE else 1 + query % 3
        for query in range(QUERIES)
    ]


def by_query_alone(comparison):
    """The standard deviation of the change if the queries of a pass were independent, as it once was taken to be."""
    total = 0.0
    for side in (comparison.now, comparison.baseline):
        for scores in side.repeats("mrr").values():
            total += statistics.variance(scores) / len(scores) / QUERIES**2 if len(scores) > 1 else 0.0
    return math.sqrt(total)


def noise(trials):
    golden = GoldenSet.from_judgments({f"q{query}": {"d": 1} for query in range(QUERIES)})
    rows, missed = [], []
    for kind in (independent, replica, bad_build):
        for asked in (2, 3, 5, 10):
            chance = seeded("noise", kind.__name__, asked)
            count = int(TRIALS * trials)
            alarms = alone = seen = surely = 0
            runs = []
            for _ in range(count):
                sides = []
                for _ in range(2):
                    passes = [kind(chance) for _ in range(asked)]
                    sides.append(
                        {f"q{q}": tuple(BY_RANK[each[q]] for each in passes) for q in range(QUERIES)}
                    )
                comparison = compared(golden, *sides, metrics=["mrr"])
                runs.append(comparison)
                alarms += failed(comparison, ["mrr"], 0.0)
                # A limit below 0 stands for a search that fell by as much: what fails is Δ < −limit − margin.
                seen += failed(comparison, ["mrr"], -0.03)
                spread = by_query_alone(comparison)
                alone += -comparison["mrr"].delta > 1.645 * spread + 1e-9
            deviation = statistics.stdev(comparison["mrr"].delta for comparison in runs)
            surely = sum(failed(comparison, ["mrr"], -3.6 * deviation) for comparison in runs)
            margins = [found.margin if (found := run.run_noise("mrr")) else 0.0 for run in runs]
            rows.append(
                [
                    kind.__name__.replace("_", " "),
                    asked,
                    alone / count,
                    alarms / count,
                    statistics.median(margins),
                    seen / count,
                    surely / count,
                ]
            )
            # Three standard errors: of twelve rows one is beyond two of them as a rule.
            if alarms / count > NOMINAL + 3 * math.sqrt(NOMINAL * (1 - NOMINAL) / count):
                missed.append(
                    f"noise: {kind.__name__}, asked {asked} times: {alarms / count:.3f} false alarms"
                )
            if asked == 10 and surely / count < 0.93:
                missed.append(f"noise: {kind.__name__}: a fall of 3.6 deviations fails {surely / count:.2f}")
    show(
        f"Noise: {QUERIES} queries, mrr, max_drop 0, {count} trials a row (nominal {NOMINAL})",
        [
            "what varies",
            "asked",
            "alarms by query alone",
            "alarms",
            "margin",
            "fall of 0.03 fails",
            "of 3.6 deviations",
        ],
        rows,
    )
    return missed
