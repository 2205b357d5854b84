"""Sentences about slices: how many harmless changes they are said of, of a set with thirty random tags."""

from __future__ import annotations

from dataclasses import replace

from verdict_tables.common import VARIANTS, compared, sample, seeded, show

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.analysis.slices import hidden_slices
from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.comparison import joint_intervals, main_slice

SIZES = (100, 225)
TRIALS = 100
METRIC = "ndcg@10"
TAGS = 30
TAGGED = 0.15  # of the queries, by each tag
ALLOWED = 0.05


def tagged(golden, chance):
    """Return the golden set with tags drawn at random."""
    return GoldenSet(
        replace(query, tags=tuple(f"tag{tag}" for tag in range(TAGS) if chance.random() < TAGGED))
        for query in golden.queries.values()
    )


def slices(trials):
    rows, missed = [], []
    for n in SIZES:
        for variant in VARIANTS:
            chance, count = seeded("slices", n, variant), int(TRIALS * trials)
            hidden = main = moved = 0
            for _ in range(count):
                golden, before, now = sample(n, variant, chance, swap=True)
                comparison = compared(tagged(golden, chance), before, now, [METRIC])
                metric = comparison.now.metric(METRIC)
                hidden += any(hidden_slices(comparison, metric))
                main += main_slice(comparison, metric) is not None
                intervals = joint_intervals(comparison, metric).values()
                moved += any(high < -TOLERANCE or low > TOLERANCE for low, high in intervals)
            shares = hidden / count, main / count, moved / count
            rows.append([n, variant, *shares])
            if max(shares) > ALLOWED + 3 * (ALLOWED * (1 - ALLOWED) / count) ** 0.5:
                missed.append(f"slices: {n} queries, {variant}: {shares}")
    show(
        f"Harmless changes of a set with {TAGS} random tags, {int(TRIALS * trials)} a row, of which is said (nominal {ALLOWED})",
        ["queries", "change", "the mean hides", "most of the fall is in", "a joint interval without 0"],
        rows,
    )
    return missed
