"""Gates on today's run alone, and the checks that need no threshold."""

from __future__ import annotations

from dataclasses import replace

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import Verdict, decide
from pytest_irmetrics.gates.baseline_gates import query_verdict
from pytest_irmetrics.gates.verdict import verdict_on
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import Gates, build, resolve
from tests.unit.gates.runs import HIT, MISS, SECOND, evaluated, gates, golden_set, judged


def test_failed_gates_come_first_and_passed_ones_last():
    now = evaluated(golden_set(2), lambda _: SECOND)
    decided = decide(now, gates(min=0.1, max_drop=0.1, max=0.2))
    assert [(verdict.word, verdict.state) for verdict in decided] == [
        ("max", "failed"),
        ("max_drop", "not checked"),
        ("min", "passed"),
    ]


def test_a_failed_query_comes_before_a_gate_that_is_not_checked():
    own = build("mrr", {"min": 0.9}, for_query=True)
    golden = GoldenSet([Query("q0", "text", {"d": 1}, thresholds=(own,))])
    decided = decide(evaluated(golden, lambda _: SECOND), gates(max_drop=0.1))
    assert [verdict.state for verdict in decided] == ["failed", "not checked"]


def test_a_mean_below_its_minimum_names_the_queries_that_cost_it_most():
    golden = golden_set(3, weight=lambda n: n + 1.0)
    (decided,) = decide(evaluated(golden, lambda n: SECOND if n else HIT), gates(min=0.7))
    assert decided.text == "mrr is 0.5833, 0.1167 below the threshold: at least 0.7000 is required."
    assert (decided.queries, decided.limit) == (("q0002", "q0001"), 0.7)


def test_a_printed_mean_never_looks_like_the_limit_that_it_misses():
    golden = golden_set(100_000)
    (decided,) = decide(evaluated(golden, lambda n: HIT if n else MISS), gates(min=1))
    assert decided.text == "mrr is 0.99999, 0.00001 below the threshold: at least 1.00000 is required."


def test_a_latency_names_the_queries_that_took_too_long_and_how_long():
    now = evaluated(golden_set(4), lambda _: HIT, "latency_p95")
    times = {"q0000": (12.0,), "q0001": (250.04, 80.0), "q0002": (900.0,), "q0003": (100.0,)}
    now = replace(now, retrieved=replace(now.retrieved, latencies=times))
    (slow,) = decide(now, gates("latency_p95", max=100))
    assert slow.text.endswith("above the threshold: at most 100.0 ms is allowed.")
    assert slow.details == ("Slowest: q0002 900.0 ms, q0001 250.0 ms.",)
    assert (slow.queries, slow.limit) == (("q0002", "q0001"), 100)


def test_a_gate_over_no_query_fails():
    (decided,) = decide(evaluated(golden_set(1), lambda _: HIT), gates(tag="no such tag", min=0))
    assert decided.failed
    assert decided.over_no_query
    assert decided.text.startswith("A gate over no query: ")


def test_each_query_is_held_against_min_each_unless_it_has_a_minimum_of_its_own():
    own = build("mrr", {"min": 0.1}, for_query=True)
    queries = [Query(f"q{n}", f"text {n}", {"d": 1}, thresholds=(own,) if n == 0 else ()) for n in range(3)]
    now = evaluated(GoldenSet(queries), lambda n: HIT if n == 1 else SECOND)
    failed, passed = decide(now, gates(min_each=0.6))
    assert (
        failed.text == "mrr is below 0.6000 for 1 of 2 queries; the lowest is 0.5000, and each must reach it."
    )
    assert failed.queries == ("q2",)
    assert passed.text == "mrr of the query q0 is 0.5000; at least 0.1000 is required."
    assert (passed.single, passed.queries) == (True, ("q0",))


def test_ids_of_another_kind_are_told_from_bad_quality():
    (decided,) = decide(evaluated(golden_set(2), lambda n: [f"other-{n}"]), gates(min=0.5))
    assert decided.word == "ids"
    assert (
        decided.text
        == "None of the 2 returned ids occurs in the golden set; this is about ids, not about quality."
    )
    assert decided.details[:2] == ("Returned: 'other-0', 'other-1'.", "Expected: 'd'.")


def test_a_forbidden_document_fails_without_any_threshold():
    golden = GoldenSet([Query(f"q{n}", f"text {n}", {"d": 1}, forbidden=("x",)) for n in range(2)])
    (decided,) = decide(evaluated(golden, lambda n: SECOND if n else HIT), Gates())
    assert (decided.word, decided.queries) == ("forbidden", ("q1",))
    assert decided.text == "1 query returns a document that is forbidden."
    (decided,) = decide(evaluated(golden, lambda _: HIT), Gates())
    assert (decided.state, decided.text) == ("passed", "No forbidden document is returned.")


def test_an_answer_where_none_is_right_fails_unless_a_threshold_allows_some():
    golden = GoldenSet([Query("a", "text", {"d": 1}), Query("n", "nothing", {}, no_answer=True)])
    now = evaluate_run(golden, Run({"a": HIT, "n": HIT}), ["mrr", "no_answer"])
    (decided,) = decide(now, Gates())
    assert (decided.word, decided.metric.name, decided.queries) == ("no_answer", "no_answer", ("n",))
    (decided,) = decide(now, gates("no_answer", min=0))
    assert (decided.word, decided.state) == ("min", "passed")


def test_with_single_queries_only_means_are_not_judged():
    now = evaluated(golden_set(2), lambda _: MISS)
    assert decide(now, gates(min=0.5, max_drop=0), single_queries_only=True) == ()
    (decided,) = decide(now, gates(min_each=0.5), single_queries_only=True)
    assert decided.failed


def test_the_queries_below_min_each_come_worst_first():
    golden = golden_set(4)
    rankings = [["x", "d"], ["x", "y", "z", "d"], ["d"], ["x", "y", "d"]]
    (decided,) = decide(evaluated(golden, rankings.__getitem__), gates(min_each=0.9))
    assert decided.queries == ("q0001", "q0003", "q0000")


def test_one_repeat_that_answers_what_has_no_answer_fails():
    golden = GoldenSet(
        [Query("q0", "text", {}, no_answer=True), Query("q1", "text", {"d": 1}, forbidden=("x",))]
    )

    def verdicts(nothing, some):
        run = Run.of({"q0": Answer(nothing), "q1": Answer(some)})
        return {v.word: v.state for v in decide(evaluate_run(golden, run, ["mrr"]), Gates())}

    fine = ((), ()), (("d",), ("d",))
    assert verdicts(*fine) == {"forbidden": "passed", "no_answer": "passed"}
    assert verdicts(((), ("d",)), fine[1]) == {"forbidden": "passed", "no_answer": "failed"}
    assert verdicts((("d",), ()), fine[1]) == {"forbidden": "passed", "no_answer": "failed"}
    assert verdicts(fine[0], (("d",), ("d", "x"))) == {"forbidden": "failed", "no_answer": "passed"}


def test_a_fall_is_to_be_accepted_beside_a_gate_over_no_query():
    now = evaluated(golden_set(1), lambda _: SECOND)
    fall, nothing = (Verdict("failed", "text", "max_drop", over_no_query=empty) for empty in (False, True))
    assert ItemResult(now, Gates(), (fall,)).acceptable
    assert ItemResult(now, Gates(), (fall, nothing)).acceptable
    assert not ItemResult(now, Gates(), (nothing,)).acceptable


def test_one_gate_that_fell_is_a_fall_beside_others_that_hold():
    golden = golden_set(4)
    before, now = evaluated(golden, lambda _: HIT), evaluated(golden, lambda n: HIT if n else SECOND)
    held = resolve([[build("mrr", {"max_drop": 0.01, "max_lost": 0, "min": 0.1})]])
    result = ItemResult(now, held, judged(now, before, held), comparison=compare(now, before))
    assert [verdict.word for verdict in result.verdicts if verdict.failed] == ["max_drop"]
    assert result.fell
    assert result.mean_fell
    assert result.kind()
    assert result.acceptable
    fine = ItemResult(before, held, judged(before, before, held), comparison=compare(before, before))
    assert not fine.fell
    assert not fine.mean_fell
    assert not fine.kind()


def test_a_verdict_is_of_a_mean_under_todays_labels_unless_it_says_otherwise():
    (gate,) = gates(min=0.5)
    for verdict in (Verdict("passed", "text", "min"), verdict_on(gate, "passed", "text")):
        assert not any((verdict.single, verdict.as_stored, verdict.over_no_query, verdict.origin))
        assert not verdict.failed
    (query,) = golden_set(1).queries.values()
    own = query_verdict(gate, query, "failed", "text")
    assert own.single
    assert own.queries == ("q0000",)
    assert not own.as_stored
    assert not own.over_no_query


def test_the_gates_of_a_run_without_a_baseline_name_none():
    golden = golden_set(2)
    for decided in decide(evaluated(golden, lambda _: HIT), gates(min=0.5, max_drop=0.1, max_lost=0)):
        assert "XX" not in decided.text
        assert not decided.failed
        assert decided.state == ("passed" if decided.word == "min" else "not checked")


def test_counts_of_thousands_have_separators():
    golden = golden_set(3000)
    (decided,) = decide(evaluated(golden, lambda n: MISS if n < 1200 else HIT), gates(min_each=0.5))
    assert decided.text.startswith("mrr is below 0.5000 for 1,200 of 3,000 queries; ")


def test_of_single_queries_alone_those_behind_a_gate_on_a_mean_are_held_too():
    now = evaluated(golden_set(2), lambda n: HIT if n else MISS)
    both = resolve([[build("mrr", {"min": 0.9, "min_each": 0.5})]])
    (decided,) = decide(now, both, single_queries_only=True)
    assert (decided.word, decided.state, decided.queries) == ("min_each", "failed", ("q0000",))
