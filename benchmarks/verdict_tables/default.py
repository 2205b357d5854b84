"""The gate without a threshold: how many harmless changes fail it, beside six metrics that gate and one of another kind."""

from __future__ import annotations

from verdict_tables.common import METRICS, VARIANTS, compared, failed, sample, seeded, show

SIZES = (10, 30, 100, 225)
TRIALS = 200
GATES = {"six metrics": METRICS, "mrr": ("mrr",), "ndcg@10": ("ndcg@10",)}


def default_gate(trials):
    rows, missed = [], []
    for n in SIZES:
        for variant in VARIANTS:
            chance, count = seeded("default", n, variant), int(TRIALS * trials)
            fails = dict.fromkeys(GATES, 0)
            for _ in range(count):
                comparison = compared(*sample(n, variant, chance, swap=True))
                for name, metrics in GATES.items():
                    fails[name] += failed(comparison, metrics)
            shares = {name: number / count for name, number in fails.items()}
            rows.append([n, variant, *shares.values()])
            if shares["ndcg@10"] > shares["six metrics"]:
                missed.append(f"default_gate: {n} queries, {variant}: {shares}")
    show(
        f"Harmless changes that fail max_drop 0.01, of {int(TRIALS * trials)} a row",
        ["queries", "change", *GATES],
        rows,
    )
    for n in SIZES:
        ranges = [
            f"{min(row[place] for row in rows if row[0] == n):.2f}–{max(row[place] for row in rows if row[0] == n):.2f}"
            for place in range(2, 5)
        ]
        print(f"  {n}: {' / '.join(ranges)}")
    return missed
