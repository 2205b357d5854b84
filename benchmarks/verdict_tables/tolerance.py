"""The note on a tolerance: what it foretells from one change, held against other changes that come of the same search."""

from __future__ import annotations

import statistics

from verdict_tables.common import VARIANTS, compared, sample, seeded, show

from pytest_irmetrics.analysis.chance import Forecast
from pytest_irmetrics.comparison import MIN_CHANGED

SIZES = (10, 20, 50, 100, 225)
TRIALS = 100
MAX_DROP = 0.01
METRIC = "ndcg@10"
BINS = (0.05, 0.15, 0.25, 0.35, 0.5)


def tolerance(trials):
    """Foretell from a change of n queries, and observe a harmless change of the same variant over n other queries."""
    by_size, by_bin, missed = [], {}, []
    for n in SIZES:
        foretold, observed, beyond = [], [], []
        for variant in VARIANTS:
            chance = seeded("tolerance", n, variant)
            for _ in range(int(TRIALS * trials)):
                seen = compared(*sample(n, variant, chance, swap=False), [METRIC])[METRIC]
                fresh = compared(*sample(n, variant, chance, swap=True), [METRIC])[METRIC]
                if seen.changed < MIN_CHANGED:  # then nothing is said
                    continue
                forecast = Forecast(seen, MAX_DROP)
                foretold.append(forecast.share)
                observed.append(-fresh.delta > MAX_DROP + 1e-9)
                beyond.append(-fresh.delta > forecast.enough + 1e-9)
                bin_ = next(place for place, top in enumerate(BINS) if forecast.share <= top)
                by_bin.setdefault(bin_, []).append((forecast.share, observed[-1]))
        said = [statistics.fmean(foretold), statistics.fmean(observed)]
        by_size.append([n, len(foretold), *said, statistics.fmean(beyond)])
        if abs(said[0] - said[1]) > 0.05:
            missed.append(f"tolerance: {n} queries: {said[0]:.2f} foretold, {said[1]:.2f} observed")
    show(
        f"The note on max_drop {MAX_DROP} of {METRIC}, from one change; then another harmless one of other queries",
        [
            "queries",
            "notes",
            "said to fail",
            "failed",
            "beyond the tolerance for 1 in 20",
        ],
        by_size,
    )
    rows = []
    for bin_, pairs in sorted(by_bin.items()):
        low = BINS[bin_ - 1] if bin_ else 0.0
        rows.append(
            [
                f"{low:g} to {BINS[bin_]:g}",
                len(pairs),
                *(statistics.fmean(side) for side in zip(*pairs, strict=True)),
            ]
        )
    show("The same by what the note says", ["said to fail", "notes", "mean", "failed"], rows)
    return missed
