"""Print what is said of each change, over each golden set: `python -m tests.integration.kinds.table`."""

from __future__ import annotations

import sys
import zlib
from dataclasses import replace
from functools import lru_cache

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import build, resolve
from tests.integration.kinds.changes import FAULTS, PARAM_FAULTS, SIZE, VARIANTS, ask_all
from tests.integration.kinds.golden_sets import GOLDEN_SETS


@lru_cache
def queries_of(name):
    return GOLDEN_SETS[name]()


def asked_thrice(queries, answers, day):
    """Answers to each query asked three times: of one query in eight two results change places, another day others."""
    asked = []
    for query, answer in zip(queries, answers, strict=True):
        turns = [list(answer) for _ in range(3)]
        for turn, ranking in enumerate(turns):
            number = zlib.crc32(f"{day} {turn} {query.id}".encode())
            if number % 8 == 0 and len(ranking) > 1:
                place = number // 8 % (len(ranking) - 1)
                ranking[place : place + 2] = ranking[place : place + 2][::-1]
        asked.append(Answer(tuple(map(tuple, turns))))
    return asked


def compared(name, change, *, repeated=False):
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
    for day, answers in (("today", now), ("before", before)):
        if repeated:
            run = Run.of(dict(zip((q.id for q in queries), asked_thrice(queries, answers, day), strict=True)))
        else:
            run = Run({query.id: answer for query, answer in zip(queries, answers, strict=True)})
        sides.append(evaluate_run(golden, run, ["ndcg@10", "recall@10"], depth=SIZE))
    return compare(*sides)


def kind_of(comparison):
    """What a failure says: slices and unjudged documents included."""
    gates = resolve([[build("ndcg@10", {"max_drop": 0.0}), build("recall@10", {"max_drop": 0.0})]])
    verdicts = decide(comparison.now, gates, comparison=comparison, against="the baseline", update_command="")
    return ItemResult(comparison.now, gates, verdicts, comparison).kind()


def sign_of(comparison):
    """The kind of change, where a sign tells it; else an empty text."""
    kind = kind_of(comparison)
    return "" if kind is None or kind.sign is None else kind.sign.kind


def rows():
    groups = [(FAULTS, list(GOLDEN_SETS)[:-1]), (PARAM_FAULTS, ["by linter"]), (VARIANTS, list(GOLDEN_SETS))]
    for changes, sets in groups:
        for title, change in changes.items():
            for name in sets:
                comparison = compared(name, change)
                kind = kind_of(comparison)
                said = sign_of(comparison)
                if not said and (not change.says or change.silent or name.endswith(" 6")):
                    verdict = "silent"
                elif said in change.says:
                    verdict = "right"
                elif changes is VARIANTS:
                    verdict = "FALSE ALARM"
                else:
                    verdict = "WRONG" if said else "MISSED"
                yield verdict, title, name, said, comparison["ndcg@10"].delta, kind


if __name__ == "__main__":
    for verdict, title, name, said, delta, kind in rows():
        text = "" if kind is None else " ".join(kind.sentences)
        sys.stdout.write(f"{verdict:11} | {title} | {name} | {delta:+.4f} | {said} | {text}\n")
