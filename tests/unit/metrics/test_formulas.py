"""Each formula, by published examples, its conventions and its limits."""

from __future__ import annotations

import math

import pytest

from pytest_irmetrics.metrics import (
    FAMILIES,
    Metric,
    MetricError,
    Scorer,
    dcg,
    mean,
    mean_of_scored,
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


def test_average_precision_divided_by_the_smaller_of_k_and_r():
    assert round(score("map(norm=min)@3", {"P": 1, "V": 1}, list("PSV")), 4) == 0.8333


@pytest.mark.parametrize(("found", "recalled"), [(1, 0.2), (3, 0.6)])
def test_hit_is_binary_and_recall_is_a_share(found, recalled):
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


def test_judged_divides_by_the_results_returned():
    judgments = {"a": 1, "b": 0, "c": -1}
    assert score("judged", judgments, list("abxc")) == 0.75
    assert score("judged@2", judgments, list("abxc")) == 1
    assert score("judged@10", judgments, list("abxc")) == 0.75
    assert score("judged@10", judgments, []) == 1
    assert score("judged", {}, ["x"]) == 0


def test_miss_skip_gives_a_miss_no_value():
    assert score("mrr(miss=skip)@2", {"a": 1}, list("xya")) is None
    assert score("mrr(miss=skip)@3", {"a": 1}, list("xya")) == 1 / 3
    assert Scorer(["mrr(miss=skip)@2", "mrr@2"]).row({"a": 1}, list("xya")) == [None, 0.0]


def test_average_precision_has_three_denominators():
    judgments = dict.fromkeys("abcdef", 1)
    assert score("map@3", judgments, list("axb")) == (1 + 2 / 3) / 6
    assert score("map(norm=min)@3", judgments, list("axb")) == (1 + 2 / 3) / 3
    assert score("map(norm=hits)@3", judgments, list("axb")) == (1 + 2 / 3) / 2
    assert score("map(norm=hits)@3", judgments, list("xyz")) == 0


def test_precision_divides_by_k_or_by_the_results_returned():
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


def test_bpref_counts_only_documents_judged_not_relevant():
    judgments = {"a": 1, "b": 1, "n": 0, "m": 0, "unsure": -1}
    assert score("bpref", judgments, ["n", "?", "unsure", "a", "b"]) == 0.5
    assert score("bpref", {"a": 1, "n": 0, "m": 0}, list("nma")) == 0
    assert score("bpref", {"a": 1, "b": 1, "n": 0, "unsure": -1}, list("nab")) == 0
    assert score("bpref@4", judgments, ["n", "?", "unsure", "a", "b"]) == 0.25


def test_r_precision_is_precision_at_r():
    judgments = {"a": 1, "b": 1}
    assert score("r_precision", judgments, list("axb")) == 0.5
    assert score("r_precision", judgments, list("abx")) == 1
    assert score("r_precision@1", judgments, list("abx")) == 0.5


def test_ndcg_ignores_the_relevance_level():
    judgments = {"a": 1, "b": 3}
    low, high = (score("ndcg@5", judgments, list("ab"), relevance_level=level) for level in (1, 3))
    assert low == high == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_exponential_gain():
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


def test_grades_and_levels_may_be_fractions():
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


def test_a_mean_of_scored_queries_leaves_out_the_others_with_their_weights():
    assert mean_of_scored([1.0, None, 0.0], [3.0, 100.0, 1.0]) == 0.75
    assert mean_of_scored([1.0, None, 0.5]) == 0.75
    assert mean_of_scored([0.5, 1.0], [1.0, 3.0]) == 0.875
    assert mean_of_scored([None], [1.0]) is None
    assert mean_of_scored([]) is None


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


def test_a_grade_too_high_for_an_exponential_gain_is_refused():
    assert score("ndcg(gain=exp)", {"a": 1000, "b": 999}, ["a", "b"]) == 1
    with pytest.raises(MetricError, match=r"grade 2000 is too high for an exponential gain"):
        score("ndcg(gain=exp)", {"a": 2000}, ["a"])


@pytest.mark.parametrize("level", [0, -1, math.inf, math.nan, "1", None])
def test_the_relevance_level_is_above_zero(level):
    with pytest.raises(MetricError, match=r"relevance level .* is not a number above 0"):
        Scorer(["mrr"], relevance_level=level)
    with pytest.raises(MetricError, match="relevance level"):
        score("ndcg", {"a": 1}, ["a"], relevance_level=level)


def test_columns_tell_the_position_of_the_query_at_fault():
    with pytest.raises(MetricError) as caught:
        Scorer(["mrr", "err"]).columns([{"a": 4}, {"a": 1}, {"a": 7}], [["a"]] * 3)
    assert caught.value.index == 2


@pytest.mark.parametrize("name", ["no_answer", "latency_p50", "latency_p95", "mine"])
def test_latencies_and_no_answer_are_not_scored_from_rankings(name):
    with pytest.raises(MetricError, match=f"{name} is not computed from a ranking"):
        Scorer([parse_metric(name, custom=["mine"])])


def test_a_metric_made_without_parsing_is_checked():
    with pytest.raises(MetricError, match=r"Did you mean gain"):
        score(Metric("ndcg", 10, (("gian", "exp"),)), {"a": 1}, ["a"])
