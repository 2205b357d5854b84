"""docs/other-tools.md: every number is computed anew, with the other tool where it is installed, else by its formula."""

from __future__ import annotations

import math
import re
from itertools import groupby
from pathlib import Path

import pytest
import pytrec_eval

from pytest_irmetrics import GoldenSet, Run, evaluate

PAGE = Path(__file__).parents[2] / "docs" / "other-tools.md"
ROW = re.compile(
    r"^\| (?!tool|rank)([A-Z a-z,_-]+?) \| (.+?) \| ([\d.]+|nan) \| (.+?) \| ([\d.]*) ?\|$", re.MULTILINE
)
ROWS = [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]

JUDGED = {"d1": 3, "d2": 2, "d3": 1, "d4": 0, "d5": 1}
SCORES = {"d2": 0.9, "u1": 0.8, "d1": 0.5, "d4": 0.5, "d3": 0.3}
RELEVANT = {doc_id for doc_id, grade in JUDGED.items() if grade}
BINARY = dict.fromkeys(RELEVANT, 1)
K, R = 3, len(RELEVANT)


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(gains, ideal):
    return dcg(list(gains)[:K]) / dcg(sorted(ideal, reverse=True)[:K])


def sklearn_ndcg(documents, *, ignore_ties=False):
    """Equal scores share the mean of their gains."""
    scored = sorted(((SCORES.get(d, 0.0), JUDGED.get(d, 0)) for d in documents), key=lambda pair: -pair[0])
    gains = []
    for _, group in groupby(scored, key=lambda pair: pair[0]):
        tied = [gain for _, gain in group]
        gains += tied if ignore_ties else [sum(tied) / len(tied)] * len(tied)
    return ndcg(gains, [gain for _, gain in scored])


def precisions():
    """Precision at each relevant document among the first K."""
    found = [rank for rank, doc_id in enumerate(list(SCORES)[:K], 1) if doc_id in RELEVANT]
    return [number / rank for number, rank in enumerate(found, 1)]


def trec(measure):
    evaluator = pytrec_eval.RelevanceEvaluator({"q": JUDGED}, {f"{measure}.{K}"})
    return evaluator.evaluate({"q": SCORES})["q"][f"{measure}_{K}"]


def bpref(judged):
    """As ranx: NaN where nothing was judged not relevant."""
    bad = [d for d, grade in judged.items() if not grade]
    if not bad:
        return math.nan
    ranking = list(SCORES)
    terms = [
        1
        - min(len([b for b in bad if b in ranking and ranking.index(b) < ranking.index(d)]), R)
        / min(len(bad), R)
        for d in RELEVANT
        if d in ranking
    ]
    return sum(terms) / R


FIRST = list(SCORES)[:K]
GAINS = [JUDGED.get(doc_id, 0) for doc_id in SCORES]
NOT_JUDGED_BAD = {doc_id: grade for doc_id, grade in JUDGED.items() if grade}
THEIRS = {
    ("scikit-learn", "`ndcg_score(k=3)`, of what was returned"): sklearn_ndcg(SCORES),
    ("scikit-learn", "`ndcg_score(k=3)`, of all judged documents"): sklearn_ndcg([*SCORES, "d5"]),
    ("scikit-learn", "`ndcg_score(k=3, ignore_ties=True)`, of all judged documents"): sklearn_ndcg(
        [*SCORES, "d5"], ignore_ties=True
    ),
    ("sentence-transformers", "`ndcg@3`"): ndcg([doc_id in RELEVANT for doc_id in SCORES], [1] * R),
    ("sentence-transformers", "`map@3`"): sum(precisions()) / min(K, R),
    ("ranx", "`ndcg_burges@3`"): ndcg([2**g - 1 for g in GAINS], [2**g - 1 for g in JUDGED.values()]),
    ("ranx", "`rbp.80`"): 0.2 * sum(gain * 0.8**place for place, gain in enumerate(GAINS)),
    ("ranx", "`bpref`"): bpref(JUDGED),
    ("ranx", "`bpref`, without the document of grade 0"): bpref(NOT_JUDGED_BAD),
    ("BEIR, MTEB", "`NDCG@3`, from these scores"): trec("ndcg_cut"),
    ("BEIR, MTEB", "`R_cap@3`, recall_cap"): len(RELEVANT.intersection(FIRST)) / min(K, R),
    ("BEIR, MTEB", "`Hole@3`"): len([d for d in FIRST if d not in JUDGED]) / K,
    ("Ragas", "context precision of 3 chunks, with these judgments"): sum(precisions()) / len(precisions()),
    ("pytrec_eval", "`ndcg_cut_3`, from these scores"): trec("ndcg_cut"),
}


def ours(name, judged, tmp_path):
    """Return what the name on the page gives here."""
    metric = re.search("`(.+?)`", name).group(1)
    golden = GoldenSet.from_judgments({"q": BINARY if "with every grade 1" in name else judged})
    run = Run({"q": list(SCORES)})
    if "TREC run" in name:
        path = tmp_path / "its.run"
        lines = [f"q Q0 {d} {rank} {score} tag\n" for rank, (d, score) in enumerate(SCORES.items(), 1)]
        path.write_text("".join(lines), encoding="utf-8")
        run = Run.load(path)
    value = evaluate(golden, run, [metric])[metric]
    return 1 - value if name.startswith("none; 1 −") else value


def test_the_page_has_every_number_and_no_other():
    assert {(tool, what) for tool, what, *_ in ROWS} == THEIRS.keys()
    assert len(ROWS) == len(THEIRS)


@pytest.mark.parametrize(
    ("tool", "what", "value", "name", "here"), ROWS, ids=[f"{r[0]} {r[1]}" for r in ROWS]
)
def test_the_page_shows_what_each_formula_gives(tool, what, value, name, here, tmp_path):
    assert f"{THEIRS[tool, what]:.4f}" == (value if value == "nan" else f"{float(value):.4f}")
    if here:
        judged = NOT_JUDGED_BAD if "without the document of grade 0" in what else JUDGED
        assert f"{ours(name, judged, tmp_path):.4f}" == here
    else:
        assert name == "none"


def test_the_formula_of_scikit_learn_is_its_own():
    metrics = pytest.importorskip("sklearn.metrics", reason="there is no scikit-learn here: make integration")
    for documents in (list(SCORES), [*SCORES, "d5"]):
        gains, scores = [JUDGED.get(d, 0) for d in documents], [SCORES.get(d, 0.0) for d in documents]
        assert metrics.ndcg_score([gains], [scores], k=K) == pytest.approx(sklearn_ndcg(documents))


@pytest.mark.filterwarnings("ignore")  # numba's, on ranx's own code
@pytest.mark.parametrize("name", ["ndcg_burges@3", "rbp.80", "bpref"])
def test_the_formulas_of_ranx_are_its_own(name):
    ranx = pytest.importorskip("ranx", reason="there is no ranx here: it is in the group bench")
    theirs = ranx.evaluate(ranx.Qrels({"q": JUDGED}), ranx.Run({"q": SCORES}), name)
    assert theirs == pytest.approx(THEIRS["ranx", f"`{name}`"])
