"""The error of a difference with the unjudged taken out of both rankings, and of the plain difference.

    python benchmarks/judged_alone.py [--seeds 0 1]

On the corpora and with the engines of label_loop.py, of which every judgment is known, for sets that were judged in several
ways: one judgment a query, and pools of the first 5 or 10 results of some engines. An engine that was in the pool itself is
left out of the rows of other engines' pools. Printed are the mean errors of the change of ndcg@10 and how often its sign is right.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from label_loop import METRIC, difference, first_judgments, make_corpus, make_engines  # noqa: E402

from pytest_irmetrics import GoldenSet, Run, compare, evaluate  # noqa: E402
from pytest_irmetrics.analysis.unjudged import over_judged_alone  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

BASE, NOW = "baseline", "today"
OTHERS = ("no stemming", "LSA, 30 dimensions", "title only")
POOLS: dict[str, tuple[tuple[str, ...], int]] = {
    "one a query": ((), 0),
    "baseline's first 5": ((BASE,), 5),
    "baseline's first 10": ((BASE,), 10),
    "today's first 10": ((NOW,), 10),
    "both runs' first 5": ((BASE, NOW), 5),
    "three others' first 5": (OTHERS, 5),
    "three others' first 10": (OTHERS, 10),
    "baseline's and others' 10": ((BASE, *OTHERS), 10),
}


class Row(NamedTuple):
    """One variant under one pool."""

    plain: float
    alone: float
    plain_sign: bool
    alone_sign: bool
    judged_before: float
    judged_now: float


def measure(
    judgments: Mapping[str, Mapping[str, int]],
    truth: Mapping[str, Mapping[str, int]],
    now: Run,
    before: Run,
) -> Row:
    """Return the errors of both differences under some judgments."""
    right = difference(truth, now, before)
    golden = GoldenSet.from_judgments(judgments)
    sides = [evaluate(golden, run, metrics=[METRIC, "judged@10"]) for run in (now, before)]
    change = compare(*sides)
    plain = change[METRIC].delta
    alone = over_judged_alone(change, change[METRIC].metric, least=0.0)
    found = plain if alone is None else alone.delta
    judged = change["judged@10"]
    return Row(
        abs(plain - right),
        abs(found - right),
        plain * right > 0,
        found * right > 0,
        judged.baseline or 0.0,
        judged.now or 0.0,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="of the corpora (default: 0 1)")
    rows: dict[str, list[Row]] = {}
    for seed in parser.parse_args().seeds:
        corpus = make_corpus(seed)
        base, engines = make_engines(corpus.documents)
        runs = {
            name: Run({query_id: engine(text) for query_id, text in corpus.texts.items()})
            for name, engine in {BASE: base, **engines}.items()
        }
        first = first_judgments(corpus, seed)
        for pool, (names, depth) in POOLS.items():
            for variant in engines:
                if variant in names:
                    continue
                pooled = [runs[variant if name == NOW else name] for name in names]
                judgments = {
                    query_id: first[query_id]
                    | {doc_id: truth.get(doc_id, 0) for run in pooled for doc_id in run[query_id][:depth]}
                    for query_id, truth in corpus.truth.items()
                }
                found = measure(judgments, corpus.truth, runs[variant], runs[BASE])
                rows.setdefault(pool, []).append(found)
    print(f"{METRIC:<28}{'error':>22}{'sign right':>18}{'judged@10':>16}")
    print(f"{'judged':<28}{'judged alone':>14}{'plain':>8}{'alone':>11}{'plain':>7}{'was':>9}{'now':>7}")
    for pool, found in rows.items():
        plain, alone, plain_sign, alone_sign, before, now = (
            sum(column) / len(found) for column in zip(*found, strict=True)
        )
        print(
            f"{pool:<28}{alone:>14.3f}{plain:>8.3f}{alone_sign:>11.0%}{plain_sign:>7.0%}{before:>9.2f}{now:>7.2f}"
        )


if __name__ == "__main__":
    main()
