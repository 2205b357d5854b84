"""What is said of a drop that passed although it is beyond its limit."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.trust import on_passed_drops
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.run import Answer
from tests.unit.gates.runs import HIT, MISS, evaluated, gates, golden_set, judged

SECOND = ("x", "d")


def notes(now, before, **words):
    verdicts = judged(now, before, gates(**words))
    assert not any(verdict.failed for verdict in verdicts)
    return list(on_passed_drops(compare(now, before), verdicts)), verdicts


def test_nothing_is_said_of_a_drop_up_to_its_limit_or_of_a_rise():
    golden = golden_set(100)
    now, before = (
        evaluated(golden, lambda n: HIT if n < 80 else MISS),
        evaluated(golden, lambda n: HIT if n < 81 else MISS),
    )
    assert notes(now, before, max_drop=0.01)[0] == []
    assert notes(now, before, max_drop=0.5)[0] == []
    assert notes(before, now, max_drop=0)[0] == []


def test_a_drop_beyond_its_limit_that_is_not_significant_is_told_as_its_gate_tells_it():
    golden = golden_set(100)
    now, before = (
        evaluated(golden, lambda n: HIT if n < 80 else MISS),
        evaluated(golden, lambda n: HIT if n < 82 else MISS),
    )
    told, (verdict,) = notes(now, before, max_drop=0.01, significance=0.05)
    assert told == [verdict.text]
    assert verdict.text.startswith("mrr fell by 0.0200 from the baseline to 0.8000")


def repeated(*rankings):
    golden = GoldenSet.from_judgments({f"q{n}": {"d": 1} for n in range(4)})
    run = Run.of({query_id: Answer(tuple(map(tuple, rankings))) for query_id in golden.queries}, depth=10)
    return evaluate_run(golden, run, ["mrr"], depth=10)


def test_a_limit_below_run_noise_is_told_with_how_many_answers_help():
    now, before = repeated(HIT, HIT, SECOND), repeated(HIT, HIT, SECOND)
    (text,) = notes(now, before, max_drop=0.01)[0]
    noise = compare(now, before).run_noise("mrr")
    assert text == (
        "max_drop 0.0100 of mrr is less than what differs from run to run: with 3 answers a query on each side a fall fails "
        f"beyond {0.01 + noise.margin:.4f}, with 10 (--ir-repeat=10) beyond about {0.01 + noise.margin_if_asked(10):.2f}. "
        "Least stable: q0, q1, q2."
    )
    assert notes(now, before, max_drop=round(noise.margin, 3) + 0.001)[0] == []


def test_where_many_answers_were_asked_for_four_times_as_many_are_advised():
    now = repeated(*[HIT, SECOND] * 10)
    (text,) = notes(now, now, max_drop=0.01)[0]
    assert "with 20 answers a query on each side" in text
    assert "with 80 (--ir-repeat=80)" in text
