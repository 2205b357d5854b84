"""`min_gain`: the mean must rise by so much over what it is compared with."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.selftest import run_selftest
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from tests.unit.gates.runs import HIT, MISS, SECOND, evaluated, gates, golden_set, judged, verdict


def test_a_rise_of_exactly_what_is_required_passes():
    golden = golden_set(100)
    before = evaluated(golden, lambda n: HIT if n < 80 else MISS)
    now = evaluated(golden, lambda n: HIT if n < 81 else MISS)
    assert verdict(now, before, min_gain=0.01).state == "passed"
    assert verdict(now, before, min_gain=0.01).text == (
        "mrr rose by 0.0100 over the baseline, to 0.8100; a rise of at least 0.0100 is required."
    )
    assert verdict(now, before, min_gain=0.011).failed


def test_a_rise_that_is_too_small_a_fall_and_none_fail_and_name_the_queries_that_cost():
    golden = golden_set(10)
    before = evaluated(golden, lambda n: HIT if n < 5 else SECOND)
    up = evaluated(golden, lambda n: SECOND if n == 0 else HIT)
    decided = verdict(up, before, min_gain=0.25)
    assert (decided.state, decided.queries, decided.limit) == ("failed", ("q0000",), 0.25)
    assert decided.text == (
        "mrr rose by 0.2000 over the baseline, to 0.9500; a rise of at least 0.2500 is required."
    )
    assert decided.details == (
        "10 queries: 1 worse, 5 better, 4 same.",
        "Over other queries drawn like these: 95 % interval −0.050 to +0.450.",
    )
    down = evaluated(golden, lambda _: SECOND)
    assert verdict(down, before, min_gain=0).text.startswith(
        "mrr fell by 0.2500 from the baseline, to 0.5000"
    )
    same = verdict(before, before, min_gain=0.01)
    assert same.failed
    assert same.text.startswith("mrr did not move from the baseline, to 0.7500")
    assert verdict(before, before, min_gain=0).state == "passed"


def test_its_limit_and_the_rise_never_print_alike_where_it_fails():
    golden = golden_set(2, weight=lambda n: 0.0099996 if n == 0 else 0.9900004)
    before, now = evaluated(golden, lambda n: HIT if n else MISS), evaluated(golden, lambda _: HIT)
    assert verdict(now, before, min_gain=0.01).text == (
        "mrr rose by 0.0099996 over the baseline, to 1.0000; a rise of at least 0.0100000 is required."
    )


def test_without_another_run_and_while_a_baseline_is_stored_it_is_not_checked():
    golden = golden_set(4)
    now = evaluated(golden, lambda _: HIT)
    (alone,) = decide(now, gates(min_gain=0.1))
    assert alone.state == "not checked"
    assert alone.text == "mrr: min_gain 0.1 is not checked without check(against=…) or --ir-baseline."
    (storing,) = judged(now, now, gates(min_gain=0.1), storing=True)
    assert storing.state == "not checked"


def test_an_edit_of_judgments_alone_is_no_rise():
    before = Run.of({f"q{n}": Answer((("x", "d"),), f"text {n}", {}, {"d": 1}, 1.0) for n in range(4)}, 10)
    golden = GoldenSet([Query(f"q{n}", f"text {n}", {"y": 1}) for n in range(4)])
    now = evaluate_run(golden, Run({f"q{n}": ["y", "d"] for n in range(4)}), ["mrr"])
    then = evaluate_run(golden, before, ["mrr"])
    (decided,) = judged(now, then, gates(min_gain=0.1))
    assert decided.failed
    assert decided.text.startswith("Under the judgments that were stored with the baseline, mrr did not move")


def test_a_query_that_was_answered_by_neither_is_no_gate():
    golden = golden_set(2)
    now = evaluated(golden, lambda _: HIT)
    other = evaluate_run(golden, Run({"old": ["d"]}), ["mrr"])
    states = {decided.word: decided.state for decided in judged(now, other, gates(min_gain=0.1))}
    assert states == {"baseline": "failed", "min_gain": "not checked"}


def test_the_self_test_leaves_it_out():
    golden = golden_set(10)
    run = evaluated(golden, lambda _: HIT)
    tested = run_selftest(run, gates(min_gain=0.1, min=0.5), against="the baseline", update="")
    assert not any(decided.failed for decided in tested.verdicts)
    assert {gate.word for gate in tested.gates} == {"min"}


def test_the_table_shows_the_rise_with_the_digits_that_tell_it_from_the_limit():
    golden = golden_set(10)
    before, now = evaluated(golden, lambda n: HIT if n else MISS), evaluated(golden, lambda _: HIT)
    (row, *_) = ItemResult(now, gates(min_gain=0.25), comparison=compare(now, before)).rows()
    assert (row.gate, row.allowed) == ("gain≥0.25", 0.25)
