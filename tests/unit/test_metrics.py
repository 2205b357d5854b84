from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_irmetrics import metrics
from pytest_irmetrics.metrics import (
    FAMILIES,
    Metric,
    MetricError,
    Scorer,
    dcg,
    mean,
    parse_metric,
    score,
)

RANKING = [name for name, family in FAMILIES.items() if family.kind == "ranking"]
BINARY = [name for name in RANKING if "rel" in FAMILIES[name].parameters]


# Published examples --------------------------------------------------------------------------------------


def test_mrr_of_first_relevant_ranks_two_one_and_five():
    found = {2: ["x", "a"], 1: ["a"], 5: ["w", "x", "y", "z", "a"]}
    values = [score("mrr@5", {"a": 1}, ranking) for ranking in found.values()]
    assert values == [1 / 2, 1.0, 1 / 5]
    assert round(mean(values), 4) == 0.5667


def test_mrr_of_one_ranking_for_three_queries():
    ranking = ["101", "103", "102", "201", "301"]
    relevant = [["101", "102"], ["201"], ["301", "302", "303"]]
    values = [score("mrr", dict.fromkeys(documents, 1), ranking) for documents in relevant]
    assert round(mean(values), 4) == 0.4833


def test_dcg_and_ndcg_of_graded_results():
    judgments = {"a": 3, "b": 2, "c": 3, "d": 0, "e": 1}
    assert round(dcg(judgments, list("abcde"), 5), 3) == 6.149
    assert round(score("ndcg@5", judgments, list("abcde")), 4) == 0.9724


def test_precision_of_letters():
    judgments = dict.fromkeys("PVJY", 1)
    assert score("precision", judgments, list("PVSAE")) == 0.4
    assert round(score("precision@3", judgments, list("PVSAE")), 4) == 0.6667


def test_average_precision_by_the_shorter_of_page_and_relevant():
    assert round(score("map(norm=min)@3", {"P": 1, "V": 1}, list("PSV")), 4) == 0.8333


@pytest.mark.parametrize(("found", "recalled"), [(1, 0.2), (3, 0.6)])
def test_hit_says_whether_and_recall_how_much(found, recalled):
    judgments = dict.fromkeys("abcde", 1)
    ranking = [*"abcde"[:found], *"uvwxyz", *"12345"][:10]
    assert score("hit@10", judgments, ranking) == 1
    assert score("recall@10", judgments, ranking) == recalled


# Conventions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in RANKING if name != "judged"])
@pytest.mark.parametrize("cut", ["", "@3"])
@pytest.mark.parametrize(
    ("judgments", "ranking"),
    [
        ({"a": 1}, []),
        ({"a": 1}, ["x", "y"]),
        ({"a": 0}, ["a", "x"]),
        ({"a": -1, "b": 0}, ["a", "b"]),
        ({}, ["a"]),
        ({}, []),
    ],
)
def test_nothing_relevant_found_is_zero(name, cut, judgments, ranking):
    assert score(name + cut, judgments, ranking) == 0
    assert Scorer([parse_metric(name + cut)]).row(judgments, ranking) == [0]


def test_judged_is_over_what_came_back():
    judgments = {"a": 1, "b": 0, "c": -1}
    assert score("judged", judgments, list("abxc")) == 0.75
    assert score("judged@2", judgments, list("abxc")) == 1
    assert score("judged@10", judgments, list("abxc")) == 0.75
    assert score("judged@10", judgments, []) == 1
    assert score("judged", {}, ["x"]) == 0


def test_a_miss_may_have_no_value():
    assert score("mrr(miss=skip)@2", {"a": 1}, list("xya")) is None
    assert score("mrr(miss=skip)@3", {"a": 1}, list("xya")) == 1 / 3
    assert Scorer(["mrr(miss=skip)@2", "mrr@2"]).row({"a": 1}, list("xya")) == [None, 0.0]


def test_average_precision_has_three_denominators():
    judgments = dict.fromkeys("abcdef", 1)
    assert score("map@3", judgments, list("axb")) == (1 + 2 / 3) / 6
    assert score("map(norm=min)@3", judgments, list("axb")) == (1 + 2 / 3) / 3
    assert score("map(norm=hits)@3", judgments, list("axb")) == (1 + 2 / 3) / 2
    assert score("map(norm=hits)@3", judgments, list("xyz")) == 0


def test_precision_divides_by_k_or_by_what_came_back():
    assert score("precision@10", {"a": 1}, list("ax")) == 0.1
    assert score("precision(denom=retrieved)@10", {"a": 1}, list("ax")) == 0.5
    assert score("precision(denom=retrieved)@1", {"a": 1}, list("ax")) == 1
    assert score("precision", {"a": 1}, list("ax")) == 0.5


def test_f1_is_the_harmonic_mean_at_the_cutoff():
    judgments = dict.fromkeys("abcd", 1)
    assert score("f1@5", judgments, list("axb")) == pytest.approx(2 * 0.4 * 0.5 / (0.4 + 0.5))
    assert score("f1", judgments, list("axb")) == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))


def test_err_on_a_scale():
    judgments = {"a": 4, "b": 2}
    assert score("err@2", judgments, list("ab")) == 15 / 16 + (1 - 15 / 16) * (3 / 16) / 2
    assert score("err(max=5)@1", judgments, list("ab")) == 15 / 32


def test_rbp_is_binary_and_discounts_by_persistence():
    assert score("rbp", {"a": 1, "b": 3}, list("axb")) == pytest.approx(0.2 * (1 + 0.8**2))
    assert score("rbp(p=0.5)@2", {"a": 1, "b": 3}, list("axb")) == 0.5


def test_bpref_counts_judged_nonrelevant_documents_alone():
    judgments = {"a": 1, "b": 1, "n": 0, "m": 0, "unsure": -1}
    assert score("bpref", judgments, ["n", "?", "unsure", "a", "b"]) == 0.5
    assert score("bpref", {"a": 1, "n": 0, "m": 0}, list("nma")) == 0
    assert score("bpref", {"a": 1, "b": 1, "n": 0, "unsure": -1}, list("nab")) == 0
    assert score("bpref@4", judgments, ["n", "?", "unsure", "a", "b"]) == 0.25


def test_r_precision_reads_as_far_as_there_are_relevant_documents():
    judgments = {"a": 1, "b": 1}
    assert score("r_precision", judgments, list("axb")) == 0.5
    assert score("r_precision", judgments, list("abx")) == 1
    assert score("r_precision@1", judgments, list("abx")) == 0.5


def test_ndcg_keeps_every_gain_whatever_the_relevance_level():
    judgments = {"a": 1, "b": 3}
    low, high = (score("ndcg@5", judgments, list("ab"), relevance_level=level) for level in (1, 3))
    assert low == high == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_gain_may_be_exponential():
    judgments = {"a": 1, "b": 3}
    assert dcg(judgments, list("ab"), gain="exp") == 1 + 7 / math.log2(3)
    assert score("ndcg(gain=exp)", judgments, list("ab")) == (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    with pytest.raises(MetricError, match=r"unknown gain 'squared'. Write linear or exp"):
        dcg(judgments, list("ab"), gain="squared")


@pytest.mark.parametrize("name", BINARY)
def test_relevance_level_is_the_golden_sets_unless_the_metric_has_its_own(name):
    judgments, ranking = {"a": 1, "b": 2, "c": 1, "n": 0}, list("axnb")
    at_two = score(f"{name}@3", judgments, ranking, relevance_level=2)
    assert at_two != score(f"{name}@3", judgments, ranking)
    assert score(f"{name}(rel=2)@3", judgments, ranking) == at_two
    at_one = score(f"{name}(rel=1)@3", judgments, ranking, relevance_level=2)
    assert at_one == score(f"{name}@3", judgments, ranking)


def test_grades_and_levels_may_have_fractions():
    judgments = {"a": 0.5, "b": 1.5}
    assert score("ndcg", judgments, list("ab")) == pytest.approx(
        (0.5 + 1.5 / math.log2(3)) / (1.5 + 0.5 / math.log2(3))
    )
    assert score("recall", judgments, list("ab"), relevance_level=0.5) == 1
    assert score("recall@1", judgments, list("ab")) == 0
    assert score("mrr(rel=0.7)", judgments, list("ab")) == 0.5


def test_sums_are_plain_sums_in_rank_order():
    # Where Python's own sum(), compensated since 3.12, ends on another bit.
    ranking = [f"d{number}" for number in range(1, 31)]
    judgments = {f"d{number}": 1 for number in range(3, 31, 3)}
    assert score("map", judgments, ranking).hex() == "0x1.5555555555556p-2"
    assert dcg({f"d{number}": 1 for number in range(1, 9)}, ranking).hex() == "0x1.fa0b20114971cp+1"


def test_mean_does_not_depend_on_order_and_weighs():
    values = [1.0, 1e-17, 0.1, 0.7, 1e-17]
    assert mean(values) == mean(values[::-1]) == math.fsum(values) / 5
    assert mean(values, [2.0] * 5) == pytest.approx(mean(values), abs=1e-16)
    assert mean([1.0, 0.0], [3.0, 1.0]) == 0.75
    assert mean([0.1] * 10) == 0.1
    assert mean(iter([1, 2])) == 1.5
    with pytest.raises(MetricError, match=r"no value"):
        mean([])
    with pytest.raises(MetricError, match=r"no value"):
        mean([], [])


# Grades and levels that cannot be used --------------------------------------------------------------------


def test_err_refuses_a_grade_above_its_scale_wherever_it_is():
    with pytest.raises(
        MetricError, match=r"grade 5, above the top of the scale of err\(max=4\). Write err\(max=N\)"
    ):
        score("err@10", {"a": 1, "b": 5}, ["a"])


@pytest.mark.parametrize("grade", [math.inf, -math.inf, math.nan, 10**400])
def test_grades_are_finite(grade):
    with pytest.raises(MetricError, match=r"infinite or not a number"):
        score("ndcg", {"a": 1, "b": grade}, ["a"])
    with pytest.raises(MetricError, match=r"infinite or not a number"):
        Scorer(["ndcg"]).row({"b": grade}, ["b"])


def test_an_exponential_gain_has_its_limit():
    assert score("ndcg(gain=exp)", {"a": 1000, "b": 999}, ["a", "b"]) == 1
    with pytest.raises(MetricError, match=r"grade 2000 is too high for an exponential gain"):
        score("ndcg(gain=exp)", {"a": 2000}, ["a"])


@pytest.mark.parametrize("level", [0, -1, math.inf, math.nan, "1", None])
def test_the_relevance_level_is_above_zero(level):
    with pytest.raises(MetricError, match=r"relevance level .* is not a number above 0"):
        Scorer(["mrr"], relevance_level=level)
    with pytest.raises(MetricError, match="relevance level"):
        score("ndcg", {"a": 1}, ["a"], relevance_level=level)


def test_columns_say_which_query_is_at_fault():
    with pytest.raises(MetricError) as caught:
        Scorer(["mrr", "err"]).columns([{"a": 4}, {"a": 1}, {"a": 7}], [["a"]] * 3)
    assert caught.value.index == 2


@pytest.mark.parametrize("name", ["no_answer", "latency_p50", "latency_p95", "mine"])
def test_only_rankings_are_scored_here(name):
    with pytest.raises(MetricError, match=f"{name} is not computed from a ranking"):
        Scorer([parse_metric(name, custom=["mine"])])


def test_a_metric_made_by_hand_is_checked():
    with pytest.raises(MetricError, match=r"Did you mean gain"):
        score(Metric("ndcg", 10, (("gian", "exp"),)), {"a": 1}, ["a"])


# Names ---------------------------------------------------------------------------------------------------

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
def test_names_of_the_field_are_read(written, name):
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


def test_ones_own_metric_has_any_parameters():
    metric = parse_metric("Coverage(b=2.50,a=Text,c=3.0)@7", custom=["coverage", "other"])
    assert metric == Metric("coverage", 7, (("a", "Text"), ("b", 2.5), ("c", 3)))
    assert metric.name == "coverage(a=Text,b=2.5,c=3)@7"
    assert metric.kind == "custom"
    assert (metric.lower, metric.upper) == (-math.inf, math.inf)
    assert parse_metric(metric.name, custom=["coverage"]) == metric


def test_ones_own_metric_is_found_as_spelt_first():
    assert parse_metric("Cover", custom=["cover", "Cover"]).family == "Cover"
    assert parse_metric("cover_10", custom=["cover_10"]).name == "cover_10"
    with pytest.raises(MetricError, match=r"Did you mean cover@3"):
        parse_metric("covr@3", custom=["cover"])


@pytest.mark.parametrize("taken", ["mrr", "P", "SetR", "latency_p50"])
def test_ones_own_metric_cannot_take_a_name_of_the_field(taken):
    with pytest.raises(MetricError, match=r"is built in. Give your own another name"):
        parse_metric(taken, custom=[taken])


@pytest.mark.parametrize("key", ["k", "query", "ranking", "not-a-name", "1"])
def test_ones_own_metric_takes_keyword_arguments(key):
    with pytest.raises(MetricError, match="cannot be a parameter"):
        parse_metric(f"mine({key}=3)", custom=["mine"])


def test_a_metric_does_not_change():
    metric = parse_metric("ndcg(gain=exp)@10")
    with pytest.raises(AttributeError, match="immutable"):
        metric.cutoff = 5
    with pytest.raises(AttributeError, match="immutable"):
        del metric.family
    assert pickle.loads(pickle.dumps(metric)) == copy.deepcopy(metric) == metric
    assert metric != "ndcg(gain=exp)@10"
    assert metric != parse_metric("ndcg@10")
    assert repr(metric) == "<Metric ndcg(gain=exp)@10>"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_says_its_kind_range_and_definition(name):
    metric = parse_metric(name)
    family = FAMILIES[name]
    assert metric.lower == 0
    assert metric.upper == (math.inf if metric.kind == "latency" else 1)
    assert metric.kind == {"n": "no_answer", "l": "latency"}.get(
        name[:1] if name != "ndcg" else "", "ranking"
    )
    assert family.definition
    if metric.kind == "ranking":
        assert family.definition == family.formula.__doc__
        assert "Source: " in family.definition


texts = st.text(st.sampled_from("ndcgmrpfx_(=,)@. 10'") | st.characters(), max_size=30)


@given(texts)
@example("(((")
@example("ndcg)(@")
def test_any_text_is_a_metric_or_a_metric_error(text):
    try:
        metric = parse_metric(text, custom=["mine"])
    except MetricError:
        return
    assert parse_metric(metric.name, custom=["mine"]) == metric


# The scorer ----------------------------------------------------------------------------------------------

EVERY = [
    *RANKING,
    *[f"{name}@{k}" for name in RANKING for k in (1, 3, 10, 2000)],
    *[f"{name}(rel=2)@5" for name in BINARY],
    "mrr(miss=skip)@3",
    "map(norm=min)@5",
    "map(norm=hits)@5",
    "ndcg(gain=exp)@5",
    "ndcg(gain=exp)",
    "precision(denom=retrieved)@5",
    "rbp(p=0.5)",
    "err(max=7)",
]
grades = st.one_of(st.integers(-2, 4), st.sampled_from([0.5, 1.0, 1.5, 2.0, -0.5]))


@st.composite
def queries(draw):
    pool = draw(st.sampled_from([4, 12, 40, 200]))
    documents = st.integers(0, pool).map("d{}".format)
    judgments = draw(st.dictionaries(documents, grades, max_size=draw(st.sampled_from([1, 3, 12, 13, 40]))))
    ranking = draw(st.lists(documents, unique=True, max_size=pool))
    if draw(st.booleans()):  # long enough for what differs with the length, and for ranks off the tables
        ranking = [f"x{at}" for at in range(draw(st.sampled_from([15, 16, 17, 1022, 1030])))] + ranking
    return judgments, ranking


@settings(max_examples=60, deadline=None)
@given(st.lists(queries(), max_size=8), st.sampled_from([1, 2, 0.5]))
def test_many_queries_at_once_equal_each_alone(batch, level):
    judgments, rankings = [one for one, _ in batch], [other for _, other in batch]
    scorer = Scorer([parse_metric(name) for name in EVERY], relevance_level=level)
    alone = [[score(name, one, ranking, relevance_level=level) for one, ranking in batch] for name in EVERY]
    assert scorer.columns(judgments, rankings) == alone
    assert scorer.columns(iter(judgments), map(tuple, rankings)) == alone  # what is remembered is the same
    for at, (one, ranking) in enumerate(batch):
        assert scorer.row(one, ranking) == [column[at] for column in alone]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr("pytest_irmetrics.metrics.scorer._MAX_ROWS", 5)
    scorer = Scorer(["mrr", "ndcg@10"])
    judgments = [{f"d{number % 7}": 1 + number % 3, "other": 1} for number in range(300)]
    ranking = [f"d{number}" for number in range(7)]
    columns = scorer.columns(judgments, [ranking] * 300)
    assert columns == [[score(name, one, ranking) for one in judgments] for name in ("mrr", "ndcg@10")]
    assert sum(len(profile.rows) for profile in scorer._profiles.values()) <= 2 * 6


def test_a_row_met_before_is_not_computed_again():
    scorer = Scorer(["mrr"])
    scorer.columns([{"a": 1}, {"b": 1}], [["x", "a"], ["y", "b"]])
    assert scorer._row_count == 1
    scorer.columns([{"c": 2, "d": 1}, {"f": 1, "e": 2}], [["c"], ["e"]])
    assert (
        scorer._profiles[1, 2] is scorer._profiles[2, 1]
    )  # one profile, whatever the order of the judgments
    assert len(scorer._profiles[1, 2].rows) == 1
    remembered = scorer._row_count
    scorer.columns([{"f": 1, "e": 2}, {"c": 2, "d": 1}, {"a": 1}], [["e"], ["c"], ["x", "a"]])
    assert scorer._row_count == remembered


@pytest.mark.parametrize("name", ["judged", "judged@5", "precision", "f1", "precision(denom=retrieved)@5"])
def test_what_depends_on_the_length_is_not_confused(name):
    rankings = [["a"], ["a", "x"], ["a", "x", "y"]]
    for judgments in ({"a": 1}, {"a": 1, "b": 1}):
        assert Scorer([name]).columns([judgments] * 3, rankings) == [
            [score(name, judgments, one) for one in rankings]
        ]


def test_columns_of_nothing():
    assert Scorer(["mrr", "map"]).columns([], []) == [[], []]
    assert Scorer([]).columns([{"a": 1}], [["a"]]) == []


def test_columns_want_a_ranking_for_each_query():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Scorer(["mrr"]).columns([{"a": 1}, {"b": 1}], [["a"]])


def test_columns_keep_the_order_of_metrics_of_several_levels():
    names = ["recall(rel=2)", "recall", "mrr(rel=3)", "mrr", "mrr(rel=2)"]
    judgments, ranking = {"a": 1, "b": 2, "c": 3}, list("abx")
    assert Scorer(names).row(judgments, ranking) == [score(name, judgments, ranking) for name in names]
    assert Scorer(names).row(judgments, ranking) == [0.5, 2 / 3, 0.0, 1.0, 0.5]


def test_importing_the_core_loads_nothing_slow():
    heavy = {"pytest", "yaml", "numpy", "dataclasses", "inspect", "difflib"}
    code = f"import sys, {metrics.__name__}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert metrics.__name__ in loaded
    assert not heavy & set(loaded)
