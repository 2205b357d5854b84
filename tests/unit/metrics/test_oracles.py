"""On random queries trec_eval, ir_measures, gdeval and C/W/L give the same scores: trec_eval bit for bit.

The sample is small, so that it runs every time; for the full check:

    IRMETRICS_ORACLE_QUERIES=100000 python -m pytest tests/unit/metrics/test_oracles.py
"""

from __future__ import annotations

import math
import os
import random
import shutil
from functools import cache

import pytest

from pytest_irmetrics.metrics import Scorer, mean, parse_metric, score

# ir_measures reads metric names through what Python 3.12 deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore:ast.:DeprecationWarning", "ignore:Attribute . is deprecated:DeprecationWarning"
)

ir_measures = pytest.importorskip("ir_measures")
pytrec_eval = pytest.importorskip("pytrec_eval")

QUERIES = int(os.environ.get("IRMETRICS_ORACLE_QUERIES", "3000"))
BATCH = 5000
CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)

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
    **{f"map@{k}": f"map_cut_{k}" for k in CUTOFFS},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in CUTOFFS},
    **{f"precision@{k}": f"P_{k}" for k in CUTOFFS},
    **{f"recall@{k}": f"recall_{k}" for k in CUTOFFS},
    **{f"hit@{k}": f"success_{k}" for k in CUTOFFS},
}


def one_query(rng):
    """Judgments and a ranking of one of many kinds: graded or binary, empty, short, deep, heavily judged, unjudged."""
    deep = rng.random() < 0.03
    pool = rng.choice((400, 1500) if deep else (8, 15, 40, 120))
    returned = rng.choice((0, 1, 2, 3, 4, 5, 7, 9, 10, 10, 10, 11, 16, 17, 20, 30))
    if deep:
        returned = rng.choice((50, 100, 101, 200, 999, 1000, 1200))
    ranking = [f"d{number}" for number in rng.sample(range(pool), min(returned, pool))]
    judged = rng.choice((1, 1, 1, 2, 3, 4, 6, 11, 12, 13, 15))
    if deep or rng.random() < 0.05:
        judged = rng.choice((30, 100, 300))
    grades = rng.choice(((1,), (0, 1), (0, 0, 0, 1), (0, 1, 2, 3), (1, 2, 3, 4), (0, 0, 1, 4), (0,), (2, 3)))
    judgments = {f"d{number}": rng.choice(grades) for number in rng.sample(range(pool), min(judged, pool))}
    if rng.random() < 0.3:
        judgments[f"not in the index {rng.random()}"] = rng.choice(grades)
    return judgments, ranking


@cache
def batches():
    rng = random.Random(20_241)
    return [
        [one_query(rng) for _ in range(min(BATCH, QUERIES - start))] for start in range(0, QUERIES, BATCH)
    ]


def as_qrels(batch):
    return {f"q{number}": judgments for number, (judgments, _) in enumerate(batch)}


def as_run(batch):
    # Well apart, as pytrec_eval compares scores in single precision.
    return {
        f"q{number}": {document: float(len(ranking) - at) for at, document in enumerate(ranking)}
        for number, (_, ranking) in enumerate(batch)
    }


def ours(batch, names, level=1):
    scorer = Scorer([parse_metric(name) for name in names], relevance_level=level)
    columns = scorer.columns((judgments for judgments, _ in batch), (ranking for _, ranking in batch))
    return dict(zip(names, columns, strict=True))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_without_parameters_equals_trec_eval_bit_for_bit(level):
    both = {name: ([], []) for name in TREC_EVAL}
    for batch in batches():
        evaluator = pytrec_eval.RelevanceEvaluator(
            as_qrels(batch), set(TREC_EVAL.values()), relevance_level=level
        )
        theirs = evaluator.evaluate(as_run(batch))
        for name, column in ours(batch, list(TREC_EVAL), level).items():
            expected = [theirs[f"q{number}"][TREC_EVAL[name]] for number in range(len(batch))]
            differing = [at for at, value in enumerate(column) if value != expected[at]]
            assert not differing, (name, batch[differing[0]], column[differing[0]], expected[differing[0]])
            both[name][0].extend(column)
            both[name][1].extend(expected)
    for name, (column, expected) in both.items():
        assert mean(column) == pytest.approx(
            float(pytrec_eval.compute_aggregated_measure(TREC_EVAL[name], expected)), abs=1e-12, rel=0
        )


def test_negative_grades_are_as_trec_eval_has_them():
    # It wants one document above 0 beside them.
    rng = random.Random(7)
    batch = []
    for _ in range(QUERIES // 3):
        judgments = {f"d{number}": rng.choice((-2, -1, 0, 1, 2)) for number in rng.sample(range(20), 8)}
        batch.append(({**judgments, "one": 1}, [f"d{number}" for number in rng.sample(range(20), 10)]))
    evaluator = pytrec_eval.RelevanceEvaluator(as_qrels(batch), set(TREC_EVAL.values()))
    theirs = evaluator.evaluate(as_run(batch))
    for name, column in ours(batch, list(TREC_EVAL)).items():
        assert column == [theirs[f"q{number}"][TREC_EVAL[name]] for number in range(len(batch))]


def test_rel_parameter_equals_trec_eval_at_that_level():
    names = {name: trec for name, trec in TREC_EVAL.items() if not name.startswith("ndcg")}
    for batch in batches()[:4]:
        evaluator = pytrec_eval.RelevanceEvaluator(as_qrels(batch), set(names.values()), relevance_level=2)
        theirs = evaluator.evaluate(as_run(batch))
        at_two = {
            name: "(rel=2)@".join(name.split("@")) if "@" in name else f"{name}(rel=2)" for name in names
        }
        columns = ours(batch, list(at_two.values()))
        for name, trec in names.items():
            assert columns[at_two[name]] == [theirs[f"q{number}"][trec] for number in range(len(batch))]


def test_mrr_with_a_cutoff_is_trec_eval_over_the_cut_ranking():
    for batch in batches():
        cut = [(judgments, ranking[:5]) for judgments, ranking in batch]
        evaluator = pytrec_eval.RelevanceEvaluator(as_qrels(cut), {"recip_rank", "Rprec", "bpref"})
        theirs = evaluator.evaluate(as_run(cut))
        columns = ours(batch, ["mrr@5", "r_precision@5", "bpref@5"])
        for name, trec in zip(columns, ("recip_rank", "Rprec", "bpref"), strict=True):
            assert columns[name] == [theirs[f"q{number}"][trec] for number in range(len(batch))]


def from_ir_measures(measure, qrels, run):
    return {
        found.query_id: found.value
        for found in ir_measures.iter_calc([ir_measures.parse_measure(measure)], qrels, run)
    }


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("ndcg(gain=exp)", "nDCG(gains={2:3,3:7,4:15})"),
        ("ndcg(gain=exp)@10", "nDCG(gains={2:3,3:7,4:15})@10"),
        ("mrr@10", "RR@10"),
        ("mrr(rel=2)@3", "RR(rel=2)@3"),
        ("map(rel=3)@20", "AP(rel=3)@20"),
        ("judged@10", "Judged@10"),
        ("judged", "Judged"),
        ("precision", "SetP"),
        ("recall(rel=2)", "SetR(rel=2)"),
        ("f1(rel=2)", "SetF(rel=2)"),
    ],
)
def test_parameters_equal_ir_measures(name, measure):
    for batch in batches():
        qrels, run = as_qrels(batch), as_run(batch)
        if name.startswith("judged"):
            # ir_measures divides by zero where nothing came back.
            run = {query: documents for query, documents in run.items() if documents}
        theirs = from_ir_measures(measure, qrels, run)
        column = ours(batch, [name])[name]
        for query in run:
            assert column[int(query[1:])] == theirs[query], (batch[int(query[1:])], measure)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval.pl wants perl")
@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("err@20", "ERR@20"),
        ("err@3", "ERR@3"),
        ("ndcg(gain=exp)@10", "nDCG(dcg='exp-log2')@10"),
    ],
)
def test_parameters_equal_gdeval_to_the_five_digits_it_prints(name, measure):
    for batch in batches():
        # gdeval.pl reads numbers as queries, ids without blanks, and says nothing about a query without relevant ones.
        qrels = {
            str(number): {document.replace(" ", "_"): grade for document, grade in judgments.items()}
            for number, (judgments, _) in enumerate(batch)
        }
        run = {query[1:]: documents for query, documents in as_run(batch).items()}
        theirs = from_ir_measures(measure, qrels, run)
        column = ours(batch, [name])[name]
        for query, value in theirs.items():
            assert column[int(query)] == pytest.approx(value, abs=5.1e-6, rel=0), (batch[int(query)], measure)
        assert len(theirs) > len(batch) / 3


def test_rbp_equals_cwl_eval():
    for batch in batches()[:1]:
        some = [(judgments, ranking) for judgments, ranking in batch if ranking][:500]
        for name, measure in {"rbp": "RBP(rel=1)", "rbp(p=0.95,rel=2)": "RBP(rel=2,p=0.95)"}.items():
            theirs = from_ir_measures(measure, as_qrels(some), as_run(some))
            column = ours(some, [name])[name]
            for query, value in theirs.items():
                # It reads the first thousand documents.
                assert column[int(query[1:])] == pytest.approx(value, abs=1e-9)


# Definitions from the papers, written once more, the slow way -------------------------------------------------


def textbook(name, judgments, ranking):
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
            stop * math.prod(1 - earlier for earlier in stops[:at]) / (at + 1)
            for at, stop in enumerate(stops)
        )
    if name.startswith("f1"):
        precise, complete = hits / k, hits / total if total else 0
        return 2 * precise * complete / (precise + complete) if hits else 0
    if name.startswith("precision(denom=retrieved)"):
        return hits / min(k, len(ranking)) if ranking else 0
    if name.startswith("hit"):
        return float(hits > 0)
    average = sum(sum(relevant[: at + 1]) / (at + 1) for at, found in enumerate(relevant[:k]) if found)
    if name.startswith("map(norm=min)"):
        return average / min(k, total) if total else 0
    assert name.startswith("map(norm=hits)")
    return average / hits if hits else 0


@pytest.mark.parametrize(
    "name",
    [
        "rbp",
        "rbp@5",
        "rbp(p=0.95)@10",
        "err",
        "err@3",
        "err(max=7)@10",
        "f1@5",
        "f1@10",
        "precision(denom=retrieved)@10",
        "hit",
        "map(norm=min)@5",
        "map(norm=min)@10",
        "map(norm=hits)@10",
        "map(norm=hits)",
    ],
)
def test_other_metrics_equal_a_second_implementation_of_their_definition(name):
    for batch in batches()[:2]:
        column = ours(batch, [name])[name]
        for value, (judgments, ranking) in zip(column[:3000], batch, strict=False):
            assert value == pytest.approx(textbook(name, judgments, ranking), abs=1e-12), (judgments, ranking)


def test_one_query_scored_alone_is_the_same_as_among_others():
    names = [
        *TREC_EVAL,
        "judged@10",
        "err@20",
        "rbp",
        "map(norm=min)@3",
        "precision(denom=retrieved)@10",
        "f1@3",
    ]
    batch = batches()[0][:500]
    columns = ours(batch, names)
    for name in names:
        assert columns[name] == [score(name, judgments, ranking) for judgments, ranking in batch]
