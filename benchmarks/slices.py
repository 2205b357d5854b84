"""How often a build says anything on slices: by sentence, where nothing is worse, and where one slice truly is.

The example project's engine and golden set, twice: as they are, and with another tokenizer or other weights. A harmless change is the two
runs swapped at random, query by query; thirty random tags are given to the queries anew in each build. Every build goes the
whole way: rankings, evaluation, gates, ItemResult, and the texts of the report.

    python benchmarks/slices.py [BUILDS]
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "example_project")]

from search import RuleSearch, load_rules  # noqa: E402

from pytest_irmetrics import GoldenSet, Run, compare  # noqa: E402
from pytest_irmetrics.analysis.item_result import ItemResult  # noqa: E402
from pytest_irmetrics.analysis.slices import hidden_slices, on_main_slice  # noqa: E402
from pytest_irmetrics.evaluation import evaluate_run  # noqa: E402
from pytest_irmetrics.gates import decide  # noqa: E402
from pytest_irmetrics.reports.texts import slice_trend  # noqa: E402
from pytest_irmetrics.thresholds import build, resolve  # noqa: E402

METRIC = "ndcg@10"
TAGS = 30
GOAL = 0.05
VARIANTS = {
    "unicode61": {"tokenizer": "unicode61"},
    "trigram": {"tokenizer": "trigram"},
    "1,1,1": {"weights": (1, 1, 1)},
    "5,3,1": {"weights": (5, 3, 1)},
}
LOST = (0, 8, 20, 50)
GATES = resolve([[build(METRIC, {"max_drop": 0.01}, tag=None)]])


def build_once(golden, base, variant, lost, generator):
    """Return what one build says on slices, as a set of kinds; of a lost slice (tag ``lost``) apart from all others."""
    ids = list(golden.queries)
    tags = {i: set() for i in ids}
    for tag in range(TAGS):
        rate = generator.uniform(0.03, 0.4)
        for query_id in ids:
            if generator.random() < rate:
                tags[query_id].add(f"t{tag}")
    broken = generator.sample(ids, lost)
    for query_id in broken:
        tags[query_id].add("lost")
    tagged = GoldenSet(
        [replace(golden.queries[i], tags=tuple(sorted(tags[i]))) for i in ids],
        relevance_level=golden.relevance_level,
    )
    before, now = {}, {}
    for query_id in ids:
        pair = [base[query_id], variant[query_id]]
        generator.shuffle(pair)
        before[query_id], now[query_id] = pair
    now.update({query_id: [] for query_id in broken})
    comparison = compare(*(evaluate_run(tagged, Run(run), [METRIC], depth=10) for run in (now, before)))
    verdicts = decide(comparison.now, GATES, comparison=comparison, against="the baseline")
    result = ItemResult(comparison.now, GATES, verdicts, comparison, against="the baseline")
    metric = result.leading_metric
    said = [
        (f"{slice_trend(row)} in the table", row.tag)
        for row in result.slices()
        if slice_trend(row) in ("fell", "rose")
    ]
    sentences = on_main_slice(comparison, metric) if result.mean_fell else hidden_slices(comparison, metric)
    kind = "most of the fall is in" if result.mean_fell else "the mean hides"
    said += [(kind, text.split("`")[1]) for text in sentences if "`" in text]
    return {(what, tag == "lost") for what, tag in said}


def main() -> None:
    builds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    golden = GoldenSet.load(ROOT / "example_project" / "golden" / "rules.yaml")
    asked = [query for query in golden.queries.values() if query.judgments and query.xfail is None]
    golden = GoldenSet([replace(query, forbidden=(), thresholds=()) for query in asked])
    rules = load_rules()

    def answers(**options):
        engine = RuleSearch(rules, **options)
        return {
            q.id: engine.search(q.text, 10, linter=q.params.get("linter")) for q in golden.queries.values()
        }

    base, missed = answers(), False
    print(f"{len(golden.queries)} queries, {TAGS} random tags, {builds} builds a row, max_drop 0.01")
    for name, options in VARIANTS.items():
        variant = answers(**options)
        for lost in LOST:
            counts: Counter[object] = Counter()
            for number in range(builds):
                generator = random.Random(f"{name} {lost} {number}")
                said = build_once(golden, base, variant, lost, generator)
                counts.update(said)
                counts["any other"] += any(not own for _, own in said)
                counts["the lost one"] += any(own for _, own in said)
            shares = {key: counts[key] / builds for key in ("any other", "the lost one")}
            what = "nothing lost" if not lost else f"{lost} lost"
            print(
                f"{name:10} {what:13} says of the lost slice {shares['the lost one']:.3f}, of any other {shares['any other']:.3f}"
            )
            for key, count in sorted(counts.items(), key=str):
                if isinstance(key, tuple):
                    print(
                        f"    {key[0]:24} {'the lost slice' if key[1] else 'another'}: {count / builds:.3f}"
                    )
            missed |= not lost and shares["any other"] > GOAL
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
