"""Print what is said of each change, over each golden set: `python -m tests.integration.kinds.table`."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import lru_cache

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.kind_of_change import kind_of_change
from pytest_irmetrics.evaluation import evaluate_run
from tests.integration.kinds.changes import FAULTS, PARAM_FAULTS, SIZE, VARIANTS, ask_all
from tests.integration.kinds.golden_sets import GOLDEN_SETS


@lru_cache
def queries_of(name):
    return GOLDEN_SETS[name]()


def compared(name, change):
    """Compare the answers before a change with those after it."""
    queries = queries_of(name)
    before, now = ask_all(change.engine, queries), change.answers(queries)
    if change.shown_as is not None:
        before = [[change.shown_as(doc) for doc in answer] for answer in before]
        queries = [
            replace(query, judgments={change.shown_as(doc): grade for doc, grade in query.judgments.items()})
            for query in queries
        ]
    golden = GoldenSet(queries)
    sides = []
    for answers in (now, before):
        run = Run({query.id: answer for query, answer in zip(queries, answers, strict=True)})
        sides.append(evaluate_run(golden, run, ["ndcg@10", "recall@10"], depth=SIZE))
    return compare(*sides)


def sign_of(comparison):
    """The kind of change, where a sign tells it; else an empty text."""
    kind = kind_of_change(comparison)
    return "" if kind is None or kind.sign is None else kind.sign.kind


def rows():
    groups = [(FAULTS, list(GOLDEN_SETS)[:-1]), (PARAM_FAULTS, ["by linter"]), (VARIANTS, list(GOLDEN_SETS))]
    for changes, sets in groups:
        for title, change in changes.items():
            for name in sets:
                comparison = compared(name, change)
                kind = kind_of_change(comparison)
                said = sign_of(comparison)
                if not said and not change.says:
                    verdict = "silent"
                elif said in change.says:
                    verdict = "right"
                elif changes is VARIANTS:
                    verdict = "FALSE ALARM"
                else:
                    verdict = "WRONG" if said else ("silent" if change.silent else "MISSED")
                yield verdict, title, name, said, comparison["ndcg@10"].delta, kind


if __name__ == "__main__":
    for verdict, title, name, said, delta, kind in rows():
        text = "" if kind is None else " ".join(kind.sentences)
        sys.stdout.write(f"{verdict:11} | {title} | {name} | {delta:+.4f} | {said} | {text}\n")
