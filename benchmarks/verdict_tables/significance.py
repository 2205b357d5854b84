"""p-values and intervals: how often a fall is called likely for other queries, and how often the interval holds the truth."""

from __future__ import annotations

import math
import statistics

from verdict_tables.common import VARIANTS, compared, golden_set, rankings, sample, seeded, show

from pytest_irmetrics.comparison import MIN_CHANGED

SIZES = (10, 30, 100, 225)
TRIALS = 400
METRIC = "ndcg@10"
LEVEL = 0.05


def likely(change):
    """Whether a failure says that other queries likely fell too."""
    return change.changed >= MIN_CHANGED and change.p_value < LEVEL


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
    return missed
