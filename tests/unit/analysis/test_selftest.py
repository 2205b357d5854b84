"""What the self-test does to a stored run, and what it says of the limits."""

from __future__ import annotations

import pytest

from pytest_irmetrics import thresholds
from pytest_irmetrics.analysis.degradations import degradations
from pytest_irmetrics.analysis.selftest import run_selftest
from pytest_irmetrics.evaluation import EvaluationError, evaluate_run, read_metrics
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.reports.texts import selftest_conclusion
from pytest_irmetrics.run import Answer, Run

DEPTH = 10
METRICS = ("mrr", "ndcg@10", "recall@10")


def query(number, **changes):
    values = {"text": f"text {number}", "judgments": {f"r{number}": 1, f"s{number}": 2, f"n{number}": 0}}
    return Query(id=f"q{number}", **{**values, **changes})


def ranking(number):
    """The two relevant documents at ranks 1 and 7, the one that was judged bad last."""
    fill = [f"d{number + step}" for step in range(7)]
    return (f"s{number}", *fill[:5], f"r{number}", *fill[5:], f"n{number}")


def stored(queries, rankings=None):
    rankings = rankings or {q.id: (() if q.no_answer else ranking(int(q.id[1:])),) for q in queries}
    answers = {q.id: Answer(rankings[q.id], text=q.text, params=q.params, weight=q.weight) for q in queries}
    return Run.of(answers, depth=DEPTH)


def limits(*lines):
    levels = [[thresholds.parse_line(line, origin="here", custom=("own",)) for line in lines]]
    return thresholds.resolve(levels)


def tried(queries, *lines, metrics=METRICS, run=None, custom=None):
    baseline = evaluate_run(
        GoldenSet(queries), run or stored(queries), metrics, depth=DEPTH, custom_metrics=custom or {}
    )
    return run_selftest(baseline, limits(*lines), against="the baseline", update="pytest")


def by_name(result):
    return {degradation.name: degradation for degradation in result.degradations}


def degraded(queries, name, run=None):
    evaluation = evaluate_run(GoldenSet(queries), run or stored(queries), METRICS, depth=DEPTH)
    return next(degraded.rankings for degraded in degradations(evaluation) if degraded.name.startswith(name))


MANY = [query(number, tags=("even",) if number % 2 == 0 else ()) for number in range(100)]


def test_the_best_hit_is_lost_and_the_rest_moves_up():
    assert degraded([query(1)], "best hit")["q1"][0] == ranking(1)[1:]


def test_the_best_hit_is_one_that_the_relevance_level_calls_relevant():
    golden = GoldenSet([query(1)], relevance_level=2)
    run = stored([query(1)], {"q1": (("r1", "s1"),)})
    evaluation = evaluate_run(golden, run, METRICS, depth=DEPTH)
    assert next(iter(degradations(evaluation))).rankings == {"q1": (("r1",),)}


def test_where_no_other_document_is_known_one_is_made_up_that_is_neither_judged_nor_forbidden():
    alone = query(1, judgments={"r1": 1, "unjudged-1": 0}, forbidden=("unjudged-2",))
    now = degraded([alone], "rankings shifted by one", stored([alone], {"q1": (("r1",),)}))
    assert now["q1"] == (("unjudged-3", "r1"),)


def test_broken_queries_are_empty_and_a_larger_share_holds_the_smaller():
    broken = [degraded(MANY, f"broke {share} %") for share in (1, 3, 10)]
    assert list(map(len, broken)) == [1, 3, 10]
    assert broken[0].keys() < broken[1].keys() < broken[2].keys()
    assert all(rankings == ((),) for share in broken for rankings in share.values())


def test_only_queries_that_work_are_broken():
    rankings = {q.id: ((ranking(5) if q.id == "q5" else ("d1", "d2")),) for q in MANY}
    assert degraded(MANY, "broke 1 %", stored(MANY, rankings)).keys() == {"q5"}


def test_a_small_set_breaks_one_query_once():
    names = [degradation.name for degradation in tried(MANY[:20], "mrr max_drop=0.01").degradations]
    assert [name for name in names if name.startswith("broke")] == [
        "broke one query of 20",
        "broke 10 % of queries (2/20)",
    ]


def test_each_repeat_is_degraded():
    run = stored([query(1)], {"q1": (ranking(1), ranking(1)[::-1])})
    assert degraded([query(1)], "best hit", run)["q1"] == (
        ranking(1)[1:],
        tuple(doc for doc in ranking(1)[::-1] if doc != "r1"),
    )


def test_the_order_of_the_queries_changes_nothing():
    lines = ("ndcg@10 max_drop=0.01", "mrr 0.5")
    assert tried(MANY, *lines).degradations == tried(MANY[::-1], *lines).degradations


def test_every_gate_that_fails_is_named_with_its_slice():
    lines = ("mrr 0.9", "mrr max_drop=0.01", "mrr max_drop=0.01 tag=even", "recall@10 max_lost=0")
    found = by_name(tried(MANY, *lines))
    assert found["slice even lost (50)"].caught_by == [
        "mrr max_drop [even]",
        "recall@10 max_lost",
        "mrr max_drop",
        "mrr min",
    ]
    assert found["rankings shifted by one"].caught_by == ["mrr max_drop", "mrr max_drop [even]", "mrr min"]


def test_queries_own_thresholds_are_counted():
    own = thresholds.build("mrr", {"min": 1.0}, tag=None, origin="here", custom=(), for_query=True)
    queries = [query(1, thresholds=(own,)), query(2, thresholds=(own,)), query(3)]
    assert by_name(tried(queries))["rankings shifted by one"].caught_by == ["mrr min of 2 single queries"]


def test_a_gate_that_the_intact_run_fails_catches_nothing():
    result = tried(MANY, "recall@10 max_drop=0.01", "mrr 1.0", "ndcg@10 0.999")
    assert [verdict.metric.name for verdict in result.verdicts if verdict.failed] == ["ndcg@10"]
    assert by_name(result)["rankings shifted by one"].caught_by == ["mrr min"]


def test_a_degradation_that_lowers_no_score_is_left_out():
    queries = [query(1, judgments={"r1": 1}), query(2, judgments={"r2": 1})]
    run = stored(queries, {"q1": (("r1", "d1", "d2", "d3"),), "q2": (("d1", "d2", "r2", "d3"),)})
    names = by_name(tried(queries, "mrr max_drop=0.01", run=run))
    assert "rankings truncated to 3" not in names
    assert "best hit of every query lost" in names
    nothing = stored(queries, {"q1": (("d1", "d2"),), "q2": ((),)})
    assert tried(queries, run=nothing).degradations == ()


def test_slices_of_fewer_than_three_queries_are_not_lost():
    queries = [query(number, tags=("three", *(["two"] if number < 2 else []))) for number in range(3)]
    assert [d.name for d in tried(queries).degradations if d.tag] == ["slice three lost (3)"]


def test_a_no_answer_query_that_was_answered_in_one_repeat_is_not_answered_again():
    queries = [*MANY[:5], query(5, judgments={}, no_answer=True)]
    rankings = {f"q{number}": (ranking(number),) * 2 for number in range(5)} | {"q5": ((), ("d1",))}
    evaluation = evaluate_run(GoldenSet(queries), stored(queries, rankings), METRICS, depth=DEPTH)
    assert not [each.name for each in degradations(evaluation) if each.name.startswith("no_answer")]


def test_answered_no_answer_queries_always_count():
    queries = [*MANY[:5], query(5, judgments={}, no_answer=True)]
    assert by_name(tried(queries))["no_answer queries answered (1)"].caught_by == ["no_answer"]
    found = tried(queries, "no_answer 0", metrics=(*METRICS, "no_answer"))
    assert by_name(found)["no_answer queries answered (1)"].caught_by == []
    assert any("no_answer" in sentence for sentence in found.advice)


def test_latency_is_not_gated_and_xfail_queries_stay_as_they_are():
    queries = [*MANY[:5], query(5, xfail="TICKET-7")]
    result = tried(queries, "latency_p50 max=5", "mrr max_drop=0.01", metrics=(*METRICS, "latency_p50"))
    assert not any(verdict.failed for verdict in result.verdicts)
    assert list(result.gates.metrics) == [Metric("mrr")]
    assert all("q5" not in degraded.rankings for degraded in degradations(result.intact))


def test_queries_that_do_not_pair_are_left_out():
    asked = [*MANY[:5], query(5), query(6, text="now in other words")]
    run = stored([*MANY[:5], query(6)])
    result = tried(asked, "mrr 0.9", run=run)
    assert result.comparison.new == ("q5",)
    assert result.comparison.reworded == ("q6",)
    assert not any(verdict.failed for verdict in result.verdicts)
    assert {query_id for degraded in degradations(result.intact) for query_id in degraded.rankings} == {
        q.id for q in MANY[:5]
    }


def test_an_error_of_a_custom_metric_names_the_degradation():
    def own(_query, ranking, _k):
        return 1 / len(ranking)

    with pytest.raises(
        EvaluationError, match=r"^--ir-selftest, broke one query of 5: the metric own raised Zero"
    ):
        tried(MANY[:5], "own max_drop=0.01", metrics=read_metrics(["own"], {"own": own}), custom={"own": own})


def test_following_the_advice_catches_the_degradation():
    before = tried(MANY, "mrr max_drop=0.6")
    missed = {d.name for d in before.degradations if not d.caught_by}
    assert {"broke 1 % of queries (1/100)", "slice even lost (50)"} <= missed
    after = by_name(tried(MANY, "mrr max_drop=0.6", "mrr max_lost=0", "mrr max_drop=10% tag=even"))
    assert after["broke 1 % of queries (1/100)"].caught_by == ["mrr max_lost"]
    assert after["slice even lost (50)"].caught_by == ["mrr max_lost", "mrr max_drop [even]"]


def test_no_advice_is_given_where_all_is_caught():
    result = tried(MANY, "mrr max_drop=0.0", "recall@10 max_drop=0.0")
    assert all(degradation.caught_by for degradation in result.degradations)
    assert result.advice == ()
    assert selftest_conclusion(result.degradations) == f"caught all {len(result.degradations)}"


def test_a_degradation_counts_where_one_of_several_metrics_falls():
    def own(_query, ranking, _k):
        return 1.0 if ranking[:1] == ("d1",) else 0.0

    found = {f"q{number}": (("d1", f"u{number}"),) for number in range(6)}  # nothing relevant
    queries = [query(number) for number in range(6)]
    metrics = read_metrics(["mrr", "own"], {"own": own})
    result = tried(
        queries, "mrr max_drop=0.01", metrics=metrics, run=stored(queries, found), custom={"own": own}
    )
    assert by_name(result)["rankings shifted by one"].deltas == {"mrr": 0.0, "own": -1.0}
