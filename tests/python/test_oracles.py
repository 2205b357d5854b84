"""On random queries `evaluate` gives the scores of trec_eval, ir_measures and gdeval: trec_eval's bit for bit.

A thousand queries run every time; for more:

    IRMETRICS_ORACLE_QUERIES=100000 python -m pytest tests/python/test_oracles.py
"""

from __future__ import annotations

import math
import os
import random
import shutil
import sys
from functools import cache
from typing import NamedTuple

import pytest

from pytest_irmetrics import GoldenSet, Query, Run, evaluate

# ir_measures reads metric names through what Python 3.12 deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore:ast.:DeprecationWarning", "ignore:Attribute . is deprecated:DeprecationWarning"
)

ir_measures = pytest.importorskip("ir_measures")
pytrec_eval = pytest.importorskip("pytrec_eval")

QUERIES = int(os.environ.get("IRMETRICS_ORACLE_QUERIES", "1000"))
CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)
BY_CUTOFF = {"map": "map_cut", "ndcg": "ndcg_cut", "precision": "P", "recall": "recall", "hit": "success"}

# Ours, and trec_eval's name for the same.
TREC_EVAL = {
    "mrr": "recip_rank",
    "map": "map",
    "ndcg": "ndcg",
    "precision": "set_P",
    "recall": "set_recall",
    "f1": "set_F",
    "r_precision": "Rprec",
    "bpref": "bpref",
    **{f"{ours}@{k}": f"{theirs}_{k}" for ours, theirs in BY_CUTOFF.items() for k in CUTOFFS},
}


class Case(NamedTuple):
    """A query's judgments and weight, and what came back for it: ids best first, each with a score."""

    judgments: dict[str, int]
    weight: float
    ranking: list[str]
    scores: dict[str, float]


def one_case(rng: random.Random) -> Case:
    """A query of one of many kinds: graded or binary, empty, short, deep, much judged, with equal scores."""
    deep = rng.random() < 0.03
    pool = rng.choice((400, 1500) if deep else (8, 15, 40, 120))
    returned = rng.choice((0, 1, 2, 3, 4, 5, 7, 9, 10, 10, 10, 11, 16, 17, 20, 30))
    if deep:
        returned = rng.choice((50, 100, 101, 200, 999, 1000, 1200))
    ids = [f"d{number}" for number in rng.sample(range(pool), min(returned, pool))]
    judged = rng.choice((1, 1, 1, 2, 3, 4, 6, 11, 12, 13, 15))
    if deep or rng.random() < 0.05:
        judged = rng.choice((30, 100, 300))
    grades = rng.choice(((1,), (0, 1), (0, 0, 0, 1), (0, 1, 2, 3), (1, 2, 3, 4), (0, 0, 1, 4), (0,), (2, 3)))
    judgments = {f"d{number}": rng.choice(grades) for number in rng.sample(range(pool), min(judged, pool))}
    if rng.random() < 0.3:
        judgments["not-in-the-index"] = rng.choice(grades)
    levels = rng.choice((2, 5, 2000))  # scores that a single-precision number holds, few of them or many
    scores = {doc_id: float(rng.randrange(levels)) for doc_id in ids}
    ranking = sorted(ids, key=lambda doc_id: (scores[doc_id], doc_id), reverse=True)
    return Case(judgments, rng.choice((1.0, 1.0, 0.5, 3.0)), ranking, scores)


@cache
def cases() -> dict[str, Case]:
    rng = random.Random(20_241)
    return {f"q{number}": one_case(rng) for number in range(QUERIES)}


def golden_set(some: dict[str, Case], level: int = 1) -> GoldenSet:
    queries = [
        Query(i, f"text of {i}", case.judgments, weight=case.weight, tags=("even",) if n % 2 == 0 else ())
        for n, (i, case) in enumerate(some.items())
    ]
    return GoldenSet(queries, relevance_level=level)


def qrels(some: dict[str, Case]) -> dict[str, dict[str, int]]:
    return {query_id: case.judgments for query_id, case in some.items()}


def trec_eval(some: dict[str, Case], measures, level: int = 1):
    run = {query_id: case.scores for query_id, case in some.items()}
    return pytrec_eval.RelevanceEvaluator(qrels(some), set(measures), relevance_level=level).evaluate(run)


def assert_equal_to_trec_eval(evaluation, some, names, level=1):
    theirs = trec_eval(some, names.values(), level)
    for name, measure in names.items():
        expected = {query_id: theirs[query_id][measure] for query_id in some}
        assert evaluation.scores[name] == expected, name


@pytest.mark.parametrize("level", [1, 2, 3])
def test_without_parameters_equals_trec_eval_bit_for_bit(level):
    some = cases()
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    evaluation = evaluate(golden_set(some, level), run, list(TREC_EVAL))
    assert_equal_to_trec_eval(evaluation, some, TREC_EVAL, level)
    for tag, number in ((None, 1), ("even", 2)):
        weighed = [case.weight for case in list(some.values())[::number]]
        for name in TREC_EVAL:
            scores = list(evaluation.scores[name].values())[::number]
            mean = math.fsum(map(math.prod, zip(scores, weighed, strict=True))) / math.fsum(weighed)
            assert evaluation.mean(name, tag) == pytest.approx(mean, abs=1e-12, rel=0), name


def test_scores_are_ordered_as_trec_eval_orders_them_ties_by_id():
    some = cases()
    golden = golden_set(some)
    texts = {query.text: query_id for query_id, query in golden.queries.items()}
    by_score = evaluate(golden, lambda query: some[texts[query]].scores, list(TREC_EVAL), depth=1500)
    assert_equal_to_trec_eval(by_score, some, TREC_EVAL)


def test_a_query_without_an_answer_scores_0_and_counts():
    some = cases()
    run = Run({query_id: case.ranking for n, (query_id, case) in enumerate(some.items()) if n % 3})
    evaluation = evaluate(golden_set(some), run, ["mrr", "ndcg@10", "judged@10"])
    for n, query_id in enumerate(some):
        if n % 3 == 0:
            assert [evaluation.scores[name][query_id] for name in evaluation.scores] == [0, 0, 1]
    assert len(evaluation.scores["mrr"]) == len(some)


def test_negative_grades_are_as_trec_eval_has_them():
    # trec_eval wants one document above 0 beside those below.
    some = {
        query_id: case._replace(judgments={**{d: grade - 2 for d, grade in case.judgments.items()}, "one": 1})
        for query_id, case in cases().items()
    }
    golden = GoldenSet.from_judgments(qrels(some))
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    assert_equal_to_trec_eval(evaluate(golden, run, list(TREC_EVAL)), some, TREC_EVAL)


def test_the_parameter_rel_is_trec_evals_relevance_level():
    some = cases()
    names = {
        f"{name.partition('@')[0]}(rel=2){name[len(name.partition('@')[0]) :]}": measure
        for name, measure in TREC_EVAL.items()
        if not name.startswith("ndcg")
    }
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    assert_equal_to_trec_eval(evaluate(golden_set(some), run, list(names)), some, names, level=2)


def test_a_cut_off_that_trec_eval_lacks_is_it_over_the_cut_ranking():
    some = cases()
    cut = {
        query_id: case._replace(scores={d: case.scores[d] for d in case.ranking[:5]})
        for query_id, case in some.items()
    }
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    names = {"mrr@5": "recip_rank", "r_precision@5": "Rprec", "bpref@5": "bpref"}
    assert_equal_to_trec_eval(evaluate(golden_set(some), run, list(names)), cut, names)


def by_ir_measures(some, measure):
    # Well apart, as its own order of equal scores is another.
    runs = {
        query_id: {doc_id: float(-rank) for rank, doc_id in enumerate(case.ranking)}
        for query_id, case in some.items()
        if case.ranking
    }
    measures = [ir_measures.parse_measure(measure)]
    return {found.query_id: found.value for found in ir_measures.iter_calc(measures, qrels(some), runs)}


@pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="ir_measures reads names of measures through ast.Num, which Python 3.14 lacks",
)
@pytest.mark.parametrize(
    ("name", "measure", "within"),
    [
        ("ndcg(gain=exp)", "nDCG(gains={2:3,3:7,4:15})", 0),
        ("ndcg(gain=exp)@10", "nDCG(gains={2:3,3:7,4:15})@10", 0),
        ("mrr(rel=2)@3", "RR(rel=2)@3", 0),
        ("map(rel=3)@20", "AP(rel=3)@20", 0),
        ("judged@10", "Judged@10", 0),
        ("judged", "Judged", 0),
        ("f1(rel=2)", "SetF(rel=2)", 0),
        ("rbp", "RBP(rel=1)", 1e-9),
        ("rbp(p=0.95,rel=2)", "RBP(rel=2,p=0.95)", 1e-9),
        ("err@20", "ERR@20", 5.1e-6),  # gdeval prints five digits
        ("err@3", "ERR@3", 5.1e-6),
        ("ndcg(gain=exp)@10", "nDCG(dcg='exp-log2')@10", 5.1e-6),
    ],
)
def test_other_names_equal_ir_measures(name, measure, within):
    if within == 5.1e-6 and shutil.which("perl") is None:
        pytest.skip("gdeval.pl wants perl")
    # gdeval reads numbers as ids of queries; C/W/L reads the first thousand results.
    some = {i[1:]: case for i, case in cases().items() if len(case.ranking) <= 1000}
    theirs = by_ir_measures(some, measure)
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    ours = evaluate(golden_set(some), run, [name]).scores[name]
    assert len(theirs) > len(some) / 3
    for query_id, value in theirs.items():
        if name.startswith("judged") and not some[query_id].ranking:
            continue  # where nothing came back, ir_measures divides by zero
        assert ours[query_id] == pytest.approx(value, abs=within, rel=0), some[query_id]


def textbook(name, judgments, ranking):
    """Score a ranking by the definition of a paper, written the slow way."""
    gains = [max(judgments.get(document, 0), 0) for document in ranking]
    relevant = [gain >= 1 for gain in gains]
    total = sum(grade >= 1 for grade in judgments.values())
    k = int(name.partition("@")[2] or len(ranking) or 1)
    hits = sum(relevant[:k])
    if name.startswith("rbp"):
        p = 0.95 if "0.95" in name else 0.8
        return (1 - p) * sum(p**at for at, found in enumerate(relevant[:k]) if found)
    if name.startswith("err"):
        stops = [(2**gain - 1) / 2 ** (7 if "max=7" in name else 4) for gain in gains[:k]]
        return sum(
            stop * math.prod(1 - before for before in stops[:at]) / (at + 1) for at, stop in enumerate(stops)
        )
    if name.startswith("f1"):
        precise, complete = hits / k, hits / total if total else 0
        return 2 * precise * complete / (precise + complete) if hits else 0
    if name.startswith("precision"):
        return hits / min(k, len(ranking)) if ranking else 0
    if name.startswith("hit"):
        return float(hits > 0)
    average = sum(sum(relevant[: at + 1]) / (at + 1) for at, found in enumerate(relevant[:k]) if found)
    below = min(k, total) if "min" in name else hits
    return average / below if below else 0


BY_DEFINITION = [
    *("rbp", "rbp@5", "rbp(p=0.95)@10", "err", "err@3", "err(max=7)@10", "f1@5", "f1@10", "hit"),
    *("precision(denom=retrieved)@10", "map(norm=min)@5", "map(norm=hits)@10", "map(norm=hits)"),
]


def test_other_metrics_equal_a_second_implementation_of_their_definition():
    some = cases()
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    scores = evaluate(golden_set(some), run, BY_DEFINITION).scores
    for name in BY_DEFINITION:
        for query_id, case in some.items():
            expected = textbook(name, case.judgments, case.ranking)
            assert scores[name][query_id] == pytest.approx(expected, abs=1e-12), (name, case)


def test_a_query_scored_alone_is_scored_as_among_others():
    some = {i: case for i, case in list(cases().items())[:200] if case.judgments.keys() & case.ranking}
    names = [*TREC_EVAL, *BY_DEFINITION, "judged@10", "mrr(miss=skip)@3", "recall(rel=2)", "mrr(rel=3)"]
    run = Run({query_id: case.ranking for query_id, case in some.items()})
    together = evaluate(golden_set(some), run, names).scores
    for query_id, case in some.items():
        alone = evaluate(golden_set({query_id: case}), Run({query_id: case.ranking}), names).scores
        for name in names:
            assert alone[name].get(query_id) == together[name].get(query_id)
