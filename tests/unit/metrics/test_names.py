"""Reading the names of metrics, and what they are equal to."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_irmetrics.metrics import (
    FAMILIES,
    Metric,
    MetricError,
    parse_metric,
)
from tests.reached import often, reached

NAMES = {
    # ours
    "mrr": "mrr",
    "NDCG@10": "ndcg@10",
    " ndcg @ 10 ": "ndcg@10",
    "ndcg()@010": "ndcg@10",
    "ndcg(gain=exp)@10": "ndcg(gain=exp)@10",
    "NDCG( Gain = EXP )@10": "ndcg(gain=exp)@10",
    "ndcg(gain=linear)@10": "ndcg@10",
    "map(norm=min)@10": "map(norm=min)@10",
    "map(norm=all)": "map",
    "precision(denom=retrieved)@10": "precision(denom=retrieved)@10",
    "precision(denom=retrieved)": "precision",
    "mrr(rel=2)": "mrr(rel=2)",
    "mrr(rel=2.0)": "mrr(rel=2)",
    "mrr(rel=2,miss=skip)@5": "mrr(miss=skip,rel=2)@5",
    "rbp(p=0.8)": "rbp",
    "rbp(p=.95)": "rbp(p=0.95)",
    "err(max=4)@20": "err@20",
    "err(max=3)": "err(max=3)",
    "no_answer": "no_answer",
    "Latency_P95": "latency_p95",
    # ir_measures
    "nDCG@10": "ndcg@10",
    "nDCG(dcg='exp-log2')@10": "ndcg(gain=exp)@10",
    "nDCG(dcg='log2')@10": "ndcg@10",
    "nDCG(cutoff=10)": "ndcg@10",
    "nDCG(cutoff=10,dcg='exp-log2')": "ndcg(gain=exp)@10",
    "ndcg(dcg=log2,gain=exp)@10": "ndcg(gain=exp)@10",
    "RR": "mrr",
    "RR@10": "mrr@10",
    "RR(rel=2)@10": "mrr(rel=2)@10",
    "AP": "map",
    "AP@100": "map@100",
    "MAP": "map",
    "P@5": "precision@5",
    "R@100": "recall@100",
    "Success@10": "hit@10",
    "Rprec": "r_precision",
    "RPrec": "r_precision",
    "Bpref": "bpref",
    "Judged@10": "judged@10",
    "ERR@20": "err@20",
    "RBP(p=0.8,rel=1)": "rbp(rel=1)",
    "SetP": "precision",
    "SetR": "recall",
    "SetF": "f1",
    # trec_eval
    "recip_rank": "mrr",
    "map_cut_10": "map@10",
    "map_cut.10": "map@10",
    "ndcg_cut_10": "ndcg@10",
    "P_5": "precision@5",
    "P.5": "precision@5",
    "recall_100": "recall@100",
    "success_10": "hit@10",
    "set_P": "precision",
    "set_recall": "recall",
    "set_F": "f1",
}


@pytest.mark.parametrize(("written", "name"), NAMES.items())
def test_names_of_trec_eval_and_ir_measures_are_read(written, name):
    metric = parse_metric(written)
    assert metric.name == str(metric) == name
    assert parse_metric(name) == metric
    assert hash(parse_metric(name)) == hash(metric)


ERRORS = {
    "ndgc@10": "unknown metric 'ndgc@10'. Did you mean ndcg@10?",
    "recal@5": "Did you mean recall@5?",
    "ndcg_10": "Did you mean ndcg@10?",
    "MRR10": "Did you mean mrr@10?",
    "P5": "Did you mean precision@5?",
    "Sucess@3": "Did you mean hit@3?",
    "qwertyuiop": "Known are mrr, map, ndcg",
    "": "names no metric. Write for example ndcg@10",
    "@10": "names no metric",
    "(p=1)": "names no metric",
    "ndcg@0": "the cut-off '0' is not a whole number above 0",
    "ndcg@-1": "the cut-off '-1' is not a whole number above 0",
    "ndcg@1.5": "the cut-off '1.5' is not a whole number above 0",
    "ndcg@": "the cut-off '' is not a whole number above 0",
    "ndcg@ten": "the cut-off 'ten' is not a whole number above 0",
    "ndcg@\uff11\uff10": "is not a whole number above 0",
    "ndcg@" + "9" * 5000: "is not a whole number above 0",
    "P_0": "the cut-off '0' is not a whole number above 0",
    "ndcg@10@5": "the cut-off '10@5' is not",
    "ndcg(gain=exp@10": "the parenthesis is not closed",
    "ndcg(gain=exp)10": "cannot be read. Write name(parameter=value)@k",
    "ndcg@10(gain=exp)": "cannot be read. Write name(parameter=value)@k",
    "ndcg(gian=exp)": "ndcg has no parameter 'gian'. Did you mean gain?",
    "ndcg(rel=2)@3": "A relevance level belongs to the binary metrics: mrr, map, precision",
    "recall(p=2)@3": "recall has no parameter 'p'. It has rel",
    "judged(p=2)@3": "judged has no parameter 'p'. It has none",
    "P_5@3": "unknown metric 'P_5@3'",
    "ndcg(gain=log2)": "gain=log2 cannot be used",
    "ndcg(dcg=log10)": "ndcg has no parameter 'dcg'",
    "map(dcg=exp-log2)": "map has no parameter 'dcg'",
    "ndcg(gain=squared)": "gain=squared cannot be used. gain is linear or exp",
    "map(norm=min)": "norm=min divides by min(k, R), and there is no k. Write map(norm=min)@10",
    "rbp(p=1)": "p=1 cannot be used. p is a number above 0 and below 1",
    "rbp(p=0)": "p is a number above 0 and below 1",
    "rbp(p=nan)": "p is a number above 0 and below 1",
    "mrr(rel=1_0)": "rel is a number above 0",
    "rbp(p=1e)": "p is a number above 0 and below 1",
    "mrr(rel=0)": "rel is a number above 0",
    "mrr(rel=1e999)": "rel is a number above 0",
    "err(max=2.5)": "max is a whole number above 0 and below 1001",
    "rbp(0.8)": "'0.8' is not parameter=value",
    "rbp(p=)": "'p=' is not parameter=value",
    "mrr(rel=1,)": "'' is not parameter=value",
    "mrr(rel=1,rel=2)": "the parameter 'rel' is given twice",
    "ndcg(cutoff=5)@10": "the cut-off is given twice",
    "SetP@5": "SetP takes no cut-off. Write precision@5, or precision",
    "no_answer@5": "no_answer takes neither cut-off nor parameters. Write no_answer",
    "latency_p50(rel=1)": "latency_p50 takes neither cut-off nor parameters",
    None: "a metric's name is text, not NoneType",
    10: "a metric's name is text, not int",
}


@pytest.mark.parametrize(("written", "message"), ERRORS.items(), ids=lambda text: ascii(text)[:40])
def test_a_name_that_cannot_be_read_says_what_to_write(written, message):
    with pytest.raises(MetricError) as caught:
        parse_metric(written)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_custom_metric_takes_any_parameters():
    metric = parse_metric("Coverage(b=2.50,a=Text,c=3.0)@7", custom=["coverage", "other"])
    assert metric == Metric("coverage", 7, (("a", "Text"), ("b", 2.5), ("c", 3)))
    assert metric.name == "coverage(a=Text,b=2.5,c=3)@7"
    assert metric.kind == "custom"
    assert (metric.lower, metric.upper) == (-math.inf, math.inf)
    assert parse_metric(metric.name, custom=["coverage"]) == metric


def test_a_custom_metric_is_found_as_spelt_first():
    assert parse_metric("Cover", custom=["cover", "Cover"]).family == "Cover"
    assert parse_metric("cover_10", custom=["cover_10"]).name == "cover_10"
    with pytest.raises(MetricError, match=r"Did you mean cover@3"):
        parse_metric("covr@3", custom=["cover"])


@pytest.mark.parametrize("taken", ["mrr", "P", "SetR", "latency_p50"])
def test_a_custom_metric_cannot_take_a_built_in_name(taken):
    with pytest.raises(MetricError, match=r"is built in. Give your own another name"):
        parse_metric(taken, custom=[taken])


@pytest.mark.parametrize("key", ["k", "query", "ranking", "not-a-name", "1"])
def test_a_parameter_of_a_custom_metric_is_a_keyword_argument(key):
    with pytest.raises(MetricError, match="cannot be a parameter"):
        parse_metric(f"mine({key}=3)", custom=["mine"])


def test_a_metric_is_immutable_and_survives_copies_and_pickles():
    metric = parse_metric("ndcg(gain=exp)@10")
    with pytest.raises(AttributeError, match="immutable"):
        metric.cutoff = 5
    with pytest.raises(AttributeError, match="immutable"):
        del metric.family
    assert pickle.loads(pickle.dumps(metric)) is copy.deepcopy(metric) is metric
    assert parse_metric("nDCG(gain=exp)@10") is metric
    assert metric != "ndcg(gain=exp)@10"
    assert metric != parse_metric("ndcg@10")
    assert repr(metric) == "<Metric ndcg(gain=exp)@10>"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_a_kind_a_range_and_a_definition(name):
    metric = parse_metric(name)
    family = FAMILIES[name]
    assert metric.lower == 0
    assert metric.upper == (math.inf if metric.kind == "latency" else 1)
    other_kinds = {"no_answer": "no_answer", "latency_p50": "latency", "latency_p95": "latency"}
    assert metric.kind == other_kinds.get(name, "ranking")
    assert family.definition
    if metric.kind == "ranking":
        assert family.definition == family.formula.__doc__
        assert "Source: " in family.definition


texts = st.text(st.sampled_from("ndcgmrpfx_(=,)@. 10'") | st.characters(), max_size=30)


names = st.sampled_from(
    [*FAMILIES, "mine", "nDCG", "P", "RR", "AP", "Success", "ndcg_cut_10", "recip_rank", "x"]
)
words = st.sampled_from(["rel", "gain", "norm", "denom", "miss", "p", "days"])
values = st.sampled_from(["1", "2", "0.8", "exp", "min", "retrieved", "skip", "", "-1", "1e400", "x"])
parameters = st.lists(st.builds("{}={}".format, words, values), max_size=2).map(
    lambda given: f"({','.join(given)})" if given else ""
)
usual = st.sampled_from(
    ["", "", "", "(rel=2)", "(gain=exp)", "(norm=min)", "(miss=skip)", "(p=0.8)", "(rel=2, norm=min)"]
)
cutoffs = st.sampled_from(["", "@10", "@1", "@5", "@100", "@0", "@", "@x", " @ 5"])
spelt = st.builds("{}{}{}".format, names, usual | usual | parameters, cutoffs)


@often(0.05)
@given(texts | spelt | spelt)
@example("(((")
@example("ndcg)(@")
def test_any_text_is_a_metric_or_a_metric_error(text):
    try:
        metric = parse_metric(text, custom=["mine"])
    except MetricError:
        reached(None)
        return
    reached(metric)
    assert parse_metric(metric.name, custom=["mine"]) == metric
