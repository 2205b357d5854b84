"""p-values and intervals: how often a fall is called likely for other queries, and how often the interval holds the truth."""

from __future__ import annotations

import math
import statistics

from verdict_tables.common import VARIANTS, compared, golden_set, rankings, sample, seeded, show

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.comparison import MIN_CHANGED

SIZES = (10, 30, 100, 225)
TRIALS = 400
METRIC = "ndcg@10"
LEVEL = 0.05


def likely(change):
    """Whether a failure says that the mean over other queries likely fell too."""
    return change.conclusion(0.01) == "worse"


def significance(trials):
    rows, missed = [], []
    for n in SIZES:
        for variant in VARIANTS:
            chance, count = seeded("significance", n, variant), int(TRIALS * trials)
            truth = compared(golden_set(), rankings(), rankings(variant), [METRIC])[METRIC].delta
            harmless = [
                compared(*sample(n, variant, chance, swap=True), [METRIC])[METRIC] for _ in range(count)
            ]
            real = [compared(*sample(n, variant, chance, swap=False), [METRIC])[METRIC] for _ in range(count)]
            told = [change.interval for change in real if change.changed >= MIN_CHANGED]
            held = statistics.fmean(low <= truth <= high for low, high in told) if told else math.nan
            alarms = statistics.fmean(map(likely, harmless))
            rows.append(
                [n, variant, alarms, f"{truth:+.4f}", statistics.fmean(map(likely, real)), held, len(told)]
            )
            if alarms > LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / count):
                missed.append(
                    f"significance: {n} queries, {variant}: {alarms:.3f} of harmless changes called likely"
                )
    show(
        f"'Likely fell too' ({METRIC}, {int(TRIALS * trials)} changes a row), and the 95 % interval where five queries changed",
        [
            "queries",
            "change",
            "said of harmless ones",
            "true change",
            "said of it",
            "interval holds it",
            "intervals",
        ],
        rows,
    )
    lost_queries(trials)
    return missed


def lost_queries(trials):
    """Of a change that loses a share of the queries altogether: how often the interval is shown, and holds the truth."""
    rows, count = [], int(TRIALS * trials)
    for share in (0.01, 0.03, 0.05, 0.1):
        for n in SIZES:
            chance, held = seeded("lost", n, share), []
            golden = GoldenSet.from_judgments({f"q{query}": {"d": 1} for query in range(n)})
            before = dict.fromkeys(golden.queries, ("d",))
            for _ in range(count):
                now = {query_id: ("x",) if chance.random() < share else ("d",) for query_id in before}
                change = compared(golden, before, now, [METRIC])[METRIC]
                if change.changed >= MIN_CHANGED:
                    held.append(change.interval[0] <= -share <= change.interval[1])
            rows.append([f"{share:.0%}", n, len(held) / count, statistics.fmean(held) if held else math.nan])
    show(
        "A share of the queries lost altogether", ["lost", "queries", "interval shown", "and holds it"], rows
    )
